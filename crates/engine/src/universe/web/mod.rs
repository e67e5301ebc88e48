//! Web sessions in the world: the [supervisor] with the engine's own machine, the [phones](phone) and WhatsApp Web
//! behind them, [clients] who wait until their message is handed over, and [people](actions) with a phone in their
//! hand.

mod acks;
mod actions;
mod clients;
mod keys;
mod pairing;
mod phone;
mod plan;
mod sending;
mod supervisor;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use self::actions::Action;
pub(super) use self::clients::Client;
use self::clients::{Asking, Letting};
pub(super) use self::keys::Keys;
use self::phone::{Phone, Session, SessionStep};
pub(super) use self::plan::add as plan;
use self::sending::Flight;
use self::supervisor::Supervisor;
use super::plan::Plan;
use super::world::{Event, World};
use crate::machine::Caller;
use domain::channel::Kind;
use driver::AckState;
use store::ledger::Receipt;

/// Something that happens to web sessions.
pub(super) enum WebEvent {
    /// A supervisor does what its machine waits for.
    Does { channel: usize, supervisor: u64, doing: Box<supervisor::Doing> },
    /// A machine asked to be woken now.
    Wakes { channel: usize },
    /// A session goes on.
    Step { session: u64, step: SessionStep },
    /// An admitted message is written.
    LetIn(Box<Letting>),
    /// A message is handed over.
    HandsOver { send_id: Uuid },
    /// The first acknowledgement of a message did not come in time.
    NoWord { send_id: Uuid, flight: u64 },
    /// A caller waits no longer.
    TimeOut { send_id: Uuid },
    /// Receipts that the ledger did not take are handed to it again.
    HearAgain { channel: usize, receipts: Vec<Receipt> },
    /// WhatsApp tells the state of a message to the session that is connected then.
    Receipt { channel: usize, send_id: Uuid, state: AckState },
    /// A person does something with a phone.
    Person { channel: usize, action: Action },
}

/// The part that outlives processes: the phones, WhatsApp, and the sessions' records.
pub(super) struct Web {
    phones: BTreeMap<usize, Phone>,
    pub(super) keys: Keys,
    /// Sessions, flights and supervisors so far.
    numbers: u64,
    /// How long a caller waits until its message is handed over.
    patience: Duration,
}

/// A process's part of web sessions.
#[derive(Default)]
pub(super) struct InProcess {
    supervisors: BTreeMap<usize, Supervisor>,
    /// The sessions that messages go out through, by channel.
    handles: BTreeMap<usize, u64>,
    sessions: BTreeMap<u64, Session>,
    flights: BTreeMap<Uuid, Flight>,
    asking: BTreeMap<Caller, Asking>,
    clients: BTreeMap<Uuid, Client>,
}

impl Web {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut web =
            Self { phones: BTreeMap::new(), keys: Keys::default(), numbers: 0, patience: plan.web_patience };
        let sessions = plan.channels.iter().enumerate().filter(|(_, it)| it.kind == Kind::WebSession);
        for (channel, record) in sessions {
            let is_linked = record.linked_at.is_some();
            if is_linked {
                web.keys.link(channel, 0);
            }
            web.phones.insert(channel, Phone::new(channel, is_linked.then_some(0)));
        }
        web
    }

    /// The number of a new session, flight or supervisor.
    const fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

impl World {
    /// Plans something for the web sessions of the process.
    fn after_for_web(&mut self, wait: Duration, event: WebEvent) {
        let Some(process) = &self.process else { return };
        let life = Some(process.life);
        self.after(wait, Event::Web { life, event: Box::new(event) });
    }

    /// Plans something that does not depend on the process.
    fn after_anyway(&mut self, wait: Duration, event: WebEvent) {
        self.after(wait, Event::Web { life: None, event: Box::new(event) });
    }

    pub(super) fn is_web(&self, channel: usize) -> bool {
        self.channels[channel].kind == Kind::WebSession
    }

    /// Something happens to web sessions.
    pub(super) fn web_event(&mut self, event: WebEvent) {
        match event {
            WebEvent::Does { channel, supervisor, doing } => {
                self.supervisor_does(channel, supervisor, *doing);
            }
            WebEvent::Wakes { channel } => self.run_supervisor(channel),
            WebEvent::Step { session, step } => self.session_step(session, step),
            WebEvent::LetIn(letting) => self.let_in(*letting),
            WebEvent::HandsOver { send_id } => self.hand_over(send_id),
            WebEvent::NoWord { send_id, flight } => self.no_word(send_id, flight),
            WebEvent::TimeOut { send_id } => self.time_out(send_id),
            WebEvent::HearAgain { channel, receipts } => self.hear_session(channel, receipts),
            WebEvent::Receipt { channel, send_id, state } => self.tell_ack(channel, send_id, state),
            WebEvent::Person { channel, action } => self.person_with_phone(channel, action),
        }
    }

    /// The process is gone, and with it its connections.
    pub(super) fn drop_sessions(&mut self) {
        for phone in self.web.phones.values_mut() {
            phone.open = None;
        }
    }
}
