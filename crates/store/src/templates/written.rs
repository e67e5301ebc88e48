//! Templates that people wrote, changed, deleted or archived here: stored once the provider took them, or at once where nobody
//! reviews them.

use entity::template::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, Set, Value};
use serde_json::json;

use super::told::ToldTemplate;
use super::{DELETED, Record, record};
use crate::changes::{self, What, Who};
use crate::nouns::Templates;
use crate::queries::at_least;
use crate::revision::{self, Topic};
use crate::{Result, Transaction};
use clock::Timestamp;
use domain::template::{LOCAL_ACCOUNT, ListedTemplate, MOST_LOCAL};

/// The outcome of storing a template.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenTemplate {
    /// It is stored.
    Written(Box<Record>),
    /// The web sessions have one of this name in this language.
    Taken,
    /// The web sessions have as many as they may have.
    Full,
}

impl Templates<'_> {
    /// Stores one template of an account as it was at `as_of`. A new one replaces what was deleted under its name, and is
    /// offered. Only new ones of web sessions are [`WrittenTemplate::Taken`] or [`WrittenTemplate::Full`]: the provider has
    /// bounds of its own.
    pub async fn write(
        self,
        who: &Who,
        waba_id: &str,
        (listed, is_new): (&ListedTemplate, bool),
        as_of: Timestamp,
    ) -> Result<WrittenTemplate> {
        let transaction = self.store.begin().await?;
        // The counter of templates is locked, so that no other transaction adds one meanwhile.
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let known = self.exactly(&transaction, waba_id, listed).await?;
        if is_new && waba_id == LOCAL_ACCOUNT {
            if known.is_some() {
                return transaction.unchanged(WrittenTemplate::Taken).await;
            }
            let all = Entity::find()
                .filter(Column::CompanyId.eq(self.company))
                .filter(Column::WabaId.eq(waba_id))
                .count(&transaction)
                .await?;
            if all >= MOST_LOCAL {
                return transaction.unchanged(WrittenTemplate::Full).await;
            }
        }
        let of_name = self.of_name(waba_id, &listed.name, &listed.language);
        let before = self.before(&transaction, of_name.clone()).await?;
        let now = Timestamp::now();
        let (rows, given) = self.rows(std::slice::from_ref(listed));
        let mut values: Vec<Value> = vec![
            self.company.into(),
            waba_id.into(),
            now.millis().into(),
            revision.into(),
            as_of.millis().into(),
        ];
        values.extend(given);
        let changed = self.upsert(&transaction, &rows, values).await?;
        // A list that was requested before does not have it.
        let said_at = at_least(Column::StatusSaidAt, as_of.millis());
        let mut stamp = Entity::update_many().col_expr(Column::StatusSaidAt, said_at).filter(of_name);
        if is_new {
            stamp = stamp.col_expr(Column::ArchivedAt, Expr::null());
        }
        stamp.exec(&transaction).await?;
        if let Some(before) = before {
            let changed = (&before, changed.as_slice());
            self.tell(&transaction, waba_id, changed, ToldTemplate::listed_reason, now).await?;
        }
        let Some(written) = self.exactly(&transaction, waba_id, listed).await? else {
            return Err(crate::Error::Impossible("a template is gone that was just written".to_owned()));
        };
        let (before, after) = (known.as_ref().map(shown), shown(&written));
        changes::record_one(&transaction, who, What::Templates, self.company, before, after).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(WrittenTemplate::Written(Box::new(record(written)?)))
    }

    /// Notes that the provider deleted these templates because a person asked for it; those of web sessions are removed.
    pub async fn retire(self, who: &Who, ids: &[i64]) -> Result<()> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Template).await?;
        let now = Timestamp::now().millis();
        for id in ids {
            let of_company = Entity::find_by_id(*id).filter(Column::CompanyId.eq(self.company));
            let Some(known) = of_company.one(&transaction).await? else { continue };
            if known.waba_id == LOCAL_ACCOUNT {
                Entity::delete_by_id(*id).exec(&transaction).await?;
            } else {
                let columns = ActiveModel {
                    status: Set(DELETED.to_owned()),
                    revision: Set(revision),
                    updated_at: Set(now),
                    status_said_at: Set(now),
                    ..Default::default()
                };
                Entity::update_many().set(columns).filter(Column::Id.eq(*id)).exec(&transaction).await?;
            }
            let (before, after) = (Some(shown(&known)), json!("deleted"));
            changes::record_one(&transaction, who, What::Templates, self.company, before, after).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Archives a template, or offers it again. Returns it; `None` when the company has no such template.
    pub async fn archive(self, who: &Who, id: i64, is_archived: bool) -> Result<Option<Record>> {
        let transaction = self.store.begin().await?;
        let of_company = Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company));
        let Some(known) = of_company.one(&transaction).await? else {
            return transaction.unchanged(None).await;
        };
        if known.archived_at.is_some() == is_archived {
            return transaction.unchanged(Some(record(known)?)).await;
        }
        let at = is_archived.then(|| Timestamp::now().millis());
        let update = Entity::update_many().col_expr(Column::ArchivedAt, Expr::value(at));
        update.filter(Column::Id.eq(id)).exec(&transaction).await?;
        let after = Model { archived_at: at, ..known.clone() };
        let (before, told) = (Some(shown(&known)), shown(&after));
        changes::record_one(&transaction, who, What::Templates, self.company, before, told).await?;
        transaction.commit().await?;
        Ok(Some(record(after)?))
    }

    /// Every template of this name in an account that is not deleted.
    pub async fn languages_of(self, waba_id: &str, name: &str) -> Result<Vec<Record>> {
        let found = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::WabaId.eq(waba_id))
            .filter(Column::Name.eq(name))
            .filter(Column::Status.ne(DELETED))
            .all(&self.store.read)
            .await?;
        found.into_iter().map(record).collect()
    }

    /// The template of an account with this id of the provider, that is not deleted.
    pub async fn with_provider_id(self, provider_id: &str) -> Result<Option<Record>> {
        let found = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::ProviderId.eq(provider_id))
            .filter(Column::Status.ne(DELETED))
            .one(&self.store.read)
            .await?;
        found.map(record).transpose()
    }

    /// The row of a template's name and language.
    async fn exactly(
        self,
        within: &Transaction,
        waba_id: &str,
        listed: &ListedTemplate,
    ) -> Result<Option<Model>> {
        let found = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::WabaId.eq(waba_id))
            .filter(Column::Name.eq(listed.name.as_str()))
            .filter(Column::Language.eq(listed.language.as_str()));
        Ok(found.one(within).await?)
    }
}

/// A template as the record of changes has it.
fn shown(template: &Model) -> serde_json::Value {
    let Model { id, name, language, category, status, archived_at, .. } = template;
    json!({
        "id": id, "name": name, "language": language, "category": category, "status": status,
        "archived": archived_at.is_some(),
    })
}
