//! Numbers of own fields: exact, and short enough that every JSON reader keeps all of their digits.

use std::fmt;

use super::WrongValue;

/// A decimal number of at most 15 digits, 12 of them before the point and 6 behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(i64);

/// Digits behind the point.
const PLACES: usize = 6;
const SCALE: i64 = 1_000_000;
/// Digits before the point.
const WHOLE: usize = 12;
/// Digits in all: a JSON number is a double for most readers, which keeps 15.
const DIGITS: usize = 15;

impl Decimal {
    /// The number in a text of a program: digits, with a point before decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(decimals) {
            return None;
        }
        let (whole, decimals) = (whole.trim_start_matches('0'), decimals.trim_end_matches('0'));
        if whole.len() > WHOLE || decimals.len() > PLACES || whole.len() + decimals.len() > DIGITS {
            return None;
        }
        let number: i64 = format!("{whole}{decimals:0<PLACES$}").parse().ok()?;
        Some(Self(if is_negative { -number } else { number }))
    }

    /// The number in a cell of a file: also with a comma before decimals, and with separators of thousands.
    ///
    /// # Errors
    ///
    /// [`WrongValue::Number`], and [`WrongValue::UnclearNumber`] for `1.234` and `1,234`.
    pub fn written(cell: &str) -> Result<Self, WrongValue> {
        let is_gap = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '’');
        let is_grouped = cell.contains(is_gap);
        if is_grouped && !has_groups(cell, is_gap) {
            return Err(WrongValue::Number);
        }
        let bare: String = cell.chars().filter(|letter| !is_gap(*letter)).collect();
        let (sign, digits) = match bare.strip_prefix(['-', '−']) {
            Some(digits) => ("-", digits),
            None => ("", bare.strip_prefix('+').unwrap_or(&bare)),
        };
        let count = |separator: char| digits.matches(separator).count();
        let (whole, decimals) = match (count('.'), count(',')) {
            (0, 0) => (digits.to_owned(), ""),
            (1, 0) | (0, 1) => {
                let (whole, decimals) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
                let may_be_thousand =
                    decimals.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
                if may_be_thousand && !is_grouped {
                    return Err(WrongValue::UnclearNumber);
                }
                (whole.to_owned(), decimals)
            }
            (_, 0) => (ungrouped(digits, '.')?, ""),
            (0, _) => (ungrouped(digits, ',')?, ""),
            _ => {
                let (whole, decimals) = digits.rsplit_once(['.', ',']).unwrap_or((digits, ""));
                let thousands = if whole.contains('.') { '.' } else { ',' };
                (ungrouped(whole, thousands)?, decimals)
            }
        };
        let decimals = if decimals.is_empty() { "0" } else { decimals };
        Self::parse(&format!("{sign}{whole}.{decimals}")).ok_or(WrongValue::Number)
    }

    /// The number for a file: with three decimals a fourth follows, so that no reader takes it for a thousand.
    pub fn unmistakable(self) -> String {
        let text = self.to_string();
        let has_three = text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 3);
        if has_three { format!("{text}0") } else { text }
    }

    /// In millionths, by which numbers are compared.
    pub const fn millionths(self) -> i64 {
        self.0
    }

    /// The number of these millionths.
    pub const fn from_millionths(millionths: i64) -> Self {
        Self(millionths)
    }
}

/// Whether the gaps of a cell stand between its sign and its digits, and before groups of three digits of the whole number.
fn has_groups(cell: &str, is_gap: impl Fn(char) -> bool) -> bool {
    let digits = cell.trim().trim_start_matches(['-', '−', '+']).trim_start();
    let whole = digits.split(['.', ',']).next().unwrap_or_default();
    let mut groups = whole.split(&is_gap);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3)
        && !digits[whole.len()..].contains(&is_gap)
        || !digits.contains(&is_gap)
}

/// Digits without the separators of their thousands.
fn ungrouped(digits: &str, thousands: char) -> Result<String, WrongValue> {
    let mut groups = digits.split(thousands);
    let first = groups.next().unwrap_or_default();
    let is_right = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    if is_right { Ok(digits.replace(thousands, "")) } else { Err(WrongValue::Number) }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.abs() / SCALE, self.0.abs() % SCALE);
        write!(f, "{sign}{whole}")?;
        if rest == 0 {
            return Ok(());
        }
        let decimals = format!("{rest:0PLACES$}");
        write!(f, ".{}", decimals.trim_end_matches('0'))
    }
}
