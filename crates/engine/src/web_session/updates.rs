//! Writes what sessions report of messages and people: receipts go to the ledger, LIDs to contacts.
//!
//! One task serves all sessions, so that many receipts make one commit. A receipt names its message by the id that
//! Pombo gave it, which leads to its send. What people wrote is tried once: if it cannot be written now, its session
//! gets it back and waits, alone.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, mpsc, oneshot};
use uuid::Uuid;

use machines::web_session::SessionUpdate;

use crate::Engine;
use crate::channel::Input;
use crate::conversations::HeardMessage;
use crate::ledger::{self, Hear};
use crate::notices::share_suppressions;
use crate::rounds::caught;
use clock::Timestamp;
use domain::inbound::{Direction, InboundMessage};
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;
use driver::{Ack, AckState, Inbox, Jid, MessageId, NotTaken};
use store::ledger::Receipt;

/// Updates that wait to be written. Sessions queue further ones.
const WAITING: usize = 4_096;
/// Most updates that are written together.
const AT_ONCE: usize = 512;
/// Delay before a failed write is retried.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Messages whose sends are cached: the receipts of one message come within moments.
const REMEMBERED: usize = 8_192;

/// Sends of messages. An id counts in its channel alone: people may name any id in what they send to another.
type KnownSends = HashMap<(Uuid, MessageId), Uuid>;

/// An entry of the queue.
pub(crate) enum Item {
    /// An update from the session of a channel.
    Heard { company: Uuid, channel: Uuid, update: SessionUpdate },
    /// Messages of a channel's session.
    Wrote { company: Uuid, channel: Uuid, messages: Vec<InboundMessage>, taken: TakenIn },
    /// Answered once everything before it is written.
    Mark(oneshot::Sender<()>),
}

/// Answers messages: they are written, or these cannot be written now. Dropped when nothing can be written any more.
type TakenIn = oneshot::Sender<Result<(), Vec<InboundMessage>>>;

/// Queues the messages of one session.
pub(super) struct SessionInbox {
    updates: UpdateSender,
    company: Uuid,
    channel: Uuid,
    /// Held until messages are written, so that later ones do not overtake them.
    turn: Mutex<()>,
}

impl SessionInbox {
    pub(super) const fn new(updates: UpdateSender, company: Uuid, channel: Uuid) -> Self {
        Self { updates, company, channel, turn: Mutex::const_new(()) }
    }
}

#[async_trait]
impl Inbox for SessionInbox {
    async fn take(&self, mut messages: Vec<InboundMessage>) -> Result<(), NotTaken> {
        let (company, channel) = (self.company, self.channel);
        let _turn = self.turn.lock().await;
        let mut has_waited = false;
        loop {
            let (taken, answer) = oneshot::channel();
            let item = Item::Wrote { company, channel, messages, taken };
            self.updates.0.send(item).await.map_err(|_| NotTaken)?;
            let Err(returned) = answer.await.map_err(|_| NotTaken)? else { return Ok(()) };
            if !has_waited {
                tracing::warn!(channel.id = %channel, "the messages that a web session got cannot be written now and wait, with all that come after them");
            }
            has_waited = true;
            messages = returned;
            tokio::time::sleep(WRITE_PAUSE).await;
        }
    }
}

/// The sessions' end of the queue.
#[derive(Clone)]
pub(crate) struct UpdateSender(mpsc::Sender<Item>);

/// The end that [`Engine::take_in`] reads.
pub(crate) struct UpdateReceiver(mpsc::Receiver<Item>);

/// The queue of updates from all sessions.
pub(crate) fn session_updates() -> (UpdateSender, UpdateReceiver) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (UpdateSender(sender), UpdateReceiver(receiver))
}

impl UpdateSender {
    /// Queues an update; waits while the queue is full.
    pub(super) async fn send(&self, company: Uuid, channel: Uuid, update: SessionUpdate) {
        // The queue is closed once the engine has ended.
        let _ = self.0.send(Item::Heard { company, channel, update }).await;
    }

