//! Channels and the templates of business accounts.

pub(crate) const UP: &[&str] = &[
    // `linked_at`: when the web session's phone was linked; null without a phone. `trial_wait`: the pause between two trial
    // messages, in milliseconds; `trial_due`: when the next one may go; both are null while the channel is not on trial.
    // `verify_token` is null until the token is first needed.
    "CREATE TABLE channel (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        name_folded TEXT NOT NULL,
        phone_number TEXT,
        phone_number_id TEXT,
        waba_id TEXT,
        tier TEXT NOT NULL,
        token {bytes},
        app_secret {bytes},
        status TEXT NOT NULL,
        status_code TEXT,
        status_sentence TEXT,
        status_provider_code {int},
        status_since {int} NOT NULL,
        quality_rating TEXT,
        revision {int} NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL,
        level TEXT,
        messaging_limit TEXT,
        linked_at {int},
        trial_wait {int},
        trial_due {int},
        verify_token {bytes}
    ) {strict}",
    "CREATE INDEX channel_company ON channel (company_id, kind, id)",
    "CREATE INDEX channel_revision ON channel (revision)",
    "CREATE UNIQUE INDEX channel_phone_number_id ON channel (phone_number_id) WHERE phone_number_id IS NOT NULL",
    // The columns `…_said_at`: when the provider said the value, so that an older report that arrives later changes nothing.
    "CREATE TABLE template (
        id {serial} PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        waba_id TEXT NOT NULL,
        provider_id TEXT NOT NULL,
        name TEXT NOT NULL,
        language TEXT NOT NULL,
        category TEXT NOT NULL,
        status TEXT NOT NULL,
        parameter_format TEXT NOT NULL,
        components TEXT NOT NULL,
        rejected_reason TEXT,
        quality_score TEXT,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL,
        revision {int} NOT NULL DEFAULT 0,
        status_said_at {int} NOT NULL DEFAULT 0,
        quality_said_at {int} NOT NULL DEFAULT 0,
        category_said_at {int} NOT NULL DEFAULT 0
    ) {strict}",
    "CREATE UNIQUE INDEX template_name ON template (company_id, waba_id, name, language)",
    "CREATE INDEX template_revision ON template (revision)",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE template", "DROP TABLE channel"];
