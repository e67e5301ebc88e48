//! The journey of one message, and what it waits for now.

use uuid::Uuid;

use super::outlook::reason_of;
use crate::sends::Sends;
use crate::{Error, no_such_send};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::message::{Journey, Step};
use domain::outlook::Waiting;
use store::sends;
use store::sends::list::Record;
use store::sends::messages::{Message, SendSnapshot};

/// A message with its journey.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The send's snapshot, which has a group's id.
    pub snapshot: SendSnapshot,
    /// The message.
    pub message: Message,
    /// The caller's own name for it.
    pub reference: Option<String>,
    /// Its steps, the earliest first.
    pub steps: Vec<Step>,
}

impl Sends<'_> {
    /// The journey of a message of a company's send.
    ///
    /// # Errors
    ///
    /// `send_not_found`; `message_not_found`. [`Error::Unavailable`] when the database is away.
    pub async fn trace(&self, company_id: Uuid, send_id: Uuid, ordinal: u64) -> Result<Traced, Error> {
        let records = self.engine.records_of(company_id).await?;
        let snapshot = records.of(company_id).sends().snapshot(send_id).await?.ok_or_else(no_such_send)?;
        let found = records.of(company_id).sends().head(send_id, Timestamp::now()).await?;
        let send = found.ok_or_else(no_such_send)?;
        let message = records.messages().from(&snapshot, None, ordinal, 1).await?.pop();
        drop(records);
        let message = message.ok_or_else(|| {
            let sentence = "the send has no message with this ordinal: they are counted from 0";
            Refusal::new(Code::MessageNotFound, sentence)
        })?;
        let waiting = self.message_waiting(&send, &message).await?;
        let journey = Journey {
            accepted_at: send.created_at,
            schedule: send.schedule,
            finished_at: send.finished_at,
            outcome: &message.outcome,
            updated_at: message.updated_at,
            waiting,
        };
        let steps = journey.steps();
        let references = self.references(company_id, send_id, std::slice::from_ref(&message)).await?;
        let reference = references.into_values().next();
        Ok(Traced { snapshot, message, reference, steps })
    }

    /// What a message waits for, if it does.
    async fn message_waiting(&self, send: &Record, message: &Message) -> Result<Option<Waiting>, Error> {
        let outcome = &message.outcome;
        if !outcome.state.is_open() || send.stage.is_over() {
            return Ok(None);
        }
        // A hold of the whole send holds this message too.
        let outlook = self.outlook(send.channel_id, &[send]).await?.remove(&send.id).unwrap_or_default();
        let Some(retry_at) = outcome.retry_at else { return Ok(outlook.waiting) };
        if outlook.waiting.as_ref().is_some_and(|waiting| waiting.reason.is_of_the_send()) {
            return Ok(outlook.waiting);
        }
        let Some(channel) = self.engine.channel(send.channel_id).await? else { return Ok(None) };
        let waits = sends::Waiting {
            position: outcome.position,
            state: outcome.state,
            attempts: outcome.attempts,
            retry_at,
            taken_at: outcome.taken_at,
        };
        let suppressions = &self.engine.0.shared.suppressions;
        let reason = reason_of(&waits, suppressions, channel.company_id, Timestamp::now());
        let sentence = reason.sentence_of_messages(&channel.tier).unwrap_or_default();
        Ok(Some(Waiting { reason, sentence, until: Some(retry_at) }))
    }
}
