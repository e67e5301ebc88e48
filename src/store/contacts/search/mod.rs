//! Searches of contacts: in the index, and one by one among contacts that the index does not have yet.
//!
//! Everything is read in one transaction that sees one state of the database, so that the result is exact while
//! contacts are imported and indexed. Called by the list of contacts.

use sea_orm::{
    AccessMode, ConnectionTrait, DbBackend, IsolationLevel, QueryResult, TransactionOptions, Value,
};
use uuid::Uuid;

use self::gram::Part;
use self::segment::Word;
use crate::domain::contact::digits_pattern;
use crate::domain::fold::{digits, like_anywhere, looks_like_a_number};
use crate::domain::phone::PhoneNumber;
use crate::store::{Error, Result, Store, Transaction};

mod gram;
pub(in crate::store) mod index;
mod indexed;
mod segment;

/// In characters. A longer search has too many grams for the index to help: every contact is read.
const LONGEST_INDEXED: usize = 600;

/// A folded text to search for.
pub(in crate::store) struct Search {
    words: Vec<Word>,
    pattern: String,
    /// For a number, which is also found by its digits, and a whole one by the digits of every form of it.
    digits_patterns: Vec<String>,
    is_indexed: bool,
}

impl Search {
    /// A search for this text. `others` are further numbers of the person whose number it is.
    fn new(text: &str, others: &[PhoneNumber]) -> Self {
        let mut numbers = Vec::new();
        if looks_like_a_number(text) {
            let number = digits(text);
            numbers.extend(others.iter().map(PhoneNumber::to_string).filter(|other| *other != number));
            numbers.push(number);
        }
        let words = [Word::new(Part::Words, text)].into_iter();
        let words = words.chain(numbers.iter().map(|number| Word::new(Part::Digits, number)));
        Self {
            words: words.collect(),
            pattern: like_anywhere(text),
            digits_patterns: numbers.iter().map(|number| digits_pattern(number)).collect(),
            is_indexed: text.chars().count() <= LONGEST_INDEXED,
        }
    }

    /// The number that a text is, if it is a whole one.
    fn number(text: &str) -> Option<PhoneNumber> {
        if looks_like_a_number(text) { PhoneNumber::parse(text).ok() } else { None }
    }

    /// A condition on `contact`, its parameters numbered from `first`, and their values.
    fn condition(&self, first: usize) -> (String, Vec<Value>) {
        let mut condition =
            format!(r"search_text LIKE ${first} ESCAPE '\' OR tag_text LIKE ${first} ESCAPE '\'");
        let mut values = vec![self.pattern.as_str().into()];
        for (pattern, place) in self.digits_patterns.iter().zip(first + 1..) {
            condition.push_str(&format!(r" OR search_text LIKE ${place} ESCAPE '\'"));
            values.push(pattern.as_str().into());
        }
        (condition, values)
    }
}

impl Store {
    /// A search for a folded text. A whole number finds its person under every form of the number.
    pub(in crate::store) async fn search(&self, company: Uuid, text: &str) -> Result<Search> {
        let others = match Search::number(text) {
            Some(number) => self.forms_in(&self.read, company, number).await?,
            None => Vec::new(),
        };
        Ok(Search::new(text, &others))
    }

    /// The ordinals of the contacts of `company` that a search finds, descending; four bytes for each are held.
    pub(in crate::store) async fn found(&self, company: Uuid, search: &Search) -> Result<Vec<u32>> {
        let snapshot = self.snapshot().await?;
        let found = self.found_in(&snapshot, company, search).await;
        snapshot.rollback().await?;
        found
    }

    async fn found_in(&self, snapshot: &Transaction, company: Uuid, search: &Search) -> Result<Vec<u32>> {
        let totals = self.contact_totals(snapshot, company).await?;
        let indexed = if search.is_indexed { totals.indexed } else { 0 };
        let mut found = Vec::new();
        if indexed > 0 {
            let (stale, fresh) = self.stale(snapshot, company, search).await?;
            found = self.find_indexed(snapshot, company, search).await?;
            found.retain(|ordinal| stale.binary_search(ordinal).is_err());
            found.extend(fresh);
        }
        if indexed < totals.contacts {
            self.find_unindexed(snapshot, company, search, indexed, &mut found).await?;
        }
        // Ascending, except for the few that are in no segment: a stable sort only scans the ordered part.
        found.sort();
        // A contact that changed while it was being indexed was read twice.
        found.dedup();
        found.reverse();
        Ok(found)
    }

    /// The contacts for which the index may be outdated, ascending, deleted ones too, and those among them that match.
    async fn stale(
        &self,
        snapshot: &Transaction,
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
        snapshot: &Transaction,
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
    pub(in crate::store) async fn snapshot(&self) -> Result<Transaction> {
        // SQLite's transactions are of this kind anyway.
        let (isolation_level, access_mode) = match self.backend {
            DbBackend::Postgres => (Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)),
            _ => (None, None),
        };
        let options = TransactionOptions { isolation_level, access_mode, ..TransactionOptions::default() };
        Ok(self.read.begin_with_options(options).await?)
    }
}

/// The numbers of a text that the database joined: a row for each number would cost more than finding them.
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
