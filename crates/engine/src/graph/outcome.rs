//! The outcome of a message that a program waits for a moment for.

use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::GraphDoor;
use crate::Error;
use clock::Timestamp;
use domain::channel::{Channel, Status};
use domain::error::Code;
use domain::message::{Failure, State};

/// Callers that wait for sends beyond which nobody waits here: a program that sends much at once is not slowed down, and its
/// messages cost no further reads.
const MOST_WAITING: usize = 64;

/// Single messages before this one beyond which nobody waits here: its turn would not come in time.
const MOST_AHEAD: u64 = 8;

/// What is known of a message after a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlyOutcome {
    /// The provider has it, or it is still under way.
    Accepted,
    /// It will not arrive.
    Failed(Option<Failure>),
}

impl GraphDoor<'_> {
    /// The outcome of the only message of a send, once the provider has answered, or what is known when the time is over. It
    /// does not wait for a channel that cannot send now, nor when too many others wait.
    pub async fn outcome(
        &self,
        channel: &Channel,
        send_id: Uuid,
        patience: Duration,
    ) -> Result<EarlyOutcome, Error> {
        let is_idle = self.engine.sends().waiting_callers() < MOST_WAITING;
        let load = self.engine.channels().load(channel.id).unwrap_or_default();
        let is_soon = load.direct.saturating_add(load.mailbox) <= MOST_AHEAD;
        if patience.is_zero() || channel.connection.status != Status::Connected || !is_idle || !is_soon {
            return Ok(EarlyOutcome::Accepted);
        }
        let until = Instant::now() + patience;
        loop {
            let sends = self.engine.sends();
            let records = self.engine.records_of(self.company).await?;
            let found = records.of(self.company).sends().find(send_id, Timestamp::now()).await?;
            drop(records);
            let Some(send) = found else { return Ok(EarlyOutcome::Accepted) };
            if send.stage.is_over() {
                return self.ended(send_id).await;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(EarlyOutcome::Accepted);
            }
            match sends.changed(self.company, &send, left).await {
                Ok(()) => {}
                Err(Error::Refused(refusal)) if refusal.code == Code::RateLimited => {
                    return Ok(EarlyOutcome::Accepted);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// How the message of a send that is over ended.
    async fn ended(&self, send_id: Uuid) -> Result<EarlyOutcome, Error> {
        let traced = self.engine.sends().trace(self.company, send_id, 0).await?;
        let outcome = traced.message.outcome;
        Ok(match outcome.state {
            State::Failed | State::Suppressed => EarlyOutcome::Failed(outcome.error),
            _ => EarlyOutcome::Accepted,
        })
    }
}
