users-title = Users
users-search = Search by name or e-mail
users-none = Nobody has this name or e-mail.
users-last-sign-in = Last sign-in
users-more-companies = { $count ->
    [1] and one more
   *[other] and { $count } more
}
users-active = can sign in
users-disabled = disabled
users-no-password = has no password yet
users-since = Added
users-access = Access
users-link-what = Links are valid once, for 24 hours. Pass them on yourself.
users-sign-in-link = Make sign-in link
users-password-link = Make link for a new password
users-link = Link
users-link-once = Copy this link and give it to the person. It is shown only once.
users-disable = Disable
users-disable-question = { $name } is signed out everywhere and cannot sign in. Links and invitations of this person end.
users-disabled-what = This person cannot sign in.
users-enable = Let sign in again
users-is-disabled = The person is signed out and cannot sign in.
users-is-enabled = The person can sign in again.
