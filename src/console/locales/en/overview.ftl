overview-title = Overview
overview-new-send = New send
overview-first = First steps
overview-first-why = Three steps to your first message.
overview-first-done = done
overview-first-channel = Connect a number
overview-first-channel-why = Messages go out from it: a business account at Meta, or a phone that you link.
overview-first-channel-ask = Messages go out from it. An owner of the company can add it.
overview-add-channel = Add a channel
overview-first-contacts = Import your contacts
overview-first-contacts-why = From a spreadsheet or a CSV file. Tags tell who gets what.
overview-import = Import a file
overview-first-send = Send a test
overview-first-send-why = To your own number first: you see how it arrives before others do.
overview-alert-disconnected = { $name } is disconnected: nothing goes out from this number.
overview-alert-blocked = { $name } is blocked by the provider: nothing goes out from this number.
overview-alert-channel-see = See why, and what to do
overview-alert-template-paused = The provider has paused the template { $name }: sends with it wait.
overview-alert-template-disabled = The provider has disabled the template { $name }: it cannot be sent any more.
overview-alert-template-rejected = The provider has rejected the template { $name }.
overview-alert-template-see = See the template
overview-alert-quota = { $name } has nearly used up a limit ({ $limit }): { $left } of { $most } are left.
overview-alert-quota-see = See the limits
overview-alert-token = The access token of { $name } ends soon, and then nothing goes out from this number:
overview-alert-token-see = See how to give it another one
overview-alert-key = The API key { $name } expires soon:
overview-alert-key-see = See the keys
overview-today = Today
overview-week = Last 7 days
overview-sent = Sent
overview-delivered = Delivered
overview-read = Read
overview-failed = Failed
overview-counting = The messages are being counted …
overview-latest = Latest sends
overview-all-sends = All sends
overview-to = { $count ->
    [1] to 1 recipient
   *[other] to { $count } recipients
}
overview-pace = Pace now
overview-unit = messages a second
overview-queue = Waiting to go out
overview-queue-of = in { $sends ->
    [1] 1 send
   *[other] { $sends } sends
}
overview-oldest = Oldest waiting send
overview-channels = Channels
overview-hour = The last hour
overview-sends = Sends that wait
overview-send = Send
overview-recipients = Recipients
overview-waits = Why
overview-failures = Failures today
overview-cause = Cause
overview-messages = Messages
overview-no-failures = No message failed.
