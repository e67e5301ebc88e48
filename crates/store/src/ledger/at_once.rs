//! Frequent writes on PostgreSQL without a transaction of several statements: batches of accepted sends, outcomes and
//! marks.
//!
//! A statement is a transaction of its own. It saves the round trips of a beginning, a check of the fence, a lock of
//! the sends and a commit, for which single sends would wait while bulk sends go out. A statement leaves in one piece,
//! so outcomes may take several. Only the last statement of a batch waits for the disk: PostgreSQL writes its log in
//! order, so the others are durable with it. A batch that must do more than this is written as a transaction.

use std::collections::{BTreeSet, HashSet};

use sea_orm::DbErr;
use sea_orm::sqlx::postgres::{PgArguments, PgRow};
use sea_orm::sqlx::{self, Row as _};
use uuid::Uuid;

use super::inbound::is_outside_window;
use super::outcome::{
    MARK, OUTCOME, cells_of_mark, cells_of_outcome, insert_into_message, last_marks, last_outcomes,
    unless_heard, update_send,
};
use super::send::{SEND, cells_of, insert_into_send};
use super::{Committed, OutcomeOf, PendingWrites};
use crate::dialect::{Arrays, bind};
use crate::lease::{Fence, Lease};
use crate::nouns::Ledger;
use crate::pool::driver_error;
use crate::{Error, Result};
use clock::Timestamp;
use domain::message;
use domain::send::{Mark, State};

