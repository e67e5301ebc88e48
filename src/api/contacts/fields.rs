//! The fields of bodies that change contacts.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::State;
use crate::api::body::Body;
use crate::api::error::Error;
use crate::domain::contact::Person;
use crate::error::Code;
use crate::import;

/// A number as clients give it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ContactNumber)]
pub(super) enum GivenNumber {
    /// As text.
    Text(String),
    /// As an integer.
    Digits(u64),
}

impl GivenNumber {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Digits(digits) => digits.to_string(),
        }
    }
}

/// Reads a body that is a JSON object. Unknown fields are ignored.
///
/// # Errors
///
/// `invalid_body` for anything else, `invalid_field` for a field of a wrong type.
pub(super) async fn read<T: DeserializeOwned>(body: Body, state: &State) -> Result<T, Error> {
    let bytes = body.read(&state.options).await?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|wrong| {
        Error::refused(Code::InvalidBody, format!("the body is not a readable JSON object: {wrong}"))
    })?;
    if !value.is_object() {
        return Err(Error::refused(Code::InvalidBody, "the body is not a JSON object"));
    }
    serde_json::from_value(value)
        .map_err(|wrong| Error::refused(Code::InvalidField, format!("a field of the body is wrong: {wrong}")))
}

pub(super) fn invalid_field(sentence: impl Into<String>) -> Error {
    Error::refused(Code::InvalidField, sentence)
}

/// The person, with each field checked against its bounds.
pub(super) fn person(person: &Person) -> Result<Person, String> {
    import::check_contact(person)
}

/// The names of tags, without repetitions.
pub(super) fn tags(given: Vec<String>) -> Result<Vec<String>, String> {
    import::check_tags(given.iter().map(String::as_str))
}
