//! The pages, one file each.

pub(super) mod account;
pub(super) mod changes;
pub(super) mod channel;
pub(super) mod channels;
pub(super) mod companies;
pub(super) mod company;
pub(super) mod compose;
pub(super) mod journey;
pub(super) mod keys;
pub(super) mod language;
pub(super) mod link;
pub(super) mod missing;
pub(super) mod new_channel;
pub(super) mod operator;
pub(super) mod overview;
pub(super) mod send;
pub(super) mod sends;
pub(super) mod sign_in;
pub(super) mod templates;
pub(super) mod tiers;
