tiers-title = Tiers
tiers-one = Tier { $name }
tiers-none = There is no tier.
tiers-name = Tier
tiers-kind = For
tiers-business = business accounts
tiers-web = web sessions
tiers-pace = Messages per second
tiers-pace-hint = Such as 80/s, 10/min or unlimited.
tiers-changed = Changed
tiers-burst = At once after a pause
tiers-pair-interval = Interval between messages to one person
tiers-pair-burst = At once to one person
tiers-quota = People reached by templates in 24 hours
tiers-requests = API requests of a company
tiers-unknown = When an outcome is unknown
tiers-jitter = Random time between messages
tiers-daily-cap = Messages in 24 hours
tiers-warm-up = Caps of the first days
tiers-quiet-hours = Quiet hours
tiers-quiet-hours-hint = Sends with several recipients rest in these hours, for example 21:00-08:00 Europe/Madrid.
tiers-cold = New people in 24 hours
tiers-description = Description
tiers-check = Show what changes
tiers-would-change = What changes
tiers-nothing = Nothing: the tier is like this already.
tiers-apply = Apply
tiers-applied = The tier { $name } is changed. Channels apply it within a second.
tiers-option = Option
tiers-options = Options
tiers-effect = Running sends
tiers-no-effect = No bulk send runs under this tier now.
tiers-left = Left
tiers-end-before = End without the change
tiers-end-after = End with the change
tiers-history = History
tiers-no-history = Nobody changed it yet.
tiers-as-file = As a file
tiers-go-back = Go back to this
tiers-use = Use
tiers-used = { $channels ->
    [1] One channel
   *[other] { $channels } channels
} and { $companies ->
    [1] one company
   *[other] { $companies } companies
} use it.
tiers-new-name = New name
tiers-new-name-hint = 1 to 40 small letters, digits and hyphens. Its channels and companies follow.
tiers-rename = Rename
tiers-renamed = The tier is now called { $name }.
tiers-name-taken = Another tier has this name: choose another one.
tiers-name-invalid = A tier’s name has 1 to 40 small letters, digits and hyphens.
tiers-delete = Delete the tier
tiers-delete-question = Nobody uses the tier { $name }. Its history stays, and the command line can bring it back.
tiers-deleted = The tier { $name } is deleted.
tiers-what-if = What if every tier had other options?
tiers-what-if-hint = Such as messages_per_second=60/s. Nothing is changed.
tiers-what-if-show = Show the effect
tiers-unknown-resend = Send it again: some people may get it twice
tiers-unknown-hold = Do not send it again: some people may not get it
