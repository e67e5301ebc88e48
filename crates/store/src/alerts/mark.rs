//! What is told once while it lasts: quotas that are nearly used up, and keys that expire soon.

use entity::event_mark::{Column, Entity, Model};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _};
use uuid::Uuid;

use crate::nouns::EventLog;
use crate::one_row::delete_rows;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::event::log::Fact;
use domain::limit::Name;

/// The name of the marks of API keys.
const KEY: &str = "key";
/// Keys that one call tells of.
const KEYS_AT_ONCE: i64 = 100;

/// A quota that was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventMark {
    /// The company.
    pub company_id: Uuid,
    /// What shares the quota: a channel, or a business account.
    pub subject: Uuid,
    /// The word of the limit.
    pub name: String,
    /// 1 when it was told that it is nearly used up, 2 when it is used up.
    pub level: i64,
}

impl EventLog<'_> {
    /// Whether anybody reads facts.
    pub async fn is_heard(self) -> Result<bool> {
        self.hears_facts(&self.store.read).await
    }

    /// The quotas that were told and did not recover since.
    pub async fn marked_quotas(self) -> Result<Vec<EventMark>> {
        let quotas = Entity::find().filter(Column::Name.ne(KEY)).all(&self.store.read).await?;
        let mark =
            |Model { company_id, subject, name, level }| EventMark { company_id, subject, name, level };
        Ok(quotas.into_iter().map(mark).collect())
    }

    /// Tells of a quota, unless that was told at this level or a higher one, or nobody hears it. Returns whether it was told.
    pub async fn tell_quota(self, mark: &EventMark, fact: Fact, now: Timestamp) -> Result<bool> {
        let EventMark { company_id, subject, name, level } = mark;
        self.tell_once((*company_id, *subject, name.as_str(), *level), fact, now).await
    }

    /// A quota recovered: it is told again when it is nearly used up.
    pub async fn unmark_quota(self, subject: Uuid, limit: Name) -> Result<()> {
        let of = [("subject", subject.into()), ("name", limit.as_str().into())];
        delete_rows(&self.store.write, "event_mark", of).await?;
        Ok(())
    }

    /// Tells of the API keys that expire before `until`, each once. Returns how many.
    pub async fn tell_expiring_keys(self, now: Timestamp, until: Timestamp) -> Result<usize> {
        if !self.is_heard().await? {
            return Ok(0);
        }
        let expired = Entity::delete_many().filter(Column::Name.eq(KEY));
        expired.filter(Column::Level.lte(now.millis())).exec(&self.store.write).await?;
        let sql = "SELECT company_id, id, name, expires_at FROM api_key \
                   WHERE revoked_at IS NULL AND expires_at > $1 AND expires_at <= $2 AND NOT EXISTS \
                   (SELECT 1 FROM event_mark WHERE event_mark.company_id = api_key.company_id \
                   AND event_mark.subject = api_key.id AND event_mark.name = $3 AND event_mark.level >= api_key.expires_at) \
                   ORDER BY expires_at, id LIMIT $4";
        let values = [now.millis().into(), until.millis().into(), KEY.into(), KEYS_AT_ONCE.into()];
        let mut told = 0;
        for (company, id, name, expires_at) in
            fetch::<(Uuid, Uuid, String, i64)>(&self.store.read, sql, values).await?
        {
            let fact = Fact::of_key(id, name, Timestamp::from_millis(expires_at), now);
            told += usize::from(self.tell_once((company, id, KEY, expires_at), fact, now).await?);
        }
        Ok(told)
    }

    async fn tell_once(
        self,
        (company_id, subject, name, level): (Uuid, Uuid, &str, i64),
        fact: Fact,
        now: Timestamp,
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let row = Model { company_id, subject, name: name.to_owned(), level };
        let raise = OnConflict::columns([Column::CompanyId, Column::Subject, Column::Name])
            .update_column(Column::Level)
            .action_and_where(Column::Level.lt(level))
            .to_owned();
        if Insert::one(row).on_conflict(raise).exec_without_returning(&transaction).await? == 0 {
            return transaction.unchanged(false).await;
        }
        self.tell_facts(&transaction, company_id, vec![fact], now).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(true)
    }
}
