fields-title = Fields of contacts
fields-name = Name
fields-kind = Holds
fields-kind-hint = This cannot be changed later.
fields-kind-text = Text
fields-kind-number = Number
fields-kind-date = Date
fields-in-templates = In templates
fields-first = Contacts have no fields of your own yet. A field holds something that you know of each contact, such as a birth date.
fields-first-hint = Create one here, or make one of a column when you import a file.
fields-new = New field
fields-create = Create field
fields-created = The field was created.
fields-save = Save
fields-saved = The field was saved.
fields-delete = Delete field
fields-deleted = The field was deleted. Its contacts stay.
fields-delete-question = { $count ->
    [0] No contact has a value of this field. Deleting it cannot be undone.
    [1] 1 contact has a value of this field, and loses it. Messages that still wait are sent as to contacts without a value. This cannot be undone.
   *[other] { $count } contacts have a value of this field, and lose it. Messages that still wait are sent as to contacts without a value. This cannot be undone.
}
fields-count = { $count ->
    [1] 1 contact has a value
   *[other] { $count } contacts have a value
}
fields-name-taken = Another field has this name, or every contact has a field of this name.
fields-name-wrong = A field's name has from 1 to { $most } characters, and no line break.
fields-too-many = There are { $most } fields, and no more are possible. Delete one first.
fields-all = All fields
fields-back = Back to the contacts
fields-text-wrong = This text has a character that cannot be stored. Type it again.
fields-number-wrong = Give a number with at most 15 digits, 12 of them before the point and 6 behind it.
fields-date-wrong = Give a date such as 2026-01-31.
