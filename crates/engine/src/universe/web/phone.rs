//! The phones, WhatsApp Web behind them, and the sessions that are opened with it: they connect, break, are unlinked on
//! the phone, replaced elsewhere or banned, and are paired again.

use std::time::Duration;

use super::super::world::World;
use super::WebEvent;
use crate::web_session::machine::Input;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::{Ack, Ban, End, Event};

/// QR codes that one session shows, and how long each of them is valid.
const CODES: u32 = 6;
const CODE_SPAN: Duration = Duration::from_secs(20);
/// The waits between attempts to connect, in seconds; the last one is repeated.
const DIALS: [u64; 6] = [1, 1, 2, 3, 5, 8];

/// A phone, and what WhatsApp knows of it.
pub(super) struct Phone {
    pub(super) number: PhoneNumber,
    /// The device that the phone lists as linked.
    pub(super) linked: Option<u64>,
    /// Devices that were linked so far.
    pub(super) devices: u64,
    /// The session that is open with it.
    pub(super) open: Option<u64>,
    /// The same device is connected elsewhere until then.
    elsewhere_until: Duration,
    /// The account is banned until then.
    banned_until: Duration,
    /// Acknowledgements that the device gets when it connects.
    pub(super) held: Vec<Ack>,
}

/// A session that was opened.
pub(super) struct Session {
    pub(super) channel: usize,
    /// The device in its records.
    pub(super) device: Option<u64>,
    pub(super) is_connected: bool,
    /// Connections so far.
    pub(super) connections: u64,
    /// Failed attempts to connect in a row.
    attempts: u32,
    has_ended: bool,
    /// Nothing is written any more.
    pub(super) is_closed: bool,
    /// A person has used its code.
    pub(super) is_scanned: bool,
}

/// The next step of a session.
pub(in crate::universe) enum SessionStep {
    Dials,
    /// The connection of this number breaks.
    Breaks(u64),
    /// It shows a code, the one of this number.
    Shows(u32),
    /// The phone accepts it.
    Paired,
    /// It ends, and its last event gives no reason.
    Ends,
    Tells(Event),
    Answers(Input),
}

impl Phone {
    pub(super) fn new(channel: usize, linked: Option<u64>) -> Self {
        let number = PhoneNumber::from_u64(5_521_900_000_000 + channel as u64);
        Self {
            number: number.unwrap_or_else(|| unreachable!("it has thirteen digits")),
            linked,
            devices: 0,
            open: None,
            elsewhere_until: Duration::ZERO,
            banned_until: Duration::ZERO,
            held: Vec::new(),
        }
    }

    /// Holds this until the device connects.
    pub(super) fn hold(&mut self, ack: Ack) {
        if self.linked.is_some() {
            self.held.push(ack);
        }
    }
}

impl World {
    pub(super) fn step_later(&mut self, session: u64, wait: Duration, step: SessionStep) {
        self.after_for_web(wait, WebEvent::Step { session, step });
    }

    pub(super) fn session(&mut self, session: u64) -> Option<&mut Session> {
        self.process.as_mut()?.web.sessions.get_mut(&session).filter(|session| !session.has_ended)
    }

    /// A session is opened with what is in its records.
    pub(super) fn open_session(&mut self, channel: usize) {
        let number = self.web.number();
        let device = self.device(channel);
        self.figures.opened += 1;
        self.web.keys.begin(channel);
        let Some(phone) = self.web.phones.get_mut(&channel) else { return };
        if let Some(open) = phone.open.replace(number) {
            let what = format!("channel {channel}: {open} is, and {number} is opened");
            self.watch.break_("at most one session of a phone is open at a time", what);
        }
        let Some(process) = &mut self.process else { return };
        let session = Session {
            channel,
            device,
            is_connected: false,
            connections: 0,
            attempts: 0,
            has_ended: false,
            is_closed: false,
            is_scanned: false,
        };
        process.web.sessions.insert(number, session);
        process.web.handles.insert(channel, number);
        if let Some(supervisor) = process.web.supervisors.get_mut(&channel) {
            supervisor.events.clear();
            supervisor.answers.clear();
            supervisor.session = Some(number);
        }
        let wait = self.dice.time(Duration::from_millis(5), Duration::from_millis(800));
        self.step_later(number, wait, SessionStep::Dials);
    }

