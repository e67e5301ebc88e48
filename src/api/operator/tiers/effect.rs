//! What changed tiers would change for the sends under way.

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::super::Operator;
use super::super::reference::TierOptions;
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::Error;
use crate::domain::plan::Binding;
use crate::engine::retiering::{Changed, Effect};
use crate::error::Code;

/// An active send to many, and how long it takes before and after the change of its channel's tier.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendEffect {
    /// The send.
    pub(crate) send_id: Uuid,
    /// The name of its company.
    pub(crate) company: String,
    /// The channel that sends it.
    pub(crate) channel_id: Uuid,
    /// The channel's name.
    pub(crate) channel: String,
    /// The channel's tier.
    #[schema(example = "standard")]
    pub(crate) tier: String,
    /// Messages that have not gone.
    pub(crate) remaining: u64,
    /// From now to its last message under the present tier, rounded up; null when only the provider's answers limit it.
    pub(crate) estimated_seconds: Option<u64>,
    /// The limit that decides now; null when none does.
    #[schema(example = "messages_per_second")]
    pub(crate) binding: Option<&'static str>,
    /// From now to its last message after the change.
    pub(crate) after_seconds: Option<u64>,
    /// The limit that would decide.
    #[schema(example = "messages_per_second")]
    pub(crate) after_binding: Option<&'static str>,
}

impl From<Effect> for SendEffect {
    fn from(Effect { send, channel, before, after }: Effect) -> Self {
        Self {
            send_id: send.send_id,
            company: send.company,
            channel_id: channel.id,
            channel: channel.name.clone(),
            tier: channel.tier.clone(),
            remaining: send.remaining,
            estimated_seconds: before.seconds(),
            binding: before.binding.map(Binding::as_str),
            after_seconds: after.seconds(),
            after_binding: after.binding.map(Binding::as_str),
        }
    }
}

/// Options of a tier; one that is null has its default, and one that is left out stays as it is.
pub(crate) enum TierChange {}

impl PartialSchema for TierChange {
    fn schema() -> RefOr<Schema> {
        let mut options = TierOptions::schema();
        if let RefOr::T(Schema::Object(options)) = &mut options {
            options.required.clear();
            options.description = Some(
                "Options of a tier; one that is null has its default, and one that is left out stays."
                    .to_owned(),
            );
        }
        options
    }
}

impl ToSchema for TierChange {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        TierOptions::schemas(schemas);
    }
}

/// Active sends under changed tiers.
#[derive(Serialize, ToSchema)]
#[schema(as = Effects)]
pub(crate) struct TierEffects {
    /// At most 20 sends of each tier: those with the most messages left.
    data: Vec<SendEffect>,
    /// The tiers that cannot have these options.
    left_out: Vec<LeftOut>,
}

/// A tier that cannot have the options.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeftOut {
    /// The tier's name.
    tier: String,
    /// What is wrong with the options there.
    reason: String,
}

/// Predict active sends under changed tiers
///
/// Changes nothing: it answers how long each active send takes now, and how long it would take if its tier had these
/// options. An option that is for another kind of channel leaves out the tiers of that kind.
#[utoipa::path(
    post,
    path = "/operator/v1/plan",
    operation_id = "planTiers",
    request_body = TierChange,
    responses((status = 200, description = "The active sends, before and after", body = TierEffects)),
)]
pub(crate) async fn plan(_: Operator, body: Body, state: Data<State>) -> Answer<TierEffects> {
    let (options, _room) = body.tree(&state.options).await?;
    let changed = state.engine.channels().effects_of(|tier| tier.with_json(options.clone())).await?;
    if let Some(fault) = changed.fault() {
        return Err(Error::refused(Code::InvalidTier, fault));
    }
    let Changed { effects, left_out, is_possible: _ } = changed;
    let data = effects.into_iter().map(SendEffect::from).collect();
    let left_out = left_out.into_iter().map(|(tier, reason)| LeftOut { tier, reason }).collect();
    Ok(Json(TierEffects { data, left_out }))
}
