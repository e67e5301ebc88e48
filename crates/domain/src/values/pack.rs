//! Blocks of values: what is stored of some hundred recipients, in the order of their ordinals.
//!
//! A block has each name once, each set of names that recipients have (a shape) once, the values of all recipients once, and
//! then for each recipient a shape and its values, each behind its length. So a recipient of a table takes a byte, and a
//! value a byte more than its text.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Lookup, Values};
use crate::block::Damaged;

/// The most recipients of a block: those that are read at once.
pub const BLOCK_ROWS: usize = 512;
/// A block with so many bytes of values takes no further recipient.
pub const BLOCK_BYTES: usize = 256 * 1024;
const VERSION: u8 = 1;

/// Packs the values of consecutive recipients.
#[derive(Debug, Default)]
pub struct Packer {
    names: NameTable,
    shapes: HashMap<Vec<u16>, u32>,
    /// The shapes in the order of their numbers.
    order: Vec<Vec<u16>>,
    /// The shape of the recipient before: most have the same.
    last: u32,
    /// The shape of the row that is being added.
    shape: Vec<u16>,
    rows: Vec<u8>,
    texts: Vec<u8>,
    count: usize,
}

#[derive(Debug, Default)]
struct NameTable {
    known: HashMap<String, u16>,
    order: Vec<String>,
    /// The place of the name that may come next: most recipients have the same names in the same order.
    next: usize,
}

impl NameTable {
    fn number(&mut self, name: &str) -> u16 {
        let number = match self.order.get(self.next) {
            Some(expected) if expected == name => self.next as u16,
            _ => self.found(name),
        };
        self.next = usize::from(number) + 1;
        if self.next >= self.order.len() {
            self.next = 0;
        }
        number
    }

    fn found(&mut self, name: &str) -> u16 {
        if let Some(number) = self.known.get(name) {
            return *number;
        }
        // 512 recipients with 64 values have at most as many names.
        let number = u16::try_from(self.order.len()).unwrap_or(u16::MAX);
        self.known.insert(name.to_owned(), number);
        self.order.push(name.to_owned());
        number
    }
}

impl Packer {
    /// Adds the next recipient, who may have no values.
    pub fn push<'a>(&mut self, values: impl Iterator<Item = (&'a str, &'a str)>) {
        self.shape.clear();
        self.texts.clear();
        for (name, value) in values {
            self.shape.push(self.names.number(name));
            put(&mut self.texts, value.len());
            self.texts.extend_from_slice(value.as_bytes());
        }
        if self.order.get(self.last as usize) != Some(&self.shape) {
            self.last = self.known_shape();
        }
        put(&mut self.rows, self.last as usize);
        self.rows.extend_from_slice(&self.texts);
        self.count += 1;
    }

    fn known_shape(&mut self) -> u32 {
        if let Some(shape) = self.shapes.get(&self.shape) {
            return *shape;
        }
        let number = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        self.shapes.insert(self.shape.clone(), number);
        self.order.push(self.shape.clone());
        number
    }

    /// How many recipients it has.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the next recipient belongs to another block.
    pub const fn is_full(&self) -> bool {
        self.count >= BLOCK_ROWS || self.rows.len() >= BLOCK_BYTES
    }

    /// The block, with the values of all recipients. The packer is empty afterwards.
    pub fn take(&mut self, shared: &Values) -> Vec<u8> {
        let Self { mut names, order, rows, count, .. } = std::mem::take(self);
        let shared: Vec<_> = shared.iter().map(|(name, value)| (names.number(name), value)).collect();
        let mut packed = Vec::with_capacity(rows.len() + 512);
        packed.push(VERSION);
        put(&mut packed, names.order.len());
        names.order.iter().for_each(|name| put_text(&mut packed, name));
        put(&mut packed, shared.len());
        for (name, value) in shared {
            put(&mut packed, name.into());
            put_text(&mut packed, value);
        }
        put(&mut packed, order.len());
        for shape in order {
            put(&mut packed, shape.len());
            shape.into_iter().for_each(|name| put(&mut packed, name.into()));
        }
        put(&mut packed, count);
        packed.extend_from_slice(&rows);
        packed
    }
}

