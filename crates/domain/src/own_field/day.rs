//! Dates of own fields.

use std::fmt;

use jiff::civil::Date;

use super::WrongValue;
use crate::phone::Country;

/// A day of the calendar, from the year 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

/// The countries in whose dates the month comes first.
const MONTH_FIRST: [&str; 2] = ["US", "PH"];

impl Day {
    /// The day of these figures.
    fn of(year: u32, month: u32, day: u32) -> Option<Self> {
        let year = i16::try_from(year).ok().filter(|year| *year > 0)?;
        Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok().map(Self)
    }

    /// The English name of its month.
    pub(super) fn month_name(self) -> String {
        self.0.strftime("%B").to_string()
    }

    /// The day in a text such as `2026-01-31`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || [year.len(), month.len(), day.len()] != [4, 2, 2] {
            return None;
        }
        Self::of(figure(year)?, figure(month)?, figure(day)?)
    }

    /// The day in a cell of a file: the year, the month and the day, or the year last, with a time behind it or without.
    /// `country` says which of the other two comes first.
    ///
    /// # Errors
    ///
    /// [`WrongValue::Date`], and [`WrongValue::UnclearDate`] where the day and the month may be exchanged.
    pub fn written(cell: &str, country: Option<Country>) -> Result<Self, WrongValue> {
        let (date, time) = cell.split_once([' ', 'T']).unwrap_or((cell, ""));
        let is_time =
            |text: &str| text.starts_with(|first: char| first.is_ascii_digit()) && text.contains(':');
        if !time.is_empty() && !is_time(time) {
            return Err(WrongValue::Date);
        }
        let separator = date.chars().find(|letter| !letter.is_ascii_digit()).ok_or(WrongValue::Date)?;
        let mut parts = date.split(separator);
        let (Some(first), Some(second), Some(third), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(WrongValue::Date);
        };
        let figures = (figure(first), figure(second), figure(third));
        let (Some(one), Some(two), Some(three)) = figures else { return Err(WrongValue::Date) };
        let day = match (separator, first.len(), third.len()) {
            ('-' | '/' | '.', 4, 1 | 2) => Self::of(one, two, three),
            ('-' | '/' | '.', 1 | 2, 4) => {
                let is_month_first = match country {
                    _ if separator == '.' => false,
                    Some(country) => MONTH_FIRST.contains(&country.code()),
                    None if one > 12 || one == two => false,
                    None if two > 12 => true,
                    None => return Err(WrongValue::UnclearDate),
                };
                let (day, month) = if is_month_first { (two, one) } else { (one, two) };
                Self::of(three, month, day)
            }
            _ => None,
        };
        day.ok_or(WrongValue::Date)
    }

    /// As one number, `20260131`, by which days are compared.
    pub fn number(self) -> i64 {
        i64::from(self.0.year()) * 10_000 + i64::from(self.0.month()) * 100 + i64::from(self.0.day())
    }

    /// The day of such a number.
    pub fn from_number(number: i64) -> Option<Self> {
        let number = u32::try_from(number).ok()?;
        Self::of(number / 10_000, number / 100 % 100, number % 100)
    }

    /// Year, month and day.
    pub fn parts(self) -> (i16, i8, i8) {
        (self.0.year(), self.0.month(), self.0.day())
    }
}

/// The number of one to four digits.
fn figure(digits: &str) -> Option<u32> {
    let is_figure = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_figure { digits.parse().ok() } else { None }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}
