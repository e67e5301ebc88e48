//! `[values]`: what requests say about each of their recipients.

use std::time::Duration;

use serde::Deserialize;

use domain::time_span;

/// `[values]`: what requests say about each of their recipients.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// How long the values of a send's recipients are kept after its end, so that it can be sent again.
    #[serde(with = "time_span")]
    pub keep: Duration,
}
