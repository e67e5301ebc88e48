//! Decides when people are told of what happened to a subject, and when a mail that could not be sent is tried again.
//!
//! The state is an [`AlertThread`], which the store keeps: there is no other memory, so that a crash forgets nothing. Of a
//! subject, one mail goes in an hour, and in between the first one that says that it is better; everything else of the hour is
//! counted, and told together when the hour is over. The mails of a company have a gap, whatever they are about.

mod retry;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::retry::{GIVES_UP_AFTER, retry_at};
use clock::Timestamp;
use domain::alert::{AlertThread, AlertTurn, MOST_SHOWN};
use domain::event::log::Fact;

/// The time between two mails about one subject.
pub const HOLD: Duration = Duration::from_secs(60 * 60);
/// The time between two mails about one company.
pub const GAP: Duration = Duration::from_secs(60);

/// Takes a fact that turned this way into its state. `false` if nobody needs to be told of it.
pub fn hear(state: &mut AlertThread, fact: Fact, turn: AlertTurn, now: Timestamp) -> bool {
    let is_better = turn == AlertTurn::Better;
    if is_better && !state.is_troubled {
        return false;
    }
    state.is_troubled = !is_better && state.kind.can_end();
    // The trouble that ends was told: nothing of it waits.
    let is_first_end = is_better && state.due_at.is_none() && !state.told_better;
    let due = held(state, now).filter(|_| !is_first_end).unwrap_or(now);
    state.due_at = Some(state.due_at.map_or(due, |before| before.min(due)));
    state.since = Some(state.since.unwrap_or(fact.at));
    state.untold += 1;
    if state.facts.len() >= MOST_SHOWN {
        state.facts.remove(0);
    }
    state.facts.push(fact);
    true
}

/// Notes that mails with everything in the state are written to the outbox.
pub fn told(state: &mut AlertThread, now: Timestamp) {
    if held(state, now).is_some() {
        state.told_better = true;
    } else {
        state.held_until = Some(now.plus(HOLD));
        state.told_better = false;
    }
    state.untold = 0;
    state.since = None;
    state.due_at = None;
    state.told_at = Some(now);
    state.facts.clear();
}

/// Until when the state is held. After the clock was set back, the former time does not count.
fn held(state: &AlertThread, now: Timestamp) -> Option<Timestamp> {
    state.held_until.filter(|until| *until > now && *until <= now.plus(HOLD))
}

/// Whether a company whose last mail was written at `last` may have another one.
pub fn may_tell(last: Option<Timestamp>, now: Timestamp) -> bool {
    // After the clock was set back, mails do not wait for the former time.
    last.is_none_or(|last| last > now || last.plus(GAP) <= now)
}
