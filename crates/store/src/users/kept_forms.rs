//! Forms that a session keeps for a day, so that the page that shows them has an address of its own.

use std::time::Duration;

use entity::kept_form::{Column, Entity, Model};
use sea_orm::{ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryOrder as _};
use uuid::Uuid;

use crate::Result;
use crate::nouns::Sessions;
use crate::one_row::update_rows;
use crate::queries::beyond;
use clock::Timestamp;

/// How long a form is kept. Old ones are removed when another one is kept, and by retention.
pub const KEPT: Duration = Duration::from_secs(24 * 3_600);
/// The most forms of a session; the oldest one makes room. Each is as long as a person has typed, and a new send keeps one
/// for each of its steps.
const MOST: u64 = 32;

impl Sessions<'_> {
    /// Keeps the content of a form of this session, and returns its id.
    pub async fn keep_form(self, session_id: Uuid, content: &str, now: Timestamp) -> Result<Uuid> {
        let id = Uuid::now_v7();
        let transaction = self.store.begin().await?;
        let old = Column::KeptAt.lte(now.minus(KEPT).millis());
        Entity::delete_many().filter(old).exec(&transaction).await?;
        let newest = Entity::find()
            .filter(Column::SessionId.eq(session_id))
            .order_by_desc(Column::KeptAt)
            .order_by_desc(Column::Id);
        let too_many = Column::Id.in_subquery(beyond(newest, Column::Id, MOST - 1));
        Entity::delete_many().filter(too_many).exec(&transaction).await?;
        let row = Model { id, session_id, content: content.to_owned(), kept_at: now.millis() };
        Insert::one(row).exec_without_returning(&transaction).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// Changes the content of a form that this session keeps; without such a form, nothing happens.
    pub async fn change_kept_form(self, session_id: Uuid, id: Uuid, content: &str) -> Result<()> {
        let of = [("id", id.into()), ("session_id", session_id.into())];
        update_rows(&self.store.write, "kept_form", [("content", content.into())], of).await?;
        Ok(())
    }

    /// The content of a form that this session keeps; `None` when it has no such form any more.
    pub async fn kept_form(self, session_id: Uuid, id: Uuid, now: Timestamp) -> Result<Option<String>> {
        let form = Entity::find_by_id(id)
            .filter(Column::SessionId.eq(session_id))
            .filter(Column::KeptAt.gt(now.minus(KEPT).millis()));
        Ok(form.one(&self.store.read).await?.map(|form| form.content))
    }
}
