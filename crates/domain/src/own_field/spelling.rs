//! Numbers and dates as the languages of templates write them. A language that is not listed gets the plain form, which
//! every reader understands: `12.5` and `2026-01-31`.

use super::{Day, Decimal};

/// Languages with a comma before decimals.
const COMMA: [&str; 27] = [
    "af", "az", "bg", "ca", "cs", "da", "de", "el", "es", "et", "fi", "fr", "hr", "hu", "id", "it", "lt",
    "lv", "nb", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk",
];
/// Those of them, and others, whose dates are `31/01/2026`.
const SLASHES: [&str; 7] = ["ca", "el", "es", "fr", "id", "it", "pt"];
/// Languages whose dates are `31.01.2026`.
const POINTS: [&str; 15] =
    ["az", "bg", "cs", "da", "de", "et", "fi", "hr", "lv", "nb", "pl", "ro", "ru", "tr", "uk"];

/// The language without its region.
fn base(language: &str) -> &str {
    language.split(['_', '-']).next().unwrap_or_default()
}

/// The number, without separators of thousands.
pub(super) fn number(number: Decimal, language: &str) -> String {
    let plain = number.to_string();
    // Mexico has a point.
    if COMMA.contains(&base(language)) && language != "es_MX" { plain.replace('.', ",") } else { plain }
}

/// The day.
pub(super) fn day(date: Day, language: &str) -> String {
    let (year, month, day) = date.parts();
    match base(language) {
        "en" => {
            let name = date.month_name();
            if language == "en_US" { format!("{name} {day}, {year}") } else { format!("{day} {name} {year}") }
        }
        base if SLASHES.contains(&base) => format!("{day:02}/{month:02}/{year}"),
        base if POINTS.contains(&base) => format!("{day:02}.{month:02}.{year}"),
        _ => date.to_string(),
    }
}
