//! The fields of contacts that texts may name.

use std::borrow::Cow;

use crate::contact::Person;
use crate::own_field::FieldKey;

/// A value that a company may know of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContactField {
    /// First and last name, or the known one of the two.
    Name,
    /// First name.
    FirstName,
    /// Last name.
    LastName,
    /// E-mail address.
    Email,
    /// The number as it was given.
    PhoneNumber,
    /// A field that the company defined.
    Own(FieldKey),
}

impl ContactField {
    /// The fields that every contact has.
    pub const BUILT_IN: [Self; 5] =
        [Self::Name, Self::FirstName, Self::LastName, Self::Email, Self::PhoneNumber];

    /// The field of this word. A company may not have the own field that it names.
    pub(super) fn parse(word: &str) -> Option<Self> {
        let built_in = Self::BUILT_IN.into_iter().find(|field| field.word() == word);
        built_in.or_else(|| FieldKey::parse(word).map(Self::Own))
    }

    /// The word in a text.
    pub fn word(&self) -> &str {
        match self {
            Self::Name => "name",
            Self::FirstName => "first_name",
            Self::LastName => "last_name",
            Self::Email => "email",
            Self::PhoneNumber => "phone_number",
            Self::Own(key) => key.as_str(),
        }
    }

    /// The value on one line, as people of this language write it (plainly without one); `None` when it is not known.
    pub fn of(self, person: &Person, language: &str) -> Option<String> {
        let Person { first_name, last_name, email, phone_number, own, .. } = person;
        let value = match self {
            Self::Name => Cow::Owned(format!("{first_name} {last_name}")),
            Self::FirstName => Cow::Borrowed(first_name.as_str()),
            Self::LastName => Cow::Borrowed(last_name.as_str()),
            Self::Email => Cow::Borrowed(email.as_str()),
            Self::PhoneNumber => Cow::Borrowed(phone_number.as_str()),
            Self::Own(key) => Cow::Owned(own.get(&key)?.spelled(language)),
        };
        let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
        let words: Vec<_> = value.split(is_gap).filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A recipient without a value for this placeholder, which has no text in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoValue {
    /// A field of the recipient's contact.
    #[error("the recipient is no contact with a value for {{{{contact.{}}}}}, which has no text in its place", .0.word())]
    Contact(ContactField),
    /// A value of the send.
    #[error("the recipient has no value for {{{{value.{0}}}}}, which has no text in its place")]
    Value(String),
}
