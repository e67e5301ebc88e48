//! Operators' small bodies.

use serde_json::{Map, Value};

use crate::api::error::Error;
use crate::error::Code;

/// The fields of a body that is a JSON object.
///
/// # Errors
///
/// `invalid_body` for anything else.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Error> {
    let invalid = |sentence: String| Error::refused(Code::InvalidBody, sentence);
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(invalid("the body is not a JSON object".to_owned())),
        Err(wrong) => Err(invalid(format!("the body is not a readable JSON object: {wrong}"))),
    }
}

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
