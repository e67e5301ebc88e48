//! The components of a template as the provider reads them.
//!
//! They are written for each message of a send whose recipients have values of their own: without a tree.

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use domain::template::{Card, Component, Media, Parameter, Source};

/// A part in the provider's form.
pub(super) struct Provided<'a, T>(&'a T);

/// Parts in the provider's form.
pub(super) struct ProvidedAll<'a, T>(pub(super) &'a [T]);

impl<'a, T> Serialize for ProvidedAll<'a, T>
where
    Provided<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(Provided))
    }
}

impl Serialize for Provided<'_, Component> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (kind, parameters) = match self.0 {
            Component::Header { parameters } => ("header", parameters),
            Component::Body { parameters } => ("body", parameters),
            Component::LimitedTimeOffer { parameters } => ("limited_time_offer", parameters),
            Component::Button { sub_type, index, parameters } => {
                let mut button = to.serialize_map(None)?;
                button.serialize_entry("type", "button")?;
                button.serialize_entry("sub_type", sub_type)?;
                button.serialize_entry("index", &index.to_string())?;
                // The provider refuses an empty array of a button that needs no parameters.
                if !parameters.is_empty() {
                    button.serialize_entry("parameters", &ProvidedAll(parameters))?;
                }
                return button.end();
            }
            Component::Carousel { cards } => {
                let mut carousel = to.serialize_map(None)?;
                carousel.serialize_entry("type", "carousel")?;
                carousel.serialize_entry("cards", &ProvidedAll(cards))?;
                return carousel.end();
            }
            Component::Other(value) => return value.serialize(to),
        };
        let mut component = to.serialize_map(None)?;
        component.serialize_entry("type", kind)?;
        component.serialize_entry("parameters", &ProvidedAll(parameters))?;
        component.end()
    }
}

impl Serialize for Provided<'_, Card> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Card { card_index, components } = self.0;
        let mut card = to.serialize_map(None)?;
        card.serialize_entry("card_index", card_index)?;
        card.serialize_entry("components", &ProvidedAll(components))?;
        card.end()
    }
}

impl Serialize for Provided<'_, Parameter> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Parameter::Text { text, parameter_name } => {
                parameter(to, ("text", text), parameter_name.as_deref())
            }
            Parameter::Currency { currency, parameter_name } => {
                parameter(to, ("currency", currency), parameter_name.as_deref())
            }
            Parameter::DateTime { date_time, parameter_name } => {
                parameter(to, ("date_time", date_time), parameter_name.as_deref())
            }
            Parameter::Image(file) => parameter(to, ("image", &Provided(file)), None),
            Parameter::Video(file) => parameter(to, ("video", &Provided(file)), None),
            Parameter::Document(file) => parameter(to, ("document", &Provided(file)), None),
            Parameter::Location { location } => parameter(to, ("location", location), None),
            Parameter::Payload { payload } => parameter(to, ("payload", payload), None),
            Parameter::CouponCode { coupon_code } => parameter(to, ("coupon_code", coupon_code), None),
            Parameter::Other(value) => value.serialize(to),
        }
    }
}

/// Writes a parameter, whose value stands in a field that is called like its type.
fn parameter<S: Serializer>(
    to: S,
    (kind, value): (&str, &impl Serialize),
    name: Option<&str>,
) -> Result<S::Ok, S::Error> {
    let mut parameter = to.serialize_map(None)?;
    parameter.serialize_entry("type", kind)?;
    parameter.serialize_entry(kind, value)?;
    if let Some(name) = name {
        parameter.serialize_entry("parameter_name", name)?;
    }
    parameter.end()
}

impl Serialize for Provided<'_, Media> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Media { source, filename } = self.0;
        let mut file = to.serialize_map(None)?;
        match source {
            Source::Link(link) => file.serialize_entry("link", link)?,
            Source::Id(id) => file.serialize_entry("id", id)?,
        }
        if let Some(filename) = filename {
            file.serialize_entry("filename", filename)?;
        }
        file.end()
    }
}
