//! Pausing, resuming and canceling sends.
//!
//! The store decides, and is written first; the channel's actor is told afterwards. An actor that is not running reads
//! the store when it starts.

use std::time::Duration;

use uuid::Uuid;

use crate::Error;
use crate::channel::{Input, Release};
use crate::notices::Told;
use crate::sends::Sends;
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::send::{Control, State};
use store::sends::control::SendControl;

/// How long a cancel waits until its channel has written the messages that never started.
const MARKED_WITHIN: Duration = Duration::from_secs(2);

impl Sends<'_> {
    /// Pauses a company's send: when this returns, no message of it starts until it is resumed. A paused send stays
    /// paused.
    ///
    /// # Errors
    ///
    /// `send_not_found`; `send_is_over`. [`Error::Unavailable`] when it cannot be written now.
    pub async fn pause(&self, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let release = Release { send_id, over: None };
        let note = self.engine.owners().note(&Told::from(&release));
        let send = self
            .engine
            .store()
            .of(company_id)
            .sends()
            .control(send_id, Control::Paused, note.as_ref())
            .await?;
        let send = unless_over(send)?;
        Ok(self.engine.owners().release(send.channel_id, release, send.note).await?)
    }

    /// Resumes a company's send. A running send goes on.
    pub async fn resume(&self, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let note = self.engine.owners().note(&Told::Look);
        let send = self
            .engine
            .store()
            .of(company_id)
            .sends()
            .control(send_id, Control::Running, note.as_ref())
            .await?;
        let SendControl { channel_id, note, .. } = unless_over(send)?;
        if let Some(channel) = self.engine.channel(channel_id).await? {
            self.engine.owners().pass_on(&channel, note).await?;
            // An actor that was not running reads the store when it starts.
            self.engine.directory().wake(&channel);
        }
        self.engine.directory().ask(channel_id, Input::Look).await;
        Ok(())
    }

    /// Cancels a company's send: when this returns, no message of it starts any more, and only messages whose answers
    /// are awaited have an unknown outcome. A canceled send stays canceled.
    pub async fn cancel(&self, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let release = Release { send_id, over: Some(State::Canceled) };
        let note = self.engine.owners().note(&Told::from(&release));
        let send = self
            .engine
            .store()
            .of(company_id)
            .sends()
            .cancel(send_id, Timestamp::now(), note.as_ref())
            .await?;
        let send = send.ok_or_else(no_such_send)?;
        if send.state != State::Canceled {
            return Err(over(send.state).into());
        }
        // The send is canceled. While the ledger cannot write, the outcome of reserved messages is unknown, as after a
        // crash.
        let _ = tokio::time::timeout(
            MARKED_WITHIN,
            self.engine.owners().release(send.channel_id, release, send.note),
        )
        .await;
        Ok(())
    }
}

fn unless_over(send: Option<SendControl>) -> Result<SendControl, Refusal> {
    let send = send.ok_or_else(no_such_send)?;
    if send.state.is_over() { Err(over(send.state)) } else { Ok(send) }
}

/// The refusal for a send that the company does not have.
pub fn no_such_send() -> Refusal {
    Refusal::new(Code::SendNotFound, "there is no send with this id: GET /api/v1/sends lists yours")
}

fn over(state: State) -> Refusal {
    let how = match state {
        State::Canceled => "was canceled",
        State::Expired => "expired",
        State::Resolving | State::Active | State::Finished => "is finished",
    };
    Refusal::new(Code::SendIsOver, format!("the send {how}: nothing more of it will go"))
}
