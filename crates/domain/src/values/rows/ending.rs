//! Ends the recipient that is being added: into the list, or among those that are skipped.

use std::{fmt, io};

use super::{Current, Ended, IN_MEMORY, RowPlace, Rows};
use crate::phone::{InvalidPhone, PhoneNumber};
use crate::request::{SkipCode, Skipped, SkippedEntry};
use crate::values::pack::{put, put_text};

impl Rows {
    /// Ends the recipient, whose number is written in this way. One without a number, or with a value that is too long, is
    /// skipped.
    ///
    /// # Errors
    ///
    /// Those of the spill.
    pub fn end(&mut self, written: &str, skipped: &mut Skipped) -> io::Result<Ended> {
        self.end_as(PhoneNumber::parse(written), written, skipped)
    }

    /// As [`Rows::end`], for a number that was read already, by the rules of a country.
    ///
    /// # Errors
    ///
    /// Those of the spill.
    pub fn end_as(
        &mut self,
        number: Result<PhoneNumber, InvalidPhone>,
        written: &str,
        skipped: &mut Skipped,
    ) -> io::Result<Ended> {
        let unfit = self.current.unfit.take();
        let number = match (number, unfit) {
            (Ok(number), None) => number,
            (Ok(_), Some((field, reason))) => {
                self.leave_out(SkipCode::ValueNotAllowed, (written, &field), &reason, skipped);
                return Ok(Ended::Skipped);
            }
            (Err(invalid), _) => {
                self.leave_out(SkipCode::InvalidNumber, (written, "phone_number"), &invalid, skipped);
                return Ok(Ended::Skipped);
            }
        };
        let index = u32::try_from(self.count).unwrap_or(u32::MAX);
        self.count += 1;
        let shape = self.shape();
        let at = self.spilled + self.bytes.len() as u64;
        let at = u32::try_from(at).map_err(|_| io::Error::other("the recipients' values are over 4 GiB"))?;
        self.places.push(RowPlace { number, at, index });
        let Self { bytes, current: Current { texts, reference, .. }, .. } = self;
        let length = bytes.len()..bytes.len() + size_of::<u32>();
        bytes.extend_from_slice(&[0; size_of::<u32>()]);
        put(bytes, shape as usize);
        put_text(bytes, reference);
        bytes.extend_from_slice(texts);
        let row = (bytes.len() - length.end) as u32;
        bytes[length].copy_from_slice(&row.to_le_bytes());
        self.clear();
        if self.bytes.len() >= IN_MEMORY && self.spill.is_some() {
            self.flush()?;
        }
        Ok(Ended::Added)
    }

    /// Notes that the recipient that is being added is skipped, because a `field` below it, such as `values.order`, cannot be
    /// read. The first reason counts.
    pub fn unfit(&mut self, field: &str, reason: &str) {
        self.current.unfit.get_or_insert_with(|| (field.to_owned(), reason.to_owned()));
    }

    /// Skips a recipient of whom nothing can be read, because a `field` is damaged: `written` is what stands there.
    pub fn skip(&mut self, written: &str, field: &str, reason: &dyn fmt::Display, skipped: &mut Skipped) {
        self.leave_out(SkipCode::ValueNotAllowed, (written, field), reason, skipped);
    }

    /// Counts the recipient that is being added among those that are skipped.
    fn leave_out(
        &mut self,
        code: SkipCode,
        (written, field): (&str, &str),
        reason: &dyn fmt::Display,
        skipped: &mut Skipped,
    ) {
        skipped.push(SkippedEntry::of(code, written, reason).at(self.count, Some(field)));
        self.count += 1;
        self.clear();
    }

    pub(super) fn clear(&mut self) {
        let Current { shape, texts, reference, unfit } = &mut self.current;
        shape.clear();
        texts.clear();
        reference.clear();
        *unfit = None;
    }

    pub(super) fn shape(&mut self) -> u32 {
        let last = self.last_shape;
        if self.shapes.get(last as usize) == Some(&self.current.shape) {
            return last;
        }
        self.last_shape = self.known_shape();
        self.last_shape
    }

    fn known_shape(&mut self) -> u32 {
        if let Some(shape) = self.known_shapes.get(&self.current.shape) {
            return *shape;
        }
        let number = self.shapes.len() as u32;
        self.shapes.push(self.current.shape.clone());
        self.known_shapes.insert(self.current.shape.clone(), number);
        number
    }
}
