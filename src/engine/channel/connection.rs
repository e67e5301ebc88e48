//! The connection of a channel: its state, the connector that fits it, and what changes them.
//!
//! Only what the provider says about credentials or registration disconnects; silence, server errors and
//! time-outs never do. A disconnected channel keeps its queue. Changes are written to the store only if
//! nobody else changed the state since (a person who reconnects wins), and taken from there only if newer.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;

use super::connector::Connector;
use super::{ChannelActor, Gate, figures};
use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::connector::cloud_api::{CloudApi, Connections};
use crate::domain::channel::{Channel, Connection, Kind, Reason, Status};
use crate::domain::message::Failure;
use crate::domain::outlook;
use crate::engine::throttle::Scope;
use crate::store;
use crate::store::channel::Sealed;
use crate::vault::context;

/// How long a failed write of the state is let be.
const WRITE_PAUSE: Duration = Duration::from_secs(1);

/// What the actor knows of its connection.
pub(super) struct Link {
    connection: Connection,
    gate: Gate,
    connector: Option<Connector>,
    /// What shares its budget at the provider with this channel: the app, then the business account.
    scopes: Vec<Scope>,
    /// Rises with every new connector.
    generation: u64,
    /// How often in a row the provider said that the channel cannot send.
    pub(super) refusals: u32,
    /// The timer that asks the provider how the channel is.
    pub(super) probe: Option<SpawnHandle>,
    /// The revision of the state as last read or written.
    revision: i64,
    /// The state in the store, while a change is on its way there.
    writing: bool,
}

impl Link {
    pub(super) fn new(connection: Connection, gate: Gate) -> Self {
        gate.publish(&connection);
        Self {
            connection,
            gate,
            connector: None,
            scopes: Vec::new(),
            generation: 0,
            refusals: 0,
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
            Connector::CloudApi(_) => self.connection.accepts(),
            Connector::WebSession(_) => self.connection.status == Status::Connected,
        };
        may_go.then(|| connector.clone())
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
        if self.channel.kind == Kind::WebSession {
            self.link.connector =
                Some(Connector::WebSession(Rc::new(self.shared.web_channel(&self.channel))));
            self.learn_rhythm(ctx);
            return;
        }
        let generation = self.link.generation;
        let (shared, channel) = (Arc::clone(&self.shared), Arc::clone(&self.channel));
        let connections = self.connections.clone();
        let (store, id) = (shared.store.clone(), channel.id);
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
        let is_asked = self.channel.kind == Kind::BusinessAccount;
        if is_asked && self.link.connection.status == Status::Connecting {
            self.change(Status::Connected, None, ctx);
            self.sync_templates(ctx);
        }
    }

    /// The provider says that the channel can send, whatever it said before.
    pub(super) fn recover(&mut self, ctx: &mut Context<Self>) {
        if !self.link.connection.accepts() {
            tracing::info!(channel.id = %self.channel.id, "the provider takes the channel again, its queue goes on");
            self.change(Status::Connected, None, ctx);
            self.sync_templates(ctx);
        }
        self.confirm(ctx);
    }

    /// The provider refused credentials, registration or account.
    pub(super) fn disconnect(
        &mut self,
        disposition: Disposition,
        failure: &Failure,
        ctx: &mut Context<Self>,
    ) {
        let Some((status, reason)) = disposition.refusal(failure) else { return };
        if !self.link.connection.accepts() {
            return;
        }
        tracing::warn!(channel.id = %self.channel.id, provider.code = failure.code, "the channel was refused, its queue is kept");
        self.change(status, Some(reason), ctx);
        self.begin_probing(ctx);
    }

    /// Goes over to a new state at once and writes it.
    fn change(&mut self, status: Status, reason: Option<Reason>, ctx: &mut Context<Self>) {
        let to = Connection { status, reason, since: Timestamp::now() };
        let from = self.link.set(to);
        tracing::info!(channel.id = %self.channel.id, from = %from.status, to = %status, "the channel changed state");
        if !self.link.writing {
            self.write_connection(from, ctx);
        }
    }

    /// Writes the present state over `from`, until that works or somebody else changed it.
    fn write_connection(&mut self, from: Connection, ctx: &mut Context<Self>) {
        self.link.writing = true;
        let (store, id) = (self.shared.store.clone(), self.channel.id);
        let to = self.link.connection.clone();
        async move {
            let result = store.set_channel_connection(id, &from, &to).await;
            let newer = match &result {
                Ok(None) => store.find_channel(id).await,
                Ok(Some(_)) | Err(_) => Ok(None),
            };
            (from, to, result, newer)
        }
        .into_actor(self)
        .map(|(from, to, result, newer), actor, ctx| match (result, newer) {
            (Ok(Some(revision)), _) => {
                actor.link.revision = revision;
                actor.link.writing = false;
                // A change from outside may have come while this one was on its way.
                let newest = Arc::clone(&actor.channel);
                if newest.revision > revision {
                    actor.adopt(&newest, ctx);
                } else if actor.link.connection != to {
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
        if channel.connection == self.link.connection {
            return;
        }
        tracing::info!(channel.id = %channel.id, to = %channel.connection.status, "the channel's state was changed from outside");
        self.channel = Arc::clone(channel);
        self.link.set(channel.connection.clone());
        self.link.connector = None;
        self.link.refusals = 0;
        self.pause = None;
        self.connect(ctx);
    }
}

/// A connector for the channel and the app that it speaks for, or a sentence that says what is missing.
fn connector(
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
