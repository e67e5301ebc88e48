//! The recipients that a company's sends skip.

use super::CompanyRecords;
use crate::{Error, Who};
use clock::Timestamp;
use domain::opt_out::OptOutWords;
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;
use domain::suppression::Suppression;
pub use store::suppressions::Kept;

/// The suppressions of one company.
pub struct Suppressions<'a>(pub(super) &'a CompanyRecords);

impl Suppressions<'_> {
    /// One page of them, or of those of one recipient.
    pub async fn page(
        &self,
        page: PageRequest,
        of: Option<PhoneNumber>,
        now: Timestamp,
    ) -> Result<Page<Kept>, Error> {
        Ok(self.0.store().find_suppressions(self.0.company, page, of, now).await?)
    }

    /// Suppresses a recipient; `false` when it was suppressed before.
    pub async fn add(&self, who: &Who, recipient: PhoneNumber, scope: Suppression) -> Result<bool, Error> {
        Ok(self.0.store().add_suppression(who, self.0.company, recipient, scope).await?)
    }

    /// What the company does with opt-out words.
    pub async fn words(&self) -> Result<OptOutWords, Error> {
        Ok(self.0.store().opt_out_words(self.0.company).await?)
    }

    /// Sets what the company does with opt-out words.
    pub async fn set_words(&self, who: &Who, words: &OptOutWords) -> Result<(), Error> {
        Ok(self.0.store().set_opt_out_words(who, self.0.company, words).await?)
    }

    /// Lifts all suppressions of a recipient, and returns them.
    pub async fn lift(&self, who: &Who, recipient: PhoneNumber) -> Result<Vec<Kept>, Error> {
        Ok(self.0.store().lift_suppressions(who, self.0.company, recipient).await?)
    }
}
