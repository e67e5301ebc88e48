//! Finds contacts by the lists of the search index, and reads as few lists as possible.
//!
//! A gram that nearly every contact has narrows a search little, and its lists are the longest. So short lists are read
//! first; where they leave few contacts, the texts of these are read in place of the long lists.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::segment::{Found, LENGTHS, Lists, Word, contacts_at};
use super::{Search, Term, listed, ordinal};
use crate::dialect::{Rows, Type};
use crate::nouns::ContactIndex;
use crate::{Result, Store, Transaction, fetch};

/// Lists that are held in memory at once.
const LISTS: usize = 512;
/// The number of segments that show which grams nearly every contact has.
const SAMPLE: usize = 8;
/// The most bytes of a list that is read first: that of a gram that one in four contacts has.
const SHORT: i32 = 4_096;
/// More bytes than any list has.
const ALL: i32 = i32::MAX;
/// Up to this many places in a segment, reading the texts there takes less than reading the remaining lists.
const DOUBTED: usize = 16;

struct Segment {
    id: i64,
    first: i64,
}

/// One search in all segments of a company.
struct Finding<'a> {
    store: &'a Store,
    snapshot: &'a Transaction,
    company: Uuid,
    search: &'a Search,
    grams: BTreeSet<i64>,
    /// The grams whose lists were long and not needed in earlier segments.
    common: BTreeSet<i64>,
    found: Vec<u32>,
}

impl ContactIndex<'_> {
    /// The ordinals of the contacts that match in the segments, as they were when the segments were built. A few are
    /// out of order, and an ordinal may occur twice.
    pub(super) async fn find_indexed(self, snapshot: &Transaction, search: &Search) -> Result<Vec<u32>> {
        let company = self.company;
        let select = "SELECT id, first FROM contact_segment WHERE company_id = $1 ORDER BY first";
        let rows = fetch(snapshot, select, [company.into()]).await?;
        let segments: Vec<_> = rows.into_iter().map(|(id, first)| Segment { id, first }).collect();
        let grams: BTreeSet<i64> = search.words().flat_map(Word::grams).collect();
        let most = (LISTS / grams.len().max(1)).max(1);
        let (common, found) = (BTreeSet::new(), Vec::new());
        let mut finding = Finding { store: self.store, snapshot, company, search, grams, common, found };
        let (sample, rest) = segments.split_at(segments.len().min(SAMPLE).min(most));
        finding.look_in(sample).await?;
        for segments in rest.chunks(most) {
            finding.look_in(segments).await?;
        }
        Ok(finding.found)
    }
}

