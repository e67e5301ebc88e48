//! The people that a company writes to: changes of many contacts at once, imports of files, suppressions, and the
//! numbers of one person.

pub(super) mod change;
pub(super) mod imports;
pub(super) mod opted_out;
pub(super) mod own_fields;
pub(crate) mod people;
pub(super) mod suppressions;

use uuid::Uuid;

use crate::{Engine, Error, Exported, Who};

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

impl Contacts<'_> {
    /// Records that somebody takes data of a company out as a file.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away: then no file is given out.
    pub async fn record_export(&self, who: &Who, company: Uuid, what: Exported) -> Result<(), Error> {
        Ok(self.engine.records_of(company).await?.changes().add_export(who, company, what).await?)
    }
}
