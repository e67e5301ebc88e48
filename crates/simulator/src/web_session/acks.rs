//! The outcomes of messages after they are handed over: decided at once, reported later.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::time::Instant;

use super::options::WebSessionOptions;
use super::people::{self, Fate};
use driver::{AckState, Jid, MessageId};

/// The maximum number of pending acks of a device; further ones are dropped. They take some 3 MB of memory.
const MOST_WAITING: usize = 16_384;

/// A pending ack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) id: MessageId,
    pub(super) state: AckState,
    pub(super) from: Option<Jid>,
}

/// The acks of one device, by their time.
pub(super) struct PendingAcks {
    by_time: BTreeMap<(Instant, u64), Due>,
    serial: u64,
    chance: SmallRng,
}

impl PendingAcks {
    pub(super) fn new(seed: u64) -> Self {
        Self { by_time: BTreeMap::new(), serial: 0, chance: SmallRng::seed_from_u64(seed) }
    }

    /// Decides the outcome of a message that was handed over now. Returns how many of its acks were dropped.
    pub(super) fn add(
        &mut self,
        id: &MessageId,
        to: &Jid,
        is_played: bool,
        options: &WebSessionOptions,
        now: Instant,
    ) -> u64 {
        let (mut at, mut lost) = (now, 0);
        for (within, state, from) in course(to, is_played, options) {
            at += self.part_of(within);
            if self.by_time.len() == MOST_WAITING {
                lost += 1;
                continue;
            }
            self.serial += 1;
            self.by_time.insert((at, self.serial), Due { id: id.clone(), state, from });
        }
        lost
    }

    /// When the next one is due.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next one, if its time has come.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        let first = self.by_time.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    fn part_of(&mut self, within: Duration) -> Duration {
        if within.is_zero() { within } else { within.mul_f64(self.chance.random_range(0.25..=1.0)) }
    }
}

/// The states of a message, in order, with the longest time from one to the next.
fn course(to: &Jid, is_played: bool, options: &WebSessionOptions) -> Vec<(Duration, AckState, Option<Jid>)> {
    let server = |state| (options.server_within, state, None);
    let mut course = match people::fate(to) {
        Fate::Refused(code) => return vec![server(AckState::Refused { code: Some(code) })],
        Fate::NoGroup | Fate::Nobody => return vec![server(AckState::Server)],
        Fate::Arrives => vec![server(AckState::Server)],
    };
    let steps = [
        (options.delivered_within, AckState::Delivered),
        (options.read_within, AckState::Read),
        (options.played_within, AckState::Played),
    ];
    let steps = steps.into_iter().filter(|(_, state)| is_played || *state != AckState::Played);
    for (within, state) in steps {
        course.extend(people::receivers(to).into_iter().map(|person| (within, state, Some(person))));
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(to: &str, is_played: bool) -> Vec<AckState> {
        let course = course(&Jid::parse(to).unwrap(), is_played, &WebSessionOptions::default());
        course.into_iter().map(|(_, state, _)| state).collect()
    }

    #[test]
    fn the_recipient_decides_how_far_a_message_gets() {
        use AckState::{Delivered, Played, Read, Refused, Server};
        assert_eq!(states("999900000001@s.whatsapp.net", false), [Server, Delivered, Read]);
        assert_eq!(states("999900000001@s.whatsapp.net", true), [Server, Delivered, Read, Played]);
        assert_eq!(states("999900000000@s.whatsapp.net", true), [Server]);
        assert_eq!(states("999900000463@s.whatsapp.net", false), [Refused { code: Some(463) }]);
        assert_eq!(states("120363000000000001@g.us", false), [Server, Delivered, Delivered, Read, Read]);
    }

    #[test]
    fn acks_come_at_random_times_in_their_order_and_the_same_seed_gives_the_same_times() {
        let (to, id) = (Jid::parse("999900000001@s.whatsapp.net").unwrap(), MessageId::generate());
        let (options, now) = (WebSessionOptions::lifelike(), Instant::now());
        let times = |seed| {
            let mut pending = PendingAcks::new(seed);
            pending.add(&id, &to, true, &options, now);
            let all: Vec<_> = pending.by_time.iter().map(|((at, _), due)| (*at, due.state)).collect();
            all
        };
        let all = times(1);
        assert_eq!(all, times(1));
        assert_ne!(all, times(2));
        let order: Vec<_> = all.iter().map(|(_, state)| *state).collect();
        assert_eq!(order, [AckState::Server, AckState::Delivered, AckState::Read, AckState::Played]);
        assert!(all[0].0 >= now + options.server_within / 4 && all[0].0 <= now + options.server_within);
    }

    #[test]
    fn no_ack_is_due_early_and_dropped_acks_are_counted() {
        let (to, now) = (Jid::parse("999900000000@s.whatsapp.net").unwrap(), Instant::now());
        let later = WebSessionOptions { server_within: Duration::from_secs(4), ..Default::default() };
        let mut pending = PendingAcks::new(1);
        let lost: u64 =
            (0..=MOST_WAITING).map(|_| pending.add(&MessageId::generate(), &to, false, &later, now)).sum();
        assert_eq!((lost, pending.due(now)), (1, None));
        assert!(pending.due(now + later.server_within).is_some());
    }
}
