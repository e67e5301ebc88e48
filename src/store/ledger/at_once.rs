//! Frequent writes in one statement: on PostgreSQL, accepted sends alone, or outcomes and marks alone.
//!
//! A statement is a transaction of its own. It saves the round trips of a beginning, a check of the fence, a lock of the
//! sends and a commit, which single sends wait for while bulk sends go out. A statement that is too long to leave in one
//! piece, or must do more than this, is written as a transaction.

use std::collections::HashSet;

use sea_orm::DbErr;
use sea_orm::sqlx::postgres::{PgArguments, PgRow};
use sea_orm::sqlx::{self, Row as _};
use uuid::Uuid;

use super::outcome::{
    MARK, OUTCOME, cells_of_mark, cells_of_outcome, insert_into_message, last_marks, last_outcomes,
    unless_heard, update_send,
};
use super::send::{SEND, cells_of, insert_into_send};
use super::{Committed, OutcomeOf, PendingWrites};
use crate::clock::Timestamp;
use crate::domain::message;
use crate::domain::send::{Mark, State};
use crate::store::dialect::{Arrays, bind};
use crate::store::lease::{Fence, Lease};
use crate::store::pool::driver_error;
use crate::store::{Error, Result, Store};

impl Store {
    /// Writes these sends in one statement, or none of them; `None` where it would not leave in one piece.
    pub(super) async fn accept_at_once(
        &self,
        lease: &Lease,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Option<Result<Committed>> {
        let mut rows = Arrays::new(SEND);
        batch.sends.iter().for_each(|send| rows.push(cells_of(send)));
        if !self.write.leaves_in_one_piece(rows.bytes()) {
            return None;
        }
        let insert = insert_into_send(&rows.select(1), SEND.len() + 1, lease.node());
        let written = async {
            let mut arguments = PgArguments::default();
            rows.bind(&mut arguments)?;
            bind(&mut arguments, now.millis())?;
            let Some(fence) = lease.fence() else {
                return self.write.execute_binary(insert, arguments).await;
            };
            bind_fence(&mut arguments, fence)?;
            let held = fence.held(SEND.len() + 2);
            let sql = format!("WITH held AS ({held}) {insert} CROSS JOIN held");
            self.write.execute_binary(sql, arguments).await
        };
        Some(match written.await.map_err(Error::while_committing) {
            Ok(inserted) if inserted == batch.sends.len() as u64 => Ok(Committed::default()),
            Ok(_) => Err(Error::Fenced),
            Err(error) => Err(error),
        })
    }

    /// Writes these outcomes and marks in one statement, or none of them; `None` where it takes a transaction.
    pub(super) async fn record_at_once(
        &self,
        lease: &Lease,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Option<Result<Committed>> {
        let fence = lease.fence()?;
        if self.writes_events() || !is_simple(batch) {
            return None;
        }
        let (outcomes, marks) = (last_outcomes(batch), last_marks(batch));
        let (mut messages, mut progress) = (Arrays::new(OUTCOME), Arrays::new(MARK));
        outcomes.iter().for_each(|row| messages.push(cells_of_outcome(row)));
        marks.iter().for_each(|mark| progress.push(cells_of_mark(mark)));
        if !self.write.leaves_in_one_piece(messages.bytes() + progress.bytes()) {
            return None;
        }
        let are_new = are_first(&outcomes) && self.write.expects_no_rows();
        let sql = statement(fence, &messages, &progress, are_new);
        let written = async {
            let mut arguments = PgArguments::default();
            bind_fence(&mut arguments, fence)?;
            bind(&mut arguments, now.millis())?;
            bind(&mut arguments, sends_of(&outcomes, &marks))?;
            progress.bind(&mut arguments)?;
            messages.bind(&mut arguments)?;
            moved(&self.write.query_one_binary(sql, arguments).await?).map_err(driver_error)
        };
        match written.await.map_err(Error::while_committing) {
            Ok(Some(moved)) => {
                let gone = marks.iter().map(|mark| mark.send_id).filter(|id| !moved.contains(id)).collect();
                Some(Ok(Committed { gone, ..Committed::default() }))
            }
            Ok(None) => Some(Err(Error::Fenced)),
            // A receipt was there first, or an earlier attempt to write these went through: the transaction compares.
            Err(Error::Taken(_)) => {
                self.write.expect_rows();
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Whether a batch has only outcomes and marks: no messages end with their send, and no announcement has to be compared
/// with its message's row.
fn is_simple(batch: &PendingWrites) -> bool {
    let ends = batch.marks.iter().any(|mark| matches!(mark.state, State::Canceled | State::Expired));
    let announces = batch.outcomes.iter().any(|row| row.outcome.state == message::State::Sending);
    !ends && !announces
}

/// Whether no message should have a row yet.
fn are_first(outcomes: &[&OutcomeOf]) -> bool {
    outcomes.iter().all(|row| row.outcome.attempts <= 1)
}

/// The sends that are locked, by id.
fn sends_of(outcomes: &[&OutcomeOf], marks: &[&Mark]) -> Vec<Uuid> {
    let all = outcomes.iter().map(|row| row.send_id).chain(marks.iter().map(|mark| mark.send_id));
    all.collect::<HashSet<_>>().into_iter().collect()
}

/// Locks in the order of [`lock`](super::lock): the fence, the sends by id, then messages.
fn statement(fence: Fence, messages: &Arrays<'_>, progress: &Arrays<'_>, are_new: bool) -> String {
    const NOW: usize = 2;
    let held = fence.held(1);
    let update = update_send(&progress.select(4), NOW);
    let insert = insert_into_message(&messages.select(4 + MARK.len()), NOW);
    let conflict = if are_new { String::new() } else { unless_heard() };
    format!(
        "WITH held AS ({held}), \
         locked AS (SELECT id FROM send WHERE id = ANY($3) AND EXISTS (SELECT 1 FROM held) \
         ORDER BY id FOR NO KEY UPDATE), \
         ready AS (SELECT count(*) AS sends FROM locked), \
         moved AS ({update} AND send.id IN (SELECT id FROM locked) RETURNING send.id), \
         written AS ({insert} CROSS JOIN ready WHERE EXISTS (SELECT 1 FROM held) {conflict}) \
         SELECT EXISTS (SELECT 1 FROM held), ARRAY(SELECT id FROM moved)"
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
