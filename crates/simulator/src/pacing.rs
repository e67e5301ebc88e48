//! Pacing of templates: after the first sends of a template, further ones are accepted but held until its
//! quality is known; then they are sent, or dropped with code 132015.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;

use super::outbox::Event;
use super::span::duration;

/// The maximum number of held messages of one template; further messages get no receipts.
const MOST_HELD: usize = 100_000;

/// The result for held messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fate {
    /// The held messages are sent, and the template keeps its status.
    Release,
    /// The held messages fail with 132015, and the template is PAUSED.
    Drop,
}

/// How a template is paced.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pace {
    /// The number of messages that go out before the first is held.
    after: u64,
    /// The automatic result for held messages; without it they wait for the switch `end_pacing`.
    then: Option<Fate>,
    /// The delay of the automatic result, counted from the first held message.
    #[serde(default, deserialize_with = "duration")]
    within: Duration,
}

/// A message that is held, and its sequence.
pub(super) type Held = (u64, Event);

#[derive(Debug)]
struct Pacing {
    pace: Pace,
    passed: u64,
    has_begun: bool,
    held: Vec<Held>,
}

/// The result for one message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The message goes out.
    Passes,
    /// The message is held.
    IsHeld,
    /// The message is the first that is held; after this delay, the held messages get this result.
    BeginsHolding(Duration, Fate),
}

/// The templates that are paced, by id.
#[derive(Debug, Default)]
pub(super) struct Pacings {
    by_template: Mutex<HashMap<u64, Pacing>>,
    is_any: AtomicBool,
}

impl Pacings {
    /// Paces a template from now on.
    pub(super) fn begin(&self, template: u64, pace: Pace) {
        let pacing = Pacing { pace, passed: 0, has_begun: false, held: Vec::new() };
        self.by_template.lock().insert(template, pacing);
        self.is_any.store(true, Ordering::Release);
    }

    /// Counts a message of a template. Without pacing this takes no lock.
    pub(super) fn step(&self, template: u64) -> Step {
        if !self.is_any.load(Ordering::Acquire) {
            return Step::Passes;
        }
        let mut pacings = self.by_template.lock();
        let Some(pacing) = pacings.get_mut(&template) else { return Step::Passes };
        if pacing.passed < pacing.pace.after {
            pacing.passed += 1;
            return Step::Passes;
        }
        let is_first = !std::mem::replace(&mut pacing.has_begun, true);
        match pacing.pace.then.filter(|_| is_first) {
            Some(fate) => Step::BeginsHolding(pacing.pace.within, fate),
            None => Step::IsHeld,
        }
    }

    /// Keeps a held message; returns it if the pacing has ended meanwhile.
    pub(super) fn hold(&self, template: u64, held: Held) -> Option<Held> {
        match self.by_template.lock().get_mut(&template) {
            None => Some(held),
            Some(pacing) => {
                if pacing.held.len() < MOST_HELD {
                    pacing.held.push(held);
                }
                None
            }
        }
    }

    /// Ends the pacing of a template. Returns its held messages, or `None` when it is not paced.
    pub(super) fn end(&self, template: u64) -> Option<Vec<Held>> {
        let mut pacings = self.by_template.lock();
        let ended = pacings.remove(&template);
        self.is_any.store(!pacings.is_empty(), Ordering::Release);
        ended.map(|pacing| pacing.held)
    }

    /// Ends every pacing and removes held messages.
    pub(super) fn clear(&self) {
        self.by_template.lock().clear();
        self.is_any.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_messages_pass_and_the_first_held_one_names_the_result() {
        let pacings = Pacings::default();
        assert_eq!(pacings.step(1), Step::Passes);
        let within = Duration::from_secs(1);
        pacings.begin(1, Pace { after: 2, then: Some(Fate::Drop), within });
        let steps: Vec<_> = (0..4).map(|_| pacings.step(1)).collect();
        let begins = Step::BeginsHolding(within, Fate::Drop);
        assert_eq!(steps, [Step::Passes, Step::Passes, begins, Step::IsHeld]);
        assert_eq!(pacings.step(2), Step::Passes);
        assert!(pacings.end(1).is_some_and(|held| held.is_empty()));
        assert!(pacings.end(1).is_none());
        assert_eq!(pacings.step(1), Step::Passes);
    }
}
