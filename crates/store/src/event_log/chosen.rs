//! Reads chosen events of the log again, by their places.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::dialect::{Rows, Type};
use crate::nouns::EventLog;
use crate::{Result, fetch};
use domain::event::Event;
use domain::event::log::{Sequence, unpack};

/// The most blocks that are read at once.
const BLOCKS: usize = 100;
const BLOCK: &[(&str, Type)] = &[("seq", Type::Int)];

impl EventLog<'_> {
    /// The company's events at these places, in their order. Those that are no longer in the log, or whose messages are no
    /// longer in the ledger, are left out.
    pub async fn events_at(self, company: Uuid, places: &[Sequence]) -> Result<Vec<Event>> {
        let places: BTreeSet<_> = places.iter().copied().collect();
        let blocks: BTreeSet<_> = places.iter().map(|place| place.block()).collect();
        let blocks: Vec<_> = blocks.into_iter().collect();
        let mut events = Vec::with_capacity(places.len());
        for blocks in blocks.chunks(BLOCKS) {
            let mut rows = Rows::new(self.store.backend, BLOCK);
            blocks.iter().for_each(|block| rows.push([(*block).into()]));
            let (asked, mut values) = rows.select(1);
            values.push(company.into());
            let sql = format!(
                "SELECT event_block.seq, event_block.packed FROM {asked} AS asked \
                 JOIN event_block ON event_block.seq = asked.seq \
                 WHERE event_block.company_id = ${} ORDER BY event_block.seq",
                values.len()
            );
            let mut found = Vec::new();
            for (block, packed) in fetch::<(i64, Vec<u8>)>(&self.store.read, sql, values).await? {
                let entries = unpack(&packed).into_iter().enumerate();
                let placed = entries.map(|(place, entry)| (Sequence::new(block, place), company, entry));
                found.extend(placed.filter(|(sequence, ..)| places.contains(sequence)));
            }
            events.extend(self.render(found).await?.into_iter().filter_map(|told| told.event));
        }
        Ok(events)
    }
}
