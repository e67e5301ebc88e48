//! The fields of columns, and their words.

use std::borrow::Cow;

use domain::own_field::FieldKey;

use super::plain;

/// Stands before the key of an own field in its word.
const OWN_PREFIX: &str = "fields.";

/// The field of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// First name.
    FirstName,
    /// Middle name; shown after the first.
    MiddleName,
    /// Last name.
    LastName,
    /// The whole name, used when its parts are empty.
    Name,
    /// An organisation's name, used when there is no other.
    Organization,
    /// E-mail address; the first usable one counts.
    Email,
    /// Phone number; the first valid one counts.
    PhoneNumber,
    /// WhatsApp's own id of the person.
    PhoneNumberLid,
    /// URL of a picture.
    ProfilePicture,
    /// Names of tags, separated by `;` or ` ::: `, or by what is chosen.
    Tags,
    /// The column is not imported, whatever its name is.
    Ignored,
    /// A field that the company defined; the first cell that is not empty counts.
    Own(FieldKey),
}

impl Field {
    /// All but own fields.
    pub const BUILT_IN: [Self; 11] = [
        Self::FirstName,
        Self::MiddleName,
        Self::LastName,
        Self::Name,
        Self::Organization,
        Self::Email,
        Self::PhoneNumber,
        Self::PhoneNumberLid,
        Self::ProfilePicture,
        Self::Tags,
        Self::Ignored,
    ];

    /// The word in requests, settings and on the command line: that of an own field is `fields.` and its key.
    pub fn word(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::FirstName => "first_name",
            Self::MiddleName => "middle_name",
            Self::LastName => "last_name",
            Self::Name => "name",
            Self::Organization => "organization",
            Self::Email => "email",
            Self::PhoneNumber => "phone_number",
            Self::PhoneNumberLid => "phone_number_lid",
            Self::ProfilePicture => "profile_picture",
            Self::Tags => "tags",
            Self::Ignored => "ignored",
            Self::Own(key) => return Cow::Owned(format!("{OWN_PREFIX}{key}")),
        })
    }

    /// The field of this word. A company may not have the own field that it names.
    pub fn parse(word: &str) -> Option<Self> {
        if let Some(key) = word.trim().strip_prefix(OWN_PREFIX) {
            return FieldKey::parse(key).map(Self::Own);
        }
        let word = plain(word);
        Self::BUILT_IN.into_iter().find(|field| plain(&field.word()) == word)
    }
}
