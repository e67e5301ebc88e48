//! Whether a channel's tier fits the provider's level for its number.

use serde::{Deserialize, Serialize};

use crate::channel::Level;
use crate::rate::Rate;

/// How a tier's pace relates to the provider's level, where the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelHint {
    /// The tier allows more than the level, which decides.
    TierIsFaster,
    /// The tier allows less than the level.
    TierIsSlower,
}

impl LevelHint {
    /// The hint about a tier of this pace; `None` when the level is unknown or has the same pace, and for a tier that
    /// leaves the pace to the provider.
    pub fn of(tier: Rate, level: Option<Level>) -> Option<Self> {
        let (tier, level) = (tier.per_second(), level?.rate().per_second());
        if !tier.is_finite() || !level.is_finite() {
            None
        } else if tier > level {
            Some(Self::TierIsFaster)
        } else if tier < level {
            Some(Self::TierIsSlower)
        } else {
            None
        }
    }

    /// The hint for a person, with what to do.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::TierIsFaster => {
                "the provider's level for the number allows less than the tier, and decides: put the channel under a tier \
                 of the level's rate, or ask the provider for a higher level"
            }
            Self::TierIsSlower => {
                "the provider's level for the number allows more than the tier: a faster tier would send faster"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_of_another_pace_than_the_level_is_told() {
        let hint = |rate: &str, level| LevelHint::of(rate.parse().unwrap(), level);
        assert_eq!(hint("1000/s", Some(Level::Standard)), Some(LevelHint::TierIsFaster));
        assert_eq!(hint("80/s", Some(Level::High)), Some(LevelHint::TierIsSlower));
        assert_eq!(hint("80/s", Some(Level::Coexistence)), Some(LevelHint::TierIsFaster));
        for (rate, level) in [
            ("80/s", Some(Level::Standard)),
            ("4800/min", Some(Level::Standard)),
            ("unlimited", Some(Level::Standard)),
            ("80/s", Some(Level::NotApplicable)),
            ("80/s", None),
        ] {
            assert_eq!(hint(rate, level), None, "{rate}");
        }
    }
}
