//! The data of a simulator at its start: accounts with their tokens, numbers and templates.
//!
//! Built in Rust by tests and the demo, read as JSON by `POST /_sim/accounts`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::level::{Level, Throttle};

/// Everything that exists at the start; `POST /_sim/reset` restores it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// The business accounts.
    pub accounts: Vec<Account>,
}

/// A WhatsApp business account (WABA).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Digits.
    pub waba_id: String,
    /// Bearer tokens that may use this account. One token may be named by several accounts.
    #[serde(default)]
    pub tokens: Vec<String>,
    /// Its phone numbers.
    #[serde(default)]
    pub numbers: Vec<Number>,
    /// Its message templates.
    #[serde(default)]
    pub templates: Vec<Template>,
}

/// A business phone number.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Digits; unique in the whole simulator.
    pub phone_number_id: String,
    /// As shown to people, e.g. `+1 555-078-3881`.
    pub display_phone_number: String,
    /// When it answers with code 130429; never by default.
    #[serde(default)]
    pub throughput: Throttle,
    /// The level that it shows; when absent, the one that fits `throughput`, and HIGH without a limit.
    #[serde(default)]
    pub level: Option<Level>,
    /// Whether it is also in the WhatsApp Business app; when absent, only if `throughput` is 20.
    #[serde(default)]
    pub is_on_biz_app: Option<bool>,
    /// Only `CONNECTED` can send; with any other status, sends are answered with 133010.
    #[serde(default = "connected")]
    pub status: String,
    /// People who wrote to it at the start, by their numbers in digits.
    #[serde(default)]
    pub written_by: Vec<String>,
}

impl Number {
    /// A connected number without a limit.
    pub fn new(phone_number_id: impl Into<String>, display_phone_number: impl Into<String>) -> Self {
        Self {
            phone_number_id: phone_number_id.into(),
            display_phone_number: display_phone_number.into(),
            throughput: Throttle::Unlimited,
            level: None,
            is_on_biz_app: None,
            status: connected(),
            written_by: Vec::new(),
        }
    }

    /// The same number at this level, whose limit is enforced.
    #[must_use]
    pub fn at_level(self, level: Level) -> Self {
        Self { throughput: Throttle::ByLevel, level: Some(level), ..self }
    }
}

fn connected() -> String {
    "CONNECTED".to_owned()
}

/// A message template.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Lower-case letters, digits and underscores.
    pub name: String,
    /// Such as `en_US`.
    pub language: String,
    /// Only `APPROVED` can be sent.
    #[serde(default = "approved")]
    pub status: String,
    /// `MARKETING`, `UTILITY` or `AUTHENTICATION`.
    #[serde(default = "utility")]
    pub category: String,
    /// `POSITIONAL` or `NAMED`.
    #[serde(default = "positional")]
    pub parameter_format: String,
    /// How long delivery of its messages is attempted, in seconds; when absent, as long as the provider
    /// usually does.
    #[serde(default)]
    pub message_send_ttl_seconds: Option<i64>,
    /// The name in the provider's library of which it is a copy; when absent, it is none.
    #[serde(default)]
    pub library_template_name: Option<String>,
    /// The provider's array of components.
    pub components: Value,
}

fn approved() -> String {
    "APPROVED".to_owned()
}

fn utility() -> String {
    "UTILITY".to_owned()
}

fn positional() -> String {
    "POSITIONAL".to_owned()
}

impl Template {
    /// An approved utility template with positional parameters.
    pub fn new(name: impl Into<String>, language: impl Into<String>, components: Value) -> Self {
        Self {
            name: name.into(),
            language: language.into(),
            status: approved(),
            category: utility(),
            parameter_format: positional(),
            message_send_ttl_seconds: None,
            library_template_name: None,
            components,
        }
    }
}

/// The templates that exist when every account is accepted: three that can be sent (no variables, two
/// body variables, and an image header with a body variable and a URL button) and three that cannot
/// (pending, rejected, paused).
pub fn default_templates() -> Vec<Template> {
    let body = |text: &str| json!([{ "type": "BODY", "text": text }]);
    let order = json!([{
        "type": "BODY",
        "text": "Hi {{1}}, your order {{2}} is on its way.",
        "example": { "body_text": [["Priya", "A-1042"]] },
    }]);
    let invoice = json!([{
        "type": "BODY", "text": "Invoice {{1}} is ready.", "example": { "body_text": [["A-1042"]] },
    }]);
    let promo = json!([
        { "type": "HEADER", "format": "IMAGE", "example": { "header_handle": ["https://example.com/spring.jpg"] } },
        { "type": "BODY", "text": "{{1}}, spring is here.", "example": { "body_text": [["Priya"]] } },
        { "type": "FOOTER", "text": "Reply STOP to leave" },
        { "type": "BUTTONS", "buttons": [{
            "type": "URL", "text": "See it", "url": "https://example.com/{{1}}", "example": ["https://example.com/spring"],
        }] },
    ]);
    let marketing = |template: Template| Template { category: "MARKETING".to_owned(), ..template };
    let standing = |status: &str, template: Template| Template { status: status.to_owned(), ..template };
    vec![
        Template::new("hello_world", "en_US", body("Hello world.")),
        Template::new("order_update", "en_US", order),
        marketing(Template::new("promo", "en_US", promo)),
        standing("PENDING", Template::new("invoice_ready", "en_US", invoice)),
        standing("REJECTED", marketing(Template::new("free_money", "en_US", body("Click for free money.")))),
        standing("PAUSED", marketing(Template::new("weekly_deals", "en_US", body("This week's deals.")))),
    ]
}
