//! The operators' part of the API reference, and the bodies in it that are not derived from handlers.

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{IntoParams, Modify, OpenApi, ToSchema};

use super::{
    changes, channels, companies, invitations, keys, nodes, opt_out_words, suppressions, tiers, users,
};
use crate::api::schema::{ChannelKind, KeyScope, LeftOutOf, MemberRole, OnUnknownOutcome};

#[derive(OpenApi)]
#[openapi(
    paths(
        tiers::list,
        tiers::show,
        tiers::replace,
        companies::list,
        companies::create,
        companies::show,
        companies::change,
        keys::list,
        keys::create,
        keys::revoke,
        suppressions::list,
        suppressions::add,
        suppressions::lift,
        opt_out_words::show,
        opt_out_words::set,
        users::list,
        users::create,
        users::show,
        users::disable,
        users::enable,
        users::reset,
        invitations::list,
        invitations::create,
        invitations::withdraw,
        channels::list,
        channels::create,
        channels::rename,
        channels::remove,
        channels::set_tier,
        channels::reconnect,
        channels::load::show,
        nodes::list,
        nodes::channels,
        nodes::drain,
        changes::list,
    ),
    modifiers(&OperatorKey),
)]
struct Document;

struct OperatorKey;

impl Modify for OperatorKey {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("operator_key", scheme);
    }
}

/// The operators' endpoints, to be merged into the whole document.
pub(in crate::api) fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Which page to list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct PlainPageParameters {
    /// From 1; 1 when absent.
    #[param(minimum = 1, default = 1)]
    page: Option<u64>,
    /// Records on a page; 10 when absent.
    #[param(minimum = 1, default = 10)]
    limit: Option<u64>,
}

/// A number, or `unlimited`.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Quota {
    AtMost(u32),
    Unlimited(Unlimited),
}

/// No limit.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Unlimited {
    Unlimited,
}

/// The options of a tier, as the tier file explains them. An option that is left out or null has its default
/// value.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TierOptions {
    /// The tier's name, as in the path; may be left out.
    #[schema(example = "standard")]
    name: Option<String>,
    /// The channels that it is for.
    #[schema(value_type = ChannelKind, example = "business_account")]
    kind: String,
    /// For the operator who chooses among tiers.
    description: Option<String>,
    /// The channel's pace: messages in each `s`, `min`, `h` or `d`, or `unlimited`.
    #[schema(example = "80/s")]
    messages_per_second: String,
    /// Messages that may go at once after a pause; one per cent of the rate when left out.
    #[schema(minimum = 1)]
    burst: Option<u32>,
    /// Even distance between messages to one recipient.
    #[schema(example = "6s")]
    pair_interval: Option<String>,
    /// Messages to one recipient that may go at once.
    pair_burst: Option<u32>,
    /// Business accounts: unique recipients of templates in 24 hours.
    #[schema(example = 2000)]
    template_quota: Option<Quota>,
    /// Requests to this API in each `s`, `min`, `h` or `d`, or `unlimited`.
    #[schema(example = "unlimited")]
    api_requests: Option<String>,
    /// What happens to a message whose outcome is unknown: the provider may have taken it.
    #[schema(value_type = Option<OnUnknownOutcome>, example = "resend")]
    unknown_outcome: Option<String>,
    /// Web sessions: a random delay that is added between two messages.
    #[schema(example = "4s")]
    jitter: Option<String>,
    /// Web sessions: messages in 24 hours.
    #[schema(example = "unlimited")]
    daily_cap: Option<Quota>,
    /// Web sessions: the caps of the first days.
    warm_up: Option<Vec<u32>>,
    /// Web sessions: people who never wrote to the session and were never written to, in 24 hours.
    #[schema(example = 10)]
    cold_contacts: Option<Quota>,
    /// Ignored. It is accepted so that a tier can be sent back as it was shown.
    updated_at: Option<String>,
}

/// A set of rates and quotas, with the options that the tier file explains. A tier that another version of this
/// program wrote may lack some options and have others.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct Tier {
    /// Small letters, digits and hyphens.
    #[schema(example = "standard", max_length = 40)]
    name: String,
    /// The channels that it is for.
    #[schema(value_type = ChannelKind, required = false, example = "business_account")]
    kind: String,
    /// For the operator who chooses among tiers.
    #[schema(required = false)]
    description: String,
    /// The channel's pace: messages in each `s`, `min`, `h` or `d`, or `unlimited`.
    #[schema(required = false, example = "80/s")]
    messages_per_second: String,
    /// Messages that may go at once after a pause; one per cent of the rate when absent.
    #[schema(required = false)]
    burst: u32,
    /// Even distance between messages to one recipient.
    #[schema(required = false, example = "6s")]
    pair_interval: String,
    /// Messages to one recipient that may go at once.
    #[schema(required = false)]
    pair_burst: u32,
    /// Business accounts: unique recipients of templates in 24 hours.
    #[schema(required = false, example = 2000)]
    template_quota: Quota,
    /// Requests to this API in each `s`, `min`, `h` or `d`, or `unlimited`.
    #[schema(required = false, example = "unlimited")]
    api_requests: String,
    /// What happens to a message whose outcome is unknown: the provider may have taken it.
    #[schema(value_type = OnUnknownOutcome, required = false, example = "resend")]
    unknown_outcome: String,
    /// Web sessions: a random delay that is added between two messages.
    #[schema(required = false, example = "4s")]
    jitter: String,
    /// Web sessions: messages in 24 hours.
    #[schema(required = false, example = "unlimited")]
    daily_cap: Quota,
    /// Web sessions: the caps of the first days.
    #[schema(required = false)]
    warm_up: Vec<u32>,
    /// Web sessions: people who never wrote to the session and were never written to, in 24 hours.
    #[schema(required = false, example = 10)]
    cold_contacts: Quota,
    /// When it was last applied; absent where a tier is compared with another.
    #[schema(required = false, value_type = String, format = DateTime)]
    updated_at: String,
}

