//! The metrics of files that people send, and the words for what retention deletes.

use super::metric::{Label, Metric};

pub(super) const INBOX: &[Metric] = &[
    Metric::counter(
        "pombo_incoming_files_total",
        "Attempts to fetch a file that a person sent, by result: kept, retried, or why the file is missing",
    )
    .by(&[Label::of(
        "result",
        &[
            "kept",
            "retried",
            "too_large",
            "gone",
            "damaged",
            "infected",
            "not_scanned",
            "refused_type",
            "disk_full",
            "no_room",
        ],
    )])
    .watch("A rising share of `retried`, `disk_full`, `no_room` or `not_scanned`: the log says why"),
    Metric::gauge(
        "pombo_incoming_files_waiting",
        "Files that people sent and that are to be fetched, on the node that does the housekeeping",
    )
    .watch("Usually near zero: files are fetched when their message arrives"),
];

/// What retention deletes.
pub(super) const FORGOTTEN: &[&str] = &[
    "sends",
    "messages",
    "events",
    "changes",
    "failed_sign_ins",
    "answers",
    "holds",
    "withdrawn_sends",
    "imports",
    "kept_forms",
    "drafts",
    "media",
    "media_content",
    "inbound_messages",
    "conversations",
    "inbound_files",
];
