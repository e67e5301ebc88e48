//! Yields each number of an audience once, ascending, with one chunk of each source in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use uuid::Uuid;

use super::again::Reading;
use super::segment::SegmentReading;
use domain::phone::PhoneNumber;
use domain::request::{Again, Skipped};
use store::Store;

/// The numbers read at once from all tags and segments of an audience together; from each of many tags, at least this many in total.
const CHUNK: usize = 50_000;
const LEAST_CHUNK: usize = 2_000;

/// The unique numbers of an audience.
pub(crate) struct Unique {
    sources: Vec<Source>,
    chunk: usize,
    /// The number that was yielded last.
    last: Option<PhoneNumber>,
    skipped: Skipped,
}

impl Unique {
    /// The numbers of `numbers`, of the contacts with one of the tags or in one of the segments, and of the messages to
    /// retry.
    pub(crate) fn new(
        mut numbers: Vec<PhoneNumber>,
        tags: &[Uuid],
        segments: &[Uuid],
        again: Option<Again>,
    ) -> Self {
        numbers.sort_unstable();
        let mut sources = vec![Source { origin: Origin::Given, chunk: numbers, next: 0, more: false }];
        let tags = tags.iter().map(|tag| Origin::Tag(*tag));
        let segments = segments.iter().map(|segment| Origin::Segment(SegmentReading::new(*segment)));
        let again = again.into_iter().map(|again| Origin::Again(Reading::new(again)));
        let unread = |origin| Source { origin, chunk: Vec::new(), next: 0, more: true };
        sources.extend(tags.chain(segments).chain(again).map(unread));
        let chunk = (CHUNK / sources.len()).max(LEAST_CHUNK);
        Self { sources, chunk, last: None, skipped: Skipped::default() }
    }

    /// The numbers that were skipped since this was asked last.
    pub(crate) fn take_skipped(&mut self) -> Skipped {
        std::mem::take(&mut self.skipped)
    }

    /// Moves the next numbers to `unique` until it holds `enough`, or all that are left. Returns whether it holds any.
    ///
    /// # Errors
    ///
    /// Those of reading a tag, a segment or messages.
    pub(crate) async fn next(
        &mut self,
        store: &Store,
        company_id: Uuid,
        enough: usize,
        unique: &mut Vec<PhoneNumber>,
    ) -> store::Result<bool> {
        loop {
            for source in &mut self.sources {
                source.refill(store, company_id, self.chunk, &mut self.skipped).await?;
            }
            self.sources.retain(|source| source.next < source.chunk.len());
            if self.sources.is_empty() {
                return Ok(!unique.is_empty());
            }
            if merge(&mut self.sources, unique, &mut self.last, enough) {
                return Ok(true);
            }
        }
    }
}

/// The origin of a source's numbers.
enum Origin {
    /// The request itself: all numbers are here.
    Given,
    Tag(Uuid),
    Segment(SegmentReading),
    Again(Reading),
}

/// Ascending numbers, a chunk at a time.
struct Source {
    /// The origin of further numbers.
    origin: Origin,
    chunk: Vec<PhoneNumber>,
    /// Position in the chunk.
    next: usize,
    more: bool,
}

impl Source {
    /// Reads the next chunk when this one is used up.
    async fn refill(
        &mut self,
        store: &Store,
        company_id: Uuid,
        chunk: usize,
        skipped: &mut Skipped,
    ) -> store::Result<()> {
        if self.next < self.chunk.len() || !self.more {
            return Ok(());
        }
        match &mut self.origin {
            Origin::Given => return Ok(()),
            Origin::Tag(tag) => {
                let after = self.chunk.last().copied();
                let limit = u32::try_from(chunk).unwrap_or(u32::MAX);
                (self.chunk, self.more) = store.of(company_id).tags().phones(*tag, after, limit).await?;
            }
            Origin::Segment(reading) => {
                (self.chunk, self.more) = reading.read(store, company_id, chunk).await?;
            }
            Origin::Again(reading) => {
                (self.chunk, self.more) = reading.read(store, company_id, chunk, skipped).await?;
            }
        }
        self.next = 0;
        Ok(())
    }
}

/// Moves numbers from `sources` to `unique`, ascending and without repeats, until `unique` holds `enough`
/// (true) or a source that may have more runs dry (false). `last` is the number moved last.
fn merge(
    sources: &mut [Source],
    unique: &mut Vec<PhoneNumber>,
    last: &mut Option<PhoneNumber>,
    enough: usize,
) -> bool {
    if sources.iter().any(|source| source.more && source.next == source.chunk.len()) {
        return false;
    }
    let head = |(index, source): (usize, &Source)| Some(Reverse((*source.chunk.get(source.next)?, index)));
    let mut heads: BinaryHeap<_> = sources.iter().enumerate().filter_map(head).collect();
    while let Some(Reverse((number, index))) = heads.pop() {
        let source = &mut sources[index];
        source.next += 1;
        if *last != Some(number) {
            unique.push(number);
            *last = Some(number);
        }
        match source.chunk.get(source.next) {
            Some(next) => heads.push(Reverse((*next, index))),
            None if source.more => return unique.len() >= enough,
            None => {}
        }
        if unique.len() >= enough {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn numbers(values: &[u64]) -> Vec<PhoneNumber> {
        values.iter().filter_map(|value| PhoneNumber::from_u64(1_000_000 + value)).collect()
    }

    proptest! {
        #[test]
        fn merging_gives_each_number_once_and_in_order(
            lists in prop::collection::vec(prop::collection::btree_set(0_u64..60, 0..30), 0..5),
            enough in 1_usize..10,
        ) {
            let mut sources: Vec<_> = lists
                .iter()
                .map(|list| Source { origin: Origin::Given, chunk: numbers(&list.iter().copied().collect::<Vec<_>>()), next: 0, more: false })
                .collect();
            let (mut all, mut unique, mut last) = (Vec::new(), Vec::new(), None);
            while merge(&mut sources, &mut unique, &mut last, enough) {
                prop_assert_eq!(unique.len(), enough);
                all.append(&mut unique);
            }
            all.append(&mut unique);
            let expected: BTreeSet<u64> = lists.into_iter().flatten().collect();
            prop_assert_eq!(all, numbers(&expected.into_iter().collect::<Vec<_>>()));
        }
    }

    #[test]
    fn merging_stops_where_a_source_may_have_more() {
        let mut sources = [
            Source { origin: Origin::Given, chunk: numbers(&[1, 2]), next: 0, more: true },
            Source { origin: Origin::Given, chunk: numbers(&[2, 3, 9]), next: 0, more: false },
        ];
        let (mut unique, mut last) = (Vec::new(), None);
        assert!(!merge(&mut sources, &mut unique, &mut last, 100));
        assert_eq!(unique, numbers(&[1, 2]));
        assert!(!merge(&mut sources, &mut unique, &mut last, 1), "and waits until it was read");
        assert_eq!(unique, numbers(&[1, 2]));
    }
}
