//! The pages, one file each.

pub(super) mod account;
pub(super) mod changes;
pub(super) mod companies;
pub(super) mod company;
pub(super) mod keys;
pub(super) mod language;
pub(super) mod link;
pub(super) mod missing;
pub(super) mod operator;
pub(super) mod overview;
pub(super) mod sign_in;
pub(super) mod tiers;
