//! A NATS server of a test's own, and what is in its stream of events.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use async_nats::jetstream;
use pombo::config::{Config, Nats};
use pombo::domain::secret::Secret;
use serde_json::Value;
use tempfile::TempDir;

use crate::child::OwnedChild;
use crate::proxy::OwnPort;
use crate::running::until_soon;

/// A server on a port that stays reserved while it is stopped; its data stays too.
pub(crate) struct NatsServer {
    port: OwnPort,
    directory: TempDir,
    arguments: Vec<String>,
    child: Option<OwnedChild>,
}

/// An event of the stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) subject: String,
    /// The id by which the server drops repetitions.
    pub(crate) id: String,
    pub(crate) body: Value,
}

impl Stored {
    pub(crate) fn kind(&self) -> &str {
        self.body["type"].as_str().unwrap()
    }
}

/// Debian puts the program where only root's PATH has it.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/bin".into()]);
    let mut found = directories.map(|directory| directory.join("nats-server")).filter(|file| file.exists());
    found
        .next()
        .expect("there is no nats-server: install Debian's package of this name, as scripts/test does")
}

impl NatsServer {
    /// With JetStream, open to everybody.
    pub(crate) async fn start() -> Self {
        Self::start_with(&["-js"]).await
    }

    /// With these arguments.
    pub(crate) async fn start_with(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let directory = tempfile::tempdir().unwrap();
        let mut server = Self { port: OwnPort::new(), directory, arguments, child: None };
        server.start_again().await;
        server
    }

    /// Starts it after [`NatsServer::stop`], with what it had stored.
    pub(crate) async fn start_again(&mut self) {
        // It ends with the thread of its test, however that ends.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(program());
        command.args(["-a", "127.0.0.1", "-p", &self.port.address.port().to_string()]);
        command.arg("-sd").arg(self.directory.path()).args(&self.arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(OwnedChild::spawn(&mut command));
        until_soon("the NATS server listening", async || TcpStream::connect(self.port.address).is_ok()).await;
    }

    /// Ends it as a crash does.
    pub(crate) fn stop(&mut self) {
        self.child.take().unwrap().crash();
    }

    /// The next start is with these arguments.
    pub(crate) fn replace_arguments(&mut self, arguments: &[&str]) {
        self.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> String {
        self.port.address.to_string()
    }

    /// The address as the configuration has it.
    pub(crate) fn url(&self) -> String {
        format!("nats://{}", self.port.address)
    }

    /// The events of the stream, in its order; none while there is no stream.
    pub(crate) async fn stored(&self) -> Vec<Stored> {
        self.stored_as(None).await
    }

    /// The same with a token that the server takes.
    pub(crate) async fn stored_as(&self, token: Option<&str>) -> Vec<Stored> {
        let options = async_nats::ConnectOptions::new();
        let options = token.into_iter().fold(options, |options, token| options.token(token.to_owned()));
        let client = options.connect(self.url()).await.unwrap();
        let Ok(stream) = jetstream::new(client).get_stream("POMBO_EVENTS").await else { return Vec::new() };
        let state = &stream.cached_info().state;
        let mut stored = Vec::new();
        // A stream without messages begins at 0, which is no message's number.
        for sequence in state.first_sequence.max(1)..=state.last_sequence {
            let message = stream.get_raw_message(sequence).await.unwrap();
            let id = message.headers.get("Nats-Msg-Id").unwrap().to_string();
            let body = serde_json::from_slice(&message.payload).unwrap();
            stored.push(Stored { subject: message.subject.to_string(), id, body });
        }
        stored
    }

    /// How many events the stream has.
    pub(crate) async fn count(&self) -> u64 {
        let client = async_nats::connect(self.url()).await.unwrap();
        let Ok(stream) = jetstream::new(client).get_stream("POMBO_EVENTS").await else { return 0 };
        stream.cached_info().state.messages
    }
}

/// The configuration of a connection to this address.
pub(crate) fn options(url: &str) -> Nats {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Nats { url: Some(Secret::new(url.to_owned())), ..Config::default().nats }
}
