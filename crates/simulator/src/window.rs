//! The customer service window: for 24 hours after a person wrote to a number, the number may send them messages that are
//! no templates. Outside it these are refused with 131047, as at the provider, if the simulator is told to. A person is
//! the same whichever form of their number, or id, is given.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::person;

/// How long a window is open, in milliseconds.
const OPEN_FOR: u64 = 24 * 3_600 * 1_000;
/// The most people whose last message is known. Beyond it, the window of the one who wrote first closes.
const MOST: usize = 100_000;

/// All windows, by the number and by the person, each with the time of the last message in milliseconds since the
/// simulator's start.
#[derive(Debug, Default)]
pub(super) struct Windows {
    are_kept: AtomicBool,
    last: Mutex<HashMap<(u32, String), u64>>,
}

impl Windows {
    /// Whether messages outside a window are refused.
    pub(super) fn keep(&self, are_kept: bool) {
        self.are_kept.store(are_kept, Ordering::Relaxed);
    }

    /// A person wrote to the number with this index.
    pub(super) fn open(&self, number: u32, address: &str, now: u64) {
        let mut last = self.last.lock();
        if last.len() >= MOST {
            last.retain(|_, at| is_open(*at, now));
        }
        if last.len() >= MOST
            && let Some(first) = last.iter().min_by_key(|(_, at)| **at).map(|(key, _)| key.clone())
        {
            last.remove(&first);
        }
        last.insert((number, person::user_id(address)), now);
    }

    /// Whether the number may write to this person in its own words.
    pub(super) fn allow(&self, number: u32, address: &str, now: u64) -> bool {
        if !self.are_kept.load(Ordering::Relaxed) {
            return true;
        }
        let last = self.last.lock().get(&(number, person::user_id(address))).copied();
        last.is_some_and(|at| is_open(at, now))
    }

    /// Closes all windows.
    pub(super) fn clear(&self) {
        self.last.lock().clear();
    }
}

const fn is_open(at: u64, now: u64) -> bool {
    now.saturating_sub(at) < OPEN_FOR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_open_for_a_day_after_the_last_message_of_this_person_to_this_number() {
        let windows = Windows::default();
        assert!(windows.allow(0, "5511999990001", 0), "nobody asked for windows");
        windows.keep(true);
        assert!(!windows.allow(0, "5511999990001", 0));
        windows.open(0, "5511999990001", 5);
        let id = person::user_id("5511999990001");
        for (number, address, now, expected) in [
            (0, "5511999990001", 5, true),
            (0, id.as_str(), 4 + OPEN_FOR, true),
            (0, "5511999990001", 5 + OPEN_FOR, false),
            (1, "5511999990001", 5, false),
            (0, "5511999990002", 5, false),
        ] {
            assert_eq!(windows.allow(number, address, now), expected, "{number} {address} {now}");
        }
        windows.open(0, "556488887777", 5);
        assert!(windows.allow(0, "5564988887777", 5), "another form of the same number");
        windows.open(0, "5511999990001", OPEN_FOR);
        assert!(windows.allow(0, "5511999990001", 5 + OPEN_FOR), "another message opens it again");
        windows.clear();
        assert!(!windows.allow(0, "5511999990001", OPEN_FOR));
    }
}
