//! The values of recipients as they are stored: blocks that are sealed with a key of the company.

use std::collections::HashSet;

use uuid::Uuid;

use super::ContentKeys;
use domain::phone::PhoneNumber;
use domain::send::Block;
use domain::values::{Packer, Unpacked, unpack};
use store::sends::personal::KeptValues;
use store::{Error, Result, Store};
use vault::context;

/// The stored values of a send's recipients, read in the order of their ordinals.
pub(crate) struct StoredValues {
    send_id: Uuid,
    /// What the blocks are sealed to; `None` when there are no values (any more).
    seal: Option<Uuid>,
    /// The block that was read last, with the ordinal of its first recipient.
    block: (u64, Vec<Unpacked>),
}

impl StoredValues {
    /// The values of this send.
    pub(crate) async fn of(store: &Store, send_id: Uuid) -> Result<Self> {
        let seal = match store.sends().values_kept(send_id).await? {
            KeptValues::Here(seal) => Some(seal),
            KeptValues::None | KeptValues::Gone => None,
        };
        Ok(Self { send_id, seal, block: (0, Vec::new()) })
    }

    /// The values of one recipient; `None` when there are none.
    pub(crate) async fn at(
        &mut self,
        (store, keys): (&Store, &ContentKeys),
        ordinal: u64,
    ) -> Result<Option<&Unpacked>> {
        let Some(seal) = self.seal else { return Ok(None) };
        if self.place(ordinal).is_none() {
            let Some(block) = store.sends().values_at(self.send_id, ordinal).await? else { return Ok(None) };
            let Some(rows) = opened(keys, self.send_id, seal, &block).await? else { return Ok(None) };
            self.block = (block.first_ordinal, rows);
        }
        Ok(self.place(ordinal).and_then(|place| self.block.1.get(place)))
    }

    /// The place of a recipient in the block that was read last.
    fn place(&self, ordinal: u64) -> Option<usize> {
        let place = usize::try_from(ordinal.checked_sub(self.block.0)?).ok()?;
        (place < self.block.1.len()).then_some(place)
    }
}

/// The values of a send's recipients from `ordinal` to the end of their block, in one read. Empty when they are gone or cannot be
/// unsealed, and where there is no such recipient.
pub(crate) async fn values_from(
    (store, keys): (&Store, &ContentKeys),
    send_id: Uuid,
    ordinal: u64,
) -> Result<Vec<Unpacked>> {
    let Some((seal, block)) = store.sends().values_with_seal_at(send_id, ordinal).await? else {
        return Ok(Vec::new());
    };
    let mut rows = opened(keys, send_id, seal, &block).await?.unwrap_or_default();
    let before = usize::try_from(ordinal - block.first_ordinal).unwrap_or(usize::MAX);
    rows.drain(..before.min(rows.len()));
    Ok(rows)
}

/// The recipients of a block; `None` when it cannot be unsealed, which is logged.
async fn opened(
    keys: &ContentKeys,
    send_id: Uuid,
    seal: Uuid,
    block: &Block,
) -> Result<Option<Vec<Unpacked>>> {
    let context = context::send_values(seal, block.first_ordinal);
    let Some(packed) = keys.open(&block.packed, &context).await? else {
        tracing::error!(send.id = %send_id, "the values of recipients cannot be unsealed");
        return Ok(None);
    };
    unpack(&packed).map(Some).map_err(|damage| Error::Impossible(damage.to_string()))
}

impl ContentKeys {
    /// Seals blocks of values of a company.
    pub(crate) async fn seal_values(&self, company: Uuid, seal: Uuid, blocks: &mut [Block]) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        let key = self.current(company).await?;
        for block in blocks {
            block.packed = key.seal(&block.packed, &context::send_values(seal, block.first_ordinal));
        }
        Ok(())
    }

    /// Removes the values and references of these people from the company's sends that are over. Sends that are not over still
    /// need them; what is left of those goes with the values of all.
    pub(crate) async fn erase_values(
        &self,
        store: &Store,
        company: Uuid,
        numbers: &HashSet<PhoneNumber>,
    ) -> Result<()> {
        for (send_id, seal) in store.of(company).sends().over_with_values(numbers).await? {
            let ordinals = store.sends().ordinals_of(send_id, numbers).await?;
            let mut left = &*ordinals;
            while let Some(first) = left.first() {
                // Without a block there, the values are removed, and so are those of greater ordinals or soon.
                let Some(block) = store.sends().values_at(send_id, *first).await? else { break };
                let end = block.first_ordinal + block.recipients;
                let (here, others) = left.split_at(left.partition_point(|ordinal| *ordinal < end));
                if self.replaced_without(store, (company, send_id, seal), &block, here).await? {
                    left = others;
                }
            }
            if !ordinals.is_empty() {
                store.sends().erase_references(send_id, &ordinals).await?;
            }
        }
        Ok(())
    }

    /// Replaces a block by one without the values of the recipients with these ordinals. Returns whether it still was as it was
    /// read.
    async fn replaced_without(
        &self,
        store: &Store,
        (company, send_id, seal): (Uuid, Uuid, Uuid),
        block: &Block,
        erased: &[u64],
    ) -> Result<bool> {
        let context = context::send_values(seal, block.first_ordinal);
        // What nobody can open needs no erasure.
        let Some(packed) = self.open(&block.packed, &context).await? else { return Ok(true) };
        let rows = unpack(&packed).map_err(|damage| Error::Impossible(damage.to_string()))?;
        let (mut packer, nothing) = (Packer::default(), Unpacked::default());
        for (ordinal, row) in (block.first_ordinal..).zip(&rows) {
            let row = if erased.contains(&ordinal) { &nothing } else { row };
            packer.push(row.own.iter());
        }
        let shared = &rows.first().unwrap_or(&nothing).shared;
        let key = self.current(company).await?;
        let packed = key.seal(&packer.take(shared), &context);
        store.sends().replace_values(send_id, block, packed).await
    }
}
