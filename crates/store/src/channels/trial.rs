//! The trial of a channel since the provider refused one of its messages.

use std::time::Duration;

use entity::channel::ActiveModel;
use sea_orm::Set;
use uuid::Uuid;

use super::change::{connection, is_still};
use crate::Result;
use crate::nouns::AllChannels;
use clock::Timestamp;
use domain::channel::{Connection, Trial};

impl AllChannels<'_> {
    /// The same as [`AllChannels::set_connection`](crate::AllChannels::set_connection), with the channel's trial.
    pub async fn set_trial(
        self,
        id: Uuid,
        from: &Connection,
        to: &Connection,
        trial: Option<Trial>,
    ) -> Result<Option<i64>> {
        let changes = ActiveModel {
            trial_wait: Set(
                trial.map(|Trial { wait, .. }| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
            ),
            trial_due: Set(trial.map(|trial| trial.due.millis())),
            ..connection(to)
        };
        self.change_if(id, is_still(from), changes).await
    }
}

/// Reads the columns.
pub(super) fn read(wait: Option<i64>, due: Option<i64>) -> Option<Trial> {
    let trial = |(wait, due): (i64, i64)| Trial {
        wait: Duration::from_millis(wait.unsigned_abs()),
        due: Timestamp::from_millis(due),
    };
    wait.zip(due).map(trial)
}
