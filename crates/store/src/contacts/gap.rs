//! Ordinals of deleted contacts: how many there are in each block of neighbouring ones, so that a page of the list is
//! still found by arithmetic.
//!
//! Called by the code that reads pages, and by the code that deletes contacts.

use std::collections::BTreeMap;

use crate::dialect::{Rows, Type};
use crate::nouns::ContactIndex;
use crate::one_row::find_rows;
use crate::{Result, Transaction, execute};

/// Ordinals of one block: enough that a million contacts have few blocks, and few enough that skipping the contacts of
/// one block takes less than a millisecond.
const BLOCK: i64 = 4_096;

/// The blocks of a company that have gaps, the last one first.
#[derive(Debug, Default)]
pub(crate) struct Gaps(Vec<(i64, i64)>);

impl Gaps {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many contacts there are among so many ordinals.
    pub(crate) fn contacts(&self, ordinals: i64) -> i64 {
        ordinals - self.0.iter().map(|(_, removed)| removed).sum::<i64>()
    }

    /// Locates the contact with `offset` newer ones, among `ordinals` in all: returns an ordinal, and how many contacts
    /// (less than a block) to skip below it.
    pub(crate) fn locate(&self, ordinals: i64, offset: i64) -> (i64, i64) {
        let (mut below, mut left) = (ordinals, offset);
        for (block, removed) in &self.0 {
            let end = ((block + 1) * BLOCK).min(below);
            if left < below - end {
                return (below - left, 0);
            }
            left -= below - end;
            let contacts = end - block * BLOCK - removed;
            if left < contacts {
                return (end, left);
            }
            left -= contacts;
            below = block * BLOCK;
        }
        (below - left, 0)
    }
}

impl ContactIndex<'_> {
    pub(crate) async fn gaps(self) -> Result<Gaps> {
        let table = ("contact_gap", "block, removed", " ORDER BY block DESC");
        find_rows(&self.store.read, table, [("company_id", self.company.into())]).await.map(Gaps)
    }

    /// Counts the ordinals of contacts that were deleted.
    pub(crate) async fn add_gaps(
        self,
        transaction: &Transaction,
        ordinals: impl Iterator<Item = i64>,
    ) -> Result<()> {
        let mut blocks: BTreeMap<i64, i64> = BTreeMap::new();
        ordinals.for_each(|ordinal| *blocks.entry(ordinal / BLOCK).or_default() += 1);
        let mut rows = Rows::new(self.store.backend, &[("block", Type::Int), ("removed", Type::Int)]);
        blocks.into_iter().for_each(|(block, removed)| rows.push([block.into(), removed.into()]));
        if rows.is_empty() {
            return Ok(());
        }
        let (rows, values) = rows.behind([self.company.into()]);
        // `WHERE true` tells SQLite that `ON` belongs to the insert and not to a join.
        let insert = format!(
            "INSERT INTO contact_gap (company_id, block, removed)
             SELECT $1, block, removed FROM {rows} AS rows WHERE true
             ON CONFLICT (company_id, block) DO UPDATE SET removed = contact_gap.removed + excluded.removed"
        );
        execute(transaction, insert, values).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_beside_gaps_as_by_counting() {
        let ordinals = 3 * BLOCK + 100;
        let removed: Vec<i64> = (0..ordinals).filter(|n| n % 7 == 0 && *n / BLOCK != 1).collect();
        let mut blocks: BTreeMap<i64, i64> = BTreeMap::new();
        removed.iter().for_each(|ordinal| *blocks.entry(ordinal / BLOCK).or_default() += 1);
        let gaps = Gaps(blocks.into_iter().rev().collect());
        let mut kept: Vec<i64> = (0..ordinals).filter(|n| removed.binary_search(n).is_err()).collect();
        kept.reverse();
        assert_eq!(gaps.contacts(ordinals), kept.len() as i64);
        for offset in (0..kept.len()).step_by(13).chain([kept.len() - 1]) {
            let (below, skipped) = gaps.locate(ordinals, offset as i64);
            assert!(skipped < BLOCK);
            let found = kept.iter().filter(|n| **n < below).nth(usize::try_from(skipped).unwrap());
            assert_eq!(found, Some(&kept[offset]), "{offset}");
        }
    }
}
