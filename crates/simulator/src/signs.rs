//! What people see of a number besides its messages: that theirs were read, and that somebody types an answer.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// The newest signs that are kept.
const MOST: usize = 10_000;

/// A sign to a person or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSign {
    /// Who gave it: the id of the phone number, or the number of the linked phone.
    pub from: String,
    /// `read`, `typing` or `paused`.
    pub kind: &'static str,
    /// The conversation; empty for a phone number, whose signs name a message alone.
    pub to: String,
    /// The messages that it is about.
    pub messages: Vec<String>,
}

/// The newest signs.
#[derive(Debug, Default)]
pub(super) struct Signs(Mutex<VecDeque<ShownSign>>);

impl Signs {
    pub(super) fn add(&self, sign: ShownSign) {
        let mut signs = self.0.lock();
        signs.push_back(sign);
        if signs.len() > MOST {
            signs.pop_front();
        }
    }

    /// All that are kept, the newest last.
    pub(super) fn all(&self) -> Vec<ShownSign> {
        self.0.lock().iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}
