//! Changes of channels by the service: the connection's state, and the provider's report on the number. Every change
//! raises the revision in its own transaction.

use entity::channel::{ActiveModel, Column, Entity};
use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use uuid::Uuid;

use super::words::ToStored as _;
use crate::Result;
use crate::nouns::AllChannels;
use crate::revision::{self, Topic};
use clock::Timestamp;
use domain::channel::{Connection, Number};

impl AllChannels<'_> {
    /// Records the state of a channel's connection as `to`, if it is still `from`, and returns the channel's new
    /// revision; `None` when the state was changed since, or there is no such channel: the caller has to read it again.
    pub async fn set_connection(self, id: Uuid, from: &Connection, to: &Connection) -> Result<Option<i64>> {
        self.change_if(id, is_still(from), connection(to)).await
    }

    /// Records the provider's report on the number. Missing values stay as they are. Does nothing and returns `false`
    /// when the report has nothing new, or there is no such channel.
    pub async fn set_number(self, id: Uuid, said: Number) -> Result<bool> {
        let Number { phone_number, verified_name: _, quality_rating, status: _, level, messaging_limit } =
            said;
        let Some(known) = self.find(id).await? else { return Ok(false) };
        let is_new = (phone_number.is_some() && known.phone_number != phone_number)
            || (quality_rating.is_some() && known.quality_rating != quality_rating)
            || (level.is_some() && known.level != level)
            || (messaging_limit.is_some() && known.messaging_limit != messaging_limit);
        if !is_new {
            return Ok(false);
        }
        let mut changes: ActiveModel = Default::default();
        if phone_number.is_some() {
            changes.phone_number = Set(phone_number);
        }
        if quality_rating.is_some() {
            changes.quality_rating = Set(quality_rating);
        }
        if let Some(level) = level {
            changes.level = Set(Some(level.as_str().to_owned()));
        }
        if let Some(limit) = messaging_limit {
            changes.messaging_limit = Set(Some(limit.to_string()));
        }
        self.change(id, changes).await
    }

    pub(super) async fn change(self, id: Uuid, changes: ActiveModel) -> Result<bool> {
        Ok(self.change_if(id, Condition::all(), changes).await?.is_some())
    }

    pub(super) async fn change_if(
        self,
        id: Uuid,
        holds: Condition,
        changes: ActiveModel,
    ) -> Result<Option<i64>> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let changes =
            ActiveModel { revision: Set(revision), updated_at: Set(Timestamp::now().millis()), ..changes };
        self.store.event_log().tell_channel(&transaction, id, &changes).await?;
        let update = Entity::update_many().set(changes).filter(Column::Id.eq(id)).filter(holds);
        let changed = update.exec(&transaction).await?;
        if changed.rows_affected == 0 {
            return transaction.unchanged(None).await;
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(Some(revision))
    }
}

/// The condition that the connection's state is unchanged.
pub(super) fn is_still(from: &Connection) -> Condition {
    Condition::all()
        .add(Column::Status.eq(from.status.stored()))
        .add(Column::StatusSince.eq(from.since.millis()))
}

/// The columns of a connection's state.
pub(super) fn connection(to: &Connection) -> ActiveModel {
    let Connection { status, reason, since } = to;
    let reason = reason.as_ref();
    ActiveModel {
        status: Set(status.stored()),
        status_code: Set(reason.map(|reason| reason.code.to_string())),
        status_sentence: Set(reason.map(|reason| reason.sentence.clone())),
        status_provider_code: Set(reason.and_then(|reason| reason.provider_code)),
        status_since: Set(since.millis()),
        ..Default::default()
    }
}
