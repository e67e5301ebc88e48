//! Puts two lists together that were read at the same time.

use super::{RowPlace, Rows};
use crate::values::pack::{PackedReader, put};

impl Rows {
    /// Adds the recipients of another list behind these, as if they had been added one by one. Both are in memory, and not
    /// [finished](Rows::finish). `None` for more than [`MOST_NAMES`](super::MOST_NAMES) names, and more than 4 GiB of values.
    pub(crate) fn append(&mut self, other: &Self) -> Option<()> {
        let mut names = Vec::with_capacity(other.names.len());
        for name in &other.names {
            names.push(self.name(name).ok()?);
        }
        let mut shapes = Vec::with_capacity(other.shapes.len());
        for shape in &other.shapes {
            self.current.shape = shape.iter().map(|name| names[usize::from(*name)]).collect();
            shapes.push(self.shape());
        }
        self.clear();
        for RowPlace { number, at, index } in &other.places {
            let (length, rest) = other.bytes.get(*at as usize..)?.split_first_chunk()?;
            let mut row = PackedReader(rest.get(..u32::from_le_bytes(*length) as usize)?);
            let shape = *shapes.get(row.number().ok()?)?;
            let index = u32::try_from(u64::from(*index) + self.count).unwrap_or(u32::MAX);
            let at = u32::try_from(self.bytes.len()).ok()?;
            self.places.push(RowPlace { number: *number, at, index });
            let before = self.bytes.len();
            self.bytes.extend_from_slice(length);
            put(&mut self.bytes, shape as usize);
            self.bytes.extend_from_slice(row.0);
            let length = (self.bytes.len() - before - length.len()) as u32;
            self.bytes[before..before + size_of::<u32>()].copy_from_slice(&length.to_le_bytes());
        }
        self.count += other.count;
        Some(())
    }
}
