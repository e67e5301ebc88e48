//! The verify tokens of webhook handshakes, sealed. A channel has one from the first request for it on.

use entity::channel::{ActiveModel, Column, Entity};
use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, QuerySelect, Set};
use uuid::Uuid;

use crate::Result;
use crate::nouns::AllChannels;

impl AllChannels<'_> {
    /// The sealed verify token of a channel's webhook. `None` while nobody requested one, and when
    /// there is no such channel.
    pub async fn verify_token(self, channel: Uuid) -> Result<Option<Vec<u8>>> {
        let word = Entity::find_by_id(channel).select_only().column(Column::VerifyToken);
        Ok(word.into_tuple::<Option<Vec<u8>>>().one(&self.store.read).await?.flatten())
    }

    /// Replaces the sealed token that was read; `false` when it was changed since.
    pub async fn set_verify_token(
        self,
        channel: Uuid,
        before: Option<Vec<u8>>,
        sealed: Vec<u8>,
    ) -> Result<bool> {
        let is_still = before.map_or(Column::VerifyToken.is_null(), |before| Column::VerifyToken.eq(before));
        let changes = ActiveModel { verify_token: Set(Some(sealed)), ..Default::default() };
        Ok(self.change_if(channel, Condition::all().add(is_still), changes).await?.is_some())
    }
}
