//! The country of a company's numbers. Files and forms of people may be read by its rules; programs give international
//! numbers.

use uuid::Uuid;

use super::CompanyRecords;
use crate::{Error, Who};
use domain::phone::Country;
use store::Store;

/// What is known of a company's country.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCountry {
    /// The one that a person set.
    pub set: Option<Country>,
    /// The one in which most of its channels have their numbers.
    pub guessed: Option<Country>,
}

impl OwnCountry {
    /// Reads it for a company.
    pub(crate) async fn of(store: &Store, company: Uuid) -> store::Result<Self> {
        let set = store.company(company).await?.and_then(|company| company.country);
        Ok(Self { set, guessed: store.guessed_country(company).await? })
    }

    /// The country to begin with: the one that was set, or else the guessed one.
    pub fn likely(self) -> Option<Country> {
        self.set.or(self.guessed)
    }
}

impl CompanyRecords {
    /// The country of its numbers.
    pub async fn country(&self) -> Result<OwnCountry, Error> {
        Ok(OwnCountry::of(self.store(), self.company).await?)
    }

    /// Sets the country of its numbers; `None` leaves it to the guess.
    pub async fn set_country(&self, who: &Who, country: Option<Country>) -> Result<(), Error> {
        self.store().set_company_country(who, self.company, country).await?;
        Ok(())
    }
}
