costs-title = Costs
costs-hint = What the messages cost that arrived through business accounts, by Meta's published prices. This is an estimate and not Meta's bill. Messages through linked phones cost nothing there.
costs-months = Months
costs-none = No billed message arrived in this month.
costs-none-hint = Meta says how it bills a message when the message arrives. Messages from before this was counted are missing. Months are in UTC.
costs-amount = Amount
costs-messages = Messages
costs-charged = Charged messages
costs-unpriced = { $count ->
    [1] For 1 message, no price is known; it is not in the amount.
   *[other] For { $count } messages, no price is known; they are not in the amount.
}
costs-prices-of = By the prices from { $day } on. Meta may charge less by volume. Months are in UTC.
costs-no-card = No prices of this month are known.
costs-by-channel = By channel
costs-by-category = By category
costs-by-country = By country
costs-file = Download as CSV
costs-all-channels = All channels
costs-removed-channel = A removed channel
costs-what = What
costs-country = Country
costs-price = Price
costs-no-price = not known
costs-no-country = Unknown country
costs-marketing = Marketing
costs-utility = Utility
costs-authentication = Authentication
costs-authentication-international = Authentication from abroad
costs-service = Service
costs-other = Other
costs-about = Estimated cost: { $amount }
costs-at-most = Estimated cost: at most { $amount }
costs-basis = By Meta's published prices from { $day } on, category { $category }. This is an estimate and not Meta's bill: only messages that arrive are charged, some are free after a person wrote, and prices may fall with the volume.
costs-free-service = Meta charges none of the first 1,000 messages without a template of a number in each month.
costs-from-abroad = In some countries, Meta has a higher price for authentication messages from businesses abroad.
costs-send = Cost
costs-so-far = So far: { $amount }
costs-arrived = { $count ->
    [1] 1 message arrived and is billed
   *[other] { $count } messages arrived and are billed
}, { $free } of them free
costs-nothing-yet = Meta has not said yet how it bills a message of this send.
