//! The API for operators: companies with their keys and suppressions, users and invitations, tiers, rate
//! cards, every company's channels, the nodes of a cluster, and the record of changes.
//!
//! Nothing here is scoped to a company. Every handler takes [`Operator`], so it needs an operator's key; a
//! company's key gives no access here. A change is written to the store with its author; running channels apply
//! it by themselves, as they do for the command line.

mod auth;
pub(super) mod changes;
pub(super) mod channels;
pub(super) mod companies;
pub(super) mod invitations;
pub(super) mod keys;
pub(super) mod nodes;
pub(super) mod opt_out_words;
pub(super) mod rate_cards;
mod reference;
pub(super) mod suppressions;
pub(super) mod tiers;
pub(super) mod users;

pub(super) use self::auth::Operator;
