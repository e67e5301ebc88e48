//! The people that a company writes to: changes of many contacts at once, imports of files, suppressions, and the
//! numbers of one person.

pub(super) mod change;
pub(super) mod imports;
pub(crate) mod people;
pub(super) mod suppressions;
