//! Templates, as of the last synchronisation with the provider.
//!
//! A template is identified by its name and language within a business account. It keeps its id: a template that
//! vanished at the provider stays, with the status `DELETED`.

mod listed;
pub mod recipients;
mod said;
mod told;
pub mod waiting;
mod written;

use std::collections::HashMap;

use entity::template::{Column, Entity, Model};
use sea_orm::sea_query::{Condition, Expr, ExprTrait, Func, LikeExpr, SimpleExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

pub use self::listed::Listed;
pub use self::said::Said;
pub use self::written::WrittenTemplate;
use crate::dialect::Rows;
use crate::nouns::{AllTemplates, Templates};
use crate::{Error, Result, fetch};
use clock::Timestamp;
use domain::fold::{fold, like_anywhere};
use domain::page::{Page, PageRequest};
use domain::template::{Category, ParameterFormat, Status, Template};

/// The word of [`Status::Approved`], for statements.
pub const APPROVED: &str = "APPROVED";
/// The word of [`Status::Paused`], for statements.
pub const PAUSED: &str = "PAUSED";
/// The word of [`Category::Marketing`], for statements.
pub const MARKETING: &str = "MARKETING";
/// The word of [`Status::Deleted`], for statements.
pub const DELETED: &str = "DELETED";

/// A stored template.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Our own number.
    pub id: i64,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The business account that it belongs to.
    pub waba_id: String,
    /// The provider's id.
    pub provider_id: String,
    /// Unique with the language.
    pub name: String,
    /// Language code, with an underscore.
    pub language: String,
    /// The provider's category.
    pub category: Category,
    /// The provider's status.
    pub status: Status,
    /// The form of its variables.
    pub parameter_format: ParameterFormat,
    /// The provider's JSON.
    pub components: serde_json::Value,
    /// Why the provider rejected it.
    pub rejected_reason: Option<String>,
    /// The provider's rating.
    pub quality_score: Option<String>,
    /// When a person archived it, so that new sends do not offer it.
    pub archived_at: Option<Timestamp>,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl From<Record> for Template {
    fn from(record: Record) -> Self {
        let Record { id, name, language, category, status, parameter_format, components, .. } = record;
        Self { id, name, language, category, status, parameter_format, components }
    }
}

/// Which approved templates to list. Everything that is `None` matches all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Matched anywhere in the name, without case.
    pub search: Option<&'a str>,
    /// The whole language code, without case.
    pub language: Option<&'a str>,
    /// The whole category, without case.
    pub category: Option<&'a str>,
    /// Whether archived ones are left out.
    pub is_offered: bool,
}

impl AllTemplates<'_> {
    /// The templates that were added or changed after `revision`.
    pub async fn changed_since(self, revision: i64) -> Result<Vec<Record>> {
        let changed = Entity::find().filter(Column::Revision.gt(revision)).all(&self.store.read).await?;
        changed.into_iter().map(record).collect()
    }
}

impl Templates<'_> {
    /// A page of the approved templates of a business account, newest first, ties by id.
    pub async fn approved(
        self,
        waba_id: &str,
        page: PageRequest,
        filter: Filter<'_>,
    ) -> Result<Page<Record>> {
        let Filter { search, language, category, is_offered } = filter;
        let same = |column: Column, text: &str| lower(column).eq(text.to_lowercase());
        let condition =
            Condition::all()
                .add(Column::CompanyId.eq(self.company))
                .add(Column::WabaId.eq(waba_id))
                .add(Column::Status.eq(APPROVED))
                .add_option(search.map(|text| {
                    lower(Column::Name).like(LikeExpr::new(like_anywhere(&fold(text))).escape('\\'))
                }))
                .add_option(language.map(|text| same(Column::Language, text)))
                .add_option(category.map(|text| same(Column::Category, text)))
                .add_option(is_offered.then(|| Column::ArchivedAt.is_null()));
        let matching = Entity::find().filter(condition);
        let newest = matching.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        self.store.page_of(newest, page).await?.try_map(record)
    }

    /// Every template of a company, whatever its status, by business account, name and language.
    pub async fn all(self) -> Result<Vec<Record>> {
        let models = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .order_by_asc(Column::WabaId)
            .order_by_asc(Column::Name)
            .order_by_asc(Column::Language)
            .all(&self.store.read)
            .await?;
        models.into_iter().map(record).collect()
    }

    /// The company's template of this id, whatever its status.
    pub async fn find(self, id: i64) -> Result<Option<Record>> {
        let template = Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company));
        template.one(&self.store.read).await?.map(record).transpose()
    }

    /// The templates of these sends of a company, for the sends that have one.
    pub async fn of_sends(self, sends: &[Uuid]) -> Result<HashMap<Uuid, i64>> {
        let asked = Rows::of_ids(self.store.backend, sends);
        if asked.is_empty() {
            return Ok(HashMap::new());
        }
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT send.id, send.template_id FROM {asked} AS asked JOIN send ON send.id = asked.id \
             WHERE send.company_id = $1 AND send.template_id IS NOT NULL"
        );
        let values = [self.company.into()].into_iter().chain(values);
        Ok(fetch(&self.store.read, sql, values).await?.into_iter().collect())
    }

    /// The template of this name and language in a business account, whatever its status. The language may be in any
    /// case if only one language matches.
    pub async fn named(self, waba_id: &str, name: &str, language: &str) -> Result<Option<Record>> {
        let template = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::WabaId.eq(waba_id))
            .filter(Column::Name.eq(name))
            .filter(lower(Column::Language).eq(language.to_lowercase()));
        let mut found = template.all(&self.store.read).await?;
        let exact = found.iter().position(|template| template.language == language);
        let meant = exact.or((found.len() == 1).then_some(0));
        meant.map(|place| record(found.swap_remove(place))).transpose()
    }
}

fn lower(column: Column) -> SimpleExpr {
    Func::lower(Expr::col(column)).into()
}

fn record(model: Model) -> Result<Record> {
    let components: serde_json::Value = serde_json::from_str(&model.components)
        .map_err(|error| Error::Impossible(format!("components of template {}: {error}", model.id)))?;
    Ok(Record {
        id: model.id,
        company_id: model.company_id,
        waba_id: model.waba_id,
        provider_id: model.provider_id,
        name: model.name,
        language: model.language,
        category: model.category.as_str().into(),
        status: model.status.as_str().into(),
        parameter_format: ParameterFormat::read(Some(&model.parameter_format), &components),
        components,
        rejected_reason: model.rejected_reason,
        quality_score: model.quality_score,
        archived_at: model.archived_at.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(model.created_at),
        updated_at: Timestamp::from_millis(model.updated_at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_the_words_of_the_domain() {
        let statuses = [(APPROVED, Status::Approved), (PAUSED, Status::Paused), (DELETED, Status::Deleted)];
        for (word, status) in statuses {
            assert_eq!((Status::from(word), status.as_str()), (status.clone(), word));
        }
        assert_eq!(
            (Category::from(MARKETING), Category::Marketing.as_str()),
            (Category::Marketing, MARKETING)
        );
    }
}
