//! The recipients of a request with their values, taken one by one and kept packed.
//!
//! A recipient takes 16 bytes and its texts, in one piece of memory for all, so that a hundred thousand cost no allocation
//! each. Beyond [`IN_MEMORY`] the texts go to a [`Spill`], which the caller makes: then a million recipients take some 16 MB.

mod ending;
mod joining;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, io};

use super::pack::{PackedReader, put_text};
use super::{Lookup, MOST_VALUES, VALUE_CHARS, VALUE_NAME_CHARS, clean, is_value_name, text};
use crate::block::Damaged;
use crate::phone::PhoneNumber;
use crate::request::{SkipCode, Skipped, SkippedEntry};
use crate::send::Label;

/// The most different names of values in a request.
pub const MOST_NAMES: usize = 1_024;
/// The bytes of texts that are kept in memory.
const IN_MEMORY: usize = 8 * 1024 * 1024;

/// Where the texts of recipients are kept that are too many for memory.
pub trait Spill: fmt::Debug + Send + Sync {
    /// Writes bytes behind those that were written before.
    ///
    /// # Errors
    ///
    /// Those of the place.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Reads bytes that were written, from this offset on.
    ///
    /// # Errors
    ///
    /// Those of the place.
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

/// What is wrong with a request's recipient, so that the request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {what}")]
pub struct RowFault {
    /// The field below the recipient, such as `values.order`.
    pub field: String,
    /// In words that continue "`field`".
    pub what: String,
}

impl RowFault {
    pub(crate) fn of(name: &str, what: impl fmt::Display) -> Self {
        let shown: String = name.chars().take(VALUE_NAME_CHARS).collect();
        Self { field: format!("values.{shown}"), what: what.to_string() }
    }

    pub(super) fn check_name(name: &str) -> Result<(), Self> {
        if is_value_name(name) {
            return Ok(());
        }
        let what = "is no name of a value: write 1 to 40 lower-case letters, digits and underscores";
        Err(Self::of(name, what))
    }

    pub(super) fn twice(name: &str) -> Self {
        Self::of(name, "is given twice")
    }

    pub(super) fn many() -> Self {
        Self { field: "values".to_owned(), what: format!("has more than {MOST_VALUES} values") }
    }
}

/// The recipients of a request. Each is added with [`Rows::value`] and [`Rows::reference`], then [`Rows::end`].
#[derive(Debug, Default)]
pub struct Rows {
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u16>,
    /// The number of the name that may come next: most recipients have the same names in the same order.
    next: usize,
    shapes: Vec<Vec<u16>>,
    known_shapes: HashMap<Vec<u16>, u32>,
    /// The shape of the recipient before: most have the same.
    last_shape: u32,
    places: Vec<RowPlace>,
    /// Where a number was found last: the next one that is looked for is mostly the next one.
    found: AtomicUsize,
    bytes: Vec<u8>,
    /// How many bytes went to the spill.
    spilled: u64,
    spill: Option<Box<dyn Spill>>,
    /// Whether white space in values is folded.
    cleans: bool,
    /// The recipients that were added, those among them that were skipped included.
    count: u64,
    current: Current,
}

/// The recipient that is being added.
#[derive(Debug, Default)]
struct Current {
    shape: Vec<u16>,
    texts: Vec<u8>,
    reference: String,
    unfit: Option<(String, String)>,
}

/// A recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowPlace {
    number: PhoneNumber,
    /// Where its texts begin.
    at: u32,
    /// Which of the request's recipients it is.
    index: u32,
}

/// How adding a recipient ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The recipient is added.
    Added,
    /// It is skipped.
    Skipped,
}

/// The values of a recipient, as they lie in memory.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    names: &'a [Box<str>],
    shape: &'a [u16],
    /// The recipient's own reference; empty for none.
    pub reference: &'a str,
    texts: &'a [u8],
}

impl<'a> RowView<'a> {
    /// The values with their names.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut reader = PackedReader(self.texts);
        self.shape.iter().filter_map(move |name| {
            let text = reader.text().ok()?;
            Some((&**self.names.get(usize::from(*name))?, text))
        })
    }
}

