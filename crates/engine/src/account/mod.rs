//! A business account: the [`machine`] that decides what its channels share, as channels share it.
//!
//! The provider counts, throttles and lists by business account, and several numbers may share one. A channel holds its
//! account as a [`Member`], and reaches the machine through it. For each message it needs only the member's own state,
//! or reads one flag. The machine of an account exists while a channel uses it; anything that must survive is in the
//! store.

mod apps;
mod member;
mod open;
mod registry;
#[cfg(test)]
mod tests;

pub(crate) use self::apps::ThrottledApp;
pub(crate) use self::apps::{AppId, ScopeKind};
pub(crate) use self::member::{Member, People};
pub(crate) use self::registry::Accounts;
pub(crate) use ::machines::account as machine;
pub(crate) use ::machines::account::{AccountUpdate, Reserved, Window};
#[cfg(any(test, feature = "universe"))]
pub(crate) use ::machines::account::{Effect, Input, Unread};
