//! The numbers of the contacts that a segment selects, ascending, a chunk at a time.
//!
//! Who they are is decided when the first chunk is read; of a large segment only their places are held, four bytes each.

use uuid::Uuid;

use domain::phone::PhoneNumber;
use store::Store;

/// The numbers of a segment with at most so many contacts are read at once. Of a larger one, all contacts of the company are
/// read in the order of their numbers.
const AT_ONCE: usize = 50_000;
/// Contacts whose numbers one query reads by their places.
const STEP: usize = 5_000;

/// A read of a segment's contacts.
pub(super) struct SegmentReading {
    id: Uuid,
    /// The places of the contacts in the company's list, ascending; `None` before the first read.
    places: Option<Vec<u32>>,
    /// The number and the place of the contact that was read last.
    after: Option<(PhoneNumber, u32)>,
}

impl SegmentReading {
    pub(super) const fn new(id: Uuid) -> Self {
        Self { id, places: None, after: None }
    }

    /// The next numbers, ascending, and whether there may be more. Empty only when there are no more. A segment that is
    /// gone, or names what is gone, has none.
    pub(super) async fn read(
        &mut self,
        store: &Store,
        company_id: Uuid,
        limit: usize,
    ) -> store::Result<(Vec<PhoneNumber>, bool)> {
        let company = store.of(company_id);
        if self.places.is_none() {
            let Some(segment) = company.segments().find(self.id).await? else {
                return Ok((Vec::new(), false));
            };
            let mut places = company.contacts().search(&segment.filter).await?;
            if places.len() <= AT_ONCE {
                let mut numbers = Vec::new();
                for places in places.chunks(STEP) {
                    numbers.extend(company.segments().phones_at(places).await?);
                }
                numbers.sort_unstable();
                numbers.dedup();
                return Ok((numbers, false));
            }
            places.sort_unstable();
            self.places = Some(places);
        }
        let places = self.places.as_deref().unwrap_or_default();
        loop {
            let read = company.segments().phones_after(self.after, limit as u64).await?;
            let Some(last) = read.last() else { return Ok((Vec::new(), false)) };
            self.after = Some(*last);
            let is_last = read.len() < limit;
            let selected = read.iter().filter(|(_, place)| places.binary_search(place).is_ok());
            let mut numbers: Vec<PhoneNumber> = selected.map(|(number, _)| *number).collect();
            numbers.dedup();
            if is_last || !numbers.is_empty() {
                return Ok((numbers, !is_last));
            }
        }
    }
}
