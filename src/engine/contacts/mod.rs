//! The people that a company writes to: changes of many contacts at once, imports of files, and suppressions.

pub(super) mod change;
pub(super) mod imports;
pub(super) mod suppressions;
