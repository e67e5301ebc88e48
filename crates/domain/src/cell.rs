//! Cells of CSV files that a spreadsheet would run.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` for a formula, and a contact's name may have come
//! from anyone. An export puts an apostrophe before such a text, as a person would do in the spreadsheet, and an import
//! removes it. The spreadsheet decides where a cell begins: one whose locale separates columns by semicolons splits a
//! text at its own semicolons, and ignores quotes that begin elsewhere. So a text is guarded after each character that
//! separates columns or rows in any locale.

use std::borrow::Cow;

/// The characters that begin a formula, full-width East Asian ones included, and those that spreadsheets skip before
/// it.
const DANGEROUS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠', '−'];
/// The separators of columns and rows in any locale.
const SEPARATORS: [char; 6] = [',', ';', '\t', '|', '\n', '\r'];

/// `text` as a cell that no spreadsheet runs.
pub fn guard(text: &str) -> Cow<'_, str> {
    if !text.contains(DANGEROUS) {
        return Cow::Borrowed(text);
    }
    let pieces = text.split_inclusive(SEPARATORS);
    Cow::Owned(pieces.flat_map(|piece| [if is_formula(piece) { "'" } else { "" }, piece]).collect())
}

/// Reverses [`guard`].
pub fn unguard(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\'') {
        return Cow::Borrowed(cell);
    }
    let bare = |piece| str::strip_prefix(piece, '\'').filter(|rest| is_formula(rest)).unwrap_or(piece);
    Cow::Owned(cell.split_inclusive(SEPARATORS).map(bare).collect())
}

/// Also true for a formula after apostrophes, so that a contact's own apostrophes survive, and after quotes, which a
/// spreadsheet drops when its cell begins with them.
fn is_formula(piece: &str) -> bool {
    piece.trim_start_matches(['\'', ' ', '"']).starts_with(DANGEROUS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_guarded_wherever_a_cell_may_begin() {
        for (text, cell) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("@SUM(1)", "'@SUM(1)"),
            ("+55 (11) 98888-7777", "'+55 (11) 98888-7777"),
            ("-1", "'-1"),
            ("＝1", "'＝1"),
            ("\t=1", "'\t'=1"),
            (" =1", "' =1"),
            ("Ana;=1;b", "Ana;'=1;b"),
            ("Ana;\"=1;b", "Ana;'\"=1;b"),
            ("\"\"=1", "'\"\"=1"),
            ("Ana, -1|+1", "Ana,' -1|'+1"),
            ("Ana\n=1\r\n@x", "Ana\n'=1\r\n'@x"),
            ("O'Neil", "O'Neil"),
            ("a=b@c-d+e", "a=b@c-d+e"),
            ("5511988887777", "5511988887777"),
            ("", ""),
        ] {
            assert_eq!(guard(text), cell, "{text:?}");
            assert_eq!(unguard(cell), text, "{cell:?}");
        }
        assert_eq!(unguard("'t Hooft"), "'t Hooft");
    }

    proptest! {
        #[test]
        fn guarded_text_is_restored_and_begins_no_cell_with_a_formula(text in "['\"=+@0-9a; ,|\t\n\r＝-]{0,10}") {
            let cell = guard(&text);
            prop_assert_eq!(unguard(&cell), text.as_str());
            for begins in cell.split(SEPARATORS) {
                prop_assert!(!begins.trim_start_matches([' ', '"']).starts_with(DANGEROUS), "{:?}", cell);
            }
        }
    }
}
