sign-in-title = Sign in
sign-in-email = E-mail
sign-in-password = Password
sign-in-code = Code
sign-in-code-hint = The six digits that your authenticator shows, or a recovery code.
sign-in-button = Sign in
sign-in-other = Sign in as somebody else
sign-in-help = You have no account, or forgot your password? Ask an owner of your company, or an operator of this service, for a link.
sign-in-wrong = E-mail or password is wrong.
sign-in-wrong-code = The code is wrong, or was used already.
sign-in-again = Sign in again: that took too long, or your password or second factor has changed.
sign-in-too-many = Too many attempts. Try again in { $seconds ->
    [1] 1 second
   *[other] { $seconds } seconds
}.
sign-in-ended = Your session has ended. Sign in to continue.
sign-in-ended-idle = You were signed out after { $hours } hours without activity. Sign in to continue.
sign-in-ended-old = You were signed out { $days } days after you signed in. Sign in to continue.
sign-in-kept = What you typed is kept: you find it again after signing in.
