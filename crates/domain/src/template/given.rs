//! The values for a template's variables in the form in which a request gives them, with the limits of each.
//!
//! Kinds of parts and values that we do not know go to the provider as they are.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use super::component::{Component, Parameter};
use crate::error::Refusal;
use crate::payload::{Node, parts};
use crate::schema::any_of;
use crate::schema_words;

/// A template has at most ten buttons, and a carousel at most ten cards.
pub(super) const MAX_INDEX: u8 = 9;

/// A kind of part or value, in any case. The reader of a part has looked at it before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kind(String);

impl Kind {
    pub(crate) fn read_at(node: &Node<'_>, key: &str) -> Result<Self, Refusal> {
        /// The words of the vocabulary are far shorter.
        const MOST_CHARS: usize = 512;
        node.word(key, MOST_CHARS).map(Self)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

schema_words! {
    HeaderTag = ["header"];
    BodyTag = ["body"];
    ButtonTag = ["button"];
    TextTag = ["text"];
    CurrencyTag = ["currency"];
    DateTimeTag = ["date_time"];
    FileTag = ["image", "video", "document"];
    LocationTag = ["location"];
    PayloadTag = ["payload"];
    CouponCodeTag = ["coupon_code"];
}

/// The position of a button or a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ButtonIndex(pub u8);

impl ButtonIndex {
    pub(crate) fn read_at(node: &Node<'_>, key: &str) -> Result<Self, Refusal> {
        index(node, key, "the button's").map(Self)
    }
}

impl PartialSchema for ButtonIndex {
    fn schema() -> RefOr<Schema> {
        let number = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
            .minimum(Some(0))
            .maximum(Some(MAX_INDEX));
        let digit = ObjectBuilder::new().schema_type(Type::String);
        let about = format!("From 0 to {MAX_INDEX}.");
        OneOfBuilder::new().description(Some(about)).item(number).item(digit).into()
    }
}

impl ToSchema for ButtonIndex {}

/// Degrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Coordinate {
    /// As a number.
    Number(f64),
    /// As text.
    Text(String),
}

/// A position, as a number or as text.
pub(super) fn index(node: &Node<'_>, key: &str, whose: &str) -> Result<u8, Refusal> {
    let given =
        node.at(key).ok_or_else(|| node.missing(key, format_args!("give {whose} position, from 0")))?;
    let index = match given.value() {
        Value::String(digits) => digits.trim().parse::<u8>().ok(),
        Value::Number(number) => number.as_u64().and_then(|index| u8::try_from(index).ok()),
        _ => None,
    };
    index
        .filter(|&index| index <= MAX_INDEX)
        .ok_or_else(|| given.refuse(format_args!("must be {whose} position, from 0 to {MAX_INDEX}")))
}

parts! {
    /// The values for the header.
    pub struct TemplateHeader {
        r#type: kind(HeaderTag),
        /// One text, file or location.
        parameters: many(Parameter, 256)?,
    }

    /// The values for the text.
    pub struct TemplateBody {
        r#type: kind(BodyTag),
        /// One for each variable.
        parameters: many(Parameter, 256)?,
    }

    /// The value for one button.
    pub struct TemplateButton {
        r#type: kind(ButtonTag),
        /// What the button does: `url`, `quick_reply`, `copy_code`, or another word of the provider.
        #[schema(example = "url")]
        sub_type: word(512),
        /// Its position among the template's buttons.
        index: own(ButtonIndex),
        /// A text for `url`, a payload for `quick_reply`, a coupon code for `copy_code`.
        parameters: many(Parameter, 256)?,
    }

    /// A kind of component that this service does not know, in the provider's form.
    pub struct TemplateOther {
        /// The kind of part.
        #[schema(value_type = String, example = "limited_time_offer")]
        r#type: own(Kind),
    }

    /// A piece of text.
    pub struct TextParameter {
        r#type: kind(TextTag),
        /// On one line, without tabs, with at most four spaces in a row.
        #[schema(example = "Ana")]
        text: text(32768),
        /// The variable's name, if the template names its variables.
        #[schema(example = "first_name")]
        parameter_name: text(512)?,
    }

    /// An amount of money.
    pub struct CurrencyParameter {
        r#type: kind(CurrencyTag),
        /// The amount.
        currency: one(Currency),
        /// The variable's name, if the template names its variables.
        parameter_name: text(512)?,
    }

    /// An amount of money, in the provider's form.
    pub struct Currency {
        /// The text that is shown when the amount cannot be formatted for the recipient.
        #[schema(example = "R$ 19,90")]
        fallback_value: text(32768),
        /// ISO 4217.
        #[schema(example = "BRL")]
        code: any(String)?,
        /// The amount times 1,000.
        #[schema(example = 19900)]
        amount_1000: any(i64)?,
    }

    /// A date and time in words.
    pub struct DateTimeParameter {
        r#type: kind(DateTimeTag),
        /// The date and time.
        date_time: one(TemplateDateTime),
        /// The variable's name, if the template names its variables.
        parameter_name: text(512)?,
    }

    /// A date and time in words, in the provider's form.
    pub struct TemplateDateTime {
        /// The text that is shown.
        #[schema(example = "25 de fevereiro")]
        fallback_value: text(32768),
    }

    /// A file, as a `link` or an `id`: either here or in the field with the name of its type.
    pub struct FileParameter by hand {
        r#type: kind(FileTag),
        /// Public address of the file, or the `link` of a file of the library.
        link: text(2048)?,
        /// The id of a file that was uploaded to the provider.
        id: text(512)?,
        /// The name that the recipient of a document sees.
        filename: file_name()?,
        /// The file, for `image`.
        image: one(TemplateFile)?,
        /// The file, for `video`.
        video: one(TemplateFile)?,
        /// The file, for `document`.
        document: one(TemplateFile)?,
    }

    /// A file, in the provider's form.
    pub struct TemplateFile by hand {
        /// Public address of the file, or the `link` of a file of the library.
        link: text(2048)?,
        /// The id of a file that was uploaded to the provider.
        id: text(512)?,
        /// The name that the recipient of a document sees.
        filename: file_name()?,
    }

    /// A location on the map.
    pub struct LocationParameter {
        r#type: kind(LocationTag),
        /// The location.
        location: one(TemplateLocation),
    }

    /// A location on the map, in the provider's form.
    pub struct TemplateLocation {
        /// North of the equator.
        latitude: any(Coordinate)?,
        /// East of Greenwich.
        longitude: any(Coordinate)?,
        /// The name of the place.
        name: any(String)?,
        /// The address of the place.
        address: any(String)?,
    }

    /// The payload that the provider reports when a quick reply is pressed.
    pub struct PayloadParameter {
        r#type: kind(PayloadTag),
        /// The client's own words.
        payload: text(512),
    }

    /// The code that a button copies.
    pub struct CouponCodeParameter {
        r#type: kind(CouponCodeTag),
        /// The code.
        coupon_code: text(512),
    }

    /// A kind of value that this service does not know, in the provider's form.
    pub struct OtherParameter {
        /// The kind of value.
        #[schema(value_type = String)]
        r#type: own(Kind),
    }
}

any_of! {
    /// The values for one part of a template.
    Component as "TemplateComponent" = TemplateHeader, TemplateBody, TemplateButton, TemplateOther;
    /// One value. Texts, and values in place of a text, have a `parameter_name` if the template names its variables.
    Parameter as "TemplateParameter" = TextParameter, CurrencyParameter, DateTimeParameter, FileParameter,
        LocationParameter, PayloadParameter, CouponCodeParameter, OtherParameter;
}
