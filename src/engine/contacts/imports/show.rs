//! The preview of an import: the first rows of the file, and what they would change.

use uuid::Uuid;

use super::{refused, settings};
use crate::engine::{Engine, Error};
use crate::error::Code;
use crate::import::{self, Preview};
use crate::store::Upserted;

/// Rows that are looked up among the contacts.
const LOOKED_UP: usize = 500;

/// The beginning of a file, and what its rows would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The columns and the first rows.
    pub preview: Preview,
    /// The examined rows that would create a contact.
    pub created: u64,
    /// The rows that would change a contact.
    pub updated: u64,
    /// The rows that would change nothing.
    pub unchanged: u64,
}

impl Engine {
    /// Shows how the beginning of an uploaded file would be imported now.
    ///
    /// # Errors
    ///
    /// `import_not_found`, and `invalid_file` or `too_many_columns` when its header cannot be read.
    pub async fn show_import(&self, company: Uuid, id: Uuid) -> Result<Shown, Error> {
        let settings = settings(&self.find_import(company, id).await?);
        let (beginning, is_all) = self.beginning(company, id).await?;
        let preview = import::preview(&beginning, is_all, &settings, LOOKED_UP)
            .map_err(|error| refused(&error, Code::InvalidFile))?;
        let records = self.records_of(company).await?;
        let results = records.compare_drafts(company, &preview.step.drafts).await?;
        let count = |result| results.iter().filter(|found| **found == result).count() as u64;
        Ok(Shown {
            created: count(Upserted::Created),
            updated: count(Upserted::Updated),
            unchanged: count(Upserted::Unchanged),
            preview,
        })
    }

    /// The first piece of an uploaded file, and whether it is the whole file.
    pub(super) async fn beginning(&self, company: Uuid, id: Uuid) -> Result<(Vec<u8>, bool), Error> {
        let records = self.records_of(company).await?;
        let first = records.import_chunk(id, 0).await?.unwrap_or_default();
        let is_all = first.len() < super::upload::PIECE || records.import_chunk(id, 1).await?.is_none();
        Ok((first, is_all))
    }
}
