//! The values that a send gives for a template's variables, in the specification's form.
//!
//! A connector translates them; no provider's nesting is kept here, except in values that we do not know
//! ([`Component::Other`], [`Parameter::Other`]), which came from a client who knows the provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The values for one part of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Component {
    /// For the header.
    Header {
        /// One text, file or place.
        parameters: Vec<Parameter>,
    },
    /// For the text.
    Body {
        /// One for each variable.
        parameters: Vec<Parameter>,
    },
    /// For one button.
    Button {
        /// What the button does: `url`, `quick_reply`, `copy_code`, or another word of the provider; lower case.
        sub_type: String,
        /// Its position among the template's buttons, from 0 to 9.
        index: u8,
        /// The values that it needs.
        parameters: Vec<Parameter>,
    },
    /// For the cards of a carousel.
    Carousel {
        /// One for each card of the template.
        cards: Vec<Card>,
    },
    /// For the deadline of a limited-time offer.
    LimitedTimeOffer {
        /// The one deadline.
        parameters: Vec<Parameter>,
    },
    /// A kind that we do not know, in the provider's form.
    #[serde(untagged)]
    Other(Value),
}

/// The values for one card of a carousel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its position among the template's cards, from 0 to 9.
    pub card_index: u8,
    /// The values for its parts; a card has no cards.
    pub components: Vec<Component>,
}

impl Component {
    /// Whether it is a part without values, which counts as not given. Some buttons are given without values: the
    /// provider refuses a template with a flow or a catalogue whose button is not named.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Header { parameters }
            | Self::Body { parameters }
            | Self::LimitedTimeOffer { parameters } => parameters.is_empty(),
            Self::Button { sub_type, parameters, .. } => {
                parameters.is_empty() && matches!(sub_type.as_str(), "url" | "quick_reply" | "copy_code")
            }
            Self::Carousel { .. } | Self::Other(_) => false,
        }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Parameter {
    /// A piece of text.
    Text {
        /// The text; not blank, on one line.
        text: String,
        /// The variable's name, when the template names its variables.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parameter_name: Option<String>,
    },
    /// An amount of money.
    Currency {
        /// `fallback_value`, `code`, `amount_1000`.
        currency: Value,
        /// The variable's name, when the template names its variables.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parameter_name: Option<String>,
    },
    /// A moment in words.
    DateTime {
        /// `fallback_value`.
        date_time: Value,
        /// The variable's name, when the template names its variables.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parameter_name: Option<String>,
    },
    /// A picture.
    Image(Media),
    /// A video.
    Video(Media),
    /// Any other file.
    Document(Media),
    /// A place on the map.
    Location {
        /// `latitude`, `longitude`, `name`, `address`.
        location: Value,
    },
    /// The payload that comes back when a quick reply is pressed.
    Payload {
        /// The client's own words.
        payload: String,
    },
    /// The code that a button copies.
    CouponCode {
        /// The code.
        coupon_code: String,
    },
    /// A kind that we do not know, in the provider's form.
    #[serde(untagged)]
    Other(Value),
}

impl Parameter {
    /// The word for it in refusals.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Text { .. } => "text",
            Self::Currency { .. } => "currency",
            Self::DateTime { .. } => "date_time",
            Self::Image(_) => "image",
            Self::Video(_) => "video",
            Self::Document(_) => "document",
            Self::Location { .. } => "location",
            Self::Payload { .. } => "payload",
            Self::CouponCode { .. } => "coupon_code",
            Self::Other(value) => value.get("type").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }

    /// The name of its variable, if it has one; the outer `None` when the value is not a kind of text.
    pub(super) fn wording(&self) -> Option<Option<&str>> {
        match self {
            Self::Text { parameter_name, .. }
            | Self::Currency { parameter_name, .. }
            | Self::DateTime { parameter_name, .. } => Some(parameter_name.as_deref()),
            _ => None,
        }
    }
}

/// A file for a template's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The source of the file.
    #[serde(flatten)]
    pub source: Source,
    /// The name that the recipient of a document sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// The source of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// At this public address.
    Link(String),
    /// Uploaded to the provider before, under this id.
    Id(String),
}
