//! Reports the state of the connection: in the log, once for each change, and in the metrics.

use std::collections::BTreeSet;

use async_nats::{ClientError, Event, ServerError};
use parking_lot::Mutex;

use super::Carries;

/// The state of the connection, as it was logged.
#[derive(Debug)]
pub(super) struct Link {
    carries: Carries,
    /// The failures that were logged since the last connection: servers may fail in different ways in turn.
    said: Mutex<BTreeSet<String>>,
}

/// The maximum number of kinds of failures that are logged between two connections.
const MOST_SAID: usize = 16;

impl Link {
    pub(super) fn new(carries: Carries) -> Self {
        Self { carries, said: Mutex::default() }
    }

    fn measure(&self, is_connected: bool) {
        let gauge = match self.carries {
            Carries::All => metrics::gauge!("pombo_nats_connected"),
            Carries::Events => metrics::gauge!("pombo_events_connected"),
        };
        gauge.set(f64::from(u8::from(is_connected)));
    }

    /// Handles an event of the library.
    pub(super) fn note(&self, event: Event) {
        match event {
            Event::Connected => {
                self.measure(true);
                self.said.lock().clear();
                tracing::info!(section = %self.carries, "connected to NATS");
            }
            Event::Disconnected => {
                self.measure(false);
                if self.is_news("disconnected") {
                    tracing::warn!("lost the connection to NATS, reconnecting; events wait in the database");
                }
            }
            Event::ClientError(ClientError::Other(trouble)) => self.note_trouble(&trouble),
            Event::ClientError(error @ (ClientError::MaxReconnects | ClientError::ServerNotInPool)) => {
                self.note_trouble(&error.to_string());
            }
            Event::ServerError(ServerError::AuthorizationViolation) => {
                self.note_trouble("authorization violation");
            }
            Event::ServerError(error @ (ServerError::SlowConsumer(_) | ServerError::Other(_))) => {
                let error = error.to_string();
                if self.is_news(&error) {
                    tracing::warn!(error, "NATS refused an operation: check the permissions of the user");
                }
            }
            Event::SlowConsumer(_) | Event::LameDuckMode | Event::Draining | Event::Closed => {
                tracing::debug!(%event, "event of the connection to NATS");
            }
        }
    }

    /// An attempt to connect failed.
    fn note_trouble(&self, trouble: &str) {
        metrics::counter!("pombo_nats_failures_total").increment(1);
        self.measure(false);
        if !self.is_news(trouble) {
            return;
        }
        if is_refusal(trouble) {
            let section = self.carries;
            tracing::error!(
                "NATS refuses this service's credentials: check {section}.credentials, {section}.token, or the user in \
                 {section}.url"
            );
        } else {
            tracing::warn!(
                error = trouble,
                section = %self.carries,
                "NATS cannot be reached, the service continues without it and retries"
            );
        }
    }

    fn is_news(&self, trouble: &str) -> bool {
        let mut said = self.said.lock();
        said.len() < MOST_SAID && said.insert(trouble.to_owned())
    }
}

/// Whether this is a refusal: the library reports a refusal only as a text.
fn is_refusal(trouble: &str) -> bool {
    trouble.contains("authorization violation") || trouble.contains("failed signing nonce")
}
