//! Walks through a JSON payload and keeps the path, so that a refusal can name it.
//!
//! The parts of interactive payloads and of template components are declared with it: one type each, with its limits. `null`, a blank
//! text and an empty array count as absent, as in the rest of a request.

mod part;

use std::fmt;

use serde_json::Value;

pub use self::part::Limit;
pub(crate) use self::part::{Part, checked, items, one, parts, tags};

use crate::error::{Code, Refusal};
use crate::link::{FILE_NAME_CHARS, NOT_A_FILE_NAME, is_file_name};

/// One value of a payload and the path that led to it.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    path: String,
    code: Code,
}

impl<'a> Node<'a> {
    /// The payload itself; every refusal below it has this code.
    pub(crate) fn root(code: Code, path: impl Into<String>, value: &'a Value) -> Self {
        Self { value, path: path.into(), code }
    }

    /// The JSON value here.
    pub(crate) const fn value(&self) -> &'a Value {
        self.value
    }

    /// "`path` what".
    pub(crate) fn refuse(&self, what: impl fmt::Display) -> Refusal {
        Refusal::of(self.path.as_str(), self.code, what)
    }

    /// "`path.key` is missing: remedy".
    pub(crate) fn missing(&self, key: &str, remedy: impl fmt::Display) -> Refusal {
        Refusal::of(format!("{}.{key}", self.path), self.code, format_args!("is missing: {remedy}"))
    }

    /// The value of this key, unless it is absent.
    pub(crate) fn at(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.get(key).filter(|value| !is_absent(value))?;
        Some(Node { value, path: format!("{}.{key}", self.path), code: self.code })
    }

    /// This value as a text of at most `max` characters.
    pub(crate) fn as_text(&self, max: usize) -> Result<&'a str, Refusal> {
        let text = self.value.as_str().ok_or_else(|| self.refuse("must be a string"))?;
        if text.chars().nth(max).is_some() {
            return Err(self.refuse(format_args!("is longer than {max} characters")));
        }
        Ok(text)
    }

    /// The text under this key, at most `max` characters long.
    pub(crate) fn optional_text(&self, key: &str, max: usize) -> Result<Option<&'a str>, Refusal> {
        self.at(key).map(|node| node.as_text(max)).transpose()
    }

    /// The text under this key, at most `max` characters long, which must be there.
    pub(crate) fn text(&self, key: &str, max: usize) -> Result<&'a str, Refusal> {
        self.optional_text(key, max)?.ok_or_else(|| self.missing(key, "give a text"))
    }

    /// The word of a vocabulary under this key, in small letters: it may be given in any case.
    pub(crate) fn word(&self, key: &str, max: usize) -> Result<String, Refusal> {
        Ok(self.text(key, max)?.trim().to_ascii_lowercase())
    }

    /// The name of a document under this key.
    pub(crate) fn optional_file_name(&self, key: &str) -> Result<Option<&'a str>, Refusal> {
        let Some(node) = self.at(key) else { return Ok(None) };
        let name = node.as_text(FILE_NAME_CHARS)?.trim();
        if is_file_name(name) { Ok(Some(name)) } else { Err(node.refuse(NOT_A_FILE_NAME)) }
    }

    /// The object under this key.
    pub(crate) fn optional_object(&self, key: &str) -> Result<Option<Node<'a>>, Refusal> {
        self.at(key).map(Self::expect_object).transpose()
    }

    /// The object under this key, which must be there.
    pub(crate) fn object(&self, key: &str) -> Result<Node<'a>, Refusal> {
        self.optional_object(key)?.ok_or_else(|| self.missing(key, "give an object"))
    }

    /// The objects of this array, of which there may be at most `max`.
    pub(crate) fn items(&self, max: usize) -> Result<Vec<Node<'a>>, Refusal> {
        let items = self.value.as_array().ok_or_else(|| self.refuse("must be an array"))?;
        if items.len() > max {
            return Err(self.refuse(format_args!("has {} items; at most {max} are allowed", items.len())));
        }
        items
            .iter()
            .enumerate()
            .map(|(index, value)| {
                let path = format!("{}[{index}]", self.path);
                Node { value, path, code: self.code }.expect_object()
            })
            .collect()
    }

    /// The objects of the array under this key: at least one, at most `max`.
    pub(crate) fn items_at(&self, key: &str, max: usize) -> Result<Vec<Node<'a>>, Refusal> {
        self.at(key).ok_or_else(|| self.missing(key, "give at least one"))?.items(max)
    }

    fn expect_object(self) -> Result<Self, Refusal> {
        if self.value.is_object() { Ok(self) } else { Err(self.refuse("must be an object")) }
    }
}

/// Whether a value counts as not given.
pub(crate) fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}
