//! What both kinds of sends ask for, as the reference describes it. The bodies themselves are read by
//! [`crate::domain::request`], whose checks answer in a promised order.

use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// A number: its digits, perhaps with a plus sign and separators.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
enum Number {
    /// As text.
    Text(String),
    /// As an integer.
    Digits(u64),
}

/// One number or many.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
enum Numbers {
    /// One.
    One(Number),
    /// Many.
    Many(Vec<Number>),
}

/// The id of one tag or of many.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
enum Tags {
    /// One.
    One(Uuid),
    /// Many.
    Many(Vec<Uuid>),
}

/// What a business-account send asks for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct BusinessSend {
    /// `text`, `image`, `video`, `audio`, `document`, `template` or `interactive`.
    #[schema(example = "text")]
    r#type: String,
    /// Everything but digits is stripped; by default at most 100,000 entries. This or `contact_tag_id` must be
    /// there; both are merged.
    #[schema(example = json!(["+55 11 98888-7777"]))]
    phone_number: Option<Numbers>,
    /// Every contact of these tags that has a valid number receives the message; by default at most 100 tags.
    contact_tag_id: Option<Tags>,
    /// The text, for `text`; by default at most 4,096 characters.
    #[schema(example = "Your order is on its way.")]
    message: Option<String>,
    /// Public address of the file, for `image`, `video`, `audio` and `document`; by default at most
    /// 2,048 characters.
    link: Option<String>,
    /// For `image`, `video` and `document`; by default at most 1,024 characters.
    caption: Option<String>,
    /// An approved template, for `template`.
    template_id: Option<i64>,
    /// Another language of the same template.
    language: Option<String>,
    /// The values of the template's variables.
    #[schema(value_type = Option<Vec<Object>>)]
    components: Option<Value>,
    /// Buttons, a list or products, for `interactive`.
    #[schema(value_type = Option<Object>)]
    interactive: Option<Value>,
    /// When it starts, in RFC 3339 with an offset, at most a year ahead. Absent or passed: at once. Looked at,
    /// like `expires_at`, after all other fields.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<String>,
    /// From when on nothing of it starts: what has not gone by then ends as `expired`. Must be to come, and
    /// after `send_at`.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

/// What a web-session send asks for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct WebSend {
    /// `text`, `image`, `video`, `audio` or `document`.
    #[schema(example = "text")]
    r#type: String,
    /// `number` or `group`.
    #[schema(example = "number")]
    recipient_type: String,
    /// A number in international format, or the id of a group.
    #[schema(example = "5511988887777")]
    phone_number: String,
    /// The text, for `text`; by default at most 4,096 characters.
    message: Option<String>,
    /// Public address of the file, for the others; by default at most 2,048 characters.
    link: Option<String>,
    /// For `image`, `video` and `document`; by default at most 1,024 characters.
    caption: Option<String>,
}

/// How a phone is to be linked.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PairingStart {
    /// The phone's number, for a code to be typed there. Without it there are QR codes only.
    #[schema(example = "5511988887777")]
    phone_number: Option<String>,
}

/// Whose picture is asked for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PictureOf {
    /// The person's number, with its country code.
    #[schema(example = "5511988887777")]
    phone_number: String,
}
