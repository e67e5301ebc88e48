//! Clients of web sessions: each waits until its message is handed over, and reads how that ended.

use std::time::Duration;

use futures_util::FutureExt as _;
use uuid::Uuid;

use super::super::world::World;
use super::WebEvent;
use crate::channel::machine::{Admit, Input as ToChannel, TooSoon};
use crate::handover::{Admitted, HandOver, Render, Wait};
use crate::ledger::Order;
use crate::machine::Caller;
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::send::{Label, Recipients, Schedule};
use driver::Jid;
use telemetry::Origin;

/// How long after the expiry of its send a caller leaves.
const AFTERWARDS: Duration = Duration::from_secs(30);
/// How long after the expiry of its send a caller is answered at the latest, if nothing holds it up.
const TOLD: Duration = Duration::from_secs(25);

/// A message whose caller asked for its admission.
pub(super) struct Asking {
    number: PhoneNumber,
    is_stranger: bool,
}

/// An admitted message.
pub(in crate::universe) struct Letting {
    channel: usize,
    number: PhoneNumber,
    is_stranger: bool,
    admitted: Admitted,
}

/// A caller who waits.
pub(in crate::universe) struct Client {
    channel: usize,
    number: PhoneNumber,
    is_stranger: bool,
    wait: Wait,
    /// When it handed its message in: the expiry is computed from the wall clock of that moment.
    handed_in: Duration,
    /// When it handed its message in or, later, when that was written.
    since: Duration,
    /// Its send is written.
    is_written: bool,
    /// It leaves once its send is written: the message keeps its turn.
    leaves: bool,
}

impl World {
    /// A client sends a message through a web session.
    pub(in crate::universe) fn write_to_one(&mut self, channel: usize) {
        let number = self.person();
        let (now, patience) = (self.clock.elapsed(), self.web.patience);
        let is_stranger = self.web.keys.is_stranger(channel, number);
        let Some(process) = self.process.as_mut().filter(|process| process.stands_until <= now) else {
            return;
        };
        // Without a session that can send, nothing is written.
        let session = process.web.handles.get(&channel).and_then(|number| process.web.sessions.get(number));
        let is_there =
            session.is_some_and(|session| session.is_connected || process.channels[channel].shown.accepts());
        if !is_there {
            return;
        }
        process.callers += 1;
        let caller = Caller(process.callers);
        process.web.asking.insert(caller, Asking { number, is_stranger });
        let stranger = is_stranger.then_some(number);
        let admit = Admit { stranger, patience, tried: None };
        self.inform(channel, ToChannel::Admit { admit, caller });
    }

