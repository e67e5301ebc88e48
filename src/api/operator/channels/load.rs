//! The messages that one channel has in memory, for operators.

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::find;
use crate::api::State;
use crate::api::envelope::Answer;
use crate::api::error::ErrorBody;
use crate::api::operator::Operator;
use crate::api::path_id::Id;
use crate::engine::Load;

/// The messages of one channel that wait in memory or are in flight. All other queued messages wait in the
/// database.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelLoad {
    /// The channel.
    channel_id: Uuid,
    /// Whether the channel is loaded. A channel that is not loaded has nothing in memory.
    is_running: bool,
    /// Messages that wait in the channel's lanes.
    lanes: ChannelLanes,
    /// Messages between their start and their durable outcome, at most `engine.in_flight`.
    in_flight: u64,
    /// Messages from other parts of the service that the channel has not processed yet.
    mailbox: u64,
}

/// Messages that wait in a channel's lanes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelLanes {
    /// Sends to one recipient, at most `engine.direct_lane`.
    direct: u64,
    /// Bulk sends that take turns, at most `engine.active_bulk_sends`.
    bulk: u64,
    /// Messages of both kinds of sends that wait for a retry.
    retry: u64,
}

/// Show what a channel has in memory
///
/// The same figures for all channels together are gauges at `/metrics`. The figures of one channel are
/// available only here, because there may be thousands of channels.
#[utoipa::path(
    get,
    path = "/operator/v1/channels/{id}/load",
    operation_id = "showChannelLoad",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "The present figures", body = ChannelLoad),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(_: Operator, id: Id, state: Data<State>) -> Answer<ChannelLoad> {
    let channel_id = find(&state, id).await?.channel.id;
    let load = state.engine.channels().load(channel_id);
    let is_running = load.is_some();
    let Load { direct, bulk, retry, in_flight, mailbox } = load.unwrap_or_default();
    let lanes = ChannelLanes { direct, bulk, retry };
    Ok(Json(ChannelLoad { channel_id, is_running, lanes, in_flight, mailbox }))
}
