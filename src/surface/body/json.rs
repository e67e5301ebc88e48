//! JSON bodies, read without a tree of the whole body.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapDeserializer;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

use crate::domain::body::{MOST_COMPARED, refuse_misspelled};
use crate::domain::json::Measure;
use crate::error::{Code, Refusal};

/// How deep a body may be nested: far deeper than any that is understood.
const MOST_DEPTH: usize = 128;
/// The longest sentence about a fault, in characters: the faulty value is quoted in it.
const SENTENCE: usize = 300;

/// The text of a body that is a JSON object. Nothing is made of it.
///
/// # Errors
///
/// A sentence when the body is anything else.
pub(crate) fn object(body: &[u8]) -> Result<&str, String> {
    let unreadable = |wrong: &dyn fmt::Display| format!("the body is not a readable JSON object: {wrong}");
    let text = std::str::from_utf8(body).map_err(|wrong| unreadable(&wrong))?;
    serde_json::from_str::<IgnoredAny>(text).map_err(|wrong| unreadable(&wrong))?;
    if !text.trim_ascii_start().starts_with('{') {
        return Err("the body is not a JSON object".to_owned());
    }
    if Measure::of(text).depth > MOST_DEPTH {
        return Err(format!("the body is nested deeper than {MOST_DEPTH} levels"));
    }
    Ok(text)
}

/// Reads the known fields of an object. Unknown ones are skipped; of a field that is given twice, the last one counts.
///
/// # Errors
///
/// `unknown_field` for another spelling of a known one; then `invalid_field`, with a sentence about the first field of a wrong
/// type.
pub(crate) fn fields<'de, T: Deserialize<'de>>(object: &'de str) -> Result<T, Refusal> {
    let mut misspelled = None;
    let read = T::deserialize(Object { text: object, misspelled: &mut misspelled });
    if let Some(refusal) = misspelled {
        return Err(refusal);
    }
    read.map_err(|wrong| Refusal::new(Code::InvalidField, sentence(&wrong)))
}

/// Why the items of an array are not read to the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EarlyEnd<E> {
    /// It is no array.
    NoArray,
    /// There is one item too many. It is not read.
    TooMany,
    /// Reading an item failed.
    Failed(E),
}

/// Hands each item of an array to `take` with its position, until there are more than `most`.
///
/// # Errors
///
/// The reason to stop.
pub(crate) fn each<'de, E>(
    array: &'de RawValue,
    most: usize,
    take: impl FnMut(usize, &'de str) -> Result<(), E>,
) -> Result<(), EarlyEnd<E>> {
    let mut stop = None;
    let items = Items { most, take, stop: &mut stop };
    let read = serde_json::Deserializer::from_str(array.get()).deserialize_seq(items);
    match (stop, read) {
        (Some(stop), _) => Err(stop),
        (None, Ok(())) => Ok(()),
        (None, Err(_)) => Err(EarlyEnd::NoArray),
    }
}

/// What is wrong with a value, without its place: it is counted from the beginning of the value, not of the body.
pub(crate) fn sentence(wrong: &serde_json::Error) -> String {
    let said = wrong.to_string();
    let said = said.rfind(" at line ").and_then(|end| said.get(..end)).unwrap_or(&said);
    match said.char_indices().nth(SENTENCE) {
        Some((end, _)) => format!("{}…", said.get(..end).unwrap_or_default()),
        None => said.to_owned(),
    }
}

struct Items<'s, F, E> {
    most: usize,
    take: F,
    stop: &'s mut Option<EarlyEnd<E>>,
}

impl<'de, F, E> Visitor<'de> for Items<'_, F, E>
where
    F: FnMut(usize, &'de str) -> Result<(), E>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let mut seen = 0;
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            let taken = if seen < self.most {
                (self.take)(seen, item.get()).map_err(EarlyEnd::Failed)
            } else {
                Err(EarlyEnd::TooMany)
            };
            if let Err(stop) = taken {
                *self.stop = Some(stop);
                return Err(A::Error::custom("broken off"));
            }
            seen += 1;
        }
        Ok(())
    }
}

/// An object whose fields are found before any of them is read.
struct Object<'de, 'r> {
    text: &'de str,
    /// The refusal of an unknown field, if one is another spelling of a known one.
    misspelled: &'r mut Option<Refusal>,
}

