//! The origin of a browser's request.

use std::net::IpAddr;

use store::changes::Who;
use vault::api_key;

/// The maximum of characters of a user agent that are kept.
const BROWSER_CHARS: usize = 200;

/// Where a request of a browser comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The network address.
    pub address: IpAddr,
    /// The browser's user agent.
    pub browser: String,
    /// The hash of the token by which the device may be known.
    pub(super) device: Option<[u8; 32]>,
    /// The name of the browser's time zone, which exists.
    pub(super) time_zone: Option<String>,
}

impl Origin {
    /// The origin with this address and this user agent, which is cut if it is too long.
    pub fn new(address: IpAddr, browser: &str) -> Self {
        let browser = browser.chars().filter(|c| !c.is_control()).take(BROWSER_CHARS).collect();
        Self { address: address.to_canonical(), browser, device: None, time_zone: None }
    }

    /// The same, from the device with this token in its cookie.
    #[must_use]
    pub fn on_device(self, token: Option<&str>) -> Self {
        Self { device: token.map(api_key::hash), ..self }
    }

    /// The same, with the name of the browser's time zone if it is known. A new account begins with it.
    #[must_use]
    pub fn in_zone(self, name: Option<&str>) -> Self {
        Self { time_zone: name.map(str::to_owned), ..self }
    }

    /// This person as the author of changes from this origin.
    pub fn who(&self, email: &str) -> Who {
        Who::User { email: email.to_owned(), address: self.address }
    }
}
