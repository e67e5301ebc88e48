//! Searches of contacts: in the index, and one by one among contacts that the index does not have yet.
//!
//! Everything is read in one transaction that sees one state of the database, so that the result is exact while
//! contacts are imported and indexed. Called by the list of contacts.

use sea_orm::{AccessMode, ConnectionTrait, DbBackend, IsolationLevel, TransactionOptions, Value};

use self::gram::Part;
use self::segment::Word;
use crate::nouns::ContactIndex;
use crate::{Error, Result, Store, Transaction, fetch_one};
use domain::contact::digits_pattern;
use domain::fold::{digits, like_anywhere, looks_like_a_number};
use domain::phone::PhoneNumber;

mod gram;
pub(crate) mod index;
mod indexed;
mod segment;

/// In characters. A longer search has too many grams for the index to help: every contact is read.
const LONGEST_INDEXED: usize = 600;

/// The words of a search that are looked for one by one; what follows the last one belongs to it. Each is a condition of
/// its own on every contact that is read.
const MOST_WORDS: usize = 8;

/// A folded text to search for: words that a contact has all of, in any order and in any of its fields.
pub(crate) struct Search {
    terms: Vec<Term>,
    is_indexed: bool,
}

/// A word to search for, or a whole number.
struct Term {
    /// What is looked for in the index: any of them.
    words: Vec<Word>,
    pattern: String,
    /// For a number, which is also found by its digits, and a whole one by the digits of every form of it.
    digits_patterns: Vec<String>,
}

impl Search {
    /// A search for this text. `others` are further numbers of the person whose number it is.
    fn new(text: &str, others: &[PhoneNumber]) -> Self {
        let is_indexed = text.chars().count() <= LONGEST_INDEXED;
        // The groups of a number belong together.
        if looks_like_a_number(text) {
            return Self { terms: vec![Term::new(text, others)], is_indexed };
        }
        let mut terms = Vec::new();
        let mut rest = text.trim_start_matches(' ');
        while !rest.is_empty() {
            let (word, behind) = match rest.split_once(' ') {
                Some((word, behind)) if terms.len() + 1 < MOST_WORDS => {
                    (word, behind.trim_start_matches(' '))
                }
                _ => (rest.trim_end_matches(' '), ""),
            };
            terms.push(Term::new(word, &[]));
            rest = behind;
        }
        Self { terms, is_indexed }
    }

    /// The number that a text is, if it is a whole one.
    fn number(text: &str) -> Option<PhoneNumber> {
        if looks_like_a_number(text) { PhoneNumber::parse(text).ok() } else { None }
    }

    /// What is looked for in the index, for all words.
    fn words(&self) -> impl Iterator<Item = &Word> {
        self.terms.iter().flat_map(|term| &term.words)
    }

    /// A condition on `contact`, its parameters numbered from `first`, and their values.
    fn condition(&self, first: usize) -> (String, Vec<Value>) {
        let (mut condition, mut values) = (String::new(), Vec::new());
        for term in &self.terms {
            let and = if condition.is_empty() { "" } else { " AND " };
            let number = first + values.len();
            condition.push_str(&format!(
                r"{and}(search_text LIKE ${number} ESCAPE '\' OR tag_text LIKE ${number} ESCAPE '\'"
            ));
            values.push(term.pattern.as_str().into());
            for (pattern, number) in term.digits_patterns.iter().zip(number + 1..) {
                condition.push_str(&format!(r" OR search_text LIKE ${number} ESCAPE '\'"));
                values.push(pattern.as_str().into());
            }
            condition.push(')');
        }
        (condition, values)
    }
}

impl Term {
    fn new(text: &str, others: &[PhoneNumber]) -> Self {
        let mut numbers = Vec::new();
        if looks_like_a_number(text) {
            let number = digits(text);
            numbers.extend(others.iter().map(PhoneNumber::to_string).filter(|other| *other != number));
            numbers.push(number);
        }
        let words = std::iter::once(Word::new(Part::Words, text));
        let words = words.chain(numbers.iter().map(|number| Word::new(Part::Digits, number)));
        Self {
            words: words.collect(),
            pattern: like_anywhere(text),
            digits_patterns: numbers.iter().map(|number| digits_pattern(number)).collect(),
        }
    }
}

