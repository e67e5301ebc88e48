//! What sessions hear of messages and people, taken in: receipts go to the ledger, LIDs to contacts.
//!
//! One task for all sessions, so that many receipts make one commit. A receipt names its message by the id that
//! we gave it, which leads to its send.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::connector::web_session::{Ack, AckState, Jid, MessageId};
use crate::domain::message::{Failure, Key, State};
use crate::domain::phone::PhoneNumber;
use crate::engine::Engine;
use crate::engine::channel::Heard;
use crate::engine::ledger::{self, Hear};
use crate::engine::upkeep::rounds::caught;
use crate::store::ledger::Receipt;

/// What waits to be taken in. Sessions queue what is beyond.
const WAITING: usize = 4_096;
/// How much is taken in at once.
const AT_ONCE: usize = 512;
/// Delay before a failed write is retried.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Messages of which it is remembered which send they are: receipts of one come within moments.
const REMEMBERED: usize = 8_192;

/// What a session heard.
#[derive(Debug)]
pub(in crate::engine) enum News {
    /// The outcome of a message.
    Ack(Ack),
    /// The address that hides a number.
    Lid(PhoneNumber, Jid),
    /// This person wrote to the session.
    Inbound(PhoneNumber),
}

/// What is told.
pub(crate) enum Item {
    /// What the session of a channel heard.
    Heard { company: Uuid, channel: Uuid, news: News },
    /// All before this is to be taken in, which is answered.
    Mark(oneshot::Sender<()>),
}

/// Where it is told.
#[derive(Clone)]
pub(crate) struct Tell(mpsc::Sender<Item>);

/// Where it is taken in; see [`Engine::take_in`].
pub(crate) struct Told(mpsc::Receiver<Item>);

/// The way of events from sessions to their receiver.
pub(crate) fn told() -> (Tell, Told) {
    let (tell, told) = mpsc::channel(WAITING);
    (Tell(tell), Told(told))
}

impl Tell {
    /// Hands it on; waits while too much is on its way.
    pub(super) async fn tell(&self, company: Uuid, channel: Uuid, news: News) {
        // Nobody takes it in any more when the engine has ended.
        let _ = self.0.send(Item::Heard { company, channel, news }).await;
    }

    /// Waits until everything that was told before is taken in.
    pub(super) async fn is_taken_in(&self) {
        let (mark, marked) = oneshot::channel();
        if self.0.send(Item::Mark(mark)).await.is_ok() {
            let _ = marked.await;
        }
    }
}

impl Engine {
    /// Takes in what sessions heard, until the engine ends.
    pub(crate) async fn take_in(self, mut told: Told) {
        let (mut items, mut known) = (Vec::with_capacity(AT_ONCE), HashMap::new());
        while told.0.recv_many(&mut items, AT_ONCE).await > 0 {
            let mut marks = Vec::new();
            let taking = async {
                let mut acks = Vec::new();
                for item in items.drain(..) {
                    let (company, channel, news) = match item {
                        Item::Heard { company, channel, news } => (company, channel, news),
                        Item::Mark(mark) => {
                            marks.push(mark);
                            continue;
                        }
                    };
                    match news {
                        News::Ack(ack) => acks.push((company, channel, ack)),
                        News::Lid(number, lid) => self.note_lid(company, channel, number, &lid).await,
                        News::Inbound(number) => self.note_inbound(channel, number).await,
                    }
                }
                self.take_in_acks(acks, &mut known).await;
            };
            caught("session events", taking).await;
            for mark in marks {
                let _ = mark.send(());
            }
        }
    }

    /// Writes receipts, and retries until that succeeds: WhatsApp tells them once.
    async fn take_in_acks(&self, acks: Vec<(Uuid, Uuid, Ack)>, known: &mut HashMap<MessageId, Uuid>) {
        let mut receipts = Vec::with_capacity(acks.len());
        let mut told: HashMap<Uuid, Vec<(Key, State)>> = HashMap::new();
        for (company_id, channel, ack) in acks {
            let Some(send_id) = self.send_of(channel, &ack.id, known).await else { continue };
            let (key, (state, error)) = (Key { send_id, ordinal: 0 }, heard(ack.state));
            told.entry(channel).or_default().push((key, state));
            let provider_message_id = Some(ack.id.as_str().to_owned());
            receipts.push(Receipt { key, company_id, state, provider_message_id, error, at: ack.at });
        }
        if receipts.is_empty() {
            return;
        }
        Receipt::reduce(&mut receipts);
        loop {
            let hear = Hear { receipts: receipts.clone(), ..Hear::default() };
            match self.0.shared.ledger.send(hear).await {
                // The ledger said which row the database refuses.
                Ok(Ok(()) | Err(ledger::Error::Refused)) => break,
                Ok(Err(ledger::Error::Unavailable)) => tokio::time::sleep(WRITE_PAUSE).await,
                // Nothing can be written any more.
                Ok(Err(ledger::Error::Closed)) | Err(_) => return,
            }
        }
        for (channel, messages) in told {
            self.directory().ask(channel, Heard(messages)).await;
        }
    }

    /// The send that a message is; `None` for messages of the phone's own and of other linked devices.
    async fn send_of(
        &self,
        channel: Uuid,
        id: &MessageId,
        known: &mut HashMap<MessageId, Uuid>,
    ) -> Option<Uuid> {
        if let Some(send_id) = known.get(id) {
            return Some(*send_id);
        }
        let (millis, tail) = id.stamp()?;
        let found = loop {
            match self.store().send_of_stamp(channel, millis, tail).await {
                Ok(found) => break found?,
                Err(error) if error.is_passing() => {
                    tokio::time::sleep(WRITE_PAUSE).await;
                }
                Err(error) => {
                    tracing::error!(channel.id = %channel, %error, "the send of a receipt was not found");
                    return None;
                }
            }
        };
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(id.clone(), found);
        Some(found)
    }

    /// An address that was not asked for: the contact shows it.
    async fn note_lid(&self, company: Uuid, channel: Uuid, number: PhoneNumber, lid: &Jid) {
        if let Err(error) = self.store().learn_lid(company, number, lid.as_str()).await {
            tracing::warn!(channel.id = %channel, %error, "a contact's LID was not written");
        }
    }

    /// Who wrote to the session is no stranger to it.
    async fn note_inbound(&self, channel: Uuid, number: PhoneNumber) {
        if let Err(error) = self.store().note_first_heard(channel, number, Timestamp::now()).await {
            tracing::warn!(channel.id = %channel, %error, "it was not noted that somebody wrote");
        }
    }
}

/// What an acknowledgement means for its message.
pub(in crate::engine) fn heard(state: AckState) -> (State, Option<Failure>) {
    match state {
        AckState::Server => (State::Sent, None),
        AckState::Delivered => (State::Delivered, None),
        AckState::Read | AckState::Played => (State::Read, None),
        AckState::Refused { code } => (State::Failed, Some(super::outgoing::refusal(code))),
    }
}
