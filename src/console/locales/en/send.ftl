send-template = Template
send-channel = Channel
send-starts = Starts
send-expires = Expires
send-ended = Ended
send-restored = The database was restored from a backup while this send was under way. Messages without an answer may have been sent since the backup: retry the unknown ones where that is right.
send-skipped = Left out
send-repeats = Retry of this send:
send-repeated = Retried by:
send-progress-title = Progress
send-progress = { $all ->
    [one] { $sent } of { $all } message sent
   *[other] { $sent } of { $all } messages sent
}
send-rate = { $rate } messages a second now
send-end = Likely over:
send-waits = It waits:
send-pace = Pace
send-pace-unit = messages a second
send-counting = The messages are being counted. The figures appear here in a moment.
send-counted = Counted
send-by-state = Messages by state
send-causes = Why messages did not arrive
send-cause = Reason
send-code = Provider's code
send-state = State
send-messages = Messages
send-recipient = Recipient
send-heard = Last heard
send-narrow = Narrow the messages
send-any = All
send-show = Show
send-csv = Results as CSV
send-none = No message matches.
send-none-yet = No message from no. { $from } to { $to } matches. The others are not checked yet.
send-first = From the beginning
send-further = Further messages
send-pause = Pause
send-resume = Resume
send-cancel = Cancel
send-cancel-question = Messages that have not started will never go out. This cannot be undone.
send-is-paused = Paused: no message of this send goes out until it is resumed.
send-is-resumed = Resumed.
send-is-canceled = Canceled: messages that had not started will not go out.
send-again = Send again to those that failed
send-again-rest = Send to those that it did not reach
send-again-title = Send again
send-again-back = Back to the send
send-again-which = Which messages
send-again-code = Only messages with this code; all when empty.
send-again-check = Check
send-again-send = Send
send-again-looking = The messages are being checked. What would be sent appears here in a moment.
send-again-nobody = there are no recipients. No message is in one of these states with this code, each was sent again before, everybody has opted out since, or nobody wrote in the last 24 hours.
send-again-done = { $count ->
    [1] A new send to 1 recipient was accepted.
   *[other] A new send to { $count } recipients was accepted.
}
send-refused = Nothing would be sent:
send-check-title = What would be sent
send-check-count = { $count ->
    [1] 1 recipient
   *[other] { $count } recipients
}
send-check-end = Likely over at
send-check-no-end = Only the provider's answers limit how long it takes.
send-check-limit = What decides how long it takes:
send-check-instead = { $count ->
    [0] Nobody needs the template: everybody wrote in the last 24 hours.
    [1] 1 of them did not write in the last 24 hours and gets the template.
   *[other] { $count } of them did not write in the last 24 hours and get the template.
}
send-instead = People who did not write in the last 24 hours get a template:
send-instead-open = Open that send
send-instead-all = Nobody of this send wrote in the last 24 hours: everybody gets the template.
send-instead-of = In place of this send, to people who did not write in the last 24 hours:
send-check-skipped = { $count ->
    [1] 1 entry is left out
   *[other] { $count } entries are left out
}
send-limit-rate = the channel's pace
send-limit-level = how many people the provider lets the number write to
send-limit-back-off = the provider recently refused messages as too fast
send-limit-pair = the pause between messages to the same person
send-limit-quota = how many people may get templates in a day
send-limit-quiet = the quiet hours
send-kind-text = Text
send-kind-image = Image
send-kind-video = Video
send-kind-audio = Audio
send-kind-document = Document
send-kind-sticker = Sticker
send-kind-location = Location
send-kind-contacts = Contacts
send-kind-reaction = Reaction
send-kind-template = Template
send-kind-interactive = Interactive
send-stage-scheduled = Scheduled
send-stage-active = Active
send-stage-paused = Paused
send-stage-finished = Finished
send-stage-canceled = Canceled
send-stage-expired = Expired
send-state-queued = Queued
send-state-sending = Sending
send-state-sent = Sent
send-state-delivered = Delivered
send-state-read = Read
send-state-failed = Failed
send-state-expired = Expired
send-state-canceled = Canceled
send-state-unknown = Unknown
send-state-suppressed = Opted out
send-cause-expired = The send expired before the message started
send-cause-canceled = The send was canceled before it started
send-cause-suppressed = The recipient opted out before the message started
send-cause-unknown = It is unknown whether the provider has the message
send-check-lacking = { $count ->
    [1] 1 recipient lacks a contact field that the message needs and gets no message.
   *[other] { $count } recipients lack a contact field that the message needs and get no message.
}
send-check-lacking-part = Of the first { $checked } recipients, { $count ->
    [1] 1 lacks a contact field that the message needs and gets no message.
   *[other] { $count } lack a contact field that the message needs and get no message.
} The others were not checked.
send-made = Made
send-about = About this send
send-to = To
send-message = The message
send-people = { $count ->
    [1] 1 person
   *[other] { $count } people
}
send-group = A group
send-entries = { $count ->
    [1] 1 entry that cannot get it
   *[other] { $count } entries that cannot get it
}
send-step-paused = Paused
send-step-resumed = Resumed
send-step-canceled = Canceled
send-details = Details
send-reference = Reference
send-codes = What the provider said
send-said = Its words
send-by-code = By code
send-personal = Each person gets their own values.
send-template-gone = The template does not exist any more, so only its name is shown.
send-share-answered = Answered
send-share-waits = Waiting
send-share-left-out = Not sent
send-share-unclear = Unclear
send-name-to-people = { $what } to { $count ->
    [1] 1 person
   *[other] { $count } people
}
send-name-to-group = { $what } to a group
send-name-to-tags = { $what } to { $tags }
send-name-to-more-tags = { $what } to { $tags } and { $more ->
    [1] 1 more tag
   *[other] { $more } more tags
}
send-without = Without:
send-step-moved = Moved
send-duplicate = Duplicate
send-move = Move the start
send-move-button = Move
send-is-moved = Moved: nothing of this send goes before its new start.
send-move-fault = Give a time in the future, at most a year ahead and before the end of the send.
send-move-begun = The send has begun: its start can no longer be moved.
send-move-over = The send is over: its start can no longer be moved.
send-edit = Edit
send-edit-question = What is accepted cannot be changed. So this send is canceled, and a draft opens with its content, its recipients and its times. Nothing goes out until you send the draft.
send-show-contacts = Show these contacts:
send-received = Received it
send-not-received = Did not receive it
send-was-read = Read it
send-not-read = Did not read it
send-was-answered = Answered
send-not-answered = Did not answer
send-step-disabled = An operator of this service had disabled the company. Resume the send when it should go on.
send-results = Results in your file
send-result-state = State
send-result-error = Error
send-result-time = Time
send-result-skipped = Skipped