impl Ledger<'_> {
    /// Writes a batch of sends, outcomes and marks, each row whole or not at all; `None` if the batch needs a
    /// transaction.
    pub(super) async fn write_at_once(
        self,
        lease: &Lease,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Option<Result<Committed>> {
        let accepts = !batch.sends.is_empty();
        if batch.rows() == batch.sends.len() {
            return self.accept_at_once(lease, batch, now).await;
        }
        if records_new(batch) {
            return None;
        }
        let recorded = self.record_at_once(lease, batch, accepts, now).await?;
        if !accepts || recorded.is_err() {
            return Some(recorded);
        }
        // Outcomes may be written twice and sends may not, so the sends come last.
        let accepted = self.accept_at_once(lease, batch, now).await?;
        Some(accepted.and(recorded))
    }

    /// Writes the batch's sends in one statement, or none of them; `None` if the statement would not leave in one
    /// piece.
    async fn accept_at_once(
        self,
        lease: &Lease,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Option<Result<Committed>> {
        let mut rows = Arrays::new(SEND);
        batch.sends.iter().for_each(|send| rows.push(cells_of(send)));
        if rows.bytes() > self.store.write.one_piece() {
            return None;
        }
        let insert = insert_into_send(&rows.select(1), SEND.len() + 1, lease.node());
        let written = async {
            let mut arguments = PgArguments::default();
            rows.bind(&mut arguments)?;
            bind(&mut arguments, now.millis())?;
            let Some(fence) = lease.fence() else {
                return self.store.write.execute_binary(insert, arguments).await;
            };
            bind_fence(&mut arguments, fence)?;
            let held = fence.held(SEND.len() + 2);
            let sql = format!("WITH held AS ({held}) {insert} CROSS JOIN held");
            self.store.write.execute_binary(sql, arguments).await
        };
        Some(match written.await.map_err(Error::while_committing) {
            Ok(inserted) if inserted == batch.sends.len() as u64 => Ok(Committed::default()),
            Ok(_) => Err(Error::Fenced),
            Err(error) => Err(error),
        })
    }

    /// Writes the batch's outcomes and marks. Marks are not written before outcomes. `None` if the batch needs a
    /// transaction. `is_durable_later` means that a statement follows that waits for the disk.
    async fn record_at_once(
        self,
        lease: &Lease,
        batch: &PendingWrites,
        is_durable_later: bool,
        now: Timestamp,
    ) -> Option<Result<Committed>> {
        let fence = lease.fence()?;
        if !is_simple(batch) || self.store.event_log().hears_ends(&self.store.write).await.unwrap_or(true) {
            return None;
        }
        let (outcomes, marks) = (last_outcomes(batch), last_marks(batch));
        let mut pieces = self.pieces(&outcomes, &marks)?;
        let are_new = are_first(&outcomes) && self.store.write.expects_no_rows();
        let last = pieces.pop()?;
        for piece in pieces {
            match self.record_piece(fence, piece, are_new, Durable::Later, now).await? {
                Ok(_) => {}
                Err(Error::Unavailable(words)) => return Some(Err(Error::InDoubt(words))),
                Err(error) => return Some(Err(error)),
            }
        }
        let durable = if is_durable_later { Durable::Later } else { Durable::Now };
        let moved = self.record_piece(fence, last, are_new, durable, now).await?;
        Some(moved.map(|moved| {
            let gone = marks.iter().map(|mark| mark.send_id).filter(|id| !moved.contains(id)).collect();
            Committed { gone, ..Committed::default() }
        }))
    }

    /// Divides outcomes into statements that each leave in one piece, the last of them with the marks; `None` if the
    /// marks alone are too long.
    fn pieces<'a>(self, outcomes: &[&'a OutcomeOf], marks: &[&'a Mark]) -> Option<Vec<Piece<'a>>> {
        let most = self.store.write.one_piece();
        let (mut pieces, mut piece) = (Vec::new(), Piece::default());
        for row in outcomes {
            let cells = cells_of_outcome(row);
            if !piece.messages.fits(&cells, most) && !piece.sends.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.messages.push(cells);
            piece.sends.insert(row.send_id);
        }
        let mut progress = Arrays::new(MARK);
        marks.iter().for_each(|mark| progress.push(cells_of_mark(mark)));
        if progress.bytes() > most {
            return None;
        }
        if piece.messages.bytes() + progress.bytes() > most {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.sends.extend(marks.iter().map(|mark| mark.send_id));
        piece.progress = progress;
        pieces.push(piece);
        Some(pieces)
    }

    /// Writes a piece in one statement. Returns the sends whose marks moved; `None` if the piece needs a transaction.
    async fn record_piece(
        self,
        fence: Fence,
        piece: Piece<'_>,
        are_new: bool,
        durable: Durable,
        now: Timestamp,
    ) -> Option<Result<HashSet<Uuid>>> {
        let Piece { sends, messages, progress } = piece;
        let sql = statement(fence, &messages, &progress, are_new, durable);
        let written = async {
            let mut arguments = PgArguments::default();
            bind_fence(&mut arguments, fence)?;
            bind(&mut arguments, now.millis())?;
            bind(&mut arguments, sends.into_iter().collect::<Vec<_>>())?;
            progress.bind(&mut arguments)?;
            messages.bind(&mut arguments)?;
            moved(&self.store.write.query_one_binary(sql, arguments).await?).map_err(driver_error)
        };
        match written.await.map_err(Error::while_committing) {
            Ok(Some(moved)) => Some(Ok(moved)),
            Ok(None) => Some(Err(Error::Fenced)),
            // A receipt was written first, or an earlier attempt to write these rows succeeded: the transaction
            // compares.
            Err(Error::Taken(_)) => {
                self.store.write.expect_rows();
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// The rows that one statement writes.
struct Piece<'a> {
    /// The sends that it locks.
    sends: BTreeSet<Uuid>,
    messages: Arrays<'a>,
    progress: Arrays<'a>,
}

impl Default for Piece<'_> {
    fn default() -> Self {
        Self { sends: BTreeSet::new(), messages: Arrays::new(OUTCOME), progress: Arrays::new(MARK) }
    }
}

/// When the rows of a statement are on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// When the statement is answered.
    Now,
    /// With the next statement that waits for the disk.
    Later,
}

/// Whether a batch has only outcomes and marks: no messages end with their send, no announced message has to be compared
/// with its row, and no window is closed.
fn is_simple(batch: &PendingWrites) -> bool {
    let ends = batch.marks.iter().any(|mark| matches!(mark.state, State::Canceled | State::Expired));
    let announces = batch.outcomes.iter().any(|row| row.outcome.state == message::State::Sending);
    let closes = batch.outcomes.iter().any(|row| is_outside_window(row.outcome.error.as_ref()));
    !ends && !announces && !closes
}

/// Whether a batch records something of a send that it accepts.
fn records_new(batch: &PendingWrites) -> bool {
    let new: HashSet<Uuid> = batch.sends.iter().map(|send| send.id).collect();
    let of_outcomes = batch.outcomes.iter().map(|row| row.send_id);
    let mut recorded = of_outcomes.chain(batch.marks.iter().map(|mark| mark.send_id));
    !new.is_empty() && recorded.any(|id| new.contains(&id))
}

/// Whether no message is expected to have a row yet.
fn are_first(outcomes: &[&OutcomeOf]) -> bool {
    outcomes.iter().all(|row| row.outcome.attempts <= 1)
}

/// Locks in the order of [`lock`](super::lock): the fence, the sends by id, then messages.
fn statement(
    fence: Fence,
    messages: &Arrays<'_>,
    progress: &Arrays<'_>,
    are_new: bool,
    durable: Durable,
) -> String {
    const NOW: usize = 2;
    let held = fence.held(1);
    let update = update_send(&progress.select(4), NOW);
    let insert = insert_into_message(&messages.select(4 + MARK.len()), NOW);
    let conflict = if are_new { String::new() } else { unless_heard() };
    let commit = match durable {
        Durable::Now => "",
        Durable::Later => ", set_config('synchronous_commit', 'off', true)",
    };
    format!(
        "WITH held AS ({held}), \
         locked AS (SELECT id FROM send WHERE id = ANY($3) AND EXISTS (SELECT 1 FROM held) \
         ORDER BY id FOR NO KEY UPDATE), \
         ready AS (SELECT count(*) AS sends FROM locked), \
         moved AS ({update} AND send.id IN (SELECT id FROM locked) RETURNING send.id), \
         written AS ({insert} CROSS JOIN ready WHERE EXISTS (SELECT 1 FROM held) {conflict}) \
         SELECT EXISTS (SELECT 1 FROM held), ARRAY(SELECT id FROM moved){commit}"
    )
}

fn bind_fence(arguments: &mut PgArguments, fence: Fence) -> std::result::Result<(), DbErr> {
    match fence {
        Fence::Epoch(epoch) => bind(arguments, epoch),
        Fence::Node(node) => bind(arguments, node),
    }
}

/// The sends whose marks moved; `None` if the fence is closed and nothing was written.
fn moved(row: &PgRow) -> sqlx::Result<Option<HashSet<Uuid>>> {
    let is_held: bool = row.try_get(0)?;
    let moved: Vec<Uuid> = row.try_get(1)?;
    Ok(is_held.then(|| moved.into_iter().collect()))
}
