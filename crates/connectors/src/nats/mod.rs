//! NATS: messages between nodes, and the stream of events. Only this folder knows its library.
//!
//! The connection is made in the background, and made again whenever it breaks. Nothing waits for it: a call
//! without a connection fails at once.

mod link;
mod request;
mod stream;

use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, ServerAddr};
use tokio::sync::mpsc;

use self::link::Link;
pub use self::request::{Heard, NotConnected, Replies, Reply, ReplyTo, Subscription};
pub use self::stream::{EventStream, Outgoing, Published, Unready};
use domain::link::percent_decoded;
use domain::secret::Secret;

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

/// Why no connection can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of a server is invalid.
    #[error("{0}.url has an invalid address: write addresses such as nats://127.0.0.1:4222")]
    Address(Carries),
    /// The file with the credentials cannot be used.
    #[error("{0}.credentials cannot be used: {1}; give the file of a user's credentials, as `nsc` writes it")]
    Credentials(Carries, std::io::Error),
    /// The file with the certificates cannot be used.
    #[error("nats.ca_file cannot be used: {0}; give a file with certificates in PEM")]
    Certificates(std::io::Error),
    /// No server can be reached.
    #[error("NATS cannot be reached: {1}; check {0}.url and the network")]
    Unreachable(Carries, String),
    /// A server refuses our credentials.
    #[error(
        "NATS refuses this service's credentials: check {0}.credentials, {0}.token, or the user in {0}.url"
    )]
    Unauthorized(Carries),
}

/// What a connection is for; shown as the section of its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// The messages between nodes, and events unless they have a connection of their own.
    All,
    /// Events alone.
    Events,
}

impl fmt::Display for Carries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "nats",
            Self::Events => "events",
        })
    }
}

/// The connection; clones share it.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    /// The prefix of every subject.
    base: Arc<str>,
    timeout: Duration,
    words: mpsc::Sender<(String, Vec<u8>)>,
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
        Self::connect_to_carry(Carries::All, options, cluster).await
    }

    /// As [`Nats::connect`]; the log and the metrics name what the connection carries.
    pub async fn connect_to_carry(
        carries: Carries,
        options: &config::Nats,
        cluster: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        if options.url.is_none() {
            return Ok(None);
        }
        let link = Arc::new(Link::new(carries));
        let connect = connect_options(options, carries).await?.retry_on_initial_connect().event_callback(
            move |event| {
                let link = Arc::clone(&link);
                async move { link.note(event) }
            },
        );
        let client =
            connect.connect(addresses(options, carries)?).await.map_err(|error| failed(carries, &error))?;
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

    /// How long an answer may take, as configured.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The stream of events.
    pub fn events(&self, options: &config::Events) -> EventStream {
        EventStream::new(self.clone(), options)
    }
}

/// Sends notifications as they come. A notification is dropped when the connection is broken.
async fn say(client: Client, mut words: mpsc::Receiver<(String, Vec<u8>)>) {
    while let Some((subject, body)) = words.recv().await {
        if client.connection_state() == State::Connected {
            let _ = client.publish(subject, body.into()).await;
        }
    }
}

/// Connects once as a check. Returns the server's version.
pub async fn reach(carries: Carries, options: &config::Nats) -> Result<String, Error> {
    let connecting = connect_options(options, carries).await?;
    let connected = connecting.connect(addresses(options, carries)?).await;
    Ok(connected.map_err(|error| failed(carries, &error))?.server_info().version)
}

fn addresses(options: &config::Nats, carries: Carries) -> Result<Vec<ServerAddr>, Error> {
    let addresses = options.addresses().map(ServerAddr::from_str).collect::<Result<_, _>>();
    addresses.map_err(|_| Error::Address(carries))
}

fn failed(carries: Carries, error: &ConnectError) -> Error {
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            Error::Unauthorized(carries)
        }
        ConnectErrorKind::ServerParse
        | ConnectErrorKind::Dns
        | ConnectErrorKind::TimedOut
        | ConnectErrorKind::Tls
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => Error::Unreachable(carries, error.to_string()),
    }
}

async fn connect_options(options: &config::Nats, carries: Carries) -> Result<ConnectOptions, Error> {
    let mut connect = ConnectOptions::new()
        .name("pombo")
        .max_reconnects(None)
        .connection_timeout(CONNECTING)
        .subscription_capacity(WAITING)
        .reconnect_delay_callback(delay)
        .require_tls(options.tls);
    // The library does not read them from the address, and servers that it discovers have none in theirs.
    if let Some((user, password)) = addresses(options, carries)?.iter().find_map(user) {
        connect = connect.user_and_password(user, password);
    }
    if let Some(file) = &options.credentials {
        let read = connect.credentials_file(file).await;
        connect = read.map_err(|error| Error::Credentials(carries, error))?;
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

/// The user and the password in an address.
fn user(address: &ServerAddr) -> Option<(String, String)> {
    let decoded = |text: &str| percent_decoded(text).unwrap_or_else(|| text.to_owned());
    Some((decoded(address.username()?), decoded(address.password().unwrap_or_default())))
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
    fn the_user_and_the_password_of_an_address_are_read_as_they_were_meant() {
        let of = |address: &str| user(&ServerAddr::from_str(address).unwrap());
        let pair = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(of("nats://a:4222"), None);
        assert_eq!(of("nats://pombo:secret@a:4222"), pair("pombo", "secret"));
        assert_eq!(of("tls://pombo:p%40ss%2F%25@a"), pair("pombo", "p@ss/%"));
    }

    #[tokio::test]
    async fn without_an_address_there_is_no_connection() {
        let options = config::Config::default().nats;
        assert!(Nats::connect(&options, None).await.unwrap().is_none());
    }
}
