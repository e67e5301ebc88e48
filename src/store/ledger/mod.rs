//! Writing sends and the ledger: one batch, one transaction, one statement for each kind of row.
//!
//! Only the engine's ledger calls this. A batch that says what was dispatched first checks the lease's
//! epoch, so that a process that lost the lease cannot write it.

mod event;
mod outcome;
mod receipt;
mod send;
mod suppress;

pub use self::event::{Event, INBOUND_MESSAGE};
pub use self::receipt::{Ignored, Receipt};

use uuid::Uuid;

use super::dialect::Type;
use super::lease::Lease;
use super::{Error, Result, Store, suppression};
use crate::clock::Timestamp;
use crate::domain::message::{Key, Outcome};
use crate::domain::phone::PhoneNumber;
use crate::domain::send::{Block, Mark, Recipients, Schedule, State};
use crate::domain::suppression::Suppression;

/// A send to be inserted.
#[derive(Debug, Clone)]
pub struct NewSend {
    /// Its id; later sends have greater ones.
    pub id: Uuid,
    /// Whose it is.
    pub company_id: Uuid,
    /// Which channel sends it.
    pub channel_id: Uuid,
    /// [`State::Active`], or [`State::Resolving`] while more blocks follow.
    pub state: State,
    /// What is sent, as JSON.
    pub content: String,
    /// The template that is sent, if one is.
    pub template_id: Option<i64>,
    /// Who receives it.
    pub recipients: Recipients,
    /// Entries of the request that were left out.
    pub skipped: u64,
    /// When it may go.
    pub schedule: Schedule,
}

/// What a client reads again when it repeats a request under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Who asked.
    pub company_id: Uuid,
    /// The client's key.
    pub key: String,
    /// SHA-256 over what was asked.
    pub fingerprint: [u8; 32],
    /// The send that came of it.
    pub send_id: Uuid,
    /// Its recipients.
    pub recipients: u64,
    /// Entries that were left out.
    pub skipped: u64,
    /// The first of them, as JSON.
    pub skipped_first: String,
}

/// Everything that one transaction writes.
#[derive(Debug, Default, Clone)]
pub struct Batch {
    /// New sends.
    pub sends: Vec<NewSend>,
    /// Recipient blocks of new sends.
    pub blocks: Vec<(Uuid, Block)>,
    /// Sends whose last block was written: they become active with this many recipients, and this many
    /// entries left out.
    pub activations: Vec<(Uuid, u64, u64)>,
    /// Answers to be given again.
    pub answers: Vec<Answer>,
    /// Outcomes, with send and company.
    pub outcomes: Vec<(Uuid, Uuid, Outcome)>,
    /// Progress of sends.
    pub marks: Vec<Mark>,
    /// What was heard of messages; the furthest along of each counts, in whatever order they are.
    pub receipts: Vec<Receipt>,
    /// Recipients that are left out, or let be, from now on.
    pub suppressions: Vec<suppression::Record>,
    /// Recipients that are left out no longer.
    pub lifted: Vec<(Uuid, PhoneNumber, Suppression)>,
    /// What the provider told and is kept for later.
    pub events: Vec<Event>,
    /// Sends that were never answered with success: they and their blocks go.
    pub withdrawals: Vec<Uuid>,
}

impl Batch {
    /// Whether there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.sends.is_empty() && self.is_without_sends()
    }

    const fn is_sends_only(&self) -> bool {
        !self.sends.is_empty() && self.is_without_sends()
    }

    const fn is_without_sends(&self) -> bool {
        let Self {
            sends: _,
            blocks,
            activations,
            answers,
            outcomes,
            marks,
            receipts,
            suppressions,
            lifted,
            events,
            withdrawals,
        } = self;
        blocks.is_empty()
            && activations.is_empty()
            && answers.is_empty()
            && outcomes.is_empty()
            && marks.is_empty()
            && receipts.is_empty()
            && suppressions.is_empty()
            && lifted.is_empty()
            && events.is_empty()
            && withdrawals.is_empty()
    }

    /// Whether it says what was dispatched. Accepting needs no lease: whoever holds it finds the send. Nor do
    /// receipts: they say what the provider did.
    const fn dispatches(&self) -> bool {
        !self.outcomes.is_empty() || !self.marks.is_empty()
    }
}

/// What a commit found beside what it was to write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Sends of the batch's marks that are not there (any more): their marks went nowhere.
    pub gone: Vec<Uuid>,
    /// Messages that the batch says are tried again, and whose row says that they are over.
    pub overtaken: Vec<Key>,
    /// Receipts that said nothing of any message of theirs.
    pub ignored: Ignored,
}

const IDS: &[(&str, Type)] = &[("id", Type::Uuid)];

impl Store {
    /// Writes `batch` in one transaction; all of it is durable when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Fenced`] when `lease` is no longer ours; [`Error::Unavailable`] when the database cannot
    /// write now and nothing was written; [`Error::InDoubt`] when it may have been: outcomes and marks can
    /// be written again, sends must be withdrawn.
    pub async fn commit(&self, lease: &Lease, batch: &Batch, now: Timestamp) -> Result<Committed> {
        let sends = self.rows_of_sends(batch);
        if batch.is_sends_only() && sends.is_one_statement() {
            // One statement is a transaction of its own, without the round trips of a begin and a commit.
            let inserted = self.insert_sends(&self.write, sends, now).await;
            return inserted.map(|()| Committed::default()).map_err(|error| match error {
                Error::Unavailable(words) => Error::InDoubt(words),
                other => other,
            });
        }
        let transaction = self.begin().await?;
        if batch.dispatches() {
            self.check_lease(&transaction, lease).await?;
        }
        self.insert_sends(&transaction, sends, now).await?;
        self.insert_blocks(&transaction, batch).await?;
        self.activate(&transaction, batch).await?;
        self.keep_answers(&transaction, batch, now).await?;
        self.withdraw(&transaction, batch).await?;
        self.upsert_outcomes(&transaction, batch, now).await?;
        let ignored = self.receive(&transaction, batch).await?;
        self.suppress(&transaction, batch, now).await?;
        self.keep_events(&transaction, batch, now).await?;
        let overtaken = self.overtaken(&transaction, batch).await?;
        let gone = self.mark_progress(&transaction, batch, now).await?;
        transaction.commit().await.map_err(Error::while_committing)?;
        Ok(Committed { gone, overtaken, ignored })
    }
}
