//! Companies.

use entity::company;
use sea_orm::{ActiveModelTrait, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, Set};
use serde_json::json;
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::Companies;
use crate::revision::{self, Topic};
use clock::Timestamp;
use domain::fold::fold;
use domain::page::{Page, PageRequest};
use domain::phone::Country;

/// A company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// Time-ordered id.
    pub id: Uuid,
    /// Unique name.
    pub name: String,
    /// The tier that its new channels take, and whose `api_requests` bounds its requests.
    pub tier: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// The country of its contacts' numbers, if a person set it.
    pub country: Option<Country>,
}

impl From<company::Model> for Company {
    fn from(model: company::Model) -> Self {
        let company::Model { id, name, tier, created_at, country } = model;
        let country = country.as_deref().and_then(Country::parse);
        Self { id, name, tier, created_at: Timestamp::from_millis(created_at), country }
    }
}

impl Companies<'_> {
    /// Adds a company.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Taken`] when another company has the name.
    pub async fn add(self, who: &Who, name: &str, tier: &str) -> Result<Company> {
        let model = company::ActiveModel {
            id: Set(Uuid::now_v7()),
            name: Set(name.to_owned()),
            tier: Set(tier.to_owned()),
            created_at: Set(Timestamp::now().millis()),
            country: Set(None),
        };
        let transaction = self.store.begin().await?;
        let company: Company = model.insert(&transaction).await?.into();
        let added = json!({ "name": name, "tier": tier });
        changes::record_one(&transaction, who, What::Company, company.id, None, added).await?;
        transaction.commit().await?;
        Ok(company)
    }

    /// Every company, by name.
    pub async fn all(self) -> Result<Vec<Company>> {
        let models =
            company::Entity::find().order_by_asc(company::Column::Name).all(&self.store.read).await?;
        Ok(models.into_iter().map(Company::from).collect())
    }

    /// A page of the companies, by name; `search` is matched anywhere in the name, without case and accents.
    pub async fn page(self, page: PageRequest, search: Option<&str>) -> Result<Page<Company>> {
        let by_name = company::Entity::find().order_by_asc(company::Column::Name);
        let Some(search) = search.map(fold) else {
            return Ok(self.store.page_of(by_name, page).await?.map(Company::from));
        };
        // Names are folded here, because the databases cannot fold them. There are few companies.
        let mut found = by_name.all(&self.store.read).await?;
        found.retain(|company| fold(&company.name).contains(&search));
        Ok(Page::of(found, page).map(Company::from))
    }

    /// The company of this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Company>> {
        Ok(company::Entity::find_by_id(id).one(&self.store.read).await?.map(Company::from))
    }

    /// Gives a company this name and this tier.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Taken`] when another company has the name.
    pub async fn change(self, who: &Who, company: &Company, name: &str, tier: &str) -> Result<Company> {
        let changed = Company { name: name.to_owned(), tier: tier.to_owned(), ..company.clone() };
        if changed == *company {
            return Ok(changed);
        }
        let transaction = self.store.begin().await?;
        let changes = company::ActiveModel {
            name: Set(changed.name.clone()),
            tier: Set(changed.tier.clone()),
            ..Default::default()
        };
        // What another request changed already is no change.
        let others = Condition::any().add(company::Column::Name.ne(name)).add(company::Column::Tier.ne(tier));
        let update = company::Entity::update_many().set(changes).filter(company::Column::Id.eq(company.id));
        if update.filter(others).exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(changed).await;
        }
        let before = json!({ "name": company.name, "tier": company.tier });
        let after = json!({ "name": name, "tier": tier });
        changes::record_one(&transaction, who, What::Company, company.id, Some(before), after).await?;
        // A running service caches the company's tier with its keys.
        revision::bump(&transaction, Topic::ApiKey).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// The company of this name, or of this id in text.
    pub async fn find_named(self, name_or_id: &str) -> Result<Option<Company>> {
        let named = company::Entity::find().filter(company::Column::Name.eq(name_or_id));
        if let Some(model) = named.one(&self.store.read).await? {
            return Ok(Some(model.into()));
        }
        let Ok(id) = Uuid::try_parse(name_or_id) else { return Ok(None) };
        Ok(company::Entity::find_by_id(id).one(&self.store.read).await?.map(Company::from))
    }
}
