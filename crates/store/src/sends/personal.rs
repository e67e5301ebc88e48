//! Reads the values and references of a send's recipients, and the entries that it skipped; removes values that are no
//! longer kept. Values are written with their sends, see [`crate::ledger`], and sealed there and opened by the caller.

use std::collections::{HashMap, HashSet};

use entity::{message_reference, personal_send, recipient_block, send};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::contacts::signed;
use crate::dialect::{Rows, Type};
use crate::lease::Lease;
use crate::nouns::{AllSends, Retention, Sends};
use crate::one_row::update_rows;
use crate::retention::Step;
use crate::{Error, Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::block::unpack;
use domain::page::{Page, Window};
use domain::phone::PhoneNumber;
use domain::request::SkippedEntry;
use domain::send::{Block, State};

/// Blocks of values that one step of the retention removes: each has some hundred recipients.
const BLOCKS: i64 = 100;
/// Sends whose values one step removes: many have a single recipient.
const SENDS: i64 = 100;

/// In the column `gone`: the values are removed.
const GONE: i16 = 1;
/// In the column `gone`: some of the values are removed, and the others are next.
const BEING_REMOVED: i16 = 2;

/// Whether the recipients of a send have values of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptValues {
    /// They have none.
    None,
    /// They have, and their blocks are sealed to this.
    Here(Uuid),
    /// They had, and the values are no longer kept.
    Gone,
}

impl AllSends<'_> {
    /// Whether the recipients of a send have values of their own.
    pub async fn values_kept(self, send_id: Uuid) -> Result<KeptValues> {
        Ok(match personal_send::Entity::find_by_id(send_id).one(&self.store.read).await? {
            None => KeptValues::None,
            Some(personal_send::Model { seal, gone: 0, .. }) => KeptValues::Here(seal),
            Some(_) => KeptValues::Gone,
        })
    }

    /// The sealed block of values that holds `ordinal`; `None` when the values are gone, or there never were any.
    pub async fn values_at(self, send_id: Uuid, ordinal: u64) -> Result<Option<Block>> {
        let sql = "SELECT first_ordinal, recipients, packed FROM send_values \
                   WHERE send_id = $1 AND first_ordinal <= $2 ORDER BY first_ordinal DESC LIMIT 1";
        let values = [send_id.into(), signed(ordinal).into()];
        let row = fetch_one::<(i64, i64, Vec<u8>)>(&self.store.read, sql, values).await?;
        let block = row.map(|(first, recipients, packed)| {
            let [first_ordinal, recipients] = [first, recipients].map(i64::cast_unsigned);
            Block { first_ordinal, recipients, packed }
        });
        Ok(block.filter(|block| ordinal < block.first_ordinal + block.recipients))
    }

    /// As [`AllSends::values_at`], with what the block is sealed to, in one read.
    pub async fn values_with_seal_at(self, send_id: Uuid, ordinal: u64) -> Result<Option<(Uuid, Block)>> {
        let sql = "SELECT own.seal, held.first_ordinal, held.recipients, held.packed FROM send_values AS held \
                   JOIN personal_send AS own ON own.send_id = held.send_id AND own.gone = 0 \
                   WHERE held.send_id = $1 AND held.first_ordinal <= $2 \
                   ORDER BY held.first_ordinal DESC LIMIT 1";
        let values = [send_id.into(), signed(ordinal).into()];
        let row = fetch_one::<(Uuid, i64, i64, Vec<u8>)>(&self.store.read, sql, values).await?;
        let block = row.map(|(seal, first, recipients, packed)| {
            let [first_ordinal, recipients] = [first, recipients].map(i64::cast_unsigned);
            (seal, Block { first_ordinal, recipients, packed })
        });
        Ok(block.filter(|(_, block)| ordinal < block.first_ordinal + block.recipients))
    }

    /// The references of the messages of a send with ordinals from one up to another, by ordinal.
    pub async fn references(self, send_id: Uuid, (from, to): (u64, u64)) -> Result<HashMap<u64, String>> {
        let within = message_reference::Entity::find()
            .filter(message_reference::Column::SendId.eq(send_id))
            .filter(message_reference::Column::Ordinal.gte(signed(from)))
            .filter(message_reference::Column::Ordinal.lt(signed(to)));
        let rows = within.all(&self.store.read).await?.into_iter();
        Ok(rows.map(|row| (row.ordinal.cast_unsigned(), row.reference)).collect())
    }
}

