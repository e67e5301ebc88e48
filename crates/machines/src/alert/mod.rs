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

/// Takes a fact that turned this way into its thread. `false` if nobody needs to be told of it.
pub fn hear(thread: &mut AlertThread, fact: Fact, turn: AlertTurn, now: Timestamp) -> bool {
    let is_better = turn == AlertTurn::Better;
    if is_better && !thread.is_troubled {
        return false;
    }
    thread.is_troubled = !is_better;
    // The trouble that ends was told: nothing of it waits.
    let is_first_end = is_better && thread.due_at.is_none() && !thread.told_better;
    let due = held(thread, now).filter(|_| !is_first_end).unwrap_or(now);
    thread.due_at = Some(thread.due_at.map_or(due, |before| before.min(due)));
    thread.since = Some(thread.since.unwrap_or(fact.at));
    thread.untold += 1;
    if thread.facts.len() >= MOST_SHOWN {
        thread.facts.remove(0);
    }
    thread.facts.push(fact);
    true
}

/// Notes that mails with everything in the thread are written to the outbox.
pub fn told(thread: &mut AlertThread, now: Timestamp) {
    if held(thread, now).is_some() {
        thread.told_better = true;
    } else {
        thread.held_until = Some(now.plus(HOLD));
        thread.told_better = false;
    }
    thread.untold = 0;
    thread.since = None;
    thread.due_at = None;
    thread.told_at = Some(now);
    thread.facts.clear();
}

/// Until when the thread is held. After the clock was set back, the former time does not count.
fn held(thread: &AlertThread, now: Timestamp) -> Option<Timestamp> {
    thread.held_until.filter(|until| *until > now && *until <= now.plus(HOLD))
}

/// Whether a company whose last mail was written at `last` may have another one.
pub fn may_tell(last: Option<Timestamp>, now: Timestamp) -> bool {
    // After the clock was set back, mails do not wait for the former time.
    last.is_none_or(|last| last > now || last.plus(GAP) <= now)
}
