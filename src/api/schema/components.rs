//! The values that a send gives for a template's variables, as [`crate::domain::template`] reads them.

use serde_json::Value;
use utoipa::ToSchema;

use super::words::tags;

/// The values for one part of a template.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum TemplateComponent {
    Header(TemplateHeader),
    Body(TemplateBody),
    Button(TemplateButton),
    Other(TemplateOther),
}

tags! {
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

/// The values for the header.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateHeader {
    #[schema(value_type = HeaderTag, inline)]
    r#type: String,
    /// One text, file or location.
    #[schema(max_items = 256)]
    parameters: Option<Vec<TemplateParameter>>,
}

/// The values for the text.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateBody {
    #[schema(value_type = BodyTag, inline)]
    r#type: String,
    /// One for each variable.
    #[schema(max_items = 256)]
    parameters: Option<Vec<TemplateParameter>>,
}

/// The value for one button.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateButton {
    #[schema(value_type = ButtonTag, inline)]
    r#type: String,
    /// What the button does: `url`, `quick_reply`, `copy_code`, or another word of the provider.
    #[schema(example = "url", max_length = 512)]
    sub_type: String,
    /// Its position among the template's buttons.
    index: ButtonIndex,
    /// A text for `url`, a payload for `quick_reply`, a coupon code for `copy_code`.
    #[schema(max_items = 256)]
    parameters: Option<Vec<TemplateParameter>>,
}

/// From 0 to 9.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum ButtonIndex {
    Number(u8),
    Digit(String),
}

/// A kind of component that this service does not know, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateOther {
    #[schema(example = "limited_time_offer")]
    r#type: String,
}

/// One value. Texts, and values in place of a text, have a `parameter_name` if the template names its variables.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum TemplateParameter {
    Text(TextParameter),
    Currency(CurrencyParameter),
    DateTime(DateTimeParameter),
    File(FileParameter),
    Location(LocationParameter),
    Payload(PayloadParameter),
    CouponCode(CouponCodeParameter),
    Other(OtherParameter),
}

/// A piece of text.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TextParameter {
    #[schema(value_type = TextTag, inline)]
    r#type: String,
    /// On one line, without tabs, with at most four spaces in a row.
    #[schema(example = "Ana", max_length = 32768)]
    text: String,
    #[schema(example = "first_name", max_length = 512)]
    parameter_name: Option<String>,
}

/// An amount of money.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct CurrencyParameter {
    #[schema(value_type = CurrencyTag, inline)]
    r#type: String,
    currency: Currency,
    #[schema(max_length = 512)]
    parameter_name: Option<String>,
}

/// An amount of money, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct Currency {
    /// The text that is shown when the amount cannot be formatted for the recipient.
    #[schema(example = "R$ 19,90", max_length = 32768)]
    fallback_value: String,
    /// ISO 4217.
    #[schema(example = "BRL")]
    code: Option<String>,
    /// The amount times 1,000.
    #[schema(example = 19900)]
    amount_1000: Option<i64>,
}

/// A date and time in words.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct DateTimeParameter {
    #[schema(value_type = DateTimeTag, inline)]
    r#type: String,
    date_time: TemplateDateTime,
    #[schema(max_length = 512)]
    parameter_name: Option<String>,
}

/// A date and time in words, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateDateTime {
    /// The text that is shown.
    #[schema(example = "25 de fevereiro", max_length = 32768)]
    fallback_value: String,
}

/// A file, as a `link` or an `id`: either here or in the field with the name of its type.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct FileParameter {
    #[schema(value_type = FileTag, inline)]
    r#type: String,
    /// Public address of the file.
    #[schema(max_length = 2048)]
    link: Option<String>,
    /// The id of a file that was uploaded to the provider.
    #[schema(max_length = 512)]
    id: Option<String>,
    /// The name that the recipient of a document sees.
    #[schema(max_length = 512)]
    filename: Option<String>,
    image: Option<TemplateFile>,
    video: Option<TemplateFile>,
    document: Option<TemplateFile>,
}

/// A file, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateFile {
    /// Public address of the file.
    #[schema(max_length = 2048)]
    link: Option<String>,
    /// The id of a file that was uploaded to the provider.
    #[schema(max_length = 512)]
    id: Option<String>,
    /// The name that the recipient of a document sees.
    #[schema(max_length = 512)]
    filename: Option<String>,
}

/// A location on the map.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct LocationParameter {
    #[schema(value_type = LocationTag, inline)]
    r#type: String,
    location: TemplateLocation,
}

/// A location on the map, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplateLocation {
    latitude: Option<Coordinate>,
    longitude: Option<Coordinate>,
    name: Option<String>,
    address: Option<String>,
}

/// Degrees.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Coordinate {
    Number(f64),
    Text(String),
}

/// The payload that the provider reports when a quick reply is pressed.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct PayloadParameter {
    #[schema(value_type = PayloadTag, inline)]
    r#type: String,
    #[schema(max_length = 512)]
    payload: String,
}

/// The code that a button copies.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct CouponCodeParameter {
    #[schema(value_type = CouponCodeTag, inline)]
    r#type: String,
    #[schema(max_length = 512)]
    coupon_code: String,
}

/// A kind of value that this service does not know, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct OtherParameter {
    r#type: String,
}

/// A part of a template, in the provider's form. The provider decides which fields a part has.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(in crate::api) struct TemplatePart {
    /// `HEADER`, `BODY`, `FOOTER`, `BUTTONS`, or another word of the provider.
    #[schema(required = false, example = "BODY")]
    r#type: String,
    /// The format of a header: `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT` or `LOCATION`.
    #[schema(required = false)]
    format: String,
    /// The text, with its variables.
    #[schema(required = false, example = "Hello {{1}}, your order has left.")]
    text: String,
    #[schema(required = false)]
    buttons: Vec<TemplatePartButton>,
    /// The example values of the variables that were given to the provider.
    #[schema(required = false, value_type = Object, additional_properties)]
    example: Value,
}

/// A button of a template, in the provider's form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TemplatePartButton {
    /// `QUICK_REPLY`, `URL`, `PHONE_NUMBER`, `COPY_CODE`, `OTP`, or another word of the provider.
    #[schema(required = false, example = "URL")]
    r#type: String,
    #[schema(required = false)]
    text: String,
    /// The address, with its variable if it has one.
    #[schema(required = false)]
    url: String,
    #[schema(required = false)]
    phone_number: String,
}
