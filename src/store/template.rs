//! Templates, as the last synchronisation with the provider left them.
//!
//! A template is known by its name and language within a business account. It keeps our number for ever:
//! one that vanished at the provider stays, with the status `DELETED`.

use entity::template::{Column, Entity, Model};
use sea_orm::sea_query::{Condition, Expr, ExprTrait, Func, LikeExpr, SimpleExpr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use uuid::Uuid;

use super::dialect::{Cell, Rows, Type};
use super::revision::{self, Topic};
use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::fold::{fold, like_anywhere};
use crate::domain::page::{Page, PageRequest};
use crate::domain::template::{ListedTemplate, ParameterFormat, Template};

/// The provider's status of a template that may be sent.
pub const APPROVED: &str = "APPROVED";
/// The provider's status of a template that it lets nobody send for a while.
pub const PAUSED: &str = "PAUSED";
/// The provider's category of advertising.
pub const MARKETING: &str = "MARKETING";
/// Our status of a template that the provider no longer has.
pub const DELETED: &str = "DELETED";

/// A stored template.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Our own number.
    pub id: i64,
    /// Whose template it is.
    pub company_id: Uuid,
    /// The business account that it belongs to.
    pub waba_id: String,
    /// The provider's id.
    pub provider_id: String,
    /// Unique with the language.
    pub name: String,
    /// Language code, with an underscore.
    pub language: String,
    /// As the provider names it.
    pub category: String,
    /// As the provider names it, upper case.
    pub status: String,
    /// `POSITIONAL` or `NAMED`.
    pub parameter_format: String,
    /// The provider's JSON.
    pub components: serde_json::Value,
    /// Why the provider rejected it.
    pub rejected_reason: Option<String>,
    /// How the provider rates it.
    pub quality_score: Option<String>,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl From<Record> for Template {
    fn from(record: Record) -> Self {
        let Record { id, name, language, category, status, parameter_format, components, .. } = record;
        let parameter_format = ParameterFormat::read(Some(&parameter_format), &components);
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
}

/// What the provider said of one template. Everything that is `None` was not said.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    /// Such as `APPROVED` or `PAUSED`.
    pub status: Option<&'a str>,
    /// Such as `GREEN`.
    pub quality_score: Option<&'a str>,
    /// Such as `MARKETING`.
    pub category: Option<&'a str>,
}

const COLUMNS: &[(&str, Type)] = &[
    ("provider_id", Type::Text),
    ("name", Type::Text),
    ("language", Type::Text),
    ("category", Type::Text),
    ("status", Type::Text),
    ("parameter_format", Type::Text),
    ("components", Type::Text),
    ("rejected_reason", Type::Text),
    ("quality_score", Type::Text),
];

impl Store {
    /// Stores everything that the provider lists for one business account, in one transaction. What it no
    /// longer lists becomes [`DELETED`]; what did not change keeps its `updated_at`.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn sync_templates(
        &self,
        company_id: Uuid,
        waba_id: &str,
        listed: &[ListedTemplate],
    ) -> Result<()> {
        let whenever = Timestamp::from_millis(i64::MAX);
        self.sync_templates_as_of(company_id, waba_id, listed, whenever).await
    }

    /// The same, of a list that was asked for at `as_of`: what the provider said of a template since then is newer,
    /// and stays.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn sync_templates_as_of(
        &self,
        company_id: Uuid,
        waba_id: &str,
        listed: &[ListedTemplate],
        as_of: Timestamp,
    ) -> Result<()> {
        let mut rows = Rows::new(self.backend, COLUMNS);
        for template in listed {
            rows.push([
                template.provider_id.as_str().into(),
                template.name.as_str().into(),
                template.language.as_str().into(),
                template.category.as_str().into(),
                template.status.as_str().into(),
                template.parameter_format.as_str().into(),
                template.components.get().into(),
                Cell::Text(template.rejected_reason.as_deref()),
                Cell::Text(template.quality_score.as_deref()),
            ]);
        }
        let (listed, rows) = rows.select(6);
        let transaction = self.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let now = Timestamp::now().millis();
        let mut values: Vec<sea_orm::Value> =
            vec![company_id.into(), waba_id.into(), now.into(), revision.into(), as_of.millis().into()];
        values.extend(rows);
        let gone = format!(
            "UPDATE template SET status = '{DELETED}', updated_at = $3, revision = $4
             WHERE company_id = $1 AND waba_id = $2 AND status <> '{DELETED}' AND updated_at <= $5 AND NOT EXISTS (
                 SELECT 1 FROM {listed} AS listed
                 WHERE listed.name = template.name AND listed.language = template.language)"
        );
        let gone = transaction.execute_raw(self.statement(gone, values.clone())).await?;
        let changed = transaction.execute_raw(self.statement(upsert(&listed), values)).await?;
        if gone.rows_affected() + changed.rows_affected() == 0 {
            transaction.rollback().await?;
            return Ok(());
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Notes what the provider said of one template: its status, its quality or its category, each as the
    /// provider names it and `None` where it said nothing. `false` when there is no such template or
    /// nothing changed.
    ///
    /// # Errors
    ///
    /// Those of any statement.
    pub async fn change_template(
        &self,
        company_id: Uuid,
        waba_id: &str,
        name: &str,
        language: &str,
        said: Said<'_>,
    ) -> Result<bool> {
        let transaction = self.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let sql = "UPDATE template SET status = COALESCE($5, status), \
                   quality_score = COALESCE($6, quality_score), category = COALESCE($7, category), \
                   revision = $8, updated_at = $9 \
                   WHERE company_id = $1 AND waba_id = $2 AND name = $3 AND lower(language) = lower($4) \
                   AND (status, COALESCE(quality_score, ''), category) IS DISTINCT FROM \
                   (COALESCE($5, status), COALESCE($6, quality_score, ''), COALESCE($7, category))";
        let values = [
            company_id.into(),
            waba_id.into(),
            name.into(),
            language.into(),
            said.status.into(),
            said.quality_score.into(),
            said.category.into(),
            revision.into(),
            Timestamp::now().millis().into(),
        ];
        let changed = transaction.execute_raw(self.statement(sql, values)).await?.rows_affected();
        if changed == 0 {
            transaction.rollback().await?;
            return Ok(false);
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Marks an approved template as paused, because the provider did not let it through.
    ///
    /// # Errors
    ///
    /// Those of any statement.
    pub async fn pause_template(&self, id: i64) -> Result<()> {
        let transaction = self.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let sql = format!(
            "UPDATE template SET status = '{PAUSED}', revision = $2, updated_at = $3 \
             WHERE id = $1 AND status = '{APPROVED}'"
        );
        let values = [id.into(), revision.into(), Timestamp::now().millis().into()];
        transaction.execute_raw(self.statement(sql, values)).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The templates that were added or changed after `revision`.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn templates_changed_since(&self, revision: i64) -> Result<Vec<Record>> {
        let changed = Entity::find().filter(Column::Revision.gt(revision)).all(&self.read).await?;
        changed.into_iter().map(record).collect()
    }

    /// A page of the approved templates of a business account, newest first, ties by id.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn approved_templates(
        &self,
        company_id: Uuid,
        waba_id: &str,
        page: PageRequest,
        filter: Filter<'_>,
    ) -> Result<Page<Record>> {
        let Filter { search, language, category } = filter;
        let same = |column: Column, text: &str| lower(column).eq(text.to_lowercase());
        let condition =
            Condition::all()
                .add(Column::CompanyId.eq(company_id))
                .add(Column::WabaId.eq(waba_id))
                .add(Column::Status.eq(APPROVED))
                .add_option(search.map(|text| {
                    lower(Column::Name).like(LikeExpr::new(like_anywhere(&fold(text))).escape('\\'))
                }))
                .add_option(language.map(|text| same(Column::Language, text)))
                .add_option(category.map(|text| same(Column::Category, text)));
        let matching = Entity::find().filter(condition);
        let total = matching.clone().count(&self.read).await?;
        let models = matching
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id)
            .offset(page.offset())
            .limit(page.limit)
            .all(&self.read)
            .await?;
        Ok(Page { records: models.into_iter().map(record).collect::<Result<_>>()?, total })
    }

    /// Every template of a company, whatever its status, by business account, name and language.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn templates(&self, company_id: Uuid) -> Result<Vec<Record>> {
        let models = Entity::find()
            .filter(Column::CompanyId.eq(company_id))
            .order_by_asc(Column::WabaId)
            .order_by_asc(Column::Name)
            .order_by_asc(Column::Language)
            .all(&self.read)
            .await?;
        models.into_iter().map(record).collect()
    }

    /// The company's template of this id, whatever its status.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn find_template(&self, company_id: Uuid, id: i64) -> Result<Option<Record>> {
        let template = Entity::find_by_id(id).filter(Column::CompanyId.eq(company_id));
        template.one(&self.read).await?.map(record).transpose()
    }

    /// The template that a send of the company sends; `None` when it sends none, or there is no such send.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn template_of_send(&self, company_id: Uuid, send_id: Uuid) -> Result<Option<Record>> {
        let sql = "SELECT template_id FROM send WHERE id = $1 AND company_id = $2";
        let row = self.row(sql, [send_id.into(), company_id.into()]).await?;
        match row.map(|row| row.try_get_by_index(0)).transpose()?.flatten() {
            Some(id) => self.find_template(company_id, id).await,
            None => Ok(None),
        }
    }

    /// The template of this name and language in a business account, whatever its status. The language may be
    /// written in any case as long as only one is meant.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn find_template_by_name(
        &self,
        company_id: Uuid,
        waba_id: &str,
        name: &str,
        language: &str,
    ) -> Result<Option<Record>> {
        let template = Entity::find()
            .filter(Column::CompanyId.eq(company_id))
            .filter(Column::WabaId.eq(waba_id))
            .filter(Column::Name.eq(name))
            .filter(lower(Column::Language).eq(language.to_lowercase()));
        let mut found = template.all(&self.read).await?;
        let exact = found.iter().position(|template| template.language == language);
        let meant = exact.or((found.len() == 1).then_some(0));
        meant.map(|place| record(found.swap_remove(place))).transpose()
    }
}

