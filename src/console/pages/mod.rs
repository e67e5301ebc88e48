//! The pages, one file each.

pub(super) mod channel;
pub(super) mod channels;
pub(super) mod language;
pub(super) mod missing;
pub(super) mod new_channel;
pub(super) mod overview;
pub(super) mod sign_in;
pub(super) mod templates;
