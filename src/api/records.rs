//! The records that the command line prints too: with `--json`, a command prints a record as the APIs answer it, and beside
//! it what only somebody at the command line is told.

pub(crate) use super::channels::Channel;
pub(crate) use super::operator::changes::Change;
pub(crate) use super::operator::channels::TierEnd;
pub(crate) use super::operator::companies::Company;
pub(crate) use super::operator::keys::Key;
pub(crate) use super::operator::nodes::{Node, Postgres};
pub(crate) use super::operator::tiers::SendEffect;
pub(crate) use super::operator::users::User;
pub(crate) use super::suppressions::Suppression;
pub(crate) use super::templates::Template;
pub(crate) use super::webhooks::Webhook;
pub(crate) use super::webhooks::deliveries::WebhookDelivery;
