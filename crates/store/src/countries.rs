//! The company itself, and the country of its numbers. Files and forms of people may be read by its rules; programs give
//! international numbers.

use entity::{channel, company};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};
use serde_json::json;

use super::Result;
use super::changes::{self, What, Who};
use super::companies::Company;
use crate::nouns::CompanyStore;
use domain::phone::{Country, PhoneNumber};

/// Channels from whose numbers a country is guessed; a company has few.
const LOOKED_AT: u64 = 100;

/// What is known of a company's country.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCountry {
    /// The one that a person set.
    pub set: Option<Country>,
    /// The one in which most of its channels have their numbers.
    pub guessed: Option<Country>,
}

impl OwnCountry {
    /// The country to begin with: the one that was set, or else the guessed one.
    pub fn likely(self) -> Option<Country> {
        self.set.or(self.guessed)
    }
}

impl CompanyStore<'_> {
    /// The company itself.
    pub async fn details(self) -> Result<Option<Company>> {
        self.store.companies().find(self.company).await
    }

    /// The country of its numbers.
    pub async fn country(self) -> Result<OwnCountry> {
        let set = self.details().await?.and_then(|company| company.country);
        Ok(OwnCountry { set, guessed: self.guessed_country().await? })
    }

    /// The country in which most of a company's channels have their numbers.
    pub async fn guessed_country(self) -> Result<Option<Country>> {
        use channel::{Column, Entity};
        let own = Entity::find().filter(Column::CompanyId.eq(self.company)).order_by_asc(Column::Id);
        let known = own.filter(Column::PhoneNumber.is_not_null()).limit(LOOKED_AT).select_only();
        let numbers = known.column(Column::PhoneNumber).into_tuple::<String>().all(&self.store.read).await?;
        Ok(Country::guess(numbers.iter().filter_map(|number| PhoneNumber::parse(number).ok())))
    }

    /// Sets the country of a company; `None` forgets it. Returns whether the company exists.
    pub async fn set_country(self, who: &Who, country: Option<Country>) -> Result<bool> {
        let company = self.company;
        let Some(before) = self.details().await? else { return Ok(false) };
        if before.country == country {
            return Ok(true);
        }
        let transaction = self.store.begin().await?;
        let code = country.map(|country| country.code().to_owned());
        let change =
            company::ActiveModel { id: Set(company), country: Set(code.clone()), ..Default::default() };
        change.update(&transaction).await?;
        let before = Some(json!({ "country": before.country.map(Country::code) }));
        let after = json!({ "country": code });
        changes::record_one(&transaction, who, What::Company, company, before, after).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
