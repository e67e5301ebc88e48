//! The events of sends, a byte for each message: a test may have millions.

use std::collections::HashMap;

use uuid::Uuid;

use domain::message::State;

/// The states of a message that have an event. The place of a state is its bit.
const STATES: [State; 8] = [
    State::Sent,
    State::Delivered,
    State::Read,
    State::Failed,
    State::Expired,
    State::Canceled,
    State::Unknown,
    State::Suppressed,
];
/// More messages than a send of a load test has.
const MOST_MESSAGES: u64 = 1 << 24;

/// What an event of a send says: its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventName {
    /// A message reached a state.
    Message { send: Uuid, ordinal: u64, state: State },
    /// The send is over.
    End { send: Uuid },
}

/// Events of sends, each once.
#[derive(Debug, Default)]
pub(super) struct EventSet(HashMap<Uuid, SendEvents>);

/// The events of one send.
#[derive(Debug, Default)]
struct SendEvents {
    /// The states that each message reached, by its position in the send.
    messages: Vec<u8>,
    has_end: bool,
}

impl EventName {
    /// Reads the id of an event; `None` for an event that is of no send.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (send, rest) = id.split_once('.')?;
        let send = Uuid::try_parse(send).ok()?;
        let Some((ordinal, word)) = rest.split_once('.') else {
            return matches!(rest, "finished" | "canceled" | "expired").then_some(Self::End { send });
        };
        let ordinal = ordinal.parse::<u64>().ok().filter(|ordinal| *ordinal < MOST_MESSAGES)?;
        let state = State::from_word(word).filter(|state| bit(*state) > 0)?;
        Some(Self::Message { send, ordinal, state })
    }

    pub(super) const fn send(self) -> Uuid {
        match self {
            Self::Message { send, .. } | Self::End { send } => send,
        }
    }
}

impl EventSet {
    /// Adds an event. Returns whether it was not there.
    pub(super) fn add(&mut self, name: EventName) -> bool {
        let events = self.0.entry(name.send()).or_default();
        match name {
            EventName::End { .. } => !std::mem::replace(&mut events.has_end, true),
            EventName::Message { ordinal, state, .. } => {
                let place = usize::try_from(ordinal).unwrap_or_default();
                if events.messages.len() <= place {
                    events.messages.resize(place + 1, 0);
                }
                let is_new = events.messages[place] & bit(state) == 0;
                events.messages[place] |= bit(state);
                is_new
            }
        }
    }

    /// How many events there are.
    pub(super) fn len(&self) -> u64 {
        self.missing_in(&Self::default())
    }

    /// How many of these events `other` does not have.
    pub(super) fn missing_in(&self, other: &Self) -> u64 {
        let nothing = SendEvents::default();
        let missing = |(send, events): (&Uuid, &SendEvents)| {
            let there = other.0.get(send).unwrap_or(&nothing);
            let has = |place: usize| there.messages.get(place).copied().unwrap_or_default();
            let messages = events.messages.iter().enumerate();
            let messages = messages.map(|(place, states)| u64::from((states & !has(place)).count_ones()));
            messages.sum::<u64>() + u64::from(events.has_end && !there.has_end)
        };
        self.0.iter().map(missing).sum()
    }

    /// Whether there is the event of the end of this send.
    pub(super) fn has_end(&self, send: Uuid) -> bool {
        self.0.get(&send).is_some_and(|events| events.has_end)
    }

    /// How many messages of a send reached a state of at least this rank.
    pub(super) fn reached(&self, send: Uuid, rank: u8) -> u64 {
        let wanted = STATES.into_iter().filter(|state| state.rank() >= rank).map(bit).sum::<u8>();
        let messages = self.0.get(&send).map(|events| events.messages.iter());
        messages.into_iter().flatten().filter(|states| **states & wanted > 0).count() as u64
    }
}

/// 0 for a state that has no event.
fn bit(state: State) -> u8 {
    STATES.iter().position(|known| *known == state).map_or(0, |place| 1_u8 << place)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::events) fn send() -> Uuid {
        Uuid::from_u128(7)
    }

    pub(in crate::events) fn moved(ordinal: u64, state: State) -> EventName {
        EventName::Message { send: send(), ordinal, state }
    }

    #[test]
    fn the_id_of_an_event_says_what_it_is_about() {
        let simple = send().simple();
        for state in STATES {
            let id = format!("{simple}.12.{}", state.as_str());
            assert_eq!(EventName::parse(&id), Some(moved(12, state)), "{id}");
        }
        let end = Some(EventName::End { send: send() });
        assert_eq!(EventName::parse(&format!("{simple}.finished")), end);
        for other in
            ["example.1.sent".to_owned(), format!("{simple}.1.queued"), format!("{simple}.1700000000.7")]
        {
            assert_eq!(EventName::parse(&other), None, "{other}");
        }
        assert_eq!(EventName::parse(&format!("{simple}.99999999999.sent")), None);
    }

    #[test]
    fn events_are_counted_once_and_missing_ones_are_found() {
        let (mut all, mut some) = (EventSet::default(), EventSet::default());
        for ordinal in 0..3 {
            for state in [State::Sent, State::Read] {
                assert!(all.add(moved(ordinal, state)));
                // The newest message was not read.
                if (ordinal, state) != (2, State::Read) {
                    some.add(moved(ordinal, state));
                }
            }
        }
        assert!(all.add(EventName::End { send: send() }) && !all.add(EventName::End { send: send() }));
        assert!(!all.add(moved(1, State::Sent)), "it was there");
        assert_eq!((all.len(), some.len(), all.missing_in(&some)), (7, 5, 2));
        assert_eq!((some.missing_in(&all), all.missing_in(&all)), (0, 0));
        assert!(all.has_end(send()) && !some.has_end(send()));
    }

    #[test]
    fn a_message_has_reached_all_states_below_its_highest() {
        let mut set = EventSet::default();
        for (ordinal, state) in [
            (0, State::Sent),
            (0, State::Read),
            (1, State::Delivered),
            (2, State::Failed),
            (3, State::Unknown),
        ] {
            set.add(moved(ordinal, state));
        }
        let reached = |state: State| set.reached(send(), state.rank());
        let reached =
            [State::Read, State::Delivered, State::Failed, State::Sent, State::Unknown].map(reached);
        assert_eq!(reached, [1, 2, 3, 3, 4]);
        assert_eq!(set.reached(Uuid::nil(), 0), 0);
    }
}
