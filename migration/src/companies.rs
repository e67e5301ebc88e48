//! Companies, their API keys, the tiers, and the counters by which a running service sees a change.

pub(crate) const UP: &[&str] = &[
    // One counter per topic. A change of a channel, a tier or a key raises its topic in the same
    // transaction and stamps the row with the new value; a running service polls the counters.
    "CREATE TABLE revision (topic TEXT NOT NULL PRIMARY KEY, value {int} NOT NULL) {strict}",
    "INSERT INTO revision (topic, value) VALUES
        ('api_key', 0), ('channel', 0), ('tier', 0), ('template', 0), ('suppression', 0)",
    // The lease of the process that dispatches. Every write of the ledger checks the epoch, so a process that
    // lost the lease can no longer write.
    "CREATE TABLE lease (
        name TEXT NOT NULL PRIMARY KEY,
        epoch {int} NOT NULL,
        holder TEXT NOT NULL,
        acquired_at {int} NOT NULL
    ) {strict}",
    "CREATE TABLE tier (
        name TEXT NOT NULL PRIMARY KEY,
        settings TEXT NOT NULL,
        revision {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    // `country`: the two letters of the country in which most of the company's contacts have their numbers; null until a
    // person says so.
    "CREATE TABLE company (
        id {uuid} NOT NULL PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        tier TEXT NOT NULL,
        created_at {int} NOT NULL,
        country TEXT
    ) {strict}",
    // `scopes` have spaces between them; null for all scopes. `last_used_at` is rounded to the minute; null for a key that
    // was never used.
    "CREATE TABLE api_key (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        name TEXT NOT NULL,
        prefix TEXT NOT NULL,
        hash {bytes} NOT NULL UNIQUE,
        expires_at {int},
        revoked_at {int},
        created_at {int} NOT NULL,
        scopes TEXT,
        last_used_at {int}
    ) {strict}",
    "CREATE INDEX api_key_company ON api_key (company_id)",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE api_key",
    "DROP TABLE company",
    "DROP TABLE tier",
    "DROP TABLE lease",
    "DROP TABLE revision",
];
