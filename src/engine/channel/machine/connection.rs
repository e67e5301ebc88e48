//! The connection of a channel: its state, the connector that fits it, and what changes them.
//!
//! Only what the provider says about credentials or registration disconnects; silence, server errors and
//! time-outs never do. A channel of which a message was refused is connected again by a [`trial`](super::trial). A
//! disconnected channel keeps its queue. Changes are written to the store only if nobody else changed the state since
//! (a person who reconnects wins), and taken from there only if newer.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;

use super::canary::Canary;
use super::connector::Connector;
use super::dispatch::Held;
use super::{ChannelActor, Gate, figures};
use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::connector::cloud_api::{CloudApi, Connections};
use crate::domain::channel::{Channel, Connection, Kind, Level, Reason, Status, Trial};
use crate::domain::message::Failure;
use crate::domain::outlook;
use crate::engine::throttle::Scope;
use crate::store;
use crate::store::channel::Sealed;
use crate::vault::context;

/// How long a failed write of the state is let be.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// How long messages wait for the provider's first answer about the number, which says how fast it may send.
const LEVEL_PATIENCE: Duration = Duration::from_secs(10);

/// What the actor knows of its connection.
pub(super) struct Link {
    connection: Connection,
    /// What the channel owes before it is connected again.
    pub(super) canary: Canary,
    gate: Gate,
    connector: Option<Connector>,
    /// What shares its budget at the provider with this channel: the app, then the business account.
    scopes: Vec<Scope>,
    /// Rises with every new connector.
    generation: u64,
    /// How often in a row the provider described the number as one that cannot send.
    pub(super) refusals: u32,
    /// How fast the number may send, as the provider said last in this process.
    pub(super) level: Option<Level>,
    /// Messages wait until then for the provider to say that.
    level_awaited_until: Option<Instant>,
    /// The provider described the number since the connector was made.
    pub(super) is_described: bool,
    /// The provider is being asked how the number is.
    pub(super) probing: bool,
    /// When that was last begun.
    pub(super) probed_at: Option<Instant>,
    /// There are news of the number since.
    pub(super) has_news: bool,
    /// The timer that asks the provider how the channel is.
    pub(super) probe: Option<SpawnHandle>,
    /// The revision of the state as last read or written.
    revision: i64,
    /// The state in the store, while a change is on its way there.
    writing: bool,
}

impl Link {
    pub(super) fn new(connection: Connection, trial: Option<Trial>, gate: Gate) -> Self {
        gate.publish(&connection);
        Self {
            connection,
            canary: Canary::new(trial),
            gate,
            connector: None,
            scopes: Vec::new(),
            generation: 0,
            refusals: 0,
            level: None,
            level_awaited_until: None,
            is_described: false,
            probing: false,
            probed_at: None,
            has_news: false,
            probe: None,
            revision: 0,
            writing: false,
        }
    }

    /// Goes over to another state; the one before.
    fn set(&mut self, connection: Connection) -> Connection {
        self.gate.publish(&connection);
        if connection.status != self.connection.status {
            figures::changed(connection.status);
        }
        std::mem::replace(&mut self.connection, connection)
    }

    /// What shares its budget at the provider with this channel.
    pub(super) fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Whether sends are accepted.
    pub(super) const fn accepts(&self) -> bool {
        self.connection.accepts()
    }

    /// How the channel is.
    pub(super) const fn status(&self) -> Status {
        self.connection.status
    }

    /// How the channel is, and why.
    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The provider's API, whether messages may go or not: to ask how the channel is. A web session tells that
    /// by itself.
    pub(super) fn questioner(&self) -> Option<Rc<CloudApi>> {
        self.connector.as_ref()?.cloud_api()
    }

    /// The connector, while messages may go.
    pub(super) fn connector(&self) -> Option<Connector> {
        let connector = self.connector.as_ref()?;
        let may_go = match connector {
            Connector::CloudApi(_) if self.canary.trial().is_some() => self.canary.is_half_open(),
            Connector::CloudApi(_) => self.connection.accepts(),
            Connector::WebSession(_) => self.connection.status == Status::Connected,
        };
        may_go.then(|| connector.clone())
    }

    /// Why no message may follow just now although the connector may be used: the answer to the canary, or to the first
    /// question about the number, is awaited.
    pub(super) fn holds(&self, now: Instant) -> Option<Held> {
        if self.canary.is_on_its_way() {
            return Some(Held { reason: self.refusal(), until: None });
        }
        let until = self.level_awaited_until.filter(|until| *until > now)?;
        Some(Held { reason: outlook::Reason::ProviderPause, until: Some(until) })
    }

