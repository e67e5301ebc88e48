//! The operators' part of the reference, and the bodies in it that handlers do not derive.

use serde_json::Value;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{IntoParams, Modify, OpenApi, ToSchema};

use super::{changes, channels, tiers};

#[derive(OpenApi)]
#[openapi(
    paths(
        tiers::list,
        tiers::show,
        tiers::replace,
        channels::list,
        channels::set_tier,
        channels::reconnect,
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

/// What operators may ask, to be merged into the whole document.
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
    /// Records on a page; 10 when absent, and by default at most 1,000.
    #[param(minimum = 1, default = 10)]
    limit: Option<u64>,
}

/// A set of rates and quotas, with the options that the tier file explains.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct Tier {
    /// That of the path; may be left out.
    #[schema(example = "standard")]
    name: Option<String>,
    /// `business_account` or `web_session`.
    #[schema(example = "business_account")]
    kind: String,
    /// For the operator who chooses among tiers.
    description: Option<String>,
    /// The channel's pace.
    #[schema(example = "80/s")]
    messages_per_second: String,
    /// Messages that may go at once after a pause; one per cent of the rate when left out.
    burst: Option<u32>,
    /// Even distance between messages to one recipient.
    #[schema(example = "6s")]
    pair_interval: Option<String>,
    /// Messages to one recipient that may go at once.
    pair_burst: Option<u32>,
    /// Unique recipients of templates in 24 hours: a number or `unlimited`.
    #[schema(value_type = Option<Object>, example = 2000)]
    template_quota: Option<Value>,
    /// Requests to this API.
    #[schema(example = "unlimited")]
    api_requests: Option<String>,
    /// `resend` or `hold`.
    #[schema(example = "resend")]
    unknown_outcome: Option<String>,
    /// Web sessions: added at random between two messages.
    #[schema(example = "0s")]
    jitter: Option<String>,
    /// Web sessions: messages in 24 hours, a number or `unlimited`.
    #[schema(value_type = Option<Object>, example = "unlimited")]
    daily_cap: Option<Value>,
    /// Web sessions: the caps of the first days.
    warm_up: Option<Vec<u32>>,
    /// Web sessions: people who never wrote to the session and were never written to, in 24 hours: a number or
    /// `unlimited`.
    #[schema(value_type = Option<Object>, example = 10)]
    cold_contacts: Option<Value>,
    /// When it was last applied; ignored in requests.
    #[schema(format = DateTime)]
    updated_at: Option<String>,
}

/// One option that differs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct OptionDifference {
    /// The option's name.
    #[schema(example = "messages_per_second")]
    option: String,
    /// Its value before; null when it was not set.
    #[schema(value_type = Option<Object>, example = "80/s")]
    old: Value,
    /// Its value since; null when it is no longer set.
    #[schema(value_type = Option<Object>, example = "40/s")]
    new: Value,
}

/// The tier that a channel is to run under.
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
    /// The provider's new access token; without it, the old one is tried again.
    token: Option<String>,
}
