//! Writes sends and the ledger: one batch, one transaction, one statement for each kind of row. A node of a cluster
//! writes a batch that has receipts in several transactions, so that each changes messages with one statement. Frequent
//! batches go [without a transaction](at_once).
//!
//! Only the engine's ledger calls this. A batch that accepts sends or records dispatching first checks the lease's
//! epoch, so that a process that lost the lease cannot write it. Rows are locked in one order, which `lock` defines.

mod answered;
mod apart;
mod at_once;
mod billing;
mod inbound;
mod lock;
mod opt_outs;
mod outcome;
mod parts;
pub(crate) mod personal;
mod receipt;
mod send;
mod settle;
mod source;
mod suppress;

pub use self::billing::Charge;
use self::billing::Charges;
use self::parts::{Part, Written};
pub use self::personal::{PersonalSend, ReferenceOf, SkippedOf};
use self::receipt::Early;
pub use self::receipt::{Ignored, Receipt};

use std::time::Duration;

use sea_orm::DbBackend;
use tokio::time::timeout;
use uuid::Uuid;

use self::settle::late;
use super::dialect::{Bulk, Type};
use super::lease::Lease;
use super::{Error, Result, Transaction, suppressions};
use crate::conversations::Inbound;
use crate::nouns::Ledger;
use crate::sends::StoredLabel;
use clock::Timestamp;
use domain::message::{Key, Outcome};
use domain::send::{Block, Mark, Recipients, Schedule, Source, State};

/// A send to be inserted.
#[derive(Debug, Clone)]
pub struct NewSend {
    /// Its id; later sends have greater ones.
    pub id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// Which channel sends it.
    pub channel_id: Uuid,
    /// [`State::Active`], or [`State::Resolving`] while more blocks follow.
    pub state: State,
    /// The content, as JSON.
    pub content: String,
    /// The template that is sent, if one is.
    pub template_id: Option<i64>,
    /// Its recipients.
    pub recipients: Recipients,
    /// Entries of the request that were skipped.
    pub skipped: u64,
    /// When it may go.
    pub schedule: Schedule,
    /// What is noted on it.
    pub label: StoredLabel,
}

/// The answer for a client that repeats a request under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The company of the request.
    pub company_id: Uuid,
    /// The client's key.
    pub key: String,
    /// SHA-256 of the request.
    pub fingerprint: [u8; 32],
    /// The send that the request created.
    pub send_id: Uuid,
    /// Its recipients.
    pub recipients: u64,
    /// Entries that were skipped.
    pub skipped: u64,
    /// The first of the skipped entries, as JSON.
    pub skipped_first: String,
}

/// A source of an audience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceOf {
    /// The send.
    pub send_id: Uuid,
    /// The source.
    pub source: Source,
}

/// Recipients of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockOf {
    /// The send.
    pub send_id: Uuid,
    /// A slice of them.
    pub block: Block,
}

/// A send whose last block was written: it becomes active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation {
    /// The send.
    pub send_id: Uuid,
    /// How many recipients it has.
    pub recipients: u64,
    /// The number of entries of the request that were skipped.
    pub skipped: u64,
    /// The send of the template that goes to people whose window is closed. It becomes active together with this one.
    pub instead: Option<InsteadOf>,
}

/// A send of a template that goes in place of the content of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InsteadOf {
    /// The send of the template.
    pub send_id: Uuid,
    /// How many recipients it has.
    pub recipients: u64,
}

impl Activation {
    /// The sends that become active.
    pub fn sends(&self) -> impl Iterator<Item = Uuid> {
        [self.send_id].into_iter().chain(self.instead.map(|instead| instead.send_id))
    }
}

/// The outcome of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeOf {
    /// Its send.
    pub send_id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The outcome.
    pub outcome: Outcome,
}

/// Rows that wait to be written together. Channels, requests and webhooks add them, and the ledger gathers them.
#[derive(Debug, Default, Clone)]
pub struct PendingWrites {
    /// New sends.
    pub sends: Vec<NewSend>,
    /// The sources of new sends' audiences.
    pub sources: Vec<SourceOf>,
    /// Recipient blocks of new sends.
    pub blocks: Vec<BlockOf>,
    /// New sends whose recipients have values of their own.
    pub personal: Vec<PersonalSend>,
    /// Sealed blocks of values of new sends.
    pub values: Vec<BlockOf>,
    /// The callers' names for messages of new sends.
    pub references: Vec<ReferenceOf>,
    /// The entries that new sends skipped.
    pub skipped: Vec<SkippedOf>,
    /// Sends whose last block was written.
    pub activations: Vec<Activation>,
    /// Answers to be given again.
    pub answers: Vec<Answer>,
    /// The outcome of messages.
    pub outcomes: Vec<OutcomeOf>,
    /// Progress of sends.
    pub marks: Vec<Mark>,
    /// Receipts, in any order: for each message, the one that is furthest along counts.
    pub receipts: Vec<Receipt>,
    /// Statements about recipients: that messages to them are skipped, held for a while, or no longer skipped. They are
    /// in any order; the latest counts.
    pub suppressions: Vec<suppressions::Word>,
    /// Messages from people, and echoes of what the company wrote elsewhere.
    pub inbound: Vec<Inbound>,
}

