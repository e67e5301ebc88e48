//! The connector of a channel, for each kind of channel.

use std::rc::Rc;
use std::sync::Arc;

use crate::account::AppId;
use crate::channel::machine::{Attempt, Rendered, WebAttempt};
use crate::handover::{Outgoing, WebChannel};
use crate::media::{Library, no_public_address};
use crate::shared::Shared;
use clock::Timestamp;
use connectors::Reply;
use connectors::cloud_api::{CloudApi, Connections};
use domain::channel::Channel;
use domain::message::Failure;
use store::channels::Sealed;
use vault::context;

/// A connector that tasks share.
pub(super) enum Connector {
    /// For a business account.
    CloudApi(Rc<CloudApi>),
    /// For a web session.
    WebSession(Rc<WebChannel>),
}

/// A message, ready to go.
pub(super) enum Prepared {
    CloudApi(Rc<CloudApi>, Vec<u8>),
    WebSession(Rc<WebChannel>, Outgoing),
    /// The connector for the message is gone.
    NoConnector,
    /// The provider cannot fetch the files of the message any more: the service had a public address when it was accepted.
    Unreachable,
    /// The channel cannot send such a message: a business account, for example, cannot send to a group. Requests
    /// exclude this.
    Impossible,
}

impl Prepared {
    /// Prepares a message.
    pub(super) fn new(connector: Option<&Connector>, attempt: Attempt, media: &Library) -> Self {
        let Attempt { ticket, rendered, web, .. } = attempt;
        match (connector, rendered, ticket.recipient) {
            (Some(Connector::CloudApi(connector)), Rendered::CloudApi(rendered), Some(recipient)) => {
                if rendered.has_files() && !media.is_reachable() {
                    return Self::Unreachable;
                }
                // Signed now, so that the address is valid however long the message waited.
                let address = |id| media.address_of(id, Timestamp::now()).unwrap_or_default();
                Self::CloudApi(Rc::clone(connector), rendered.message(recipient, ticket.key(), address))
            }
            (Some(Connector::WebSession(connector)), Rendered::WebSession(content), recipient) => {
                let (pending_reply, attempt) = match web {
                    Some(web) => {
                        let WebAttempt { pending_reply, slot } = *web;
                        (pending_reply, Some(slot))
                    }
                    None => (None, None),
                };
                let outgoing = Outgoing { key: ticket.key(), recipient, content, pending_reply, attempt };
                Self::WebSession(Rc::clone(connector), outgoing)
            }
            (None, ..) => Self::NoConnector,
            (Some(_), ..) => Self::Impossible,
        }
    }

    /// Hands the message over.
    pub(super) async fn send(self) -> Reply {
        let failure = |sentence: &str| Failure { code: None, sentence: sentence.to_owned() };
        match self {
            Self::CloudApi(connector, body) => connector.send(body).await,
            // Boxed, because tens of thousands of futures of the other kind exist at once and stay small this way.
            Self::WebSession(connector, outgoing) => Box::pin(connector.send(outgoing)).await,
            Self::NoConnector => Reply::NotSent(failure("the channel is being connected again")),
            Self::Unreachable => Reply::Unsendable(failure(&no_public_address().sentence)),
            Self::Impossible => {
                Reply::Unsendable(failure("channels of this kind cannot send such a message"))
            }
        }
    }
}

/// Why there is no connector for a channel.
#[derive(Debug)]
pub(crate) enum Unconnected {
    /// This process cannot open the token; another one may be able to.
    Unopened(vault::Error),
    /// The sentence says what is missing.
    Unusable(String),
}

impl Unconnected {
    /// Whether the failure is this process' own: it lacks the key, which the database knows. The channel's state says
    /// nothing of that.
    pub(super) async fn is_own(&self, shared: &Shared) -> store::Result<bool> {
        let Self::Unopened(error) = self else { return Ok(false) };
        shared.health.explains(error, &shared.store, &shared.vault).await
    }

    /// What is missing.
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::Unopened(error) => format!("the channel's access token cannot be read: {error}"),
            Self::Unusable(sentence) => sentence,
        }
    }
}

/// A connector for the channel and the app behind its token.
pub(crate) fn connector(
    shared: &Arc<Shared>,
    channel: &Channel,
    connections: Connections,
    sealed: Option<Sealed>,
) -> Result<(CloudApi, AppId), Unconnected> {
    let Sealed { token, app_secret } = sealed.unwrap_or_default();
    let no_token = || Unconnected::Unusable("the channel has no access token".to_owned());
    let token = token.ok_or_else(no_token)?;
    let token = shared.vault.unseal(&token, &context::token(channel.id)).map_err(Unconnected::Unopened)?;
    let app_secret =
        app_secret.and_then(|secret| shared.vault.unseal(&secret, &context::app_secret(channel.id)).ok());
    let app = AppId::of(app_secret.as_ref().unwrap_or(&token).expose().as_bytes());
    let phone_number_id = channel.phone_number_id.as_deref().unwrap_or_default();
    let waba_id = channel.waba_id.as_deref().unwrap_or_default();
    CloudApi::new(connections, &shared.cloud_api, phone_number_id, waba_id, &token)
        .map(|connector| (connector, app))
        .map_err(|error| Unconnected::Unusable(error.to_string()))
}
