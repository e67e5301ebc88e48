//! The channel's limit, as the service reports it, and whether the arrivals kept it.

use serde::Serialize;

/// The tolerance for bunching by the network and busy processors: this share above the limit may arrive
/// within a second, although the messages left in time.
const BUNCHED: f64 = 0.05;

/// How fast a channel may send.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Messages in a second.
    pub per_second: f64,
    /// Messages that may go at once after a pause.
    pub burst: u32,
    /// The most messages that may arrive within any one second.
    pub allowed: u64,
}

impl Limit {
    pub(super) fn new(per_second: f64, burst: u32) -> Self {
        let bunched = (per_second * BUNCHED).ceil().max(1.0);
        let allowed = (per_second.ceil() + f64::from(burst) + bunched).clamp(0.0, 9e15) as u64;
        Self { per_second, burst, allowed }
    }

    /// Reads the answer of `GET …/limits`: the rate, and the burst in the value of the limit in force.
    pub(super) fn read(limits: &serde_json::Value) -> Option<Self> {
        let per_second = limits["rate_per_second"].as_f64()?;
        let named = |name: &str| {
            let mut all = limits["limits"].as_array()?.iter();
            all.find(|limit| limit["limit"] == name)?["value"].as_str().map(str::to_owned)
        };
        let burst = named("messages_per_second").and_then(|value| burst(&value));
        Some(Self::new(per_second, burst.unwrap_or(1)))
    }
}

/// The burst in a limit's text: 1 in `"80/s, burst 1"`.
fn burst(value: &str) -> Option<u32> {
    let digits = value.split_once("burst ")?.1.chars().take_while(char::is_ascii_digit).collect::<String>();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_is_rate_burst_and_tolerance() {
        assert_eq!(Limit::new(80.0, 1).allowed, 85);
        assert_eq!(Limit::new(1_000.0, 10).allowed, 1_060);
        assert_eq!(Limit::new(0.5, 1).allowed, 3);
    }

    #[test]
    fn a_limit_is_read_from_the_service_s_answer() {
        let told = json!({ "rate_per_second": 500.0, "limits": [
            { "limit": "pair", "value": "6s, burst 10" },
            { "limit": "messages_per_second", "value": "500/s, burst 5" },
        ] });
        assert_eq!(Limit::read(&told), Some(Limit::new(500.0, 5)));
        assert_eq!(Limit::read(&json!({ "rate_per_second": null, "limits": [] })), None);
    }
}