/// A recipient's own values, as a block has them: a block of many becomes a piece of memory for each recipient, and not one for
/// each value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedValues {
    /// Those of all recipients of the same shape.
    names: Arc<[String]>,
    /// Each behind its length.
    texts: Box<[u8]>,
}

impl PackedValues {
    /// These values, of which no two have the same name.
    pub fn of<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for (name, value) in values {
            names.push(name.to_owned());
            put_text(&mut texts, value);
        }
        Self { names: names.into(), texts: texts.into() }
    }

    /// All values with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut reader = PackedReader(&self.texts);
        self.names.iter().filter_map(move |name| Some((name.as_str(), reader.text().ok()?)))
    }
}

impl Lookup for PackedValues {
    fn value(&self, name: &str) -> Option<&str> {
        let place = self.names.iter().position(|known| known == name)?;
        PackedReader(&self.texts).nth_text(place).ok()
    }
}

/// The values of one recipient of a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// The recipient's own.
    pub own: PackedValues,
    /// Those of all recipients.
    pub shared: Arc<Values>,
}

impl Lookup for Unpacked {
    fn value(&self, name: &str) -> Option<&str> {
        self.own.value(name).or_else(|| self.shared.value(name))
    }
}

/// The recipients of a block, in order.
///
/// # Errors
///
/// [`Damaged`] when the bytes are not a block that we packed.
pub fn unpack(packed: &[u8]) -> Result<Vec<Unpacked>, Damaged> {
    let mut reader = PackedReader(packed);
    if reader.byte()? != VERSION {
        return Err(Damaged);
    }
    let mut names = Vec::new();
    for _ in 0..reader.number()? {
        names.push(reader.text()?);
    }
    let name = |number: usize| names.get(number).copied().ok_or(Damaged);
    let mut shared = Values::default();
    for _ in 0..reader.number()? {
        let named = name(reader.number()?)?;
        shared.0.insert(named.to_owned(), reader.text()?.to_owned());
    }
    let shared = Arc::new(shared);
    let mut shapes: Vec<Arc<[String]>> = Vec::new();
    for _ in 0..reader.number()? {
        let mut shape = Vec::new();
        for _ in 0..reader.number()? {
            shape.push(name(reader.number()?)?.to_owned());
        }
        shapes.push(shape.into());
    }
    let mut rows = Vec::new();
    for _ in 0..reader.number()? {
        let names = shapes.get(reader.number()?).ok_or(Damaged)?;
        let beginning = reader.0;
        for _ in 0..names.len() {
            reader.text()?;
        }
        let texts = &beginning[..beginning.len() - reader.0.len()];
        let own = PackedValues { names: Arc::clone(names), texts: texts.into() };
        rows.push(Unpacked { own, shared: Arc::clone(&shared) });
    }
    if reader.0.is_empty() { Ok(rows) } else { Err(Damaged) }
}

/// Adds a number in groups of seven bits, the lowest first.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// Reads what [`put`] and [`put_text`] wrote.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedReader<'a>(pub(super) &'a [u8]);

impl<'a> PackedReader<'a> {
    fn byte(&mut self) -> Result<u8, Damaged> {
        let (first, rest) = self.0.split_first().ok_or(Damaged)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<usize, Damaged> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            if shift > 28 {
                return Err(Damaged);
            }
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.piece()?).map_err(|_| Damaged)
    }

    /// The text behind so many others, which are passed over.
    pub(super) fn nth_text(mut self, place: usize) -> Result<&'a str, Damaged> {
        for _ in 0..place {
            self.piece()?;
        }
        self.text()
    }

    fn piece(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.number()?;
        let (piece, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(piece)
    }
}
