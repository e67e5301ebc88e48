//! The pages, one file each.

pub(super) mod language;
pub(super) mod missing;
pub(super) mod overview;
pub(super) mod sign_in;
