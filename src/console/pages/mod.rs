//! The pages, one file each.

pub(super) mod account;
pub(super) mod changes;
pub(super) mod companies;
pub(super) mod company;
pub(super) mod contact;
pub(super) mod contact_export;
pub(super) mod contacts;
pub(super) mod import;
pub(super) mod imports;
pub(super) mod keys;
pub(super) mod language;
pub(super) mod link;
pub(super) mod missing;
pub(super) mod operator;
pub(super) mod overview;
pub(super) mod sign_in;
pub(super) mod suppressions;
pub(super) mod tags;
pub(super) mod tiers;
