//! The ledger's answers to its callers: each caller is answered once, and truthfully.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::ledger::LedgerEvent;
use super::model::SendRow;
use super::values;
use super::web::Client;
use super::world::{Event, World};
use crate::channel::machine::{Input as ToChannel, LeaseLost};
use crate::handover::PendingReply;
use crate::ledger::machine::{Answer, Input};
use crate::ledger::{Accept, AcceptedSend, Activate, Error, Extend, Order, Written};
use crate::machine::Caller;
use domain::request::Skipped;
use domain::send::{Block, Recipients};
use store::conversations::Inbound;
use store::ledger::Receipt;

/// In the content of a send that the database refuses permanently.
pub(super) const REFUSED_CONTENT: &str = "the database refuses this";

/// A caller of the ledger, with its request.
pub(super) enum Asked {
    /// A client, for a send that is accepted whole.
    Accept(AcceptedSend),
    /// A client whose audience is written in parts: the last answer counts.
    Part(Part),
    /// A channel with a record.
    Record(usize),
    /// The provider with receipts for channels.
    Hear(Vec<(usize, Receipt)>),
    /// The provider with what a person wrote.
    Wrote(Box<Inbound>),
    /// A web session with receipts for its channel.
    HearSession(usize, Vec<Receipt>),
}

/// A send whose audience is written in parts.
pub(super) struct Part {
    send: AcceptedSend,
    /// The blocks that are not handed over yet.
    rest: VecDeque<Block>,
    /// The send counts once this is written.
    is_last: bool,
}

impl Asked {
    /// The caller in words, for the trace.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Accept(_) => "a client",
            Self::Part(_) => "a client that writes its audience in parts",
            Self::Record(_) => "a channel",
            Self::Hear(_) | Self::Wrote(_) => "the provider",
            Self::HearSession(..) => "a web session",
        }
    }
}

impl World {
    /// An id for a new send: greater than those before it, and of this moment.
    fn next_send_id(&mut self) -> Uuid {
        let wall = u64::try_from(self.clock.wall().millis()).unwrap_or(0);
        self.last_id_millis = self.last_id_millis.max(wall);
        let behind = (u128::from(self.figures.steps) << 40) | (self.dice.wide() >> 88);
        Uuid::from_u128((u128::from(self.last_id_millis) << 80) | behind)
    }

    /// A client hands a send over, some of them in parts.
    pub(super) fn submit(&mut self, order: Order, recipients: Recipients, blocks: Vec<Block>) {
        let id = self.next_send_id();
        let order = Arc::new(order);
        let send = AcceptedSend { id, order: Arc::clone(&order), recipients };
        if blocks.len() < 2 || self.dice.happens(500) {
            let parts = values::parts(&order, recipients, &blocks);
            let accept = Accept { blocks, parts, ..Accept::new(order, recipients, Skipped::default()) };
            self.ask_ledger(Asked::Accept(send), |caller| Input::Accept { id, accept, caller });
            return;
        }
        let mut rest = VecDeque::from(blocks);
        let first: Vec<_> = rest.pop_front().into_iter().collect();
        let so_far = Recipients::Blocks(first.iter().map(|block| block.recipients).sum());
        let parts = values::parts(&order, so_far, &first);
        let accept =
            Accept { blocks: first, parts, more: true, ..Accept::new(order, so_far, Skipped::default()) };
        let part = Part { send, rest, is_last: false };
        self.ask_ledger(Asked::Part(part), |caller| Input::Accept { id, accept, caller });
    }

    /// A client hands over a message of a web session, for which it waits.
    pub(super) fn submit_awaited(
        &mut self,
        order: Order,
        recipients: Recipients,
        pending_reply: &Arc<PendingReply>,
        client: Client,
    ) {
        let id = self.next_send_id();
        let order = Arc::new(order);
        let send = AcceptedSend { id, order: Arc::clone(&order), recipients };
        // The pending reply is found under the send's id before the send is written, as in the ledger's actor.
        pending_reply.accept(id);
        self.await_hand_over(id, client);
        let accept = Accept::new(order, recipients, Skipped::default());
        self.ask_ledger(Asked::Accept(send), |caller| Input::Accept { id, accept, caller });
    }

    /// A client whose audience is written in parts hands over the next one.
    pub(super) fn go_on_writing(&mut self, asked: Asked) {
        let Asked::Part(mut part) = asked else { return };
        let send_id = part.send.id;
        match part.rest.pop_front() {
            Some(block) => {
                let extend = {
                    let AcceptedSend { order, recipients, .. } = &part.send;
                    let blocks = vec![block];
                    let parts = values::parts(order, *recipients, &blocks);
                    Extend { send_id, company_id: order.company_id, blocks, parts }
                };
                self.ask_ledger(Asked::Part(part), |caller| Input::Extend { extend, caller });
            }
            None => {
                let activate = Activate::new(part.send.clone(), Skipped::default());
                part.is_last = true;
                self.ask_ledger(Asked::Part(part), |caller| Input::Activate { activate, caller });
            }
        }
    }

