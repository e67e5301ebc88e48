//! Options that channels have values of their own for, and tiers that they have for a while.

pub(crate) const UP: &[&str] = &[
    // A JSON object.
    "ALTER TABLE channel ADD COLUMN own_options TEXT",
    // The channel's tier for good and its own options, which count again from `ends_at` on. Without a row, the channel keeps
    // what it has.
    "CREATE TABLE channel_tier_end (
        channel_id {uuid} NOT NULL PRIMARY KEY,
        tier TEXT NOT NULL,
        own_options TEXT,
        ends_at {int} NOT NULL
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] =
    &["DROP TABLE channel_tier_end", "ALTER TABLE channel DROP COLUMN own_options"];