impl ContactIndex<'_> {
    /// A search for a folded text. A whole number finds its person under every form of the number.
    pub(crate) async fn read_search(self, text: &str) -> Result<Search> {
        let others = match Search::number(text) {
            Some(number) => self.store.of(self.company).persons().forms_in(&self.store.read, number).await?,
            None => Vec::new(),
        };
        Ok(Search::new(text, &others))
    }

    /// The ordinals of the contacts of `company` that a search finds, descending; four bytes for each are held.
    pub(crate) async fn found(self, search: &Search) -> Result<Vec<u32>> {
        let snapshot = self.store.snapshot().await?;
        let found = self.found_in(&snapshot, search).await;
        snapshot.rollback().await?;
        found
    }

    async fn found_in(self, snapshot: &Transaction, search: &Search) -> Result<Vec<u32>> {
        let totals = self.store.of(self.company).contacts().totals(snapshot).await?;
        let indexed = if search.is_indexed { totals.indexed } else { 0 };
        let mut found = Vec::new();
        if indexed > 0 {
            let (stale, fresh) = self.stale(snapshot, search).await?;
            found = self.find_indexed(snapshot, search).await?;
            found.retain(|ordinal| stale.binary_search(ordinal).is_err());
            found.extend(fresh);
        }
        if indexed < totals.contacts {
            self.find_unindexed(snapshot, search, indexed, &mut found).await?;
        }
        // Ascending, except for the few that are in no segment: a stable sort only scans the ordered part.
        found.sort();
        // A contact that changed while it was being indexed was read twice.
        found.dedup();
        found.reverse();
        Ok(found)
    }

    /// The contacts for which the index may be outdated, ascending, deleted ones too, and those among them that match.
    async fn stale(self, snapshot: &Transaction, search: &Search) -> Result<(Vec<u32>, Vec<u32>)> {
        let (condition, values) = search.condition(2);
        let select = format!(
            "SELECT string_agg(CAST(contact_stale.ordinal * 2 + CASE WHEN (
                SELECT {condition} FROM contact
                WHERE contact.company_id = $1 AND contact.ordinal = contact_stale.ordinal
             ) THEN 1 ELSE 0 END AS TEXT), ',')
             FROM contact_stale WHERE contact_stale.company_id = $1"
        );
        let values = std::iter::once(self.company.into()).chain(values);
        let numbers = listed(snapshot, select, values).await?;
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
        self,
        snapshot: &Transaction,
        search: &Search,
        from: i64,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        let (condition, values) = search.condition(3);
        let select = format!(
            "SELECT string_agg(CAST(ordinal AS TEXT), ',') FROM contact
             WHERE company_id = $1 AND ordinal >= $2 AND ({condition})"
        );
        let values = [self.company.into(), from.into()].into_iter().chain(values);
        for number in listed(snapshot, select, values).await? {
            found.push(ordinal(number)?);
        }
        Ok(())
    }
}

impl Store {
    /// A transaction that sees one state of the database, whatever is written meanwhile.
    pub(crate) async fn snapshot(&self) -> Result<Transaction> {
        // SQLite's transactions are of this kind anyway.
        let (isolation_level, access_mode) = match self.backend {
            DbBackend::Postgres => (Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)),
            _ => (None, None),
        };
        let options = TransactionOptions { isolation_level, access_mode, ..TransactionOptions::default() };
        Ok(self.read.begin_with_options(options).await?)
    }
}

/// The ordinals of contacts as one text, for [`listed`].
pub(crate) const ORDINALS: &str = "SELECT string_agg(CAST(contact.ordinal AS TEXT), ',') FROM";

/// The numbers of the one text that a query joins: a row for each number would cost more than finding them.
pub(crate) async fn listed(
    on: &impl ConnectionTrait,
    select: impl Into<String>,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<i64>> {
    let text: Option<String> = fetch_one(on, select, values).await?.flatten();
    let text = text.unwrap_or_default();
    let numbers = text.split_terminator(',').map(|number| {
        number.parse().map_err(|_| Error::Impossible(format!("the ordinal {number:?} of a contact")))
    });
    numbers.collect()
}

pub(crate) fn ordinal(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::Impossible(format!("the ordinal {number} of a contact")))
}
