//! One field of a body as raw JSON text, examined without building anything from it.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::body::Field;
use crate::error::Refusal;

/// A field whose value is raw text.
pub(super) type Raw<'a, T> = Field<&'a RawValue, T>;

/// The kind of a raw value, one level deep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json<'a> {
    /// `null`, a blank text, or an empty array.
    Absent,
    /// A text.
    Text(Cow<'a, str>),
    /// A text whose escapes are not Unicode.
    BrokenText,
    /// A number, as it was written.
    Number(&'a str),
    /// `true` or `false`.
    Bool,
    /// An array with items.
    Array,
    /// An object.
    Object,
}

impl<'a, T> Field<&'a RawValue, T> {
    /// Examines the value.
    pub(super) fn look(self) -> Json<'a> {
        self.given().map_or(Json::Absent, |raw| Json::look(raw))
    }

    /// The raw text of the value.
    pub(super) fn raw(self) -> &'a str {
        self.given().map_or("null", |raw| raw.get())
    }

    /// The text, if one was given.
    ///
    /// # Errors
    ///
    /// `invalid_field` for any other JSON type.
    pub(super) fn text(self) -> Result<Option<Cow<'a, str>>, Refusal> {
        match self.look() {
            Json::Absent => Ok(None),
            Json::Text(text) => Ok(Some(text)),
            _ => Err(self.wrong_type("a string")),
        }
    }

    /// Whether `true` was given; `null` is `false`.
    ///
    /// # Errors
    ///
    /// `invalid_field` for any other JSON type.
    pub(super) fn flag(self) -> Result<bool, Refusal> {
        Ok(self.choice()?.unwrap_or_default())
    }

    /// `true` or `false`, if one was given.
    ///
    /// # Errors
    ///
    /// `invalid_field` for any other JSON type.
    pub(super) fn choice(self) -> Result<Option<bool>, Refusal> {
        match self.look() {
            Json::Absent => Ok(None),
            Json::Bool => Ok(Some(self.raw() == "true")),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// Visits the one value that was given, or an array's items in turn, until the visitor breaks off.
    pub(super) fn each(self, mut visit: impl FnMut(Json<'a>) -> ControlFlow<()>) {
        let Some(&raw) = self.given() else { return };
        match Json::look(raw) {
            Json::Array => {
                let visitor = Items(|item| visit(Json::look(item)));
                // The array was read once already, so the only error is the visitor's own break.
                let _broken_off = serde_json::Deserializer::from_str(raw.get()).deserialize_seq(visitor);
            }
            one => drop(visit(one)),
        }
    }
}

impl<'a, T> Field<&'a RawValue, T> {
    /// Visits an array's items in turn, as raw text, until the visitor breaks off; none of anything else.
    pub(super) fn items(self, visit: impl FnMut(&'a RawValue) -> ControlFlow<()>) {
        if let (Json::Array, Some(raw)) = (self.look(), self.given()) {
            // The array was read once already, so the only error is the visitor's own break.
            let _broken_off = serde_json::Deserializer::from_str(raw.get()).deserialize_seq(Items(visit));
        }
    }
}

impl<'a> Json<'a> {
    pub(super) fn look(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes().first() {
            // A text without escapes is what stands between its quotes.
            Some(b'"') if text.len() > 1 && !text.as_bytes().contains(&b'\\') => {
                let inside = &text[1..text.len() - 1];
                if inside.trim().is_empty() { Self::Absent } else { Self::Text(Cow::Borrowed(inside)) }
            }
            Some(b'"') => match serde_json::from_str::<Text<'a>>(text) {
                Ok(Text(text)) if text.trim().is_empty() => Self::Absent,
                Ok(Text(text)) => Self::Text(text),
                Err(_) => Self::BrokenText,
            },
            Some(b'[') if text[1..].trim_ascii_start().starts_with(']') => Self::Absent,
            Some(b'[') => Self::Array,
            Some(b'{') => Self::Object,
            Some(b't' | b'f') => Self::Bool,
            Some(b'-' | b'0'..=b'9') => Self::Number(text),
            _ => Self::Absent,
        }
    }
}

/// A text that is copied only when it has escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Hands an array's items to a closure, one at a time, without keeping them.
struct Items<F>(F);

impl<'de, F: FnMut(&'de RawValue) -> ControlFlow<()>> Visitor<'de> for Items<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            if (self.0)(item).is_break() {
                return Err(A::Error::custom("broken off"));
            }
        }
        Ok(())
    }
}
