//! The connection of a channel: its state, whether a fitting connector exists, and the changes of both.
//!
//! Only the provider's word on credentials or registration disconnects; silence, server errors and timeouts never do. A
//! channel of which a message was refused is connected again by a [`trial`](super::trial). A disconnected channel keeps
//! its queue. A change is written to the store only if the stored state is still the one that it was derived from (a
//! person who reconnects wins), and a stored state is taken over only if it is newer.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Machine;
use super::canary::Canary;
use super::dispatch::Held;
use super::effect::{Effect, Figure, SaveConnection};
use super::input::{Connected, NotConnected, Saved};
use super::moment::Step;
use super::retries::Retry;
use clock::Timestamp;
use connectors::Disposition;
use domain::channel::{Channel, Connection, Kind, Level, Reason, ReasonCode, Status, Trial};
use domain::message::Failure;
use domain::outlook;

/// How long messages wait for the provider's first answer about the number, which says how fast it may send.
const LEVEL_PATIENCE: Duration = Duration::from_secs(10);

/// The connection, as the machine knows it.
pub(super) struct Link {
    kind: Kind,
    connection: Connection,
    /// The trial before the channel is connected again.
    pub(super) canary: Canary,
    /// The shell has a connector of this generation.
    has_connector: bool,
    /// Rises with every new connector.
    generation: u64,
    /// How often in a row the provider reported that the number cannot send.
    pub(super) refusals: u32,
    /// The number's level, as the provider last reported it to this process.
    pub(super) level: Option<Level>,
    /// Messages wait for the level until then.
    level_awaited_until: Option<Instant>,
    /// The provider reported on the number since the connector was created.
    pub(super) is_described: bool,
    pub(super) probe: Probe,
    /// The revision of the state that was last read or written.
    revision: i64,
    /// The change of state that is being written.
    saving: Option<Box<SaveConnection>>,
}

/// Probing the number at the provider.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// The progress of the present probe.
    pub(super) stage: Stage,
    /// The probe was caused by a webhook.
    pub(super) is_for_news: bool,
    /// When a probe was last begun.
    pub(super) begun: Option<Instant>,
    /// A webhook about the number arrived since the last probe began.
    pub(super) has_news: bool,
    /// When the next probe is due.
    pub(super) next: Option<Instant>,
    /// How many probes in a row got no answer.
    pub(super) unanswered: u32,
}

/// The progress of a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is none.
    #[default]
    Idle,
    /// The probe waits in the queue of the account.
    Queued,
    /// The probe is under way.
    Asked,
}

impl Link {
    pub(super) fn new(kind: Kind, connection: Connection, trial: Option<Trial>) -> Self {
        Self {
            kind,
            connection,
            canary: Canary::new(trial),
            has_connector: false,
            generation: 0,
            refusals: 0,
            level: None,
            level_awaited_until: None,
            is_described: false,
            probe: Probe::default(),
            revision: 0,
            saving: None,
        }
    }

    /// Changes the state. Returns the previous one.
    fn set(&mut self, connection: Connection, step: &mut Step<'_>) -> Connection {
        step.push(Effect::Publish(connection.clone()));
        if connection.status != self.connection.status {
            step.note(Figure::Changed(connection.status));
        }
        mem::replace(&mut self.connection, connection)
    }

    /// When the next probe is due, if one is scheduled.
    pub(super) const fn probe_at(&self) -> Option<Instant> {
        self.probe.next
    }

    /// Whether a probe is due. Returns `true` once for each.
    pub(super) fn take_due_probe(&mut self, now: Instant) -> bool {
        self.probe.next.take_if(|at| *at <= now).is_some()
    }

    /// Whether sends are accepted.
    pub(super) const fn accepts(&self) -> bool {
        self.connection.accepts()
    }

    /// The channel's status.
    pub(super) const fn status(&self) -> Status {
        self.connection.status
    }

    /// The channel's state, with its reason.
    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether the number can be probed, even if no messages may go. A web session reports its state by itself.
    pub(super) fn can_ask(&self) -> bool {
        self.has_connector && self.kind == Kind::BusinessAccount
    }