    /// The provider answered, or not, the question how the number is: messages wait for it no longer.
    pub(super) const fn learn_level(&mut self, level: Option<Level>) {
        self.level_awaited_until = None;
        if level.is_some() {
            self.level = level;
        }
    }

    /// Why nothing goes, for a person.
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

    /// Which connector is in use.
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }
}

impl ChannelActor {
    /// Reads the secrets and makes a connector. Whatever an earlier call still brings is out of date from here
    /// on.
    pub(super) fn connect(&mut self, ctx: &mut Context<Self>) {
        self.link.revision = self.link.revision.max(self.channel.revision);
        self.link.generation += 1;
        self.link.probing = false;
        self.link.is_described = false;
        if self.channel.kind == Kind::WebSession {
            self.link.connector =
                Some(Connector::WebSession(Rc::new(self.shared.web_channel(&self.channel))));
            self.learn_rhythm(ctx);
            return;
        }
        let generation = self.link.generation;
        let (shared, channel) = (Arc::clone(&self.shared), Arc::clone(&self.channel));
        let connections = self.connections.clone();
        let (store, id) = (shared.reader.store(), channel.id);
        let reading = shared.reader.read(async move { store.channel_secrets(id).await });
        async move {
            let sealed = reading.await?;
            Ok::<_, store::Error>(connector(&shared, &channel, connections, sealed))
        }
        .into_actor(self)
        .map(move |result, actor, ctx| {
            if generation != actor.link.generation {
                return;
            }
            match result {
                Ok(Ok((connector, app))) => {
                    let waba_id = actor.channel.waba_id.as_deref().unwrap_or_default();
                    actor.link.scopes = vec![app, Scope::account(waba_id)];
                    actor.link.connector = Some(Connector::CloudApi(Rc::new(connector)));
                    let patience = (!actor.is_level_known()).then(|| Instant::now() + LEVEL_PATIENCE);
                    actor.link.level_awaited_until = patience;
                    if actor.link.accepts() {
                        actor.half_open(false, ctx);
                    }
                    actor.begin_probing(ctx);
                    actor.pump(ctx);
                }
                Ok(Err(sentence)) => {
                    if !actor.link.connection.accepts() {
                        return;
                    }
                    let reason = Reason { code: "no_usable_token".to_owned(), sentence, provider_code: None };
                    actor.change(Status::Disconnected, Some(reason), ctx);
                }
                Err(error) => {
                    tracing::error!(channel.id = %actor.channel.id, %error, "reading the channel's secrets failed");
                    ctx.run_later(WRITE_PAUSE, move |actor, ctx| {
                        if generation == actor.link.generation {
                            actor.connect(ctx);
                        }
                    });
                }
            }
        })
        .spawn(ctx);
    }

    /// Takes up a changed record or tier.
    pub(super) fn refresh(&mut self, channel: &Arc<Channel>, ctx: &mut Context<Self>) {
        if channel.revision >= self.channel.revision {
            self.channel = Arc::clone(channel);
            if let Some(rhythm) = &mut self.rhythm {
                rhythm.linked(channel.linked_at);
            }
        }
        self.retune();
        if channel.revision > self.link.revision && !self.link.writing {
            self.adopt(channel, ctx);
        }
        self.pump(ctx);
    }

    /// The provider took a message: an unconfirmed channel is connected. How a web session is, its keeper says.
    pub(super) fn confirm(&mut self, ctx: &mut Context<Self>) {
        let is_asked = self.channel.kind == Kind::BusinessAccount && self.link.canary.trial().is_none();
        if is_asked && self.link.connection.status == Status::Connecting {
            self.change(Status::Connected, None, ctx);
        }
    }

    /// The provider says that the number can send, whatever it said before; `is_news` when it was asked because of
    /// news.
    pub(super) fn recover(&mut self, is_news: bool, ctx: &mut Context<Self>) {
        if self.link.canary.trial().is_some() {
            self.half_open(is_news, ctx);
            return;
        }
        if !self.link.connection.accepts() {
            tracing::info!(channel.id = %self.channel.id, "the provider takes the channel again, its queue goes on");
            self.change(Status::Connected, None, ctx);
        }
        self.confirm(ctx);
    }

    /// The provider refused credentials, registration or account, whoever asked.
    pub(super) fn shut(&mut self, disposition: Disposition, failure: &Failure, ctx: &mut Context<Self>) {
        self.link.canary.close();
        let refusal = disposition.refusal(failure).filter(|_| self.link.connection.accepts());
        let Some((status, reason)) = refusal else { return };
        tracing::warn!(channel.id = %self.channel.id, provider.code = failure.code, "the channel was refused, its queue is kept");
        self.change(status, Some(reason), ctx);
    }

