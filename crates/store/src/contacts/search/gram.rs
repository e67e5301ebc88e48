//! Grams: one to three neighbouring characters, and the packed lists that say where each occurs.
//!
//! Pure. Called by [`super::segment`], which indexes texts by them.

use std::hash::Hasher;

/// Bits of one character in a gram's number.
const BITS: u32 = 21;

/// The part of a contact that a text belongs to. Grams of different parts are different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Names, addresses and tags, and the number as it was given.
    Words,
    /// The number's digits.
    Digits,
}

/// The number of a gram of one to three characters, none of them NUL; never zero.
pub(crate) fn number(part: Part, gram: &[char]) -> i64 {
    let three = (0..3).map(|index| gram.get(index).copied().map_or(0, u32::from));
    let number = three.fold(0, |number, character| (number << BITS) | i64::from(character));
    match part {
        Part::Words => number,
        Part::Digits => -number,
    }
}

/// Ascending numbers, each stored as its distance from the previous one, in as few bytes as possible (LEB128).
#[derive(Debug, Default)]
pub(crate) struct List {
    last: u32,
    bytes: Vec<u8>,
}

impl List {
    /// Adds a number that is not below the last one; a repeat of the last one is not added.
    pub(crate) fn push(&mut self, number: u32) {
        if self.bytes.is_empty() || number != self.last {
            pack(&mut self.bytes, number - self.last);
            self.last = number;
        }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Appends a number.
pub(crate) fn pack(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The numbers that [`pack`] appended, in order.
pub(crate) fn unpack(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut bytes = bytes.iter();
    std::iter::from_fn(move || {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *bytes.next()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    })
}

/// The numbers of a [`List`].
pub(crate) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    unpack(bytes).scan(0_u32, |last, distance| {
        *last = last.wrapping_add(distance);
        Some(*last)
    })
}

/// Grams are looked up a hundred times for each contact, and nobody can choose many that collide: mixing by one
/// multiplication is enough.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct GramHasher(u64);

impl Hasher for GramHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 ^ u64::from(*byte)));
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
