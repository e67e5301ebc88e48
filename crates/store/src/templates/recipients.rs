//! The recipients of a business account's templates in the last hours, for the quota of templates.
//!
//! They are read from the messages themselves: each has the time when the provider accepted it, or may have. Messages
//! below the mark without a row may have been attempted. So nothing is written for a quota, and a new quota misses
//! nothing.

use entity::channel;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _, Value};
use uuid::Uuid;

use crate::dialect::Rows;
use crate::nouns::AllTemplates;
use crate::sends::recipient;
use crate::{Result, fetch};
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
    pub async fn recipients(
        self,
        waba_id: &str,
        (since, now): (Timestamp, Timestamp),
        mut page: impl FnMut(Vec<WrittenTo>) + std::marker::Send,
    ) -> Result<()> {
        // A clock that was ahead may have written times in the future.
        let by_now = |person: WrittenTo| WrittenTo { at: person.at.min(now), ..person };
        let mut page = |people: Vec<WrittenTo>| page(people.into_iter().map(by_now).collect());
        let channels = channel::Entity::find().filter(channel::Column::WabaId.eq(waba_id)).select_only();
        let channels = channels.column(channel::Column::Id).into_tuple::<Uuid>();
        for channel in channels.all(&self.store.read).await? {
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
        self.sends("state < 2 AND id > $2 ORDER BY id", [channel.into(), after.into()]).await
    }

    async fn finished(self, channel: Uuid, (at, after): (i64, Uuid)) -> Result<Vec<Send>> {
        let which = "finished_at IS NOT NULL AND (finished_at, id) > ($2, $3) ORDER BY finished_at, id";
        self.sends(which, [channel.into(), at.into(), after.into()]).await
    }

    async fn sends(self, which: &str, values: impl IntoIterator<Item = Value>) -> Result<Vec<Send>> {
        let sql = format!(
            "SELECT id, recipient, recipients, settled, high_water, finished_at FROM send \
             WHERE channel_id = $1 AND template_id IS NOT NULL AND {which} LIMIT {SENDS}"
        );
        Ok(fetch(&self.store.read, sql, values).await?.into_iter().map(send).collect())
    }

    /// The recipients of these sends.
    async fn written_to(
        self,
        sends: &[Send],
        since: Timestamp,
        now: Timestamp,
        page: &mut impl FnMut(Vec<WrittenTo>),
    ) -> Result<()> {
        let singles = sends.iter().filter(|send| send.recipient.is_some());
        let singles = Rows::of_ids(self.store.backend, singles.map(|send| &send.id));
        if !singles.is_empty() {
            let (singles, values) = singles.select(1);
            let sql = format!(
                "SELECT recipient, state, taken_at, send_id FROM message WHERE ordinal = 0 \
                 AND send_id IN (SELECT id FROM {singles} AS singles)"
            );
            let rows = fetch::<(i64, i16, Option<i64>, Uuid)>(&self.store.read, sql, values).await?;
            let known: std::collections::HashSet<_> = rows.iter().map(|(.., send_id)| *send_id).collect();
            let found = rows
                .into_iter()
                .filter_map(|(number, state, at, _)| written(number, state, at, since).transpose());
            let mut found = found.collect::<Result<Vec<_>>>()?;
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
            let rows =
                fetch(&self.store.read, sql, [send.id.into(), from, to, since.millis().into()]).await?;
            let found = rows
                .into_iter()
                .filter_map(|(number, state, at)| written(number, state, at, since).transpose());
            page(found.collect::<Result<_>>()?);
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

/// A send, by its row.
fn send(row: (Uuid, Option<i64>, i64, i64, i64, Option<i64>)) -> Send {
    let (id, recipient, recipients, settled, high_water, finished_at) = row;
    let [recipients, settled, high_water] = [recipients, settled, high_water].map(i64::cast_unsigned);
    let progress = Progress { settled, high_water };
    Send { id, recipient, recipients, progress, finished_at: finished_at.unwrap_or_default() }
}

/// The recipient of a message that the provider accepted since `since`, or may have; `None` for a group.
fn written(number: i64, state: i16, taken_at: Option<i64>, since: Timestamp) -> Result<Option<WrittenTo>> {
    let at = taken_at.map(Timestamp::from_millis).filter(|at| *at > since);
    let (Some(recipient), Some(at)) = (recipient(number)?, at) else { return Ok(None) };
    let state = crate::sends::state(state)?;
    Ok(Some(WrittenTo { recipient, at, is_certain: !state.is_open() }))
}
