//! The messages per second that a number may send: by its level, by a given figure, or without limit.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// A number that is also in the WhatsApp Business app, whatever its level.
const COEXISTENCE: u32 = 20;
/// The tolerance of a level beyond its figure, in percent. The provider documents none; it is inferred that a
/// message that left in time and arrives early is not refused.
const TOLERANCE: u32 = 5;

/// `throughput.level` of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    /// 80 messages per second.
    Standard,
    /// 1,000 messages per second.
    High,
    /// No level is reported; nothing is limited.
    NotApplicable,
}

/// When a number answers with code 130429.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Throttle {
    /// Never, for load tests; in JSON `null` or `"unlimited"`.
    #[default]
    Unlimited,
    /// Beyond the limit of its level (20 per second when it is also in the WhatsApp Business app) plus 5 %; in
    /// JSON `"level"`.
    ByLevel,
    /// Beyond exactly this many messages in any second; in JSON the figure.
    PerSecond(u32),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Figure(u32),
    Word(String),
}

impl<'de> Deserialize<'de> for Throttle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fault =
            || D::Error::custom("a throttle is a figure per second, \"level\", \"unlimited\" or null");
        match Option::<Written>::deserialize(deserializer).map_err(|_| fault())? {
            None => Ok(Self::Unlimited),
            Some(Written::Figure(most)) => Ok(Self::PerSecond(most)),
            Some(Written::Word(word)) if word == "level" => Ok(Self::ByLevel),
            Some(Written::Word(word)) if word == "unlimited" => Ok(Self::Unlimited),
            Some(Written::Word(_)) => Err(fault()),
        }
    }
}

impl Throttle {
    /// The most messages in any second; `None` is no limit.
    pub(super) fn most(self, level: Level, is_on_biz_app: bool) -> Option<u32> {
        let told = match (self, level) {
            (Self::Unlimited, _) => return None,
            (Self::PerSecond(most), _) => return Some(most),
            (Self::ByLevel, _) if is_on_biz_app => COEXISTENCE,
            (Self::ByLevel, Level::Standard) => 80,
            (Self::ByLevel, Level::High) => 1_000,
            (Self::ByLevel, Level::NotApplicable) => return None,
        };
        Some(told + told * TOLERANCE / 100)
    }

    /// The level that a number shows when the seed names none.
    pub(super) fn usual_level(self) -> Level {
        match self {
            Self::Unlimited => Level::NotApplicable,
            Self::PerSecond(most) if most >= 1_000 => Level::High,
            Self::PerSecond(_) | Self::ByLevel => Level::Standard,
        }
    }

    /// Whether a number is shown as also in the WhatsApp Business app when the seed does not say.
    pub(super) fn is_usually_on_biz_app(self) -> bool {
        self == Self::PerSecond(COEXISTENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_the_providers_figures_and_a_small_tolerance() {
        for (level, is_on_biz_app, most) in [
            (Level::Standard, false, Some(84)),
            (Level::High, false, Some(1_050)),
            (Level::High, true, Some(21)),
            (Level::NotApplicable, false, None),
        ] {
            assert_eq!(Throttle::ByLevel.most(level, is_on_biz_app), most);
        }
        assert_eq!(Throttle::PerSecond(3).most(Level::High, true), Some(3));
        assert_eq!(Throttle::Unlimited.most(Level::Standard, true), None);
    }

    #[test]
    fn a_throttle_is_read_from_a_figure_a_word_or_null() {
        for (json, throttle) in [
            ("80", Throttle::PerSecond(80)),
            ("\"level\"", Throttle::ByLevel),
            ("\"unlimited\"", Throttle::Unlimited),
            ("null", Throttle::Unlimited),
        ] {
            assert_eq!(serde_json::from_str::<Throttle>(json).unwrap(), throttle);
        }
        assert!(serde_json::from_str::<Throttle>("\"fast\"").is_err());
    }
}