    /// The ledger answers a caller.
    pub(super) fn answer_caller(&mut self, caller: Caller, answer: Result<Answer, Error>) {
        let Some(process) = &mut self.process else { return };
        let Some(asked) = process.ledger.take(caller) else {
            return self.watch.break_("each caller of the ledger is answered once", format!("{caller:?}"));
        };
        match (asked, answer) {
            (Asked::Accept(send), Ok(Answer::Accepted(id))) if id == send.id => self.accepted_send(&send),
            (Asked::Accept(send), Err(error)) => self.refused_send(&send, error),
            (Asked::Part(part), Ok(Answer::Done)) if part.is_last => self.accepted_send(&part.send),
            (Asked::Part(part), Ok(Answer::Accepted(_) | Answer::Done)) => {
                let Some(process) = &self.process else { return };
                let (life, event) =
                    (process.life, Box::new(LedgerEvent::GoesOn(Box::new(Asked::Part(part)))));
                let wait = self.dice.time(Duration::ZERO, Duration::from_millis(20));
                self.after(wait, Event::Ledger { life, event });
            }
            (Asked::Part(part), Err(error)) => {
                // The written part is withdrawn.
                let send_id = part.send.id;
                self.refused_send(&part.send, error);
                self.withdraw_soon(send_id);
            }
            (Asked::Record(channel), Ok(Answer::Written(written))) => self.tell_written(channel, Ok(written)),
            // Any error means to the channel that nothing can be written any more.
            (Asked::Record(channel), Err(error)) => {
                if error != Error::Closed {
                    self.watch
                        .break_("the record of a channel is never given up", format!("{channel}: {error}"));
                }
                self.tell_written(channel, Err(LeaseLost));
            }
            (Asked::Hear(receipts), Ok(Answer::Done)) => {
                for (channel, receipt) in receipts {
                    self.tell_heard(channel, ToChannel::Heard(vec![(receipt.key, receipt.state)]));
                }
            }
            (Asked::Hear(receipts), Err(_)) => self.tell_again(receipts),
            (Asked::Wrote(message), Ok(Answer::Done)) => self.mail_was_taken(&message),
            (Asked::Wrote(message), Err(_)) => self.tell_mail_again(message),
            (Asked::HearSession(channel, receipts), Ok(Answer::Done)) => {
                let heard = receipts.iter().map(|receipt| (receipt.key, receipt.state));
                self.inform(channel, ToChannel::Heard(heard.collect()));
            }
            // A session reports a receipt once, so the engine retries the write.
            (Asked::HearSession(channel, receipts), Err(Error::Unavailable)) => {
                self.hear_session_again(channel, receipts);
            }
            (Asked::HearSession(..), Err(Error::Closed | Error::Refused)) => {}
            (asked, answer) => {
                let what = format!("{} is told {answer:?}", asked.word());
                self.watch.break_("each caller of the ledger hears its own answer", what);
            }
        }
    }

    /// A client reads that its send is accepted.
    fn accepted_send(&mut self, send: &AcceptedSend) {
        if !self.model.send(send.id).is_some_and(SendRow::is_accepted) {
            self.watch.break_("a send that is answered with 202 is in the store", send.id.to_string());
        }
        self.accepted(send);
        self.written_for_session(send.id, true);
    }

    /// A client reads that its send is not accepted.
    fn refused_send(&mut self, send: &AcceptedSend, error: Error) {
        if self.model.send(send.id).is_some_and(SendRow::is_accepted) {
            let what = format!("{}: {error}", send.id);
            self.watch.break_("a send that is answered with 503 is not in the store", what);
        }
        let is_refused = matches!(
            &send.order.content,
            domain::content::Content::Text { body, .. } if body == REFUSED_CONTENT
        );
        if error == Error::Refused && !is_refused {
            self.watch.break_("a row that the database refuses holds up no other", send.id.to_string());
        }
        self.watch.refused([send.id].into_iter());
        self.written_for_session(send.id, false);
    }

    fn withdraw_soon(&mut self, send_id: Uuid) {
        // The ledger is in the middle of its answers.
        self.withdrawn.push(send_id);
    }

    /// Clients whose sends failed have them withdrawn.
    pub(super) fn withdraw_sends(&mut self) {
        for send_id in std::mem::take(&mut self.withdrawn) {
            self.tell_ledger(Input::Withdraw(send_id));
        }
    }

    fn tell_written(&mut self, channel: usize, result: Result<Written, LeaseLost>) {
        let Some(process) = &self.process else { return };
        let (life, input) = (process.life, Box::new(ToChannel::Written(result)));
        let wait = Duration::from_micros(self.dice.below(300));
        // The machine counts on this answer since it handed the record over.
        self.after(wait, Event::Tell { life, channel, input, is_answer: true });
    }

    /// The provider repeats receipts that were not accepted.
    pub(super) fn tell_again(&mut self, receipts: Vec<(usize, Receipt)>) {
        for (channel, receipt) in receipts {
            let wait = self.dice.time(Duration::from_secs(1), Duration::from_secs(20));
            self.after(wait, Event::Webhook { channel, receipt: Box::new(receipt) });
        }
    }
}
