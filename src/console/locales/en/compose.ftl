compose-title = New send
compose-no-channel = There is nothing to send through yet. Add a business account, or link a phone.
compose-add-channel = Add channel
compose-channel = Channel
compose-type = Type
compose-template = Template
compose-choose = Choose
compose-go-on = Go on
compose-no-template = This business account has no approved template. Have one approved at the provider, and sync.
compose-what = What
compose-whom = Who
compose-when = When
compose-starts = Starts
compose-starts-hint = A date and a time.
compose-expires = Expires
compose-expires-hint = Messages that have not started by then are not sent.
compose-zone = Times are in this zone:
compose-stale = The form was changed after the check. This is what would be sent now; send it if that is right.
compose-check = Check
compose-send = Send
compose-check-first = Check it first; then it can be sent.
compose-accepted = { $count ->
    [1] Accepted for 1 recipient.
   *[other] Accepted for { $count } recipients.
}
compose-preview = Preview
compose-message = Message
compose-link = Address of the file
compose-link-hint = Public, beginning with https://
compose-caption = Caption
compose-kind-buttons = Text with buttons
compose-kind-list = Text with a menu
compose-buttons = Buttons
compose-buttons-hint = One on each line, at most three, each of at most 20 characters.
compose-menu = Name of the menu
compose-menu-hint = At most 20 characters.
compose-rows = Entries of the menu
compose-rows-hint = One on each line, at most ten. A description may follow after a bar: Red | 19,90. A line with a colon at its end begins a section: Wines:
compose-unreadable = The provider describes this template in a way that this page cannot show. It can be sent by the API.
compose-nothing-to-fill = This template has nothing to fill in.
compose-header-link = Address of the header's file
compose-latitude = Latitude
compose-longitude = Longitude
compose-place = Name of the place
compose-address = Address of the place
compose-header-variable = Header { $name } – shown where {"{{"}{ $name }{"}}"} stands
compose-body-variable = Text { $name } – shown where {"{{"}{ $name }{"}}"} stands
compose-button-link = Button { $number }: end of its address
compose-button-code = Button { $number }: coupon code
compose-button-payload = Button { $number }: the value that comes back when it is pressed
compose-card = Card { $number }
compose-unknown-parts = This template has parts that this page does not know. If they need values, the send must be made by the API.
compose-deadline = The offer ends
compose-deadline-hint = In your time zone. The message shows the time that is left.
compose-filename = Name of the document
compose-filename-hint = The name that the recipient sees, such as invoice.pdf. Empty: the name in the address.
compose-button-flow = Button { $number }: token of the flow (optional)
compose-button-catalog = Button { $number }: id of the product whose picture is shown (optional)
compose-button-products-title = Button { $number }: title of the product list
compose-button-products = Button { $number }: ids of the products
compose-button-products-hint = One on each line. The first one is shown in the message.
compose-same-for-all = Everybody gets the same values, except for values of each recipient.
compose-tags = Tags
compose-tags-hint = Everybody with one of the chosen tags, each person once.
compose-numbers = Numbers
compose-numbers-hint = With country code, one on each line or with commas between them.
compose-find = Find people
compose-find-button = Find
compose-found-none = No contact matches.
compose-people = People
compose-fault-channel = Choose a channel.
compose-fault-choose = Choose a template.
compose-fault-time = This is not a date and time.
compose-fault-recipient = Choose a tag, a segment, a number or a person.
compose-fault-nobody = There are no recipients: the tags are empty, the numbers are not valid, or everybody opted out.
compose-fault-too-many = These are too many for one send. Tag the contacts, and send to the tag.
compose-fault-message = Write a message.
compose-fault-long = This is too long.
compose-fault-link = Give the public address of the file, beginning with http:// or https://.
compose-fault-schedule = These times leave no time to send in, have passed, or are more than a year ahead.
compose-fault-disconnected = The channel is disconnected. Reconnect it first.
compose-fault-template = The template does not exist any more, or is not approved.
compose-fault-interactive = Something is too long or missing: give the text and its buttons, entries or products.
compose-fault-values = The values do not fit the template: fill in every field, each on one line.
compose-to-channels = See the channels
compose-to-channel = Open the channel
compose-not-linked = this phone is not linked, or has no connection now.
compose-sent-before = This form was sent before. This is its send.
compose-accepted-web = Accepted. This page shows when WhatsApp has the message, and when it is read.
compose-kind-product = Product
compose-kind-products = List of products
compose-header-type = Above the text
compose-header = Header
compose-header-hint = A text of at most 60 characters, or the public address of the file. May be empty.
compose-footer = Footer
compose-catalog = Catalogue
compose-catalog-hint = The id of the catalogue that belongs to the business account.
compose-product = Product
compose-product-hint = The product's id in the catalogue.
compose-products = Products
compose-products-hint = Their ids in the catalogue, one on each line, at most thirty. A line with a colon at its end begins a section: Wines:
compose-pace-hint = The message goes out as soon as the phone's pace allows. Linked phones write slowly, as a person does, so that WhatsApp does not block the number.
compose-pace-left = { $count } left
compose-pace-next = next at
compose-web-one = A linked phone sends one message to one person or one group. To write to many people, send through a business account.
compose-web-to = Send to
compose-web-person = One person
compose-web-group = A group
compose-web-number = Number
compose-web-number-hint = With country code, such as +55 11 98888-7777
compose-web-group-id = Id of the group
compose-web-group-hint = As WhatsApp Web names it, such as 120363025246125016@g.us. The phone must be in the group.
compose-web-to-person = Goes to
compose-web-to-group = Goes to the group
compose-web-at-once = It goes out at once.
compose-web-turn = Its turn is at
compose-web-file = File:
compose-web-size = { $kilobytes } kB
compose-web-plays = { $seconds } s long
compose-web-voice = as a voice message
compose-fault-web-type = A linked phone sends texts and files. Choose another type, or a business account.
compose-fault-number = Give one number with its country code.
compose-fault-group = Give the id of the group, such as 120363025246125016@g.us.
compose-fault-not-there = This number is not on WhatsApp. Check it, including the country code.
compose-fault-session = The phone has no connection to WhatsApp now. Try again in a minute, or look at the channel.
compose-fault-link-inner = This address is not on the public internet. Give a public one.
compose-fault-file = There is no such file at this address, or not one of this type.
compose-fault-file-large = This file is larger than WhatsApp accepts.
compose-fault-too-soon = The phone has sent as much as it may for now. Try again in { $seconds } seconds.
compose-fault-away = This does not work at the moment. Nothing was sent. Try again in a minute.
compose-fault-under-way = This message is being sent right now. Look at the list of sends.
compose-fault-other-before = This form was sent before with different content. Look at the list of sends, or begin a new one.
compose-contact-fields = A value of each recipient
compose-contact-fields-hint = Put one of these into a value, and each recipient gets the value of their contact. The text after a bar is for recipients without a value. Without such a text, they get no message.
compose-contact-name = First and last name
compose-contact-number = Phone number
compose-fault-contact-field = Two braces begin a value of each recipient. Copy one from the list below these fields.
compose-preview-made-up = With example values, because no recipient is chosen yet.
compose-preview-first = As the first recipient gets it:
compose-preview-stranger = As the first recipient, who is not a contact, gets it:
compose-counting = There are many recipients, and they are still being counted. Nothing is sent yet. Press Check again in some seconds.
compose-preview-literal = Text in double braces is sent as it is. To fill in values of each recipient, use a template.
compose-fault-past = This time has passed. Give a later one, or start now.
compose-forgotten = This form is no longer kept: a checked form is kept for a day. Fill it in again.
compose-find-tag = Find a tag
compose-find-tags-button = Find tags
compose-no-tag = No tag matches.
compose-more-tags = There are { $count } tags. Without a search, the list shows the newest.
compose-template-not-now = this template cannot be sent now. Its state:
compose-to-template = See the template
compose-fault-choose-other = Choose another template.
compose-name = Name
compose-name-hint = For you and your colleagues; the recipients do not see it. Empty: made of the message and the recipients.
compose-name-more-tags = { $tags } and { $more ->
    [1] 1 more tag
   *[other] { $more } more tags
}
compose-name-tags-numbers = { $what } to { $tags }, { $count ->
    [1] 1 number
   *[other] { $count } numbers
}
compose-fault-name = Give a name of at most 100 characters on one line.
compose-steps = Steps
compose-back = Back
compose-use = Choose
compose-show = Show
compose-count = Count
compose-leave-out = Leave people out
compose-without = Without people who have one of these tags
compose-reach-nobody = Nobody is chosen yet.
compose-reach-counting = They are being counted. Press Count in some seconds.
compose-reach = { $count ->
    [1] 1 person
   *[other] { $count } people
}
compose-reach-opted-out = { $count ->
    [1] 1 person opted out and gets nothing.
   *[other] { $count } people opted out and get nothing.
}
compose-reach-others = { $count ->
    [1] 1 entry is left out, by a tag or as no valid number.
   *[other] { $count } entries are left out, by a tag or as no valid numbers.
}
compose-more-templates = { $count ->
    [1] 1 template
   *[other] { $count } templates. The newest are shown; a search finds the others.
}
compose-find-template = Find a template
compose-template-not-found = No template matches.
compose-other-template = Choose another
compose-example = For example: { $value }
compose-window = Without a template, this message reaches only people who wrote to you in the last 24 hours. WhatsApp refuses it for all others.
compose-file-anyway = WhatsApp fetches the file itself when the message goes out. It can be sent, but will probably fail.
compose-file-slow = The file could not be fetched in time.
compose-start = Start
compose-now = Now
compose-later = At a time
compose-fault-without = A tag to leave out does not exist any more. Look at the list again.
