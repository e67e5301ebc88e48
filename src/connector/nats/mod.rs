//! NATS: messages between nodes, and the stream of events. Only this folder knows its library.
//!
//! The connection is made in the background, and made again whenever it breaks. Nothing waits for it: a call
//! without a connection fails at once.

mod link;
mod stream;

use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, RequestErrorKind, ServerAddr};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use self::link::Link;
pub use self::stream::{EventStream, Outgoing, Published, Unready};
use crate::config;
use crate::domain::secret::Secret;

/// How long one attempt to connect may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// Delays before attempts to connect: doubled from the first up to the longest.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(2);
/// The maximum number of unread messages of one subscription; the library drops further messages.
const WAITING: usize = 1_024;
/// The maximum number of notifications that wait to be sent. Further ones are dropped: their receivers poll
/// later.
const WORDS: usize = 4_096;
/// The header of a reply that says that there is no answer.
const FAILED: &str = "Pombo-Failed";

/// Why no connection can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of a server is invalid.
    #[error("nats.url has an invalid address: write addresses such as nats://127.0.0.1:4222")]
    Address,
    /// The file with the credentials cannot be used.
    #[error(
        "nats.credentials cannot be used: {0}; give the file of a user's credentials, as `nsc` writes it"
    )]
    Credentials(std::io::Error),
    /// The file with the certificates cannot be used.
    #[error("nats.ca_file cannot be used: {0}; give a file with certificates in PEM")]
    Certificates(std::io::Error),
    /// No server can be reached.
    #[error("NATS cannot be reached: {0}; check nats.url and the network")]
    Unreachable(String),
    /// A server refuses our credentials.
    #[error(
        "NATS refuses this service's credentials: check nats.credentials, nats.token, or the user in nats.url"
    )]
    Unauthorized,
}

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAnswered {
    /// There is no subscriber for such requests, so the request reached nobody.
    NoResponder,
    /// No answer came in time, or the other side gave none. The other side may have carried out the request.
    NoAnswer,
    /// There is no connection, so the request reached nobody.
    NotConnected,
}

/// A message for a subscription.
#[derive(Debug)]
pub struct Heard {
    /// The last word of the subject.
    pub name: String,
    /// The content.
    pub body: Vec<u8>,
    /// The handle for the answer; `None` when none is expected.
    pub answer: Option<Answer>,
}

/// The handle for answering a request. If it is dropped without an answer, the other side learns at once that
/// there is none.
pub struct Answer {
    client: Client,
    to: Option<async_nats::Subject>,
}

/// A subscription; it ends when this is dropped.
#[derive(Debug)]
pub struct Subscription {
    client: Client,
    subscriber: async_nats::Subscriber,
}

/// The connection; clones share it.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    /// The prefix of every subject.
    base: Arc<str>,
    timeout: Duration,
    words: mpsc::Sender<String>,
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Nats {
    /// Begins to connect; `None` when no server is configured. `cluster` is the name of the cluster of nodes,
    /// if this node is in one. The connection lives as long as the runtime of the call.
    ///
    /// # Errors
    ///
    /// When the configuration's files cannot be used. An unreachable server is no error.
    pub async fn connect(options: &config::Nats, cluster: Option<&str>) -> Result<Option<Self>, Error> {
        if options.url.is_none() {
            return Ok(None);
        }
        let link = Arc::new(Link::default());
        let connect =
            connect_options(options).await?.retry_on_initial_connect().event_callback(move |event| {
                let link = Arc::clone(&link);
                async move { link.note(event) }
            });
        let client = connect.connect(addresses(options)?).await?;
        let (words, waiting) = mpsc::channel(WORDS);
        tokio::spawn(say(client.clone(), waiting));
        let base =
            cluster.map_or_else(|| options.prefix.clone(), |cluster| format!("{}.{cluster}", options.prefix));
        Ok(Some(Self { client, base: base.into(), timeout: options.request_timeout, words }))
    }

    /// The prefix of every subject.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Whether there is a connection now.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// The version of the server of the present or last connection; `None` when there never was a connection.
    pub fn version(&self) -> Option<String> {
        Some(self.client.server_info().version).filter(|version| !version.is_empty())
    }

    /// Sends a request to the subscriber of this subject, below the base, and waits for the answer: for
    /// `within`, or for the configured timeout.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`].
    pub async fn request(
        &self,
        subject: &str,
        body: Vec<u8>,
        within: Option<Duration>,
    ) -> Result<Vec<u8>, NotAnswered> {
        let answer = self.ask(subject, body, within.unwrap_or(self.timeout)).await;
        let result = match &answer {
            Ok(_) => "answered",
            Err(NotAnswered::NoResponder) => "no_responder",
            Err(NotAnswered::NoAnswer) => "no_answer",
            Err(NotAnswered::NotConnected) => "not_connected",
        };
        metrics::counter!("pombo_nats_requests_total", "result" => result).increment(1);
        answer
    }

    async fn ask(&self, subject: &str, body: Vec<u8>, within: Duration) -> Result<Vec<u8>, NotAnswered> {
        if !self.is_connected() {
            return Err(NotAnswered::NotConnected);
        }
        let request = async_nats::Request::new().payload(body.into()).timeout(Some(within));
        let asked = self.client.send_request(format!("{}.{subject}", self.base), request);
        // The library's own timeout begins when the request is sent.
        let answer = tokio::time::timeout(within, asked).await.map_err(|_| NotAnswered::NoAnswer)?;
        match answer {
            Ok(message) if message.headers.as_ref().is_some_and(|headers| headers.get(FAILED).is_some()) => {
                Err(NotAnswered::NoAnswer)
            }
            Ok(message) => Ok(message.payload.into()),
            Err(error) => Err(match error.kind() {
                RequestErrorKind::NoResponders => NotAnswered::NoResponder,
                RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => {
                    NotAnswered::NotConnected
                }
                RequestErrorKind::TimedOut | RequestErrorKind::Other => NotAnswered::NoAnswer,
            }),
        }
    }

    /// Sends a notification on this subject, below the base, to its subscribers. It may get lost.
    pub fn tell(&self, subject: &str) {
        if self.is_connected() {
            // If the queue is full, the notification is dropped, which is allowed.
            let _ = self.words.try_send(format!("{}.{subject}", self.base));
        }
    }

    /// Subscribes to this subject, below the base.
    ///
    /// # Errors
    ///
    /// [`NotAnswered::NotConnected`] when the connection is closed permanently.
    pub async fn subscribe(&self, subject: &str) -> Result<Subscription, NotAnswered> {
        let subscribing = self.client.subscribe(format!("{}.{subject}", self.base));
        match tokio::time::timeout(self.timeout, subscribing).await {
            Ok(Ok(subscriber)) => Ok(Subscription { client: self.client.clone(), subscriber }),
            Ok(Err(_)) | Err(_) => Err(NotAnswered::NotConnected),
        }
    }

    /// The stream of events.
    pub fn events(&self, options: &config::Events) -> EventStream {
        EventStream::new(self.clone(), options)
    }
}

