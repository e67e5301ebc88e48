//! The limits of a channel now, and what set each limit.

use std::sync::Arc;

use actix_web::web::Json;
use actix_web::{HttpMessage as _, HttpRequest};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::State;
use crate::api::envelope::Answer;
use crate::api::schema::LimitName;
use crate::api::waiting::WaitingRecord;
use crate::clock::Timestamp;
use crate::domain::channel::Channel;
use crate::domain::limit;
use crate::engine::Allowance;

/// The limits of a channel now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelLimits {
    /// The channel.
    channel_id: Uuid,
    /// Messages per second now; null when nothing limits them.
    #[schema(example = 80.0)]
    rate_per_second: Option<f64>,
    /// Why no message goes out now; null when messages go out, or none wait.
    waiting: Option<WaitingRecord>,
    /// All limits, including those that do not decide now.
    limits: Vec<ChannelLimit>,
    /// What to do where the tier's pace is not that of the provider's level for the number; null when they agree, or the
    /// level is not known.
    level_hint: Option<&'static str>,
    /// Sends that the channel works on now.
    active_sends: u64,
    /// Messages on their way to the provider.
    in_flight: u64,
    /// How fast the channel sent in the last minutes.
    pace: ChannelPace,
}

/// How fast a channel sent in the last ten minutes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelPace {
    /// Messages per second in the last ten seconds.
    #[schema(example = 79.8)]
    per_second: f64,
    /// How long a step is; the last one has just begun.
    #[schema(example = 10)]
    step_seconds: u64,
    /// The steps, the oldest first.
    steps: Vec<PaceStep>,
}

/// One step of the pace.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PaceStep {
    /// When the step began.
    #[schema(value_type = String, format = DateTime)]
    from: Timestamp,
    /// Messages per second that were handed to the provider.
    per_second: f64,
    /// Messages per second that were allowed; null when nothing limited them.
    limit: Option<f64>,
}

/// One limit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelLimit {
    /// The name of the limit.
    #[schema(value_type = LimitName, example = "messages_per_second")]
    limit: &'static str,
    /// How much the limit allows.
    #[schema(example = "80/s, burst 1")]
    value: String,
    /// The option, or the provider's answer, that set the limit.
    #[schema(example = "tier `standard`, options messages_per_second and burst")]
    set_by: String,
    /// Whether this limit decides now.
    in_force: bool,
    /// How much is left now; null when this is not counted.
    left: Option<u64>,
    /// When the next slot opens; null when a slot is open, or slots are not counted.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_slot_at: Option<Timestamp>,
}

/// The limits of this channel, and of the company's own requests.
pub(crate) async fn explain(
    state: &State,
    channel: &Arc<Channel>,
    request: &HttpRequest,
) -> Answer<ChannelLimits> {
    let limits = state.engine.channels().limits(channel).await?;
    let allowance = request.extensions().get::<Allowance>().copied();
    Ok(Json(ChannelLimits::new(channel.id, limits, allowance)))
}

impl ChannelLimits {
    /// `allowance` is the remaining requests of the company, when they are limited.
    fn new(channel_id: Uuid, limits: limit::Limits, allowance: Option<Allowance>) -> Self {
        let limit::Limits { level_hint, rate, limits, waiting, active_sends, in_flight, pace } = limits;
        Self {
            channel_id,
            rate_per_second: rate,
            level_hint: level_hint.map(limit::LevelHint::sentence),
            waiting: waiting.map(WaitingRecord::from),
            limits: limits.into_iter().map(ChannelLimit::from).chain([requests(allowance)]).collect(),
            active_sends,
            in_flight,
            pace: pace.into(),
        }
    }
}

impl From<limit::Pace> for ChannelPace {
    fn from(limit::Pace { per_second, step, points }: limit::Pace) -> Self {
        let step_of = |limit::PacePoint { from, per_second, limit }: limit::PacePoint| PaceStep {
            from,
            per_second,
            limit,
        };
        Self { per_second, step_seconds: step.as_secs(), steps: points.into_iter().map(step_of).collect() }
    }
}

/// The limit of the company's own requests.
fn requests(allowance: Option<Allowance>) -> ChannelLimit {
    let value = allowance.map_or_else(
        || "unlimited".to_owned(),
        |Allowance { limit, window, .. }| format!("{limit} in {} s", window.as_secs()),
    );
    ChannelLimit {
        limit: limit::Name::ApiRequests.as_str(),
        value,
        set_by: "the company's tier, option api_requests".to_owned(),
        in_force: allowance.is_some_and(|allowance| allowance.remaining == 0),
        left: allowance.map(|allowance| allowance.remaining.into()),
        next_slot_at: None,
    }
}

impl From<limit::Limit> for ChannelLimit {
    fn from(limit: limit::Limit) -> Self {
        let limit::Limit { name, allows, set_by, is_binding, left, next_slot } = limit;
        Self {
            limit: name.as_str(),
            value: allows.to_string(),
            set_by: set_by.to_string(),
            in_force: is_binding,
            left,
            next_slot_at: next_slot,
        }
    }
}
