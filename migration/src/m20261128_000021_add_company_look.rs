//! How a company's pages look, since when a company is disabled, and when people last signed in.

pub(crate) const UP: &[&str] = &[
    // What an owner chose for the head of the console: each value is null where nobody chose. `colour`: `#` and six
    // hexadecimal digits. `logo`: a PNG file, `logo_hash` the SHA-256 of it in hexadecimal digits, by which it is served.
    "CREATE TABLE company_look (
        company_id {uuid} NOT NULL PRIMARY KEY,
        name TEXT,
        colour TEXT,
        logo_hash TEXT {bytewise},
        logo {bytes},
        changed_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX company_look_logo ON company_look (logo_hash) WHERE logo_hash IS NOT NULL",
    // Null: people and programs of the company come in.
    "ALTER TABLE company ADD COLUMN disabled_at {int}",
    // Null: never since this column exists.
    "ALTER TABLE user_account ADD COLUMN last_sign_in_at {int}",
];

pub(crate) const DOWN: &[&str] = &[
    "ALTER TABLE user_account DROP COLUMN last_sign_in_at",
    "ALTER TABLE company DROP COLUMN disabled_at",
    "DROP TABLE company_look",
];