/// Adds the rows of `listed` and updates those that differ. `WHERE true` keeps SQLite from reading
/// `ON CONFLICT` as a join's condition.
fn upsert(listed: &str) -> String {
    const CHANGING: [&str; 7] = [
        "provider_id",
        "category",
        "status",
        "parameter_format",
        "components",
        "rejected_reason",
        "quality_score",
    ];
    let before = CHANGING.map(|column| format!("template.{column}")).join(", ");
    let after = CHANGING.map(|column| format!("excluded.{column}")).join(", ");
    let set = CHANGING.map(|column| format!("{column} = excluded.{column}")).join(", ");
    format!(
        "INSERT INTO template (company_id, waba_id, provider_id, name, language, category, status,
             parameter_format, components, rejected_reason, quality_score, revision, created_at, updated_at)
         SELECT $1, $2, provider_id, name, language, category, status, parameter_format, components,
             rejected_reason, quality_score, $4, $3, $3
         FROM {listed} AS listed WHERE true
         ON CONFLICT (company_id, waba_id, name, language)
         DO UPDATE SET {set}, revision = excluded.revision, updated_at = excluded.updated_at
         WHERE template.updated_at <= $5 AND ({before}) IS DISTINCT FROM ({after})"
    )
}

fn lower(column: Column) -> SimpleExpr {
    Func::lower(Expr::col(column)).into()
}

fn record(model: Model) -> Result<Record> {
    let Model {
        id,
        company_id,
        waba_id,
        provider_id,
        name,
        language,
        category,
        status,
        parameter_format,
        components,
        rejected_reason,
        quality_score,
        revision: _,
        created_at,
        updated_at,
    } = model;
    let components = serde_json::from_str(&components)
        .map_err(|error| Error::Impossible(format!("components of template {id}: {error}")))?;
    Ok(Record {
        id,
        company_id,
        waba_id,
        provider_id,
        name,
        language,
        category,
        status,
        parameter_format,
        components,
        rejected_reason,
        quality_score,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}
