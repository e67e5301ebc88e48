//! The files that people send. Their content is in the store of files, beside those that companies upload.

pub(crate) const UP: &[&str] = &[
    // `state`: 0 to be fetched, 1 kept, 2 missing, 3 leaving: its content is to be deleted, then the row; 4 missing, and what
    // was stored of its content is to be deleted. `kind`: that of the message, and
    // once it is kept what it is by its content. `source`: what is needed to fetch it, sealed; empty once that is over.
    // `reason`: why it is missing, or was not kept at the last attempt. `next_at`: the next attempt; while its content is being
    // stored, when that is given up. `digest`: SHA-256 of the content, from before it is stored until it is deleted.
    "CREATE TABLE inbound_file (
        message_id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        state {small} NOT NULL DEFAULT 0,
        kind TEXT NOT NULL,
        source {bytes} NOT NULL,
        attempts {int} NOT NULL DEFAULT 0,
        next_at {int} NOT NULL,
        received_at {int} NOT NULL,
        reason {small},
        digest {bytes},
        mime_type TEXT,
        bytes {int} NOT NULL DEFAULT 0,
        name TEXT,
        thumbnail {bytes}
    ) {strict}",
    "CREATE INDEX inbound_file_due ON inbound_file (channel_id, next_at) WHERE state = 0",
    "CREATE INDEX inbound_file_content ON inbound_file (company_id, digest, state, bytes) WHERE digest IS NOT NULL",
    "CREATE INDEX inbound_file_leaving ON inbound_file (next_at) WHERE state >= 3",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE inbound_file"];