impl PendingWrites {
    /// Whether there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// The number of rows of all kinds; rows that follow from another row are not counted.
    pub const fn rows(&self) -> usize {
        let Self {
            sends,
            sources,
            blocks,
            personal,
            values,
            references,
            skipped,
            activations,
            answers,
            outcomes,
            marks,
            receipts,
            suppressions,
            inbound,
        } = self;
        let accepted = sends.len() + sources.len() + blocks.len() + activations.len() + answers.len();
        let personal = personal.len() + values.len() + references.len() + skipped.len();
        let told = receipts.len() + suppressions.len() + inbound.len();
        accepted + personal + outcomes.len() + marks.len() + told
    }

    const fn is_sends_only(&self) -> bool {
        !self.is_empty() && self.rows() == self.sends.len()
    }

    /// Whether the batch only accepts sends and records dispatching.
    const fn is_sends_and_dispatching_only(&self) -> bool {
        !self.is_empty() && self.rows() == self.sends.len() + self.outcomes.len() + self.marks.len()
    }

    /// Whether only the holder of the lease may write the batch. The next holder removes audiences that were being
    /// written, and dispatches the sends that it finds. Receipts need no lease: they report what the provider did. An
    /// empty batch needs the lease: it checks whether the process can write.
    const fn needs_lease(&self) -> bool {
        let accepts = !self.sends.is_empty() || !self.blocks.is_empty() || !self.activations.is_empty();
        accepts || !self.outcomes.is_empty() || !self.marks.is_empty() || self.is_empty()
    }
}

/// The terms of a commit.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// How long the database may take for the rows, and again for the commit.
    pub patience: Duration,
    /// A batch of sends alone is committed by the statement that writes it; on PostgreSQL, so is a batch of sends,
    /// outcomes and marks. That is quicker, but if the connection turns out to be broken, it is in doubt whether the
    /// rows are written. A transaction detects a broken connection before it writes.
    pub in_one_statement: bool,
}

/// The result of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Sends of the batch's marks that do not exist (any more): their marks were not written.
    pub gone: Vec<Uuid>,
    /// Announced messages that have ended, according to their rows.
    pub overtaken: Vec<Key>,
    /// Receipts that matched no message.
    pub ignored: Ignored,
}

const IDS: &[(&str, Type)] = &[("id", Type::Uuid)];

