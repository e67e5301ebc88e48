//! Companies, for operators.

use uuid::Uuid;

use super::OperatorRecords;
use crate::{Error, Who};
use domain::error::{Code, Refusal};
use domain::page::{Page, PageRequest};
pub use store::companies::Company;

/// Every company.
pub struct Companies<'a>(pub(super) &'a OperatorRecords);

impl Companies<'_> {
    /// One page of them, or of those that a search finds.
    pub async fn page(&self, page: PageRequest, search: Option<&str>) -> Result<Page<Company>, Error> {
        Ok(self.0.store().company_page(page, search).await?)
    }

    /// The company of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<Company>, Error> {
        Ok(self.0.store().company(id).await?)
    }

    /// Adds one. Refused with `already_exists` when another one has the name.
    pub async fn add(&self, who: &Who, name: &str, tier: &str) -> Result<Company, Error> {
        self.0.store().add_company(who, name, tier).await.map_err(|error| unless_taken(error, name))
    }

    /// Gives one another name and tier. Refused with `already_exists` when another one has the name.
    pub async fn change(
        &self,
        who: &Who,
        company: &Company,
        name: &str,
        tier: &str,
    ) -> Result<Company, Error> {
        let changed = self.0.store().change_company(who, company, name, tier).await;
        changed.map_err(|error| unless_taken(error, name))
    }
}

fn unless_taken(error: store::Error, name: &str) -> Error {
    match error {
        store::Error::Taken(_) => Error::Refused(Refusal::new(
            Code::AlreadyExists,
            format!("there is a company `{name}` already: choose another name"),
        )),
        other => other.into(),
    }
}
