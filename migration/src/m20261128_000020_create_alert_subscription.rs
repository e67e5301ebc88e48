//! Who is told of what by e-mail, what is to be told, and the mails that were not sent yet.

pub(crate) const UP: &[&str] = &[
    // What a person chose. Without a row, the person's role decides.
    "CREATE TABLE alert_subscription (
        user_id {uuid} NOT NULL,
        company_id {uuid} NOT NULL,
        kind TEXT NOT NULL,
        wanted {int} NOT NULL,
        PRIMARY KEY (user_id, company_id, kind)
    ) {clustered}",
    "CREATE INDEX alert_subscription_by_kind ON alert_subscription (kind, company_id)",
    // `subject`: a channel or a webhook endpoint; nil for the whole company. `facts`: the last of what nobody was told, in JSON;
    // `untold`: how many there were, since `since`. `due_at` is null while there is nothing to tell. `revision` rises with each
    // write, so that of two processes only one writes.
    "CREATE TABLE alert_thread (
        company_id {uuid} NOT NULL,
        kind TEXT NOT NULL,
        subject {uuid} NOT NULL,
        troubled {int} NOT NULL,
        untold {int} NOT NULL,
        since {int},
        facts TEXT NOT NULL,
        due_at {int},
        held_until {int},
        told_better {int} NOT NULL,
        told_at {int},
        revision {int} NOT NULL,
        PRIMARY KEY (company_id, kind, subject)
    ) {clustered}",
    "CREATE INDEX alert_thread_due ON alert_thread (due_at) WHERE due_at IS NOT NULL",
    // `items`: what the mail tells, in JSON; `more`: how many subjects beside these. The mail's text is made when it is sent.
    "CREATE TABLE alert_mail (
        id {uuid} NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL,
        company_id {uuid} NOT NULL,
        items TEXT NOT NULL,
        more {int} NOT NULL,
        made_at {int} NOT NULL,
        failures {int} NOT NULL,
        next_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX alert_mail_next ON alert_mail (next_at)",
    // What was told once and is told again only after it ended: `name` is the word of a limit, or `key`. `level`: 1 for a quota
    // that is nearly used up, 2 for one that is used up; of a key, when it expires.
    "CREATE TABLE event_mark (
        company_id {uuid} NOT NULL,
        subject {uuid} NOT NULL,
        name TEXT NOT NULL,
        level {int} NOT NULL,
        PRIMARY KEY (company_id, subject, name)
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] = &[
    "DELETE FROM event_reader WHERE kind = 'alerts'",
    "DROP TABLE event_mark",
    "DROP TABLE alert_mail",
    "DROP TABLE alert_thread",
    "DROP TABLE alert_subscription",
];
