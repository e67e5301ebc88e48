//! The entries that a send skips as CSV, by RFC 4180.

use super::messages_csv::record;
use crate::Error;
use domain::cell::guard;
use domain::request::SkippedEntry;

const HEADER: [&str; 5] = ["index", "input", "code", "field", "reason"];

/// These entries as CSV, behind a line with the names of the columns if they are the first. A text that a spreadsheet would
/// take for a formula has an apostrophe before it.
///
/// # Errors
///
/// [`Error::Internal`], which does not happen.
pub fn skipped_csv(entries: &[SkippedEntry], are_first: bool) -> Result<Vec<u8>, Error> {
    let mut written = if are_first { record(HEADER.map(str::to_owned))? } else { Vec::new() };
    for SkippedEntry { input, reason, code, index, field } in entries {
        let text = |text: &str| guard(text).into_owned();
        let cells = [
            index.map(|index| index.to_string()).unwrap_or_default(),
            text(input),
            code.clone().unwrap_or_default(),
            text(field.as_deref().unwrap_or_default()),
            text(reason),
        ];
        written.append(&mut record(cells)?);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::request::SkipCode;

    #[test]
    fn a_table_of_skipped_entries_names_the_row_and_runs_no_formula() {
        let lacking = SkippedEntry::of(SkipCode::ValueMissing, "+5511988887777", &"has no value, \"order\"");
        let entries = [
            lacking.at(7, Some("values.order")),
            SkippedEntry::of(SkipCode::InvalidNumber, "n/a", &"has no digits"),
        ];
        let written = String::from_utf8(skipped_csv(&entries, true).unwrap()).unwrap();
        let expected = "index,input,code,field,reason\r\n\
                        7,'+5511988887777,value_missing,values.order,\"has no value, \"\"order\"\"\"\r\n\
                        ,n/a,invalid_number,,has no digits\r\n";
        assert_eq!(written, expected);
        assert!(skipped_csv(&[], false).unwrap().is_empty());
    }
}
