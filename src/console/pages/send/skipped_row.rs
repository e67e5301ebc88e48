//! Why nothing is sent to an entry of a request or to a row of a file, in the person's language.

use crate::console::component::formatting::beginning;
use crate::console::pages::rejected_rows;
use crate::console::text::Text;
use crate::domain::phone::{Country, PhoneNumber};
use crate::domain::request::{SkipCode, SkippedEntry};
use crate::engine::records::imports::Rejected;
use crate::import::RejectCode;

/// Characters of a column's name and of a number that are shown.
const SHOWN_CHARS: usize = 60;

/// The reason for an entry. The columns of the file that it is from have these names of values and this header. `written` is the
/// number as it stands there, with the country by whose rules it is read.
pub(in crate::console::pages) fn reason(
    text: Text,
    (names, header): (&[String], &[String]),
    entry: &SkippedEntry,
    written: (&str, Option<Country>),
) -> String {
    let field = entry.field.as_deref().unwrap_or_default();
    let column = field.strip_prefix("values.").and_then(|name| {
        let place = names.iter().position(|known| known == name)?;
        header.get(place).map(|name| beginning(name, SHOWN_CHARS))
    });
    let of_column = |key: &str| match (column, field) {
        (Some(column), _) => text.with(key, [("column", column.into())]),
        (None, "row") => text.get("compose-row-broken"),
        (None, "reference") => text.get("compose-row-reference"),
        (None, _) => text.get("compose-fault-value"),
    };
    let known = SkipCode::ALL.into_iter().find(|code| Some(code.as_str()) == entry.code.as_deref());
    match known {
        Some(SkipCode::InvalidNumber) => number(text, written),
        Some(SkipCode::ValueMissing) => of_column("compose-row-missing"),
        Some(SkipCode::ValueNotAllowed) => of_column("compose-row-not-allowed"),
        Some(SkipCode::DuplicateRecipient) => text.get("compose-row-duplicate"),
        Some(SkipCode::SamePerson) => text.get("compose-row-same-person"),
        Some(SkipCode::Suppressed | SkipCode::OptedOut) => text.get("compose-row-suppressed"),
        Some(SkipCode::LeftOut) => text.get("compose-row-left-out"),
        Some(SkipCode::WindowClosed) => text.get("compose-row-window"),
        Some(SkipCode::TagNotFound) => text.get("compose-row-no-tag"),
        Some(SkipCode::SegmentNotFound) => text.get("compose-row-no-segment"),
        Some(SkipCode::SegmentOutdated) => text.get("compose-row-old-segment"),
        Some(SkipCode::AlreadyRetried) => text.get("compose-row-retried"),
        None => entry.reason.clone(),
    }
}

/// What is wrong with the text of a number.
fn number(text: Text, (written, country): (&str, Option<Country>)) -> String {
    let Err(invalid) = PhoneNumber::parse_in(written, country) else { return text.get("compose-row-number") };
    let code = RejectCode::of_number(invalid);
    // The words of an import for these speak of an e-mail address instead.
    if matches!(
        code,
        RejectCode::NumberWithoutDigits
            | RejectCode::NumberTooShort
            | RejectCode::NumberTooLong
            | RejectCode::NumberBeginsWithZero
    ) {
        return text.get("compose-row-number");
    }
    let rejected = Rejected {
        line: 0,
        reason: invalid.to_string(),
        code: Some(code.as_str().to_owned()),
        details: vec![beginning(written, SHOWN_CHARS).to_owned()],
        fields: Vec::new(),
    };
    rejected_rows::reason(text, &rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    #[test]
    fn each_reason_is_told_in_each_language() {
        for code in SkipCode::ALL {
            let entry = SkippedEntry::of(code, "12", &"in the words of the API");
            let told = Language::ALL.map(|language| reason(Text(language), (&[], &[]), &entry, ("12", None)));
            for (nth, words) in told.iter().enumerate() {
                assert!(words.len() > 10 && *words != entry.reason, "{code:?}: {told:?}");
                assert!(!told[..nth].contains(words), "{code:?}: {told:?}");
            }
        }
    }
}
