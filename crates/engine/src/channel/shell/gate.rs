//! The gate: a channel's state as its actor last published it, for callers that want to send.
//!
//! Only the actor, which owns the state, writes here. Reading costs a lock and no message, so that accepting does not
//! wait for an actor that is busy dispatching.

use std::sync::Arc;

use parking_lot::RwLock;

use domain::channel::{Connection, Status};
use domain::error::{Code, Refusal};

#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<RwLock<Connection>>);

impl Gate {
    /// A gate with this state, until an actor publishes another.
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Arc::new(RwLock::new(connection)))
    }

    /// Publishes this state.
    pub(in crate::channel) fn publish(&self, connection: &Connection) {
        self.0.write().clone_from(connection);
    }

    /// Admits a send.
    ///
    /// # Errors
    ///
    /// `reconnect_waba` while the channel cannot send.
    pub(crate) fn admit(&self) -> Result<(), Refusal> {
        let connection = self.0.read();
        if connection.accepts() {
            return Ok(());
        }
        let why = connection.reason.as_ref().map_or("it is disconnected", |reason| &reason.sentence);
        Err(Refusal::new(
            Code::ReconnectWaba,
            format!("the channel cannot send: {why}. Reconnect the business account, then send again"),
        ))
    }

    /// Admits a message to a web session.
    ///
    /// # Errors
    ///
    /// `session_disconnected` unless it is connected.
    pub(crate) fn admit_to_session(&self) -> Result<(), Refusal> {
        let connection = self.0.read();
        let status = connection.status;
        let sentence = match (status, &connection.reason) {
            (Status::Connected, _) => return Ok(()),
            (_, Some(reason)) => format!("the web session is {status}: {}", reason.sentence),
            (Status::Pairing, None) => {
                "no phone is linked to the web session: pair the channel first".to_owned()
            }
            (_, None) => format!("the web session is {status}: try again in a minute"),
        };
        Err(Refusal::new(Code::SessionDisconnected, sentence))
    }
}
