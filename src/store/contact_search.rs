//! Which contacts a search finds: those of the index, and those that the index does not hold yet, read one by one.
//!
//! Everything is read in one transaction that sees one state of the database, so that what is found is exact
//! while contacts are imported and indexed. Called by the list of contacts.

use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseTransaction, DbBackend, IsolationLevel, QueryResult,
    TransactionOptions, TransactionTrait, Value,
};
use uuid::Uuid;

use super::contact_gram::Part;
use super::contact_segment::{Found, LENGTHS, Lists, Word, contacts_at};
use super::dialect::{Rows, Type};
use super::{Error, Result, Store};
use crate::domain::contact::digits_pattern;
use crate::domain::fold::{digits, like_anywhere, looks_like_a_number};

/// Segments whose lists are held in memory at once.
const SEGMENTS: usize = 16;
/// In characters. A longer search has more grams than it is worth: every contact is read.
const LONGEST_INDEXED: usize = 600;

/// A folded text that is looked for.
pub(super) struct Search {
    words: Vec<Word>,
    pattern: String,
    /// For a number, which is also found by its digits.
    digits_pattern: Option<String>,
    is_indexed: bool,
}

struct Segment {
    id: i64,
    first: i64,
}

impl Search {
    pub(super) fn new(text: &str) -> Self {
        let number = looks_like_a_number(text).then(|| digits(text));
        let words = [Word::new(Part::Words, text)].into_iter();
        let words = words.chain(number.iter().map(|number| Word::new(Part::Digits, number)));
        Self {
            words: words.collect(),
            pattern: like_anywhere(text),
            digits_pattern: number.as_deref().map(digits_pattern),
            is_indexed: text.chars().count() <= LONGEST_INDEXED,
        }
    }

    /// A condition on `contact`, its parameters numbered from `first`, and their values.
    fn condition(&self, first: usize) -> (String, Vec<Value>) {
        let mut condition =
            format!(r"search_text LIKE ${first} ESCAPE '\' OR tag_text LIKE ${first} ESCAPE '\'");
        let mut values = vec![self.pattern.as_str().into()];
        if let Some(pattern) = &self.digits_pattern {
            condition.push_str(&format!(r" OR search_text LIKE ${} ESCAPE '\'", first + 1));
            values.push(pattern.as_str().into());
        }
        (condition, values)
    }
}

impl Store {
    /// The ordinals of the contacts of `company` that a search finds, descending; four bytes for each are held.
    pub(super) async fn found(&self, company: Uuid, search: &Search) -> Result<Vec<u32>> {
        let snapshot = self.snapshot().await?;
        let found = self.found_in(&snapshot, company, search).await;
        snapshot.rollback().await?;
        found
    }

    async fn found_in(
        &self,
        snapshot: &DatabaseTransaction,
        company: Uuid,
        search: &Search,
    ) -> Result<Vec<u32>> {
        let book = self.book(snapshot, company).await?;
        let indexed = if search.is_indexed { book.indexed } else { 0 };
        let mut found = Vec::new();
        if indexed > 0 {
            let (stale, fresh) = self.stale(snapshot, company, search).await?;
            self.find_indexed(snapshot, company, search, &mut found).await?;
            found.retain(|ordinal| stale.binary_search(ordinal).is_err());
            found.extend(fresh);
        }
        if indexed < book.contacts {
            self.find_unindexed(snapshot, company, search, indexed, &mut found).await?;
        }
        // Ascending but for the few that are in no segment: a stable sort only looks through what is in order.
        found.sort();
        // One that changed while it was being indexed was read twice.
        found.dedup();
        found.reverse();
        Ok(found)
    }

    /// What the segments have, as they were when they were made.
    async fn find_indexed(
        &self,
        snapshot: &DatabaseTransaction,
        company: Uuid,
        search: &Search,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        let select = "SELECT id, first FROM contact_segment WHERE company_id = $1 ORDER BY first";
        let rows = snapshot.query_all_raw(self.statement(select, [company.into()])).await?;
        let segment = |row: &QueryResult| {
            Ok::<_, Error>(Segment { id: row.try_get_by_index(0)?, first: row.try_get_by_index(1)? })
        };
        let segments = rows.iter().map(segment).collect::<Result<Vec<_>>>()?;
        let mut grams: Vec<i64> = search.words.iter().flat_map(Word::grams).collect();
        grams.sort_unstable();
        grams.dedup();
        for segments in segments.chunks(SEGMENTS) {
            let wanted = segments.iter().flat_map(|segment| grams.iter().map(|gram| (segment.id, *gram)));
            let lists = self.gram_lists(snapshot, segments, wanted).await?;
            let matches: Vec<Vec<Found>> = lists
                .iter()
                .map(|lists| search.words.iter().map(|word| word.find(lists)).collect())
                .collect();
            let has_places = |matches: &Vec<Found>| {
                matches.iter().any(|found| matches!(found, Found::Places(places) if !places.is_empty()))
            };
            let wanted = segments.iter().zip(&matches).filter(|(_, matches)| has_places(matches));
            let lengths =
                self.gram_lists(snapshot, segments, wanted.map(|(segment, _)| (segment.id, LENGTHS))).await?;
            for ((segment, matches), lengths) in segments.iter().zip(matches).zip(lengths) {
                let lengths = lengths.get(&LENGTHS).map(Vec::as_slice).unwrap_or_default();
                let matches = matches.into_iter().map(|matches| match matches {
                    Found::Contacts(contacts) => contacts,
                    Found::Places(places) => contacts_at(&places, lengths),
                });
                let first = ordinal(segment.first)?;
                let contacts = matches.reduce(united).unwrap_or_default();
                found.extend(contacts.into_iter().map(|contact| first + contact));
            }
        }
        Ok(())
    }

