operator-title = Operator
operator-health = Health
operator-node = This node
operator-ready = ready
operator-not-ready = not ready
operator-database = Database answers in
operator-provider = Channels at WhatsApp
operator-streams = Open live pages
operator-slow = Slow channels
operator-none-slow = No channel has messages that could go out but wait.
operator-channel = Channel
operator-search = Search companies and channels
operator-no-channels = There is no such channel.
operator-add = Add company
operator-company-added = The company “{ $name }” is added.
operator-name-taken = Another company has this name.
operator-tier-end = for a while; { $tier } again
operator-tier-changed = The channel “{ $channel }” is under the tier { $tier }. It follows within a second.
operator-tier-options = Options of its own
operator-tier-options-hint = Values that only this channel has. What is not ticked is as the tier says.
operator-tier-until = Until
operator-tier-until-hint = Then the tier and the options count again that the channel had for good. Without a time, this is for good.
operator-steps = Next steps
operator-step-tier = Give it a tier
operator-step-tier-why = The tier says how fast its new channels send, and how many API requests it may make.
operator-step-owner = Invite an owner
operator-step-owner-why = An owner invites the other people and makes API keys.
operator-step-number = Connect a number
operator-step-number-why = An owner adds a channel in the console; operators can add one too.
operator-company-change = Name and tier
operator-company-tier-hint = New channels begin with it, and it limits API requests. Channels keep theirs, so running sends do not change.
operator-company-save = Save
operator-company-saved = Saved.
operator-company-members = { $members ->
    [1] One member
   *[other] { $members } members
}, { $owners ->
    [1] one owner
   *[other] { $owners } owners
} among them
operator-company-channels = { $channels ->
    [1] One channel
   *[other] { $channels } channels
}, { $connected } connected
operator-company-keys = Valid API keys
operator-company-since = Added
operator-company-no-members = Nobody belongs to this company yet.
operator-company-access = Access
operator-company-disable-what = While a company is disabled, its API keys are refused, nobody can choose it in the console, and its sends are paused. Incoming messages and delivery updates are still taken in.
operator-company-disable = Disable the company
operator-company-disable-question = The API keys of { $name } are refused, its people have to leave, and its sends are paused.
operator-company-enable = Enable the company
operator-company-disabled-why = This company is disabled: its people and programs do not come in.
operator-company-is-disabled = The company is disabled. Its sends are paused within two seconds.
operator-company-is-enabled = The company is enabled again. Its sends stay paused until somebody of the company resumes them.
