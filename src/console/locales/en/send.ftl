send-title = Send
send-what = What
send-template = Template
send-channel = Channel
send-accepted = Accepted
send-starts = Starts
send-expires = Expires
send-ended = Ended
send-restored = The database was restored from a backup while this send was under way. Messages without an answer may have been sent since the backup: retry the unknown ones where that is right.
send-tags = Tags
send-skipped = Skipped when it was accepted
send-repeats = Retry of this send:
send-repeated = Retried by:
send-progress-title = Progress
send-progress = { $done } of { $all } messages are done
send-rate = { $rate } messages a second now
send-end = Likely over:
send-waits = It waits:
send-pace = Pace
send-pace-unit = messages a second
send-counting = The messages are being counted. The figures appear here in a moment.
send-counted = Counted:
send-by-state = Messages by state
send-causes = Why messages did not arrive
send-no-causes = No message failed.
send-cause = Reason
send-code = Provider's code
send-state = State
send-messages = Messages
send-ordinal = No.
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
send-again-nobody = there are no recipients. No message is in one of these states with this code, each was sent again before, or everybody has opted out since.
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
send-check-skipped = { $count ->
    [1] 1 entry is left out
   *[other] { $count } entries are left out
}
send-limit-rate = the channel's pace (tier, messages_per_second)
send-limit-level = the provider's level for the number
send-limit-back-off = the provider recently refused messages as too fast
send-limit-pair = the pause between messages to the same person (tier, pair_interval)
send-limit-quota = how many people may get templates in a day (tier, template_quota)
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
send-check-lacking-part = Of the first { $checked } recipients, { $count } lack a contact field that the message needs and get no message. The others were not checked.
