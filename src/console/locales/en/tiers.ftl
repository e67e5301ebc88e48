tiers-title = Tiers
tiers-one = Tier { $name }
tiers-none = There is no tier.
tiers-name = Tier
tiers-kind = For
tiers-business = business accounts
tiers-web = web sessions
tiers-pace = Messages at most
tiers-pace-hint = From 1 to 1,000,000. Meta’s own level for the number counts if it is lower.
tiers-span = In
tiers-span-second = a second
tiers-span-minute = a minute
tiers-span-hour = an hour
tiers-span-day = a day
tiers-span-unlimited = without limit
tiers-each-second = { $count } a second
tiers-each-minute = { $count } a minute
tiers-each-hour = { $count } an hour
tiers-each-day = { $count } a day
tiers-seconds = { $seconds ->
    [1] 1 second
   *[other] { $seconds } seconds
}
tiers-usual = as usual
tiers-other-value = Another value: { $option }
tiers-changed = Changed
tiers-burst = Messages at once after a pause
tiers-burst-hint = From 1 to 1,000,000. Blank: one per cent of the messages a second, at least 1.
tiers-pair-interval = Seconds between messages to one person
tiers-pair-interval-hint = From 0, which switches it off, to 86,400. Blank: 6, as Meta wants it.
tiers-pair-burst = Messages at once to one person
tiers-pair-burst-hint = They are taken from the intervals after them. At most 1,000,000. Blank: 10.
tiers-quota = People reached by templates in 24 hours
tiers-quota-hint = A whole number from 1. Blank: without limit.
tiers-requests = API requests of a company
tiers-requests-hint = From 1 to 1,000,000, of all its keys together. Further ones are refused until later.
tiers-unknown = When an outcome is unknown
tiers-jitter = Random seconds between messages
tiers-jitter-hint = Up to so many are added each time: from 0 to 86,400. Blank: none.
tiers-daily-cap = Messages in 24 hours
tiers-warm-up = Most on each of the first days
tiers-warm-up-hint = A number for each day, such as 20, 40, 80, that rises and stays within the limit of 24 hours. Blank: none.
tiers-quiet-hours = Quiet hours
tiers-quiet-hours-hint = Sends with several recipients rest in these hours. Blank: they never rest.
tiers-quiet-from = From
tiers-quiet-to = To
tiers-quiet-zone = By the clocks of
tiers-fault-rate = Write a whole number from 1 to 1,000,000 and choose a span of time, or choose “without limit”.
tiers-fault-count = Write a whole number from 1 to 1,000,000.
tiers-fault-seconds = Write a number of seconds from 0 to 86,400, which is a day.
tiers-fault-quota = Write a whole number from 1, or leave it blank for no limit.
tiers-fault-days = Write a number from 1 for each day, with commas between them. They rise and stay within the limit of 24 hours.
tiers-fault-hours = Give two different times and a city, or leave all three blank.
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
tiers-what-if = What if every tier had other values?
tiers-what-if-hint = Values to try. Nothing is changed.
tiers-what-if-show = Show the effect
tiers-what-if-none = No tier can have these values together.
tiers-unknown-resend = Send it again: some people may get it twice
tiers-unknown-hold = Do not send it again: some people may not get it