impl AllSends<'_> {
    /// The ordinals of these people's messages in a send, ascending.
    pub async fn ordinals_of(self, send_id: Uuid, numbers: &HashSet<PhoneNumber>) -> Result<Vec<u64>> {
        let only = send::Entity::find_by_id(send_id).select_only().column(send::Column::Recipient);
        let only = only.into_tuple::<Option<i64>>().one(&self.store.read).await?.flatten();
        if let Some(number) = only {
            let is_meant = PhoneNumber::from_i64(number).is_some_and(|number| numbers.contains(&number));
            return Ok(if is_meant { vec![0] } else { Vec::new() });
        }
        let blocks = recipient_block::Entity::find()
            .filter(recipient_block::Column::SendId.eq(send_id))
            .order_by_asc(recipient_block::Column::FirstOrdinal);
        let mut ordinals = Vec::new();
        for recipient_block::Model { first_ordinal, packed, .. } in blocks.all(&self.store.read).await? {
            let block = unpack(&packed).map_err(|damage| Error::Impossible(damage.to_string()))?;
            let found = (first_ordinal.cast_unsigned()..).zip(block);
            let found = found.filter(|(_, number)| numbers.contains(number));
            ordinals.extend(found.map(|(ordinal, _)| ordinal));
        }
        Ok(ordinals)
    }

    /// Replaces a sealed block of values by another `packed` form. Returns whether it still was as it was read: another erasure
    /// may have replaced it meanwhile.
    pub async fn replace_values(self, send_id: Uuid, was: &Block, packed: Vec<u8>) -> Result<bool> {
        let first = signed(was.first_ordinal).into();
        let of =
            [("send_id", send_id.into()), ("first_ordinal", first), ("packed", was.packed.clone().into())];
        Ok(update_rows(&self.store.write, "send_values", [("packed", packed.into())], of).await? > 0)
    }

    /// Removes the references of the messages with these ordinals.
    pub async fn erase_references(self, send_id: Uuid, ordinals: &[u64]) -> Result<()> {
        let erased = Rows::of_ordinals(self.store.backend, ordinals.iter().map(|ordinal| signed(*ordinal)));
        message_reference::Entity::delete_many()
            .filter(message_reference::Column::SendId.eq(send_id))
            .filter(erased.have(message_reference::Column::Ordinal))
            .exec(&self.store.write)
            .await?;
        Ok(())
    }
}

