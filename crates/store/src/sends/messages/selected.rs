//! Messages of a send that are in some states or have some codes, read in steps of a bounded cost.

use sea_orm::Value;

use super::{COLUMNS, Message, SendSnapshot, message};
use crate::Result;
use crate::contacts::signed;
use crate::nouns::Messages;
use domain::message::Selection;
use domain::page::{Page, Window};

/// Messages without rows that are combined at once: about a recipient block.
pub(super) const STRETCH: u64 = 4096;

/// The result of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The messages, by ordinal.
    pub messages: Vec<Message>,
    /// The ordinal to go on from; `None` at the end of the send.
    pub next: Option<u64>,
}

impl Messages<'_> {
    /// The selected messages among those from `from` on: at most `limit`, and only among the next `span`, so that the
    /// cost of one call is bounded when few or none match.
    pub async fn selected(
        self,
        snapshot: &SendSnapshot,
        selection: &Selection,
        from: u64,
        limit: u64,
        span: u64,
    ) -> Result<Found> {
        let end = from.saturating_add(span).min(snapshot.recipients);
        // Below `settled` every message has a row; among the others, those without a row may be selected too.
        let may_be_rowless =
            selection.has_wordless(snapshot.unattempted) || selection.has_wordless(snapshot.reserved);
        let rows_end = if may_be_rowless { end.min(snapshot.progress.settled) } else { end };
        let mut messages = self.selected_rows(snapshot, selection, (from, rows_end), limit).await?;
        let mut next = from.max(rows_end);
        while (messages.len() as u64) < limit && next < end {
            let stretch = self.stretch(snapshot, next, STRETCH.min(end - next)).await?;
            let Some(last) = stretch.last() else { break };
            next = last.outcome.position.ordinal + 1;
            messages.extend(stretch.into_iter().filter(|message| is_meant(selection, message)));
        }
        let is_full = messages.len() as u64 >= limit;
        messages.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        if let Some(last) = messages.last().filter(|_| is_full) {
            next = last.outcome.position.ordinal + 1;
        }
        Ok(Found { messages, next: Some(next).filter(|next| *next < snapshot.recipients) })
    }

    /// A part of the selected messages with a code, by ordinal, and their total number.
    pub async fn with_codes(
        self,
        snapshot: &SendSnapshot,
        selection: &Selection,
        window: impl Into<Window<u64>>,
    ) -> Result<Page<Message>> {
        let window = window.into();
        let most = window.limit;
        let (offset, after) = window.parts();
        let (condition, mut values) = condition(snapshot, selection, (0, snapshot.recipients));
        let total = self
            .store
            .count(format!("SELECT COUNT(*) FROM message WHERE {condition}"), values.clone())
            .await?;
        if offset >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let (limit, skipped, last) = (values.len() + 1, values.len() + 2, values.len() + 3);
        let mut sql = format!("SELECT {COLUMNS} FROM message WHERE {condition}");
        values.extend([signed(most).into(), signed(offset).into()]);
        if let Some(after) = after {
            sql += &format!(" AND ordinal > ${last}");
            values.push(signed(after).into());
        }
        sql += &format!(" ORDER BY ordinal LIMIT ${limit} OFFSET ${skipped}");
        let records = self.store.rows(sql, values).await?.iter().map(message).collect::<Result<Vec<_>>>()?;
        Ok(Page { records, total })
    }

    /// Rows of the ledger with ordinals in this range.
    async fn selected_rows(
        self,
        snapshot: &SendSnapshot,
        selection: &Selection,
        (from, to): (u64, u64),
        limit: u64,
    ) -> Result<Vec<Message>> {
        if from >= to {
            return Ok(Vec::new());
        }
        let (condition, mut values) = condition(snapshot, selection, (from, to));
        values.push(signed(limit).into());
        let limit = values.len();
        self.rows_where(&format!(" AND {condition} ORDER BY ordinal LIMIT ${limit}"), values).await
    }
}

/// The condition for the selected rows with ordinals in this range, and its parameters.
fn condition(snapshot: &SendSnapshot, selection: &Selection, (from, to): (u64, u64)) -> (String, Vec<Value>) {
    let mut condition = "send_id = $1 AND ordinal >= $2 AND ordinal < $3".to_owned();
    let mut values: Vec<Value> = vec![snapshot.send_id.into(), signed(from).into(), signed(to).into()];
    if !selection.states.is_empty() {
        let states = selection.states.iter().map(|state| state.as_i16().to_string());
        condition += &format!(" AND state IN ({})", states.collect::<Vec<_>>().join(", "));
    }
    if !selection.codes.is_empty() {
        let first = values.len() + 1;
        let codes = (first..first + selection.codes.len()).map(|number| format!("${number}"));
        condition += &format!(" AND error_code IN ({})", codes.collect::<Vec<_>>().join(", "));
        values.extend(selection.codes.iter().map(|code| Value::from(*code)));
    }
    (condition, values)
}

pub(super) fn is_meant(selection: &Selection, message: &Message) -> bool {
    let code = message.outcome.error.as_ref().and_then(|failure| failure.code);
    let has_code = code.is_some_and(|code| selection.codes.contains(&code));
    selection.has(message.outcome.state) && (selection.codes.is_empty() || has_code)
}