    /// The `wanted` lists, given by segment and gram, of each of `segments`.
    async fn gram_lists(
        &self,
        snapshot: &DatabaseTransaction,
        segments: &[Segment],
        wanted: impl Iterator<Item = (i64, i64)>,
    ) -> Result<Vec<Lists>> {
        let mut lists: Vec<Lists> = segments.iter().map(|_| Lists::default()).collect();
        let mut rows = Rows::new(self.backend, &[("segment_id", Type::Int), ("gram", Type::Int)]);
        wanted.for_each(|(segment, gram)| rows.push([segment.into(), gram.into()]));
        if rows.is_empty() {
            return Ok(lists);
        }
        let (rows, values) = rows.select(1);
        // A sub-select, so that no database thinks of anything but one look-up by key for each.
        let select = format!(
            "SELECT segment_id, gram, (
                SELECT places FROM contact_gram
                WHERE contact_gram.segment_id = wanted.segment_id AND contact_gram.gram = wanted.gram
             ) FROM {rows} AS wanted"
        );
        for row in snapshot.query_all_raw(self.statement(select, values)).await? {
            let (id, places): (i64, Option<Vec<u8>>) = (row.try_get_by_index(0)?, row.try_get_by_index(2)?);
            let index = segments.iter().position(|segment| segment.id == id);
            if let (Some(lists), Some(places)) = (index.and_then(|index| lists.get_mut(index)), places) {
                lists.insert(row.try_get_by_index(1)?, places);
            }
        }
        Ok(lists)
    }

    /// The contacts of which the index may be out of date, ascending, those that were deleted too, and those among
    /// them that are found.
    async fn stale(
        &self,
        snapshot: &DatabaseTransaction,
        company: Uuid,
        search: &Search,
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let (condition, values) = search.condition(2);
        let select = format!(
            "SELECT string_agg(CAST(contact_stale.ordinal * 2 + CASE WHEN (
                SELECT {condition} FROM contact
                WHERE contact.company_id = $1 AND contact.ordinal = contact_stale.ordinal
             ) THEN 1 ELSE 0 END AS TEXT), ',')
             FROM contact_stale WHERE contact_stale.company_id = $1"
        );
        let values = std::iter::once(company.into()).chain(values);
        let numbers = listed(snapshot.query_one_raw(self.statement(select, values)).await?)?;
        let mut stale = Vec::with_capacity(numbers.len());
        let mut fresh = Vec::new();
        for number in numbers {
            stale.push(ordinal(number / 2)?);
            if number % 2 == 1 {
                fresh.push(ordinal(number / 2)?);
            }
        }
        stale.sort_unstable();
        Ok((stale, fresh))
    }

    /// Reads the contacts from the ordinal `from` on.
    async fn find_unindexed(
        &self,
        snapshot: &DatabaseTransaction,
        company: Uuid,
        search: &Search,
        from: i64,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        let (condition, values) = search.condition(3);
        let select = format!(
            "SELECT string_agg(CAST(ordinal AS TEXT), ',') FROM contact
             WHERE company_id = $1 AND ordinal >= $2 AND ({condition})"
        );
        let values = [company.into(), from.into()].into_iter().chain(values);
        for number in listed(snapshot.query_one_raw(self.statement(select, values)).await?)? {
            found.push(ordinal(number)?);
        }
        Ok(())
    }

    /// A transaction that sees one state of the database, whatever is written meanwhile.
    pub(super) async fn snapshot(&self) -> Result<DatabaseTransaction> {
        // SQLite's transactions are of this kind anyway.
        let (isolation_level, access_mode) = match self.backend {
            DbBackend::Postgres => (Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)),
            _ => (None, None),
        };
        let options = TransactionOptions { isolation_level, access_mode, ..TransactionOptions::default() };
        Ok(self.read.begin_with_options(options).await?)
    }
}

/// The numbers of two ascending lists, ascending, each once.
fn united(one: Vec<u32>, other: Vec<u32>) -> Vec<u32> {
    if one.is_empty() || other.is_empty() {
        return if one.is_empty() { other } else { one };
    }
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        let next = *left.min(right);
        one.next_if_eq(&next);
        other.next_if_eq(&next);
        all.push(next);
    }
    all.extend(one);
    all.extend(other);
    all
}

/// The numbers of a text that a database put together: a row for each would cost more than finding them.
fn listed(row: Option<QueryResult>) -> Result<Vec<i64>> {
    let text: Option<String> = row.map_or(Ok(None), |row| row.try_get_by_index(0))?;
    let text = text.unwrap_or_default();
    let numbers = text.split_terminator(',').map(|number| {
        number.parse().map_err(|_| Error::Impossible(format!("the ordinal {number:?} of a contact")))
    });
    numbers.collect()
}

fn ordinal(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::Impossible(format!("the ordinal {number} of a contact")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_are_united_in_order_and_without_repeats() {
        for (one, other, all) in [
            (vec![], vec![], vec![]),
            (vec![1, 3], vec![], vec![1, 3]),
            (vec![], vec![2], vec![2]),
            (vec![1, 3, 5], vec![1, 2, 5, 6, 7], vec![1, 2, 3, 5, 6, 7]),
            (vec![8, 9], vec![1, 2], vec![1, 2, 8, 9]),
        ] {
            assert_eq!(united(one, other), all);
        }
    }
}
