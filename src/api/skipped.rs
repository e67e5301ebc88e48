//! Skipped entries of a send, as answers and refusals show them.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::schema::SkippedCode;
use crate::domain::request::{Skipped, SkippedEntry};

/// A skipped entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Skipped)]
pub(super) struct SkippedRecord {
    /// The beginning of the entry, the number, or the id of the tag or the segment.
    input: String,
    /// Why it is skipped.
    #[schema(example = "has fewer than 7 digits")]
    reason: String,
    /// The kind of reason: `invalid_number` for an entry that is not plainly one phone number, `suppressed` and
    /// `opted_out` for a recipient who gets nothing, or no marketing, `same_person` for another number of a person
    /// who is in the send already, `left_out` for a contact with a tag of `without_contact_tag_id`, `tag_not_found` for a
    /// tag that the company does not have, `segment_not_found` for such a segment, `segment_outdated` for a segment that
    /// names a tag or a send that is gone, `already_retried` for a message of a retry that was sent again before, and
    /// arrived or may still arrive, `window_closed` for a person who did not write in the last 24 hours and gets no message
    /// but templates, `duplicate_recipient` for one
    /// who is given before with other values, `value_missing` and `value_not_allowed` for one without a value that the message
    /// needs, or with one that it cannot have. Null in repeated answers from before there were kinds.
    #[schema(value_type = Option<SkippedCode>, example = "invalid_number")]
    code: Option<String>,
    /// Which entry of `recipients`, or which row of the file, it is, from 0. Absent for entries of other fields.
    #[schema(value_type = u64, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    /// The field at fault below that entry, such as `values.order`. Absent for entries of other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, example = "values.order")]
    field: Option<String>,
}

impl From<SkippedEntry> for SkippedRecord {
    fn from(SkippedEntry { input, reason, code, index, field }: SkippedEntry) -> Self {
        Self { input, reason, code, index, field }
    }
}

impl From<(u64, SkippedEntry)> for SkippedRecord {
    /// The place of an entry is told by the order alone.
    fn from((_, entry): (u64, SkippedEntry)) -> Self {
        entry.into()
    }
}

/// The entries that an answer shows.
pub(super) fn skipped_records(skipped: &Skipped) -> Vec<SkippedRecord> {
    skipped.shown().iter().cloned().map(SkippedRecord::from).collect()
}

/// How many entries there are of each kind, of a request that gives its recipients values of their own; nothing for others,
/// whose answers stay as they were.
pub(super) fn skipped_counts(skipped: &Skipped) -> BTreeMap<&'static str, u64> {
    if skipped.gives_rows() { skipped.counts.clone() } else { BTreeMap::new() }
}
