//! The machine of one webhook endpoint of a company: decides which events are sent to it, when failed ones are
//! retried, and what is written to the store.
//!
//! ```text
//! handle(&mut self, input: Input, at: Moment, effects: &mut Effects)
//! ```
//!
//! Events are delivered at least once, in the order of the log unless they are retried. Each component owns its state:
//! the [`window`] has the events that were read from the log, [`retries`] the failed ones, [`replay`] those that a person
//! wants to be sent once more, [`attempts`] those in flight, the [`circuit`] the health of the receiver, and [`writing`] what is in the store. All of them are bounded,
//! and so is the number of events that are attempted beyond the stored cursor. There is one timer. The machine knows
//! nothing of the content of events, of HTTP or of the receiver's address.

mod attempts;
mod circuit;
mod effect;
mod input;
mod replay;
mod retries;
#[cfg(test)]
mod tests;
mod window;
mod writing;

use std::mem;
use std::time::{Duration, Instant};

use uuid::Uuid;

use self::attempts::Attempts;
use self::circuit::Circuit;
pub use self::circuit::{DisableCause, EndpointHealth, EndpointState};
pub use self::effect::{AttemptId, Effect, Effects, GivenUp, Notice, Write};
pub use self::input::{
    AttemptVerdict, EndpointSettings, EventItem, Input, LogPage, ReplayPage, Resume, Stored,
};
use self::replay::Replay;
pub use self::replay::ReplayRange;
use self::retries::Retries;
pub use self::retries::Retry;
use self::window::EventWindow;
use self::writing::EndpointWriting;
use crate::Moment;

/// Delay before a failed read of the log is retried.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// The machine of one endpoint.
#[derive(Debug)]
pub struct Machine {
    /// For the log.
    endpoint: Uuid,
    settings: EndpointSettings,
    circuit: Circuit,
    window: EventWindow,
    retries: Retries,
    replay: Replay,
    attempts: Attempts,
    reading: LogReading,
    /// The log may have events that were not read.
    has_more: bool,
    writing: EndpointWriting,
    is_stopping: bool,
    is_over: bool,
    /// The last requested time to wake the machine.
    wakes_at: Option<Instant>,
}

/// A read of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogReading {
    Idle,
    UnderWay,
    /// The read failed: it is retried then.
    Again(Instant),
}

impl LogReading {
    fn may_begin(self, now: Instant) -> bool {
        match self {
            Self::Idle => true,
            Self::UnderWay => false,
            Self::Again(at) => at <= now,
        }
    }

    /// When a read that failed is retried.
    const fn again_at(self) -> Option<Instant> {
        match self {
            Self::Again(at) => Some(at),
            Self::Idle | Self::UnderWay => None,
        }
    }
}

impl Machine {
    /// The machine of this endpoint, as the store holds it. Its first input is [`Input::Timer`].
    pub fn new(endpoint: Uuid, settings: EndpointSettings, stored: Stored, at: Moment) -> Self {
        let Stored { cursor, health, retries, replay } = stored;
        Self {
            endpoint,
            settings: settings.clamped(),
            circuit: Circuit::new(health, at.monotonic),
            window: EventWindow::new(cursor, retries.iter().map(|retry| retry.item)),
            retries: Retries::new(retries, at),
            replay: Replay::new(replay),
            attempts: Attempts::default(),
            reading: LogReading::Idle,
            has_more: true,
            writing: EndpointWriting::new(cursor, health, replay, at.monotonic),
            is_stopping: false,
            is_over: false,
            wakes_at: None,
        }
    }

    /// Handles one input, and adds its effects to `effects`.
    pub fn handle(&mut self, input: Input, at: Moment, effects: &mut Effects) {
        if self.is_over {
            return;
        }
        match input {
            Input::Timer => self.wakes_at = None,
            Input::Grew => self.has_more = true,
            Input::Read(result) => self.was_read(result, at.monotonic),
            Input::ReplayRead(result) => self.was_replay_read(result, at),
            Input::Attempted { attempt, verdict, chance } => {
                self.attempted(attempt, verdict, chance, at, effects);
            }
            Input::Written(result) => self.written(result, at),
            Input::Changed(settings) => self.settings = settings.clamped(),
            Input::Mended => self.circuit.probe_soon(at.monotonic),
            Input::Disable => self.disable(DisableCause::Person, at, effects),
            Input::Enable(resume) => self.enable(resume, at),
            Input::Stop => self.is_stopping = true,
        }
        if self.is_active() {
            self.attempt(at.monotonic, effects);
            self.read(at.monotonic, effects);
            self.read_replay(at.monotonic, effects);
        }
        self.write(at, effects);
        if self.is_stopping && self.attempts.len() == 0 && self.is_written(at.monotonic) {
            self.is_over = true;
            effects.push(Effect::End);
            return;
        }
        self.set_timer(at.monotonic, effects);
    }

    /// The health of the endpoint, which may be newer than the stored one.
    pub const fn health(&self) -> EndpointHealth {
        self.circuit.health
    }

    const fn is_active(&self) -> bool {
        self.circuit.is_enabled() && !self.is_stopping
    }

    fn is_written(&self, now: Instant) -> bool {
        !self.writing.is_under_way() && self.write_at(now).is_none()
    }

    /// Reads the log while there is room for its events.
    fn read(&mut self, now: Instant, effects: &mut Effects) {
        let limit = self.window.room(&self.settings);
        if self.reading.may_begin(now) && self.has_more && limit > 0 {
            self.reading = LogReading::UnderWay;
            // An event that is added during the read may come after the page.
            self.has_more = false;
            effects.push(Effect::Read { after: self.window.read_to(), limit });
        }
    }

    fn was_read(&mut self, result: Result<LogPage, String>, now: Instant) {
        self.reading = LogReading::Idle;
        match result {
            Ok(LogPage { items, up_to, is_end }) => {
                self.has_more |= !is_end;
                self.window.extend(items, up_to);
            }
            Err(error) => {
                tracing::error!(webhook.id = %self.endpoint, error, "cannot read the log of events for a webhook, the read is retried");
                self.has_more = true;
                self.reading = LogReading::Again(now + READ_PAUSE);
            }
        }
    }

    /// A person enables the endpoint: its failures are forgotten.
    fn enable(&mut self, resume: Resume, at: Moment) {
        if self.circuit.is_enabled() {
            return;
        }
        self.circuit.health = EndpointHealth::NEW;
        self.has_more = true;
        match resume {
            Resume::CatchUp => self.defer(at),
            Resume::FromNow { end } => {
                self.window.skip_to(end);
                self.retries.clear();
                self.replay.end();
            }
        }
    }

    /// The only place that computes when the machine has to be woken.
    fn set_timer(&mut self, now: Instant, effects: &mut Effects) {
        let mut next = self.write_at(now);
        if self.is_active() {
            let deferred = self.window.deferred(now).map(|(_, time)| time).min();
            let probe = Some(self.circuit.probe_at).filter(|time| self.circuit.is_open() && *time > now);
            let reads = [self.reading.again_at(), self.replay.again_at()].into_iter().flatten().min();
            let times = [next, self.retries.next_due(now), deferred, probe, reads];
            next = times.into_iter().flatten().min();
        }
        if mem::replace(&mut self.wakes_at, next) != next
            && let Some(next) = next
        {
            effects.push(Effect::WakeAt(next));
        }
    }
}