    /// The session sends its supervisor an event; `None` when it will send no more.
    pub(super) fn tell_supervisor(&mut self, session: u64, event: Option<Event>) {
        let Some(process) = &mut self.process else { return };
        let supervisor =
            process.web.supervisors.iter_mut().find(|(_, supervisor)| supervisor.session == Some(session));
        let Some((channel, supervisor)) = supervisor else { return };
        let channel = *channel;
        supervisor.events.push_back(event);
        self.run_supervisor(channel);
    }

    /// A session ends, with its reason.
    pub(super) fn end_session(&mut self, number: u64, end: Option<End>) {
        let Some(session) = self.session(number) else { return };
        session.has_ended = true;
        session.is_connected = false;
        let channel = session.channel;
        if let Some(phone) = self.web.phones.get_mut(&channel) {
            phone.open.take_if(|open| *open == number);
        }
        if let Some(end) = end {
            self.tell_supervisor(number, Some(Event::Ended(end)));
        }
        self.tell_supervisor(number, None);
    }

    /// The supervisor tells its session to end.
    pub(super) fn stop_session(&mut self, channel: usize, unlinks: bool) {
        let handles = self.process.as_ref().map(|process| &process.web.handles);
        let Some(number) = handles.and_then(|handles| handles.get(&channel)).copied() else { return };
        let Some(session) = self.session(number) else { return };
        let is_linked = session.is_connected && session.device.is_some();
        let phone = self.web.phones.get_mut(&channel);
        if let Some(phone) = phone.filter(|_| unlinks && is_linked) {
            phone.linked = None;
            phone.held.clear();
        }
        self.end_session(number, Some(if unlinks { End::Unlinked } else { End::Stopped }));
    }

    /// The supervisor dropped the session: it ends by itself, unless it has ended.
    pub(super) fn drop_session(&mut self, number: u64) {
        if self.session(number).is_some() {
            let wait = self.dice.time(Duration::from_millis(10), Duration::from_millis(500));
            self.step_later(number, wait, SessionStep::Ends);
        }
    }

    /// The session's records take no further write.
    pub(super) fn close_records(&mut self, number: u64) {
        if let Some(session) = self.session(number) {
            session.is_closed = true;
        }
    }

    pub(super) fn session_step(&mut self, number: u64, step: SessionStep) {
        let Some(session) = self.session(number) else { return };
        match step {
            SessionStep::Dials => self.dial(number),
            SessionStep::Breaks(connection) => {
                if session.is_connected && session.connections == connection {
                    session.is_connected = false;
                    let sentence = "the connection broke".to_owned();
                    self.tell_supervisor(number, Some(Event::Disconnected { sentence }));
                    let wait = self.dice.time(Duration::from_millis(100), Duration::from_secs(3));
                    self.step_later(number, wait, SessionStep::Dials);
                }
            }
            SessionStep::Shows(CODES) => {
                self.tell_supervisor(number, Some(Event::QrExhausted));
                self.end_session(number, Some(End::QrExhausted));
            }
            SessionStep::Shows(code) => {
                if session.is_scanned {
                    return;
                }
                let payload = Secret::new(format!("code {code}"));
                self.tell_supervisor(number, Some(Event::Qr { payload, valid_for: CODE_SPAN }));
                self.step_later(number, CODE_SPAN, SessionStep::Shows(code + 1));
            }
            SessionStep::Paired => self.paired(number),
            SessionStep::Ends => self.end_session(number, None),
            SessionStep::Tells(event) => self.tell_supervisor(number, Some(event)),
            SessionStep::Answers(input) => {
                let Some(process) = &mut self.process else { return };
                let supervisors = process.web.supervisors.iter_mut();
                if let Some((channel, supervisor)) =
                    supervisors.into_iter().find(|(_, supervisor)| supervisor.session == Some(number))
                {
                    let channel = *channel;
                    supervisor.answers.push_back(input);
                    self.run_supervisor(channel);
                }
            }
        }
    }

