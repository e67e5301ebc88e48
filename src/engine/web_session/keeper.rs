//! The keeper of one session: opens it, hears what happens to it, and says in the store how its channel is.
//!
//! It is a task that ends when there is nothing to keep: when a person has to act, when the phone is unlinked, or
//! when the engine stops. What must survive is in the store.

mod codes;
mod ending;
mod passkey;
mod writing;

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use self::passkey::{Answering, Gate};
use super::condition::{self, Then};
use super::line::Line;
use super::pairing::{Pairing, Shown, Stage};
use super::passkey::{NotExpected, PasskeyAnswer};
use super::told::News;
use super::{Common, SessionRecords};
use crate::clock::Timestamp;
use crate::connector::web_session::{AckState, End, Event, Opening, PairingFailure, Session};
use crate::domain::channel::{Channel, Connection, Status};
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;

/// Events that wait for the keeper. The session queues what is beyond.
const EVENTS: usize = 256;
/// When a failed write is tried again.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// How often a session is looked at without any occasion.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// How long a keeper that is to hear something first waits for it: it is on its way.
const ASKING: Duration = Duration::from_secs(10);
/// How long a pairing code is good; the session says it more exactly.
const CODE_SPAN: Duration = Duration::from_secs(160);

/// What a keeper may be told. Dropping an answer says that it was not carried out.
#[derive(Debug)]
pub(super) enum Command {
    /// Link a phone if none is linked, and ask for a code for this number.
    Pair(Option<PhoneNumber>, oneshot::Sender<()>),
    /// Hand this to the session that waits at the passkey gate.
    Passkey(PasskeyAnswer, oneshot::Sender<Result<(), NotExpected>>),
    /// Unlink the phone and keep nothing.
    Unlink(oneshot::Sender<()>),
    /// End; the phone stays linked.
    Stop,
}

/// What comes after a session.
enum Next {
    Close,
    Again(Then),
}

type Asking = Pin<Box<dyn Future<Output = Result<Secret, PairingFailure>> + Send>>;

/// See the module.
pub(super) struct Keeper {
    common: Arc<Common>,
    channel: Uuid,
    company: Uuid,
    line: Arc<Line>,
    commands: mpsc::Receiver<Command>,
    pairing: watch::Sender<Pairing>,
    /// Of the newest session.
    records: Option<Arc<SessionRecords>>,
    /// The state in the store, as far as is known.
    connection: Connection,
    /// What is not in the store yet.
    next_connection: Option<Connection>,
    /// The number of the phone, and when it was linked.
    next_number: Option<(PhoneNumber, Timestamp)>,
    /// Connected, but restricted: kept while the connection is away, which has other reasons.
    restriction: Option<Connection>,
    /// A phone is linked, or was when the session began.
    is_linked: bool,
    /// When a phone was linked, if one is.
    linked_at: Option<Timestamp>,
    /// Somebody wants to link a phone.
    is_wanted: bool,
    /// Somebody wants a code for this number, which is not asked for yet.
    code_wanted: Option<PhoneNumber>,
    /// A code for this number was asked for, and may still be good.
    code_for: Option<PhoneNumber>,
    /// Of the present session.
    gate: Gate,
    /// Sessions in a row that failed.
    failures: u32,
    /// The last write failed, which was said, and is tried again then.
    write_again_at: Option<Instant>,
}

impl Keeper {
    pub(super) fn new(
        common: Arc<Common>,
        channel: &Channel,
        is_linked: bool,
        commands: mpsc::Receiver<Command>,
        pairing: watch::Sender<Pairing>,
    ) -> Self {
        Self {
            line: common.lines.line(channel.id),
            common,
            channel: channel.id,
            company: channel.company_id,
            commands,
            pairing,
            records: None,
            restriction: condition::restricted_until(&channel.connection)
                .map(|_| Connection { status: Status::Connected, ..channel.connection.clone() }),
            connection: channel.connection.clone(),
            next_connection: None,
            next_number: None,
            is_linked,
            linked_at: channel.linked_at,
            is_wanted: false,
            code_wanted: None,
            code_for: None,
            gate: Gate::default(),
            failures: 0,
            write_again_at: None,
        }
    }

