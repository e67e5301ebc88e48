//! The provider's statements about templates: lists of all of them, and webhooks about single ones.
//!
//! A status, a quality and a category each keep the time of their statement: the latest counts, in any order of
//! arrival.

use sea_orm::{ConnectionTrait, Value};
use uuid::Uuid;

use super::told::{TOLD, ToldTemplate};
use super::{APPROVED, DELETED, PAUSED};
use crate::dialect::{Cell, Rows, Type};
use crate::nouns::{AllTemplates, Templates};
use crate::revision::{self, Topic};
use crate::{Result, execute};
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
const FACETS: [(&str, &str); 3] =
    [("status", "status_said_at"), ("quality_score", "quality_said_at"), ("category", "category_said_at")];
/// The condition of one template of an account, by name and language.
pub(super) const OF_NAME: &str =
    "company_id = $1 AND waba_id = $2 AND name = $3 AND lower(language) = lower($4)";

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
        let of_account = vec![company_id.into(), waba_id.into()];
        let before = self.before(&transaction, "company_id = $1 AND waba_id = $2", of_account).await?;
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
        let changed = transaction.query_all_raw(self.store.statement(upsert(&listed), values)).await?;
        let touch = [company_id.into(), waba_id.into(), as_of.millis().into()];
        if gone == 0 && changed.is_empty() && !is_first {
            transaction.rollback().await?;
            execute(&self.store.write, self.touch_all(), touch).await?;
            return Ok(());
        }
        execute(&transaction, self.touch_all(), touch).await?;
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
        let sql = "INSERT INTO template_account (company_id, waba_id) VALUES ($1, $2) \
                   ON CONFLICT (company_id, waba_id) DO NOTHING";
        Ok(execute(to, sql, [self.company.into(), waba_id.into()]).await? > 0)
    }

    /// The statement that stamps all templates of an account with the time of a list, which includes all older
    /// statements.
    fn touch_all(self) -> String {
        let newer = FACETS
            .map(|(_, said_at)| format!("{said_at} = CASE WHEN {said_at} < $3 THEN $3 ELSE {said_at} END"));
        format!(
            "UPDATE template SET {} WHERE id IN (SELECT id FROM template WHERE company_id = $1 AND waba_id = $2 \
             ORDER BY id{})",
            newer.join(", "),
            self.store.locking()
        )
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
        let key: [Value; 5] =
            [self.company.into(), waba_id.into(), name.into(), language.into(), said_at.millis().into()];
        let (mut set, mut is_news) = (String::new(), Vec::new());
        for (number, ((column, time), _)) in (8..).zip(&words) {
            let counts = format!("{time} <= $5");
            set += &format!(
                "{column} = CASE WHEN {counts} THEN ${number} ELSE {column} END, \
                 {time} = CASE WHEN {counts} THEN $5 ELSE {time} END, "
            );
            is_news.push(format!("({counts} AND {column} IS DISTINCT FROM ${number})"));
        }
        if words.is_empty() {
            return Ok(false);
        }
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let before = self.before(&transaction, OF_NAME, key[..4].to_vec()).await?;
        let sql = format!(
            "UPDATE template SET {set}revision = $6, updated_at = $7 WHERE {OF_NAME} AND ({}) RETURNING {TOLD}",
            is_news.join(" OR ")
        );
        let now = Timestamp::now();
        let own = [revision.into(), now.millis().into()];
        let own = own.into_iter().chain(words.iter().map(|(_, word)| Value::from(*word)));
        let values = key.iter().cloned().chain(own);
        let changed = transaction.query_all_raw(self.store.statement(sql, values)).await?;
        if !changed.is_empty() {
            if let Some(before) = before {
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
            let sql = format!("UPDATE template SET {time} = $5 WHERE {OF_NAME} AND {time} < $5");
            execute(&self.store.write, sql, key.clone()).await?;
        }
        Ok(false)
    }
}

impl AllTemplates<'_> {
    /// Marks an approved template as paused, because the provider refused it.
    pub async fn pause(self, id: i64) -> Result<()> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let sql = format!(
            "UPDATE template SET status = '{PAUSED}', revision = $2, updated_at = $3, status_said_at = $3 \
             WHERE id = $1 AND status = '{APPROVED}' RETURNING {TOLD}, company_id, waba_id"
        );
        let now = Timestamp::now();
        let values = [id.into(), revision.into(), now.millis().into()];
        if let Some(row) = transaction.query_one_raw(self.store.statement(sql, values)).await? {
            let (company_id, waba_id): (Uuid, String) =
                (row.try_get("", "company_id")?, row.try_get("", "waba_id")?);
            let paused = ToldTemplate::read(&row)?;
            let facts = paused.facts(&waba_id, Some(&paused.with_status(APPROVED)), None, now);
            self.store.event_log().tell_facts(&transaction, company_id, facts, now).await?;
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(())
    }
}

/// Adds the rows of `listed` and updates those that differ, and returns both. `WHERE true` keeps SQLite from reading
/// `ON CONFLICT` as a join's condition.
pub(super) fn upsert(listed: &str) -> String {
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
        match FACETS.into_iter().find(|(facet, _)| *facet == of) {
            Some((_, said_at)) => {
                format!(
                    "CASE WHEN template.{said_at} <= $5 THEN excluded.{column} ELSE template.{column} END"
                )
            }
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
