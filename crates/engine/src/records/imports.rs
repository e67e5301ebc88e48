//! The imports of a company. They are uploaded, started and canceled by the [`Engine`](crate::Engine).

use uuid::Uuid;

use super::CompanyRecords;
use crate::Error;
use domain::page::{Page, PageRequest};
pub use store::imports::{Counts, Import, MOST_OPEN, Rejected, State};

/// The imports of one company.
pub struct Imports<'a>(pub(super) &'a CompanyRecords);

impl Imports<'_> {
    /// One page of them, the newest first.
    pub async fn page(&self, page: PageRequest) -> Result<Page<Import>, Error> {
        Ok(self.0.store().imports(self.0.company, page).await?)
    }

    /// The import of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<Import>, Error> {
        Ok(self.0.store().import(self.0.company, id).await?)
    }

    /// The next `limit` rejected rows of an import from the place `from` on.
    pub async fn rejected(&self, id: Uuid, from: u64, limit: u32) -> Result<Vec<Rejected>, Error> {
        Ok(self.0.store().import_rejects(self.0.company, id, from, limit).await?)
    }
}
