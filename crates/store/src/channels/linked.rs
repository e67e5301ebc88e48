//! The channels of web sessions, and whether they have keys to connect with.

use entity::channel::{self as stored, ActiveModel, Column, Entity};
use entity::web_session_record;
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QuerySelect, Set};
use uuid::Uuid;

use crate::Result;
use crate::nouns::WebSessions;
use crate::revision::{self, Topic};
use clock::Timestamp;
use domain::channel::{Channel, Connection};
use domain::phone::PhoneNumber;

impl WebSessions<'_> {
    /// The web sessions that have keys, for a process that opens them. Sessions that were connected to the previous
    /// process become `connecting`; they keep the reason of a restriction and its time.
    pub async fn resume(self) -> Result<Vec<Channel>> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let now = Timestamp::now().millis();
        self.store.event_log().tell_resumed(&transaction, Timestamp::from_millis(now)).await?;
        let since = Expr::case(Column::StatusCode.is_null(), now).finally(Expr::col(Column::StatusSince));
        Entity::update_many()
            .col_expr(Column::Status, Expr::value(stored::Status::Connecting))
            .col_expr(Column::StatusSince, since.into())
            .col_expr(Column::Revision, Expr::value(revision))
            .col_expr(Column::UpdatedAt, Expr::value(now))
            .filter(Column::Status.eq(stored::Status::Connected))
            .filter(Column::Kind.eq(stored::Kind::WebSession))
            .filter(has_keys())
            .exec(&transaction)
            .await?;
        let all = Entity::find().filter(Column::Kind.eq(stored::Kind::WebSession)).filter(has_keys());
        let models = all.all(&transaction).await?;
        transaction.commit().await?;
        Ok(models.into_iter().map(super::channel).collect())
    }

    /// The web sessions that have keys.
    pub async fn linked(self) -> Result<Vec<Channel>> {
        let all = Entity::find().filter(Column::Kind.eq(stored::Kind::WebSession)).filter(has_keys());
        Ok(all.all(&self.store.read).await?.into_iter().map(super::channel).collect())
    }

    /// Whether a web session has keys.
    pub async fn exists(self, channel: Uuid) -> Result<bool> {
        let rows =
            web_session_record::Entity::find().select_only().column(web_session_record::Column::Namespace);
        let rows = rows.filter(web_session_record::Column::ChannelId.eq(channel)).limit(1);
        Ok(rows.into_tuple::<String>().one(&self.store.read).await?.is_some())
    }

    /// Records that a phone with this number was linked to a web session, and when. Returns `false` when there is no
    /// such channel.
    pub async fn set_linked(self, channel: Uuid, number: PhoneNumber, at: Timestamp) -> Result<bool> {
        let changes = ActiveModel {
            phone_number: Set(Some(format!("+{number}"))),
            linked_at: Set(Some(at.millis())),
            ..Default::default()
        };
        self.store.channels().change(channel, changes).await
    }

    /// Deletes all records of a web session's device. The same transaction sets the channel's state, whatever it was
    /// before, and records that no phone is linked. The numbers that the session wrote to and heard from stay: they are
    /// no secret of the device, and apply to the next phone too.
    pub async fn end(self, channel: Uuid, to: &Connection) -> Result<()> {
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let keys = web_session_record::Entity::delete_many();
        keys.filter(web_session_record::Column::ChannelId.eq(channel)).exec(&transaction).await?;
        let changes = super::change::connection(to);
        self.store.event_log().tell_channel(&transaction, channel, &changes).await?;
        let now = Timestamp::now().millis();
        let changes =
            ActiveModel { linked_at: Set(None), revision: Set(revision), updated_at: Set(now), ..changes };
        Entity::update_many().set(changes).filter(Column::Id.eq(channel)).exec(&transaction).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(())
    }
}

/// Whether a channel has keys, by one look-up in the primary key for each channel.
fn has_keys() -> SimpleExpr {
    let keys = web_session_record::Entity::find().select_only().expr(Expr::value(1));
    let keys = keys.filter(
        Expr::col((web_session_record::Entity, web_session_record::Column::ChannelId))
            .equals((Entity, Column::Id)),
    );
    Expr::exists(sea_orm::QueryTrait::into_query(keys))
}