impl Finding<'_> {
    async fn look_in(&mut self, segments: &[Segment]) -> Result<()> {
        let mut lists = self.lists(segments).await?;
        self.note_common(&lists);
        // The lists are dropped segment by segment: together with the places they would take twice the memory.
        let places: Vec<Vec<Vec<Found>>> = lists
            .drain(..)
            .map(|lists| self.search.terms.iter().map(|term| term.find(&lists)).collect())
            .collect();
        let has_places = |places: &[Vec<Found>]| places.iter().flatten().any(Found::has_places);
        let wanted = segments.iter().zip(&places).filter(|(_, places)| has_places(places));
        let wanted = wanted.map(|(segment, _)| (segment.id, LENGTHS));
        let lengths = self.read(segments, wanted, ALL).await?;
        let mut doubted = BTreeSet::new();
        for ((segment, places), lengths) in segments.iter().zip(places).zip(lengths) {
            let lengths = lengths.get(&LENGTHS).and_then(Option::as_deref).unwrap_or_default();
            let first = ordinal(segment.first)?;
            let each = places.into_iter().map(|places| Matches::of(places, lengths));
            let Matches { certain, possible } = each.reduce(Matches::and).unwrap_or_default();
            // Of one word at least, all lists were read.
            let possible = possible.unwrap_or_default();
            let in_doubt = possible.into_iter().filter(|contact| certain.binary_search(contact).is_err());
            doubted.extend(in_doubt.map(|contact| first + contact));
            self.found.extend(certain.into_iter().map(|contact| first + contact));
        }
        self.read_texts(&doubted).await
    }

    /// The lists of each segment, as many as the search needs.
    async fn lists(&self, segments: &[Segment]) -> Result<Vec<Lists>> {
        let wanted = |segment: &Segment| {
            let id = segment.id;
            self.grams.difference(&self.common).map(move |gram| (id, *gram))
        };
        let mut lists = self.read(segments, segments.iter().flat_map(wanted), SHORT).await?;
        let mut unread = BTreeSet::new();
        for (segment, lists) in segments.iter().zip(&mut lists) {
            lists.extend(self.common.iter().map(|gram| (*gram, None)));
            let found: Vec<Vec<Found>> = self.search.terms.iter().map(|term| term.find(lists)).collect();
            // Where one word leaves few contacts, their texts are read in place of the lists of the other words.
            let is_narrow = |found: &Vec<Found>| found.iter().all(|found| found.is_narrow(DOUBTED));
            if found.iter().any(is_narrow) {
                continue;
            }
            for (term, found) in self.search.terms.iter().zip(found) {
                for (word, _) in term.words.iter().zip(found).filter(|(_, found)| !found.is_enough(DOUBTED)) {
                    unread.extend(word.unread(lists).map(|gram| (segment.id, gram)));
                }
            }
        }
        // A common gram may occur in no contact of a segment: then it has no list to read.
        let absent = unread.iter().filter(|(_, gram)| self.common.contains(gram));
        for (id, gram) in absent {
            let lists = segments.iter().zip(&mut lists).find(|(segment, _)| segment.id == *id);
            lists.and_then(|(_, lists)| lists.remove(gram));
        }
        let rest = self.read(segments, unread.into_iter(), ALL).await?;
        lists.iter_mut().zip(rest).for_each(|(lists, rest)| lists.extend(rest));
        Ok(lists)
    }

    /// Notes the grams whose lists no segment needed: later segments do not read these first.
    fn note_common(&mut self, lists: &[Lists]) {
        let Some((last, others)) = lists.split_last() else { return };
        let is_unread = |gram: &i64, lists: &Lists| matches!(lists.get(gram), Some(None));
        let unread = self.grams.iter().filter(|gram| is_unread(gram, last));
        let unread = unread.filter(|gram| others.iter().all(|lists| is_unread(gram, lists)));
        self.common = unread.copied().collect();
    }

    /// The `wanted` lists, given by segment and gram, of each of `segments`; a list of more bytes than `longest` is
    /// there as `None`, and not read.
    async fn read(
        &self,
        segments: &[Segment],
        wanted: impl Iterator<Item = (i64, i64)>,
        longest: i32,
    ) -> Result<Vec<Lists>> {
        let mut lists: Vec<Lists> = segments.iter().map(|_| Lists::default()).collect();
        let mut rows = Rows::new(self.store.backend, &[("segment_id", Type::Int), ("gram", Type::Int)]);
        wanted.for_each(|(segment, gram)| rows.push([segment.into(), gram.into()]));
        if rows.is_empty() {
            return Ok(lists);
        }
        let (rows, values) = rows.behind([Vec::<u8>::new().into()]);
        // A sub-select, so that every database makes one look-up by key for each list. No list is empty, and neither
        // database reads a list to know its length.
        let select = format!(
            "SELECT segment_id, gram, (
                SELECT CASE WHEN length(places) <= {longest} THEN places ELSE $1 END FROM contact_gram
                WHERE contact_gram.segment_id = wanted.segment_id AND contact_gram.gram = wanted.gram
             ) FROM {rows} AS wanted"
        );
        for (id, gram, places) in fetch::<(i64, i64, Option<Vec<u8>>)>(self.snapshot, select, values).await? {
            let index = segments.iter().position(|segment| segment.id == id);
            if let (Some(lists), Some(places)) = (index.and_then(|index| lists.get_mut(index)), places) {
                lists.insert(gram, (!places.is_empty()).then_some(places));
            }
        }
        Ok(lists)
    }

    /// Adds the `doubted` contacts whose texts contain the searched text.
    async fn read_texts(&mut self, doubted: &BTreeSet<u32>) -> Result<()> {
        let rows = Rows::of_ordinals(self.store.backend, doubted.iter().copied());
        if rows.is_empty() {
            return Ok(());
        }
        let (rows, values) = rows.select(2);
        let (condition, texts) = self.search.condition(2 + values.len());
        let select = format!(
            "SELECT string_agg(CAST(wanted.ordinal AS TEXT), ',') FROM {rows} AS wanted WHERE (
                SELECT {condition} FROM contact
                WHERE contact.company_id = $1 AND contact.ordinal = wanted.ordinal
             )"
        );
        let values = std::iter::once(self.company.into()).chain(values).chain(texts);
        for number in listed(self.snapshot, select, values).await? {
            self.found.push(ordinal(number)?);
        }
        Ok(())
    }
}

