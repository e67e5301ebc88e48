//! Entries of a request to which nothing can be sent, and why.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::listed;

/// How many skipped entries an answer shows, unless the request gives its recipients values of their own.
pub const SHOWN_ENTRIES: usize = 100;
/// How many it shows then.
pub const SHOWN_RECIPIENTS: usize = 1_000;
/// How many skipped entries of a send are kept: at most some 4 MB. The others are counted.
pub const KEPT_ENTRIES: usize = 20_000;
/// How much of a skipped entry an answer shows, in characters.
const SHOWN_CHARS: usize = 64;

/// Entries that cannot be sent to; never silently dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// How many there are.
    pub count: u64,
    /// The first ones of them, at most [`KEPT_ENTRIES`].
    pub first: Vec<SkippedEntry>,
    /// How many there are of each kind.
    pub counts: BTreeMap<&'static str, u64>,
}

/// One entry to which nothing can be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedEntry {
    /// The entry's beginning.
    pub input: String,
    /// The reason, in words that continue "the number …", "the tag …" or "the segment …".
    pub reason: String,
    /// The kind of reason; `None` in answers from before there were kinds.
    #[serde(default)]
    pub code: Option<String>,
    /// Which entry of `recipients` or row of a file it is, from 0; `None` for an entry of another field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// The field at fault below that entry, such as `values.order`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl SkippedEntry {
    /// An entry of the request.
    pub fn of(code: SkipCode, input: &str, reason: &dyn fmt::Display) -> Self {
        let (input, reason) = (beginning(input), reason.to_string());
        Self { input, reason, code: Some(code.as_str().to_owned()), index: None, field: None }
    }

    /// The same as an entry of `recipients`, with the field at fault.
    #[must_use]
    pub fn at(self, index: u64, field: Option<&str>) -> Self {
        Self { index: Some(index), field: field.map(str::to_owned), ..self }
    }
}

listed! {
    /// The kinds of reasons, as answers name them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SkipCode {
        /// It is no phone number that is plainly one.
        InvalidNumber = "invalid_number",
        /// It is on the company's suppression list.
        Suppressed = "suppressed",
        /// The person opted out of marketing.
        OptedOut = "opted_out",
        /// It is another number of a person who is in the send already.
        SamePerson = "same_person",
        /// A contact with this number has a tag that the send leaves out.
        LeftOut = "left_out",
        /// The company has no such tag.
        TagNotFound = "tag_not_found",
        /// The company has no such segment.
        SegmentNotFound = "segment_not_found",
        /// The segment selects nobody, because it names a tag or a send that is gone.
        SegmentOutdated = "segment_outdated",
        /// The message to be retried was sent again before: that one arrived, or may still arrive.
        AlreadyRetried = "already_retried",
        /// The person did not write in the last 24 hours, and the message is no template.
        WindowClosed = "window_closed",
        /// The recipient is given before with other values, which count.
        DuplicateRecipient = "duplicate_recipient",
        /// The recipient lacks a value that has no text in its place.
        ValueMissing = "value_missing",
        /// A value of the recipient cannot stand where the message has it.
        ValueNotAllowed = "value_not_allowed",
    }
}

impl Skipped {
    /// What is kept of it, as JSON, so that an answer can be repeated: the entries that an answer shows, and how many there are
    /// of each kind where these do not tell.
    pub fn to_kept(&self) -> String {
        let first = self.shown();
        let kept = if first.len() as u64 == self.count {
            serde_json::to_string(first)
        } else {
            serde_json::to_string(&KeptEntries { first, counts: &self.counts })
        };
        // Texts and numbers always become JSON.
        kept.unwrap_or_default()
    }

