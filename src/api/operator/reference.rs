//! Bodies of the operators' part of the API reference that are not derived from handlers.

use utoipa::ToSchema;

use crate::api::schema::{ChannelKind, OnUnknownOutcome};
use crate::domain::tier::Quota;

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
    /// Business accounts: hours in which sends with several recipients rest, in the time of a place.
    #[schema(example = "21:00-08:00 Europe/Madrid")]
    quiet_hours: Option<String>,
    /// The `template_quota` of a business account's first days, or the `daily_cap` of a web session's.
    warm_up: Option<Vec<u32>>,
    /// Web sessions: a random delay that is added between two messages.
    #[schema(example = "4s")]
    jitter: Option<String>,
    /// Web sessions: messages in 24 hours.
    #[schema(example = "unlimited")]
    daily_cap: Option<Quota>,
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
    /// Business accounts: hours in which sends with several recipients rest, in the time of a place; absent without such hours.
    #[schema(required = false, example = "21:00-08:00 Europe/Madrid")]
    quiet_hours: String,
    /// The `template_quota` of a business account's first days, or the `daily_cap` of a web session's.
    #[schema(required = false)]
    warm_up: Vec<u32>,
    /// Web sessions: a random delay that is added between two messages.
    #[schema(required = false, example = "4s")]
    jitter: String,
    /// Web sessions: messages in 24 hours.
    #[schema(required = false, example = "unlimited")]
    daily_cap: Quota,
    /// Web sessions: people who never wrote to the session and were never written to, in 24 hours.
    #[schema(required = false, example = 10)]
    cold_contacts: Quota,
    /// When it was last applied; absent where a tier is compared with another.
    #[schema(required = false, value_type = String, format = DateTime)]
    updated_at: String,
}
