//! A segment of the search index: it lists where each gram occurs in the texts of some thousand contacts, and finds the
//! contacts that contain a word by these lists alone.
//!
//! The texts follow one another. For a gram of one or two characters, the list has the contacts with the gram. For one
//! of three characters, it has every place, so that a longer word is found exactly where its grams follow each other,
//! and no text has to be read. Pure; [`super::index`] stores segments, [`super`] searches them.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::gram::{GramHasher, List, Part, number, numbers, pack, unpack};
use domain::contact::split_search_text;

/// Characters of the longest gram.
const LONGEST: usize = 3;

/// The key of the list of the texts' lengths, which no gram has.
pub(crate) const LENGTHS: i64 = 0;

type Map<T> = HashMap<i64, T, BuildHasherDefault<GramHasher>>;

/// Packed lists by their grams; `None` for a list that was not read yet.
pub(crate) type Lists = Map<Option<Vec<u8>>>;

/// A segment that is being built; contacts are added in their order.
#[derive(Default)]
pub(crate) struct Builder {
    lists: Map<List>,
    lengths: Vec<u8>,
    contacts: u32,
    place: u32,
}

impl Builder {
    /// Adds the next contact: its searched fields, and its tags' names, one per line.
    pub(crate) fn add(&mut self, search_text: &str, tag_text: &str) {
        let begin = self.place;
        let (lines, digits) = split_search_text(search_text);
        for line in lines.split('\n').chain(tag_text.split('\n')) {
            self.line(Part::Words, line);
        }
        self.line(Part::Digits, digits);
        pack(&mut self.lengths, self.place - begin);
        self.contacts += 1;
    }

    fn line(&mut self, part: Part, line: &str) {
        let mut window = ['\0'; LONGEST];
        for (seen, character) in line.chars().enumerate() {
            window = [window[1], window[2], character];
            self.note(number(part, &window[2..]), self.contacts);
            if seen >= 1 {
                self.note(number(part, &window[1..]), self.contacts);
            }
            if seen >= 2 {
                self.note(number(part, &window), self.place - 2);
            }
            self.place += 1;
        }
        // The gap between two lines belongs to no gram.
        self.place += 1;
    }

    fn note(&mut self, gram: i64, number: u32) {
        self.lists.entry(gram).or_default().push(number);
    }

    /// Every list with its gram, ascending, including the list of the lengths.
    pub(crate) fn finish(self) -> Vec<(i64, Vec<u8>)> {
        let lists = self.lists.into_iter().map(|(gram, list)| (gram, list.into_bytes()));
        let mut lists: Vec<_> = lists.chain([(LENGTHS, self.lengths)]).collect();
        lists.sort_unstable_by_key(|(gram, _)| *gram);
        lists
    }
}

/// A searched word, as the grams that cover it.
pub(crate) struct Word {
    /// Each with its distance from the word's first character.
    grams: Vec<(i64, u32)>,
    is_short: bool,
}

/// The places of a word.
pub(crate) enum Found {
    /// In these contacts, by their order in the segment.
    Contacts(Vec<u32>),
    /// At these places; [`contacts_at`] gives their contacts. If it is not certain, the word may be missing at some of
    /// them, but is at no other place.
    Places { places: Vec<u32>, is_certain: bool },
    /// No list of its grams was read.
    Unread,
}

impl Found {
    /// Whether no further list has to be read, if the texts at up to `doubted` places can be read instead.
    pub(crate) fn is_enough(&self, doubted: usize) -> bool {
        match self {
            Self::Contacts(_) => true,
            Self::Places { places, is_certain } => *is_certain || places.len() <= doubted,
            Self::Unread => false,
        }
    }

    /// Whether it leaves so few contacts that their texts can be read.
    pub(crate) fn is_narrow(&self, most: usize) -> bool {
        match self {
            Self::Contacts(contacts) => contacts.len() <= most,
            Self::Places { places, .. } => places.len() <= most,
            Self::Unread => false,
        }
    }

    pub(crate) fn has_places(&self) -> bool {
        matches!(self, Self::Places { places, .. } if !places.is_empty())
    }
}

impl Word {
    /// `text` is folded and not empty.
    pub(crate) fn new(part: Part, text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let last = text.len().saturating_sub(LONGEST);
        let begins = (0..last).step_by(LONGEST).chain([last]);
        let grams = begins.map(|begin| {
            let gram = &text[begin..text.len().min(begin + LONGEST)];
            (number(part, gram), u32::try_from(begin).unwrap_or(u32::MAX))
        });
        Self { grams: grams.collect(), is_short: text.len() < LONGEST }
    }

    /// The lists that [`Word::find`] needs.
    pub(crate) fn grams(&self) -> impl Iterator<Item = i64> {
        self.grams.iter().map(|(gram, _)| *gram)
    }

    /// The lists of its grams that were not read.
    pub(crate) fn unread(&self, lists: &Lists) -> impl Iterator<Item = i64> {
        self.grams().filter(|gram| matches!(lists.get(gram), Some(None)))
    }

    /// Finds the word in the segment of these lists; a gram without a list occurs nowhere.
    pub(crate) fn find(&self, lists: &Lists) -> Found {
        let mut wanted = Vec::new();
        for (gram, distance) in &self.grams {
            match lists.get(gram) {
                Some(Some(list)) => wanted.push((list, *distance)),
                Some(None) => {}
                None => return Found::Contacts(Vec::new()),
            }
        }
        let is_certain = wanted.len() == self.grams.len();
        // The shortest first: each comparison shortens the list for the next.
        wanted.sort_by_key(|(list, _)| list.len());
        let mut wanted = wanted.into_iter();
        let Some((rarest, distance)) = wanted.next() else { return Found::Unread };
        if self.is_short {
            return Found::Contacts(numbers(rarest).collect());
        }
        let mut places: Vec<u32> = numbers(rarest).filter_map(|place| place.checked_sub(distance)).collect();
        for (list, distance) in wanted {
            keep_common(&mut places, numbers(list), distance);
        }
        Found::Places { places, is_certain }
    }
}

/// Keeps the `places` that `others` has at `distance` behind them; both are ascending.
fn keep_common(places: &mut Vec<u32>, mut others: impl Iterator<Item = u32>, distance: u32) {
    let mut other = others.next();
    places.retain(|place| {
        let wanted = place + distance;
        while other.is_some_and(|found| found < wanted) {
            other = others.next();
        }
        other == Some(wanted)
    });
}

/// The contacts whose texts contain the ascending `places`, by the list of [`LENGTHS`]: each contact once, ascending.
pub(crate) fn contacts_at(places: &[u32], lengths: &[u8]) -> Vec<u32> {
    let mut contacts = Vec::new();
    let mut places = places.iter().copied().peekable();
    let mut end = 0;
    for (contact, length) in (0..).zip(unpack(lengths)) {
        end += length;
        if places.next_if(|place| *place < end).is_some() {
            contacts.push(contact);
            while places.next_if(|place| *place < end).is_some() {}
        }
        if places.peek().is_none() {
            break;
        }
    }
    contacts
}

#[cfg(test)]
mod tests;
