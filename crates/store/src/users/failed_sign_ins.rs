//! Failed sign-ins in the record of changes: single ones, or many of one minute as one entry.

use std::collections::BTreeSet;

use entity::change::{ActiveModel, Column, Entity};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait as _, EntityTrait, QueryFilter as _, QueryOrder as _, QuerySelect as _, Set};
use serde_json::json;
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::SignIns;
use clock::Timestamp;

/// The author of failed sign-ins in the record.
pub(crate) const STRANGER: &str = "user:";

/// Many failed attempts as one entry.
#[derive(Debug, Clone, Copy)]
pub struct Folded<'a> {
    /// The entry.
    pub id: Uuid,
    /// When the first of them was made.
    pub at: Timestamp,
    /// Their origin: an address or a network; `None` for many.
    pub address: Option<&'a str>,
    /// How many there are.
    pub times: u64,
}

/// Where the latest attempts to sign in came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    /// How many attempts were looked at.
    pub attempts: usize,
    /// The people, each once; attempts that failed count as one person's.
    pub people: BTreeSet<String>,
    /// The addresses and networks, each once.
    pub addresses: BTreeSet<String>,
}

impl SignIns<'_> {
    /// Where the latest attempts to sign in came from, at most `limit`.
    pub async fn origins(self, limit: u64) -> Result<Origins> {
        let latest = Entity::find()
            .filter(Column::What.eq(What::SignIn.as_str()))
            .order_by_desc(Column::Id)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        let mut origins = Origins { attempts: latest.len(), ..Origins::default() };
        for attempt in latest {
            origins.people.insert(attempt.who);
            // Attempts of many networks are one entry without an address.
            origins.addresses.insert(attempt.address.unwrap_or_default());
        }
        Ok(origins)
    }

    /// Records an attempt to sign in that failed. `email` is empty when there is no such user: the typed text may be a
    /// password.
    pub async fn record_failed(self, who: &Who, email: &str, reason: &str) -> Result<()> {
        let refused = json!({ "status": "refused", "reason": reason });
        let transaction = self.store.begin().await?;
        changes::record_one(&transaction, who, What::SignIn, email, None, refused).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Records failed attempts as one entry, or updates the entry's number of attempts.
    pub async fn fold_failed(self, folded: Folded<'_>) -> Result<()> {
        let Folded { id, at, address, times } = folded;
        let after = json!({ "status": "refused", "reason": "many", "times": times });
        let entry = ActiveModel {
            id: Set(id),
            at: Set(at.millis()),
            who: Set(STRANGER.to_owned()),
            what: Set(What::SignIn.as_str().to_owned()),
            subject: Set(String::new()),
            before: Set(None),
            after: Set(after.to_string()),
            address: Set(address.map(str::to_owned)),
        };
        let counted = OnConflict::column(Column::Id).update_column(Column::After).to_owned();
        Entity::insert(entry).on_conflict(counted).exec_without_returning(&self.store.write).await?;
        Ok(())
    }
}
