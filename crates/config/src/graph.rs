//! `[graph]`: the door for programs that speak Meta's Graph API.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;

use super::units;
use domain::time_span;

/// `[graph]`: the door for programs that speak Meta's Graph API.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Whether it is open.
    pub enabled: bool,
    /// Its own address; without one it is at the root of `server.bind`.
    #[serde(deserialize_with = "units::optional_socket_address")]
    pub bind: Option<SocketAddr>,
    /// How long a message to one person waits for the provider's answer, before the program is answered; zero for not at all.
    #[serde(with = "time_span")]
    pub wait: Duration,
    /// What becomes of buttons and lists that go through a web session.
    pub web_interactive: WebInteractive,
    /// Whether webhooks in Meta's form tell what people write in the groups of web sessions.
    pub groups: bool,
    /// Whether requests that are not for this service go on to Meta.
    pub pass_through: bool,
}

impl Graph {
    /// The longest `wait`: programs give up after some seconds.
    pub const LONGEST_WAIT: Duration = Duration::from_secs(10);
}

/// `graph.web_interactive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebInteractive {
    /// They are sent as a text with numbered options.
    Text,
    /// They are refused.
    Refuse,
}
