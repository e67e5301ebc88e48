//! Prices that operators upload, and how the provider bills the messages that arrived.

pub(crate) const UP: &[&str] = &[
    // `date`: the first day on which the prices apply, as in 2026-10-01. `card`: the file.
    "CREATE TABLE rate_card (
        date TEXT NOT NULL PRIMARY KEY,
        card TEXT NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    // How the provider bills the message, once it has arrived: the category's place and whether it is charged. Below 0 from
    // the statement that sets it until the next one that changes the row.
    "ALTER TABLE message ADD COLUMN billing {small}",
    // How many messages arrived. `month`: since the year 0, in UTC. `country`: two letters, or empty.
    "CREATE TABLE billed_count (
        company_id {uuid} NOT NULL,
        month {int} NOT NULL,
        channel_id {uuid} NOT NULL,
        country TEXT NOT NULL,
        billing {small} NOT NULL,
        messages {int} NOT NULL,
        PRIMARY KEY (company_id, month, channel_id, country, billing)
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] =
    &["DROP TABLE billed_count", "ALTER TABLE message DROP COLUMN billing", "DROP TABLE rate_card"];