    /// Waits until every update that was queued before is written.
    pub(super) async fn flush(&self) {
        let (mark, marked) = oneshot::channel();
        if self.0.send(Item::Mark(mark)).await.is_ok() {
            let _ = marked.await;
        }
    }
}

impl Engine {
    /// Writes the updates of sessions, until the engine ends.
    pub(crate) async fn take_in(self, mut updates: UpdateReceiver) {
        let writer = Writer { engine: &self };
        let (mut items, mut known) = (Vec::with_capacity(AT_ONCE), HashMap::new());
        while updates.0.recv_many(&mut items, AT_ONCE).await > 0 {
            let mut marks = Vec::new();
            let taking = async {
                let (mut acks, mut wrote) = (Vec::new(), Vec::new());
                for item in items.drain(..) {
                    let (company, channel, update) = match item {
                        Item::Wrote { company, channel, messages, taken } => {
                            wrote.push((company, channel, messages, taken));
                            continue;
                        }
                        Item::Heard { company, channel, update } => (company, channel, update),
                        Item::Mark(mark) => {
                            marks.push(mark);
                            continue;
                        }
                    };
                    match update {
                        SessionUpdate::Ack(ack) => acks.push((company, channel, ack)),
                        SessionUpdate::Lid(number, lid) => {
                            writer.note_lid(company, channel, number, &lid).await;
                        }
                        SessionUpdate::Inbound(number) => writer.note_inbound(channel, number).await,
                    }
                }
                // What was sent comes before what answers it.
                writer.take_in_acks(acks, &mut known).await;
                for (company, channel, messages, taken) in wrote {
                    writer.take_in_messages((company, channel), messages, taken, &mut known).await;
                }
            };
            caught("session events", taking).await;
            for mark in marks {
                let _ = mark.send(());
            }
        }
    }
}

/// Writes updates.
struct Writer<'e> {
    engine: &'e Engine,
}

