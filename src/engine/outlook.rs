//! How sends get on: what they wait for, and how long they take.

use std::collections::HashMap;
use std::time::Duration;

use uuid::Uuid;

use super::{Engine, Error};
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Connection, Status};
use crate::domain::outlook::{Outlook, Reason};
use crate::domain::send::Stage;
use crate::store::send_list::Record;
use crate::store::template::APPROVED;

impl Engine {
    /// How long a send to so many recipients takes at the pace of the channel's tier, with what is queued
    /// before it; `None` when the pace has no limit.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn estimate(&self, channel: &Channel, recipients: u64) -> Result<Option<Duration>, Error> {
        let rate = self.0.shared.tiers.find(&channel.tier).messages_per_second;
        if rate.is_unlimited() {
            return Ok(None);
        }
        let before = self.store().queued(channel.id, Timestamp::now()).await?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let messages = recipients.saturating_add(before) as f64;
        Ok(Duration::try_from_secs_f64(messages / rate.per_second()).ok())
    }

    /// How these sends of one channel get on; a send that is over has no outlook.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel is not known yet and the database is away.
    pub async fn outlook(
        &self,
        channel_id: Uuid,
        sends: &[&Record],
    ) -> Result<HashMap<Uuid, Outlook>, Error> {
        let alive = sends.iter().filter(|send| !send.stage.is_over());
        let mut alive = alive.peekable();
        if alive.peek().is_none() {
            return Ok(HashMap::new());
        }
        let Some(channel) = self.channel(channel_id).await? else { return Ok(HashMap::new()) };
        let outlook = |send: &&Record| (send.id, held_by(&channel.connection, send).unwrap_or_default());
        Ok(alive.map(|send| outlook(send)).collect())
    }
}

/// What holds a send for longer than its channel's pace does: first what a person wants, then what the channel
/// and the template suffer from.
fn held_by(connection: &Connection, send: &Record) -> Option<Outlook> {
    match send.stage {
        Stage::Paused => {
            let sentence = "somebody paused it: nothing of it goes until it is resumed".to_owned();
            return Some(Outlook::waiting(Reason::Paused, sentence, None));
        }
        Stage::Scheduled => {
            let sentence = "it is scheduled: nothing of it goes before its `send_at`".to_owned();
            return Some(Outlook::waiting(Reason::Scheduled, sentence, send.schedule.send_at));
        }
        Stage::Active | Stage::Finished | Stage::Canceled | Stage::Expired => {}
    }
    let reason = match connection.status {
        Status::Blocked => Some(Reason::Blocked),
        Status::Disconnected => Some(Reason::Disconnected),
        Status::Connecting | Status::Connected | Status::Pairing => None,
    };
    if let Some(reason) = reason {
        let why = connection.reason.as_ref().map_or("it is disconnected", |reason| &reason.sentence);
        let sentence = format!("the channel cannot send: {why}. Reconnect it, and the queue goes on");
        return Some(Outlook::waiting(reason, sentence, None));
    }
    let template = send.template.as_ref().filter(|template| template.status != APPROVED)?;
    let sentence = format!(
        "the provider's status of the template {} is {}: mend it there, or cancel the send",
        template.name, template.status
    );
    Some(Outlook::waiting(Reason::TemplatePaused, sentence, None))
}
