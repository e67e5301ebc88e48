//! The fields `recipients`, `values`, `parameters`, `clean` and `on_skipped`: values that a request gives.

mod halves;
pub(super) mod quick;
pub(super) mod scanner;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use self::scanner::JsonScanner;
use super::Limits;
use super::audience::{OnSkipped, Personal};
use super::field::{Json, Raw, Text};
use super::shape::Number;
use super::skipped::{Skipped, beginning};
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::template::ShortForm;
use crate::values::{MOST_VALUES, RowFault, Rows, Values, is_value_name};

/// The most bytes of an entry's `values`: each name and value with every character escaped.
const VALUES_BYTES: usize = MOST_VALUES * (1_024 + 40) * 12 + 1024;

/// A recipient with values of their own.
#[derive(ToSchema)]
pub struct GivenRecipient {
    /// A number in international format.
    #[schema(example = "+5511988887777")]
    pub phone_number: Number,
    /// What stands for `{{value.NAME}}` in this recipient's message, before the `values` of all: at most 64 of at most 1,024
    /// characters. Names are of lower-case letters, digits and underscores.
    pub values: Option<BTreeMap<String, GivenValue>>,
    /// Your own name for the message, such as an order's number: returned with its results and in events. Nobody receives it.
    #[schema(max_length = 128, example = "crm-77")]
    pub reference: Option<String>,
}

/// A value: numbers and booleans become text.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum GivenValue {
    /// As text.
    Text(String),
    /// As a number.
    Number(f64),
    /// As a boolean.
    Flag(bool),
}

/// The fields.
#[derive(Clone, Copy)]
pub(super) struct PersonalFields<'a> {
    pub(super) recipients: Raw<'a, Option<Vec<GivenRecipient>>>,
    pub(super) values: Raw<'a, Option<BTreeMap<String, GivenValue>>>,
    pub(super) parameters: Raw<'a, Option<Vec<String>>>,
    pub(super) clean: Raw<'a, Option<bool>>,
    pub(super) on_skipped: Raw<'a, Option<String>>,
}

/// The names of the fields that have an effect in every request with values.
pub(super) const OF_ALL: &[&str] = &["recipients", "values", "clean", "on_skipped"];

impl<'a> PersonalFields<'a> {
    /// The fields of a request to one recipient.
    pub(super) const fn of_one(
        values: Raw<'a, Option<BTreeMap<String, GivenValue>>>,
        clean: Raw<'a, Option<bool>>,
    ) -> Self {
        Self {
            recipients: Raw::new("recipients", None),
            values,
            parameters: Raw::new("parameters", None),
            clean,
            on_skipped: Raw::new("on_skipped", None),
        }
    }

    /// Whether the request gives values, so that its texts have placeholders.
    pub(super) fn are_given(self) -> bool {
        self.recipients.given().is_some_and(|raw| raw.get() != "null")
            || self.values.given().is_some_and(|raw| raw.get() != "null")
    }

    /// Whether the content of a request with values has braces only where something is put in their place: nobody is to read
    /// any.
    ///
    /// # Errors
    ///
    /// With the field that has others.
    pub(super) fn check(self, content: &Content) -> Result<(), Refusal> {
        match content.misplaced().filter(|_| self.are_given()) {
            Some((param, code)) => {
                let what = "cannot have placeholders (`{{`) in a request with values: they stand in templates, and in \
                            `message`, `caption` and `link`";
                Err(Refusal::of(param, code, what))
            }
            None => Ok(()),
        }
    }

    /// Reads the fields; `None` for a request without values. `skipped` counts entries that are not numbers.
    ///
    /// # Errors
    ///
    /// `invalid_field` for another JSON type, `invalid_values` for a name that is none and a value that is no text,
    /// `too_many_recipients`.
    pub(super) fn read(self, limits: &Limits, skipped: &mut Skipped) -> Result<Option<Personal>, Refusal> {
        let cleans = self.clean.flag()?;
        let on_skipped = self.on_skipped()?;
        if !self.are_given() {
            return Ok(None);
        }
        let shared = self.shared(cleans)?;
        let entries = self.recipients;
        let quickly = match entries.look() {
            Json::Absent => Some((Rows::new(cleans, None), Skipped::default())),
            Json::Array => {
                let mut json = JsonScanner::new(entries.raw(), 0);
                quick::read(&mut json, limits.phone_numbers, cleans)
            }
            _ => return Err(entries.wrong_type("an array of objects with `phone_number` and `values`")),
        };
        let mut rows = match quickly {
            Some((rows, of_rows)) => {
                skipped.extend(of_rows);
                rows
            }
            None => one_by_one(entries, limits, cleans, skipped)?,
        };
        // Rows in memory can be read.
        let _ = rows.finish(skipped);
        Ok(Some(Personal { rows: Arc::new(rows), shared, on_skipped }))
    }

