//! Reads what alerts are about from the log.

use entity::event_block::{Column, Entity};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use crate::Result;
use crate::nouns::Alerts;
use domain::event::log::{Fact, LogEntry, Sequence, unpack};

/// The most blocks that are read at once.
const BLOCKS: u32 = 100;

/// The facts of a part of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactPage {
    /// The facts that are alerts, each with its company, in their order.
    pub facts: Vec<(Uuid, Fact)>,
    /// How far the part goes: the end of a block.
    pub next: Sequence,
    /// Whether there is more up to the end that was asked for.
    pub more: bool,
}

impl Alerts<'_> {
    /// What people may be told, of the blocks after this place and up to the block `through`. The place is the end of a block.
    pub async fn facts(self, (after, through): (Sequence, i64)) -> Result<FactPage> {
        let blocks = Entity::find().filter(Column::Seq.gt(after.block())).filter(Column::Seq.lte(through));
        let blocks = blocks.order_by_asc(Column::Seq).limit(u64::from(BLOCKS)).select_only();
        let blocks = blocks.columns([Column::Seq, Column::CompanyId, Column::Packed]);
        let rows = blocks.into_tuple::<(i64, Uuid, Vec<u8>)>().all(&self.store.read).await?;
        let more = rows.len() == BLOCKS as usize;
        let mut page = FactPage { facts: Vec::new(), next: after, more };
        for (block, company, packed) in rows {
            let facts = unpack(&packed).into_iter().filter_map(|entry| match entry {
                Some(LogEntry::Fact(fact)) if fact.alert().is_some() => Some((company, fact)),
                _ => None,
            });
            page.facts.extend(facts);
            page.next = Sequence::end_of(block);
        }
        if !more {
            page.next = page.next.max(Sequence::end_of(through));
        }
        Ok(page)
    }
}
