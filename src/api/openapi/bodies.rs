//! What both kinds of sends ask for, as the reference describes it. The bodies themselves are read by
//! [`crate::domain::request`], whose checks answer in a promised order.

use utoipa::ToSchema;
use uuid::Uuid;

use super::components::TemplateComponent;
use super::interactive::Interactive;
use super::words::{MessageType, RecipientType, RetriedState, WebMessageType};

/// A number: its digits, perhaps with a plus sign and separators.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Number {
    /// As text.
    Text(String),
    /// As an integer.
    Digits(u64),
}

/// One number or many.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Numbers {
    /// One.
    One(Number),
    /// Many.
    Many(Vec<Number>),
}

/// The id of one tag or of many.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Tags {
    /// One.
    One(Uuid),
    /// Many.
    Many(Vec<Uuid>),
}

/// A template, as the channel's list of templates names it.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum TemplateId {
    /// As an integer.
    Number(i64),
    /// Its digits.
    Digits(String),
}

/// What a business-account send asks for. Which fields it needs depends on `type`; those that it does not need are
/// not looked at.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct BusinessSend {
    /// What is sent.
    #[schema(value_type = MessageType, example = "text")]
    r#type: String,
    /// Everything but digits is stripped. This or `contact_tag_id` must be there; both are merged.
    #[schema(example = json!(["+55 11 98888-7777"]))]
    phone_number: Option<Numbers>,
    /// Every contact of these tags that has a valid number receives the message.
    contact_tag_id: Option<Tags>,
    /// The text, for `text`.
    #[schema(example = "Your order is on its way.")]
    message: Option<String>,
    /// Public address of the file, for `image`, `video`, `audio` and `document`.
    link: Option<String>,
    /// For `image`, `video` and `document`.
    caption: Option<String>,
    /// An approved template, for `template`.
    #[schema(example = 7)]
    template_id: Option<TemplateId>,
    /// Another language of the same template.
    #[schema(example = "pt_BR")]
    language: Option<String>,
    /// The values of the template's variables; an empty list when it has none.
    #[schema(max_items = 32)]
    components: Option<Vec<TemplateComponent>>,
    /// Whether the texts of `components` have contact fields: `{{contact.first_name}}`, `{{contact.last_name}}`,
    /// `{{contact.name}}` (both), `{{contact.email}}`, `{{contact.phone_number}}`. Each recipient then gets what the
    /// company knows of them as the message goes. Behind a bar stands the text for recipients without a value:
    /// `{{contact.first_name|friend}}`; without one, their message ends as `failed` with the code -1. Every `{{` must
    /// begin such a field (`invalid_components`). Absent or false: texts are sent as they are. For `template` only.
    #[schema(example = true)]
    contact_fields: Option<bool>,
    /// Buttons, a list or products, for `interactive`.
    interactive: Option<Interactive>,
    /// When it starts, in RFC 3339 with an offset, at most a year ahead. Absent or passed: at once. Looked at,
    /// like `expires_at`, after all other fields.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<String>,
    /// From when on nothing of it starts: what has not gone by then ends as `expired`. Must be to come, and
    /// after `send_at`.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

/// One state or many.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum RetriedStates {
    /// One.
    One(RetriedState),
    /// Many.
    Many(Vec<RetriedState>),
}

/// A code of the provider.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum ErrorCode {
    /// As an integer.
    Number(i64),
    /// Its digits.
    Digits(String),
}

/// One code of the provider or many.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum ErrorCodes {
    /// One.
    One(ErrorCode),
    /// Many.
    Many(Vec<ErrorCode>),
}

/// Which messages of a send are sent again.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct SendAgain {
    /// How they ended; `failed` and `expired` when absent.
    #[schema(example = "failed")]
    state: Option<RetriedStates>,
    /// Only messages with one of these codes of the provider; whatever code when absent.
    #[schema(example = 131_026)]
    error_code: Option<ErrorCodes>,
    /// When the new send starts, as in any send.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<String>,
    /// From when on nothing of the new send starts, as in any send.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

/// What a web-session send asks for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct WebSend {
    /// What is sent.
    #[schema(value_type = WebMessageType, example = "text")]
    r#type: String,
    /// The kind of recipient.
    #[schema(value_type = RecipientType, example = "number")]
    recipient_type: String,
    /// A number in international format, or the id of a group.
    #[schema(example = "5511988887777")]
    phone_number: String,
    /// The text, for `text`.
    message: Option<String>,
    /// Public address of the file, for the others.
    link: Option<String>,
    /// For `image`, `video` and `document`.
    caption: Option<String>,
}

/// How a phone is linked.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PairingStart {
    /// The phone's number, for a code to be typed there. Without it there are QR codes only.
    #[schema(example = "5511988887777")]
    phone_number: Option<Number>,
}

/// What is answered at the passkey gate of a pairing.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) enum PasskeyStep {
    /// The signed challenge.
    Assertion(PasskeyAssertion),
    /// The phone shows the same code.
    Confirmation(PasskeyConfirmation),
}

/// A signed challenge.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PasskeyAssertion {
    assertion: WebAuthnAssertion,
}

/// What `PublicKeyCredential.toJSON()` makes in a browser; further fields are not looked at. All but `type` are
/// base64url.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct WebAuthnAssertion {
    #[schema(example = "Y3JlZGVudGlhbA")]
    id: String,
    #[serde(rename = "rawId")]
    #[schema(example = "Y3JlZGVudGlhbA")]
    raw_id: String,
    #[schema(example = "public-key")]
    r#type: String,
    response: WebAuthnResponse,
}

/// What the passkey signed, and its signature.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct WebAuthnResponse {
    #[serde(rename = "clientDataJSON")]
    client_data_json: String,
    #[serde(rename = "authenticatorData")]
    authenticator_data: String,
    signature: String,
    #[serde(rename = "userHandle")]
    user_handle: Option<String>,
}

/// The code was compared.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PasskeyConfirmation {
    /// `true`; to end the pairing, `DELETE` it.
    confirmed: bool,
}

/// The number whose picture is requested.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PictureOf {
    /// The person's number, with its country code.
    #[schema(example = "5511988887777")]
    phone_number: Number,
}

/// A webhook, as the provider writes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct WebhookBody {
    /// `whatsapp_business_account`.
    #[schema(required = false, example = "whatsapp_business_account")]
    object: String,
    /// One for each business account that something is told of.
    #[schema(required = false)]
    entry: Vec<WebhookEntry>,
}

/// What is told of one business account.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct WebhookEntry {
    /// The provider's id of the account.
    #[schema(required = false)]
    id: String,
}
