//! One business phone number: its state, its limit and its figures, behind one short lock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value};

use super::account::Account;
use super::budget::Budget;
use super::error::GraphError;
use super::figures::{Figures, NumberFigures};
use super::level::{Level, Throttle};
use super::seed::Number;
use super::throttle::SlidingSecond;
use super::timeline::Timeline;
use super::upkeep::Upkeep;
use clock::Timestamp;

/// A phone number of an account.
#[derive(Debug)]
pub(super) struct PhoneNumber {
    pub(super) id: Arc<str>,
    /// A short id for tables that are keyed by number.
    pub(super) index: u32,
    pub(super) display_phone_number: String,
    pub(super) account: Arc<Account>,
    digits: String,
    traffic: Mutex<Traffic>,
    upkeep: Mutex<Upkeep>,
    descriptions: AtomicU64,
}

#[derive(Debug)]
struct Traffic {
    standing: Standing,
    passed: SlidingSecond,
    figures: Figures,
}

/// The state of a number that a switch can change. Times are milliseconds since the simulator's start.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Only `CONNECTED` can send.
    pub(super) status: String,
    pub(super) throttle: Throttle,
    pub(super) level: Level,
    pub(super) is_on_biz_app: bool,
    pub(super) is_in_maintenance: bool,
    /// The time until which every send is throttled.
    pub(super) throttled_until: u64,
    /// Fields of its node that are shown in place of the simulator's own.
    pub(super) fields: Map<String, Value>,
}

impl PhoneNumber {
    pub(super) fn new(number: Number, index: u32, account: Arc<Account>) -> Self {
        let throttle = number.throughput;
        let is_on_biz_app = number.is_on_biz_app.unwrap_or_else(|| throttle.is_usually_on_biz_app());
        let standing = Standing {
            status: number.status,
            throttle,
            level: number.level.unwrap_or_else(|| throttle.usual_level()),
            is_on_biz_app,
            is_in_maintenance: false,
            throttled_until: 0,
            fields: Map::new(),
        };
        Self {
            id: Arc::from(number.phone_number_id),
            index,
            digits: number.display_phone_number.chars().filter(char::is_ascii_digit).collect(),
            display_phone_number: number.display_phone_number,
            account,
            traffic: Mutex::new(Traffic {
                standing,
                passed: SlidingSecond::default(),
                figures: Figures::default(),
            }),
            upkeep: Mutex::default(),
            descriptions: AtomicU64::new(0),
        }
    }

    /// Counts a probe of the number.
    pub(super) fn count_description(&self) {
        self.descriptions.fetch_add(1, Ordering::Relaxed);
    }

    /// How often the number was probed.
    pub(super) fn descriptions(&self) -> u64 {
        self.descriptions.load(Ordering::Relaxed)
    }

    /// Counts a send that arrived, and makes the checks that do not need its body: the app's budget, the
    /// registration, the account's restriction and budget, maintenance, and messages per second. Refused sends do
    /// not count towards that limit.
    pub(super) fn arrive(&self, now: u64, app: &Budget) -> Result<(), GraphError> {
        let mut traffic = self.traffic.lock();
        let Traffic { standing, passed, figures } = &mut *traffic;
        figures.arrive(now);
        if app.is_spent(now) {
            return Err(GraphError::over_budget(4));
        }
        if standing.status != "CONNECTED" {
            return Err(GraphError::because(133_010, format!("the number is {}", standing.status)));
        }
        if let Some(code) = self.account.restriction() {
            return Err(GraphError::new(code));
        }
        self.account.spare(now)?;
        if standing.is_in_maintenance {
            return Err(GraphError::new(131_057));
        }
        let most = standing.throttle.most(standing.level, standing.is_on_biz_app);
        let is_throttled = now < standing.throttled_until;
        if is_throttled || most.is_some_and(|most| passed.count(now) >= most) {
            return Err(GraphError::because(130_429, "Cloud API message throughput has been reached."));
        }
        if most.is_some() {
            passed.add(now);
        }
        Ok(())
    }

    /// Counts a send that was refused; with this code, or without an answer.
    pub(super) fn refuse(&self, code: Option<u32>) {
        self.traffic.lock().figures.refuse(code);
    }

    /// Counts an accepted message.
    pub(super) fn accept(&self, recipient: &str, key: &str, at: Timestamp, now: u64) {
        self.traffic.lock().figures.accept(recipient, key, at, now);
    }

    /// Whether this recipient is the number itself.
    pub(super) fn is_own(&self, recipient: &str) -> bool {
        self.digits == recipient
    }

    pub(super) fn figures(&self) -> NumberFigures {
        self.traffic.lock().figures.of(&self.id)
    }

    /// The recipients of more than `above` messages, with how many each got.
    pub(super) fn recipients(&self, above: u32) -> BTreeMap<String, u32> {
        self.traffic.lock().figures.recipients(above)
    }

    pub(super) fn timeline(&self) -> Timeline {
        self.traffic.lock().figures.timeline()
    }

    /// Its profile, its greetings and blocked people.
    pub(super) fn upkeep(&self) -> MutexGuard<'_, Upkeep> {
        self.upkeep.lock()
    }

    pub(super) fn standing(&self) -> Standing {
        self.traffic.lock().standing.clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Standing)) {
        change(&mut self.traffic.lock().standing);
    }

    pub(super) fn set_status(&self, status: &str) {
        self.change(|standing| status.clone_into(&mut standing.status));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_per_second_are_limited_and_refused_sends_do_not_count() {
        let account = Arc::new(Account::new("1".to_owned(), Arc::default()));
        let limited = Number { throughput: Throttle::PerSecond(3), ..Number::new("2", "+1 555") };
        let number = PhoneNumber::new(limited, 0, account);
        let codes: Vec<_> = [0, 0, 400, 500, 999, 1_000, 1_001, 1_002]
            .map(|now| number.arrive(now, &Budget::default()).map_or_else(|error| error.code, |()| 0))
            .to_vec();
        assert_eq!(codes, [0, 0, 0, 130_429, 130_429, 0, 0, 130_429]);
        assert_eq!(number.figures().arrivals, 8);
        assert_eq!(number.figures().max_per_second, 6);
    }
}
