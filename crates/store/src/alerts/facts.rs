//! Reads what alerts are about from the log.

use uuid::Uuid;

use crate::nouns::Alerts;
use crate::{Result, fetch};
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
        let sql = "SELECT seq, company_id, packed FROM event_block WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3";
        let values = [after.block().into(), through.into(), i64::from(BLOCKS).into()];
        let rows = fetch::<(i64, Uuid, Vec<u8>)>(&self.store.read, sql, values).await?;
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