    /// Keeps the session until there is nothing to keep. Without being told to it opens none at first, if `asks`
    /// says so.
    pub(super) async fn run(mut self, mut asks: bool) {
        let mut then = if asks {
            Then::OpenAfter(ASKING)
        } else {
            Then::OpenNotBefore(self.common.starts.turn(Instant::now()))
        };
        while self.wait(then).await {
            if std::mem::take(&mut asks) && !self.is_wanted {
                return;
            }
            match self.keep().await {
                Next::Close => return,
                Next::Again(again) => then = again,
            }
        }
    }

    /// Lets the time pass; `false` when the session is not wanted any more.
    async fn wait(&mut self, then: Then) -> bool {
        let (wait, may_be_cut) = match then {
            Then::Close => return false,
            Then::OpenAfter(wait) => (wait, true),
            Then::OpenNotBefore(wait) => (wait, false),
        };
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return true,
                command = self.commands.recv() => match command {
                    Some(Command::Pair(number, heard)) => {
                        self.want(number);
                        let _ = heard.send(());
                        if may_be_cut {
                            return true;
                        }
                    }
                    Some(Command::Passkey(_, heard)) => {
                        let stage = self.pairing.borrow().stage;
                        let _ = heard.send(Err(NotExpected::Stage(stage)));
                    }
                    Some(Command::Unlink(done)) => {
                        self.unlinked(Some(done)).await;
                        return false;
                    }
                    Some(Command::Stop) | None => return false,
                },
            }
        }
    }

    /// Opens the session and follows it to its end.
    async fn keep(&mut self) -> Next {
        let common = Arc::clone(&self.common);
        let (events, heard) = mpsc::channel(EVENTS);
        let records = SessionRecords::new(common.store.clone(), Arc::clone(&common.vault), self.channel);
        let records = Arc::new(records);
        self.records = Some(Arc::clone(&records));
        let opening =
            Opening { session: self.channel, records, events, device_name: common.device_name.clone() };
        match common.driver.open(opening).await {
            Ok(session) => {
                self.line.open(Arc::clone(&session));
                let next = self.follow(session, heard).await;
                self.line.close();
                next
            }
            Err(error) => self.ended(&End::Failed { sentence: error.to_string() }).await,
        }
    }

    async fn follow(&mut self, session: Arc<dyn Session>, mut events: mpsc::Receiver<Event>) -> Next {
        let mut asking: Option<Asking> = None;
        let mut answering: Option<Answering> = None;
        self.gate = Gate::default();
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        loop {
            if asking.is_none()
                && let Some(number) = self.code_wanted.take()
            {
                let session = Arc::clone(&session);
                asking = Some(Box::pin(async move { session.pairing_code(number).await }));
            }
            answering = self.gate.begin(&session).or(answering);
            tokio::select! {
                event = events.recv() => match event {
                    Some(Event::Ended(end)) => return self.ended(&end).await,
                    // The driver shows codes only when it finds no device in the records that a phone has accepted.
                    Some(Event::Qr { .. }) if !self.is_wanted => {
                        session.stop().await;
                        self.hear_the_last(&mut events).await;
                        return self.unexpected_code().await;
                    }
                    // What is shown no longer counts once the phone has used it.
                    Some(Event::Qr { .. }) if self.is_at_passkey() => {}
                    Some(event) => self.hear(event).await,
                    None => return self.ended(&End::Failed { sentence: "it broke down".to_owned() }).await,
                },
                answer = answer(&mut asking) => {
                    asking = None;
                    self.code_answered(answer);
                }
                passed = self.gate.passed(&mut answering) => {
                    if let Some(next) = self.passed(passed, &session, &mut events).await {
                        return next;
                    }
                }
                command = self.commands.recv() => match command {
                    Some(Command::Pair(number, heard)) => {
                        self.want(number);
                        let _ = heard.send(());
                    }
                    Some(Command::Passkey(answer, heard)) => {
                        let _ = heard.send(self.take_passkey(answer));
                    }
                    Some(Command::Unlink(done)) => {
                        if self.is_linked { session.unlink().await } else { session.stop().await }
                        self.hear_the_last(&mut events).await;
                        return self.unlinked(Some(done)).await;
                    }
                    Some(Command::Stop) | None => {
                        session.stop().await;
                        self.hear_the_last(&mut events).await;
                        if !self.is_linked {
                            return self.unlinked(None).await;
                        }
                        if self.write_again_at.is_some() {
                            self.write().await;
                        }
                        return Next::Close;
                    }
                },
                () = moment(self.write_again_at) => self.write().await,
                _ = looks.tick() => if session.figures().has_given_up {
                    session.stop().await;
                    self.hear_the_last(&mut events).await;
                    let sentence = "its keys could not be written".to_owned();
                    return self.ended(&End::Failed { sentence }).await;
                },
            }
        }
    }

    /// Takes up what happened; [`Event::Ended`] is not for here.
    async fn hear(&mut self, event: Event) {
        match event {
            Event::Qr { payload, valid_for } => {
                self.is_linked = false;
                let qr = Shown { secret: payload, expires_at: Timestamp::now().plus(valid_for) };
                self.show(|pairing| {
                    pairing.stage = Stage::Waiting;
                    pairing.qr = Some(qr);
                });
                self.go_over(Status::Pairing, None).await;
            }
            Event::QrExhausted => self.show(|pairing| pairing.qr = None),
            Event::PairingCode { code, valid_for } => self.show_code(code, valid_for),
            Event::PairingCodeExpired => {
                self.code_for = None;
                self.show(|pairing| pairing.code = None);
            }
            Event::PairingCodeFailed(failure) => self.code_failed(&failure),
            Event::PasskeyRequired { challenge, valid_for } => self.passkey_required(challenge, valid_for),
            Event::PasskeyCode { code, is_proven } => self.passkey_code(code, is_proven),
            Event::Paired { number, lid: _, business_name: _ } => {
                tracing::info!(channel.id = %self.channel, "a phone was linked");
                self.is_linked = true;
                self.code_for = None;
                let now = Timestamp::now();
                self.next_number = Some((number, now));
                self.linked_at = Some(now);
                self.restriction = None;
                self.pairing.send_replace(Pairing { stage: Stage::Linking, ..Pairing::default() });
                self.go_over(Status::Connecting, None).await;
            }
            Event::Connected => {
                self.is_linked = true;
                self.is_wanted = false;
                self.failures = 0;
                self.pairing.send_replace(Pairing { stage: Stage::Linked, ..Pairing::default() });
                self.connected().await;
            }
            Event::Unreachable { attempts, sentence } => {
                let (status, reason) = condition::unreachable(attempts, &sentence);
                if self.is_linked {
                    self.go_over(status, reason).await;
                } else if reason.is_some() {
                    self.go_over(Status::Pairing, reason).await;
                }
            }
            // It is dialled again at once; if that comes to nothing, it is told.
            Event::Disconnected { sentence } => {
                tracing::debug!(channel.id = %self.channel, sentence, "the connection was lost");
                self.gate_lost();
            }
            Event::Ack(ack) => {
                if ack.state.is_restricted() && self.connection.reason.is_none() {
                    self.restricted().await;
                }
                // What the channel's actor waits for, it writes itself.
                let is_awaited = self.line.heard(&ack);
                if !(is_awaited && matches!(ack.state, AckState::Server | AckState::Refused { .. })) {
                    self.tell(News::Ack(ack)).await;
                }
            }
            Event::LidLearned { number, lid } => self.tell(News::Lid(number, lid)).await,
            Event::Inbound { from } => self.tell(News::Inbound(from)).await,
            Event::Missed { count } => {
                tracing::warn!(channel.id = %self.channel, count, "what became of messages was told too fast and is lost");
            }
            Event::Ended(_) => {}
        }
    }

    /// Hands on what is to be written; waits while too much is.
    async fn tell(&self, news: News) {
        self.common.tell.tell(self.company, self.channel, news).await;
    }

    fn show(&self, change: impl FnOnce(&mut Pairing)) {
        self.pairing.send_modify(change);
    }
}

/// Waits for a moment; for ever when there is none.
async fn moment(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => pending().await,
    }
}

/// The answer to the question for a code; never when there is none.
async fn answer(asking: &mut Option<Asking>) -> Result<Secret, PairingFailure> {
    match asking {
        Some(asking) => asking.await,
        None => pending().await,
    }
}