    /// The channel admits a message, or says that it is too soon.
    pub(in crate::universe) fn admission(
        &mut self,
        channel: usize,
        caller: Caller,
        answer: Result<Admitted, TooSoon>,
    ) {
        let Some(process) = &mut self.process else { return };
        let Some(Asking { number, is_stranger }) = process.web.asking.remove(&caller) else {
            let what = format!("channel {channel}, {caller:?}");
            return self.watch.break_("each message that asks to be let in is answered once", what);
        };
        let Ok(admitted) = answer else { return };
        // The session is asked whether the number is on WhatsApp.
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(300));
        let letting = Box::new(Letting { channel, number, is_stranger, admitted });
        self.after_for_web(wait, WebEvent::LetIn(letting));
    }

    /// An admitted message is written.
    pub(super) fn let_in(&mut self, letting: Letting) {
        let Letting { channel, number, is_stranger, admitted } = letting;
        if self.goes_wrong(self.plan.trouble.undeliverable) {
            // The number is not on WhatsApp.
            return;
        }
        let Some(process) = &self.process else { return };
        let pending_replies = process.common.pending_replies.clone();
        let record = &self.channels[channel];
        let to = Jid::person(number);
        // Decided without the dice, so that the story of a world stays the same.
        let keeps_turn = self.figures.steps.is_multiple_of(3);
        let (pending_reply, wait) = if keeps_turn {
            pending_replies.begin_kept(record.id, to, None, admitted)
        } else {
            let answer: (Render, Vec<String>) = (|handed_over| handed_over.send_id.to_string(), Vec::new());
            pending_replies.begin(record.id, to, None, admitted, answer)
        };
        let order = Order {
            company_id: record.company_id,
            channel_id: record.id,
            content: Content::Text { body: "hello".to_owned(), preview_url: None },
            group: None,
            quotes: None,
            sender: None,
            template: None,
            schedule: Schedule { send_at: None, expires_at: Some(self.clock.wall().plus(self.web.patience)) },
            label: Label::default(),
            personal: None,
            sources: Vec::new(),
            claim: None,
            is_awaited: !keeps_turn,
            keeps_turn,
            confirms: false,
            origin: Origin::default(),
        };
        let since = self.clock.elapsed();
        let client = Client {
            channel,
            number,
            is_stranger,
            wait,
            handed_in: since,
            since,
            is_written: false,
            leaves: keeps_turn,
        };
        self.submit_awaited(order, Recipients::One(number), &pending_reply, client);
    }

    /// Registers the client of a send, which waits from before the send is written.
    pub(in crate::universe) fn await_hand_over(&mut self, send_id: Uuid, client: Client) {
        if let Some(process) = &mut self.process {
            process.web.clients.insert(send_id, client);
        }
    }

    /// The ledger said whether the send is written.
    pub(in crate::universe) fn written_for_session(&mut self, send_id: Uuid, is_written: bool) {
        let now = self.clock.elapsed();
        let Some(process) = &mut self.process else { return };
        if !is_written {
            if process.web.clients.remove(&send_id).is_some() {
                self.watch.told_error(send_id);
            }
            return;
        }
        if process.web.clients.get(&send_id).is_some_and(|client| client.leaves) {
            if let Some(client) = process.web.clients.remove(&send_id) {
                client.wait.leave();
            }
            return;
        }
        if let Some(client) = process.web.clients.get_mut(&send_id) {
            (client.is_written, client.since) = (true, now);
            let wait = self.web.patience + AFTERWARDS;
            self.after_for_web(wait, WebEvent::TimeOut { send_id });
        }
    }

    /// Clients read how their messages ended.
    pub(in crate::universe) fn read_ends(&mut self) {
        let Some(process) = &mut self.process else { return };
        let mut told = Vec::new();
        for (send_id, client) in process.web.clients.iter_mut().filter(|(_, client)| client.is_written) {
            if let Some(end) = client.wait.end().now_or_never() {
                told.push((*send_id, end));
            }
        }
        for (send_id, end) in told {
            let clients = self.process.as_mut().map(|process| &mut process.web.clients);
            let Some(client) = clients.and_then(|clients| clients.remove(&send_id)) else { continue };
            if self.watch.is_traced() {
                self.watch.trace(&self.clock, &format!("    the client of {send_id} reads {end:?}"));
            }
            self.watch_told(&client);
            match end {
                HandOver::Done(_) => {
                    if !self.watch.was_handed_over(send_id) {
                        let what = send_id.to_string();
                        self.watch
                            .break_("a message that a caller reads as handed over was handed over", what);
                    }
                    let Client { channel, number, is_stranger, .. } = client;
                    if is_stranger && !self.goes_wrong(self.plan.trouble.read_fails) {
                        self.web.keys.note_sent(channel, number, self.clock.wall());
                        self.watch_strangers(channel);
                    }
                }
                HandOver::Failed(_) | HandOver::TooLate(_) | HandOver::Canceled | HandOver::Stopping => {
                    self.watch.told_error(send_id);
                }
                HandOver::Unknown => {}
            }
        }
    }

    /// Checks that a caller whom nothing holds up is answered in time.
    fn watch_told(&mut self, client: &Client) {
        let now = self.clock.elapsed();
        let is_late = client.since + self.web.patience + TOLD < now;
        if is_late && !self.watch.was_upset_since(client.handed_in) {
            let what = format!("channel {}: it waited {:?}", client.channel, now - client.since);
            self.watch.break_("a caller who waits is answered in bounded time", what);
        }
    }

    /// A caller waits no longer.
    pub(super) fn time_out(&mut self, send_id: Uuid) {
        let Some(process) = &mut self.process else { return };
        if let Some(client) = process.web.clients.remove(&send_id) {
            self.watch_told(&client);
        }
    }
}
