//! The templates of a company's business accounts.

use super::CompanyRecords;
use crate::Error;
use domain::page::{Page, PageRequest};
pub use store::templates::{Filter, Listed, Record};

/// The templates of one company.
pub struct Templates<'a>(pub(super) &'a CompanyRecords);

impl Templates<'_> {
    /// One page of those of a business account that may be sent.
    pub async fn approved(
        &self,
        waba_id: &str,
        page: PageRequest,
        filter: Filter<'_>,
    ) -> Result<Page<Record>, Error> {
        Ok(self.0.store().approved_templates(self.0.company, waba_id, page, filter).await?)
    }

    /// The template of this id, in any status.
    pub async fn find(&self, id: i64) -> Result<Option<Record>, Error> {
        Ok(self.0.store().find_template(self.0.company, id).await?)
    }

    /// One page of them, in any status.
    pub async fn page(&self, page: PageRequest, filter: Listed<'_>) -> Result<Page<Record>, Error> {
        Ok(self.0.store().listed_templates(self.0.company, page, filter).await?)
    }
}
