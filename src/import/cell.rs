//! Cells that a spreadsheet would run.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` for a formula, and a contact's name may
//! have come from anyone. An export puts an apostrophe before such a cell, as a person would do in the
//! spreadsheet, and an import takes it away. What is digits and separators only, like `+55 11 98888-7777`,
//! can call nothing and stays as it is.

use std::borrow::Cow;

use crate::domain::fold::looks_like_a_number;

/// `text` as a cell that no spreadsheet runs.
pub(super) fn guard(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// What [`guard`] was given.
pub(super) fn unguard(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Also true for a formula behind apostrophes, so that those of the contact itself survive.
fn is_formula(text: &str) -> bool {
    let bare = text.trim_start_matches('\'');
    bare.starts_with(['=', '+', '-', '@', '\t', '\r']) && !looks_like_a_number(bare)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        assert_eq!(guard("=HYPERLINK(\"http://x\")"), "'=HYPERLINK(\"http://x\")");
        assert_eq!(guard("@SUM(1)"), "'@SUM(1)");
        assert_eq!(guard("+55 (11) 98888-7777"), "+55 (11) 98888-7777");
        assert_eq!(guard("O'Neil"), "O'Neil");
        assert_eq!(unguard("'t Hooft"), "'t Hooft");
    }

    proptest! {
        #[test]
        fn what_is_guarded_comes_back(text in "['=+@0-9a ()-]{0,8}") {
            let cell = guard(&text);
            prop_assert_eq!(unguard(&cell), text.as_str());
        }
    }
}
