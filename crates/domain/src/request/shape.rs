//! The types of the fields of sends, as the reference shows them. Most values may be given in several ways.

use utoipa::ToSchema;
use uuid::Uuid;

use super::kind::{business_types, web_types};
use crate::message::State;
use crate::schema_words;
use crate::template::Component;

schema_words! {
    /// The type of a message through a business account.
    pub MessageType = business_types();
    /// The type of a message through a web session.
    pub WebMessageType = web_types();
    /// The kind of recipient of a web session.
    pub RecipientType = ["number", "group"];
    /// The states of messages that can be retried.
    pub RetriedState = State::RETRIED.iter().map(|state| state.as_str());
}

/// A number: its digits, perhaps with a plus sign and separators.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum Number {
    /// As text.
    Text(String),
    /// As an integer.
    Digits(u64),
}

/// One number or many.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum Numbers {
    /// One.
    One(Number),
    /// Many.
    Many(Vec<Number>),
}

/// The id of one tag or of many.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum Tags {
    /// One.
    One(Uuid),
    /// Many.
    Many(Vec<Uuid>),
}

/// The id of one segment or of many.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum SegmentIds {
    /// One.
    One(Uuid),
    /// Many.
    Many(Vec<Uuid>),
}

/// The id of a template, from the channel's list of templates.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum TemplateId {
    /// As an integer.
    Number(i64),
    /// Its digits.
    Digits(String),
}

/// A template that goes in place of another message.
#[derive(ToSchema)]
pub struct TemplateInstead {
    /// An approved template.
    #[schema(example = 7)]
    pub template_id: TemplateId,
    /// The language, to send the same template in another language.
    #[schema(example = "pt_BR")]
    pub language: Option<String>,
    /// The values of the template's variables; an empty list when the template has none. Only in a request with values may it
    /// be left out.
    #[schema(max_items = 32)]
    pub components: Option<Vec<Component>>,
    /// In a request with values, instead of `components`: the names of values in the order of the template's variables. Without
    /// both, variables have the values of their names.
    #[schema(example = json!(["order"]))]
    pub parameters: Option<Vec<String>>,
    /// Whether the texts of `components` have contact fields, such as `{{contact.first_name|friend}}`.
    pub contact_fields: Option<bool>,
}

/// One state or many.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum RetriedStates {
    /// One.
    One(RetriedState),
    /// Many.
    Many(Vec<RetriedState>),
}

/// A code of the provider.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ErrorCode {
    /// As an integer.
    Number(i64),
    /// Its digits.
    Digits(String),
}

/// One code of the provider or many.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ErrorCodes {
    /// One.
    One(ErrorCode),
    /// Many.
    Many(Vec<ErrorCode>),
}
