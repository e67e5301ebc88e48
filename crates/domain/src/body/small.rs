//! The fields of small bodies, which were read as a tree.

use serde_json::Value;

use super::Field;
use crate::error::{Code, Refusal};
use crate::user;
use clock::Timestamp;

impl<T> Field<Value, T> {
    /// A text without the space around it; `None` when it is absent, null or blank.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else.
    pub fn text(&self) -> Result<Option<&str>, Refusal> {
        match &self.given {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.wrong_type("text")),
        }
    }

    /// A text that must be there.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is absent, or not text.
    pub fn required(&self) -> Result<&str, Refusal> {
        self.text()?.ok_or_else(|| self.missing())
    }

    /// The name of a person or a thing; `None` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it cannot be one.
    pub fn name(&self) -> Result<Option<String>, Refusal> {
        let name = self.text()?.map(user::name).transpose();
        name.map_err(|fault| self.refuse(Code::InvalidField, fault))
    }

    /// A name that must be there.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is absent, or cannot be a name.
    pub fn required_name(&self) -> Result<String, Refusal> {
        self.name()?.ok_or_else(|| self.missing())
    }

    /// A phone number as it was given; `None` when it is absent, null or blank.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything but a text or a number.
    pub fn number(&self) -> Result<Option<String>, Refusal> {
        match &self.given {
            Some(Value::Number(digits)) => Ok(Some(digits.to_string())),
            // The space around a number is skipped by its parser, which may name it in a refusal.
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
            _ => Ok(self.text()?.map(str::to_owned)),
        }
    }

    /// "`name` is missing".
    pub fn missing(&self) -> Refusal {
        self.refuse(Code::InvalidField, "is missing")
    }
}

impl Field<Value, Option<String>> {
    /// A time in RFC 3339; `None` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else.
    pub fn moment(&self) -> Result<Option<Timestamp>, Refusal> {
        let moment = self.text()?.map(Timestamp::parse).transpose();
        moment.map_err(|wrong| self.refuse(Code::InvalidField, wrong))
    }
}

impl Field<Value, Option<bool>> {
    /// `true` or `false`; `None` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else.
    pub fn choice(&self) -> Result<Option<bool>, Refusal> {
        match &self.given {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(is)) => Ok(Some(*is)),
            Some(_) => Err(self.wrong_type("true or false")),
        }
    }

    /// Whether it is `true`; not when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is neither `true` nor `false`.
    pub fn flag(&self) -> Result<bool, Refusal> {
        Ok(self.choice()?.unwrap_or_default())
    }
}

impl<T> Field<Value, Option<Vec<T>>> {
    /// A list, whose items `read` converts; empty when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field`, with what is `expected`, for anything else and when `read` refuses an item.
    pub fn list<I>(&self, expected: &str, read: impl Fn(&str) -> Option<I>) -> Result<Vec<I>, Refusal> {
        let items = match &self.given {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.wrong_type(expected)),
        };
        let item = |item: &Value| item.as_str().and_then(&read).ok_or_else(|| self.wrong_type(expected));
        items.iter().map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Body as _;
    use super::*;

    crate::bodies! {
        /// A body.
        struct Made of Value {
            r#type: String,
            until: Option<String>,
            is_fine: Option<bool>,
            words: Option<Vec<String>>,
        }
    }

    fn made(body: &Value) -> Made {
        Made::take(|name| body.get(name).cloned())
    }

    #[test]
    fn a_wrong_field_is_refused_when_it_is_read_and_not_before() {
        assert_eq!(Made::NAMES, ["type", "until", "is_fine", "words"]);
        let Made { r#type, until, is_fine, words } =
            made(&json!({"type": " a ", "until": "soon", "is_fine": 1, "words": ["a", 1], "other": 1}));
        assert_eq!(r#type.required(), Ok("a"));
        let sentence = |refusal: Refusal| refusal.sentence;
        assert!(until.moment().map_err(sentence).unwrap_err().starts_with("`until` "));
        assert_eq!(is_fine.flag().map_err(sentence), Err("`is_fine` must be true or false".to_owned()));
        let words = words.list("a list of texts", |word| Some(word.to_owned())).map_err(sentence);
        assert_eq!(words, Err("`words` must be a list of texts".to_owned()));
    }

    #[test]
    fn null_blank_and_absent_are_the_same() {
        for body in [json!({}), json!({"type": null, "is_fine": null, "words": null}), json!({"type": " "})] {
            let Made { r#type, until, is_fine, words } = made(&body);
            assert_eq!((r#type.text(), until.moment(), is_fine.flag()), (Ok(None), Ok(None), Ok(false)));
            assert_eq!(words.list("", |_| Some(())), Ok(Vec::new()));
            assert_eq!(r#type.required().map_err(|refusal| refusal.code), Err(Code::InvalidField));
        }
    }
}