/// One option that differs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct OptionDifference {
    /// The option's name.
    #[schema(example = "messages_per_second")]
    option: String,
    /// Its value before; null when it was not set.
    #[schema(example = "80/s")]
    old: Option<OptionValue>,
    /// Its new value; null when it is no longer set.
    #[schema(example = "40/s")]
    new: Option<OptionValue>,
}

/// The value of an option of a tier.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum OptionValue {
    /// A rate, a duration, `unlimited`, or a text.
    Text(String),
    /// A number.
    Count(u32),
    /// The caps of the first days.
    Counts(Vec<u32>),
}

/// The value before or after a change: a word, or an object such as a tier.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum ChangedValue {
    Word(String),
    Fields(ChangedFields),
}

/// The options of a tier, the scope of a suppression, or the fields of a new record.
#[derive(ToSchema)]
pub(super) struct ChangedFields {}

/// The new tier of a channel.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ChannelTier {
    /// A tier for the channel's kind.
    #[schema(example = "high")]
    tier: String,
}

/// How to connect a channel again.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct Reconnection {
    /// The provider's new access token; without it, the stored token is tried again.
    token: Option<String>,
}

/// A company to add.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct NewCompany {
    /// No other company has it.
    #[schema(example = "Bakery", max_length = 200)]
    name: String,
    /// The tier of its new channels; `standard` when left out.
    #[schema(example = "standard")]
    tier: Option<String>,
}

/// A change of a company. Fields that are left out are kept.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct CompanyChange {
    /// No other company has it.
    #[schema(example = "Bakery", max_length = 200)]
    name: Option<String>,
    /// The tier of its new channels.
    #[schema(example = "high")]
    tier: Option<String>,
}

/// An API key to add.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct NewKey {
    /// A name to recognise the key by.
    #[schema(example = "website", max_length = 200)]
    name: String,
    /// The scopes of the key; all scopes when left out.
    #[schema(value_type = Option<Vec<KeyScope>>)]
    scopes: Option<Vec<String>>,
    /// When it expires; without it, the key does not expire.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// A user to add: of a company, an operator, or both.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct NewUser {
    /// No other user has it.
    #[schema(example = "ana@example.com", max_length = 254)]
    email: String,
    /// As the user is shown.
    #[schema(example = "Ana Souza", max_length = 200)]
    name: String,
    /// The company's id.
    company_id: Option<String>,
    /// The role in the company; `member` when left out.
    #[schema(value_type = Option<MemberRole>)]
    role: Option<String>,
    /// Whether the user is an operator of every company.
    is_operator: Option<bool>,
}

/// A person to invite: to a company, as an operator, or both.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct NewInvitation {
    /// The invited person's e-mail.
    #[schema(example = "ana@example.com", max_length = 254)]
    email: String,
    /// The name that is suggested.
    #[schema(example = "Ana Souza", max_length = 200)]
    name: Option<String>,
    /// The company's id.
    company_id: Option<String>,
    /// The role in the company; `member` when left out.
    #[schema(value_type = Option<MemberRole>)]
    role: Option<String>,
    /// Whether the person becomes an operator of every company.
    is_operator: Option<bool>,
}

/// How to reset a user's password.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct PasswordReset {
    /// Whether to remove the second factor too.
    totp: Option<bool>,
}

/// A recipient to suppress.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct NewSuppression {
    /// In international form.
    #[schema(example = "+55 11 98888-7777")]
    phone_number: String,
    /// The messages that the recipient does not get; `marketing` when left out.
    #[schema(value_type = Option<LeftOutOf>)]
    left_out_of: Option<String>,
}

/// A channel to add.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct NewChannel {
    /// The company's id.
    company_id: String,
    /// The kind of provider.
    #[schema(value_type = ChannelKind, example = "business_account")]
    kind: String,
    /// The name of the channel.
    #[schema(example = "Support", max_length = 200)]
    name: String,
    /// A tier for this kind. When left out, the company's tier if it is for this kind, or else `standard` or
    /// `web-new`.
    #[schema(example = "standard")]
    tier: Option<String>,
    /// Business accounts: the number, as shown to people. Required when `verify` is false; otherwise the
    /// provider's number is used.
    #[schema(example = "+55 11 98888-7777")]
    phone_number: Option<String>,
    /// Business accounts: the provider's id of the number.
    #[schema(example = "106540352242922")]
    phone_number_id: Option<String>,
    /// Business accounts: the provider's id of the account.
    #[schema(example = "102290129340398")]
    waba_id: Option<String>,
    /// Business accounts: the provider's access token. It is never shown.
    token: Option<String>,
    /// Business accounts: the app secret that signs webhooks. It is never shown.
    app_secret: Option<String>,
    /// Business accounts: whether the account is looked up at the provider first; true when left out.
    verify: Option<bool>,
}

/// A change of a channel.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ChannelName {
    /// The name of the channel.
    #[schema(example = "Support", max_length = 200)]
    name: String,
}
