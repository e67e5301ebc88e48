overview-title = Overview
overview-pace = Pace now
overview-unit = messages a second
overview-queue = Waiting to go out
overview-queue-of = in { $sends ->
    [1] 1 send
   *[other] { $sends } sends
}
overview-oldest = Oldest waiting send
overview-channels = Channels
overview-add-channel = Add a channel
overview-hour = The last hour
overview-sends = Active sends
overview-send = Send
overview-recipients = Recipients
overview-waits = State
overview-goes = goes out
overview-no-sends = Nothing is on its way.
overview-new-send = New send
overview-failures = Failures today
overview-cause = Cause
overview-messages = Messages
overview-since = Counted since the service started:
overview-no-failures = No message failed.
overview-no-channels = Welcome. Before anything can be sent, this company needs a channel: the number that messages go out from.
