//! The audience of a send: the fields `phone_number` and `contact_tag_id`.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Limits;
use super::field::{Json, Raw};
use super::shape::{Numbers, Tags};
use crate::error::{Code, Refusal};
use crate::message::Selection;
use crate::phone::PhoneNumber;

/// How many skipped entries an answer shows.
const SHOWN_ENTRIES: usize = 100;
/// How much of a skipped entry an answer shows, in characters.
const SHOWN_CHARS: usize = 64;

/// The audience that a request names; the resolver turns it into recipients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audience {
    /// The valid numbers as they were given; the same one may be there twice.
    pub numbers: Vec<PhoneNumber>,
    /// The tags, each once, in any order.
    pub tags: Vec<Uuid>,
    /// Messages of an earlier send whose recipients belong to the audience. Only a retry names them.
    pub again: Option<Again>,
    /// The entries that are not numbers, and those that are not the ids of tags.
    pub skipped: Skipped,
}

/// The recipients of messages of an earlier send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// The send.
    pub send_id: Uuid,
    /// The selection of its messages. Messages that have not ended are never included.
    pub selection: Selection,
}

/// Entries that cannot be sent to; never silently dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// How many there are.
    pub count: u64,
    /// The first hundred of them.
    pub first: Vec<SkippedEntry>,
}

/// One entry to which nothing can be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedEntry {
    /// The entry's beginning.
    pub input: String,
    /// The reason, in words that continue "the number …" or "the tag …".
    pub reason: String,
    /// The kind of reason; `None` in answers from before there were kinds.
    #[serde(default)]
    pub code: Option<String>,
}

/// The kinds of reasons, as answers name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipCode {
    /// It is no phone number that is plainly one.
    InvalidNumber,
    /// It is on the company's suppression list.
    Suppressed,
    /// The person opted out of marketing.
    OptedOut,
    /// It is another number of a person who is in the send already.
    SamePerson,
    /// The company has no such tag.
    TagNotFound,
    /// The message to be retried was sent again before: that one arrived, or may still arrive.
    AlreadyRetried,
    /// The person did not write in the last 24 hours, and the message is no template.
    WindowClosed,
}

impl SkipCode {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::InvalidNumber,
        Self::Suppressed,
        Self::OptedOut,
        Self::SamePerson,
        Self::TagNotFound,
        Self::AlreadyRetried,
        Self::WindowClosed,
    ];

    /// The word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidNumber => "invalid_number",
            Self::Suppressed => "suppressed",
            Self::OptedOut => "opted_out",
            Self::SamePerson => "same_person",
            Self::TagNotFound => "tag_not_found",
            Self::AlreadyRetried => "already_retried",
            Self::WindowClosed => "window_closed",
        }
    }
}

impl Skipped {
    /// The reasons of the first entries, each once: "2 entries: opted out; 1 entry: has no digits". `None` without
    /// entries.
    pub fn reasons(&self) -> Option<String> {
        let mut counted: Vec<(&str, u64)> = Vec::new();
        for SkippedEntry { input: _, reason, code: _ } in &self.first {
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

    /// Adds further entries, and keeps those that are among the first.
    pub fn extend(&mut self, others: Self) {
        self.count += others.count;
        let room = SHOWN_ENTRIES.saturating_sub(self.first.len());
        self.first.extend(others.first.into_iter().take(room));
    }

    /// Counts an entry that is no number, and keeps it if it is among the first.
    pub fn add(&mut self, input: &str, reason: &dyn fmt::Display) {
        self.add_as(SkipCode::InvalidNumber, input, reason);
    }

    /// Counts an entry, and keeps it if it is among the first.
    pub fn add_as(&mut self, code: SkipCode, input: &str, reason: &dyn fmt::Display) {
        self.count += 1;
        if self.first.len() < SHOWN_ENTRIES {
            let input = beginning(input);
            let (reason, code) = (reason.to_string(), Some(code.as_str().to_owned()));
            self.first.push(SkippedEntry { input, reason, code });
        }
    }
}

/// The beginning of an entry, as answers show it.
pub(super) fn beginning(input: &str) -> String {
    match input.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &input[..end]),
        None => input.to_owned(),
    }
}

