//! The request bodies of sends and other requests, for the API reference. [`crate::domain::request`] reads the
//! bodies, and makes its checks in a fixed order.

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

/// The id of a template, from the channel's list of templates.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum TemplateId {
    /// As an integer.
    Number(i64),
    /// Its digits.
    Digits(String),
}

/// A send through a business account. The required fields depend on `type`; other fields have no effect, and are named
/// in the answer's `ignored`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct BusinessSend {
    /// What is sent.
    #[schema(value_type = MessageType, example = "text")]
    r#type: String,
    /// All characters but digits are ignored. Give this, `contact_tag_id`, or both; the recipients are
    /// merged.
    #[schema(example = json!(["+55 11 98888-7777"]))]
    phone_number: Option<Numbers>,
    /// Every contact with one of these tags and a valid number gets the message.
    contact_tag_id: Option<Tags>,
    /// The text, for `text`.
    #[schema(example = "Your order is on its way.")]
    message: Option<String>,
    /// Whether the first link of the text is shown with a preview, for `text`. When absent, a text with a link has one.
    preview_url: Option<bool>,
    /// Public address of the file, for `image`, `video`, `audio` and `document`.
    link: Option<String>,
    /// For `image`, `video` and `document`.
    caption: Option<String>,
    /// The name that the recipient sees, for `document`. When absent, the end of the link if it is a file's name.
    #[schema(max_length = 240, example = "invoice.pdf")]
    filename: Option<String>,
    /// Whether the sound is a voice message, for `audio`: the file must then be Ogg with Opus. When absent, the
    /// provider decides.
    voice: Option<bool>,
    /// An approved template, for `template`.
    #[schema(example = 7)]
    template_id: Option<TemplateId>,
    /// The language, to send the same template in another language.
    #[schema(example = "pt_BR")]
    language: Option<String>,
    /// The values of the template's variables; an empty list when the template has none.
    #[schema(max_items = 32)]
    components: Option<Vec<TemplateComponent>>,
    /// Whether the texts of `components` have contact fields: `{{contact.first_name}}`,
    /// `{{contact.last_name}}`, `{{contact.name}}` (both), `{{contact.email}}`, `{{contact.phone_number}}`.
    /// Each recipient then gets the values of their contact when the message goes out. The text behind a bar
    /// is for recipients without a value: `{{contact.first_name|friend}}`. Without such a text, their message
    /// ends as `failed` with the code -1. Every `{{` must begin such a field (`invalid_components`). When
    /// absent or false, texts are sent as they are. For `template` only.
    #[schema(example = true)]
    contact_fields: Option<bool>,
    /// Buttons, a list or products, for `interactive`.
    interactive: Option<Interactive>,
    /// When the send starts, in RFC 3339 with an offset, at most a year ahead. When absent or in the past, it
    /// starts at once. `send_at` and `expires_at` are checked after all other fields.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<String>,
    /// The time after which no message starts: messages that have not started by then end as `expired`. It
    /// must be in the future and after `send_at`.
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

/// The messages of a send that are retried.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct SendAgain {
    /// The states of the messages; `failed` and `expired` when absent.
    #[schema(example = "failed")]
    state: Option<RetriedStates>,
    /// Only messages with one of these codes of the provider; messages with any code when absent.
    #[schema(example = 131_026)]
    error_code: Option<ErrorCodes>,
    /// When the new send starts, as for any send.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<String>,
    /// The time after which no message of the new send starts, as for any send.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

/// A send through a web session. Fields that the type does not use have no effect, and are named in the answer's
/// `ignored`.
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
    /// A linked phone sends texts without previews of links: `true` has no effect, and is named in `ignored`.
    preview_url: Option<bool>,
    /// Public address of the file, for the other types.
    link: Option<String>,
    /// For `image`, `video` and `document`.
    caption: Option<String>,
    /// The name that the recipient sees, for `document`. When absent, the name that the file's server gives, or the end
    /// of the link.
    #[schema(max_length = 240, example = "invoice.pdf")]
    filename: Option<String>,
    /// Whether the sound is a voice message, for `audio`. When absent or `true`, Ogg with Opus is one, and no other
    /// file: then `true` is named in `ignored`.
    voice: Option<bool>,
}

/// How to link a phone.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PairingStart {
    /// The phone's number, to get a code to type into the phone. Without it there are only QR codes.
    #[schema(example = "5511988887777")]
    phone_number: Option<Number>,
}

/// The answer to a step of the passkey gate of a pairing.
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

/// The result of `PublicKeyCredential.toJSON()` in a browser; further fields are ignored. All fields but `type`
/// are base64url.
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

/// The data that the passkey signed, and its signature.
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

/// Confirms that the codes are the same.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct PasskeyConfirmation {
    /// `true`. To end the pairing instead, use `DELETE`.
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
    /// One entry for each business account that the webhook is about.
    #[schema(required = false)]
    entry: Vec<WebhookEntry>,
}

/// The changes of one business account.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct WebhookEntry {
    /// The provider's id of the account.
    #[schema(required = false)]
    id: String,
}
