//! Reads the fields of operators' requests.

use serde_json::{Map, Value};

use crate::api::error::Error;
use crate::clock::Timestamp;
use crate::domain::scope::{Scope, Scopes};
use crate::domain::user;
use crate::error::Code;

/// A field that is text, without the space around it; `None` when it is absent, null or blank.
///
/// # Errors
///
/// `invalid_field` when it is something else.
pub(super) fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Error> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(_) => Err(Error::refused(Code::InvalidField, format!("`{name}` must be text"))),
    }
}

/// A field that is text and must be there.
///
/// # Errors
///
/// `invalid_field` when it is absent or something else.
pub(super) fn required(fields: &mut Map<String, Value>, name: &str) -> Result<String, Error> {
    text(fields, name)?.ok_or_else(|| invalid(format!("`{name}` is missing")))
}

/// A field that is a name; `None` when it is absent.
///
/// # Errors
///
/// `invalid_field` when it cannot be one.
pub(super) fn name(fields: &mut Map<String, Value>, field: &str) -> Result<Option<String>, Error> {
    let checked = text(fields, field)?.map(|text| user::name(&text)).transpose();
    checked.map_err(|fault| invalid(format!("`{field}` {fault}")))
}

/// A field that is a name and must be there.
///
/// # Errors
///
/// Those of [`required`] and [`name`].
pub(super) fn required_name(fields: &mut Map<String, Value>, field: &str) -> Result<String, Error> {
    name(fields, field)?.ok_or_else(|| invalid(format!("`{field}` is missing")))
}

/// A field that is true or false; false when it is absent.
///
/// # Errors
///
/// `invalid_field` when it is something else.
pub(super) fn flag(fields: &mut Map<String, Value>, name: &str) -> Result<bool, Error> {
    Ok(optional_flag(fields, name)?.unwrap_or(false))
}

/// A field that is true or false; `None` when it is absent.
///
/// # Errors
///
/// `invalid_field` when it is something else.
pub(super) fn optional_flag(fields: &mut Map<String, Value>, name: &str) -> Result<Option<bool>, Error> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(is)) => Ok(Some(is)),
        Some(_) => Err(invalid(format!("`{name}` must be true or false"))),
    }
}

/// A field that is a time; `None` when it is absent.
///
/// # Errors
///
/// `invalid_field` when it is something else.
pub(super) fn time(fields: &mut Map<String, Value>, name: &str) -> Result<Option<Timestamp>, Error> {
    let moment = text(fields, name)?.map(|text| Timestamp::parse(&text)).transpose();
    moment.map_err(|wrong| invalid(format!("`{name}` {wrong}")))
}

/// A field that lists scopes; all scopes when it is absent or empty.
///
/// # Errors
///
/// `invalid_field` when it is something else.
pub(super) fn scopes(fields: &mut Map<String, Value>, name: &str) -> Result<Scopes, Error> {
    let wrong = || {
        let words = Scope::ALL.map(Scope::as_str).join(", ");
        invalid(format!("`{name}` must be a list of some of {words}"))
    };
    let words = match fields.remove(name) {
        None | Some(Value::Null) => return Ok(Scopes::ALL),
        Some(Value::Array(words)) if words.is_empty() => return Ok(Scopes::ALL),
        Some(Value::Array(words)) => words,
        Some(_) => return Err(wrong()),
    };
    words.iter().map(|word| word.as_str().and_then(Scope::parse).ok_or_else(wrong)).collect()
}

fn invalid(sentence: String) -> Error {
    Error::refused(Code::InvalidField, sentence)
}
