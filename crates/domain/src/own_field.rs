//! Own fields of contacts: what a company records of people beside their names, addresses and numbers.
//!
//! A company defines them, each with a name that people see and a key that requests and templates use. The key is made
//! once and stays when the field is renamed. Values are texts, numbers or dates, checked where they enter.

mod condition;
mod day;
mod decimal;
mod key;
mod spelling;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::condition::{ConditionFault, FieldCondition, FieldTest, MOST_CONDITIONS};
pub use self::day::Day;
pub use self::decimal::Decimal;
pub use self::key::FieldKey;
use crate::contact::tag_name;
use crate::phone::Country;

/// The most own fields of a company.
pub const MOST_FIELDS: usize = 50;
/// The longest name of a field, in characters.
pub const LONGEST_NAME: usize = 60;
/// The longest text that a field holds, in characters.
pub const LONGEST_TEXT: usize = 500;

crate::worded! {
    /// What the values of a field are.
    pub enum FieldKind {
        /// At most [`LONGEST_TEXT`] characters.
        Text = "text",
        /// A decimal number.
        Number = "number",
        /// A day of the calendar.
        Date = "date",
    }
}

/// The values of a contact, by their fields. A field without a value is absent.
pub type OwnValues = BTreeMap<FieldKey, FieldValue>;

/// A field that a company defined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnField {
    /// Time-ordered id.
    pub id: Uuid,
    /// Unique in the company; never changes.
    pub key: FieldKey,
    /// What people see. Unique in the company, whatever its case.
    pub name: String,
    /// What its values are; never changes.
    #[serde(with = "kind_word")]
    pub kind: FieldKind,
}

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// Never empty.
    Text(String),
    /// A number.
    Number(Decimal),
    /// A day.
    Date(Day),
}

/// Why a text is no value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongValue {
    /// The text is too long.
    #[error("is longer than {LONGEST_TEXT} characters")]
    TooLong,
    /// The text holds a NUL, which PostgreSQL refuses.
    #[error("holds a NUL character")]
    Nul,
    /// It is no number, or has more digits than are kept.
    #[error("is no number such as 12.5, with at most 15 digits, 12 of them before the point and 6 behind it")]
    Number,
    /// A thousand, or a number with three decimals: the text may be both.
    #[error("may be a thousand or have three decimals: write it without a separator of thousands")]
    UnclearNumber,
    /// It is no day.
    #[error("is no date such as 2026-01-31")]
    Date,
    /// The day and the month may be exchanged.
    #[error("may have the day or the month first: write it as 2026-01-31, or say the country of the file")]
    UnclearDate,
}

impl FieldKind {
    /// The value in a text of a program or a form: numbers with a point, dates as `2026-01-31`. `None` for an empty text.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn exact(self, text: &str) -> Result<Option<FieldValue>, WrongValue> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Text => checked(text).map(FieldValue::Text),
            Self::Number => Decimal::parse(text).map(FieldValue::Number).ok_or(WrongValue::Number),
            Self::Date => Day::parse(text).map(FieldValue::Date).ok_or(WrongValue::Date),
        }
        .map(Some)
    }

    /// The value in a cell of a file, as people and spreadsheets write it. The country says whether its dates begin with
    /// the day or the month. `None` for an empty cell.
    ///
    /// # Errors
    ///
    /// What is wrong with the cell. A number or a date that may mean two things is refused, and never guessed.
    pub fn written(self, cell: &str, country: Option<Country>) -> Result<Option<FieldValue>, WrongValue> {
        let cell = cell.trim();
        if cell.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Text => checked(cell).map(FieldValue::Text),
            Self::Number => Decimal::written(cell).map(FieldValue::Number),
            Self::Date => Day::written(cell, country).map(FieldValue::Date),
        }
        .map(Some)
    }
}

fn checked(text: &str) -> Result<String, WrongValue> {
    if text.contains('\0') {
        return Err(WrongValue::Nul);
    }
    // Bytes are compared first, because most texts are short.
    if text.len() > LONGEST_TEXT && text.chars().count() > LONGEST_TEXT {
        return Err(WrongValue::TooLong);
    }
    Ok(text.to_owned())
}

impl FieldValue {
    /// What it is.
    pub const fn kind(&self) -> FieldKind {
        match self {
            Self::Text(_) => FieldKind::Text,
            Self::Number(_) => FieldKind::Number,
            Self::Date(_) => FieldKind::Date,
        }
    }

    /// The value as a program reads it; [`FieldKind::exact`] reads it back.
    pub fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Date(day) => day.to_string(),
        }
    }

    /// The value in a file; [`FieldKind::written`] reads it back, whatever the file's country.
    pub fn in_file(&self) -> String {
        match self {
            Self::Number(number) => number.unmistakable(),
            Self::Text(_) | Self::Date(_) => self.plain(),
        }
    }

    /// The value as people of a template's language write it, such as `pt_BR`.
    pub fn spelled(&self, language: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => spelling::number(*number, language),
            Self::Date(day) => spelling::day(*day, language),
        }
    }
}

/// The name of a field in one form: composed, with plain spaces, without marks that show nothing.
///
/// # Errors
///
/// A sentence when nothing is left, or it is too long, or it has a line end.
pub fn checked_name(name: &str) -> Result<String, String> {
    let name = tag_name(name);
    if name.is_empty() || name.contains(['\n', '\r', '\0']) {
        return Err("a field's name has at least one character, and no line end".to_owned());
    }
    if name.chars().count() > LONGEST_NAME {
        return Err(format!("a field's name has at most {LONGEST_NAME} characters"));
    }
    Ok(name.into_owned())
}

/// The field of this key.
pub fn find(fields: &[OwnField], key: FieldKey) -> Option<&OwnField> {
    fields.iter().find(|field| field.key == key)
}

/// The kind of a field as its word.
mod kind_word {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::FieldKind;

    pub(super) fn serialize<S: Serializer>(kind: &FieldKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FieldKind, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(|_| D::Error::custom("no kind of field"))
    }
}

#[cfg(test)]
mod tests;
