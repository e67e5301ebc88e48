//! The supervisor of one session: a task that owns the session and decides nothing. The [machine](super::machine)
//! decides when the session is opened and ended, and what is written and shown of it. The supervisor passes events to
//! the machine and carries out its effects.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use super::Pairing;
use super::machine::{
    self, Answer, Change, Effect, Effects, Input, Machine, Saved, Write, is_written_by_sender,
};
use super::updates::SessionInbox;
use super::{Common, SessionRecords};
use crate::handover::SessionHandle;
use crate::machine::{Caller, Moment};
use clock::Timestamp;
use domain::channel::{Channel, Connection};
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::{Ack, Event, Opening, PairingFailure, PasskeyRefused, Session};
use machines::web_session::{NotExpected, PasskeyAnswer, SessionUpdate};

/// Events that wait for the supervisor. The session queues further ones.
const EVENTS: usize = 256;

/// A command to a supervisor. A dropped answer means that the command was not carried out.
#[derive(Debug)]
pub(super) enum Command {
    /// Link a phone if none is linked, and ask for a code for this number.
    Pair(Option<PhoneNumber>, oneshot::Sender<()>),
    /// Hand this answer to the session that waits for a passkey.
    Passkey(PasskeyAnswer, oneshot::Sender<Result<(), NotExpected>>),
    /// Unlink the phone and delete all records of the session.
    Unlink(oneshot::Sender<()>),
    /// End; the phone stays linked.
    Stop,
}

/// A caller that waits for an answer.
enum Waiting {
    Done(oneshot::Sender<()>),
    Passkey(oneshot::Sender<Result<(), NotExpected>>),
}

/// A request to the session that is under way.
type Asking<T> = Option<Pin<Box<dyn Future<Output = T> + Send>>>;

/// A session that was opened.
struct OpenedSession {
    session: Arc<dyn Session>,
    /// `None` once no further event comes.
    events: Option<mpsc::Receiver<Event>>,
    asking: Asking<Result<Secret, PairingFailure>>,
    answering: Asking<Result<(), PasskeyRefused>>,
}

pub(super) struct Supervisor {
    machine: Machine,
    common: Arc<Common>,
    channel: Uuid,
    company: Uuid,
    handle: Arc<SessionHandle>,
    commands: mpsc::Receiver<Command>,
    pairing: watch::Sender<Pairing>,
    callers: HashMap<Caller, Waiting>,
    /// Numbers callers.
    asked: u64,
    /// The records of the newest session.
    records: Option<Arc<SessionRecords>>,
    held: Option<OpenedSession>,
    /// When the machine asked to be woken.
    wakes_at: Option<Instant>,
}

impl Supervisor {
    pub(super) fn new(
        common: Arc<Common>,
        channel: &Channel,
        is_linked: bool,
        commands: mpsc::Receiver<Command>,
        pairing: watch::Sender<Pairing>,
    ) -> Self {
        let shown = pairing.borrow().clone();
        let handle = common.handles.of(channel.id);
        handle.belongs_to(if is_linked { linked_number(channel) } else { None });
        Self {
            machine: Machine::new(channel, is_linked, shown),
            handle,
            common,
            channel: channel.id,
            company: channel.company_id,
            commands,
            pairing,
            callers: HashMap::new(),
            asked: 0,
            records: None,
            held: None,
            wakes_at: None,
        }
    }

    /// Runs until the machine ends the supervisor. With `asks`, the session is not opened before a command asks for it.
    pub(super) async fn run(mut self, asks: bool) {
        let turn = (!asks).then(|| self.common.starts.turn(Instant::now()));
        let (mut input, mut effects) = (Input::Started { turn }, Effects::default());
        let mut awaited = VecDeque::new();
        loop {
            if let Input::Event(Event::Paired { number, .. }) = &input {
                // The session sends from this number before anything of it is written.
                self.handle.belongs_to(Some(*number));
            }
            let at = Moment { monotonic: Instant::now(), wall: Timestamp::now() };
            self.machine.handle(input, at, &mut effects);
            for effect in effects.drain() {
                if let Effect::End = effect {
                    return;
                }
                awaited.extend(self.carry_out(effect).await);
            }
            input = match awaited.pop_front() {
                Some(input) => input,
                None => self.next().await,
            };
        }
    }

