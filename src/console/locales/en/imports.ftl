imports-title = Import contacts
imports-hint = An Excel file (.xlsx) or a CSV file whose first line names the columns: from a spreadsheet, or an export of Google Contacts, Outlook, HubSpot or this console. You see the contacts that result before anything is imported.
imports-file = File
imports-import = Import
imports-tags = Tags for all contacts of the file
imports-tags-hint = Separated by semicolons. May be left empty.
imports-tag-wrong = A tag's name has at most 100 characters and no line break.
imports-tags-too-many = A contact gets at most { $most } tags at once.
imports-no-file = Choose a file.
imports-too-many = There are { $most } files already that are not imported yet. Finish or discard one of them first.
imports-too-large = The file is larger than { $most } MB, the maximum of this service. Split it.
imports-broken = The upload was interrupted. Check the connection and send the file again.
imports-wrong-file = This file cannot be imported: { $said }
imports-too-many-columns = The file has more than { $most } columns. Remove the columns that are not part of a contact.
imports-before = Imports
imports-state = State
imports-rows = Rows
imports-created = Created
imports-updated = Updated
imports-unchanged = Unchanged
imports-rejected = Rejected
imports-numberless = Without a valid number
imports-when = Uploaded
imports-started = Started
imports-ended = Ended
imports-back = Back to the contacts
imports-see-contacts = Show the contacts
imports-no-number = No column holds phone numbers. The contacts are imported, but messages cannot be sent to them.
imports-all = All imports
imports-columns = The columns of the file
imports-column = Column
imports-holds = Holds
imports-holds-what = What { $column } holds
imports-example = Example
imports-encoding = Encoding
imports-encoding-hint = Change it if letters with accents look wrong below.
imports-check = Check again
imports-discard = Discard the file
imports-mapping-needed = Say which column holds the phone number or the e-mail address.
imports-mapping-wrong = The choices for the columns do not fit the file in this encoding.
imports-more-columns = Only the first { $count } columns are shown; the others are imported by their names.
imports-outlook = What will happen
imports-outlook-all = { $count ->
    [1] Of the only row:
   *[other] Of all { $count } rows:
}
imports-outlook-first = { $count ->
    [1] Of the first row:
   *[other] Of the first { $count } rows:
}
imports-would-create = { $count ->
    [1] 1 new contact
   *[other] { $count } new contacts
}
imports-would-update = { $count ->
    [1] 1 known contact is updated
   *[other] { $count } known contacts are updated
}
imports-would-keep = { $count ->
    [1] 1 known contact stays as it is
   *[other] { $count } known contacts stay as they are
}
imports-would-reject = { $count ->
    [1] 1 row is rejected
   *[other] { $count } rows are rejected
}
imports-line = Line { $line }
imports-cancel = Stop the import
imports-cancel-question = The rows that are imported stay; the others are not imported.
imports-progress = Progress
imports-percent = { $percent } % read
imports-goes-on = The import continues when you close this page.
imports-download = { $count ->
    [1] Download the rejected row
   *[other] Download { $count } rejected rows
}
imports-state-uploading = Uploading
imports-state-ready = Waits for you
imports-state-running = Running
imports-state-finished = Finished
imports-state-failed = Failed
imports-state-canceled = Stopped
imports-field-first-name = First name
imports-field-last-name = Last name
imports-field-name = Whole name
imports-field-email = E-mail
imports-field-number = Phone number
imports-field-lid = WhatsApp ID
imports-field-picture = Address of a picture
imports-field-tags = Tags
imports-field-ignored = Nothing: leave it out
imports-csv-line = line
imports-csv-reason = reason
imports-reject-field-count = The row has { $found } fields where the header has { $wanted }
imports-reject-nul = { $field }: it holds a NUL character
imports-reject-too-long = { $field }: it is longer than { $most } characters
imports-reject-too-many-tags = It has more than 100 tags
imports-reject-picture = The address of the picture does not begin with https:// or http://
imports-reject-nobody = It has neither a phone number nor an e-mail address to identify the contact
imports-reject-no-digits = The phone number has no digits, and there is no e-mail address to identify the contact
imports-reject-number-short = The phone number has fewer than 7 digits, and there is no e-mail address to identify the contact
imports-reject-number-long = The phone number has more than 15 digits, and there is no e-mail address to identify the contact
imports-reject-zero = The phone number begins with 0 instead of a country code, and there is no e-mail address to identify the contact
imports-reject-national = The phone number looks national: it needs the country code before it
imports-reject-lid = In place of a phone number there is a WhatsApp ID, which hides the number
imports-reject-id = In place of a phone number there is an ID of WhatsApp that is not a person's number
imports-reject-address = In place of a phone number there is an e-mail address
imports-reject-extension = The phone number has an extension
imports-reject-several = There is more than one phone number in the field
imports-reject-date = In place of a phone number there is a date
imports-reject-letters = The phone number has letters between its digits
imports-reject-unclear = The phone number has other characters than separators between its digits
imports-reject-rounded = A spreadsheet rounded the phone number to { $number }: format its column as text there, and save again
imports-reject-stray-quote = There is a quote inside a field: a field with quotes must be quoted, and each of its quotes doubled
imports-reject-unclosed-quote = A quote is opened here and never properly closed
imports-reject-line = The line is longer than 256 KiB
imports-country-missing = Choose the country of the numbers.
imports-names-kept = Good names kept
imports-field-middle-name = Middle name
imports-field-organization = Organization
imports-column-unnamed = Column { $place } (no name)
imports-column-repeated = { $name } (column { $place })
imports-numbers = Numbers without +
imports-numbers-international = are international: they begin with a country code
imports-numbers-national = are written as people write them in the country below
imports-country = Country of the numbers
imports-country-hint = Saved for the company. A number with + is always international.
imports-names = Names whose letters look wrong
imports-names-replace = Let them replace the good names of known contacts
imports-wrong-bytes = { $count ->
    [1] The file is in UTF-8, but line { $line } has a byte that is not valid. The row is rejected if the byte is in a field of the contact. To keep it, correct the file and upload it again.
   *[other] The file is in UTF-8, but { $count } bytes are not valid, the first one in line { $line }. Their rows are rejected if the bytes are in fields of the contacts. To keep them, correct the file and upload it again.
}
imports-look-national = { $count ->
    [1] 1 of these rows has a number that looks national. If the numbers are written as people write them in this country ({ $country }), choose that below.
   *[other] { $count } of these rows have numbers that look national. If the numbers are written as people write them in this country ({ $country }), choose that below.
}
imports-look-garbled = { $count ->
    [1] 1 of these rows has a name whose letters look wrong, and the contact has a good name. The contact keeps its name. Perhaps the file has another encoding: choose it below.
   *[other] { $count } of these rows have names whose letters look wrong, and the contacts have good names. The contacts keep their names. Perhaps the file has another encoding: choose it below.
}
imports-vcard = This is a vCard file (.vcf). Import it into an address book that exports CSV, and upload the exported file: in Google Contacts, choose Import, then Export as Google CSV; in Outlook, People, Manage contacts, Export.
imports-reject-wrong-byte = { $field }: it has a byte that is not valid in the file's encoding
imports-reject-lid-rounded = A spreadsheet rounded the WhatsApp ID to { $lid }: format its column as text there, and save again
imports-old-workbook = This is an old Excel file (.xls), or one with a password. Open it, remove the password, save it as .xlsx or “CSV UTF-8”, and upload the saved file.
imports-open-document = This is an OpenDocument file (.ods). Open it, save it as .xlsx or as CSV in UTF-8, and upload the saved file.
imports-numbers-file = This is a file of Numbers. Choose File, Export To, Excel or CSV there, and upload the exported file.
imports-binary-workbook = This is a binary Excel file (.xlsb). Open it, save it as .xlsx or “CSV UTF-8”, and upload the saved file.
imports-archive = This is an archive (.zip) or another program's file. Unpack it, or save its table as .xlsx or “CSV UTF-8”, and upload that file.
imports-damaged-workbook = This Excel file cannot be read: it is incomplete or damaged. Open it in a spreadsheet, save it again as .xlsx or “CSV UTF-8”, and upload the saved file.
imports-large-workbook = This Excel file is too large to be read. Split it, or save its table as “CSV UTF-8”, and upload that file.
imports-no-sheet = This Excel file has no sheet with cells. Save the table of contacts as .xlsx or “CSV UTF-8”, and upload that file.
imports-sheet = The sheet “{ $name }” is read. The file has { $count } sheets: if your contacts are in another one, move it to the front, save, and upload the file again.
imports-separator = Between several tags in a cell
imports-separator-hint = A semicolon always separates tags.
imports-separator-semicolon = only semicolons (;)
imports-separator-comma = commas too (,)
imports-separator-bar = bars too (|)
imports-emails-left-out = Without their wrong e-mail
imports-would-leave-out = { $count ->
    [1] 1 contact without its e-mail address, which is not valid
   *[other] { $count } contacts without their e-mail addresses, which are not valid
}
imports-contacts = The first contacts, as they will be saved
imports-no-contacts = None of the first rows is a contact. See the rows with problems.
imports-no-messages = no valid number
imports-is-new = new
imports-is-updated = is updated
imports-is-unchanged = stays as it is
imports-given-tags = Tags that these rows get
imports-tag-contacts = { $count ->
    [1] 1 contact
   *[other] { $count } contacts
}
imports-tag-new = new
imports-more = and { $count } more
imports-problems = Rows with problems
imports-row = Row { $row }
imports-is-rejected = rejected
imports-is-without-email = without e-mail
imports-wrong-email = “{ $address }” is not an e-mail address. The contact is imported without it. Correct the address in the file to keep it.
imports-more-problems = { $count ->
    [1] 1 more of these rows has a problem. After the import, you can download all rejected rows.
   *[other] { $count } more of these rows have problems. After the import, you can download all rejected rows.
}
imports-reject-wrong-address = “{ $address }” is not an e-mail address, and there is no phone number to identify the contact
imports-do-save-again = Save the file again in a spreadsheet, as .xlsx or “CSV UTF-8”.
imports-do-write-again = Write the text again in the file, or choose another encoding above.
imports-do-shorten = Shorten the text.
imports-do-remove-tags = Remove some of its tags.
imports-do-picture = Correct the address, or leave the column out above.
imports-do-identify = Add a phone number or an e-mail address.
imports-do-address = Correct the address, or add a phone number.
imports-do-national = Write it with + and the country code, or choose the country of the numbers above.
imports-do-one-number = Keep one number in the cell, with + and the country code.
imports-do-number = Write the number with + and the country code, or add an e-mail address.
imports-new-field = New field: { $kind }
imports-reject-field-number = { $field }: “{ $cell }” is not a number.
imports-reject-field-thousand = { $field }: “{ $cell }” may be a thousand, or have three decimals.
imports-reject-field-date = { $field }: “{ $cell }” is not a date.
imports-reject-field-day = { $field }: in “{ $cell }” the day or the month may come first.
imports-do-field-number = Write the number without a separator of thousands, such as 1234.5.
imports-do-field-date = Write the date as 2026-01-31, or choose the country of the file's numbers above: its dates are read in the same way.
