//! The machine of a channel: the only place that decides what a channel does, and when.
//!
//! ```text
//! handle(&mut self, input: Input, at: Moment, rng: &mut impl Rng, effects: &mut Effects)
//! ```
//!
//! It never waits and calls nobody: events come in as an [`Input`], actions go out as an [`Effect`], and both clocks
//! come with each input as a [`Moment`]. The same inputs at the same moments with the same random numbers have the same
//! effects. Memory that several channels share is in [`Common`], which has no clock either.
//!
//! Each component owns its state: [`lanes`] and [`work`] decide which message goes next, [`limiter`] and
//! [`recipient_pacing`] when it goes, [`retry`] when it is retried, [`pause`] and [`hold`] which messages must not go.
//! [`unknown`] follows unknown outcomes, [`connection`] the channel's state, and [`canary`] decides which message opens
//! the channel again after a refusal. [`dispatch`] starts messages, and [`answer`] acts on the provider's answers. A
//! web session has [`web_pacing`] too, and [`admission`] admits messages whose callers wait. There is one timer, and
//! only [`timer`] computes it.

mod admission;
mod ahead;
mod answer;
mod arrivals;
mod backlog;
mod canary;
mod connection;
mod control;
mod counted;
mod dispatch;
mod effect;
mod explain;
mod heard;
mod history;
mod hold;
mod input;
mod lane;
mod lanes;
mod limiter;
mod lookup_pacing;
mod map;
mod moment;
mod outbox;
mod pause;
mod permits;
mod present;
mod probe;
mod queue;
mod recipient_pacing;
mod rendered;
mod restored;
mod retries;
mod retry;
mod settled;
mod start;
mod templates;
#[cfg(test)]
mod tests;
mod ticket;
mod timer;
mod trial;
mod unknown;
mod waiting;
mod web_pacing;
mod work;

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rand::Rng;

pub(crate) use self::admission::PAIR_SENTENCE;
use self::admission::{Admission, AdmissionRequest};
use self::ahead::Ahead;
use self::arrivals::ReleasedEarly;
pub(crate) use self::backlog::Backlog;
use self::connection::Link;
use self::control::Ending;
pub(crate) use self::counted::Counting;
use self::dispatch::Held;
pub(crate) use self::effect::{
    Answer, Attempt, Effect, Effects, Fetch, Figure, Question, SaveConnection, WebAttempt,
};
pub(crate) use self::explain::{Pace, Viewed};
use self::history::History;
pub(crate) use self::input::{
    Admit, AdmitLookup, Answered, Connected, Failed, Input, LeaseLost, NotConnected, Saved, Troubled,
    WebActivity,
};
use self::lanes::Lanes;
use self::limiter::Limiter;
pub(crate) use self::lookup_pacing::Lookup;
use self::moment::Step;
use self::outbox::Outbox;
use self::pause::Pause;
use self::permits::Flight;
pub(crate) use self::present::Present;
use self::queue::Queue;
use self::recipient_pacing::RecipientPacing;
pub(crate) use self::rendered::Rendered;
pub(crate) use self::restored::{Fetched, Found, Restoring, Waits};
use self::retries::Retries;
use self::templates::Templates;
use self::timer::Timer;
use self::unknown::Unknowns;
pub(crate) use self::web_pacing::TooSoon;
use crate::account::Member;
pub(crate) use crate::machine::{Caller, Moment};
use crate::shared::Common;
use domain::channel::Channel;
use domain::tier::Tier;

/// Delay before a failed read of the store, or a write beside the ledger, is retried.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The state of a running channel.
pub(crate) struct Machine {
    common: Arc<Common>,
    channel: Arc<Channel>,
    tier: Arc<Tier>,
    /// The channel's part in its business account, boxed to keep the many machines of idle channels small.
    account: Box<Member>,
    link: Link,
    limiter: Limiter,
    recipient_pacing: RecipientPacing,
    pause: Pause,
    ahead: Ahead,
    history: History,
    admission: Admission,
    templates: Templates,
    lanes: Lanes,
    queue: Queue,
    released_early: ReleasedEarly,
    outbox: Outbox,
    ending: Ending,
    flight: Flight,
    unknowns: Unknowns,
    /// Why no message could start, at the last attempt to start one.
    held: Option<Held>,
    retries: Retries,
    timer: Timer,
    life: Life,
}

