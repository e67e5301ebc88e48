//! The stream of events in JetStream: creating or checking it, and publishing with acknowledgement.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::context::{
    ContextBuilder, GetStreamError, GetStreamErrorKind, PublishErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{Context, ErrorCode};
use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use super::Nats;

/// How long the server drops repetitions of an event. An event is repeated when the service ended, or lost
/// its connection, between publishing the event and noting that.
const REPEATS: Duration = Duration::from_secs(10 * 60);
/// The maximum number of events that wait for their acknowledgement.
const UNACKNOWLEDGED: usize = 4_096;

/// An event to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The subject after `BASE.events.`.
    pub subject: String,
    /// The id. Events with the same id are repetitions.
    pub id: String,
    /// JSON.
    pub body: Vec<u8>,
}

/// The outcome of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The stream has it.
    Taken,
    /// It is larger than the server accepts.
    Refused,
    /// It may be in the stream or not: it has to be published again.
    Unknown,
}

/// Why nothing can be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    /// There is no connection.
    #[error("there is no connection to NATS")]
    NotConnected,
    /// The server, or the account, has no JetStream.
    #[error("JetStream is not enabled at the NATS server, or not for this account: enable it")]
    NoJetStream,
    /// A stream of this name is for something else.
    #[error(
        "the stream {stream} does not take the subjects {subjects}: add them to it, or name another in events.stream"
    )]
    OtherSubjects {
        /// Its name.
        stream: String,
        /// The subjects that it should take.
        subjects: String,
    },
    /// A stream of this name acknowledges nothing.
    #[error("the stream {0} acknowledges nothing: make it again without `no_ack`")]
    NoAcknowledgement(String),
    /// The server answered with another error.
    #[error("the stream {stream} cannot be used: {error}")]
    Other {
        /// Its name.
        stream: String,
        /// The server's words.
        error: String,
    },
}

/// The stream of events.
#[derive(Debug, Clone)]
pub struct EventStream {
    nats: Nats,
    context: Context,
    name: String,
    keep: Option<Duration>,
    /// Whether the stream was checked, and has not failed since.
    is_checked: Arc<AtomicBool>,
}

impl EventStream {
    pub(super) fn new(nats: Nats, options: &config::Events) -> Self {
        let context = ContextBuilder::new().timeout(nats.timeout).max_ack_inflight(UNACKNOWLEDGED);
        let context = context.build(nats.client.clone());
        let config::Events { stream, keep, .. } = options;
        Self { nats, context, name: stream.clone(), keep: *keep, is_checked: Arc::default() }
    }

    /// The subjects of all events.
    fn subjects(&self) -> String {
        format!("{}.events.>", self.nats.base())
    }

    /// Creates the stream if it does not exist, or checks the existing one. Asks the server only when the
    /// stream may have changed.
    pub async fn prepare(&self) -> Result<(), Unready> {
        if !self.nats.is_connected() {
            return Err(Unready::NotConnected);
        }
        if self.is_checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.context.get_stream(&self.name).await {
            Ok(stream) => self.check(&stream.cached_info().config)?,
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(said) if said.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                    self.create().await?;
                }
                GetStreamErrorKind::JetStream(said) if is_disabled(said.error_code()) => {
                    return Err(Unready::NoJetStream);
                }
                GetStreamErrorKind::Request if is_unheard(&error) => return Err(Unready::NoJetStream),
                _ => return Err(self.other(error.to_string())),
            },
        }
        self.is_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn create(&self) -> Result<(), Unready> {
        let config = Config {
            name: self.name.clone(),
            description: Some("What happens to sends, messages and channels of Pombo".to_owned()),
            subjects: vec![self.subjects()],
            max_age: self.keep.unwrap_or_default(),
            duplicate_window: self.keep.map_or(REPEATS, |keep| keep.min(REPEATS)),
            ..Config::default()
        };
        match self.context.create_stream(config).await {
            Ok(_) => {
                tracing::info!(
                    stream = self.name,
                    subjects = self.subjects(),
                    "created the stream of events"
                );
                Ok(())
            }
            Err(error) => Err(self.other(error.to_string())),
        }
    }

    fn check(&self, found: &Config) -> Result<(), Unready> {
        if !found.subjects.iter().any(|pattern| covers(pattern, &self.subjects())) {
            return Err(Unready::OtherSubjects { stream: self.name.clone(), subjects: self.subjects() });
        }
        if found.no_ack {
            return Err(Unready::NoAcknowledgement(self.name.clone()));
        }
        Ok(())
    }

    fn other(&self, error: String) -> Unready {
        Unready::Other { stream: self.name.clone(), error }
    }

    /// Publishes these events in order, and returns the outcome of each. All together have the timeout of one
    /// request.
    pub async fn publish(&self, events: Vec<Outgoing>) -> Vec<Published> {
        let deadline = Instant::now() + self.nats.timeout;
        let mut waiting = Vec::with_capacity(events.len());
        let mut is_broken = false;
        for Outgoing { subject, id, body } in events {
            if is_broken || !self.nats.is_connected() {
                is_broken = true;
                waiting.push(Err(Published::Unknown));
                continue;
            }
            let subject = format!("{}.events.{subject}", self.nats.base());
            let message =
                PublishMessage::build().payload(body.into()).message_id(id).expected_stream(&self.name);
            let sent = timeout_at(deadline, self.context.send_publish(subject, message)).await;
            waiting.push(match sent {
                Ok(Ok(acknowledged)) => Ok(acknowledged),
                Ok(Err(error)) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                    Err(Published::Refused)
                }
                Ok(Err(_)) | Err(_) => {
                    is_broken = true;
                    Err(Published::Unknown)
                }
            });
        }
        let acknowledged = join_all(waiting.into_iter().map(|sent| async move {
            let acknowledged = match sent {
                Ok(acknowledged) => timeout_at(deadline, acknowledged).await,
                Err(known) => return known,
            };
            match acknowledged {
                Ok(Ok(_)) => Published::Taken,
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the stream did not accept an event");
                    Published::Unknown
                }
                Err(_) => Published::Unknown,
            }
        }))
        .await;
        if acknowledged.contains(&Published::Unknown) {
            self.is_checked.store(false, Ordering::Relaxed);
        }
        acknowledged
    }
}

fn is_disabled(code: ErrorCode) -> bool {
    [ErrorCode::JETSTREAM_NOT_ENABLED, ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT].contains(&code)
}

/// Whether JetStream does not answer requests.
fn is_unheard(error: &GetStreamError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<RequestError>());
    source.is_some_and(|error| error.kind() == RequestErrorKind::NoResponders)
}

/// Whether `wide` matches every subject that `narrow` matches.
fn covers(wide: &str, narrow: &str) -> bool {
    let (mut wide, mut narrow) = (wide.split('.'), narrow.split('.'));
    loop {
        match (wide.next(), narrow.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(word)) if word != ">" => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_can_be_used_when_it_takes_every_event() {
        let ours = "pombo.events.>";
        for wide in ["pombo.events.>", "pombo.>", ">", "*.events.>", "*.*.>"] {
            assert!(covers(wide, ours), "{wide}");
        }
        for narrow in ["pombo.events.*", "pombo.events", "pombo.event.>", "other.>", "pombo.events.*.>"] {
            assert!(!covers(narrow, ours), "{narrow}");
        }
    }
}