impl Term {
    /// Where each of its words is, by these lists.
    fn find(&self, lists: &Lists) -> Vec<Found> {
        self.words.iter().map(|word| word.find(lists)).collect()
    }
}

/// The contacts of a segment that have a word, or several, by their order in the segment.
#[derive(Debug, Default, PartialEq, Eq)]
struct Matches {
    /// They have it.
    certain: Vec<u32>,
    /// No others have it; `None` while every contact may.
    possible: Option<Vec<u32>>,
}

impl Matches {
    /// The contacts that have any of the words that were found like this.
    fn of(found: Vec<Found>, lengths: &[u8]) -> Self {
        let (mut certain, mut possible) = (Vec::new(), Some(Vec::new()));
        for found in found {
            let (contacts, is_certain) = match found {
                Found::Contacts(contacts) => (contacts, true),
                Found::Places { places, is_certain } => (contacts_at(&places, lengths), is_certain),
                Found::Unread => {
                    possible = None;
                    continue;
                }
            };
            if is_certain {
                certain = united(certain, contacts.clone());
            }
            possible = possible.map(|others| united(others, contacts));
        }
        Self { certain, possible }
    }

    /// The contacts that have both.
    fn and(self, other: Self) -> Self {
        let possible = match (self.possible, other.possible) {
            (Some(one), Some(other)) => Some(common(one, &other)),
            (one, other) => one.or(other),
        };
        Self { certain: common(self.certain, &other.certain), possible }
    }
}

/// The numbers of one ascending list that the other one has, too.
fn common(mut one: Vec<u32>, other: &[u32]) -> Vec<u32> {
    let mut other = other.iter().copied().peekable();
    one.retain(|number| {
        while other.next_if(|other| other < number).is_some() {}
        other.peek() == Some(number)
    });
    one
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_with_all_words_is_certain_only_if_each_word_is() {
        let found = |numbers: &[u32]| vec![Found::Contacts(numbers.to_vec())];
        // Contacts of two characters each, and a gap.
        let lengths = [3; 8];
        let places = |contacts: &[u32], is_certain| {
            let places = contacts.iter().map(|contact| contact * 3).collect();
            vec![Found::Places { places, is_certain }]
        };
        let both = |one, other| Matches::of(one, &lengths).and(Matches::of(other, &lengths));
        let matches = |certain: &[u32], possible: Option<&[u32]>| Matches {
            certain: certain.to_vec(),
            possible: possible.map(<[u32]>::to_vec),
        };
        for (one, other, expected) in [
            (found(&[1, 2, 5]), found(&[2, 5, 7]), matches(&[2, 5], Some(&[2, 5]))),
            (found(&[1, 2, 5]), places(&[2, 4], false), matches(&[], Some(&[2]))),
            (found(&[1, 2]), vec![Found::Unread], matches(&[], Some(&[1, 2]))),
            (vec![Found::Unread], vec![Found::Unread], matches(&[], None)),
            (places(&[0, 7], true), places(&[7], true), matches(&[7], Some(&[7]))),
            (
                [found(&[1]), places(&[3], false)].into_iter().flatten().collect(),
                found(&[1, 3]),
                matches(&[1], Some(&[1, 3])),
            ),
        ] {
            assert_eq!(both(one, other), expected);
        }
    }

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