/// Whether the channel runs.
enum Life {
    Running,
    /// The channel starts nothing more; these callers wait for its end.
    Stopping(Vec<Caller>),
    Over,
}

impl Machine {
    /// Handles one input, and adds its effects to `effects`.
    pub(crate) fn handle(&mut self, input: Input, at: Moment, rng: &mut impl Rng, effects: &mut Effects) {
        if self.is_over() {
            return;
        }
        let step = &mut Step::new(at, rng, effects);
        self.take_up(input, step);
        self.catch_up(step);
        self.set_timer(step);
    }

    fn take_up(&mut self, input: Input, step: &mut Step<'_>) {
        match input {
            Input::Started => self.start(step),
            Input::Timer => self.woken(step),
            Input::Accepted { sends, is_late } => self.accepted(&sends, is_late, step),
            Input::Answered(answered) => self.answered(answered, step),
            Input::Written(result) => self.written(result, step),
            Input::Fetched { size, result } => self.fetched(size, result, step),
            Input::WaitsRead { send_id, result } => self.waits_read(send_id, result, step),
            Input::RecipientsRead { send_id, from, result } => {
                self.recipients_read(send_id, from, result, step);
            }
            Input::StatesRead { question, result } => self.states_read(question, result, step),
            Input::WebActivityRead(result) => self.web_pacing_learned(result, step),
            Input::Connected { generation, result } => self.connected(generation, result, step),
            Input::Probed { generation, health } => self.probed(generation, health, step),
            Input::ConnectionSaved(saved) => self.connection_saved(saved, step),
            Input::TemplateMarked { template_id, result } => self.template_marked(template_id, result, step),
            Input::PermitsGranted(grant) => self.permits_granted(grant, step),
            Input::Refreshed(channel) => self.refresh(&channel, step),
            Input::Released { send_id, over, caller } => self.release_send(send_id, over, caller, step),
            Input::Admit { admit, caller } => self.asked_in(AdmissionRequest::Message(admit), caller, step),
            Input::AdmitLookup { lookup, caller } => {
                self.asked_in(AdmissionRequest::Lookup(lookup), caller, step);
            }
            Input::Look => self.look(step),
            Input::Overlooked { direct, bulk } => self.overlooked([direct, bulk], step),
            Input::ClockWasSet => self.clock_was_set(step),
            Input::Account(news) => self.account_changed(news, step),
            Input::TemplatesChanged(templates) => self.templates_changed(&templates, step),
            Input::Heard(messages) => self.receipts_heard(messages, step),
            Input::Troubled(troubled) => self.troubled(&troubled, step),
            Input::Recheck => self.take_up_news(step),
            Input::Stop(caller) => self.stop(caller, step),
        }
    }

    /// The channel's record, as the machine knows it.
    pub(crate) const fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    /// Starts no more messages; `caller` is answered at the end.
    fn stop(&mut self, caller: Caller, step: &mut Step<'_>) {
        match &mut self.life {
            Life::Stopping(callers) => callers.push(caller),
            Life::Running | Life::Over => self.life = Life::Stopping(vec![caller]),
        }
        self.pump(step);
    }

    const fn is_stopping(&self) -> bool {
        !matches!(self.life, Life::Running)
    }

    const fn is_over(&self) -> bool {
        matches!(self.life, Life::Over)
    }

    /// Ends the machine.
    fn end(&mut self, step: &mut Step<'_>) {
        if let Life::Stopping(callers) = mem::replace(&mut self.life, Life::Over) {
            for caller in callers {
                step.push(Effect::Reply(caller, Answer::Done));
            }
        }
        step.push(Effect::End);
    }
}
