//! `recipients` without faults, read in one pass: each character of a large body is looked at as few times as possible.
//!
//! What is unusual, such as a field that is given twice, and all that is wrong is left to the way that names the fault.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{number_of, value_of};
use crate::request::field::{Json, Text};
use crate::request::skipped::Skipped;
use crate::values::{Rows, VALUE_CHARS};

/// The longest value in bytes, as it is written: each of its characters may be a pair of escapes.
const VALUE_BYTES: usize = 12 * VALUE_CHARS + 2;

/// The recipients of an array, not [finished](Rows::finish) yet, and those that are skipped; `None` when it has more than
/// `most`, or one of them has to be looked at closely.
pub(super) fn read(array: &str, most: usize, cleans: bool) -> Option<(Rows, Skipped)> {
    let mut entries = QuickEntries { rows: Rows::new(cleans, None), skipped: Skipped::default(), most };
    serde_json::Deserializer::from_str(array).deserialize_seq(&mut entries).ok()?;
    Some((entries.rows, entries.skipped))
}

struct QuickEntries {
    rows: Rows,
    skipped: Skipped,
    most: usize,
}

impl<'de> Visitor<'de> for &mut QuickEntries {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(QuickEntry(&mut *self))?.is_some() {}
        Ok(())
    }
}

/// The next recipient.
struct QuickEntry<'e>(&'e mut QuickEntries);

impl<'de> DeserializeSeed<'de> for QuickEntry<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for QuickEntry<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let QuickEntries { rows, skipped, most } = self.0;
        if rows.given() >= *most as u64 {
            return Err(A::Error::custom("too many"));
        }
        let mut number: Option<&'de RawValue> = None;
        let (mut has_values, mut has_reference) = (false, false);
        while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
            match &*name {
                "phone_number" if number.is_none() => number = Some(map.next_value()?),
                "values" if !has_values => {
                    has_values = true;
                    map.next_value_seed(QuickValues(&mut *rows))?;
                }
                "reference" if !has_reference => {
                    has_reference = true;
                    match Json::look(map.next_value()?) {
                        Json::Absent => {}
                        Json::Text(reference) => rows.reference(&reference).map_err(A::Error::custom)?,
                        Json::Number(reference) => rows.reference(reference).map_err(A::Error::custom)?,
                        _ => return Err(A::Error::custom("no text")),
                    }
                }
                _ => return Err(A::Error::custom("unusual")),
            }
        }
        let written = number_of(number).ok_or_else(|| A::Error::custom("no number"))?;
        rows.end(&written, skipped).map_err(A::Error::custom)?;
        Ok(())
    }
}

/// The values of the recipient.
struct QuickValues<'r>(&'r mut Rows);

impl<'de> DeserializeSeed<'de> for QuickValues<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for QuickValues<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
            let raw: &'de RawValue = map.next_value()?;
            if raw.get().len() > VALUE_BYTES {
                return Err(A::Error::custom("long"));
            }
            let value = value_of(raw).map_err(A::Error::custom)?;
            self.0.value(&name, &value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
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
        (read(field.raw(), limits.phone_numbers, false), closely.map(|rows| (rows, skipped)))
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