    /// The short form of a template's values, in a request that gives values.
    ///
    /// # Errors
    ///
    /// `invalid_field` for what is no list of names.
    pub(super) fn short(self) -> Result<ShortForm, Refusal> {
        let names = "a list of the names of values, in the order of the template's variables";
        match self.parameters.look() {
            Json::Absent => return Ok(ShortForm::ByName),
            Json::Array => {}
            _ => return Err(self.parameters.wrong_type(names)),
        }
        let (mut listed, mut is_fine) = (Vec::new(), true);
        self.parameters.each(|entry| {
            is_fine = matches!(&entry, Json::Text(name) if is_value_name(name) && listed.len() < MOST_VALUES);
            if let (Json::Text(name), true) = (entry, is_fine) {
                listed.push(name.into_owned());
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(())
        });
        if is_fine { Ok(ShortForm::Listed(listed)) } else { Err(self.parameters.wrong_type(names)) }
    }

    fn on_skipped(self) -> Result<OnSkipped, Refusal> {
        let Some(word) = self.on_skipped.text()? else { return Ok(OnSkipped::default()) };
        word.trim().parse().map_err(|_| self.on_skipped.refuse(Code::InvalidField, "must be send or refuse"))
    }

    /// The values of all recipients.
    pub(super) fn shared(self, cleans: bool) -> Result<Values, Refusal> {
        let mut values = Values::default();
        match self.values.look() {
            Json::Absent if !self.values.raw().starts_with('[') => return Ok(values),
            Json::Object => {}
            _ => return Err(self.values.wrong_type("an object whose values are texts, numbers or booleans")),
        }
        let raw = self.values.raw();
        // The fault names the field from `values` on.
        each_value(raw, &mut |name, value| values.set(name, value)).map_err(|fault| refusal(&fault, None))?;
        Ok(if cleans { values.cleaned() } else { values })
    }
}

/// The refusal of what is wrong with an entry of `recipients`, or with the values of all.
fn refusal(fault: &RowFault, index: Option<usize>) -> Refusal {
    let RowFault { field, what } = fault;
    let param = index.map_or_else(|| field.clone(), |index| format!("recipients[{index}].{field}"));
    Refusal::of(param, Code::InvalidValues, what)
}

/// An entry of `recipients`, each field as raw text.
#[derive(Default)]
struct RecipientEntry<'a> {
    phone_number: Option<&'a RawValue>,
    values: Option<&'a RawValue>,
    reference: Option<&'a RawValue>,
    unknown: Option<String>,
}

impl<'de> Deserialize<'de> for RecipientEntry<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RecipientEntry<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RecipientEntry<'de>, A::Error> {
                let mut entry = RecipientEntry::default();
                while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
                    let place = match &*name {
                        "phone_number" => &mut entry.phone_number,
                        "values" => &mut entry.values,
                        "reference" => &mut entry.reference,
                        _ => {
                            entry.unknown = Some(name.into_owned());
                            map.next_value::<&'de RawValue>()?;
                            continue;
                        }
                    };
                    *place = Some(map.next_value()?);
                }
                Ok(entry)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// Reads entries one by one, each closely enough to say what is wrong with it.
fn one_by_one(
    entries: Raw<'_, Option<Vec<GivenRecipient>>>,
    limits: &Limits,
    cleans: bool,
    skipped: &mut Skipped,
) -> Result<Rows, Refusal> {
    let (mut rows, mut result, mut index) = (Rows::new(cleans, None), Ok(()), 0);
    entries.items(|entry| {
        result = if index < limits.phone_numbers {
            add(&mut rows, entry, index, skipped)
        } else {
            let what = format!("has more than {} entries", limits.phone_numbers);
            Err(entries.refuse(Code::TooManyRecipients, what))
        };
        index += 1;
        if result.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    result.map(|()| rows)
}

/// Adds an entry.
fn add(rows: &mut Rows, raw: &RawValue, index: usize, skipped: &mut Skipped) -> Result<(), Refusal> {
    let written = begin(rows, raw, index)?;
    // Rows in memory take every row.
    let _ = rows.end(&written, skipped);
    Ok(())
}

/// Begins a recipient, who stands on a line of a file as an entry of `recipients` does: adds the values and the reference,
/// and returns the number as it is written. After a refusal, `rows` is of no more use.
///
/// # Errors
///
/// `invalid_field`, `unknown_field` and `invalid_values`, as for an entry of `recipients`.
pub fn recipient_of_line<'a>(rows: &mut Rows, line: &'a str) -> Result<Cow<'a, str>, Refusal> {
    let index = usize::try_from(rows.given()).unwrap_or(usize::MAX);
    let raw = serde_json::from_str::<&RawValue>(line).map_err(|wrong| {
        let what = format!("is not a readable JSON object on a line of its own: {wrong}");
        Refusal::of(format!("recipients[{index}]"), Code::InvalidField, what)
    })?;
    begin(rows, raw, index)
}