impl<'de> Deserializer<'de> for Object<'de, '_> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        serde_json::Deserializer::from_str(self.text).deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let FoundFields { fields, unknown } =
            serde_json::Deserializer::from_str(self.text).deserialize_map(Known(known))?;
        *self.misspelled = refuse_misspelled(unknown.iter().map(|name| &**name), known).err();
        visitor.visit_map(MapDeserializer::new(fields.into_iter()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of an object.
struct FoundFields<'de> {
    /// The last value of each known field.
    fields: Vec<(&'static str, &'de RawValue)>,
    /// The names of unknown fields that are not `null`: as many as are compared.
    unknown: Vec<Cow<'de, str>>,
}

/// Finds the fields among which are known ones.
#[derive(Clone, Copy)]
struct Known(&'static [&'static str]);

impl<'de> Visitor<'de> for Known {
    type Value = FoundFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
        let mut found = FoundFields { fields: Vec::with_capacity(self.0.len()), unknown: Vec::new() };
        while let Some(Name(name)) = fields.next_key()? {
            let Some(name) = self.0.iter().find(|known| **known == name).copied() else {
                if found.unknown.len() == MOST_COMPARED {
                    fields.next_value::<IgnoredAny>()?;
                } else if fields.next_value::<&RawValue>()?.get() != "null" {
                    found.unknown.push(name);
                }
                continue;
            };
            let value = fields.next_value()?;
            match found.fields.iter_mut().find(|(known, _)| *known == name) {
                Some((_, last)) => *last = value,
                None => found.fields.push((name, value)),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Pair {
        first: Option<String>,
        second: u64,
    }

    fn pair(text: &str) -> Result<Pair, String> {
        fields(object(text.as_bytes()).unwrap()).map_err(|refusal| refusal.sentence)
    }

    #[test]
    fn another_spelling_of_a_field_is_refused_before_any_field_is_read() {
        let refused = |text: &str| fields::<Pair>(text).map_err(|refusal| (refusal.code, refusal.param));
        let of = |name: &str| Err((Code::UnknownField, Some(name.to_owned())));
        assert_eq!(refused(r#"{"frist":"a","second":"x"}"#), of("frist"));
        assert_eq!(refused(r#"{"Second":1}"#), of("Second"));
        assert_eq!(refused(r#"{"frist":null,"second":1}"#), Ok(Pair { first: None, second: 1 }));
    }

    #[test]
    fn the_last_one_of_a_field_counts_and_unknown_fields_are_skipped() {
        let read =
            pair(r#"{"second":1,"other":{"second":[1e999]},"second":2,"firs\u0074":null,"first":"a"}"#);
        assert_eq!(read, Ok(Pair { first: Some("a".to_owned()), second: 2 }));
        assert_eq!(pair("{}"), Err("missing field `second`".to_owned()));
        let wrong = pair(r#"{"second":"x"}"#);
        assert_eq!(wrong, Err(r#"invalid type: string "x", expected u64"#.to_owned()));
        let long = pair(&format!(r#"{{"second":"{}"}}"#, "x".repeat(10_000))).unwrap_err();
        assert_eq!(long.chars().count(), SENTENCE + 1);
    }

    #[test]
    fn a_body_that_is_no_object_is_told_from_one_with_wrong_fields() {
        for body in ["", " ", "7", "[]", "null", "{", "{}{}", "{\"a\":\u{1}}", "{'a':1}", "\u{feff}{}"] {
            assert!(object(body.as_bytes()).is_err(), "{body}");
        }
        assert!(object(b"{\"a\":\"\xff\"}").is_err());
        let nested = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert!(object(nested(MOST_DEPTH - 1).as_bytes()).is_ok());
        assert!(object(nested(MOST_DEPTH).as_bytes()).is_err());
        assert!(object(nested(1_000_000).as_bytes()).is_err());
        assert!(object(b" \n{\"a\":[1]} ").is_ok());
    }

    #[test]
    fn an_array_is_read_up_to_the_first_item_too_many() {
        let read = |text: &str, most: usize| {
            let mut taken = Vec::new();
            let array: &RawValue = serde_json::from_str(text).unwrap();
            let stop = each(array, most, |place, item| {
                taken.push(item.to_owned());
                if item == "false" { Err(place) } else { Ok(()) }
            });
            (taken.len(), stop)
        };
        assert_eq!(read(r#"[1,"a",{"b":[2]}]"#, 3), (3, Ok(())));
        let many = format!("[{}]", vec!["{}"; 100_000].join(","));
        assert_eq!(read(&many, 3), (3, Err(EarlyEnd::TooMany)), "what comes after the bound is not read");
        assert_eq!(read("[1,false,2]", 3), (2, Err(EarlyEnd::Failed(1))));
        assert_eq!(read("[]", 0), (0, Ok(())));
        for text in ["7", "null", "{}", "\"[]\""] {
            assert_eq!(read(text, 3), (0, Err(EarlyEnd::NoArray)), "{text}");
        }
    }
}
