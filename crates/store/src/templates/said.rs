//! The provider's statements about templates: lists of all of them, and webhooks about single ones.
//!
//! A status, a quality and a category each keep the time of their statement: the latest counts, in any order of
//! arrival.

use entity::template::{ActiveModel, Column, Entity};
use sea_orm::sea_query::{Condition, Expr, ExprTrait as _, Func};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, IdenStatic as _, QueryFilter as _, Set, UpdateMany, Value,
};

use super::told::{TOLD, ToldTemplate};
use super::{APPROVED, DELETED, PAUSED, lower};
use crate::dialect::{Cell, Rows, Type};
use crate::nouns::{AllTemplates, Templates};
use crate::one_row::insert_new;
use crate::queries::{at_least, differs, in_order};
use crate::revision::{self, Topic};
use crate::{Result, Transaction, execute};
use clock::Timestamp;
use domain::template::ListedTemplate;

/// A statement of the provider about one template. `None` fields were not mentioned.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    /// Such as `APPROVED` or `PAUSED`.
    pub status: Option<&'a str>,
    /// Such as `GREEN`.
    pub quality_score: Option<&'a str>,
    /// Such as `MARKETING`.
    pub category: Option<&'a str>,
    /// Why the template has this status, which is told and not stored.
    pub reason: Option<&'a str>,
}

/// The values of a template that webhooks change: the column, and the column with the time of its statement.
const FACETS: [(Column, Column); 3] = [
    (Column::Status, Column::StatusSaidAt),
    (Column::QualityScore, Column::QualitySaidAt),
    (Column::Category, Column::CategorySaidAt),
];

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

impl Templates<'_> {
    /// Stores the provider's list for one business account, in one transaction. Templates that are no longer listed
    /// become [`DELETED`]; unchanged ones keep their `updated_at`. The company's programs are told what changed, but not what the
    /// first list of an account has.
    pub async fn sync(self, waba_id: &str, listed: &[ListedTemplate]) -> Result<()> {
        self.sync_as_of(waba_id, listed, Timestamp::now()).await
    }

    /// Like [`Templates::sync`](crate::Templates::sync), for a list that was requested at `as_of`. Newer statements of the provider stay.
    /// The list includes earlier statements, which change nothing when they arrive later.
    pub async fn sync_as_of(self, waba_id: &str, listed: &[ListedTemplate], as_of: Timestamp) -> Result<()> {
        let company_id = self.company;
        let (listed, rows) = self.rows(listed);
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let is_first = self.note_listed(&transaction, waba_id).await?;
        let before = self.before(&transaction, self.of_account(waba_id)).await?;
        let now = Timestamp::now();
        let mut values: Vec<sea_orm::Value> = vec![
            company_id.into(),
            waba_id.into(),
            now.millis().into(),
            revision.into(),
            as_of.millis().into(),
        ];
        values.extend(rows);
        let gone = format!(
            "UPDATE template SET status = '{DELETED}', updated_at = $3, revision = $4
             WHERE company_id = $1 AND waba_id = $2 AND status <> '{DELETED}' AND status_said_at <= $5 AND NOT EXISTS (
                 SELECT 1 FROM {listed} AS listed
                 WHERE listed.name = template.name AND listed.language = template.language)"
        );
        let gone = execute(&transaction, gone, values.clone()).await?;
        let changed = self.upsert(&transaction, &listed, values).await?;
        let touch = self.touch_all(waba_id, as_of);
        if gone == 0 && changed.is_empty() && !is_first {
            transaction.rollback().await?;
            touch.exec(&self.store.write).await?;
            return Ok(());
        }
        touch.exec(&transaction).await?;
        if let Some(before) = before.filter(|_| !is_first) {
            let changed = (&before, changed.as_slice());
            self.tell(&transaction, waba_id, changed, ToldTemplate::listed_reason, now).await?;
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(())
    }

    /// Templates as the rows of a statement with five values before theirs.
    pub(super) fn rows(self, listed: &[ListedTemplate]) -> (String, Vec<Value>) {
        let mut rows = Rows::new(self.store.backend, COLUMNS);
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
        rows.select(6)
    }

    /// Notes that the templates of an account are listed. Returns whether they never were before.
    async fn note_listed(self, to: &impl ConnectionTrait, waba_id: &str) -> Result<bool> {
        let row = [("company_id", self.company.into()), ("waba_id", waba_id.into())];
        insert_new(to, "template_account", row).await
    }

    /// The change that stamps all templates of an account with the time of a list, which includes all older
    /// statements.
    fn touch_all(self, waba_id: &str, as_of: Timestamp) -> UpdateMany<Entity> {
        let own = in_order(Entity::find().filter(self.of_account(waba_id)), Column::Id);
        let all = Entity::update_many().filter(Column::Id.in_subquery(own));
        let newer = |all: UpdateMany<Entity>, (_, said_at): (_, Column)| {
            all.col_expr(said_at, at_least(said_at, as_of.millis()))
        };
        FACETS.into_iter().fold(all, newer)
    }

    /// The templates of an account.
    fn of_account(self, waba_id: &str) -> Condition {
        Condition::all().add(Column::CompanyId.eq(self.company)).add(Column::WabaId.eq(waba_id))
    }

    /// One template of an account, by name and language.
    pub(super) fn of_name(self, waba_id: &str, name: &str, language: &str) -> Condition {
        let in_language = lower(Column::Language).eq(Func::lower(language));
        self.of_account(waba_id).add(Column::Name.eq(name)).add(in_language)
    }

    /// Adds the rows of `listed` and updates those that differ, and returns both.
    pub(super) async fn upsert(
        self,
        within: &Transaction,
        listed: &str,
        values: Vec<Value>,
    ) -> Result<Vec<ToldTemplate>> {
        let changed = within.query_all_raw(self.store.statement(upsert(listed), values)).await?;
        changed.iter().map(ToldTemplate::read).collect()
    }

    /// Writes the provider's statement about one template at `said_at`: its status, its quality or its category, each
    /// in the provider's words and `None` if not mentioned. Values from later statements stay. `false` when there is no
    /// such template or nothing changed. The company's programs are told what changed.
    pub async fn change(
        self,
        waba_id: &str,
        name: &str,
        language: &str,
        said: Said<'_>,
        said_at: Timestamp,
    ) -> Result<bool> {
        let Said { status, quality_score, category, reason } = said;
        let words = FACETS.into_iter().zip([status, quality_score, category]);
        let words: Vec<_> = words.filter_map(|(facet, word)| Some((facet, word?))).collect();
        if words.is_empty() {
            return Ok(false);
        }
        let (of_name, at) = (self.of_name(waba_id, name, language), said_at.millis());
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let before = self.before(&transaction, of_name.clone()).await?;
        let now = Timestamp::now();
        let stamp =
            ActiveModel { revision: Set(revision), updated_at: Set(now.millis()), ..Default::default() };
        let (mut update, mut is_news) = (Entity::update_many().set(stamp), Condition::any());
        for ((column, time), word) in words.iter().copied() {
            let latest = Expr::case(time.lte(at), word).finally(Expr::col(column));
            update = update.col_expr(column, latest.into()).col_expr(time, at_least(time, at));
            is_news = is_news.add(time.lte(at).and(differs(column, word)));
        }
        let changed =
            update.filter(of_name.clone()).filter(is_news).exec_with_returning(&transaction).await?;
        if !changed.is_empty() {
            if let Some(before) = before {
                let changed: Vec<_> = changed.into_iter().map(ToldTemplate::from).collect();
                let changed = (&before, changed.as_slice());
                self.tell(&transaction, waba_id, changed, |_| reason.map(str::to_owned), now).await?;
            }
            transaction.commit().await?;
            self.store.tell_of_events();
            return Ok(true);
        }
        transaction.rollback().await?;
        // Nothing changes, but earlier statements that arrive later must count as older than this one.
        for ((_, time), _) in words {
            let touch = Entity::update_many().col_expr(time, Expr::value(at)).filter(of_name.clone());
            touch.filter(time.lt(at)).exec(&self.store.write).await?;
        }
        Ok(false)
    }
}

