//! One business phone number: its state, its limit and its figures, behind one short lock.

use std::sync::Arc;

use super::account::Account;
use super::error::GraphError;
use super::figures::{Figures, NumberFigures};
use super::lock::Lock;
use super::seed::Number;
use super::throttle::SlidingSecond;
use crate::clock::Timestamp;

/// A phone number of an account.
#[derive(Debug)]
pub(super) struct PhoneNumber {
    pub(super) id: Arc<str>,
    /// A short name for tables keyed by number.
    pub(super) index: u32,
    pub(super) display_phone_number: String,
    pub(super) account: Arc<Account>,
    digits: String,
    traffic: Lock<Traffic>,
}

#[derive(Debug)]
struct Traffic {
    status: String,
    is_in_maintenance: bool,
    throughput: Option<u32>,
    passed: SlidingSecond,
    figures: Figures,
}

/// A number's state as `GET /{phone_number_id}` shows it.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) status: String,
    pub(super) throughput: Option<u32>,
}

impl PhoneNumber {
    pub(super) fn new(number: Number, index: u32, account: Arc<Account>) -> Self {
        Self {
            id: Arc::from(number.phone_number_id),
            index,
            digits: number.display_phone_number.chars().filter(char::is_ascii_digit).collect(),
            display_phone_number: number.display_phone_number,
            account,
            traffic: Lock::new(Traffic {
                status: number.status,
                is_in_maintenance: false,
                throughput: number.throughput,
                passed: SlidingSecond::default(),
                figures: Figures::default(),
            }),
        }
    }

    /// Counts a send that arrived, and decides by the number's own state: registered, account in
    /// good standing, not in maintenance, within its messages per second. Refused sends do not
    /// count towards the limit.
    pub(super) fn arrive(&self, now: u64) -> Result<(), GraphError> {
        let restriction = self.account.restriction();
        let mut traffic = self.traffic.hold();
        traffic.figures.arrive(now);
        if traffic.status != "CONNECTED" {
            return Err(GraphError::because(133_010, format!("the number is {}", traffic.status)));
        }
        if let Some(code) = restriction {
            return Err(GraphError::new(code));
        }
        if traffic.is_in_maintenance {
            return Err(GraphError::new(131_057));
        }
        if let Some(most) = traffic.throughput {
            if traffic.passed.count(now) >= most {
                return Err(GraphError::because(130_429, "Cloud API message throughput has been reached."));
            }
            traffic.passed.add(now);
        }
        Ok(())
    }

    /// Counts a send that was answered with an error.
    pub(super) fn refuse(&self) {
        self.traffic.hold().figures.refuse();
    }

    /// Counts an accepted message.
    pub(super) fn accept(&self, recipient: &str, at: Timestamp) {
        self.traffic.hold().figures.accept(recipient, at);
    }

    /// Whether this recipient is the number itself.
    pub(super) fn is_own(&self, recipient: &str) -> bool {
        self.digits == recipient
    }

    pub(super) fn figures(&self) -> NumberFigures {
        self.traffic.hold().figures.of(&self.id)
    }

    pub(super) fn standing(&self) -> Standing {
        let traffic = self.traffic.hold();
        Standing { status: traffic.status.clone(), throughput: traffic.throughput }
    }

    pub(super) fn set_status(&self, status: &str) {
        status.clone_into(&mut self.traffic.hold().status);
    }

    pub(super) fn set_maintenance(&self, is_in_maintenance: bool) {
        self.traffic.hold().is_in_maintenance = is_in_maintenance;
    }

    pub(super) fn set_throughput(&self, throughput: Option<u32>) {
        self.traffic.hold().throughput = throughput;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_held_to_its_messages_per_second_and_refused_ones_do_not_count() {
        let account = Arc::new(Account::new("1".to_owned(), Arc::default()));
        let limited = Number { throughput: Some(3), ..Number::new("2", "+1 555") };
        let number = PhoneNumber::new(limited, 0, account);
        let codes: Vec<_> = [0, 0, 400, 500, 999, 1_000, 1_001, 1_002]
            .map(|now| number.arrive(now).map_or_else(|error| error.code, |()| 0))
            .to_vec();
        assert_eq!(codes, [0, 0, 0, 130_429, 130_429, 0, 0, 130_429]);
        assert_eq!(number.figures().arrivals, 8);
        assert_eq!(number.figures().max_per_second, 6);
    }
}
