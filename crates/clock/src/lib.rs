//! The wall clock, in one type: milliseconds since the Unix epoch, shown as RFC 3339 in UTC.
//!
//! Times are recorded and compared across restarts with [`Timestamp`]. Pacing and back-off inside a
//! running process use `std::time::Instant` instead, so that a jump of the wall clock moves no limit.
//!
//! A node of a cluster takes the time of the database, which all nodes have in common: see [`database`].

pub mod database;

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::macros::format_description;

const RFC3339_MILLIS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The error for a text that is not a time in RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a time in RFC 3339 with its offset, such as 2027-01-31T09:00:00-03:00")]
pub struct NotATime;

impl Timestamp {
    /// Parses RFC 3339 with any offset; fractions of a millisecond are cut off.
    ///
    /// # Errors
    ///
    /// [`NotATime`] for everything else, such as a time without an offset.
    pub fn parse(text: &str) -> Result<Self, NotATime> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| NotATime)?;
        i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000)).map(Self).map_err(|_| NotATime)
    }

    /// Parses a date in the format of HTTP headers, in whole seconds.
    ///
    /// # Errors
    ///
    /// [`NotATime`] for everything else.
    pub fn parse_http(text: &str) -> Result<Self, NotATime> {
        let moment = OffsetDateTime::parse(text.trim(), &Rfc2822).map_err(|_| NotATime)?;
        Ok(Self(moment.unix_timestamp().saturating_mul(1000)))
    }

    /// The present moment: by the database's clock once [`database::follow`] was called, otherwise by the system's.
    pub fn now() -> Self {
        database::now().unwrap_or_else(Self::local)
    }

    /// The present moment by the clock of this machine.
    pub fn local() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        #[cfg(debug_assertions)]
        let now = Self(now.0.saturating_add(offset::current()));
        now
    }

    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// This moment and `after` more; saturates at the end of time.
    pub fn plus(self, after: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This moment and `before` less; saturates at the beginning of time.
    pub fn minus(self, before: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(before.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time from `now` until this moment; zero when it has passed.
    pub fn from_now(self, now: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(now.0)).unwrap_or(0))
    }
}

/// A wall clock that tests can set, by an offset to the system's.
///
/// It exists only in builds with debug assertions. A release build has neither this code nor the argument of
/// `pombo serve` for it, so nothing can change the time of a production service.
#[cfg(debug_assertions)]
pub mod offset {
    use std::path::PathBuf;
    use std::sync::OnceLock;

    static FILE: OnceLock<PathBuf> = OnceLock::new();

    /// Sets the clock of this process ahead of the system's by the milliseconds in this file, which is read
    /// for each reading of the clock. Without a file or a number in it, the clock is unchanged.
    pub fn follow(file: PathBuf) {
        let _ = FILE.set(file);
    }

    pub(super) fn current() -> i64 {
        let text = FILE.get().and_then(|file| std::fs::read_to_string(file).ok());
        text.and_then(|text| text.trim().parse().ok()).unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|moment| moment.format(RFC3339_MILLIS).ok());
        match shown {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_an_answer_is_read() {
        let date = Timestamp::parse_http("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date, Ok(Timestamp::from_millis(784_111_777_000)));
        assert!(Timestamp::parse_http("yesterday").is_err());
    }

    #[test]
    fn a_time_is_shown_in_rfc_3339_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_700_000_000_007).to_string(), "2023-11-14T22:13:20.007Z");
    }

    #[test]
    fn a_time_is_read_with_any_offset_and_never_without_one() {
        for same in [
            "2023-11-14T22:13:20.007Z",
            "2023-11-14T22:13:20.0079Z",
            "2023-11-14T19:13:20.007-03:00",
            "2023-11-15T03:43:20.007+05:30",
        ] {
            assert_eq!(Timestamp::parse(same), Ok(Timestamp::from_millis(1_700_000_000_007)), "{same}");
        }
        assert_eq!(Timestamp::parse("1969-12-31T23:59:59.9999Z"), Ok(Timestamp::from_millis(-1)));
        for wrong in [
            "",
            "now",
            "1700000000",
            "2023-11-14",
            "2023-11-14T22:13:20",
            "2023-11-14 22:13:20-0300",
            "2023-02-30T00:00:00Z",
            "2023-11-14T24:00:00Z",
            "2023-11-14T22:13:20+25:00",
            "+12023-11-14T22:13:20Z",
            "2023-11-14T22:13:20Z and then",
        ] {
            assert_eq!(Timestamp::parse(wrong), Err(NotATime), "{wrong}");
        }
    }
}