    /// The entries that were kept of an earlier request, see [`Skipped::to_kept`], and how many it had.
    ///
    /// # Errors
    ///
    /// For a text that is no such JSON.
    pub fn kept(count: u64, text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum KeptForm {
            // Of answers that name all entries, and of those from before kinds were counted.
            Entries(Vec<SkippedEntry>),
            Counted { first: Vec<SkippedEntry>, counts: BTreeMap<String, u64> },
        }
        let mut skipped = Self { count, ..Self::default() };
        match serde_json::from_str(text)? {
            KeptForm::Entries(first) => {
                first.iter().for_each(|entry| *skipped.counts.entry(entry.kind()).or_default() += 1);
                skipped.first = first;
            }
            KeptForm::Counted { first, counts } => {
                let known = |word: &str| SkipCode::ALL.into_iter().find(|code| code.as_str() == word);
                let counts = counts.iter().filter_map(|(word, count)| Some((known(word)?.as_str(), *count)));
                (skipped.first, skipped.counts) = (first, counts.collect());
            }
        }
        Ok(skipped)
    }

    /// The reasons of the first entries, each once: "2 entries: opted out; 1 entry: has no digits". `None` without
    /// entries.
    pub fn reasons(&self) -> Option<String> {
        let mut counted: Vec<(&str, u64)> = Vec::new();
        for SkippedEntry { reason, .. } in self.listed(SHOWN_ENTRIES) {
            match counted.iter_mut().find(|(known, _)| known == reason) {
                Some((_, count)) => *count += 1,
                None => counted.push((reason, 1)),
            }
        }
        let phrase = |(reason, count): &(&str, u64)| {
            let entries = if *count == 1 { "entry" } else { "entries" };
            format!("{count} {entries}: {reason}")
        };
        let phrases: Vec<_> = counted.iter().map(phrase).collect();
        (!phrases.is_empty()).then(|| phrases.join("; "))
    }

    /// The entries that an answer shows: more of them where the request gives its recipients values of their own.
    pub fn shown(&self) -> &[SkippedEntry] {
        self.listed(if self.gives_rows() { SHOWN_RECIPIENTS } else { SHOWN_ENTRIES })
    }

    /// Whether one of them is an entry of `recipients` or a row of a file: the request gives recipients values of their own.
    pub fn gives_rows(&self) -> bool {
        self.first.iter().any(|entry| entry.index.is_some())
    }

    /// The first entries, at most this many.
    fn listed(&self, most: usize) -> &[SkippedEntry] {
        &self.first[..self.first.len().min(most)]
    }

    /// Adds further entries, and keeps those that are among the first.
    pub fn extend(&mut self, others: Self) {
        let Self { count, first, counts } = others;
        self.count += count;
        let room = KEPT_ENTRIES.saturating_sub(self.first.len());
        self.first.extend(first.into_iter().take(room));
        counts.into_iter().for_each(|(kind, count)| *self.counts.entry(kind).or_default() += count);
    }

    /// Counts an entry that is no number, and keeps it if it is among the first.
    pub fn add(&mut self, input: &str, reason: &dyn fmt::Display) {
        self.add_as(SkipCode::InvalidNumber, input, reason);
    }

    /// Counts an entry, and keeps it if it is among the first.
    pub fn add_as(&mut self, code: SkipCode, input: &str, reason: &dyn fmt::Display) {
        if self.first.len() < KEPT_ENTRIES {
            self.push(SkippedEntry::of(code, input, reason));
        } else {
            self.count += 1;
            *self.counts.entry(code.as_str()).or_default() += 1;
        }
    }

    /// Counts an entry, and keeps it if it is among the first.
    pub fn push(&mut self, entry: SkippedEntry) {
        self.count += 1;
        *self.counts.entry(entry.kind()).or_default() += 1;
        if self.first.len() < KEPT_ENTRIES {
            self.first.push(entry);
        }
    }
}

/// The kept entries of a request that skipped more of them.
#[derive(Serialize)]
struct KeptEntries<'a> {
    first: &'a [SkippedEntry],
    counts: &'a BTreeMap<&'static str, u64>,
}

impl SkippedEntry {
    /// The kind of reason. Answers from before there were kinds have numbers that are none.
    fn kind(&self) -> &'static str {
        let known = SkipCode::ALL.into_iter().find(|code| self.code.as_deref() == Some(code.as_str()));
        known.unwrap_or(SkipCode::InvalidNumber).as_str()
    }
}

/// The beginning of an entry, as answers show it.
pub(super) fn beginning(input: &str) -> String {
    match input.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &input[..end]),
        None => input.to_owned(),
    }
}