impl Lookup for RowView<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        let is_it = |known: &u16| self.names.get(usize::from(*known)).is_some_and(|known| **known == *name);
        let place = self.shape.iter().position(is_it)?;
        PackedReader(self.texts).nth_text(place).ok()
    }

    fn most_bytes(&self) -> Option<usize> {
        Some(self.texts.len())
    }
}

impl Rows {
    /// No recipients yet. `cleans`: white space in values is folded. Texts beyond 8 MiB go to the `spill`; without one
    /// they stay in memory.
    pub fn new(cleans: bool, spill: Option<Box<dyn Spill>>) -> Self {
        Self { cleans, spill, ..Self::default() }
    }

    /// As [`Rows::new`] without a spill, with room for so many recipients, and bytes of their texts.
    pub(crate) fn with_room(cleans: bool, recipients: usize, bytes: usize) -> Self {
        let (places, bytes) = (Vec::with_capacity(recipients), Vec::with_capacity(bytes));
        Self { cleans, places, bytes, ..Self::default() }
    }

    /// Adds a value of the recipient that is being added. A blank one counts as absent; one that is too long makes the
    /// recipient one that is skipped.
    ///
    /// # Errors
    ///
    /// For a name that is none or was given, more than [`MOST_VALUES`] values, and more than [`MOST_NAMES`] names.
    pub fn value(&mut self, name: &str, value: &str) -> Result<(), RowFault> {
        let number = self.name(name)?;
        if value.trim().is_empty() {
            return Ok(());
        }
        let Current { shape, texts, unfit, .. } = &mut self.current;
        if shape.contains(&number) {
            return Err(RowFault::twice(name));
        }
        if shape.len() >= MOST_VALUES {
            return Err(RowFault::many());
        }
        if value.len() > VALUE_CHARS && value.chars().nth(VALUE_CHARS).is_some() {
            unfit.get_or_insert_with(|| (format!("values.{name}"), text::too_long()));
            return Ok(());
        }
        shape.push(number);
        if self.cleans {
            put_text(texts, &clean(value));
        } else {
            put_text(texts, value);
        }
        Ok(())
    }

    /// The number of a name, which is noted although no recipient may have a value of it: the columns of a file.
    ///
    /// # Errors
    ///
    /// For a name that is none, and more than [`MOST_NAMES`].
    pub fn name(&mut self, name: &str) -> Result<u16, RowFault> {
        let number = match self.names.get(self.next) {
            Some(expected) if **expected == *name => self.next as u16,
            _ => self.known(name)?,
        };
        self.next = usize::from(number) + 1;
        if self.next >= self.names.len() {
            self.next = 0;
        }
        Ok(number)
    }