fn begin<'a>(rows: &mut Rows, raw: &'a RawValue, index: usize) -> Result<Cow<'a, str>, Refusal> {
    let refuse = |field: &str, what: &str| {
        Refusal::of(format!("recipients[{index}]{field}"), Code::InvalidField, what)
    };
    let entry: RecipientEntry<'_> = serde_json::from_str(raw.get())
        .map_err(|_| refuse("", "must be an object with `phone_number`, `values` and `reference`"))?;
    let RecipientEntry { phone_number, values, reference, unknown } = entry;
    if let Some(name) = unknown {
        let what = "is unknown: an entry has `phone_number`, `values` and `reference`";
        let param = format!("recipients[{index}].{}", beginning(&name));
        return Err(Refusal::of(param, Code::UnknownField, what));
    }
    let fault = |fault: RowFault| refusal(&fault, Some(index));
    if let Some(raw) = values {
        match Json::look(raw) {
            Json::Object => {
                each_value(raw.get(), &mut |name, value| rows.value(name, value)).map_err(fault)?;
            }
            Json::Absent if raw.get() == "null" => {}
            _ => {
                return Err(refuse(
                    ".values",
                    "must be an object whose values are texts, numbers or booleans",
                ));
            }
        }
    }
    if let Some(raw) = reference {
        match Json::look(raw) {
            Json::Absent => {}
            Json::Text(reference) => rows.reference(&reference).map_err(fault)?,
            Json::Number(reference) => rows.reference(reference).map_err(fault)?,
            _ => return Err(refuse(".reference", "must be a text of at most 128 characters on one line")),
        }
    }
    number_of(phone_number).ok_or_else(|| refuse(".phone_number", "must be a string or a number"))
}

/// A number as it is written, blank where there is none; `None` for another JSON type.
fn number_of(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    match raw.map_or(Json::Absent, Json::look) {
        Json::Text(text) => Some(text),
        Json::Number(written) if written.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(Cow::Borrowed(written))
        }
        Json::Absent | Json::BrokenText | Json::Number(_) => Some(Cow::Borrowed("")),
        Json::Bool | Json::Array | Json::Object => None,
    }
}

/// The text of a value: numbers and booleans as they are written, and nothing for `null`.
///
/// # Errors
///
/// What is wrong with it, in words that continue its name.
fn value_of(raw: &RawValue) -> Result<Cow<'_, str>, &'static str> {
    match Json::look(raw) {
        Json::Text(value) => Ok(value),
        Json::Number(written) => Ok(Cow::Borrowed(written)),
        Json::Bool => Ok(Cow::Borrowed(raw.get())),
        Json::Absent if !raw.get().starts_with('[') => Ok(Cow::Borrowed("")),
        Json::BrokenText => Err("is not readable text"),
        Json::Absent | Json::Array | Json::Object => Err("must be a text, a number or a boolean"),
    }
}

/// Hands each value of an object to `set`: texts as they are, numbers and booleans as they are written.
fn each_value(raw: &str, set: &mut dyn FnMut(&str, &str) -> Result<(), RowFault>) -> Result<(), RowFault> {
    struct Object<'s>(&'s mut dyn FnMut(&str, &str) -> Result<(), RowFault>, Result<(), RowFault>);
    impl<'de> Visitor<'de> for &mut Object<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
                let raw: &RawValue = map.next_value()?;
                if self.1.is_err() {
                    continue;
                }
                self.1 = match value_of(raw) {
                    Ok(value) => (self.0)(&name, &value),
                    Err(what) => Err(RowFault::of(&name, what)),
                };
            }
            Ok(())
        }
    }
    if raw.len() > VALUES_BYTES {
        return Err(RowFault { field: "values".to_owned(), what: "is too large".to_owned() });
    }
    let mut object = Object(set, Ok(()));
    // The whole body is readable JSON.
    let _ = serde_json::Deserializer::from_str(raw).deserialize_map(&mut object);
    object.1
}
