shell-skip = Skip to the content
shell-navigation = Main navigation
shell-overview = Overview
shell-inbox = Inbox
shell-unread = unread
shell-sends = Sends
shell-contacts = Contacts
shell-templates = Templates
shell-media = Media
shell-channels = Channels
shell-suppressions = Suppressions
shell-keys = API keys
shell-replies = Quick replies
shell-automatic = Automatic answers
shell-programs = Programs
shell-webhooks = Webhooks
shell-costs = Costs
shell-company = Company
shell-operation = Operation
shell-operator = All companies
shell-nodes = Nodes
shell-tiers = Tiers
shell-prices = Prices
shell-changes = Changes
shell-account = Your account
shell-company-change = Choose another company
shell-company-none = Choose a company
shell-sign-out = Sign out
shell-language = Language
shell-reference = API reference
shell-copy = Copy
shell-copy-what = Copy { $what }
shell-copied = Copied
shell-uploading = Uploading
shell-id = ID
shell-confirm = Yes: { $what }
shell-pages = Pages
shell-page-first = First
shell-page-before = Previous
shell-page-next = Next
shell-page-last = Last
shell-page-of = Page { $page } of { $pages } ({ $total ->
    [1] 1 entry
   *[other] { $total } entries
})
shell-chart = now { $now }, highest { $highest } { $unit }
shell-chart-over = highest { $highest } { $unit }
shell-chart-limit = Dashed: the limit, { $limit } { $unit }
shell-status-connected = connected
shell-status-connecting = connecting
shell-status-disconnected = disconnected
shell-status-blocked = blocked
shell-status-pairing = not paired
shell-close = Close
shell-explain = What does “{ $what }” mean?
shell-help = What it means
shell-in-english = Details
shell-until = until { $time }
shell-any-moment = at any moment now
shell-in-seconds = { $count ->
    [1] in 1 second
   *[other] in { $count } seconds
}
shell-in-minutes = { $count ->
    [1] in 1 minute
   *[other] in { $count } minutes
}
shell-in-hours = { $count ->
    [1] in 1 hour
   *[other] in { $count } hours
}
shell-in-days = { $count ->
    [1] in 1 day
   *[other] in { $count } days
}
shell-unsent-title = Not sent yet
shell-unsent-why = Your session has ended, so nothing was sent or saved. Your entries are kept on this page: sign in in a new tab, come back, and send the form again.
shell-unsent-sign-in = Sign in in a new tab
shell-unsent-again = Send the form again
shell-no-country = Not set
shell-number-meant = Which number do you mean?
shell-number-unsure = Without +, the same digits can be a number in another country. Choose the number that you mean, or write it with + and the country code.
shell-number-none = not an international number
shell-number-national = In your country it would be { $number }: if you mean that number, write it like this.
shell-settings = Settings
shell-members = Members
shell-more = More
shell-account-menu = Account menu:
shell-welcome = Messages to your customers on WhatsApp, from a service that your company runs itself.
shell-filters = Filters
shell-number-read = Read as { $number }
shell-users = Users
