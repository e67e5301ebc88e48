//! The text of a cell.

use std::borrow::Cow;

use calamine::{DataRef, ExcelDateTime};

/// A number from here on has lost digits: a spreadsheet keeps fifteen.
const ROUNDED: f64 = 1e15;
/// The first day that a spreadsheet cannot show as a date.
const LAST_DAY: f64 = 2_958_466.0;
const SECONDS_OF_A_DAY: f64 = 86_400.0;

/// What a cell holds: a number in digits, a date as ISO 8601 writes it, the last value of a formula. A cell with an error,
/// such as `#N/A`, holds nothing.
pub(super) fn text<'a>(value: &'a DataRef<'_>) -> Cow<'a, str> {
    match value {
        DataRef::Empty | DataRef::Error(_) => Cow::Borrowed(""),
        DataRef::Int(number) => number.to_string().into(),
        DataRef::Float(value) => number(*value).into(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            Cow::Borrowed(text.as_str())
        }
        DataRef::SharedString(text) => Cow::Borrowed(*text),
        DataRef::Bool(true) => Cow::Borrowed("TRUE"),
        DataRef::Bool(false) => Cow::Borrowed("FALSE"),
        DataRef::DateTime(value) => moment(value).into(),
    }
}

/// The digits of a number. One that was rounded has an exponent, as a spreadsheet shows it: its digits are nobody's phone
/// number.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value.abs() >= ROUNDED {
        return format!("{value:E}").replace('E', "E+");
    }
    // The fifteen digits that a spreadsheet shows.
    let shown: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if shown == 0.0 { "0".to_owned() } else { shown.to_string() }
}

/// A date, a date with a time, or a time.
fn moment(value: &ExcelDateTime) -> String {
    let days = value.as_f64();
    if !(0.0..LAST_DAY).contains(&days) {
        return number(days);
    }
    if value.is_duration() || days < 1.0 {
        let seconds = (days * SECONDS_OF_A_DAY).round() as u64;
        return format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = value.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second) == (0, 0, 0) {
        return date;
    }
    format!("{date}T{hour:02}:{minute:02}:{second:02}")
}
