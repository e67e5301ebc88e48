//! Opening hours: for each day of the week the spans in which somebody answers, by the clock of one place.

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use clock::Timestamp;

/// The days, as the API names them, in the order in which hours are given.
pub const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The most spans of a day.
const MOST_SPANS: usize = 3;
/// The minutes of a day.
const DAY: u16 = 24 * 60;

/// When somebody is there. Hours follow the place's changes to and from summer time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpeningHours {
    zone: TimeZone,
    /// From Monday on: minutes since midnight, from and to.
    days: [Vec<(u16, u16)>; 7],
}

/// Hours that are none; completes a sentence that begins with the field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHours {
    /// The spans of a day are not spans.
    #[error(
        "has hours on {day} that are none: write up to three spans in their order, such as 09:00-12:30, 14:00-18:00, or \
         nothing for a day on which nobody is there"
    )]
    Day {
        /// The day, one of [`WEEKDAYS`].
        day: &'static str,
    },
    /// The zone is not in the database of time zones.
    #[error("is no known time zone: use a name such as Europe/Madrid or America/Sao_Paulo")]
    Zone,
}

impl Default for OpeningHours {
    /// Nobody is ever there.
    fn default() -> Self {
        Self { zone: TimeZone::UTC, days: Default::default() }
    }
}

impl OpeningHours {
    /// The hours of each day, from Monday on, in a time zone. Days that are left out are closed.
    ///
    /// # Errors
    ///
    /// When a day or the zone is wrong.
    pub fn parse<'a>(zone: &str, days: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidHours> {
        let zone = TimeZone::get(zone.trim()).map_err(|_| InvalidHours::Zone)?;
        let mut hours = Self { zone, days: Default::default() };
        for ((text, day), spans) in days.into_iter().zip(WEEKDAYS).zip(&mut hours.days) {
            *spans = day_of(text).ok_or(InvalidHours::Day { day })?;
        }
        Ok(hours)
    }

    /// Whether somebody is there at this moment.
    pub fn are_open(&self, at: Timestamp) -> bool {
        let Ok(moment) = jiff::Timestamp::from_millisecond(at.millis()) else { return false };
        let local = moment.to_zoned(self.zone.clone());
        let day = usize::try_from(local.weekday().to_monday_zero_offset()).unwrap_or_default();
        let minutes = i16::from(local.hour()) * 60 + i16::from(local.minute());
        let minutes = minutes.unsigned_abs();
        let spans = self.days.get(day).map(Vec::as_slice).unwrap_or_default();
        spans.iter().any(|(from, to)| (*from..*to).contains(&minutes))
    }

    /// The name of the time zone.
    pub fn zone(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// The hours of each day from Monday on, as they are written; empty for a day on which nobody is there.
    pub fn days(&self) -> [String; 7] {
        self.days.each_ref().map(|spans| {
            let mut text = String::new();
            for (from, to) in spans {
                let gap = if text.is_empty() { "" } else { ", " };
                // Writing into a string cannot fail.
                let _ = write!(text, "{gap}{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60);
            }
            text
        })
    }
}

/// The spans of a day: in their order, and none touches another.
fn day_of(text: &str) -> Option<Vec<(u16, u16)>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let (mut spans, mut after) = (Vec::new(), 0);
    for span in text.split(',') {
        let (from, to) = span.split_once(['-', '–'])?;
        let (from, to) = (minutes(from)?, minutes(to)?);
        if from < after || to <= from || spans.len() == MOST_SPANS {
            return None;
        }
        after = to;
        spans.push((from, to));
    }
    Some(spans)
}

/// The minutes since midnight of a time such as `9:30`; `24:00` is the end of the day.
fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let number = |digits: &str| -> Option<u16> {
        let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let all = hours * 60 + minutes;
    (minutes < 60 && all <= DAY).then_some(all)
}