/// An audience, and a refusal of its size, which comes only after the content's own checks.
pub(super) struct Parsed {
    pub(super) audience: Audience,
    pub(super) oversize: Option<Refusal>,
}

/// Reads both fields; an audience of invalid entries only is not an error here.
pub(super) fn parse(
    phones: Raw<'_, Option<Numbers>>,
    tags: Raw<'_, Option<Tags>>,
    limits: &Limits,
) -> Result<Parsed, Refusal> {
    let mut audience = Audience::default();
    let phone_entries =
        collect(phones, "a string, a number or an array of these", limits.phone_numbers, |entry| {
            audience.add_phone(entry)
        })?;
    let tag_entries =
        collect(tags, "a string or an array of strings", limits.tags, |entry| audience.add_tag(entry))?;
    audience.tags.sort_unstable();
    audience.tags.dedup();
    if phone_entries == 0 && tag_entries == 0 {
        return Err(Refusal::new(
            Code::MissingRecipient,
            "`phone_number` and `contact_tag_id` are both missing: give at least one of them",
        ));
    }
    let more = |max: usize| format!("has more than {max} entries");
    let oversize = if phone_entries > limits.phone_numbers {
        Some(phones.refuse(Code::TooManyRecipients, more(limits.phone_numbers)))
    } else if tag_entries > limits.tags {
        Some(tags.refuse(Code::TooManyTags, more(limits.tags)))
    } else {
        None
    };
    Ok(Parsed { audience, oversize })
}

/// Adds each entry until there are more than `max`, and returns how many were seen. `add` returns whether the entry has
/// a type that the field takes.
fn collect<T>(
    field: Raw<'_, T>,
    expected: &str,
    max: usize,
    mut add: impl FnMut(Json<'_>) -> bool,
) -> Result<usize, Refusal> {
    let (mut seen, mut wrong_type) = (0, false);
    field.each(|entry| {
        if entry == Json::Absent {
            return ControlFlow::Continue(());
        }
        seen += 1;
        if seen > max {
            return ControlFlow::Break(());
        }
        wrong_type = !add(entry);
        if wrong_type { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if wrong_type { Err(field.wrong_type(expected)) } else { Ok(seen) }
}

impl Audience {
    fn add_phone(&mut self, entry: Json<'_>) -> bool {
        let text = match entry {
            Json::Text(text) => text,
            Json::Number(written) if written.bytes().all(|byte| byte.is_ascii_digit()) => {
                Cow::Borrowed(written)
            }
            Json::Number(written) => {
                self.skipped.add(written, &"is not a whole positive number");
                return true;
            }
            Json::BrokenText => {
                self.skipped.add("", &"is not readable text");
                return true;
            }
            Json::Absent | Json::Bool | Json::Array | Json::Object => return false,
        };
        match PhoneNumber::parse(&text) {
            Ok(number) => self.numbers.push(number),
            Err(invalid) => self.skipped.add(&text, &invalid),
        }
        true
    }

    fn add_tag(&mut self, entry: Json<'_>) -> bool {
        match entry {
            Json::Text(text) => match Uuid::parse_str(text.trim()) {
                Ok(tag) => self.tags.push(tag),
                Err(_) => {
                    self.skipped.add_as(SkipCode::TagNotFound, &text, &"is not the id of a tag (a UUID)");
                }
            },
            Json::BrokenText => self.skipped.add_as(SkipCode::TagNotFound, "", &"is not readable text"),
            Json::Absent | Json::Number(_) | Json::Bool | Json::Array | Json::Object => return false,
        }
        true
    }
}
