//! What operators ask: the tiers, every company's channels, and the record of what was changed.
//!
//! Nothing here is scoped to a company. Every handler takes [`Operator`], which only an operator's own key
//! opens; a company's key opens nothing here. A change is written to the store with who made it; running
//! channels follow by themselves, as they do to the command line.

mod auth;
mod body;
pub(super) mod changes;
pub(super) mod channels;
mod reference;
pub(super) mod tiers;

pub(super) use self::auth::Operator;
pub(super) use self::reference::document;
