//! A linked device, or one that waits to be linked: a task that shows codes, connects, accepts messages and
//! reports their outcomes.

use std::future::pending;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use super::acks::PendingAcks;
use super::answers::Answers;
use super::gates::{Entry, Shown};
use super::mail::Mailbox;
use super::message::Outgoing;
use super::pairing::Pairing;
use super::passkey::Gate;
use super::people::{self, Fate};
use super::telling::Telling;
use super::{Shared, ShownSign, codes, memory, message};
use crate::written::PersonMessage;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::{
    Ack, AskError, Assertion, End, Event, Figures, Found, Inbox, Jid, MessageId, Opening, PairingFailure,
    PasskeyRefused, Picture, Records, SendError,
};

/// The commands of a device. Dropping an answer means that the device has ended.
pub(super) enum Command {
    Find(PhoneNumber, oneshot::Sender<Result<Option<Found>, AskError>>),
    ShowPicture(Jid, oneshot::Sender<Result<Option<Picture>, AskError>>),
    Send(Jid, MessageId, Outgoing, oneshot::Sender<Result<(), SendError>>),
    /// Without the number that gives the sign.
    Show(ShownSign, oneshot::Sender<Result<(), AskError>>),
    GiveCode(PhoneNumber, oneshot::Sender<Result<Secret, PairingFailure>>),
    Scan(Scan, oneshot::Sender<Option<Scanned>>),
    AnswerPasskey(Assertion, oneshot::Sender<Result<(), PasskeyRefused>>),
    ConfirmPasskey(oneshot::Sender<Result<(), PasskeyRefused>>),
    Unlink,
    Stop,
}

/// The phone used a code.
pub(super) struct Scan {
    pub(super) code: String,
    /// The phone's number; `None` for the simulator's own.
    pub(super) number: Option<PhoneNumber>,
    /// Whether the account is protected by a passkey.
    pub(super) has_passkey: bool,
}

/// The data that the phone shows about a device that it accepted.
pub(super) struct Scanned {
    pub(super) number: PhoneNumber,
    pub(super) device_name: String,
}

/// The stage of a device.
enum Stage {
    /// No phone has used one of its codes.
    Pairing(Box<Pairing>),
    /// A phone has used a code, and WhatsApp asks for its passkey.
    Gate(Box<Gate>),
    /// Linked to this number; there is a connection from then on.
    Connecting(PhoneNumber, Instant),
    Connected(PhoneNumber),
}

pub(super) struct Device {
    shared: Arc<Shared>,
    session: Uuid,
    records: Arc<dyn Records>,
    events: mpsc::Sender<Event>,
    device_name: String,
    figures: watch::Sender<Figures>,
    stage: Stage,
    telling: Telling,
    pending_acks: PendingAcks,
    answers: Answers,
    mailbox: Arc<Mailbox>,
    inbox: Arc<dyn Inbox>,
    /// People whose messages the inbox has taken.
    wrote: (mpsc::UnboundedSender<PhoneNumber>, mpsc::UnboundedReceiver<PhoneNumber>),
    /// The task that hands messages over, while there is a connection.
    delivery: JoinSet<()>,
}

impl Device {
    /// A device that is linked to `account`, or that will show codes; `own` is its sender of commands.
    pub(super) fn new(
        shared: Arc<Shared>,
        opening: Opening,
        account: Option<PhoneNumber>,
        own: mpsc::WeakSender<Command>,
        figures: watch::Sender<Figures>,
    ) -> Self {
        let Opening { session, records, events, inbox, device_name } = opening;
        let mailbox = shared.mail.open(session);
        let stage = match account {
            Some(number) => Stage::Connecting(number, Instant::now() + shared.options.connect_after),
            None => Stage::Pairing(Box::new(Pairing::new(Arc::clone(&shared), own))),
        };
        let pending_acks = PendingAcks::new(shared.options.seed);
        let answers = Answers::new(shared.options.seed);
        Self {
            shared,
            session,
            records,
            events,
            device_name,
            figures,
            stage,
            telling: Telling::default(),
            pending_acks,
            answers,
            mailbox,
            inbox,
            wrote: mpsc::unbounded_channel(),
            delivery: JoinSet::new(),
        }
    }

