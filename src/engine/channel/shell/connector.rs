//! What a channel's messages go out through, whatever its kind.

use std::rc::Rc;
use std::sync::Arc;

use uuid::Uuid;

use super::work::Ticket;
use crate::connector::cloud_api::{self, CloudApi};
use crate::connector::{Disposition, Reply};
use crate::domain::channel::Kind;
use crate::domain::content::{Content, Stored};
use crate::domain::message::Failure;
use crate::engine::web_session::{Errand, Outgoing, Slot, WebChannel};

/// A connector that tasks share.
#[derive(Clone)]
pub(super) enum Connector {
    /// Of a business account.
    CloudApi(Rc<CloudApi>),
    /// Of a web session.
    WebSession(Rc<WebChannel>),
}

/// What all messages of a send share, in the form that its connector takes.
#[derive(Debug, Clone)]
pub(super) enum Rendered {
    /// For a business account.
    CloudApi(cloud_api::Rendered),
    /// For a web session.
    WebSession(Arc<Stored>),
}

impl Rendered {
    /// For channels of this kind.
    pub(super) fn new(kind: Kind, stored: &Stored<&Content, &str>) -> Self {
        let &Stored { content, group, key } = stored;
        match kind {
            Kind::BusinessAccount => Self::CloudApi(cloud_api::Rendered::new(content)),
            Kind::WebSession => {
                let own = |text: Option<&str>| text.map(str::to_owned);
                Self::WebSession(Arc::new(Stored {
                    content: content.clone(),
                    group: own(group),
                    key: own(key),
                }))
            }
        }
    }
}

/// A message, ready to go.
pub(super) enum Prepared {
    CloudApi(Rc<CloudApi>, Vec<u8>),
    WebSession(Rc<WebChannel>, Outgoing),
    /// Nobody lets a channel have such a message, such as a business account one to a group.
    Impossible,
}

impl Connector {
    /// Makes a message ready to go.
    pub(super) fn prepare(&self, rendered: &Rendered, ticket: &Ticket) -> Prepared {
        match (self, rendered, ticket.recipient) {
            (Self::CloudApi(connector), Rendered::CloudApi(rendered), Some(recipient)) => {
                Prepared::CloudApi(Rc::clone(connector), rendered.message(recipient, ticket.key()))
            }
            (Self::WebSession(connector), Rendered::WebSession(content), recipient) => {
                let (key, content) = (ticket.key(), Arc::clone(content));
                let outgoing = Outgoing { key, recipient, content, errand: None, attempt: None };
                Prepared::WebSession(Rc::clone(connector), outgoing)
            }
            _ => Prepared::Impossible,
        }
    }

    /// The provider's API that can be asked questions, of a business account.
    pub(super) fn cloud_api(&self) -> Option<Rc<CloudApi>> {
        match self {
            Self::CloudApi(connector) => Some(Rc::clone(connector)),
            Self::WebSession(_) => None,
        }
    }
}

impl Prepared {
    /// The same with the errand of the caller who waits for it, and its place among the messages of 24 hours.
    pub(super) fn awaited(self, errand: Option<Arc<Errand>>, attempt: Slot<Uuid>) -> Self {
        match self {
            Self::WebSession(connector, outgoing) => {
                Self::WebSession(connector, Outgoing { errand, attempt: Some(attempt), ..outgoing })
            }
            other => other,
        }
    }

    /// Hands it over.
    pub(super) async fn send(self) -> Reply {
        match self {
            Self::CloudApi(connector, body) => connector.send(body).await,
            // Boxed, because the future of the other kind is asked for by the ten thousands.
            Self::WebSession(connector, outgoing) => Box::pin(connector.send(outgoing)).await,
            Self::Impossible => {
                let sentence = "channels of this kind cannot send such a message".to_owned();
                let failure = Failure { code: None, sentence };
                Reply::Refused { disposition: Disposition::Fail, failure, retry_after: None }
            }
        }
    }
}