impl Subscription {
    /// The next message; `None` when the connection is closed permanently.
    pub async fn next(&mut self) -> Option<Heard> {
        let async_nats::Message { subject, reply, payload, .. } = self.subscriber.next().await?;
        let name = subject.rsplit('.').next().unwrap_or_default().to_owned();
        let answer = reply.map(|to| Answer { client: self.client.clone(), to: Some(to) });
        Some(Heard { name, body: payload.into(), answer })
    }
}

impl Answer {
    /// Sends the answer. It is lost if there is no connection.
    pub async fn give(mut self, body: Vec<u8>) {
        if let Some(to) = self.to.take() {
            // Without a connection the other side gets no answer, and its request times out.
            let _ = self.client.publish(to, body.into()).await;
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let Some(to) = self.to.take() else { return };
        let client = self.client.clone();
        // A runtime that shuts down needs no answers.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let mut headers = async_nats::HeaderMap::new();
                headers.insert(FAILED, "1");
                let _ = client.publish_with_headers(to, headers, Vec::new().into()).await;
            });
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("to", &self.to).finish_non_exhaustive()
    }
}

/// Sends notifications as they come. A notification is dropped when the connection is broken.
async fn say(client: Client, mut words: mpsc::Receiver<String>) {
    while let Some(subject) = words.recv().await {
        if client.connection_state() == State::Connected {
            let _ = client.publish(subject, Vec::new().into()).await;
        }
    }
}

/// Connects once as a check. Returns the server's version.
///
/// # Errors
///
/// [`Error`].
pub async fn reach(options: &config::Nats) -> Result<String, Error> {
    let client = connect_options(options).await?.connect(addresses(options)?).await?;
    Ok(client.server_info().version)
}

fn addresses(options: &config::Nats) -> Result<Vec<ServerAddr>, Error> {
    options.addresses().map(ServerAddr::from_str).collect::<Result<_, _>>().map_err(|_| Error::Address)
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Self {
        match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => Self::Unauthorized,
            ConnectErrorKind::ServerParse
            | ConnectErrorKind::Dns
            | ConnectErrorKind::TimedOut
            | ConnectErrorKind::Tls
            | ConnectErrorKind::Io
            | ConnectErrorKind::MaxReconnects => Self::Unreachable(error.to_string()),
        }
    }
}

async fn connect_options(options: &config::Nats) -> Result<ConnectOptions, Error> {
    let mut connect = ConnectOptions::new()
        .name("pombo")
        .max_reconnects(None)
        .connection_timeout(CONNECTING)
        .subscription_capacity(WAITING)
        .reconnect_delay_callback(delay)
        .require_tls(options.tls);
    if let Some(file) = &options.credentials {
        connect = connect.credentials_file(file).await.map_err(Error::Credentials)?;
    }
    if let Some(token) = options.token.as_ref().map(Secret::expose) {
        connect = connect.token(token.to_owned());
    }
    if let Some(file) = &options.ca_file {
        std::fs::metadata(file).map_err(Error::Certificates)?;
        connect = connect.add_root_certificates(file.clone());
    }
    Ok(connect)
}

/// The delay before the attempt of this number.
fn delay(attempt: usize) -> Duration {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
    FIRST_DELAY.saturating_mul(1 << doublings).min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_to_connect_come_at_growing_intervals_up_to_the_longest() {
        let delays: Vec<_> =
            [1, 2, 3, 7, 1_000].into_iter().map(|attempt| delay(attempt).as_millis()).collect();
        assert_eq!(delays, [50, 100, 200, 2_000, 2_000]);
    }

    #[test]
    fn without_an_address_there_is_no_connection() {
        let options = config::Config::default().nats;
        let none = actix::System::new().block_on(Nats::connect(&options, None)).unwrap();
        assert!(none.is_none());
    }
}
