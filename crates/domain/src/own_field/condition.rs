//! Conditions on own fields, by which lists of contacts are narrowed, and their one form as text: `city=Rio`, `age>=18`,
//! `birth_date=*`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FieldKey, FieldKind, FieldValue, OwnField, WrongValue, find};

/// The most conditions of a list: each reads the contacts that meet it.
pub const MOST_CONDITIONS: usize = 10;

/// The operators, the longer of two that begin alike first.
const OPERATORS: [&str; 4] = ["!=", ">=", "<=", "="];
/// In place of a value: any.
const ANY: &str = "*";

/// A condition on one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "StoredCondition", try_from = "StoredCondition")]
pub struct FieldCondition {
    /// The field.
    pub key: FieldKey,
    /// What its value must be.
    pub test: FieldTest,
}

/// A condition as it is stored: its text, and what the values of its field were, so that it means the same whatever fields the
/// company has when it is read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCondition {
    condition: String,
    /// Absent for a condition that compares with no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

/// What the value of a field must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldTest {
    /// This value; texts are compared without case and accents.
    Is(FieldValue),
    /// Another value, or none.
    IsNot(FieldValue),
    /// This number or date, or a later one.
    AtLeast(FieldValue),
    /// This number or date, or an earlier one.
    AtMost(FieldValue),
    /// Any value.
    Known,
    /// No value.
    Unknown,
}

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionFault {
    /// It has no operator.
    #[error("is no condition such as `city=Rio`, `city!=Rio`, `age>=18`, `age<=30`, `city=*` or `city!=*`")]
    Form,
    /// The company has no such field.
    #[error("names `{0}`, which is no field of this company: GET /api/v1/contacts/fields lists them")]
    NoSuchField(String),
    /// The value is none of the field.
    #[error("compares `{0}` with a value that {1}")]
    Value(FieldKey, WrongValue),
    /// It has no value to compare with.
    #[error("compares `{0}` with nothing: `{0}!=*` finds the contacts without a value")]
    Nothing(FieldKey),
    /// Texts have no order.
    #[error("compares `{0}`, which is a text: texts have `=` and `!=`")]
    Order(FieldKey),
}

impl FieldCondition {
    /// The condition that a text is, for a company with these fields.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn parse(text: &str, fields: &[OwnField]) -> Result<Self, ConditionFault> {
        let (word, operator, value) = divided(text).ok_or(ConditionFault::Form)?;
        let field = FieldKey::parse(word).and_then(|key| find(fields, key));
        let field = field
            .ok_or_else(|| ConditionFault::NoSuchField(word.chars().take(FieldKey::LONGEST).collect()))?;
        Self::of(field, operator, value)
    }

    /// The condition on a field, by its operator and its value, which may be `*` for any.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn of(field: &OwnField, operator: &str, value: &str) -> Result<Self, ConditionFault> {
        Self::on(field.key, Some(field.kind), operator, value)
    }

    /// The condition on the field of this key. Without the kind of its values, it compares with none.
    fn on(
        key: FieldKey,
        kind: Option<FieldKind>,
        operator: &str,
        value: &str,
    ) -> Result<Self, ConditionFault> {
        let test = match (operator, value, kind) {
            ("=", ANY, _) => FieldTest::Known,
            ("!=", ANY, _) => FieldTest::Unknown,
            (">=" | "<=", _, Some(FieldKind::Text)) => return Err(ConditionFault::Order(key)),
            (_, _, Some(kind)) => {
                let value = kind.exact(value).map_err(|wrong| ConditionFault::Value(key, wrong))?;
                let value = value.ok_or(ConditionFault::Nothing(key))?;
                match operator {
                    "=" => FieldTest::Is(value),
                    "!=" => FieldTest::IsNot(value),
                    ">=" => FieldTest::AtLeast(value),
                    "<=" => FieldTest::AtMost(value),
                    _ => return Err(ConditionFault::Form),
                }
            }
            (_, _, None) => return Err(ConditionFault::Form),
        };
        Ok(Self { key, test })
    }

    /// Whether a company with these fields has the field of the condition, with values of the kind that it compares with.
    pub fn fits(&self, fields: &[OwnField]) -> bool {
        find(fields, self.key).is_some_and(|field| self.kind().is_none_or(|kind| kind == field.kind))
    }

    /// The kind of the value that it compares with.
    const fn kind(&self) -> Option<FieldKind> {
        match &self.test {
            FieldTest::Is(value)
            | FieldTest::IsNot(value)
            | FieldTest::AtLeast(value)
            | FieldTest::AtMost(value) => Some(value.kind()),
            FieldTest::Known | FieldTest::Unknown => None,
        }
    }

    /// The operator and the value of its text.
    pub fn parts(&self) -> (&'static str, String) {
        match &self.test {
            FieldTest::Is(value) => ("=", value.plain()),
            FieldTest::IsNot(value) => ("!=", value.plain()),
            FieldTest::AtLeast(value) => (">=", value.plain()),
            FieldTest::AtMost(value) => ("<=", value.plain()),
            FieldTest::Known => ("=", ANY.to_owned()),
            FieldTest::Unknown => ("!=", ANY.to_owned()),
        }
    }
}

/// The word, the operator and the value of a condition's text.
fn divided(text: &str) -> Option<(&str, &'static str, &str)> {
    // The key has no operator in it, so the first one divides the text.
    let (word, rest) = text.split_at(text.find(['!', '>', '<', '='])?);
    let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator))?;
    Some((word.trim(), operator, rest[operator.len()..].trim()))
}

impl From<FieldCondition> for StoredCondition {
    fn from(condition: FieldCondition) -> Self {
        let kind = condition.kind().map(|kind| kind.as_str().to_owned());
        Self { condition: condition.to_string(), kind }
    }
}

impl TryFrom<StoredCondition> for FieldCondition {
    type Error = &'static str;

    fn try_from(StoredCondition { condition, kind }: StoredCondition) -> Result<Self, Self::Error> {
        /// What a form is that a later version wrote.
        const OTHER: &str = "no condition on a field";
        let kind = kind.map(|word| word.parse::<FieldKind>()).transpose().map_err(|_| OTHER)?;
        let (word, operator, value) = divided(&condition).ok_or(OTHER)?;
        let key = FieldKey::parse(word).ok_or(OTHER)?;
        Self::on(key, kind, operator, value).map_err(|_| OTHER)
    }
}

impl fmt::Display for FieldCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, value) = self.parts();
        write!(f, "{}{operator}{value}", self.key)
    }
}
