//! The window rule of a business account: who decides whether free messages go to people.

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::own_channel;
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::api::schema::WindowRuleName;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::inbound::{WindowRule, Windows};
use crate::error::Code;

/// What is known of the windows of a channel.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelWindows {
    /// Who decides.
    #[schema(value_type = WindowRuleName, example = "auto")]
    rule: &'static str,
    /// When the first message to the channel was recorded; null when there was none.
    #[schema(value_type = Option<String>, format = DateTime)]
    recorded_since: Option<Timestamp>,
    /// Whether Pombo refuses other messages than templates to people without an open window now.
    is_enforced: bool,
}

bodies! {
    /// Who decides whether free messages go.
    pub(crate) struct NewWindowRule of Value {
        /// `auto`: WhatsApp until the channel's messages were recorded for 24 hours, then Pombo. `enforce`: Pombo, from now on.
        /// `provider`: WhatsApp, which fails such messages after they were accepted.
        #[schema(example = "enforce")]
        rule: WindowRuleName,
    }
}

impl From<Windows> for ChannelWindows {
    fn from(windows: Windows) -> Self {
        let is_enforced = windows.are_enforced(Timestamp::now());
        let Windows { rule, recorded_since } = windows;
        Self { rule: rule.as_str(), recorded_since, is_enforced }
    }
}

/// Show a channel's window rule
///
/// WhatsApp takes other messages than templates for 24 hours after a person wrote. The rule says who refuses them afterwards.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/window-rule",
    operation_id = "showWindowRule",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "The rule", body = ChannelWindows),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(company: Company, id: Id, state: Data<State>) -> Answer<ChannelWindows> {
    let channel = own_channel(&state, company, id).await?;
    Ok(Json(state.engine.conversations(company.id).windows(channel.id).await?.into()))
}

/// Set a channel's window rule
#[utoipa::path(
    put,
    path = "/api/v1/chat/{id}/window-rule",
    operation_id = "setWindowRule",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = NewWindowRule,
    responses(
        (status = 200, description = "The rule", body = ChannelWindows),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn set(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<ChannelWindows> {
    let channel = own_channel(&state, company, id).await?;
    let (NewWindowRule { rule }, _room) = body.fields(&state.options).await?;
    let word = rule.required()?.parse::<WindowRule>();
    let chosen = word.map_err(|wrong| Error::from(rule.refuse(Code::InvalidField, wrong)))?;
    let conversations = state.engine.conversations(company.id);
    conversations.set_window_rule(&who, channel.id, chosen).await?;
    Ok(Json(conversations.windows(channel.id).await?.into()))
}