impl Writer<'_> {
    /// Writes receipts, and retries until that succeeds: WhatsApp sends them once.
    async fn take_in_acks(&self, acks: Vec<(Uuid, Uuid, Ack)>, known: &mut KnownSends) {
        let mut receipts = Vec::with_capacity(acks.len());
        let mut told: HashMap<Uuid, Vec<(Key, State)>> = HashMap::new();
        for (company_id, channel, ack) in acks {
            let Some(send_id) = self.send_of(channel, &ack.id, known).await else { continue };
            let (key, (state, error)) = (Key { send_id, ordinal: 0 }, heard(ack.state));
            told.entry(channel).or_default().push((key, state));
            let provider_message_id = Some(ack.id.as_str().to_owned());
            receipts.push(Receipt {
                key,
                company_id,
                state,
                provider_message_id,
                error,
                at: ack.at,
                charge: None,
            });
        }
        if receipts.is_empty() {
            return;
        }
        Receipt::reduce(&mut receipts);
        loop {
            let hear = Hear { receipts: receipts.clone(), ..Hear::default() };
            match self.engine.0.shared.ledger.send(hear).await {
                // The ledger said which row the database refuses.
                Ok(Ok(()) | Err(ledger::Error::Refused)) => break,
                Ok(Err(ledger::Error::Unavailable)) => tokio::time::sleep(WRITE_PAUSE).await,
                // The ledger is closed: nothing can be written any more.
                Ok(Err(ledger::Error::Closed)) | Err(_) => return,
            }
        }
        for (channel, messages) in told {
            self.engine.directory().ask(channel, Input::Heard(messages)).await;
        }
    }

    /// Writes what people wrote, or gives it back when that is not possible now: the other sessions do not wait. What the
    /// session itself sent is in the ledger, and no message of the phone.
    async fn take_in_messages(
        &self,
        (company, channel): (Uuid, Uuid),
        messages: Vec<InboundMessage>,
        taken: TakenIn,
        known: &mut KnownSends,
    ) {
        let mut heard = Vec::with_capacity(messages.len());
        for message in messages {
            if message.direction == Direction::Echo
                && let Ok(id) = MessageId::parse(&message.id)
                && self.send_of(channel, &id, known).await.is_some()
            {
                continue;
            }
            heard.push(HeardMessage { channel_id: channel, has_windows: false, message });
        }
        match self.write_messages(company, &heard).await {
            // The ledger said which row the database refuses.
            Ok(Ok(()) | Err(ledger::Error::Refused)) => {}
            // The session may have gone.
            Ok(Err(ledger::Error::Unavailable)) | Err(crate::Error::Unavailable { .. }) => {
                let _ = taken.send(Err(heard.into_iter().map(|heard| heard.message).collect()));
                return;
            }
            Ok(Err(ledger::Error::Closed)) | Err(_) => return,
        }
        if let Err(error) = self.engine.webhooks().meet_writers(company, &heard).await {
            // They are met again with their next messages.
            tracing::debug!(%error, "cannot write the names of people who wrote to a web session");
        }
        let _ = taken.send(Ok(()));
    }

    /// Writes messages, with what their opt-out words say, in one commit.
    async fn write_messages(
        &self,
        company: Uuid,
        heard: &[HeardMessage],
    ) -> Result<Result<(), ledger::Error>, crate::Error> {
        let shared = &self.engine.0.shared;
        let rules = self.engine.store().of(company).automatic().rules().await?;
        let suppressions = self.engine.webhooks().words_of_session(company, heard, &rules.words).await?;
        let inbound = shared.rows_of_heard(company, heard.to_vec(), &rules, Timestamp::now()).await?;
        let hear = Hear { inbound, suppressions: suppressions.clone(), ..Hear::default() };
        if hear.is_empty() {
            return Ok(Ok(()));
        }
        // The ledger's mailbox is closed with it.
        let written = shared.ledger.send(hear).await.unwrap_or(Err(ledger::Error::Closed));
        if written.is_ok() && !suppressions.is_empty() {
            shared.suppressions.look_up(self.engine.store(), &suppressions).await?;
            share_suppressions(shared, &suppressions).await?;
        }
        Ok(written)
    }

    /// The send of a message; `None` for messages of the phone itself and of other linked devices.
    async fn send_of(&self, channel: Uuid, id: &MessageId, known: &mut KnownSends) -> Option<Uuid> {
        let (millis, tail) = id.stamp()?;
        let key = (channel, id.clone());
        if let Some(send_id) = known.get(&key) {
            return Some(*send_id);
        }
        let found = loop {
            match self.engine.store().web_sessions().send_of_stamp(channel, millis, tail).await {
                Ok(found) => break found?,
                Err(error) if error.is_passing() => {
                    tokio::time::sleep(WRITE_PAUSE).await;
                }
                Err(error) => {
                    tracing::error!(channel.id = %channel, %error, "cannot find the send of a receipt");
                    return None;
                }
            }
        };
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, found);
        Some(found)
    }

    /// Writes a LID that the session learned by itself to the contact.
    async fn note_lid(&self, company: Uuid, channel: Uuid, number: PhoneNumber, lid: &Jid) {
        if let Err(error) = self.engine.store().of(company).contacts().learn_lid(number, lid.as_str()).await {
            tracing::warn!(channel.id = %channel, %error, "cannot write a contact's LID");
        }
    }

    /// Notes that the person wrote to the session, and so is no stranger to it.
    async fn note_inbound(&self, channel: Uuid, number: PhoneNumber) {
        if let Err(error) =
            self.engine.store().web_sessions().note_first_heard(channel, number, Timestamp::now()).await
        {
            tracing::warn!(channel.id = %channel, %error, "cannot note that a person wrote to the session");
        }
    }
}

/// The message's state after an acknowledgement, and why it failed.
pub(crate) fn heard(state: AckState) -> (State, Option<Failure>) {
    match state {
        AckState::Server => (State::Sent, None),
        AckState::Delivered => (State::Delivered, None),
        AckState::Read | AckState::Played => (State::Read, None),
        AckState::Refused { code } => (State::Failed, Some(crate::handover::refusal(code))),
    }
}
