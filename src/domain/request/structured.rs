//! The two fields that hold a structure: `components` and `interactive`.
//!
//! They are read into a JSON tree, which takes many times the memory of its text, and are stored and read again later:
//! so their size and depth have bounds well below what the body's size would allow.

use serde_json::Value;

use super::field::Field;
use crate::error::{Code, Refusal};

/// Several times the size of the longest template or menu.
const MAX_BYTES: usize = 128 * 1024;
/// Far more than any payload needs, and far below the depth at which readers of the stored form fail.
const MAX_DEPTH: usize = 32;

/// Reads a field's tree, or refuses it with this code.
pub(super) fn read(field: Field<'_>, code: Code) -> Result<Value, Refusal> {
    let raw = field.raw();
    if raw.len() > MAX_BYTES {
        return Err(field.refuse(code, format_args!("is larger than {} KiB", MAX_BYTES / 1024)));
    }
    if depth(raw) > MAX_DEPTH {
        return Err(field.refuse(code, format_args!("is nested deeper than {MAX_DEPTH} levels")));
    }
    serde_json::from_str(raw)
        .map_err(|_| field.refuse(code, "holds a number or an escape sequence that cannot be read"))
}

/// How deep the arrays and objects of a JSON text are nested.
fn depth(raw: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in raw.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_inside_texts_are_not_depth() {
        assert_eq!(depth("1"), 0);
        assert_eq!(depth(r#"{"a":[{"b":"[[[[\"[[\\"}],"c":{}}"#), 3);
    }
}
