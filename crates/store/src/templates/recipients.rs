//! The recipients of a business account's templates in the last hours, for the quota of templates.
//!
//! They are read from the messages themselves: each has the time when the provider accepted it, or may have. Messages
//! below the mark without a row may have been attempted. So nothing is written for a quota, and a new quota misses
//! nothing.

use sea_orm::QueryResult;
use uuid::Uuid;

use crate::Result;
use crate::dialect::{Rows, Type};
use crate::nouns::AllTemplates;
use crate::sends::recipient;
use clock::Timestamp;
use domain::send::Progress;
pub use domain::template::WrittenTo;

/// Sends of one recipient that are read at once.
const SENDS: usize = 500;
/// Messages of one send that are read at once.
const MESSAGES: u64 = 10_000;

/// A send of a template.
struct Send {
    id: Uuid,
    recipient: Option<i64>,
    recipients: u64,
    progress: Progress,
    /// When it ended.
    finished_at: i64,
}

impl AllTemplates<'_> {
    /// The recipients of templates from channels of a business account since `since`, in pages. A recipient may occur
    /// more than once. Messages below the mark without a row count as written at `now`, the latest possible time.
    ///
    /// # Errors
    ///
    /// When the database fails; [`crate::Error::Impossible`] for a row that this program never wrote.
    pub async fn recipients(
        self,
        waba_id: &str,
        (since, now): (Timestamp, Timestamp),
        mut page: impl FnMut(Vec<WrittenTo>) + std::marker::Send,
    ) -> Result<()> {
        // A clock that was ahead may have written times in the future.
        let by_now = |person: WrittenTo| WrittenTo { at: person.at.min(now), ..person };
        let mut page = |people: Vec<WrittenTo>| page(people.into_iter().map(by_now).collect());
        let channels = self.store.rows("SELECT id FROM channel WHERE waba_id = $1", [waba_id.into()]).await?;
        for channel in &channels {
            let channel: Uuid = channel.try_get_by_index(0)?;
            // A send that ends before the ended sends are read was read among the active ones.
            let mut last = Uuid::nil();
            loop {
                let sends = self.active(channel, last).await?;
                let Some(newest) = sends.last() else { break };
                last = newest.id;
                self.written_to(&sends, since, now, &mut page).await?;
            }
            let mut last = (since.millis(), Uuid::nil());
            loop {
                let sends = self.finished(channel, last).await?;
                let Some(newest) = sends.last() else { break };
                last = (newest.finished_at, newest.id);
                self.written_to(&sends, since, now, &mut page).await?;
            }
        }
        Ok(())
    }

    async fn active(self, channel: Uuid, after: Uuid) -> Result<Vec<Send>> {
        let sql = format!(
            "SELECT id, recipient, recipients, settled, high_water, finished_at FROM send \
             WHERE channel_id = $1 AND state < 2 AND template_id IS NOT NULL AND id > $2 ORDER BY id LIMIT {SENDS}"
        );
        self.store.rows(sql, [channel.into(), after.into()]).await?.iter().map(send).collect()
    }

    async fn finished(self, channel: Uuid, (at, after): (i64, Uuid)) -> Result<Vec<Send>> {
        let sql = format!(
            "SELECT id, recipient, recipients, settled, high_water, finished_at FROM send \
             WHERE channel_id = $1 AND template_id IS NOT NULL AND finished_at IS NOT NULL \
             AND (finished_at, id) > ($2, $3) ORDER BY finished_at, id LIMIT {SENDS}"
        );
        self.store.rows(sql, [channel.into(), at.into(), after.into()]).await?.iter().map(send).collect()
    }

    /// The recipients of these sends.
    async fn written_to(
        self,
        sends: &[Send],
        since: Timestamp,
        now: Timestamp,
        page: &mut impl FnMut(Vec<WrittenTo>),
    ) -> Result<()> {
        let mut singles = Rows::new(self.store.backend, &[("id", Type::Uuid)]);
        for send in sends.iter().filter(|send| send.recipient.is_some()) {
            singles.push([send.id.into()]);
        }
        if !singles.is_empty() {
            let (singles, values) = singles.select(1);
            let sql = format!(
                "SELECT recipient, state, taken_at, send_id FROM message WHERE ordinal = 0 \
                 AND send_id IN (SELECT id FROM {singles} AS singles)"
            );
            let rows = self.store.rows(sql, values).await?;
            let mut found: Vec<_> =
                rows.iter().filter_map(|row| written(row, since).transpose()).collect::<Result<_>>()?;
            let known =
                rows.iter().map(|row| Ok(row.try_get_by_index::<Uuid>(3)?)).collect::<Result<Vec<_>>>()?;
            let known: std::collections::HashSet<_> = known.into_iter().collect();
            for send in sends.iter().filter(|send| send.progress.high_water > 0 && !known.contains(&send.id))
            {
                let number = send.recipient.map(recipient).transpose()?.flatten();
                found.extend(number.map(|recipient| WrittenTo { recipient, at: now, is_certain: false }));
            }
            page(found);
        }
        for send in sends.iter().filter(|send| send.recipient.is_none()) {
            self.written_to_many(send, since, now, page).await?;
        }
        Ok(())
    }

    async fn written_to_many(
        self,
        send: &Send,
        since: Timestamp,
        now: Timestamp,
        page: &mut impl FnMut(Vec<WrittenTo>),
    ) -> Result<()> {
        // Messages without a row are read first, then the rows: a message that gets a row in between is in both.
        page(self.marked(send, now).await?);
        let end = send.progress.high_water.min(send.recipients);
        for from in (0..end).step_by(MESSAGES as usize) {
            let sql =
                format!("SELECT recipient, state, taken_at {} AND taken_at > $4", self.store.rows_between());
            let bounds = [from, from.saturating_add(MESSAGES)].map(|ordinal| ordinal.cast_signed().into());
            let [from, to] = bounds;
            let rows = self.store.rows(sql, [send.id.into(), from, to, since.millis().into()]).await?;
            page(rows.iter().filter_map(|row| written(row, since).transpose()).collect::<Result<_>>()?);
        }
        Ok(())
    }

    /// The recipients of a send below the mark whose messages have no row.
    async fn marked(self, send: &Send, now: Timestamp) -> Result<Vec<WrittenTo>> {
        let Progress { settled, high_water } = send.progress;
        let mut marked = Vec::new();
        if settled >= high_water {
            return Ok(marked);
        }
        let recorded = self.store.sends().recorded(send.id, send.progress).await?;
        let (mut first, mut numbers) = (0, Vec::new());
        for ordinal in (settled..high_water).filter(|ordinal| recorded.binary_search(ordinal).is_err()) {
            let place = |first: u64| usize::try_from(ordinal - first).unwrap_or(usize::MAX);
            if ordinal < first || place(first) >= numbers.len() {
                (first, numbers) = self.store.sends().block_at(send.id, ordinal).await?;
            }
            let number = numbers.get(place(first)).copied();
            marked.extend(number.map(|recipient| WrittenTo { recipient, at: now, is_certain: false }));
        }
        Ok(marked)
    }
}

fn send(row: &QueryResult) -> Result<Send> {
    let number = |index| -> Result<u64> { Ok(row.try_get_by_index::<i64>(index)?.cast_unsigned()) };
    Ok(Send {
        id: row.try_get_by_index(0)?,
        recipient: row.try_get_by_index(1)?,
        recipients: number(2)?,
        progress: Progress { settled: number(3)?, high_water: number(4)? },
        finished_at: row.try_get_by_index::<Option<i64>>(5)?.unwrap_or_default(),
    })
}

/// The recipient of a message that the provider accepted since `since`, or may have; `None` for a group.
fn written(row: &QueryResult, since: Timestamp) -> Result<Option<WrittenTo>> {
    let (number, state): (i64, i16) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
    let taken_at: Option<i64> = row.try_get_by_index(2)?;
    let at = taken_at.map(Timestamp::from_millis).filter(|at| *at > since);
    let (Some(recipient), Some(at)) = (recipient(number)?, at) else { return Ok(None) };
    let state = crate::sends::state(state)?;
    Ok(Some(WrittenTo { recipient, at, is_certain: !state.is_open() }))
}
