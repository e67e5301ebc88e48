//! Months, in UTC.

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;

use super::Date;
use clock::Timestamp;

/// A month of a year, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(i64);

/// A text that is no month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no month: write it like 2026-11")]
pub struct NotAMonth;

impl Month {
    /// The month of this moment.
    pub fn of(at: Timestamp) -> Self {
        Self::of_day(day_of(at))
    }

    fn of_day(day: Date) -> Self {
        Self(i64::from(day.year()) * 12 + i64::from(day.month()) - 1)
    }

    /// The number that the database keeps: months since the year 0.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The month of a stored number.
    pub const fn of_number(number: i64) -> Self {
        Self(number)
    }

    /// The month before.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0 - 1)
    }

    /// The month after.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The last day; `None` in a year that no date has.
    pub fn last_day(self) -> Option<Date> {
        let year = i16::try_from(self.0.div_euclid(12)).ok()?;
        let month = i8::try_from(self.0.rem_euclid(12) + 1).ok()?;
        Some(Date::new(year, month, 1).ok()?.last_of_month())
    }
}

/// The day of this moment, in UTC.
pub fn day_of(at: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::UTC).date()
}

/// As in `2026-11`.
impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

impl FromStr for Month {
    type Err = NotAMonth;

    fn from_str(text: &str) -> Result<Self, NotAMonth> {
        let is_long_enough = text.len() == "2026-11".len();
        let day = is_long_enough.then(|| format!("{text}-01").parse::<Date>().ok()).flatten();
        day.map(Self::of_day).ok_or(NotAMonth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_read_and_written() {
        let november: Month = "2026-11".parse().unwrap();
        assert_eq!(Month::of_number(november.number()), november);
        assert_eq!(
            [november, november.next(), november.next().next()].map(|month| month.to_string()),
            ["2026-11", "2026-12", "2027-01"]
        );
        assert_eq!(november.next().next().previous().previous(), november);
        assert_eq!(november.last_day().map(|day| day.to_string()).as_deref(), Some("2026-11-30"));
        for wrong in ["", "2026", "2026-13", "2026-00", "26-11", "2026-1", "2026/11", "2026-11-01", "202611-"]
        {
            assert_eq!(wrong.parse::<Month>(), Err(NotAMonth), "{wrong}");
        }
    }

    #[test]
    fn a_moment_is_in_the_month_of_its_day_in_utc() {
        let at = |text: &str| Month::of(Timestamp::parse(text).unwrap()).to_string();
        assert_eq!(at("2026-10-31T23:59:59Z"), "2026-10");
        assert_eq!(at("2026-11-01T00:00:00Z"), "2026-11");
    }
}