    /// Waits for the next input.
    async fn next(&mut self) -> Input {
        let hears_commands = self.machine.hears_commands();
        // A session may show its first code at once; the command that wants the code was there before.
        if hears_commands && let Ok(command) = self.commands.try_recv() {
            return Input::Command(self.take_in(Some(command)));
        }
        let Self { held, commands, wakes_at, .. } = self;
        let (events, asking, answering) = match held {
            Some(OpenedSession { events, asking, answering, .. }) => {
                (events.as_mut(), Some(asking), Some(answering))
            }
            None => (None, None, None),
        };
        tokio::select! {
            event = told(events) => match event {
                Some(event) => Input::Event(event),
                None => {
                    if let Some(held) = &mut self.held {
                        held.events = None;
                    }
                    Input::Silence
                }
            },
            answer = answer(asking) => Input::CodeAnswered(answer),
            answer = answer(answering) => Input::PasskeyAnswered(answer),
            command = commands.recv(), if hears_commands => Input::Command(self.take_in(command)),
            () = moment(*wakes_at) => {
                self.wakes_at = None;
                Input::Timer
            }
        }
    }

    /// Registers the caller of a command. A closed channel means that the engine has gone.
    fn take_in(&mut self, command: Option<Command>) -> machine::Command {
        match command {
            Some(Command::Pair(number, hear)) => {
                machine::Command::Pair(number, self.caller(Waiting::Done(hear)))
            }
            Some(Command::Passkey(answer, hear)) => {
                machine::Command::Passkey(answer, self.caller(Waiting::Passkey(hear)))
            }
            Some(Command::Unlink(hear)) => machine::Command::Unlink(self.caller(Waiting::Done(hear))),
            Some(Command::Stop) | None => machine::Command::Stop,
        }
    }

    fn caller(&mut self, waiting: Waiting) -> Caller {
        self.asked += 1;
        let caller = Caller(self.asked);
        self.callers.insert(caller, waiting);
        caller
    }

