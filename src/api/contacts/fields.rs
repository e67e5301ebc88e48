//! The fields of bodies that change contacts.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::api::State;
use crate::api::body::{self, Body};
use crate::api::error::Error;
use crate::domain::contact::{MOST_TAGS, Person};
use crate::domain::json::Measure;
use crate::error::{Code, Refusal};
use crate::import;
use crate::surface::body::json::{self, EarlyEnd};
use crate::surface::body::{Fault, Room};

/// A number as clients give it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(super) enum ContactNumber {
    /// As text.
    Text(String),
    /// As an integer.
    Digits(u64),
}

impl ContactNumber {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Digits(digits) => digits.to_string(),
        }
    }
}

/// Reads a small body that is a JSON object, with the room that it takes. Unknown fields are ignored; of a field that is
/// given twice, the last one counts.
///
/// # Errors
///
/// `invalid_body` for anything else, `unknown_field` for another spelling of a known field, `invalid_field` for a field of a
/// wrong type, `body_too_large` when reading it would take too much memory.
pub(super) async fn read<T>(body: Body, state: &State) -> Result<(T, Room), Error>
where
    T: DeserializeOwned + Send + 'static,
{
    read_with(body, state, |text, room| {
        room.charge(Measure::of(text).bytes)?;
        fields(text)
    })
    .await
}

/// Reads a body that is a JSON object with `read`, which charges the room for what it makes.
///
/// # Errors
///
/// `invalid_body` for anything else, and those of `read`.
pub(super) async fn read_with<T: Send + 'static>(
    body: Body,
    state: &State,
    read: impl FnOnce(&str, &mut Room) -> Result<T, Error> + Send + 'static,
) -> Result<(T, Room), Error> {
    body.read(&state.options).await?.read(move |bytes, room| read(body::object(bytes)?, room)).await
}

/// The known fields of the object.
///
/// # Errors
///
/// `unknown_field` for another spelling of a known field, `invalid_field` for a field of a wrong type.
pub(super) fn fields<'de, T: Deserialize<'de>>(object: &'de str) -> Result<T, Error> {
    json::fields(object).map_err(|wrong| match wrong.code {
        Code::InvalidField => invalid_field(format!("a field of the body is wrong: {}", wrong.sentence)),
        _ => wrong.into(),
    })
}

/// The known fields of an entry of a batch.
///
/// # Errors
///
/// A sentence: an entry is rejected alone.
pub(super) fn entry<'de, T: Deserialize<'de>>(object: &'de str) -> Result<T, String> {
    json::fields(object).map_err(|wrong| wrong.sentence)
}

/// The entries of a batch, each read alone: the valid ones, and the positions of the others with their faults.
#[derive(Debug)]
pub(super) struct Entries<T> {
    pub(super) valid: Vec<T>,
    pub(super) rejected: Vec<(usize, String)>,
}

impl<T> Entries<T> {
    pub(super) const fn is_empty(&self) -> bool {
        self.valid.is_empty() && self.rejected.is_empty()
    }
}

/// Reads the entries of the array `name` one after the other, up to the first that is too many. Each is charged before
/// the next one is read.
///
/// # Errors
///
/// `invalid_field` for anything but an array, `too_many` when there are more than `most`.
pub(super) fn entries<T>(
    array: &RawValue,
    name: &str,
    (most, too_many): (usize, impl FnOnce() -> Error),
    room: &mut Room,
    mut read: impl FnMut(&str) -> Result<(T, usize), String>,
) -> Result<Entries<T>, Error> {
    /// The memory of an entry's result, and of a position with its fault.
    const ENTRY: usize = 128;
    let mut entries = Entries { valid: Vec::new(), rejected: Vec::new() };
    let read = json::each(array, most, |place, entry| match read(entry) {
        Ok((valid, bytes)) => {
            // The list may be half empty.
            room.charge(ENTRY + 2 * size_of::<T>() + bytes)?;
            entries.valid.push(valid);
            Ok(())
        }
        Err(sentence) => {
            room.charge(ENTRY + sentence.len())?;
            entries.rejected.push((place, sentence));
            Ok::<_, Fault>(())
        }
    });
    match read {
        Ok(()) => Ok(entries),
        Err(EarlyEnd::NoArray) => Err(wrong_field(name, "must be an array")),
        Err(EarlyEnd::TooMany) => Err(too_many()),
        Err(EarlyEnd::Failed(fault)) => Err(fault.into()),
    }
}

