//! The audience of a send: the fields `phone_number`, `contact_tag_id`, `without_contact_tag_id` and `segment_id`.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use uuid::Uuid;

use super::Limits;
use super::body::MOST_IGNORED;
use super::field::{Json, Raw};
use super::shape::{Numbers, SegmentIds, Tags};
use super::skipped::{SkipCode, Skipped};
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::message::Selection;
use crate::phone::PhoneNumber;
use crate::values::{Rows, Values};

/// The most segments of one request: each is a search among the company's contacts.
pub const MOST_SEGMENTS: usize = 20;

/// The audience that a request names; the resolver turns it into recipients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audience {
    /// The valid numbers as they were given; the same one may be there twice.
    pub numbers: Vec<PhoneNumber>,
    /// The tags, each once, in any order.
    pub tags: Vec<Uuid>,
    /// The tags whose contacts get nothing, each once, in any order, whatever else names their numbers.
    pub without: Vec<Uuid>,
    /// The segments, each once, in any order.
    pub segments: Vec<Uuid>,
    /// Messages of an earlier send whose recipients belong to the audience. Only a retry names them.
    pub again: Option<Again>,
    /// The recipients with values of their own, whose values count whatever else names their numbers, and the values of
    /// all; `None` for a request without values.
    pub personal: Option<Personal>,
    /// The entries that are not numbers, and those that are not the ids of tags or segments.
    pub skipped: Skipped,
}

/// The values that a request gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Personal {
    /// The recipients with values of their own, [finished](Rows::finish).
    pub rows: Arc<Rows>,
    /// The values of all recipients.
    pub shared: Values,
    /// What a recipient to whom nothing can be sent means for the others.
    pub on_skipped: OnSkipped,
}

impl Personal {
    /// The names of given values that have no place in any of these contents, as `ignored` of an answer has them:
    /// `values.order`.
    pub fn unused<'c>(&self, contents: impl IntoIterator<Item = &'c Content>) -> Vec<String> {
        let shared = self.shared.iter().map(|(name, _)| name);
        let shared = shared.filter(|name| self.rows.names().all(|known| known != *name));
        unused_values(self.rows.names().chain(shared), contents)
    }
}

/// The names among these that have no place in any of the contents: the first ones of many.
pub(super) fn unused_values<'a, 'c>(
    names: impl Iterator<Item = &'a str>,
    contents: impl IntoIterator<Item = &'c Content>,
) -> Vec<String> {
    let used: Vec<_> = contents.into_iter().flat_map(Content::value_names).collect();
    let unused = names.filter(|name| !used.contains(name)).map(|name| format!("values.{name}"));
    unused.take(MOST_IGNORED).collect()
}

crate::worded! {
    /// What becomes of a request of which some recipients are skipped.
    #[derive(Default)]
    pub enum OnSkipped {
        /// The others get the message.
        #[default]
        Send = "send",
        /// Nobody gets it.
        Refuse = "refuse",
    }
}

/// The recipients of messages of an earlier send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// The send.
    pub send_id: Uuid,
    /// The selection of its messages. Messages that have not ended are never included.
    pub selection: Selection,
}

/// An audience, and a refusal of its size, which comes only after the content's own checks.
pub(super) struct Parsed {
    pub(super) audience: Audience,
    pub(super) oversize: Option<Refusal>,
}

/// Reads the fields, beside which `recipients` entries are given with values; an audience of invalid entries only is not an error here. An invalid tag to leave out is one: without
/// it, people would get what they are not meant to get.
pub(super) fn parse(
    phones: Raw<'_, Option<Numbers>>,
    tags: Raw<'_, Option<Tags>>,
    without: Raw<'_, Option<Tags>>,
    segments: Raw<'_, Option<SegmentIds>>,
    recipients: u64,
    limits: &Limits,
) -> Result<Parsed, Refusal> {
    let mut audience = Audience::default();
    let phone_entries =
        collect(phones, "a string, a number or an array of these", limits.phone_numbers, |entry| {
            audience.add_phone(entry)
        })?;
    let tag_entries =
        collect(tags, "a string or an array of strings", limits.tags, |entry| audience.add_tag(entry))?;
    let left_out = collect(without, TAG_IDS, limits.tags, |entry| audience.leave_out(entry))?;
    let segment_entries = collect(segments, "a string or an array of strings", MOST_SEGMENTS, |entry| {
        audience.add_segment(entry)
    })?;
    for ids in [&mut audience.tags, &mut audience.without, &mut audience.segments] {
        ids.sort_unstable();
        ids.dedup();
    }
    if phone_entries + tag_entries + segment_entries == 0 && recipients == 0 {
        return Err(Refusal::new(
            Code::MissingRecipient,
            "`phone_number`, `contact_tag_id` and `segment_id` are all missing: give at least one of them",
        ));
    }
    let more = |max: usize| format!("has more than {max} entries");
    let oversize = if phone_entries > limits.phone_numbers {
        Some(phones.refuse(Code::TooManyRecipients, more(limits.phone_numbers)))
    } else if tag_entries > limits.tags {
        Some(tags.refuse(Code::TooManyTags, more(limits.tags)))
    } else if left_out > limits.tags {
        Some(without.refuse(Code::TooManyTags, more(limits.tags)))
    } else if segment_entries > MOST_SEGMENTS {
        Some(segments.refuse(Code::InvalidField, more(MOST_SEGMENTS)))
    } else {
        None
    };
    Ok(Parsed { audience, oversize })
}

/// The entries of `without_contact_tag_id`.
const TAG_IDS: &str = "the id of a tag (a UUID) or an array of these";

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

    fn leave_out(&mut self, entry: Json<'_>) -> bool {
        let Json::Text(text) = entry else { return false };
        let tag = Uuid::parse_str(text.trim());
        self.without.extend(tag.as_ref().ok());
        tag.is_ok()
    }

    fn add_tag(&mut self, entry: Json<'_>) -> bool {
        let wrong = (SkipCode::TagNotFound, "is not the id of a tag (a UUID)");
        add_id(entry, &mut self.tags, &mut self.skipped, wrong)
    }

    fn add_segment(&mut self, entry: Json<'_>) -> bool {
        let wrong = (SkipCode::SegmentNotFound, "is not the id of a segment (a UUID)");
        add_id(entry, &mut self.segments, &mut self.skipped, wrong)
    }
}

/// Adds an id, or counts an entry that is none as skipped for the reason `wrong`. Returns whether the entry has a type
/// that the field takes.
fn add_id(entry: Json<'_>, ids: &mut Vec<Uuid>, skipped: &mut Skipped, wrong: (SkipCode, &str)) -> bool {
    let (code, reason) = wrong;
    match entry {
        Json::Text(text) => match Uuid::parse_str(text.trim()) {
            Ok(id) => ids.push(id),
            Err(_) => skipped.add_as(code, &text, &reason),
        },
        Json::BrokenText => skipped.add_as(code, "", &"is not readable text"),
        Json::Absent | Json::Number(_) | Json::Bool | Json::Array | Json::Object => return false,
    }
    true
}
