//! Messages on their way through a session: the hand-over, up to the first acknowledgement of WhatsApp's server.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::super::world::{Event, World};
use super::WebEvent;
use crate::channel::machine::{Answered, Attempt, Input as ToChannel, WebAttempt};
use crate::handover::{HandOver, HandedOver, PendingReply, Slot};
use connectors::{Disposition, Reply};
use domain::message::Failure;
use driver::{AckState, Built, Jid, MessageId, RESTRICTED, Sent};

/// How long WhatsApp's server may take to say that it has a message.
const WORD_PATIENCE: Duration = Duration::from_secs(20);

/// A message that is being handed over.
pub(super) struct Flight {
    number: u64,
    channel: usize,
    /// `None` when there is none.
    session: Option<u64>,
    attempt: Attempt,
    pending_reply: Option<Arc<PendingReply>>,
    slot: Option<Slot<Uuid>>,
    /// It was handed over, and the first acknowledgement is awaited.
    is_awaited: bool,
}

impl World {
    /// A channel hands a message to its session.
    pub(in crate::universe) fn attempt_in_session(&mut self, channel: usize, mut attempt: Attempt) {
        let send_id = attempt.ticket.send_id;
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(300));
        let number = self.web.number();
        let Some(process) = &mut self.process else { return };
        process.channels[channel].under_way += 1;
        let session = process.web.handles.get(&channel).copied();
        let (pending_reply, slot) = match attempt.web.take().map(|web| *web) {
            Some(WebAttempt { pending_reply, slot }) => (pending_reply, Some(slot)),
            None => (None, None),
        };
        let flight = Flight { number, channel, session, attempt, pending_reply, slot, is_awaited: false };
        process.web.flights.insert(send_id, flight);
        self.after_for_web(wait, WebEvent::HandsOver { send_id });
    }

    /// The channel gets the reply to the attempt.
    fn conclude(&mut self, send_id: Uuid, reply: Reply) {
        let Some(process) = &mut self.process else { return };
        let Some(flight) = process.web.flights.remove(&send_id) else { return };
        let Flight { channel, attempt: Attempt { ticket, generation, started, .. }, .. } = flight;
        let input = Box::new(ToChannel::Answered(Answered { ticket, generation, reply, started }));
        let event = Event::Tell { life: process.life, channel, input, is_answer: true };
        let wait = Duration::from_micros(self.dice.below(300));
        self.after(wait, event);
    }

    /// The session hands the message over, or cannot.
    pub(super) fn hand_over(&mut self, send_id: Uuid) {
        let breaks = self.goes_wrong(self.plan.trouble.reply_lost);
        let (wall, now) = (self.clock.wall(), self.clock.elapsed());
        let Some(process) = &self.process else { return };
        let Some(&Flight { session, channel, number, .. }) = process.web.flights.get(&send_id) else {
            return;
        };
        let is_connected =
            session.and_then(|it| process.web.sessions.get(&it)).is_some_and(|it| it.is_connected);
        if !is_connected {
            return self.conclude(send_id, Reply::NotSent(words("the session is not connected")));
        }
        let is_taken = !breaks || self.dice.happens(500);
        let (holds, cap) = (self.watch.holds(channel), self.largest_cap(channel));
        let Some(process) = &mut self.process else { return };
        let Some(flight) = process.web.flights.get_mut(&send_id) else { return };
        // It was handed over, or may have been.
        if let Some(slot) = flight.slot.take() {
            slot.keep(wall);
        }
        let (key, recipient) = (flight.attempt.ticket.key(), flight.attempt.ticket.recipient);
        self.watch.provider_decided(key, !breaks, holds);
        if is_taken {
            self.provider.take(key);
            self.figures.handed_over += 1;
            self.watch.handed_over(channel, send_id, cap, now);
        }
        flight.is_awaited = !breaks;
        let pending_reply = flight.pending_reply.take();
        if breaks {
            return self.conclude(send_id, Reply::Uncertain(words("the connection broke meanwhile")));
        }
        if let (Some(pending_reply), Some(recipient)) = (pending_reply, recipient) {
            let sent =
                Sent { to: Jid::person(recipient), id: MessageId::of_send(send_id), built: Built::Text };
            let text = Some("hello".to_owned());
            let handed_over = HandedOver { send_id, sent, text, ignored: Vec::new(), at: wall };
            // Otherwise the caller who waits notes it.
            if pending_reply.keeps_turn() && pending_reply.is_to_stranger() {
                self.web.keys.note_sent(channel, recipient, wall);
                self.watch_strangers(channel);
            }
            pending_reply.tell(HandOver::Done(Box::new(handed_over)), wall);
        }
        self.after_for_web(WORD_PATIENCE, WebEvent::NoWord { send_id, flight: number });
        if let Some(session) = session {
            self.plan_acks(channel, session, send_id);
        }
    }

    /// Passes the first acknowledgement of a message to the attempt that waits for it. Returns whether one does.
    pub(super) fn first_word(&mut self, send_id: Uuid, state: AckState) -> bool {
        let flights = self.process.as_ref().map(|process| &process.web.flights);
        if !flights.and_then(|flights| flights.get(&send_id)).is_some_and(|flight| flight.is_awaited) {
            return false;
        }
        let reply = match state {
            AckState::Refused { code } => {
                let sentence = if code == Some(RESTRICTED) { "the account is restricted" } else { "refused" };
                let failure = Failure { code, sentence: sentence.to_owned() };
                Reply::Refused { disposition: Disposition::Fail, failure, retry_after: None }
            }
            _ => Reply::Accepted { id: MessageId::of_send(send_id).as_str().to_owned(), known_as: None },
        };
        self.conclude(send_id, reply);
        true
    }

    /// WhatsApp did not say in time whether it has a message.
    pub(super) fn no_word(&mut self, send_id: Uuid, number: u64) {
        let flights = self.process.as_ref().map(|process| &process.web.flights);
        let flight = flights.and_then(|flights| flights.get(&send_id));
        if flight.is_some_and(|flight| flight.number == number) {
            self.doubt(send_id, "WhatsApp did not say in time whether it has the message");
        }
    }

    /// The outcome of this message is unknown.
    fn doubt(&mut self, send_id: Uuid, sentence: &str) {
        let flights = self.process.as_ref().map(|process| &process.web.flights);
        let Some(flight) = flights.and_then(|flights| flights.get(&send_id)) else { return };
        let holds = self.watch.holds(flight.channel);
        self.watch.provider_decided(flight.attempt.ticket.key(), false, holds);
        self.conclude(send_id, Reply::Uncertain(words(sentence)));
    }

    /// Senders do not reach the session any more, and get no acknowledgements.
    pub(super) fn close_handle(&mut self, channel: usize) {
        let Some(process) = &mut self.process else { return };
        process.web.handles.remove(&channel);
        let awaited = process.web.flights.iter().filter(|(_, it)| it.channel == channel && it.is_awaited);
        for send_id in awaited.map(|(send_id, _)| *send_id).collect::<Vec<_>>() {
            self.doubt(send_id, "the session ended before WhatsApp said that it has the message");
        }
    }
}

fn words(sentence: &str) -> Failure {
    Failure { code: None, sentence: sentence.to_owned() }
}
