//! People who sign in: passwords, sessions, second factors, links that are valid once, members of companies.
//!
//! [`Accounts`] and the types that are made of it are the only interface, for the console, the API and the command line.
//! This module decides how a person is authenticated: a client that failed too often has to wait ([`backoff`]), the answer
//! and its time are the same whether the account exists or not, and every attempt is in the record of changes, where
//! many attempts in a minute share one entry with their number ([`failures`]). The callers decide what a role allows,
//! with [`domain::user::Role`]. Nothing here knows HTTP or SQL. Every method that reads or writes can fail with
//! [`Error::Store`].

mod alerts;
mod attempt;
mod backoff;
mod devices;
mod error;
mod failures;
mod invitations;
mod kept_forms;
mod last_use;
mod links;
mod members;
mod origin;
mod password;
mod profile;
mod second_factor;
mod sessions;
mod sign_in;
mod strength;
mod totp;

use std::sync::Arc;

use parking_lot::Mutex;

pub use self::alerts::AlertChoices;
use self::backoff::Backoff;
pub use self::error::Error;
use self::failures::Failures;
pub use self::kept_forms::KeptForms;
use self::last_use::LastUses;
pub use self::links::{Accept, Invite, LinkInfo, NewLink};
pub use self::members::Create;
pub use self::origin::Origin;
use self::password::Passwords;
pub use self::profile::OwnProfile;
pub use self::second_factor::{Proof, TotpConfirmed, TotpSetup};
pub use self::sessions::NewSession;
pub use self::sign_in::{SignIn, SignedIn};
pub use domain::user::{Email, Language, Role};
use store::Store;
pub use store::alerts::{AlertChoice, AlertListener};
pub use store::looks::Look;
pub use store::users::User;
pub use store::users::links::{Link as Invitation, Purpose};
pub use store::users::memberships::{Member, Membership};
pub use store::users::sessions::{Bearer, Expiry, IDLE, OLDEST, Session};
use vault::Vault;

/// A call's result.
pub type Result<T> = std::result::Result<T, Error>;

/// The people who sign in. Clones share it.
#[derive(Clone)]
pub struct Accounts(Arc<Inner>);

struct Inner {
    store: Store,
    vault: Arc<Vault>,
    passwords: Passwords,
    backoff: Backoff,
    failures: Mutex<Failures>,
    last_uses: LastUses,
}

impl Accounts {
    /// The accounts in this database; `vault` seals the secrets of second factors.
    pub fn new(store: Store, vault: Arc<Vault>) -> Self {
        Self(Arc::new(Inner {
            store,
            vault,
            passwords: Passwords::default(),
            backoff: Backoff::default(),
            failures: Mutex::default(),
            last_uses: LastUses::default(),
        }))
    }

    fn store(&self) -> &Store {
        &self.0.store
    }
}