impl AllTemplates<'_> {
    /// Marks an approved template as paused, because the provider refused it.
    pub async fn pause(self, id: i64) -> Result<()> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let now = Timestamp::now();
        let columns = ActiveModel {
            status: Set(PAUSED.to_owned()),
            revision: Set(revision),
            updated_at: Set(now.millis()),
            status_said_at: Set(now.millis()),
            ..Default::default()
        };
        let paused = Entity::update_many().set(columns).filter(Column::Id.eq(id));
        let paused = paused.filter(Column::Status.eq(APPROVED)).exec_with_returning(&transaction);
        if let Some(paused) = paused.await?.pop() {
            let (company_id, waba_id) = (paused.company_id, paused.waba_id.clone());
            let paused = ToldTemplate::from(paused);
            let facts = paused.facts(&waba_id, Some(&paused.with_status(APPROVED)), None, now);
            self.store.event_log().tell_facts(&transaction, company_id, facts, now).await?;
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(())
    }
}

/// `WHERE true` keeps SQLite from reading `ON CONFLICT` as a join's condition.
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
    // Statements of the provider since the list was requested are newer.
    let listed_now = |column: &str| {
        let of = if column == "rejected_reason" { "status" } else { column };
        match FACETS.into_iter().find(|(facet, _)| facet.as_str() == of) {
            Some((_, said_at)) => format!(
                "CASE WHEN template.{} <= $5 THEN excluded.{column} ELSE template.{column} END",
                said_at.as_str()
            ),
            None => format!("excluded.{column}"),
        }
    };
    let before = CHANGING.map(|column| format!("template.{column}")).join(", ");
    let after = CHANGING.map(listed_now).join(", ");
    let set = CHANGING.map(|column| format!("{column} = {}", listed_now(column))).join(", ");
    format!(
        "INSERT INTO template (company_id, waba_id, provider_id, name, language, category, status,
             parameter_format, components, rejected_reason, quality_score, revision, created_at, updated_at)
         SELECT $1, $2, provider_id, name, language, category, status, parameter_format, components,
             rejected_reason, quality_score, $4, $3, $3
         FROM {listed} AS listed WHERE true
         ON CONFLICT (company_id, waba_id, name, language)
         DO UPDATE SET {set}, revision = excluded.revision, updated_at = excluded.updated_at
         WHERE ({before}) IS DISTINCT FROM ({after})
         RETURNING {TOLD}"
    )
}