    /// Carries out an effect. Returns the input that it leads to, if the machine awaits one.
    async fn carry_out(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Open => return Some(Input::Opened(self.open().await)),
            Effect::Stop { unlinks } => {
                self.stop(unlinks).await;
                return Some(Input::Stopped);
            }
            Effect::Look => {
                let has_given_up = self.held.as_ref().is_some_and(|held| held.session.figures().has_given_up);
                return Some(Input::Looked { has_given_up });
            }
            Effect::Write(write) => {
                let saved = self.write(&write).await;
                return Some(Input::Written(saved.map_err(|error| error.to_string())));
            }
            Effect::Wipe(to) => {
                let wiped = self.wipe(&to).await;
                return Some(Input::Wiped(wiped.map_err(|error| error.to_string())));
            }
            Effect::Forget => {
                self.held = None;
                self.handle.close();
            }
            Effect::AskCode(number) => {
                if let Some(held) = &mut self.held {
                    let session = Arc::clone(&held.session);
                    held.asking = Some(Box::pin(async move { session.pairing_code(number).await }));
                }
            }
            Effect::AnswerPasskey(answer) => {
                if let Some(held) = &mut self.held {
                    let session = Arc::clone(&held.session);
                    held.answering = Some(Box::pin(hand_in(session, answer)));
                }
            }
            Effect::Hear(ack) => self.hear(ack).await,
            Effect::Tell(update) => self.report(update).await,
            Effect::Show(pairing) => {
                self.pairing.send_replace(*pairing);
            }
            Effect::Reply(caller, answer) => self.answer(caller, answer),
            Effect::WakeAt(at) => self.wakes_at = Some(at),
            Effect::End => {}
        }
        None
    }

    async fn open(&mut self) -> Result<(), String> {
        let common = Arc::clone(&self.common);
        let (events, heard) = mpsc::channel(EVENTS);
        let records = SessionRecords::new(common.store.clone(), Arc::clone(&common.vault), self.channel);
        let records = Arc::new(records);
        self.records = Some(Arc::clone(&records));
        let inbox = SessionInbox::new(common.updates.clone(), self.company, self.channel);
        let opening = Opening {
            session: self.channel,
            records,
            events,
            inbox: Arc::new(inbox),
            device_name: common.device_name.clone(),
        };
        let session = common.driver.open(opening).await.map_err(|error| error.to_string())?;
        self.handle.open(Arc::clone(&session));
        self.held = Some(OpenedSession { session, events: Some(heard), asking: None, answering: None });
        Ok(())
    }

    async fn stop(&mut self, unlinks: bool) {
        let Some(held) = &mut self.held else { return };
        (held.asking, held.answering) = (None, None);
        if unlinks { held.session.unlink().await } else { held.session.stop().await }
    }

    async fn write(&mut self, write: &Write) -> store::Result<Saved> {
        let (Write { number, connection }, store) = (write, &self.common.store);
        if let Some((number, at)) = number {
            store.web_sessions().set_linked(self.channel, *number, *at).await?;
        }
        let Some(Change { from, to }) = connection else { return Ok(Saved::Done) };
        if store.channels().set_connection(self.channel, from, to).await?.is_some() {
            return Ok(Saved::Done);
        }
        let channel = store.channels().find(self.channel).await?;
        Ok(channel.map_or(Saved::Gone, |channel| Saved::Overtaken(channel.connection)))
    }

    async fn wipe(&mut self, to: &Connection) -> store::Result<()> {
        // Requests after the end find no session, even before the channel's state is known everywhere.
        self.handle.close();
        self.handle.belongs_to(None);
        // The session may still be at work: its records take no further write.
        if let Some(records) = self.records.take() {
            records.close().await;
        }
        self.common.store.web_sessions().end(self.channel, to).await
    }

    /// Passes on an acknowledgement. If the channel's actor waits for it, the actor writes the outcome itself.
    async fn hear(&mut self, ack: Ack) {
        let is_awaited = self.handle.heard(&ack);
        if !is_written_by_sender(is_awaited, ack.state) {
            self.report(SessionUpdate::Ack(ack)).await;
        }
    }

    /// Passes an update on to be written; waits while too many are queued.
    async fn report(&mut self, update: SessionUpdate) {
        self.common.updates.send(self.company, self.channel, update).await;
    }

    /// Answers a caller, which may have gone meanwhile.
    fn answer(&mut self, caller: Caller, answer: Answer) {
        match (self.callers.remove(&caller), answer) {
            (Some(Waiting::Done(hear)), Answer::Done) => {
                let _ = hear.send(());
            }
            (Some(Waiting::Passkey(hear)), Answer::Done) => {
                let _ = hear.send(Ok(()));
            }
            (Some(Waiting::Passkey(hear)), Answer::NotExpected(why)) => {
                let _ = hear.send(Err(why));
            }
            // A dropped answer means that the command was not carried out.
            (Some(Waiting::Done(_)), Answer::NotExpected(_) | Answer::TurnedAway)
            | (Some(Waiting::Passkey(_)), Answer::TurnedAway)
            | (None, _) => {}
        }
    }
}

/// The number of the phone that is linked to the channel.
fn linked_number(channel: &Channel) -> Option<PhoneNumber> {
    let number = channel.phone_number.as_deref().filter(|_| channel.linked_at.is_some())?;
    PhoneNumber::parse(number).ok()
}

async fn hand_in(session: Arc<dyn Session>, answer: PasskeyAnswer) -> Result<(), PasskeyRefused> {
    match answer {
        PasskeyAnswer::Assertion(assertion) => session.answer_passkey(assertion).await,
        PasskeyAnswer::Confirmation => session.confirm_passkey().await,
    }
}

/// Waits for a moment; never resolves without one.
async fn moment(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => pending().await,
    }
}

/// The session's next event; never resolves without a session.
async fn told(events: Option<&mut mpsc::Receiver<Event>>) -> Option<Event> {
    match events {
        Some(events) => events.recv().await,
        None => pending().await,
    }
}

/// The answer to a question, once; never resolves without a question.
async fn answer<T>(asking: Option<&mut Asking<T>>) -> T {
    let Some(asking) = asking else { return pending().await };
    let Some(question) = asking.as_mut() else { return pending().await };
    let answer = question.await;
    *asking = None;
    answer
}
