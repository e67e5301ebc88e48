//! A budget of calls, of the app or of an account: the usage that the headers report, and a time until which
//! it is spent.
//!
//! The simulator does not count calls: a switch sets the usage.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use actix_web::http::header::HeaderValue;
use serde_json::json;

/// The usage that is shown by default.
const CALM: u32 = 1;
const MINUTE_MILLIS: u64 = 60_000;
/// Stands for an estimate that is computed from the time that is left.
const BY_SPAN: u32 = u32::MAX;

/// Moments are milliseconds since the simulator's start.
#[derive(Debug)]
pub(super) struct Budget {
    spent_until: AtomicU64,
    percent: AtomicU32,
    estimate: AtomicU32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            spent_until: AtomicU64::new(0),
            percent: AtomicU32::new(CALM),
            estimate: AtomicU32::new(BY_SPAN),
        }
    }
}

impl Budget {
    /// Makes the budget spent until this moment.
    pub(super) fn spend_until(&self, moment: u64) {
        self.spent_until.store(moment, Ordering::Relaxed);
    }

    /// Sets the share that is shown as used, in percent.
    pub(super) fn set_percent(&self, percent: u32) {
        self.percent.store(percent, Ordering::Relaxed);
    }

    /// Sets the wait in minutes that is reported while the budget is spent, independent of the real time.
    pub(super) fn set_estimate(&self, minutes: u32) {
        self.estimate.store(minutes, Ordering::Relaxed);
    }

    /// Resets the budget.
    pub(super) fn calm(&self) {
        self.spend_until(0);
        self.set_percent(CALM);
        self.set_estimate(BY_SPAN);
    }

    pub(super) fn is_spent(&self, now: u64) -> bool {
        now < self.spent_until.load(Ordering::Relaxed)
    }

    fn percent(&self, now: u64) -> u32 {
        if self.is_spent(now) { 100 } else { self.percent.load(Ordering::Relaxed) }
    }

    /// The reported wait until calls are allowed again, in minutes, rounded up.
    fn minutes_left(&self, now: u64) -> u64 {
        let left = self.spent_until.load(Ordering::Relaxed).saturating_sub(now);
        match self.estimate.load(Ordering::Relaxed) {
            BY_SPAN => left.div_ceil(MINUTE_MILLIS),
            _ if left == 0 => 0,
            minutes => u64::from(minutes),
        }
    }

    /// `X-App-Usage`.
    pub(super) fn app_usage(&self, now: u64) -> HeaderValue {
        let percent = self.percent(now);
        if percent == CALM {
            return HeaderValue::from_static(r#"{"call_count":1,"total_time":1,"total_cputime":1}"#);
        }
        let usage = json!({ "call_count": percent, "total_time": 1, "total_cputime": 1 });
        HeaderValue::from_str(&usage.to_string()).unwrap_or_else(|_| HeaderValue::from_static("{}"))
    }

    /// `X-Business-Use-Case-Usage` of this account; `calm` is the one that is shown most of the time.
    pub(super) fn business_usage(&self, waba_id: &str, calm: &HeaderValue, now: u64) -> HeaderValue {
        let (percent, minutes) = (self.percent(now), self.minutes_left(now));
        if percent == CALM && minutes == 0 { calm.clone() } else { business_usage(waba_id, percent, minutes) }
    }
}

/// The default `X-Business-Use-Case-Usage`.
pub(super) fn calm_business_usage(waba_id: &str) -> HeaderValue {
    business_usage(waba_id, CALM, 0)
}

fn business_usage(waba_id: &str, percent: u32, minutes: u64) -> HeaderValue {
    let share = |kind: &str| {
        json!({
            "type": kind, "call_count": percent, "total_cputime": 1, "total_time": 1,
            "estimated_time_to_regain_access": minutes,
        })
    };
    let usage = json!({ waba_id: [share("whatsapp_business_management"), share("whatsapp")] });
    HeaderValue::from_str(&usage.to_string()).unwrap_or_else(|_| HeaderValue::from_static("{}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spent_budget_shows_a_hundred_percent_and_the_minutes_that_are_left() {
        let budget = Budget::default();
        budget.spend_until(61_000);
        assert!(budget.is_spent(60_999) && !budget.is_spent(61_000));
        assert_eq!((budget.percent(0), budget.minutes_left(0)), (100, 2));
        assert_eq!((budget.percent(61_000), budget.minutes_left(61_000)), (1, 0));
        budget.set_estimate(5);
        assert_eq!((budget.minutes_left(0), budget.minutes_left(61_000)), (5, 0));
        budget.set_percent(85);
        assert_eq!(budget.percent(61_000), 85);
    }
}