    fn known(&mut self, name: &str) -> Result<u16, RowFault> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        RowFault::check_name(name)?;
        if self.names.len() >= MOST_NAMES {
            return Err(RowFault::of(name, format_args!("is one of more than {MOST_NAMES} different names")));
        }
        let number = self.names.len() as u16;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        Ok(number)
    }

    /// The reference of the recipient that is being added, without the white space around it.
    ///
    /// # Errors
    ///
    /// For more than 128 characters and more than one line.
    pub fn reference(&mut self, reference: &str) -> Result<(), RowFault> {
        let reference = reference.trim();
        if !reference.is_empty() && !Label::is_reference(reference) {
            let what = "must be a text of at most 128 characters on one line".to_owned();
            return Err(RowFault { field: "reference".to_owned(), what });
        }
        reference.clone_into(&mut self.current.reference);
        Ok(())
    }

    /// Moves what is in memory to the spill.
    fn flush(&mut self) -> io::Result<()> {
        if let Some(spill) = &mut self.spill {
            spill.append(&self.bytes)?;
            self.spilled += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }

    /// Ends the list: brings the recipients into the order of their numbers. One who is given again with other values is
    /// skipped; one who is given again with the same is dropped.
    ///
    /// # Errors
    ///
    /// Those of the spill.
    pub fn finish(&mut self, skipped: &mut Skipped) -> io::Result<()> {
        self.places.sort_unstable_by_key(|place| (place.number, place.index));
        let repeats: Vec<_> = (1..self.places.len())
            .filter(|place| self.places[*place].number == self.places[*place - 1].number)
            .collect();
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for place in repeats {
            let RowPlace { number, index, .. } = self.places[place];
            let beginning = self.places.partition_point(|place| place.number < number);
            self.row(beginning, &mut first)?;
            self.row(place, &mut again)?;
            if first != again {
                let reason = "is given before with other values, which count";
                let entry = SkippedEntry::of(SkipCode::DuplicateRecipient, &format!("+{number}"), &reason);
                skipped.push(entry.at(index.into(), Some("phone_number")));
            }
        }
        self.places.dedup_by_key(|place| place.number);
        Ok(())
    }

    /// Copies the bytes of a row.
    fn row(&self, place: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let at = u64::from(self.places[place].at);
        let mut length = [0; 4];
        self.copy(at, &mut length)?;
        into.resize(u32::from_le_bytes(length) as usize, 0);
        self.copy(at + 4, into)
    }

    fn copy(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match (at.checked_sub(self.spilled), &self.spill) {
            (None, Some(spill)) => spill.read(at, into),
            (at, _) => {
                let from = usize::try_from(at.unwrap_or_default()).unwrap_or(usize::MAX);
                let found = self.bytes.get(from..).and_then(|bytes| bytes.get(..into.len()));
                into.copy_from_slice(found.ok_or_else(|| io::Error::other(Damaged))?);
                Ok(())
            }
        }
    }

    /// The recipients, ascending once the list is [finished](Rows::finish).
    pub fn phone_numbers(&self) -> impl Iterator<Item = PhoneNumber> {
        self.places.iter().map(|place| place.number)
    }

    /// Whether a [finished](Rows::finish) list has this number.
    pub fn has(&self, number: PhoneNumber) -> bool {
        self.place(number).is_some()
    }

    fn place(&self, number: PhoneNumber) -> Option<usize> {
        let last = self.found.load(Ordering::Relaxed);
        let is_at = |place: &usize| self.places.get(*place).is_some_and(|found| found.number == number);
        let place = [last + 1, last].into_iter().find(is_at);
        let place = place.or_else(|| self.places.binary_search_by_key(&number, |place| place.number).ok())?;
        self.found.store(place, Ordering::Relaxed);
        Some(place)
    }

    /// How many recipients there are.
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many recipients were given, whether they were skipped or not.
    pub const fn given(&self) -> u64 {
        self.count
    }

    /// The names of values, in the order in which they came.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The row of a number, and which of the request's recipients it is; `None` for a number that is not in the list.
    /// `memory` is reused from row to row.
    ///
    /// # Errors
    ///
    /// Those of the spill.
    pub fn find<'a>(
        &'a self,
        number: PhoneNumber,
        memory: &'a mut Vec<u8>,
    ) -> io::Result<Option<(u64, RowView<'a>)>> {
        let Some(place) = self.place(number) else { return Ok(None) };
        self.row(place, memory)?;
        let damaged = |_: Damaged| io::Error::other(Damaged);
        let mut reader = PackedReader(memory);
        let shape = reader.number().map_err(damaged)?;
        let reference = reader.text().map_err(damaged)?;
        let shape = self.shapes.get(shape).ok_or_else(|| io::Error::other(Damaged))?;
        let view = RowView { names: &self.names, shape, reference, texts: reader.0 };
        Ok(Some((self.places[place].index.into(), view)))
    }
}

impl PartialEq for Rows {
    /// Compares lists that are in memory.
    fn eq(&self, other: &Self) -> bool {
        (&self.names, &self.shapes, &self.places, &self.bytes, self.spilled)
            == (&other.names, &other.shapes, &other.places, &other.bytes, other.spilled)
    }
}

impl Eq for Rows {}
