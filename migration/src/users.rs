//! People, their memberships and sessions, the links that they get, and what their sign-ins leave behind, where every node
//! sees it. The times of guesses, devices, tickets and setups are by the database's clock.

pub(crate) const UP: &[&str] = &[
    // Not `user`, which is a reserved word of PostgreSQL. The e-mail is folded. `password` is null until the person
    // chooses one; `totp_secret` is sealed; a code of a step up to `totp_step` was used or is too old.
    // `credentials_version` is raised by each change of password or second factor: what was proved under another version is
    // worth nothing. `vouched_by`: the company whose owner invited the person; null for people whom an operator added or
    // gave a new password.
    "CREATE TABLE user_account (
        id {uuid} NOT NULL PRIMARY KEY,
        email TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        password TEXT,
        language TEXT,
        time_zone TEXT,
        is_operator {small} NOT NULL,
        totp_secret {bytes},
        totp_step {int} NOT NULL,
        disabled_at {int},
        created_at {int} NOT NULL,
        credentials_version {int} NOT NULL DEFAULT 0,
        vouched_by {uuid}
    ) {strict}",
    "CREATE TABLE membership (
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        company_id {uuid} NOT NULL REFERENCES company (id),
        role TEXT NOT NULL,
        created_at {int} NOT NULL,
        PRIMARY KEY (user_id, company_id)
    ) {clustered}",
    "CREATE INDEX membership_company ON membership (company_id)",
    // A session is for the company that was chosen when the session began.
    "CREATE TABLE user_session (
        id {uuid} NOT NULL PRIMARY KEY,
        hash {bytes} NOT NULL UNIQUE,
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        company_id {uuid} REFERENCES company (id),
        created_at {int} NOT NULL,
        last_used_at {int} NOT NULL,
        address TEXT NOT NULL,
        browser TEXT NOT NULL,
        token_hash {bytes} UNIQUE,
        token_company_id {uuid} REFERENCES company (id)
    ) {strict}",
    "CREATE INDEX user_session_user ON user_session (user_id)",
    "CREATE INDEX user_session_last_used ON user_session (last_used_at)",
    // A row is removed when its link is used. `credentials_version` is null for invitations, which are for people who may
    // have no credentials yet. `inviter_id`: the person who invites; null for an operator's key and the command line.
    "CREATE TABLE link (
        id {uuid} NOT NULL PRIMARY KEY,
        hash {bytes} NOT NULL UNIQUE,
        purpose TEXT NOT NULL,
        email TEXT NOT NULL,
        name TEXT NOT NULL,
        company_id {uuid} REFERENCES company (id),
        role TEXT,
        is_operator {small} NOT NULL,
        made_by TEXT NOT NULL,
        created_at {int} NOT NULL,
        expires_at {int} NOT NULL,
        credentials_version {int},
        inviter_id {uuid}
    ) {strict}",
    "CREATE INDEX link_email ON link (email)",
    "CREATE INDEX link_company ON link (company_id)",
    "CREATE INDEX link_expires ON link (expires_at)",
    "CREATE INDEX link_inviter ON link (inviter_id)",
    "CREATE TABLE recovery_code (
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        hash {bytes} NOT NULL,
        PRIMARY KEY (user_id, hash)
    ) {clustered}",
    // `subject` is a hash: of an account, a network, a device or a session. A row counts for an hour after `last_at`.
    "CREATE TABLE sign_in_guess (
        subject {bytes} NOT NULL PRIMARY KEY,
        attempts {int} NOT NULL,
        last_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX sign_in_guess_last ON sign_in_guess (last_at)",
    // The hash of the token in the device's cookie, for each person who signed in there.
    "CREATE TABLE known_device (
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        hash {bytes} NOT NULL,
        last_used_at {int} NOT NULL,
        PRIMARY KEY (user_id, hash)
    ) {clustered}",
    "CREATE INDEX known_device_hash ON known_device (hash)",
    // Sign-ins that wait for a code.
    "CREATE TABLE sign_in_ticket (
        hash {bytes} NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        made_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX sign_in_ticket_user ON sign_in_ticket (user_id, made_at)",
    // Second factors that wait for their first code.
    "CREATE TABLE totp_setup (
        session_id {uuid} NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        sealed {bytes} NOT NULL,
        made_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX totp_setup_user ON totp_setup (user_id)",
    // Forms that were checked in the console, so that the page of the check has an address of its own. `content`: the
    // fields as a browser encodes them.
    "CREATE TABLE kept_form (
        id {uuid} NOT NULL PRIMARY KEY,
        session_id {uuid} NOT NULL,
        content TEXT NOT NULL,
        kept_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX kept_form_session ON kept_form (session_id, kept_at)",
    "CREATE INDEX kept_form_age ON kept_form (kept_at)",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE kept_form",
    "DROP TABLE totp_setup",
    "DROP TABLE sign_in_ticket",
    "DROP TABLE known_device",
    "DROP TABLE sign_in_guess",
    "DROP TABLE recovery_code",
    "DROP TABLE link",
    "DROP TABLE user_session",
    "DROP TABLE membership",
    "DROP TABLE user_account",
];
