//! Spans of time as people write them: `"250ms"`, `"30s"`, `"1h 30m"`.
//!
//! Made for `#[serde(with = "crate::time_span")]` on a field of type [`Duration`].

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de};

/// Why a text is no span of time; completes a sentence that begins with the text.
pub const NOT_A_SPAN: &str =
    "is not a span of time: a number and a unit such as \"250ms\", \"30s\", \"10m\", \"2h\" or \"7d\"";

/// Reads a span of time with its unit; `None` when the text is none.
pub fn parse(text: &str) -> Option<Duration> {
    humantime::parse_duration(text.trim()).ok()
}

/// Reads a span of time with its unit.
///
/// # Errors
///
/// [`NOT_A_SPAN`] when the text has no number, no unit or an unknown unit.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| de::Error::custom(NOT_A_SPAN))
}

/// Writes a span of time so that [`deserialize`] reads the same one.
///
/// # Errors
///
/// Only those of the serializer.
pub fn serialize<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*span))
}
