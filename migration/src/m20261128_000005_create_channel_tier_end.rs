//! Tiers that channels have for a while.

pub(crate) const UP: &[&str] = &[
    // The channel's own tier, which counts again from `ends_at` on. Without a row, the channel keeps the tier that it has.
    "CREATE TABLE channel_tier_end (
        channel_id {uuid} NOT NULL PRIMARY KEY,
        tier TEXT NOT NULL,
        ends_at {int} NOT NULL
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE channel_tier_end"];
