//! The caller's own words in a request: `name`, `reference` and `metadata`.

use std::collections::BTreeMap;

use super::field::{Json, Raw};
use crate::error::{Code, Refusal};
use crate::send::{
    Label, METADATA_ENTRIES, METADATA_KEY_CHARS, METADATA_VALUE_CHARS, NAME_CHARS, REFERENCE_CHARS,
};

/// The names of the fields.
pub(super) const FIELDS: [&str; 3] = ["name", "reference", "metadata"];
/// The most bytes of the metadata's JSON: every character of the largest may be written as two escapes of six bytes.
const METADATA_BYTES: usize = METADATA_ENTRIES * (METADATA_KEY_CHARS + METADATA_VALUE_CHARS) * 12 + 1024;

/// Reads the fields.
///
/// # Errors
///
/// `invalid_field` for another JSON type and above a bound.
pub(super) fn read(
    name: Raw<'_, Option<String>>,
    reference: Raw<'_, Option<String>>,
    metadata: Raw<'_, Option<BTreeMap<String, String>>>,
) -> Result<Label, Refusal> {
    Ok(Label {
        name: line(name, NAME_CHARS, Label::is_name)?,
        reference: line(reference, REFERENCE_CHARS, Label::is_reference)?,
        metadata: of_metadata(metadata)?,
        made_by: None,
    })
}

fn line(
    field: Raw<'_, Option<String>>,
    most: usize,
    is_fine: fn(&str) -> bool,
) -> Result<Option<String>, Refusal> {
    let Some(text) = field.text()? else { return Ok(None) };
    let text = text.trim();
    if is_fine(text) {
        return Ok(Some(text.to_owned()));
    }
    Err(field.wrong_type(format_args!("a text of at most {most} characters on one line")))
}

fn of_metadata(
    field: Raw<'_, Option<BTreeMap<String, String>>>,
) -> Result<BTreeMap<String, String>, Refusal> {
    match field.look() {
        Json::Absent if !field.raw().starts_with('[') => return Ok(BTreeMap::new()),
        Json::Object => {}
        _ => return Err(field.wrong_type("an object whose values are texts")),
    }
    let bounds = || {
        field.refuse(
            Code::InvalidField,
            format_args!(
                "has at most {METADATA_ENTRIES} entries, with keys of 1 to {METADATA_KEY_CHARS} characters and \
                 values of at most {METADATA_VALUE_CHARS}"
            ),
        )
    };
    if field.raw().len() > METADATA_BYTES {
        return Err(bounds());
    }
    let metadata: BTreeMap<String, String> = serde_json::from_str(field.raw())
        .map_err(|_| field.wrong_type("an object whose values are texts"))?;
    let is_short = |text: &str, max: usize| text.chars().nth(max).is_none();
    let is_fine = metadata.len() <= METADATA_ENTRIES
        && metadata.iter().all(|(key, value)| {
            !key.is_empty() && is_short(key, METADATA_KEY_CHARS) && is_short(value, METADATA_VALUE_CHARS)
        });
    if is_fine { Ok(metadata) } else { Err(bounds()) }
}
