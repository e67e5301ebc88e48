//! Durations as people write them in scripts: `"250ms"`, `"2s"`.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A duration, parsed from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span(pub(super) Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        duration(deserializer).map(Self)
    }
}

/// For `#[serde(deserialize_with)]` on a plain [`Duration`].
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text)
        .map_err(|_| D::Error::custom(format!("`{text}` is not a duration such as \"250ms\" or \"2s\"")))
}
