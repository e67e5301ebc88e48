//! `recipients` without faults, read in one pass: each character of a large body is looked at as few times as possible.
//!
//! What is unusual, such as a field that is given twice, and all that is wrong is left to the way that names the fault.

use std::borrow::Cow;

use super::halves;
use super::scanner::{JsonScanner, Scalar};
use crate::request::skipped::Skipped;
use crate::values::{Rows, VALUE_CHARS};

/// The longest value in bytes, as it is written: each of its characters may be a pair of escapes.
const VALUE_BYTES: usize = 12 * VALUE_CHARS + 2;
/// The fewest bytes of a recipient whose number is one: `{"phone_number":1234567},`.
const ENTRY_BYTES: usize = 25;

/// The recipients of an array, not [finished](Rows::finish) yet, and those that are skipped; `None` when it is no array, has
/// more than `most`, or one of them has to be looked at closely. The halves of a large one are read at the same time.
pub(in crate::request) fn read(
    json: &mut JsonScanner<'_>,
    most: usize,
    cleans: bool,
) -> Option<(Rows, Skipped)> {
    if !json.takes(b'[') {
        return None;
    }
    if json.takes(b']') {
        return Some((Rows::new(cleans, None), Skipped::default()));
    }
    halves::read(json, most, cleans)
}

/// Recipients that were read.
pub(super) struct QuickEntries {
    pub(super) rows: Rows,
    pub(super) skipped: Skipped,
    most: usize,
}

impl QuickEntries {
    /// None yet, with room for those in so many bytes: a recipient takes less than half of what is written. Room that is not
    /// used is no memory yet, and what grows by doubling is copied, and fresh memory cleared, twice.
    pub(super) fn with_room(bytes: usize, most: usize, cleans: bool) -> Self {
        let rows = Rows::with_room(cleans, most.min(bytes / ENTRY_BYTES), bytes / 2);
        Self { rows, skipped: Skipped::default(), most }
    }

    /// Adds recipients, the first of which is next, up to the one that begins at `end`. Returns whether the array has no more.
    pub(super) fn add_until(&mut self, json: &mut JsonScanner<'_>, end: usize) -> Option<bool> {
        loop {
            if self.rows.given() >= self.most as u64 {
                return None;
            }
            entry(json, &mut self.rows, &mut self.skipped)?;
            if json.takes(b']') {
                return Some(true);
            }
            if !json.takes(b',') {
                return None;
            }
            json.peek()?;
            if json.place() == end {
                return Some(false);
            }
        }
    }

    /// Adds those that were read behind these.
    pub(super) fn append(&mut self, behind: Self) -> Option<()> {
        let Self { rows, mut skipped, most: _ } = behind;
        let before = self.rows.given();
        if before + rows.given() > self.most as u64 {
            return None;
        }
        skipped.first.iter_mut().filter_map(|entry| entry.index.as_mut()).for_each(|index| *index += before);
        self.skipped.extend(skipped);
        self.rows.append(&rows)
    }
}

/// The next recipient.
fn entry(json: &mut JsonScanner<'_>, rows: &mut Rows, skipped: &mut Skipped) -> Option<()> {
    let mut number = None;
    let (mut has_values, mut has_reference) = (false, false);
    json.members(|json, name| match name {
        "phone_number" if number.is_none() => {
            number = Some(json.scalar()?);
            Some(())
        }
        "values" if !has_values => {
            has_values = true;
            values(json, rows)
        }
        "reference" if !has_reference => {
            has_reference = true;
            match json.scalar()? {
                Scalar::Text(reference) if !reference.trim().is_empty() => rows.reference(&reference).ok(),
                Scalar::Text(_) | Scalar::Null => Some(()),
                Scalar::Number(reference) => rows.reference(reference).ok(),
                Scalar::Flag(_) => None,
            }
        }
        _ => None,
    })?;
    let written = match number {
        Some(Scalar::Text(text)) if !text.trim().is_empty() => text,
        Some(Scalar::Number(written)) if written.bytes().all(|byte| byte.is_ascii_digit()) => {
            Cow::Borrowed(written)
        }
        None | Some(Scalar::Null | Scalar::Text(_) | Scalar::Number(_)) => Cow::Borrowed(""),
        Some(Scalar::Flag(_)) => return None,
    };
    rows.end(&written, skipped).ok().map(|_| ())
}

/// The values of the recipient.
fn values(json: &mut JsonScanner<'_>, rows: &mut Rows) -> Option<()> {
    json.members(|json, name| {
        let from = json.place();
        let value = json.scalar()?;
        if json.place() - from > VALUE_BYTES {
            return None;
        }
        let added = match value {
            Scalar::Text(value) => rows.value(name, &value),
            Scalar::Number(value) | Scalar::Flag(value) => rows.value(name, value),
            Scalar::Null => rows.value(name, ""),
        };
        added.ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::request::Limits;
    use crate::request::body::Split;
    use crate::request::business::BusinessSend;
    use crate::request::recipients::one_by_one;

    /// What is read of recipients, if it can be.
    type Found = Option<(Rows, Skipped)>;

    /// The recipients of these entries read in one pass, and one by one.
    fn both(entries: &Value) -> (Found, Found) {
        let body = json!({ "recipients": entries }).to_string();
        let split = Split::send(body.as_bytes()).unwrap();
        let (field, limits) = (split.body::<BusinessSend<'_>>().personal().recipients, Limits::default());
        let mut skipped = Skipped::default();
        let closely = one_by_one(field, &limits, false, &mut skipped).ok();
        let mut json = JsonScanner::new(field.raw(), 0);
        (read(&mut json, limits.phone_numbers, false), closely.map(|rows| (rows, skipped)))
    }

    #[test]
    fn one_pass_finds_what_a_close_look_finds() {
        let usual = json!([
            { "phone_number": "+55 11 98888-7777", "values": { "order": 1042, "paid": true, "name": null, "a": "" } },
            { "reference": " crm \u{e9} ", "values": { "order": "A \"1\"\n" }, "phone_number": 351_912_000_001_u64 },
            { "phone_number": "12", "reference": 7 },
            { "phone_number": null, "values": {}, "reference": null },
            { "phone_number": "5511988887778", "values": { "order": "x".repeat(VALUE_CHARS + 1) } },
            {},
        ]);
        let (quickly, closely) = both(&usual);
        assert_eq!(quickly.as_ref().map(|(rows, skipped)| (rows.len(), skipped.count)), Some((2, 4)));
        assert_eq!(quickly, closely);
        for unusual in [
            json!([{ "phone_number": "5511988887777", "values": null }]),
            json!([{ "phone_number": "5511988887777", "values": { "a": "x".repeat(VALUE_BYTES) } }]),
        ] {
            let (quickly, closely) = both(&unusual);
            assert!(quickly.is_none() && closely.is_some(), "{unusual}");
        }
        for wrong in [
            json!(["5511988887777"]),
            json!([{ "phone_number": ["5511988887777"] }]),
            json!([{ "phone_number": "5511988887777", "values": { "A": "x" } }]),
            json!([{ "phone_number": "5511988887777", "values": { "a": [] } }]),
            json!([{ "phone_number": "5511988887777", "value": {} }]),
        ] {
            assert_eq!(both(&wrong), (None, None), "{wrong}");
        }
    }
}
