inbox-title = Inbox
inbox-conversations = Conversations
inbox-conversation = Conversation
inbox-messages = Messages
inbox-choose = Choose a conversation to read and answer it.
inbox-none = No conversations here. What people write to your numbers appears here.
inbox-none-found = No conversation matches the search.
inbox-more = More conversations
inbox-back = All conversations
inbox-you = You:
inbox-closed = Closed
inbox-somebody = somebody else
inbox-arrived = New messages in the inbox

# The filters
inbox-search = Search conversations
inbox-find = Search
inbox-views = Which conversations
inbox-view-open = Open
inbox-view-unread = Unread
inbox-view-mine = Mine
inbox-view-unassigned = Unassigned
inbox-view-closed = Closed
inbox-view-groups = Groups
inbox-all = All
inbox-channel = Channel
inbox-tag = Tag
inbox-show = Show

# What tells of arrivals
inbox-notify = Notify me in this browser
inbox-sound = Play a sound

# The window
inbox-window-open = You can write freely
inbox-window-closed = The person did not write in the last 24 hours, so only a template can be sent. When the person answers, you can write freely again.
inbox-window-none = You can write at any time: this is a linked phone.
inbox-window-unsure = The person’s last message is not known. WhatsApp accepts a text only within 24 hours after it.
inbox-window-never = This conversation cannot be answered: its channel was removed, it is a group, or the person’s number is not known.
inbox-window-free = The person came from an advertisement: messages cost nothing
inbox-fault-window = The 24 hours after the person’s last message are over. Send a template; your text is kept.

# Messages
inbox-earlier = Earlier messages
inbox-latest = Latest messages
inbox-no-messages = There are no messages, or they are no longer kept.
inbox-echo = Written on your phone or with another program
inbox-bulk = a send to several people
inbox-bulk-of = Part of
inbox-gone = The send was removed, and what it said with it.
inbox-edited = edited
inbox-deleted = This message was deleted.
inbox-not-kept = The content is no longer kept.
inbox-forwarded = Forwarded
inbox-from-advertisement = Came from an advertisement or a page
inbox-quoted-earlier = Answers an earlier message
inbox-reply = Reply
inbox-reply-not = Answer without quoting
inbox-file-pending = The file is not here yet.
inbox-kind-answer = Chose
inbox-kind-flow = Filled in a form
inbox-kind-order = Order
inbox-kind-call = Call
inbox-kind-system = Notice from WhatsApp
inbox-kind-other = Message
inbox-unsupported = A kind of message that cannot be shown here
inbox-as-it-came = As it came

# The answer
inbox-answer = Answer
inbox-answer-hint = Ctrl and Enter send it.
inbox-send = Send
inbox-attach = Attach a file
inbox-upload = Send a new file
inbox-upload-hint = The file is kept in the library and put beside your answer.
inbox-only-looks = Your role lets you read conversations, not answer them.
inbox-use-template = Send a template
inbox-use-text = Write a text
inbox-other-template = Choose another template
inbox-template = Template
inbox-take-template = Fill in
inbox-no-template = There is no approved template for this number.
inbox-quick = Quick reply
inbox-quick-take = Insert
inbox-writing = { $names }: writing an answer…

# What can be done
inbox-about = Details
inbox-number = Number
inbox-id = Id
inbox-since = First message
inbox-to-contact = Open the contact
inbox-assigned = Assigned to
inbox-assign = Assign
inbox-assign-me = Assign to me
inbox-nobody = Nobody
inbox-assigned-done = The conversation is assigned.
inbox-mark-read = Mark as read
inbox-mark-unread = Mark as unread
inbox-close = Close
inbox-reopen = Reopen
inbox-closed-done = The conversation is closed. A message from the person opens it again.
inbox-reopened-done = The conversation is open again.
inbox-tags = Tags
inbox-no-tags = No tags.
inbox-tag-add = Add
inbox-tag-remove = Remove
inbox-tag-remove-which = Remove the tag { $tag }
inbox-tags-done = The tags are changed.
inbox-consent = Consent
inbox-opted-out-done = Sends skip this person from now on.
inbox-opted-in-done = Sends reach this person again.
inbox-notes = Notes
inbox-no-notes = No notes. The person never sees them.
inbox-note = Note
inbox-note-new = New note
inbox-note-add = Add note
inbox-note-added = The note is added.
inbox-note-change = Change
inbox-note-save = Save
inbox-note-changed = The note is changed.
inbox-note-delete = Delete
inbox-note-delete-question = Delete this note?
inbox-note-deleted = The note is deleted.
