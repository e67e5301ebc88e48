//! How often something may happen: `"80/s"`, `"10/min"`, or `"unlimited"`.
//!
//! A rate is a count and a period, stored as written, so that operators read what they wrote. A bucket uses
//! [`Rate::period`] or [`Rate::per_second`], clients see [`Rate::allowance`].

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The largest count; for more than a million in a period, "unlimited" is clearer.
pub const MAX_COUNT: u32 = 1_000_000;

/// A count in each period, or unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate(Option<Limited>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Limited {
    count: u32,
    per: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Unit {
    Second,
    Minute,
    Hour,
    Day,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
            Self::Day => "d",
        }
    }

    const fn seconds(self) -> u32 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Second, Self::Minute, Self::Hour, Self::Day].into_iter().find(|unit| unit.name() == name)
    }
}

/// Why a text is no rate; each completes a sentence that begins with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum InvalidRate {
    /// Neither a count, a slash and a unit, nor the word.
    #[error(
        "is not a rate: a whole number, a slash and one of s, min, h, d, such as \"80/s\", or \"unlimited\""
    )]
    Form,
    /// Nothing would ever go.
    #[error("lets nothing through: the number must be at least 1")]
    Zero,
    /// More than [`MAX_COUNT`].
    #[error("is more than a million in one period: write \"unlimited\"")]
    TooMany,
}

impl Rate {
    /// No limit.
    pub const UNLIMITED: Self = Self(None);

    /// A rate of `count` per second; at least 1, at most [`MAX_COUNT`].
    pub const fn each_second(count: u32) -> Self {
        let count = match count {
            0 => 1,
            count if count > MAX_COUNT => MAX_COUNT,
            count => count,
        };
        Self(Some(Limited { count, per: Unit::Second }))
    }

    /// Occurrences in one second on average; infinite when unlimited.
    pub fn per_second(self) -> f64 {
        self.0.map_or(f64::INFINITY, |Limited { count, per }| f64::from(count) / f64::from(per.seconds()))
    }

    /// The time from one occurrence to the next at an even pace; `None` when unlimited.
    pub fn period(self) -> Option<Duration> {
        self.0.map(|Limited { count, per }| Duration::from_secs(per.seconds().into()) / count)
    }

    /// The count and its period, as written; `None` when unlimited.
    pub fn allowance(self) -> Option<(u32, Duration)> {
        self.0.map(|Limited { count, per }| (count, Duration::from_secs(per.seconds().into())))
    }

    /// Whether there is no limit at all.
    pub const fn is_unlimited(self) -> bool {
        self.0.is_none()
    }
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        if text.trim().eq_ignore_ascii_case("unlimited") {
            return Ok(Self::UNLIMITED);
        }
        let (count, unit) = text.split_once('/').ok_or(InvalidRate::Form)?;
        let (count, per) = (count.trim(), Unit::parse(unit.trim()).ok_or(InvalidRate::Form)?);
        if count.is_empty() || !count.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(InvalidRate::Form);
        }
        match count.parse() {
            Ok(0) => Err(InvalidRate::Zero),
            Ok(count) if count <= MAX_COUNT => Ok(Self(Some(Limited { count, per }))),
            Ok(_) | Err(_) => Err(InvalidRate::TooMany),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Limited { count, per }) => write!(f, "{count}/{}", per.name()),
            None => f.write_str("unlimited"),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rate_is_a_count_and_a_unit() {
        for (text, shown, period) in [
            ("80/s", "80/s", Some(Duration::from_micros(12_500))),
            (" 1000 / s ", "1000/s", Some(Duration::from_millis(1))),
            ("10/min", "10/min", Some(Duration::from_secs(6))),
            ("100/h", "100/h", Some(Duration::from_secs(36))),
            ("1/d", "1/d", Some(Duration::from_secs(86_400))),
            ("1000000/s", "1000000/s", Some(Duration::from_micros(1))),
            ("Unlimited", "unlimited", None),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.to_string().as_str(), rate.period()), (shown, period), "{text}");
        }
        let allowance = |text: &str| text.parse::<Rate>().unwrap().allowance();
        assert_eq!(allowance("30/min"), Some((30, Duration::from_secs(60))));
        assert_eq!(allowance("unlimited"), None);
        assert!((Rate::from_str("30/min").unwrap().per_second() - 0.5).abs() < 1e-9);
        assert!(Rate::UNLIMITED.per_second().is_infinite());
    }

    #[test]
    fn a_rate_of_each_second_lets_something_through_and_reads_back() {
        for (count, shown) in [(0, "1/s"), (80, "80/s"), (u32::MAX, "1000000/s")] {
            let rate = Rate::each_second(count);
            assert_eq!((rate.to_string().as_str(), shown.parse()), (shown, Ok(rate)));
        }
    }

    #[test]
    fn a_text_that_is_no_rate_is_refused_with_the_reason() {
        for text in ["", "80", "80/", "/s", "80/sec", "8.5/s", "-1/s", "+1/s", "80/s/s", "ten/s", "80 per s"]
        {
            assert_eq!(text.parse::<Rate>(), Err(InvalidRate::Form), "{text}");
        }
        assert_eq!("0/s".parse::<Rate>(), Err(InvalidRate::Zero));
        assert_eq!("1000001/s".parse::<Rate>(), Err(InvalidRate::TooMany));
        assert_eq!("99999999999999999999/s".parse::<Rate>(), Err(InvalidRate::TooMany));
    }

    proptest! {
        #[test]
        fn a_rate_reads_back_as_it_is_shown(count in 1..=MAX_COUNT, unit in "s|min|h|d") {
            let text = format!("{count}/{unit}");
            prop_assert_eq!(text.parse::<Rate>().map(|rate| rate.to_string()), Ok(text));
        }
    }
}