    /// Whether messages may go.
    pub(super) fn can_send(&self) -> bool {
        let may_go = match self.kind {
            Kind::BusinessAccount if self.canary.trial().is_some() => self.canary.is_half_open(),
            Kind::BusinessAccount => self.connection.accepts(),
            Kind::WebSession => self.connection.status == Status::Connected,
        };
        self.has_connector && may_go
    }

    /// Why no message may go although the connector works: the answer to the canary, or to the first probe, is awaited.
    pub(super) fn holds(&self, now: Instant) -> Option<Held> {
        if self.canary.is_on_its_way() {
            return Some(Held { reason: self.refusal(), until: None });
        }
        let until = self.level_awaited_until.filter(|until| *until > now)?;
        Some(Held { reason: outlook::Reason::ProviderPause, until: Some(until) })
    }

    /// A probe ended, with or without a level: messages wait for the level no longer.
    pub(super) const fn learn_level(&mut self, level: Option<Level>) {
        self.level_awaited_until = None;
        if level.is_some() {
            self.level = level;
        }
    }

    /// The reason why no message goes, as a sentence for people.
    pub(super) fn sentence(&self) -> String {
        self.connection.obstacle().unwrap_or_default()
    }

    /// Why no message may go.
    pub(super) const fn refusal(&self) -> outlook::Reason {
        match self.connection.status {
            Status::Blocked => outlook::Reason::Blocked,
            Status::Disconnected | Status::Pairing => outlook::Reason::Disconnected,
            Status::Connected | Status::Connecting => outlook::Reason::ProviderPause,
        }
    }

    /// The generation of the connector in use.
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }
}

impl Machine {
    /// Requests a connector. Results of an earlier one are out of date from here on.
    pub(super) fn connect(&mut self, step: &mut Step<'_>) {
        self.link.revision = self.link.revision.max(self.channel.revision);
        self.link.generation += 1;
        if mem::take(&mut self.link.probe.stage) != Stage::Idle {
            self.account.end_question(step.moment());
        }
        self.link.probe.unanswered = 0;
        self.link.is_described = false;
        step.push(Effect::Connect { generation: self.link.generation });
        if self.channel.kind == Kind::WebSession {
            self.link.has_connector = true;
            self.learn_web_pacing(step);
        }
    }

    /// The request for a connector ended.
    pub(super) fn connected(
        &mut self,
        generation: u64,
        result: Result<Connected, NotConnected>,
        step: &mut Step<'_>,
    ) {
        if generation != self.link.generation {
            return;
        }
        match result {
            Ok(Connected { app }) => {
                self.account.speak_for(app);
                self.link.has_connector = true;
                let patience = (!self.is_level_known()).then(|| step.now() + LEVEL_PATIENCE);
                self.link.level_awaited_until = patience;
                if self.link.accepts() {
                    self.half_open(false, step);
                }
                self.begin_probing(step);
                self.pump(step);
            }
            Err(NotConnected::Unusable(sentence)) => {
                if self.link.connection.accepts() {
                    let code = ReasonCode::NoUsableToken.into();
                    let reason = Reason { code, sentence, provider_code: None };
                    self.change(Status::Disconnected, Some(reason), step);
                }
            }
            Err(NotConnected::Failed) => self.retries.add(Retry::Connect { generation }, step.now()),
        }
    }

    /// Takes over a changed record or tier.
    pub(super) fn refresh(&mut self, channel: &Arc<Channel>, step: &mut Step<'_>) {
        if channel.revision >= self.channel.revision {
            self.channel = Arc::clone(channel);
            self.admission.linked(channel.linked_at);
        }
        self.retune(step);
        if channel.revision > self.link.revision && self.link.saving.is_none() {
            self.adopt(channel, step);
        }
        self.pump(step);
    }

    /// The provider accepted a message: an unconfirmed channel is connected. The supervisor reports the state of a web
    /// session.
    pub(super) fn confirm(&mut self, step: &mut Step<'_>) {
        let is_asked = self.channel.kind == Kind::BusinessAccount && self.link.canary.trial().is_none();
        if is_asked && self.link.connection.status == Status::Connecting {
            self.change(Status::Connected, None, step);
        }
    }

