//! The country in which a company's contacts have their numbers.

use entity::company;
use sea_orm::{ActiveModelTrait, Set};
use serde_json::json;
use uuid::Uuid;

use super::changes::{self, Change, What, Who};
use super::{Result, Store};
use domain::phone::{Country, PhoneNumber};

/// Channels from whose numbers a country is guessed; a company has few.
const LOOKED_AT: i64 = 100;

impl Store {
    /// The country in which most of a company's channels have their numbers.
    pub async fn guessed_country(&self, company: Uuid) -> Result<Option<Country>> {
        let select = "SELECT phone_number FROM channel WHERE company_id = $1 AND phone_number IS NOT NULL
             ORDER BY id LIMIT $2";
        let mut numbers = Vec::new();
        for row in self.rows(select, [company.into(), LOOKED_AT.into()]).await? {
            numbers.push(row.try_get_by_index::<String>(0)?);
        }
        Ok(Country::guess(numbers.iter().filter_map(|number| PhoneNumber::parse(number).ok())))
    }

    /// Sets the country of a company; `None` forgets it. Returns whether the company exists.
    ///
    /// # Errors
    ///
    /// Fails when the database does; then nothing is changed.
    pub async fn set_company_country(
        &self,
        who: &Who,
        company: Uuid,
        country: Option<Country>,
    ) -> Result<bool> {
        let Some(before) = self.company(company).await? else { return Ok(false) };
        if before.country == country {
            return Ok(true);
        }
        let transaction = self.begin().await?;
        let code = country.map(|country| country.code().to_owned());
        let change =
            company::ActiveModel { id: Set(company), country: Set(code.clone()), ..Default::default() };
        change.update(&transaction).await?;
        let before = json!({ "country": before.country.map(Country::code) });
        let change = Change::now(who, What::Company, company, Some(before), json!({ "country": code }));
        changes::record(&transaction, &[change]).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