impl Ledger<'_> {
    /// Writes `batch` in one transaction; all of it is durable when this returns. A node of a cluster writes receipts and
    /// messages from people in transactions of their own, before the rest: after an error, these may be written and the rest
    /// not. The same holds for outcomes in one statement ([`Terms`]).
    ///
    /// # Errors
    ///
    /// [`Error::Fenced`] when this process has lost the `lease`; [`Error::Unavailable`] when the database cannot write
    /// now and nothing was written; [`Error::InDoubt`] when the batch may have been written, or may be written later:
    /// outcomes and marks can be written again, sends must be [settled](Self::settle). [`Error::Missing`] when a send
    /// of the batch's blocks or activations is not being resolved.
    pub async fn commit(self, lease: &Lease, batch: &PendingWrites, now: Timestamp) -> Result<Committed> {
        let terms = Terms { patience: Duration::MAX, in_one_statement: true };
        self.commit_on(terms, lease, batch, now).await
    }

    /// Like [`Ledger::commit`](crate::Ledger::commit), on these terms.
    pub async fn commit_on(
        self,
        terms: Terms,
        lease: &Lease,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<Committed> {
        let told = batch.receipts.len() + batch.inbound.len();
        if lease.node().is_none() || told == 0 {
            return Ok(self.commit_part(terms, lease, batch, Part::Whole, now).await?.committed);
        }
        let mut committed = Committed::default();
        if !batch.receipts.is_empty() {
            committed.add(self.commit_receipts(terms, lease, &batch.receipts, now).await?);
        }
        if !batch.inbound.is_empty() {
            let inbound = PendingWrites { inbound: batch.inbound.clone(), ..PendingWrites::default() };
            self.commit_part(terms, lease, &inbound, Part::Whole, now).await?;
        }
        // Last: what may be written twice comes before what may not.
        if batch.rows() > told {
            committed.add(self.commit_part(terms, lease, batch, Part::Rest, now).await?.committed);
        }
        Ok(committed)
    }

    /// Writes a part of a batch.
    async fn commit_part(
        self,
        terms: Terms,
        lease: &Lease,
        batch: &PendingWrites,
        part: Part,
        now: Timestamp,
    ) -> Result<Written> {
        let Terms { patience, in_one_statement } = terms;
        let in_doubt = || Error::InDoubt("the database did not answer in time".to_owned());
        if in_one_statement {
            let written = timeout(patience, self.commit_at_once(lease, batch, now)).await;
            if let Some(written) = written.unwrap_or_else(|_| Some(Err(in_doubt()))) {
                return written.map(Written::from);
            }
        }
        let sends = self.rows_of_sends(batch);
        // A transaction that gets no commit never commits.
        let written = timeout(patience, self.write_rows(lease, (batch, part), sends, now, patience)).await;
        let (transaction, written) = written.unwrap_or_else(|_| Err(late()))?;
        match timeout(patience, transaction.commit()).await {
            Ok(result) => result.map_err(Error::while_committing)?,
            Err(_) => return Err(in_doubt()),
        }
        self.store.tell_of_events();
        Ok(written)
    }

    /// Writes a batch in statements that are transactions of their own, without the round trips of a begin and a
    /// commit; `None` if that cannot be done.
    async fn commit_at_once(
        self,
        lease: &Lease,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Option<Result<Committed>> {
        if self.store.backend == DbBackend::Postgres {
            let is_simple = batch.is_sends_and_dispatching_only();
            return if is_simple { self.write_at_once(lease, batch, now).await } else { None };
        }
        let sends = self.rows_of_sends(batch);
        if !batch.is_sends_only() || !sends.is_one_statement() {
            return None;
        }
        Some(self.insert_sends_alone(sends, now).await.map(|()| Committed::default()))
    }

    /// Writes a part of a batch without a commit.
    async fn write_rows(
        self,
        lease: &Lease,
        (batch, part): (&PendingWrites, Part),
        sends: Bulk,
        now: Timestamp,
        patience: Duration,
    ) -> Result<(Transaction, Written)> {
        let transaction = self.store.begin().await?;
        if batch.needs_lease() {
            self.store.lease().check_within(&transaction, lease, patience).await?;
        }
        self.lock_sends_of(&transaction, batch).await?;
        self.insert_sends(&transaction, lease, sends, now).await?;
        self.insert_sources(&transaction, batch).await?;
        self.insert_blocks(&transaction, batch).await?;
        self.insert_personal(&transaction, batch).await?;
        self.activate(&transaction, batch).await?;
        self.keep_answers(&transaction, batch, now).await?;
        self.upsert_outcomes(&transaction, batch, now).await?;
        let receipts = if part == Part::Rest { Vec::new() } else { Receipt::in_order(&batch.receipts) };
        let mut charges = Charges::default();
        let are_left =
            part == Part::Early || self.receive(&transaction, &receipts, &mut charges, now).await?;
        let mut early = Early::default();
        if are_left && part != Part::Known {
            early = self.receive_early(&transaction, &receipts, &mut charges, now).await?;
        }
        let Early { ignored, mut overlooked } = early;
        if part == Part::Whole {
            // A single process writes one batch at a time: the other transaction is a late commit of a batch in doubt.
            self.receive(&transaction, &std::mem::take(&mut overlooked), &mut charges, now).await?;
        }
        let inbound: &[Inbound] = if part == Part::Rest { &[] } else { &batch.inbound };
        if !inbound.is_empty() {
            Box::pin(self.mark_answered(&transaction, inbound)).await?;
        }
        self.suppress(&transaction, batch, now).await?;
        self.keep_inbound(&transaction, batch, inbound, now).await?;
        let overtaken = self.overtaken(&transaction, batch).await?;
        let gone = self.mark_progress(&transaction, batch, now).await?;
        self.count_charges(&transaction, charges).await?;
        let committed = Committed { gone, overtaken, ignored };
        Ok((transaction, Written { committed, are_left, overlooked }))
    }
}