    /// The provider reports that the number can send; `is_news` when a webhook caused the probe.
    pub(super) fn recover(&mut self, is_news: bool, step: &mut Step<'_>) {
        if self.link.canary.trial().is_some() {
            self.half_open(is_news, step);
            return;
        }
        if !self.link.connection.accepts() {
            tracing::info!(channel.id = %self.channel.id, channel.name = %self.channel.name, "the provider accepts the channel again, its queue goes on");
            self.change(Status::Connected, None, step);
        }
        self.confirm(step);
    }

    /// An answer of the provider refused the credentials, the registration or the account.
    pub(super) fn shut(&mut self, disposition: Disposition, failure: &Failure, step: &mut Step<'_>) {
        self.link.canary.close();
        let refusal = disposition.refusal(failure).filter(|_| self.link.connection.accepts());
        let Some((status, reason)) = refusal else { return };
        tracing::warn!(channel.id = %self.channel.id, channel.name = %self.channel.name, provider.code = failure.code, "the channel was refused, its queue is kept");
        self.change(status, Some(reason), step);
    }

    /// Changes the state at once and writes it.
    pub(super) fn change(&mut self, status: Status, reason: Option<Reason>, step: &mut Step<'_>) {
        let is_new = status != self.link.connection.status;
        let since: Timestamp = if is_new { step.wall() } else { self.link.connection.since };
        let from = self.link.set(Connection { status, reason, since }, step);
        if is_new {
            tracing::info!(channel.id = %self.channel.id, channel.name = %self.channel.name, from = %from.status, to = %status, "the channel changed state");
            self.follow_templates(step);
        }
        if self.link.saving.is_none() {
            self.save_over(from, step);
        }
    }

    /// Writes the state when something other than its status changed.
    pub(super) fn save(&mut self, step: &mut Step<'_>) {
        if self.link.saving.is_none() {
            self.save_over(self.link.connection.clone(), step);
        }
    }

    /// Tells the account whether its templates can be listed through this channel.
    pub(super) fn follow_templates(&self, step: &Step<'_>) {
        self.account.follow_templates(self.link.status() == Status::Connected, step.moment());
    }

    /// Writes the present state over `from`, and retries until that succeeds or somebody else changed the stored state.
    pub(super) fn save_over(&mut self, from: Connection, step: &mut Step<'_>) {
        let (to, trial) = (self.link.connection.clone(), self.link.canary.trial());
        let saving = Box::new(SaveConnection { from, to, trial });
        self.link.saving = Some(saving.clone());
        step.push(Effect::SaveConnection(saving));
    }

    /// A write of the state ended.
    pub(super) fn connection_saved(&mut self, saved: Saved, step: &mut Step<'_>) {
        let Some(saving) = self.link.saving.take() else { return };
        let SaveConnection { from, to, trial } = *saving;
        match saved {
            Saved::Done { revision } => {
                self.link.revision = revision;
                // The state may have changed while this write was in progress.
                let newest = Arc::clone(&self.channel);
                if newest.revision > revision {
                    self.adopt(&newest, step);
                } else if self.link.connection != to || self.link.canary.trial() != trial {
                    self.save_over(to, step);
                }
            }
            Saved::Overtaken(Some(channel)) => {
                // A newer record may have arrived while this one was read.
                let is_newer = channel.revision > self.channel.revision;
                let newest = if is_newer { Arc::new(*channel) } else { Arc::clone(&self.channel) };
                self.adopt(&newest, step);
            }
            Saved::Overtaken(None) => {}
            Saved::Failed => {
                self.retries.add(Retry::SaveConnection { from: from.clone() }, step.now());
                // The write is retried, and so stays in progress.
                self.link.saving = Some(Box::new(SaveConnection { from, to, trial }));
            }
        }
    }

    /// Takes over a state that another process or a person wrote.
    fn adopt(&mut self, channel: &Arc<Channel>, step: &mut Step<'_>) {
        self.link.revision = channel.revision;
        if channel.connection == self.link.connection && channel.trial == self.link.canary.trial() {
            return;
        }
        tracing::info!(channel.id = %channel.id, channel.name = %channel.name, to = %channel.connection.status, "the channel's state was changed from outside");
        self.channel = Arc::clone(channel);
        self.link.set(channel.connection.clone(), step);
        self.link.canary = Canary::new(channel.trial);
        self.tune_ahead(step);
        self.follow_templates(step);
        self.link.has_connector = false;
        self.link.refusals = 0;
        self.pause.lift();
        self.connect(step);
    }
}
