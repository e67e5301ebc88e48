alerts-title = Alerts by e-mail
alerts-what = Pombo writes to { $address } when one of these happens. Nobody has checked that this address reaches you: send yourself a test mail. The mails are in the language of your account, and in English while it has none.
alerts-off = Nothing is sent: this service has no mail server. Its operator sets mail.host, mail.from and server.public_url in the configuration.
alerts-no-company = You belong to no company yet.
alerts-of = { $company }: tell me of
alerts-save = Save alerts
alerts-saved = The choice is saved.
alerts-test = Send me a test mail
alerts-test-sent = The mail server took a test mail to { $address }. It answered: { $said }
alerts-test-failed = The test mail to { $address } was not sent: { $error }
alerts-test-again = The mail server took a test mail to { $address } a short while ago. Look for it there, also among unwanted mails. Another one can be sent some minutes later.
alerts-test-subject = Test of the alerts
alerts-test-arrived = Mails from this service arrive.
alerts-test-why = You get this because you asked for a test mail.
alerts-kind-channel = Channels that cannot send, and that send again
alerts-kind-send = Sends to several recipients that are over
alerts-kind-quota = Limits of a day that are nearly or wholly used up
alerts-kind-key = API keys that expire within a week
alerts-kind-template = Templates that are paused, rejected or disabled
alerts-kind-webhook = Webhooks that were stopped, and that work again
alerts-about = What happens
alerts-people = Who gets an e-mail
alerts-events = Events for webhooks
alerts-nobody = Nobody
alerts-more-people = { $count ->
    [one] and one more
   *[other] and { $count } more
}
alerts-who = Each person chooses under “Your account”. Owners get everything but the ends of sends, until they choose otherwise.
alerts-choose = Choose your alerts
alerts-webhook = A program gets the same by a webhook that has these events.
alerts-webhook-see = See the webhooks
alerts-hello = Hello { $name },
alerts-open = Open the page
alerts-why = You get this because you are told of alerts of { $company }. Times are in the zone { $zone }.
alerts-change = Choose which alerts you get
alerts-several = { $count ->
    [one] one alert
   *[other] { $count } alerts
}
alerts-more = { $count ->
    [one] One more subject
   *[other] { $count } more subjects
}
alerts-changes = { $count ->
    [one] One change since { $since }
   *[other] { $count } changes since { $since }
}
alerts-removed = (removed)
alerts-channel-disconnected = { $name } is disconnected
alerts-channel-blocked = { $name } is restricted by WhatsApp
alerts-channel-connected = { $name } is connected again
alerts-do-channel = Its queue is kept. Its page says how to connect it again.
alerts-do-channel-blocked = Its queue is kept. Settle it with WhatsApp; a new token does not help.
alerts-do-channel-better = Its queue goes on by itself. There is nothing to do.
alerts-send-finished = “{ $name }” has finished
alerts-send-canceled = “{ $name }” was canceled
alerts-send-expired = “{ $name }” has expired
alerts-recipients = Recipients: { $count }
alerts-figures = Recipients: { $recipients }. Sent: { $sent }, of them delivered: { $delivered } and read: { $read }. Failed: { $failed }. Not sent or unknown: { $others }.
alerts-do-send = Receipts may still arrive. The page has the figures of now, and each message.
alerts-quota-low = { $name }: a limit is nearly used up ({ $limit }): { $left } of { $most } left
alerts-quota-used-up = { $name }: a limit is used up ({ $limit }): nothing is left of { $most }
alerts-do-quota = What exceeds it waits, and goes when the 24 hours of earlier messages are over. An operator can give the channel another tier.
alerts-key-expiring = The API key “{ $name }” expires on { $at }
alerts-do-key = Create another key and give it to the program before. Afterwards its requests are refused.
alerts-template-paused = WhatsApp paused the template “{ $name }” ({ $language })
alerts-template-rejected = WhatsApp rejected the template “{ $name }” ({ $language })
alerts-template-disabled = WhatsApp disabled the template “{ $name }” ({ $language })
alerts-template-reason = The reason in WhatsApp’s words: { $reason }
alerts-do-template = Sends with it wait. Correct the template at WhatsApp, or cancel the sends.
alerts-webhook-stopped = The webhook { $name } was stopped
alerts-webhook-recovered = The webhook { $name } works again
alerts-webhook-gone = Its receiver answered that it wants no more events.
alerts-webhook-failing = All attempts of five days failed.
alerts-do-webhook = Its events wait. Mend the receiver, and enable the webhook on its page.
alerts-do-webhook-better = It gets the events that waited. There is nothing to do.
