//! The record of changes, for operators.

use super::OperatorRecords;
use crate::Error;
use domain::page::{Page, PageRequest};
pub use store::changes::{Change, Filter, What};

/// The changes of every company.
pub struct Changes<'a>(pub(super) &'a OperatorRecords);

impl Changes<'_> {
    /// One page of the changes that `filter` includes, the newest first.
    pub async fn page(&self, filter: Filter<'_>, page: PageRequest) -> Result<Page<Change>, Error> {
        Ok(self.0.store().changes(filter, page).await?)
    }
}
