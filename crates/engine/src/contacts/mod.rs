//! The people that a company writes to: changes of many contacts at once, imports of files, suppressions, and the
//! numbers of one person.

pub(super) mod change;
pub(super) mod imports;
pub(super) mod opted_out;
pub(super) mod own_fields;
pub(crate) mod people;
pub(super) mod suppressions;

use crate::Engine;
/// Changes of many contacts.
#[derive(Clone, Copy)]
pub struct Contacts<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Changes of many contacts.
    pub const fn contacts(&self) -> Contacts<'_> {
        Contacts { engine: self }
    }
}
