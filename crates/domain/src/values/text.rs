//! What the texts of values may be.

use std::borrow::Cow;

use super::VALUE_CHARS;
use crate::link;

/// One space more in a row than the provider accepts in the values of a template.
const WIDE_GAP: &str = "     ";
/// The most characters of an address that is made of values.
pub const MAX_ADDRESS_CHARS: usize = link::MAX_CHARS;

/// Why the text of a template cannot have this value, in words that continue "the value"; `None` when it can. The provider
/// refuses such values, but only when each message is sent.
pub fn unfit_for_template(value: &str) -> Option<&'static str> {
    if value.contains(['\n', '\r']) {
        Some("has a line break, which the text of a template cannot have")
    } else if value.contains('\t') {
        Some("has a tab, which the text of a template cannot have")
    } else if value.contains(WIDE_GAP) {
        Some("has more than four spaces in a row, which the text of a template cannot have")
    } else {
        None
    }
}

/// The value with each run of white space folded into one space, and none at its ends.
pub fn clean(value: &str) -> Cow<'_, str> {
    let is_folded = !value.starts_with(char::is_whitespace)
        && !value.ends_with(char::is_whitespace)
        && !value.contains("  ")
        && !value.contains(|letter: char| letter.is_whitespace() && letter != ' ');
    if is_folded {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.split_whitespace().collect::<Vec<_>>().join(" "))
}

pub(super) fn too_long() -> String {
    format!("is longer than {VALUE_CHARS} characters")
}