impl Sends<'_> {
    /// The company's sends that are over and may have values or references of these people, with what the values are sealed
    /// to: of sends to one recipient, only those to one of them.
    pub async fn over_with_values(self, numbers: &HashSet<PhoneNumber>) -> Result<Vec<(Uuid, Uuid)>> {
        let mut rows = Rows::new(self.store.backend, &[("recipient", Type::Int)]);
        numbers.iter().for_each(|number| rows.push([number.as_i64().into()]));
        let (rows, mut values) = rows.select(2);
        values.insert(0, self.company.into());
        let sql = format!(
            "SELECT personal_send.send_id, personal_send.seal FROM personal_send \
             JOIN send ON send.id = personal_send.send_id \
             WHERE personal_send.company_id = $1 AND send.state > {} \
             AND (send.recipient IS NULL OR send.recipient IN (SELECT recipient FROM {rows} AS erased)) \
             AND (personal_send.gone <> {GONE} OR EXISTS (SELECT 1 FROM message_reference \
             WHERE message_reference.send_id = personal_send.send_id))",
            State::Active.as_i16()
        );
        fetch(&self.store.read, sql, values).await
    }

    /// The messages of the company that have this reference, the newest sends first: at most `limit`.
    pub async fn with_reference(self, reference: &str, limit: u32) -> Result<Vec<(Uuid, u64)>> {
        let sql = format!(
            "SELECT message_reference.send_id, message_reference.ordinal FROM message_reference \
             JOIN send ON send.id = message_reference.send_id \
             WHERE message_reference.company_id = $1 AND message_reference.reference = $2 AND send.state > {} \
             ORDER BY message_reference.send_id DESC, message_reference.ordinal LIMIT $3",
            State::Resolving.as_i16()
        );
        let values = [self.company.into(), reference.into(), i64::from(limit).into()];
        let rows = fetch::<(Uuid, i64)>(&self.store.read, sql, values).await?;
        Ok(rows.into_iter().map(|(send_id, ordinal)| (send_id, ordinal.cast_unsigned())).collect())
    }

    /// A part of the entries that the company's send skipped, and how many it skipped: the first ones are kept, see
    /// [`domain::request::KEPT_ENTRIES`]. `None` when the company has no such send.
    pub async fn skipped(
        self,
        send_id: Uuid,
        window: impl Into<Window<u64>>,
    ) -> Result<Option<Page<SkippedEntry>>> {
        let Some(send) = self.accepted(send_id).one(&self.store.read).await? else { return Ok(None) };
        let total = send.skipped.cast_unsigned();
        let window = window.into();
        let limit = usize::try_from(window.limit).unwrap_or(usize::MAX);
        let (offset, after) = window.parts();
        let from = after.map_or(offset, |place| place.saturating_add(1));
        let sql = "SELECT place, packed FROM send_skipped \
                   WHERE send_id = $1 AND place + entries > $2 AND place < $3 ORDER BY place";
        let to = from.saturating_add(window.limit);
        let values = [send_id.into(), signed(from).into(), signed(to).into()];
        let mut records = Vec::new();
        for (place, packed) in fetch::<(i64, String)>(&self.store.read, sql, values).await? {
            let entries: Vec<SkippedEntry> = serde_json::from_str(&packed).map_err(|error| {
                Error::Impossible(format!("the skipped entries of send {send_id}: {error}"))
            })?;
            let before = usize::try_from(from.saturating_sub(place.cast_unsigned())).unwrap_or(usize::MAX);
            records.extend(entries.into_iter().skip(before));
        }
        records.truncate(limit);
        Ok(Some(Page { records, total }))
    }
}

impl Retention<'_> {
    /// Removes values of sends that ended before `before`: some blocks of some of them. From the first removed block on, the
    /// values of a send count as gone, so that no retry uses those that are left.
    ///
    /// # Errors
    ///
    /// When the database fails; [`Error::Fenced`] when this process has lost the `lease`.
    pub async fn remove_values(self, lease: &Lease, before: Timestamp) -> Result<Step> {
        let sql = format!(
            "SELECT personal_send.send_id FROM personal_send JOIN send ON send.id = personal_send.send_id \
             WHERE personal_send.gone <> {GONE} AND send.state > {} AND send.finished_at <= $1 LIMIT {SENDS}",
            State::Active.as_i16()
        );
        let found = fetch::<Uuid>(&self.store.read, sql, [before.millis().into()]).await?;
        if found.is_empty() {
            return Ok(Step::default());
        }
        let (rows, values) = Rows::of_ids(self.store.backend, &found).select(1);
        let note = |gone: i16| {
            let noted = personal_send::Entity::update_many();
            let noted = noted.col_expr(personal_send::Column::Gone, Expr::value(gone));
            noted.filter(self.store.among(personal_send::Column::SendId, &found))
        };
        let transaction = self.store.begin_fenced(lease).await?;
        note(BEING_REMOVED).exec(&transaction).await?;
        let sql = format!(
            "DELETE FROM send_values WHERE (send_id, first_ordinal) IN (SELECT send_id, first_ordinal FROM send_values \
             WHERE send_id IN (SELECT id FROM {rows} AS ended) ORDER BY send_id, first_ordinal LIMIT {BLOCKS})"
        );
        let others = execute(&transaction, sql, values).await?;
        if others < BLOCKS.cast_unsigned() {
            note(GONE).exec(&transaction).await?;
        }
        transaction.commit().await?;
        Ok(Step { others: others.max(1), more: true, ..Step::default() })
    }
}
