//! The options of the console.

use std::time::Duration;

use url::Url;

use crate::config;
use crate::connector::mail::Mailer;
use crate::domain::request::Limits;
use crate::surface::Proxies;

/// The address of the console, and its bounds.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address of the service for people; without it, links begin with the host of the request.
    pub public_url: Option<Url>,
    /// Records on a page of a list.
    pub page_size: u64,
    /// The limits of one send.
    pub send: Limits,
    /// Proxies whose headers about the client's address and scheme are trusted.
    pub proxies: Proxies,
    /// How long a page waits for a dry run before it says that the dry run takes longer.
    pub patience: Duration,
    /// The way to the mail server, if there is one.
    pub mailer: Option<Mailer>,
    /// Where programs that speak Graph are answered.
    pub graph: GraphPlace,
}

/// Where programs that speak Graph are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphPlace {
    /// Nowhere.
    #[default]
    Closed,
    /// At the address of the console.
    Here,
    /// At an address of its own.
    Apart,
}

impl GraphPlace {
    /// As the operator chose.
    pub const fn of(options: &config::Graph) -> Self {
        match (options.enabled, options.bind) {
            (false, _) => Self::Closed,
            (true, None) => Self::Here,
            (true, Some(_)) => Self::Apart,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            public_url: None,
            page_size: 50,
            send: Limits::default(),
            proxies: Proxies::default(),
            patience: Duration::from_secs(2),
            mailer: None,
            graph: GraphPlace::default(),
        }
    }
}
