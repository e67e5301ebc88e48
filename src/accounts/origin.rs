//! Where a request of a browser comes from.

use std::net::IpAddr;

use crate::store::changes::Who;

/// The most characters that are kept of what a browser calls itself.
const BROWSER_CHARS: usize = 200;

/// Where a request of a browser comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The network address.
    pub address: IpAddr,
    /// The browser as it calls itself.
    pub browser: String,
}

impl Origin {
    /// From this address; of what the browser calls itself, as much as is worth keeping.
    pub fn new(address: IpAddr, browser: &str) -> Self {
        let browser = browser.chars().filter(|c| !c.is_control()).take(BROWSER_CHARS).collect();
        Self { address: address.to_canonical(), browser }
    }

    /// The author of changes that this person makes from here.
    pub fn who(&self, email: &str) -> Who {
        Who::User { email: email.to_owned(), address: self.address }
    }
}
