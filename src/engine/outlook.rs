//! How sends get on: what they wait for, and how long they take.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::channel::{Estimate, Explain, LookAhead, Viewed};
use super::{Engine, Error, RETRY_AFTER};
use crate::domain::channel::{Channel, Connection, Status};
use crate::domain::limit::Limits;
use crate::domain::outlook::{Outlook, Reason};
use crate::domain::send::Stage;
use crate::store::send_list::Record;
use crate::store::template::APPROVED;

/// The actor ended in this very moment; it is started anew.
const LATER: Error = Error::Unavailable { retry_after: RETRY_AFTER };

impl Engine {
    /// How long a send to so many recipients takes at the pace that its channel has now, with what is queued
    /// before it; `None` when the pace has no limit.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel's actor ended just now.
    pub async fn estimate(&self, channel: &Arc<Channel>, recipients: u64) -> Result<Option<Duration>, Error> {
        self.directory().actor(channel);
        self.directory().ask(channel.id, Estimate(recipients)).await.ok_or(LATER)
    }

    /// What limits a channel now, and why.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel's actor ended just now.
    pub async fn limits(&self, channel: &Arc<Channel>) -> Result<Limits, Error> {
        self.directory().actor(channel);
        self.directory().ask(channel.id, Explain).await.ok_or(LATER)
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
        let alive: Vec<_> = sends.iter().filter(|send| !send.stage.is_over()).collect();
        if alive.is_empty() {
            return Ok(HashMap::new());
        }
        let Some(channel) = self.channel(channel_id).await? else { return Ok(HashMap::new()) };
        let viewed = alive.iter().map(|send| Viewed { id: send.id, has_template: send.template.is_some() });
        let look_ahead = LookAhead(viewed.collect());
        let mut seen = self.directory().ask(channel_id, look_ahead).await.unwrap_or_default();
        let outlooks = alive.into_iter().map(|send| {
            let seen = seen.remove(&send.id);
            let outlook = held_by(&channel.connection, send).or(seen).unwrap_or_else(in_the_store);
            (send.id, outlook)
        });
        Ok(outlooks.collect())
    }
}

/// A send that its channel does not work at just now.
fn in_the_store() -> Outlook {
    let sentence = "it waits for its turn: other sends go first, or all that is left of it waits for later";
    Outlook::waiting(Reason::Turn, sentence.to_owned(), None)
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
    if let Some(sentence) = connection.obstacle() {
        let is_blocked = connection.status == Status::Blocked;
        let reason = if is_blocked { Reason::Blocked } else { Reason::Disconnected };
        return Some(Outlook::waiting(reason, sentence, None));
    }
    let template = send.template.as_ref().filter(|template| template.status != APPROVED)?;
    let sentence = format!(
        "the provider's status of the template {} is {}: mend it there, or cancel the send",
        template.name, template.status
    );
    Some(Outlook::waiting(Reason::TemplatePaused, sentence, None))
}