    fn dial(&mut self, number: u64) {
        let now = self.clock.elapsed();
        let Some(&mut Session { channel, device, .. }) = self.session(number) else { return };
        let Some(phone) = self.web.phones.get(&channel) else { return };
        let Some(device) = device else { return self.session_step(number, SessionStep::Shows(0)) };
        if phone.elsewhere_until > now {
            return self.end_session(number, Some(End::Replaced));
        }
        if phone.banned_until > now {
            let until = self.clock.wall().plus(phone.banned_until - now);
            let ban = Ban { until, code: 101, sentence: "too many messages".to_owned() };
            return self.end_session(number, Some(End::Banned(ban)));
        }
        if phone.linked != Some(device) {
            return self.end_session(number, Some(End::Unlinked));
        }
        let fails = self.goes_wrong(self.plan.trouble.dial_fails);
        let Some(session) = self.session(number) else { return };
        if fails {
            session.attempts += 1;
            let attempts = session.attempts;
            let sentence = "nobody answers".to_owned();
            self.tell_supervisor(number, Some(Event::Unreachable { attempts, sentence }));
            let place = usize::try_from(attempts).unwrap_or(usize::MAX).min(DIALS.len()) - 1;
            return self.step_later(number, Duration::from_secs(DIALS[place]), SessionStep::Dials);
        }
        session.attempts = 0;
        session.is_connected = true;
        session.connections += 1;
        let connection = session.connections;
        self.tell_supervisor(number, Some(Event::Connected));
        let held = self.web.phones.get_mut(&channel).map(|phone| std::mem::take(&mut phone.held));
        for ack in held.unwrap_or_default() {
            self.tell_supervisor(number, Some(Event::Ack(ack)));
        }
        if self.goes_wrong(self.plan.trouble.breaks) {
            let wait = self.dice.time(Duration::from_millis(200), Duration::from_secs(30));
            self.step_later(number, wait, SessionStep::Breaks(connection));
        }
    }

    /// The person takes the device off the phone's list.
    pub(super) fn unlink_on_phone(&mut self, channel: usize) {
        let Some(phone) = self.web.phones.get_mut(&channel) else { return };
        phone.linked = None;
        phone.held.clear();
        self.end_if_connected(channel, End::Unlinked);
    }

    /// The same device connects elsewhere for a while.
    pub(super) fn connect_elsewhere(&mut self, channel: usize) {
        let until = self.clock.elapsed() + self.dice.time(Duration::from_secs(1), Duration::from_secs(40));
        if let Some(phone) = self.web.phones.get_mut(&channel) {
            phone.elsewhere_until = until;
            self.end_if_connected(channel, End::Replaced);
        }
    }

    /// WhatsApp bans the account for a while.
    pub(super) fn ban(&mut self, channel: usize) {
        let lasts = self.dice.time(Duration::from_secs(1), Duration::from_secs(20));
        let (until, over): (Timestamp, _) = (self.clock.wall().plus(lasts), self.clock.elapsed() + lasts);
        if let Some(phone) = self.web.phones.get_mut(&channel) {
            phone.banned_until = over;
            let ban = Ban { until, code: 101, sentence: "too many messages".to_owned() };
            self.end_if_connected(channel, End::Banned(ban));
        }
    }

    fn end_if_connected(&mut self, channel: usize, end: End) {
        let open = self.web.phones.get(&channel).and_then(|phone| phone.open);
        if let Some(open) = open
            && self.session(open).is_some_and(|session| session.is_connected)
        {
            self.end_session(open, Some(end));
        }
    }
}
