//! The two fields that hold a structure: `components` and `interactive`.
//!
//! They are read into a JSON tree, which takes many times the memory of its text, and are stored and read again later:
//! so their size and depth have bounds well below what the body's size would allow.

use serde_json::Value;

use super::field::{Json, Raw};
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::interactive::{self, Interactive};
use crate::json::Measure;

/// Several times the size of the longest template or menu.
const MAX_BYTES: usize = 128 * 1024;
/// Far more than any payload needs, and far below the depth at which readers of the stored form fail.
const MAX_DEPTH: usize = 32;

/// Reads a field's tree, or refuses it with this code.
pub(super) fn read<T>(field: Raw<'_, T>, code: Code) -> Result<Value, Refusal> {
    let raw = field.raw();
    if raw.len() > MAX_BYTES {
        return Err(field.refuse(code, format_args!("is larger than {} KiB", MAX_BYTES / 1024)));
    }
    if Measure::of(raw).depth > MAX_DEPTH {
        return Err(field.refuse(code, format_args!("is nested deeper than {MAX_DEPTH} levels")));
    }
    serde_json::from_str(raw)
        .map_err(|_| field.refuse(code, "holds a number or an escape sequence that cannot be read"))
}

/// The memory that [`read`] may take for a field.
pub(super) fn weight<T>(field: Raw<'_, T>) -> usize {
    let raw = field.raw();
    if raw.len() > MAX_BYTES { 0 } else { Measure::of(raw).bytes }
}

/// The content of the type `interactive`.
pub(super) fn interactive(field: Raw<'_, Option<Interactive>>) -> Result<Content, Refusal> {
    match field.look() {
        Json::Object => {
            let payload = read(field, Code::InvalidInteractive)?;
            Ok(Content::Interactive { interactive: interactive::parse(payload)? })
        }
        Json::Absent => {
            Err(field.refuse(Code::MissingInteractive, "is missing: give the interactive payload"))
        }
        _ => Err(field.wrong_type("an object")),
    }
}