    /// Goes over to a new state at once and writes it.
    pub(super) fn change(&mut self, status: Status, reason: Option<Reason>, ctx: &mut Context<Self>) {
        let is_new = status != self.link.connection.status;
        let since = if is_new { Timestamp::now() } else { self.link.connection.since };
        let from = self.link.set(Connection { status, reason, since });
        if is_new {
            tracing::info!(channel.id = %self.channel.id, from = %from.status, to = %status, "the channel changed state");
            self.report_to_template_sync();
        }
        if !self.link.writing {
            self.write_connection(from, ctx);
        }
    }

    /// Writes the state as it is, of which something else than the status changed.
    pub(super) fn save(&mut self, ctx: &mut Context<Self>) {
        if !self.link.writing {
            self.write_connection(self.link.connection.clone(), ctx);
        }
    }

    /// Says whether the account's templates can be listed through this channel.
    pub(super) fn report_to_template_sync(&self) {
        self.shared.template_sync.follow(&self.channel, self.link.status() == Status::Connected);
    }

    /// Writes the present state over `from`, until that works or somebody else changed it.
    fn write_connection(&mut self, from: Connection, ctx: &mut Context<Self>) {
        self.link.writing = true;
        let (store, id) = (self.shared.store.clone(), self.channel.id);
        let (to, trial) = (self.link.connection.clone(), self.link.canary.trial());
        async move {
            let result = store.set_channel_trial(id, &from, &to, trial).await;
            let newer = match &result {
                Ok(None) => store.find_channel(id).await,
                Ok(Some(_)) | Err(_) => Ok(None),
            };
            (from, to, result, newer)
        }
        .into_actor(self)
        .map(move |(from, to, result, newer), actor, ctx| match (result, newer) {
            (Ok(Some(revision)), _) => {
                actor.link.revision = revision;
                actor.link.writing = false;
                // A change from outside may have come while this one was on its way.
                let newest = Arc::clone(&actor.channel);
                if newest.revision > revision {
                    actor.adopt(&newest, ctx);
                } else if actor.link.connection != to || actor.link.canary.trial() != trial {
                    actor.write_connection(to, ctx);
                }
            }
            (Ok(None), Ok(Some(channel))) => {
                actor.link.writing = false;
                actor.adopt(&Arc::new(channel), ctx);
            }
            (Ok(None), Ok(None)) => actor.link.writing = false,
            (Err(error), _) | (Ok(None), Err(error)) => {
                tracing::error!(channel.id = %actor.channel.id, %error, "writing the channel's state failed");
                ctx.run_later(WRITE_PAUSE, |actor, ctx| actor.write_connection(from, ctx));
            }
        })
        .spawn(ctx);
    }

    /// Takes over a state that somebody else wrote.
    fn adopt(&mut self, channel: &Arc<Channel>, ctx: &mut Context<Self>) {
        self.link.revision = channel.revision;
        if channel.connection == self.link.connection && channel.trial == self.link.canary.trial() {
            return;
        }
        tracing::info!(channel.id = %channel.id, to = %channel.connection.status, "the channel's state was changed from outside");
        self.channel = Arc::clone(channel);
        self.link.set(channel.connection.clone());
        self.link.canary = Canary::new(channel.trial);
        self.tune_ahead(Instant::now());
        self.report_to_template_sync();
        self.link.connector = None;
        self.link.refusals = 0;
        self.pause = None;
        self.connect(ctx);
    }
}

/// A connector for the channel and the app that it speaks for, or a sentence that says what is missing.
pub(crate) fn connector(
    shared: &super::Shared,
    channel: &Channel,
    connections: Connections,
    sealed: Option<Sealed>,
) -> Result<(CloudApi, Scope), String> {
    let Sealed { token, app_secret } = sealed.unwrap_or_default();
    let token = token.ok_or("the channel has no access token")?;
    let token = shared
        .vault
        .unseal(&token, &context::token(channel.id))
        .map_err(|error| format!("the channel's access token cannot be read: {error}"))?;
    let app_secret =
        app_secret.and_then(|secret| shared.vault.unseal(&secret, &context::app_secret(channel.id)).ok());
    let app = Scope::app(app_secret.as_ref().unwrap_or(&token).expose().as_bytes());
    let phone_number_id = channel.phone_number_id.as_deref().unwrap_or_default();
    let waba_id = channel.waba_id.as_deref().unwrap_or_default();
    CloudApi::new(connections, &shared.cloud_api, phone_number_id, waba_id, &token)
        .map(|connector| (connector, app))
        .map_err(|error| error.to_string())
}
