//! Pausing, resuming and canceling sends, and moving their start.
//!
//! The store decides, and is written first; the channel's actor is told afterwards. An actor that is not running reads
//! the store when it starts.

use std::time::Duration;

use uuid::Uuid;

use crate::channel::{Input, Release};
use crate::notices::Told;
use crate::sends::Sends;
use crate::{Error, Who};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::page::PageRequest;
use domain::send::{Control, State};
use store::changes::{Filter, What};
use store::sends::control::{CANCELED, PAUSED, RESUMED, SendControl};
use store::sends::reschedule::{MOVED, Rescheduled};

/// How long a cancel waits until its channel has written the messages that never started.
const MARKED_WITHIN: Duration = Duration::from_secs(2);

/// How many steps of a send's history are shown, the newest of more.
const STEPS: PageRequest = PageRequest { page: 1, limit: 20 };

/// What somebody did to a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steered {
    /// Paused it.
    Paused,
    /// Resumed it.
    Resumed,
    /// Canceled it.
    Canceled,
    /// Moved its start.
    Moved,
}

/// What somebody did to a send, from the record of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringStep {
    /// What was done.
    pub what: Steered,
    /// By whom, as the record names authors.
    pub who: String,
    /// When.
    pub at: Timestamp,
}

impl Sends<'_> {
    /// Who paused, resumed, moved and canceled a company's send, from the first step on.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn steering(&self, company_id: Uuid, send_id: Uuid) -> Result<Vec<SteeringStep>, Error> {
        let subject = send_id.to_string();
        let filter = Filter { what: &[What::Send], subject: Some(subject.as_str()), ..Filter::default() };
        let records = self.engine.records_of(company_id).await?;
        let changes = records.changes().page(filter, STEPS).await?.records;
        let own = company_id.to_string();
        let steps = changes.into_iter().rev().filter(|change| change.after["company_id"] == own.as_str());
        let steps = steps.filter_map(|change| {
            let what = match change.after["state"].as_str()? {
                PAUSED => Steered::Paused,
                RESUMED => Steered::Resumed,
                CANCELED => Steered::Canceled,
                MOVED => Steered::Moved,
                _ => return None,
            };
            Some(SteeringStep { what, who: change.who, at: change.at })
        });
        Ok(steps.collect())
    }

    /// Pauses a company's send: when this returns, no message of it starts until it is resumed. A paused send stays
    /// paused.
    ///
    /// # Errors
    ///
    /// `send_not_found`; `send_is_over`. [`Error::Unavailable`] when it cannot be written now.
    pub async fn pause(&self, who: &Who, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let release = Release { send_id, over: None };
        let note = self.engine.owners().note(&Told::from(&release));
        let send = self
            .engine
            .store()
            .of(company_id)
            .sends()
            .control(send_id, Control::Paused, Some(who), note.as_ref())
            .await?;
        let send = unless_over(send)?;
        Ok(self.engine.owners().release(send.channel_id, release, send.note).await?)
    }

    /// Resumes a company's send. A running send goes on.
    pub async fn resume(&self, who: &Who, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let note = self.engine.owners().note(&Told::Look);
        let send = self
            .engine
            .store()
            .of(company_id)
            .sends()
            .control(send_id, Control::Running, Some(who), note.as_ref())
            .await?;
        let SendControl { channel_id, note, .. } = unless_over(send)?;
        self.have_looked(channel_id, note).await
    }

    /// Moves the start of a company's send that is scheduled and has not begun: when this returns, no message of it starts
    /// before the new time, and its channel knows that time on whichever node it runs. To move it to the time that it has
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// `send_not_found`; `send_is_over`; `send_has_begun`; `invalid_schedule` for a time that has passed, is too far ahead,
    /// or is not before the end of the send. [`Error::Unavailable`] when it cannot be written now.
    pub async fn reschedule(
        &self,
        who: &Who,
        company_id: Uuid,
        send_id: Uuid,
        start: Timestamp,
    ) -> Result<(), Error> {
        let note = self.engine.owners().note(&Told::Look);
        let sends = self.engine.store().of(company_id).sends();
        let moved = sends.reschedule(send_id, start, Timestamp::now(), who, note.as_ref()).await?;
        let (channel_id, note) = unless_begun(moved)?;
        self.have_looked(channel_id, note).await
    }

    /// Cancels a company's send that is scheduled and has not begun, so that another one may take its place: no message of
    /// it went, and none will go. To withdraw a send that was canceled before its start changes nothing.
    ///
    /// # Errors
    ///
    /// `send_not_found`; `send_is_over`; `send_has_begun`. [`Error::Unavailable`] when it cannot be written now.
    pub async fn withdraw(&self, who: &Who, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let release = Release { send_id, over: Some(State::Canceled) };
        let note = self.engine.owners().note(&Told::from(&release));
        let sends = self.engine.store().of(company_id).sends();
        let withdrawn = sends.withdraw(send_id, Timestamp::now(), who, note.as_ref()).await?;
        let (channel_id, note) = unless_begun(withdrawn)?;
        self.release_canceled(channel_id, release, note).await;
        Ok(())
    }

    /// Makes the owner of a channel read the store again.
    async fn have_looked(&self, channel_id: Uuid, note: Option<i64>) -> Result<(), Error> {
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
    pub async fn cancel(&self, who: &Who, company_id: Uuid, send_id: Uuid) -> Result<(), Error> {
        let release = Release { send_id, over: Some(State::Canceled) };
        let note = self.engine.owners().note(&Told::from(&release));
        let send = self
            .engine
            .store()
            .of(company_id)
            .sends()
            .cancel(send_id, Timestamp::now(), Some(who), note.as_ref())
            .await?;
        let send = send.ok_or_else(no_such_send)?;
        if send.state != State::Canceled {
            return Err(over(send.state).into());
        }
        self.release_canceled(send.channel_id, release, send.note).await;
        Ok(())
    }

    /// Makes the owner of a channel release a send that is canceled.
    async fn release_canceled(&self, channel_id: Uuid, release: Release, note: Option<i64>) {
        // While the ledger cannot write, the outcome of reserved messages is unknown, as after a crash.
        let _ = tokio::time::timeout(MARKED_WITHIN, self.engine.owners().release(channel_id, release, note))
            .await;
    }
}

fn unless_over(send: Option<SendControl>) -> Result<SendControl, Refusal> {
    let send = send.ok_or_else(no_such_send)?;
    if send.state.is_over() { Err(over(send.state)) } else { Ok(send) }
}

/// The channel of a send that was moved or withdrawn, and the note to its owner.
fn unless_begun(outcome: Rescheduled) -> Result<(Uuid, Option<i64>), Refusal> {
    match outcome {
        Rescheduled::Done { channel_id, note } => Ok((channel_id, note)),
        Rescheduled::Missing => Err(no_such_send()),
        Rescheduled::Over(state) => Err(over(state)),
        Rescheduled::Begun => Err(Refusal::new(
            Code::SendHasBegun,
            "the send is not scheduled, or has begun: only a send whose `send_at` has not come can be moved",
        )),
        Rescheduled::Refused(refusal) => Err(refusal),
    }
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