/// The values of the array `name`, up to the first that is too many.
///
/// # Errors
///
/// As [`entries`], and `invalid_field` for a value of a wrong type.
pub(super) fn values<T: DeserializeOwned>(
    array: &RawValue,
    name: &str,
    (most, too_many): (usize, impl FnOnce() -> Error),
    room: &mut Room,
) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    let read = json::each(array, most, |_, value| {
        room.charge(2 * size_of::<T>() + value.len())?;
        let read = serde_json::from_str(value).map_err(|wrong| {
            invalid(name)(format!("a value of `{name}` is wrong: {}", json::sentence(&wrong)))
        })?;
        values.push(read);
        Ok::<_, Error>(())
    });
    match read {
        Ok(()) => Ok(values),
        Err(EarlyEnd::NoArray) => Err(wrong_field(name, "must be an array")),
        Err(EarlyEnd::TooMany) => Err(too_many()),
        Err(EarlyEnd::Failed(error)) => Err(error),
    }
}

pub(super) fn invalid_field(sentence: impl Into<String>) -> Error {
    Error::refused(Code::InvalidField, sentence)
}

/// A sentence about this field.
pub(super) fn invalid(name: &str) -> impl Fn(String) -> Error {
    move |sentence| Refusal::new(Code::InvalidField, sentence).about(name).into()
}

/// "`name` what".
pub(super) fn wrong_field(name: &str, what: impl fmt::Display) -> Error {
    Error::of(name, Code::InvalidField, what)
}

/// The person, with each field checked against its bounds.
pub(super) fn person(person: &Person) -> Result<Person, String> {
    import::check_contact(person)
}

/// A search, trimmed; `None` when nothing is left.
///
/// # Errors
///
/// `invalid_field` for one over `max` characters, or with a NUL.
pub(super) fn search(given: Option<String>, max: usize) -> Result<Option<String>, Error> {
    let search = given.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if search.as_ref().is_some_and(|text| text.chars().count() > max || text.contains('\0')) {
        return Err(wrong_field("search", format_args!("is over {max} characters, or holds a NUL")));
    }
    Ok(search)
}

/// The names of tags, without repetitions.
pub(super) fn tags(given: &[String]) -> Result<Vec<String>, String> {
    import::check_tags(given.iter().map(String::as_str))
}

/// Names of tags as a client gives them. Repetitions are dropped while they are read, and a list that is too long is
/// not kept.
#[derive(Debug, Default)]
pub(super) struct GivenTags {
    names: Vec<String>,
    is_too_long: bool,
}

impl GivenTags {
    /// The names, without repetitions.
    pub(super) fn names(self) -> Result<Vec<String>, String> {
        if self.is_too_long { Err(too_many_tags()) } else { tags(&self.names) }
    }
}

impl<'de> Deserialize<'de> for GivenTags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(TagsVisitor)
    }
}

struct TagsVisitor;

impl<'de> Visitor<'de> for TagsVisitor {
    type Value = GivenTags;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<GivenTags, A::Error> {
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
        /// Entries for each tag that may be given: some repeat others.
        const REPEATED: usize = 10;
        let mut tags = GivenTags::default();
        for _ in 0..MOST_TAGS * REPEATED {
            let Some(Name(name)) = given.next_element()? else { return Ok(tags) };
            let is_new = !tags.names.iter().any(|known| known.trim() == name.trim());
            if is_new && tags.names.len() == MOST_TAGS {
                tags.is_too_long = true;
                break;
            } else if is_new {
                tags.names.push(name.into_owned());
            }
        }
        while given.next_element::<IgnoredAny>()?.is_some() {
            tags.is_too_long = true;
        }
        Ok(tags)
    }
}

fn too_many_tags() -> String {
    format!("has more than {MOST_TAGS} tags")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_tags_count_once_and_a_list_that_is_too_long_is_not_kept() {
        let read = |names: Vec<String>| {
            let given: GivenTags = serde_json::from_str(&serde_json::to_string(&names).unwrap()).unwrap();
            (given.names.len(), given.names())
        };
        let numbered = |count: usize| (0..count).map(|tag| format!("t{tag}"));
        let (_, names) = read(vec!["a".to_owned(), " a ".to_owned(), "b".to_owned()]);
        assert_eq!(names, Ok(vec!["a".to_owned(), "b".to_owned()]));
        let twice = numbered(MOST_TAGS).chain(numbered(MOST_TAGS)).collect();
        assert_eq!(read(twice).1.map(|names| names.len()), Ok(MOST_TAGS));
        let too_many = numbered(MOST_TAGS + 1).collect();
        assert_eq!(read(too_many), (MOST_TAGS, Err(too_many_tags())));
        let (kept, refused) = read(vec!["a".to_owned(); 100_000]);
        assert_eq!((kept, refused), (1, Err(too_many_tags())));
        assert!(serde_json::from_str::<GivenTags>("[1]").is_err());
    }
}