    /// Runs until a command or an event ends the session.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let end = self.live(&mut commands).await;
        let Self { events, figures, mut telling, stage, delivery, .. } = self;
        // What is not handed over by now comes with the next connection.
        drop(delivery);
        telling.tell(Event::Ended(end));
        // Callers that wait for the end are released now, because they may also have to receive the last events.
        // Codes are no longer valid.
        drop((commands, stage));
        figures.send_replace(Figures { missed_events: telling.missed(), ..Figures::default() });
        drop(figures);
        telling.finish(&events).await;
    }

    async fn live(&mut self, commands: &mut mpsc::Receiver<Command>) -> End {
        loop {
            if let Some(end) = self.pass(Instant::now()) {
                return end;
            }
            self.show_figures();
            let next_time = self.next_time();
            let command = tokio::select! {
                room = self.events.reserve(), if !self.telling.is_empty() => {
                    match room {
                        Ok(room) => if let Some(event) = self.telling.next() {
                            room.send(event);
                        },
                        Err(_) => self.telling.unheard(),
                    }
                    continue;
                }
                // If all senders of commands are gone, the device stops.
                command = commands.recv() => command.unwrap_or(Command::Stop),
                Some(from) = self.wrote.1.recv() => {
                    self.telling.tell(Event::Inbound { from });
                    continue;
                }
                () = sleep_until(next_time) => continue,
            };
            if let Some(end) = self.carry_out(command).await {
                return end;
            }
        }
    }

    fn next_time(&self) -> Option<Instant> {
        let of_stage = match &self.stage {
            Stage::Pairing(pairing) => pairing.next_time(),
            Stage::Gate(gate) => Some(gate.until),
            Stage::Connecting(_, at) => Some(*at),
            Stage::Connected(_) => None,
        };
        of_stage.into_iter().chain(self.pending_acks.next_time()).min()
    }

    /// Carries out due actions. Returns why the session has ended, if it has.
    fn pass(&mut self, now: Instant) -> Option<End> {
        match &mut self.stage {
            Stage::Pairing(pairing) => {
                if pairing.pass(now, &mut self.telling) {
                    return Some(End::QrExhausted);
                }
            }
            Stage::Gate(gate) => {
                if gate.until <= now {
                    return Some(End::PasskeyTimedOut);
                }
            }
            Stage::Connecting(number, at) if *at <= now => {
                self.stage = Stage::Connected(*number);
                self.telling.tell(Event::Connected);
                let (mailbox, inbox) = (Arc::clone(&self.mailbox), Arc::clone(&self.inbox));
                self.delivery.spawn(mailbox.deliver(inbox, self.wrote.0.clone()));
            }
            Stage::Connecting(..) | Stage::Connected(_) => {}
        }
        while let Some(due) = self.pending_acks.due(now) {
            self.shared.inbox.note(self.session, &due.id, due.state);
            let ack = Ack { id: due.id, state: due.state, at: Timestamp::now(), from: due.from };
            self.telling.tell(Event::Ack(ack));
        }
        None
    }

    /// Carries out a command. Returns why the session has ended, if it has. If the caller is gone, its answer is
    /// dropped.
    async fn carry_out(&mut self, command: Command) -> Option<End> {
        match command {
            Command::Find(number, answer) => drop(answer.send(self.find(number))),
            Command::ShowPicture(of, answer) => {
                let is_connected = matches!(self.stage, Stage::Connected(_));
                let picture =
                    if is_connected { Ok(people::picture(&of)) } else { Err(AskError::NotConnected) };
                drop(answer.send(picture));
            }
            Command::Send(to, id, outgoing, answer) => {
                drop(answer.send(self.hand_over(&to, &id, outgoing)));
            }
            Command::Show(sign, answer) => drop(answer.send(match self.stage {
                Stage::Connected(from) => {
                    self.shared.signs.add(ShownSign { from: format!("+{from}"), ..sign });
                    Ok(())
                }
                _ => Err(AskError::NotConnected),
            })),
            Command::GiveCode(number, answer) => drop(answer.send(match &mut self.stage {
                Stage::Pairing(pairing) => Ok(pairing.give_code(number, Instant::now(), &mut self.telling)),
                Stage::Gate(_) => Err(PairingFailure::NotNow("WhatsApp waits for a passkey".to_owned())),
                Stage::Connecting(..) | Stage::Connected(_) => {
                    Err(PairingFailure::NotNow("it is paired already".to_owned()))
                }
            })),
            Command::Scan(scan, answer) => match self.scanned(&scan).await {
                Ok(scanned) => drop(answer.send(scanned)),
                Err(end) => return Some(end),
            },
            Command::AnswerPasskey(assertion, answer) => drop(answer.send(self.answer_passkey(&assertion))),
            Command::ConfirmPasskey(answer) => {
                let number = match &self.stage {
                    Stage::Gate(gate) if gate.code.is_some() => gate.number,
                    _ => {
                        drop(answer.send(Err(PasskeyRefused("there is no code to be compared".to_owned()))));
                        return None;
                    }
                };
                if let Err(end) = self.link(number).await {
                    return Some(end);
                }
                drop(answer.send(Ok(())));
            }
            Command::Unlink => return Some(End::Unlinked),
            Command::Stop => return Some(End::Stopped),
        }
        None
    }

    fn find(&mut self, number: PhoneNumber) -> Result<Option<Found>, AskError> {
        if !matches!(self.stage, Stage::Connected(_)) {
            return Err(AskError::NotConnected);
        }
        if !people::is_on_whatsapp(number) {
            return Ok(None);
        }
        let lid = people::hidden(number);
        if let Some(lid) = lid.clone() {
            self.telling.tell(Event::LidLearned { number, lid });
        }
        Ok(Some(Found { jid: Jid::person(number), lid, is_business: false }))
    }

    /// A repeated message is handed over again: its recipient has it once, and its outcome is reported again.
    fn hand_over(&mut self, to: &Jid, id: &MessageId, outgoing: Outgoing) -> Result<(), SendError> {
        let Stage::Connected(from) = self.stage else { return Err(SendError::NotConnected) };
        if people::fate(to) == Fate::NoGroup {
            let sentence = "there is no such group, or the account is not in it".to_owned();
            return Err(SendError::Recipient(sentence));
        }
        let is_played = message::is_played(&outgoing.content);
        if self.shared.inbox.add(self.session, from, to, id, outgoing) {
            self.await_answer(to, id);
        }
        let lost = self.pending_acks.add(id, to, is_played, &self.shared.options, Instant::now());
        self.telling.lose(lost);
        Ok(())
    }

    /// Lets the recipient of a message answer it, if that happens and the message arrives.
    fn await_answer(&mut self, to: &Jid, id: &MessageId) {
        let person = people::number(to).filter(|_| people::fate(to) == Fate::Arrives);
        let Some(person) = person else { return };
        let Some((after, content)) = self.answers.next(&self.shared.options) else { return };
        let answer = PersonMessage::answer(person.to_string(), id.to_string(), content);
        if let Err(fault) = self.shared.write(self.session, &answer, 1, after) {
            tracing::debug!(fault, "a played person does not answer");
        }
    }

    /// Handles a code that the phone used: the phone is linked if the code is valid, after its passkey was
    /// used if it has one.
    async fn scanned(&mut self, scan: &Scan) -> Result<Option<Scanned>, End> {
        let Stage::Pairing(pairing) = &self.stage else { return Ok(None) };
        let Some(number) = pairing.used(&scan.code, scan.number) else { return Ok(None) };
        let valid_for = self.shared.options.passkey;
        match scan.has_passkey.then(|| self.shared.passkey.challenge(valid_for)).flatten() {
            Some(challenge) => {
                self.telling.tell(Event::PasskeyRequired { challenge: challenge.clone(), valid_for });
                let until = Instant::now() + valid_for;
                let options = Value::Object(challenge.options().clone());
                let entry = Entry::new(&self.shared, self.session, Shown { number, options, code: None });
                self.stage = Stage::Gate(Box::new(Gate { number, challenge, until, code: None, entry }));
            }
            None => self.link(number).await?,
        }
        Ok(Some(Scanned { number, device_name: self.device_name.clone() }))
    }

    fn answer_passkey(&mut self, assertion: &Assertion) -> Result<(), PasskeyRefused> {
        let Stage::Gate(gate) = &mut self.stage else {
            return Err(PasskeyRefused("no passkey is asked for".to_owned()));
        };
        if gate.code.is_some() {
            return Err(PasskeyRefused("the passkey was used already".to_owned()));
        }
        if !assertion.answers(&gate.challenge) || !self.shared.passkey.has_signed(assertion) {
            return Err(PasskeyRefused("the signature is not that of the account's passkey".to_owned()));
        }
        let code = codes::compared();
        gate.entry.show(&code);
        gate.code = Some(code.clone());
        self.telling.tell(Event::PasskeyCode { code: Secret::new(code), is_proven: false });
        Ok(())
    }

    /// Links this phone.
    async fn link(&mut self, number: PhoneNumber) -> Result<(), End> {
        if let Err(error) = memory::write(&*self.records, number).await {
            return Err(End::Failed { sentence: error.to_string() });
        }
        self.telling.tell(Event::Paired { number, lid: people::hidden(number), business_name: None });
        self.stage = Stage::Connecting(number, Instant::now() + self.shared.options.connect_after);
        Ok(())
    }

    fn show_figures(&self) {
        let is_logged_in = matches!(self.stage, Stage::Connected(_));
        let figures = Figures {
            is_connected: is_logged_in || matches!(self.stage, Stage::Pairing(_) | Stage::Gate(_)),
            is_logged_in,
            missed_events: self.telling.missed(),
            ..Figures::default()
        };
        self.figures.send_if_modified(|shown| std::mem::replace(shown, figures) != figures);
    }
}

/// Sleeps until this time; forever without one.
async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => pending().await,
    }
}
