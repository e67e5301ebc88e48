tags-title = Tags
tags-search = Search tags
tags-find = Search
tags-name = Name
tags-contacts = Contacts
tags-since = Added
tags-none = There is no such tag yet.
tags-new = New tag
tags-create = Create tag
tags-created = The tag was created.
tags-send = Send to these contacts
tags-save = Save
tags-saved = The tag was saved. Its contacts are found by the new name within moments.
tags-delete = Delete tag
tags-deleted = The tag was deleted. Its contacts stay.
tags-delete-question = The tag is removed from all of its contacts, which stay. This cannot be undone.
tags-color = Colour
tags-color-hint = Pages show the nearest of five colours that are easy to read, in light and dark.
tags-color-wrong = Give a colour such as #22aa66.
tags-name-taken = Another tag has this name.
tags-name-wrong = A tag's name has no semicolon and no line break.
tags-count = { $count ->
    [1] 1 contact has this tag
   *[other] { $count } contacts have this tag
}
tags-all = All tags
tags-back = Back to the contacts
tags-first = There is no tag yet. A tag groups contacts, so that a send reaches all of them.
tags-first-hint = Create one here, or name tags when you import contacts.
tags-show-all = Show all tags
