segments-title = Segments
segments-hint = The contacts whom a segment selects when the send is accepted.
segments-name = Name of the segment
segments-name-wrong = A segment's name has at most 100 characters and no line break.
segments-name-taken = Another segment has this name.
segments-full = There are { $most } segments. Delete one that nobody needs.
segments-nothing = This list is not narrowed, or nobody can be in it, so it is no segment.
segments-save = Save this list as a segment
segments-save-new = Save segment
segments-saved = The segment was saved.
segments-open = Opened segment:
segments-replace = Replace “{ $name }” by this list
segments-changed = The segment was changed. Sends that were accepted before keep their recipients.
segments-rename = Rename
segments-count = { $count ->
    [1] 1 contact is in this segment now
   *[other] { $count } contacts are in this segment now
}
segments-send = Send to these contacts
segments-delete = Delete segment
segments-delete-question = The contacts stay, and so do the recipients of sends that were accepted before. This cannot be undone.
segments-deleted = The segment was deleted.
segments-lacks-tag = This segment names a tag that was deleted.
segments-lacks-send = This segment names a send whose records were removed.
segments-lacks-field = This segment names a field of contacts that was deleted.
segments-unreadable = A later version of Pombo saved this segment, and this version cannot read it.
segments-outdated = Until it is replaced, nobody is in it.
