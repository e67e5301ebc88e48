//! Companies.

use entity::company;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveModelTrait, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, Set};
use serde_json::json;
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::nouns::Companies;
use crate::revision::{self, Topic};
use crate::{Result, fetch_one};
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
    /// Since when none of its people and programs comes in; `None` when they do.
    pub disabled_at: Option<Timestamp>,
}

/// What belongs to a company, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Belongings {
    /// Its members who are owners.
    pub owners: u64,
    /// All its members.
    pub members: u64,
    /// Its keys that are neither revoked nor expired.
    pub keys: u64,
    /// Its channels.
    pub channels: u64,
    /// Its channels that have been connected.
    pub connected: u64,
}

impl From<company::Model> for Company {
    fn from(model: company::Model) -> Self {
        let company::Model { id, name, tier, created_at, country, disabled_at } = model;
        let country = country.as_deref().and_then(Country::parse);
        let disabled_at = disabled_at.map(Timestamp::from_millis);
        Self { id, name, tier, created_at: Timestamp::from_millis(created_at), country, disabled_at }
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
            disabled_at: Set(None),
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

    /// Disables a company, so that none of its people and programs comes in, or enables it again. Returns whether that
    /// changed anything.
    pub async fn set_disabled(self, who: &Who, company: &Company, disabled: bool) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let (to, word, before) = if disabled {
            (Some(Timestamp::now().millis()), "disabled", "enabled")
        } else {
            (None, "enabled", "disabled")
        };
        let is_other = if disabled {
            company::Column::DisabledAt.is_null()
        } else {
            company::Column::DisabledAt.is_not_null()
        };
        let update = company::Entity::update_many()
            .col_expr(company::Column::DisabledAt, Expr::value(to))
            .filter(company::Column::Id.eq(company.id))
            .filter(is_other);
        if update.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        let [before, after] = [before, word].map(|word| json!({ "status": word }));
        changes::record_one(&transaction, who, What::Company, company.id, Some(before), after).await?;
        // A running service caches with each key whether its company is disabled.
        revision::bump(&transaction, Topic::ApiKey).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// What belongs to the company of this id.
    pub async fn belongings(self, id: Uuid, now: Timestamp) -> Result<Belongings> {
        let sql = "SELECT
            (SELECT COUNT(*) FROM membership WHERE company_id = $1 AND role = 'owner'),
            (SELECT COUNT(*) FROM membership WHERE company_id = $1),
            (SELECT COUNT(*) FROM api_key WHERE company_id = $1 AND revoked_at IS NULL
                AND (expires_at IS NULL OR expires_at > $2)),
            (SELECT COUNT(*) FROM channel WHERE company_id = $1),
            (SELECT COUNT(*) FROM channel WHERE company_id = $1 AND status = 'connected')";
        let row =
            fetch_one::<(i64, i64, i64, i64, i64)>(&self.store.read, sql, [id.into(), now.millis().into()]);
        let Some((owners, members, keys, channels, connected)) = row.await? else {
            return Ok(Belongings::default());
        };
        let [owners, members, keys, channels, connected] =
            [owners, members, keys, channels, connected].map(i64::cast_unsigned);
        Ok(Belongings { owners, members, keys, channels, connected })
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
