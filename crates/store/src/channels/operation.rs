//! Operators' changes of a channel. Each is recorded in its own transaction, with its author.

use entity::channel::{self as stored, ActiveModel, Column, Entity};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::json;
use uuid::Uuid;

use super::words::FromStored as _;
use crate::changes::{self, Change, What, Who};
use crate::nouns::AllChannels;
use crate::one_row::delete_rows;
use crate::revision::{self, Topic};
use crate::{Result, Transaction, execute};
use clock::Timestamp;
use domain::channel::Status;
use domain::fold::fold;

impl AllChannels<'_> {
    /// Makes the channel `connecting` again, whatever its status was, with a new sealed token if one is given; `false`
    /// when there is no such channel. For the token, the record says only that it was replaced. A canary that waits may
    /// go at once.
    pub async fn reconnect(self, who: &Who, id: Uuid, token: Option<Vec<u8>>) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let Some(before) = Entity::find_by_id(id).one(&transaction).await? else {
            return transaction.unchanged(false).await;
        };
        let now = Timestamp::now().millis();
        let mut changes = ActiveModel {
            status: Set(stored::Status::Connecting),
            status_code: Set(None),
            status_sentence: Set(None),
            status_provider_code: Set(None),
            status_since: Set(now),
            trial_due: Set(before.trial_wait.map(|_| now)),
            ..Default::default()
        };
        let mut recorded = Vec::new();
        if let Some(token) = token {
            changes.token = Set(Some(token));
            recorded.push(Change::now(who, What::ChannelToken, id, None, json!("replaced")));
        }
        let (before, after) = (before.status.word(), Status::Connecting);
        if before != after {
            let (before, after) = (json!(before.as_str()), json!(after.as_str()));
            recorded.push(Change::now(who, What::ChannelStatus, id, Some(before), after));
        }
        self.store.event_log().tell_channel(&transaction, id, &changes).await?;
        write(&transaction, id, revision, changes).await?;
        changes::record(&transaction, &recorded).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(true)
    }

    /// Stores another sealed app secret for the channel; `false` when there is no such channel. The record says only
    /// whether there was one before.
    pub async fn set_app_secret(self, who: &Who, id: Uuid, sealed: Vec<u8>) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let Some(before) = Entity::find_by_id(id).one(&transaction).await? else {
            return transaction.unchanged(false).await;
        };
        let changes = ActiveModel { app_secret: Set(Some(sealed)), ..Default::default() };
        write(&transaction, id, revision, changes).await?;
        let after = json!(if before.app_secret.is_some() { "replaced" } else { "given" });
        changes::record_one(&transaction, who, What::ChannelAppSecret, id, None, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Gives the channel another name; `false` when there is no such channel.
    pub async fn rename(self, who: &Who, id: Uuid, name: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let before = Entity::find_by_id(id).one(&transaction).await?.map(|channel| channel.name);
        let is_known = before.is_some();
        let Some(before) = before.filter(|before| before != name) else {
            return transaction.unchanged(is_known).await;
        };
        let changes =
            ActiveModel { name: Set(name.to_owned()), name_folded: Set(fold(name)), ..Default::default() };
        write(&transaction, id, revision, changes).await?;
        let shown = |name: &str| json!({ "name": name });
        changes::record_one(&transaction, who, What::Channel, id, Some(shown(&before)), shown(name)).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Records that a person changed these fields of the profile that the provider has of a channel's number.
    pub async fn record_profile(self, who: &Who, id: Uuid, fields: &[&str]) -> Result<()> {
        let transaction = self.store.begin().await?;
        changes::record_one(&transaction, who, What::Channel, id, None, json!({ "profile": fields })).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Records that a person accepts the risks of an unofficial connection, unless that is recorded; `false` when there is no
    /// such channel.
    pub async fn accept_risk(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let is_known = Entity::find_by_id(id).one(&transaction).await?.is_some();
        if !is_known || changes::is_recorded(&transaction, What::ChannelRisk, &id.to_string()).await? {
            return transaction.unchanged(is_known).await;
        }
        changes::record_one(&transaction, who, What::ChannelRisk, id, None, json!("accepted")).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes the channel and everything that only it used, such as the webhook endpoints that programs set for it; its sends,
    /// which have ended, stay. `false` when there is no such channel, a phone is linked to it, or a send of it has not ended.
    pub async fn remove(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let Some(before) = Entity::find_by_id(id).one(&transaction).await? else {
            return transaction.unchanged(false).await;
        };
        // Unfinished sends have states below 2, as in their partial index.
        let sql = "DELETE FROM channel WHERE id = $1 AND linked_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM send WHERE channel_id = $1 AND state < 2)";
        if execute(&transaction, sql, [id.into()]).await? == 0 {
            return transaction.unchanged(false).await;
        }
        for table in ["web_session_record", "web_session_contact", "channel_tier_end", "conversation_channel"]
        {
            delete_rows(&transaction, table, [("channel_id", id.into())]).await?;
        }
        delete_rows(&transaction, "graph_id", [("owner_id", id.into())]).await?;
        revision::bump(&transaction, Topic::Channel).await?;
        let webhooks = self.store.of(before.company_id).webhooks();
        let has_orphans = webhooks.remove_orphans(&transaction, who).await?;
        let before =
            json!({ "company_id": before.company_id, "kind": before.kind.word(), "name": before.name });
        changes::record_one(&transaction, who, What::Channel, id, Some(before), json!("removed")).await?;
        transaction.commit().await?;
        if has_orphans {
            self.store.event_log().readers_changed();
        }
        Ok(true)
    }
}

/// Changes the row. No other transaction has changed it since it was read: this one locks the counter that every change
/// raises.
pub(super) async fn write(
    transaction: &Transaction,
    id: Uuid,
    revision: i64,
    changes: ActiveModel,
) -> Result<()> {
    let now = Timestamp::now().millis();
    let changes = ActiveModel { revision: Set(revision), updated_at: Set(now), ..changes };
    Entity::update_many().set(changes).filter(Column::Id.eq(id)).exec(transaction).await?;
    Ok(())
}
