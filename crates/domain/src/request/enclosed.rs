//! The contents of one structure each that both kinds of channels send: a location, cards of people, a reaction.

use serde_json::{Value, json};

use super::field::{Json, Raw};
use super::structured;
use crate::contact_card::ContactCard;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::location::Location;
use crate::payload::is_absent;
use crate::reaction::Reaction;

/// How many unread fields of a structure are named.
const MOST_UNREAD: usize = 20;
/// How much of the name of an unread field is shown, in characters.
const NAME_CHARS: usize = 64;

/// The kind of such a content, by the request's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enclosed {
    Location,
    Contacts,
    Reaction,
}

/// The fields of such contents, in either kind of send.
#[derive(Clone, Copy)]
pub(super) struct EnclosedFields<'a> {
    pub(super) location: Raw<'a, Option<Location>>,
    pub(super) contacts: Raw<'a, Option<Vec<ContactCard>>>,
    pub(super) reaction: Raw<'a, Option<Reaction>>,
}

/// What a send goes through, and to whom: a reaction is written differently for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    Business,
    Web { is_group: bool },
}

impl EnclosedFields<'_> {
    /// The memory that reading the fields may take.
    pub(super) fn weight(self) -> usize {
        let Self { location, contacts, reaction } = self;
        [structured::weight(location), structured::weight(contacts), structured::weight(reaction)]
            .into_iter()
            .fold(0, usize::saturating_add)
    }
}

impl Enclosed {
    /// Reads the field of this content.
    pub(super) fn read(self, fields: EnclosedFields<'_>, through: Through) -> Result<Content, Refusal> {
        let value = self.value(fields)?;
        match (self, through) {
            (Self::Location, _) => Location::parse(&value).map(|location| Content::Location { location }),
            (Self::Contacts, _) => {
                ContactCard::parse_all(&value).map(|contacts| Content::Contacts { contacts })
            }
            (Self::Reaction, Through::Business) => {
                Reaction::parse(&value).map(|reaction| Content::Reaction { reaction })
            }
            (Self::Reaction, Through::Web { is_group }) => {
                Reaction::parse_web(&value, is_group).map(|reaction| Content::Reaction { reaction })
            }
        }
    }

    /// The field that it uses, which has the name of the type.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Location => &["location"],
            Self::Contacts => &["contacts"],
            Self::Reaction => &["reaction"],
        }
    }

    /// The paths of the fields in its structure that nothing reads, such as `location.lat`; the first ones of many.
    pub(super) fn unread(self, fields: EnclosedFields<'_>, read: &Content) -> Vec<String> {
        let read = match read {
            Content::Location { location } => json!(location),
            Content::Contacts { contacts } => json!(contacts),
            Content::Reaction { reaction } => json!(reaction),
            _ => return Vec::new(),
        };
        let mut found = Vec::new();
        if let (Ok(given), [name]) = (self.value(fields), self.fields()) {
            note_unread(&given, &read, name, &mut found);
        }
        found
    }

    fn value(self, fields: EnclosedFields<'_>) -> Result<Value, Refusal> {
        let EnclosedFields { location, contacts, reaction } = fields;
        match self {
            Self::Location => object(
                location,
                (Code::MissingLocation, Code::InvalidLocation),
                "give latitude and longitude",
            ),
            Self::Contacts => match contacts.look() {
                Json::Array => structured::read(contacts, Code::InvalidContacts),
                Json::Absent => Err(contacts
                    .refuse(Code::MissingContacts, "is missing: give the cards of one or more people")),
                _ => Err(contacts.wrong_type("an array")),
            },
            Self::Reaction => {
                object(reaction, (Code::MissingReaction, Code::InvalidReaction), "give message_id and emoji")
            }
        }
    }
}

/// The object of this field; the codes are for one that is missing and for one that cannot be read.
fn object<T>(field: Raw<'_, T>, (missing, invalid): (Code, Code), remedy: &str) -> Result<Value, Refusal> {
    match field.look() {
        Json::Object => structured::read(field, invalid),
        Json::Absent => Err(field.refuse(missing, format_args!("is missing: {remedy}"))),
        _ => Err(field.wrong_type("an object")),
    }
}

/// Notes the entries of `given` that are not in what was `read` from it. Its depth is that of a structure that was read,
/// which is bounded. An entry that is absent or `false` asks for nothing.
fn note_unread(given: &Value, read: &Value, path: &str, found: &mut Vec<String>) {
    match (given, read) {
        (Value::Object(given), Value::Object(read)) => {
            for (name, value) in given.iter().filter(|(_, value)| !is_absent(value)) {
                let name: String = name.chars().take(NAME_CHARS).collect();
                let path = format!("{path}.{name}");
                match read.get(&name) {
                    Some(read) => note_unread(value, read, &path, found),
                    None if found.len() < MOST_UNREAD && *value != Value::Bool(false) => found.push(path),
                    None => {}
                }
            }
        }
        (Value::Array(given), Value::Array(read)) => {
            for (index, (given, read)) in given.iter().zip(read).enumerate() {
                note_unread(given, read, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}
