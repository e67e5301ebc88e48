contacts-title = Contacts
contacts-search = Search contacts
contacts-find = Search
contacts-new = New contact
contacts-add = Add contact
contacts-import = Import a file
contacts-export = Download as CSV
contacts-tags = Tags
contacts-tags-hint = Separated by semicolons. A new name becomes a new tag.
contacts-name = Name
contacts-first-name = First name
contacts-last-name = Last name
contacts-number = Phone number
contacts-number-hint = With the country code, such as +55 11 98888-7777.
contacts-number-taken = Another contact has this number. Change that one, or merge the two.
contacts-number-wrong = This is not an international number: it has from 7 to 15 digits and begins with the country code.
contacts-nameless = A contact needs a phone number or an e-mail address.
contacts-email = E-mail
contacts-lid = WhatsApp ID
contacts-picture = Address of a picture
contacts-since = Added
contacts-changed = changed
contacts-save = Save
contacts-saved = The contact was saved.
contacts-added = The contact was added.
contacts-merged = The contacts were merged.
contacts-doubles = Perhaps the same person
contacts-doubles-hint = These contacts have the same number or the same e-mail address.
contacts-merge = Merge into this contact
contacts-merge-question = This contact keeps its fields, takes missing fields and all tags from the others, and the others are deleted.
contacts-nothing-found = No contact matches this search.
contacts-none-tagged = No contact has this tag.
contacts-nobody = There are no contacts yet. Import a file, or add the first one.
contacts-total = { $count ->
    [1] 1 contact
   *[other] { $count } contacts
}
contacts-pick = Select { $name }
contacts-do = With these contacts
contacts-scope-picked = The selected contacts
contacts-scope-found = { $count ->
    [1] The one that was found
   *[other] All { $count } that were found
}
contacts-scope-tagged = { $count ->
    [1] The only contact with this tag
   *[other] All { $count } contacts with this tag
}
contacts-scope-everybody = { $count ->
    [1] The only contact
   *[other] All { $count } contacts
}
contacts-none-picked = Select at least one contact, or choose all.
contacts-tag = Tag
contacts-tag-name-wrong = A tag's name has no semicolon and no line break, and at most 100 characters.
contacts-tag-unknown = There is no tag of this name.
contacts-do-tag = Add tag
contacts-do-untag = Remove tag
contacts-do-delete = Delete
contacts-tagged = { $count ->
    [1] 1 contact got the tag.
   *[other] { $count } contacts got the tag.
}
contacts-untagged = { $count ->
    [1] The tag was removed from 1 contact.
   *[other] The tag was removed from { $count } contacts.
}
contacts-deleted = { $count ->
    [1] 1 contact was deleted.
   *[other] { $count } contacts were deleted.
}
contacts-goes-on = These are many contacts: the change continues, even when you leave this page.
contacts-delete-title = Delete contacts
contacts-delete-question = { $count ->
    [1] 1 contact will be deleted. This cannot be undone.
   *[other] { $count } contacts will be deleted. This cannot be undone.
}
contacts-delete-sure = { $count ->
    [1] Yes: delete 1 contact
   *[other] Yes: delete { $count } contacts
}
contacts-erase = Erase conversations
contacts-erase-question = { $count ->
    [1] Everything in the conversation with this person is erased, with files and notes, for everybody. The contact stays. This cannot be undone.
   *[other] Everything in the { $count } conversations with this person is erased, with files and notes, for everybody. The contact stays. This cannot be undone.
}
contacts-erased = The conversations with this person are erased.
contacts-back = Back to the contacts
contacts-show-all = Show all contacts
contacts-lid-wrong = A spreadsheet rounded this WhatsApp ID. Enter the complete ID, or leave the field empty.
contacts-by-tags = Filter by tags
contacts-having = With all of these tags
contacts-lacking = With none of these tags
contacts-show = Show
contacts-own-fields = Fields
contacts-by-fields = Filter by fields
contacts-own-field = Field
contacts-own-none = Choose a field
contacts-own-test = Condition
contacts-own-value = Value
contacts-own-value-hint = A date such as 2026-01-31, a number such as 12.5, or a whole text.
contacts-own-is = is
contacts-own-not = is not
contacts-own-least = is at least
contacts-own-most = is at most
contacts-own-known = has any value
contacts-own-unknown = has no value
contacts-own-order = Texts have no order. Choose another condition.
contacts-own-many = A list has at most { $most } conditions. Remove one first.
contacts-in-use = In use now; choose one to remove it
contacts-with = With { $tag }
contacts-without = Without { $tag }
contacts-tag-open = Change this tag
contacts-scope-page = { $count ->
    [1] The one on this page
   *[other] All { $count } on this page
}
contacts-selected = Selected: { $count }
contacts-do-send = Send to them
contacts-do-export = Download
contacts-send-by-tag = A send goes to people with a tag, to a segment, or to up to 100 people. Save this list as a segment first, or give these contacts a tag, then send to it.
contacts-write = Send a message
contacts-more-fields = WhatsApp ID and picture
contacts-details = Details
contacts-outdated = Somebody else changed this contact while you were editing it, so nothing was saved. This is what is stored now. Saving again replaces it with what you typed.
contacts-empty-now = empty
contacts-consent = Opt-out
contacts-consent-nowhere = This contact has no phone number that messages can go to.
contacts-consent-all = Gets all messages
contacts-consent-none = Does not get
contacts-opt-out = Opt out
contacts-opt-out-question = Your sends skip this contact from now on, until somebody here opts it in again.
contacts-opt-in = Opt in again
contacts-opt-in-question = This contact gets messages again. Do this only if the person asked for it.
contacts-messages = Last messages
contacts-no-messages = No message has been sent to this contact yet.
contacts-by-send = Filter by a send
contacts-send = Send
contacts-any-send = Any
contacts-outcome = Outcome
contacts-notes = Notes
contacts-no-notes = There is no note on this contact yet.
contacts-note = Note
contacts-note-new = New note
contacts-note-add = Add note
contacts-note-added = The note was added.
contacts-note-change = Change the note
contacts-note-changed = The note was changed.
contacts-note-delete = Delete note
contacts-note-delete-question = The note is deleted for everybody. This cannot be undone.
contacts-note-deleted = The note was deleted.
contacts-notes-full = This contact has { $most } notes. Delete one that nobody needs.
