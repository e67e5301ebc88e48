//! Reads fields in which the provider is inconsistent: ids and numbers come as strings or as numbers, and an
//! unexpected field must not make a whole answer or webhook unreadable.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use domain::phone::PhoneNumber;

/// A text, borrowed from the input if possible. Numbers and booleans are taken as written; an absent value,
/// null, an object or an array is no text. NUL characters are removed, because PostgreSQL stores none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text, if there is one that is not empty.
    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// A whole number, as a string or a number.
    pub(super) fn whole(&self) -> Option<i64> {
        self.get()?.trim().parse().ok()
    }

    /// A boolean, as a string or a boolean.
    pub(super) fn is_true(&self) -> bool {
        self.get() == Some("true")
    }
}

/// The text without NUL characters, which PostgreSQL does not store.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    /// JSON escapes NUL, so a text with NUL is never borrowed.
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(without_nul(text)))))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(if yes { "true" } else { "false" }))))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Text<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Text<'de>, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

/// A phone number, which consists only of digits. Other ids of people (a group, a name of the provider's own)
/// contain digits, too, and are no phone numbers.
pub(super) fn phone_number(text: &Text<'_>) -> Option<PhoneNumber> {
    let digits = text.get().map(|text| text.strip_prefix('+').unwrap_or(text))?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| PhoneNumber::parse(digits).ok()).flatten()
}

/// For `#[serde(deserialize_with)]`: the value if it has the expected form, otherwise nothing.
///
/// # Errors
///
/// Only when the bytes are not JSON.
pub(super) fn if_readable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = <&'de RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// Declares objects of the provider that are borrowed from its JSON. Without one of the texts that it `needs`, an object cannot
/// be read. Other `texts` may be absent, and so may `objects` and `lists` of them, which are left out when they cannot be
/// read. What is `raw` is read later.
macro_rules! fields {
    ($(
        $(#[$about:meta])*
        $visible:vis $name:ident {
            $(needs $($(#[$of_need:meta])* $need:ident),+;)?
            $(texts $($(#[$of_text:meta])* $text:ident),+;)?
            $(objects $($(#[$of_object:meta])* $object:ident: $kind:ident),+;)?
            $(lists $($list:ident: $item:ident),+;)?
            $(raw $($raw:ident),+;)?
        }
    )*) => {$(
        $(#[$about])*
        #[derive(::serde::Deserialize)]
        $visible struct $name<'a> {
            $($(
                #[serde(borrow)]
                $(#[$of_need])*
                $need: $crate::cloud_api::lenient::Text<'a>,
            )+)?
            $($(
                #[serde(borrow, default)]
                $(#[$of_text])*
                $text: $crate::cloud_api::lenient::Text<'a>,
            )+)?
            $($(
                #[serde(borrow, default, deserialize_with = "crate::cloud_api::lenient::if_readable")]
                $(#[$of_object])*
                $object: Option<$kind<'a>>,
            )+)?
            $($(
                #[serde(borrow, default, deserialize_with = "crate::cloud_api::lenient::if_readable")]
                $list: Option<Vec<$item<'a>>>,
            )+)?
            $($(
                #[serde(borrow)]
                $raw: Option<&'a ::serde_json::value::RawValue>,
            )+)?
        }
    )*};
}

pub(super) use fields;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_every_form_and_nothing_makes_it_fail() {
        for (json, expected) in [
            (r#""1065""#, Some("1065")),
            ("1689556908129832", Some("1689556908129832")),
            ("-1", Some("-1")),
            ("1.5", Some("1.5")),
            ("true", Some("true")),
            (r#""\u00e9""#, Some("é")),
            (r#""a\u0000b""#, Some("ab")),
            (r#""""#, None),
            ("null", None),
            (r#"{"a":[1]}"#, None),
            ("[1,[2]]", None),
        ] {
            assert_eq!(serde_json::from_str::<Text<'_>>(json).unwrap().get(), expected, "{json}");
        }
    }

    #[test]
    fn a_number_may_be_written_as_a_text() {
        let whole = |json| serde_json::from_str::<Text<'_>>(json).unwrap().whole();
        assert_eq!(
            (whole("17"), whole(r#"" 17""#), whole("null"), whole(r#""x""#)),
            (Some(17), Some(17), None, None)
        );
    }
}
