//! Quiet hours: the part of each day in which no message of a bulk send goes, such as `21:00-08:00 Europe/Madrid`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use clock::Timestamp;

/// The most days over which open hours are counted together; what takes longer is told without quiet hours.
const MAX_DAYS: usize = 3_660;

/// The hours, of a wall clock in one place. They follow that place's changes to and from summer time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    to: Time,
    zone: TimeZone,
}

impl QuietHours {
    /// When the quiet hours end in which this moment is; `None` outside of them.
    pub fn until(&self, at: Timestamp) -> Option<Timestamp> {
        let (date, time) = self.local(at)?;
        let is_over_midnight = self.from > self.to;
        let is_quiet = if is_over_midnight {
            time >= self.from || time < self.to
        } else {
            time >= self.from && time < self.to
        };
        let ends_on = if is_over_midnight && time >= self.from { date.tomorrow().ok()? } else { date };
        self.moment(ends_on, self.to).filter(|until| is_quiet && *until > at)
    }

    /// When work of this length is done that begins at `at` and rests in quiet hours.
    pub fn done(&self, at: Timestamp, work: Duration) -> Timestamp {
        let (mut at, mut left) = (at, work);
        for _ in 0..MAX_DAYS {
            at = self.until(at).unwrap_or(at);
            let Some(next) = self.next(at) else { break };
            let open = next.from_now(at);
            if left <= open {
                break;
            }
            (at, left) = (next, left.saturating_sub(open));
        }
        at.plus(left)
    }

    /// When the quiet hours after this moment, which is outside of them, begin.
    fn next(&self, at: Timestamp) -> Option<Timestamp> {
        let (date, _) = self.local(at)?;
        let today = self.moment(date, self.from).filter(|begin| *begin > at);
        today.or_else(|| self.moment(date.tomorrow().ok()?, self.from))
    }

    fn local(&self, at: Timestamp) -> Option<(Date, Time)> {
        let local = jiff::Timestamp::from_millisecond(at.millis()).ok()?.to_zoned(self.zone.clone());
        Some((local.date(), local.time()))
    }

    /// The moment at which the place's clock shows this. A time that the clock skips counts as much later as the
    /// skip is long; of one that it shows twice, the first counts.
    fn moment(&self, date: Date, time: Time) -> Option<Timestamp> {
        let zoned = date.to_datetime(time).to_zoned(self.zone.clone()).ok()?;
        Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
    }
}

/// A text that is not quiet hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotQuietHours {
    /// Not two times and a place.
    #[error("is not quiet hours: two times of day and the name of a time zone")]
    Form,
    /// Both times are the same.
    #[error("begins and ends at the same time, so it is never or always quiet")]
    Empty,
    /// The zone is not in the database of time zones.
    #[error(
        "names the time zone `{0}`, which is not known: use a name such as Europe/Madrid or America/Sao_Paulo"
    )]
    Zone(String),
}

impl FromStr for QuietHours {
    type Err = NotQuietHours;

    fn from_str(text: &str) -> Result<Self, NotQuietHours> {
        let (hours, zone) = text.trim().split_once(' ').ok_or(NotQuietHours::Form)?;
        let (from, to) = hours.split_once('-').ok_or(NotQuietHours::Form)?;
        let time = |text: &str| Time::strptime("%H:%M", text).map_err(|_| NotQuietHours::Form);
        let (from, to) = (time(from)?, time(to)?);
        if from == to {
            return Err(NotQuietHours::Empty);
        }
        let zone = TimeZone::get(zone.trim()).map_err(|_| NotQuietHours::Zone(zone.trim().to_owned()))?;
        Ok(Self { from, to, zone })
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.strftime("%H:%M"), self.to.strftime("%H:%M"));
        write!(f, "{from}-{to} {}", self.zone.iana_name().unwrap_or("UTC"))
    }
}

impl Serialize for QuietHours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for QuietHours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn a_night_ends_in_the_morning_of_its_place() {
        let night: QuietHours = "21:00-08:00 Europe/Madrid".parse().unwrap();
        assert_eq!(night.to_string(), "21:00-08:00 Europe/Madrid");
        // Summer time is two hours ahead of UTC, winter time one.
        for (moment, until) in [
            ("2026-07-01T18:59:59Z", None),
            ("2026-07-01T19:00:00Z", Some("2026-07-02T06:00:00Z")),
            ("2026-07-02T05:59:59Z", Some("2026-07-02T06:00:00Z")),
            ("2026-07-02T06:00:00Z", None),
            ("2026-12-01T19:30:00Z", None),
            ("2026-12-01T20:00:00Z", Some("2026-12-02T07:00:00Z")),
            // In this night the clock is put back, and in that one it is put forward.
            ("2026-10-24T19:00:00Z", Some("2026-10-25T07:00:00Z")),
            ("2026-03-28T20:00:00Z", Some("2026-03-29T06:00:00Z")),
        ] {
            assert_eq!(night.until(at(moment)), until.map(at), "{moment}");
        }
        let lunch: QuietHours = "12:00-13:30 UTC".parse().unwrap();
        assert_eq!(lunch.until(at("2026-07-01T12:10:00Z")), Some(at("2026-07-01T13:30:00Z")));
        assert_eq!(lunch.until(at("2026-07-01T13:30:00Z")), None);
    }

    #[test]
    fn hours_that_end_while_the_clock_skips_end_with_the_skip() {
        let odd: QuietHours = "01:00-02:30 Europe/Madrid".parse().unwrap();
        let until = odd.until(at("2026-03-29T00:30:00Z")).unwrap();
        assert_eq!(until, at("2026-03-29T01:30:00Z"));
        assert_eq!(odd.until(until), None);
    }

    #[test]
    fn work_rests_at_night() {
        let night: QuietHours = "20:00-08:00 UTC".parse().unwrap();
        for (from, hours, done) in [
            ("2026-07-01T10:00:00Z", 2, "2026-07-01T12:00:00Z"),
            ("2026-07-01T18:00:00Z", 3, "2026-07-02T09:00:00Z"),
            ("2026-07-01T21:00:00Z", 1, "2026-07-02T09:00:00Z"),
            ("2026-07-01T08:00:00Z", 30, "2026-07-03T14:00:00Z"),
        ] {
            assert_eq!(night.done(at(from), HOUR * hours), at(done), "{from}");
        }
        assert!(night.done(at("2026-07-01T10:00:00Z"), Duration::MAX) > at("2030-01-01T00:00:00Z"));
    }

    #[test]
    fn what_is_no_quiet_hours_is_told_why() {
        for (text, fault) in [
            ("", NotQuietHours::Form),
            ("21-8", NotQuietHours::Form),
            ("21:00-08:00", NotQuietHours::Form),
            ("21:00-24:30 UTC", NotQuietHours::Form),
            ("08:00-08:00 UTC", NotQuietHours::Empty),
            ("21:00-08:00 Madrid", NotQuietHours::Zone("Madrid".to_owned())),
        ] {
            assert_eq!(text.parse::<QuietHours>(), Err(fault), "{text}");
        }
    }
}
