//! The texts of a template's values, and which of them may have placeholders.

use std::convert::Infallible;

use serde_json::Value;

use super::super::component::{Component, Parameter, Source};

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPlace {
    /// In a value of type `text`, which may have contact fields and values.
    Text,
    /// In the address of a button, which may have both.
    Address,
    /// As the link of a file, which may have values.
    Link,
    /// Anywhere else.
    Other,
}

/// Calls `visit_text` with every text of the values, those of cards included.
///
/// # Errors
///
/// The first that it returns.
pub(super) fn visit<'a, E>(
    components: &'a [Component],
    visit_text: &mut impl FnMut(&'a str, TextPlace) -> Result<(), E>,
) -> Result<(), E> {
    for component in components {
        let of_text = match component {
            Component::Button { sub_type, .. } if sub_type == "url" => TextPlace::Address,
            _ => TextPlace::Text,
        };
        match component {
            Component::Header { parameters }
            | Component::Body { parameters }
            | Component::LimitedTimeOffer { parameters }
            | Component::Button { parameters, .. } => {
                let each = |parameter: &'a Parameter| visit_parameter(parameter, of_text, visit_text);
                parameters.iter().try_for_each(each)?;
            }
            Component::Carousel { cards } => {
                cards.iter().try_for_each(|card| visit(&card.components, visit_text))?;
            }
            Component::Other(value) => visit_value(value, visit_text)?,
        }
    }
    Ok(())
}

fn visit_parameter<'a, E>(
    parameter: &'a Parameter,
    of_text: TextPlace,
    visit_text: &mut impl FnMut(&'a str, TextPlace) -> Result<(), E>,
) -> Result<(), E> {
    match parameter {
        Parameter::Text { text, .. } => visit_text(text, of_text),
        Parameter::Currency { currency: value, .. }
        | Parameter::DateTime { date_time: value, .. }
        | Parameter::Location { location: value }
        | Parameter::Other(value) => visit_value(value, visit_text),
        Parameter::Image(file) | Parameter::Video(file) | Parameter::Document(file) => {
            match &file.source {
                Source::Link(link) => visit_text(link, TextPlace::Link)?,
                Source::Id(id) => visit_text(id, TextPlace::Other)?,
            }
            file.filename.iter().try_for_each(|name| visit_text(name, TextPlace::Other))
        }
        Parameter::Payload { payload: text } | Parameter::CouponCode { coupon_code: text } => {
            visit_text(text, TextPlace::Other)
        }
    }
}

/// Visits the texts of a value in the provider's form. Its depth is that of a parsed JSON document, which is bounded.
fn visit_value<'a, E>(
    value: &'a Value,
    visit_text: &mut impl FnMut(&'a str, TextPlace) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => visit_text(text, TextPlace::Other),
        Value::Array(items) => items.iter().try_for_each(|item| visit_value(item, visit_text)),
        Value::Object(entries) => entries.values().try_for_each(|entry| visit_value(entry, visit_text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The texts that may have placeholders, with their places.
pub(super) fn texts(components: &[Component]) -> Vec<(&str, TextPlace)> {
    let mut texts = Vec::new();
    let Ok(()) = visit::<Infallible>(components, &mut |text, place| {
        texts.extend((place != TextPlace::Other).then_some((text, place)));
        Ok(())
    });
    texts
}
