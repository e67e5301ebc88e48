//! Channels as both kinds of list show them.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::envelope::Envelope;
use super::error::Error;
use super::list_query::ListQuery;
use super::openapi::{ChannelKind, ChannelStatus};
use crate::clock::Timestamp;
use crate::domain::channel::{self, Connection, Kind, Reason};

/// A channel. Tokens and secrets are never part of it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Channel {
    /// Names the channel in paths.
    id: Uuid,
    /// Which kind of provider stands behind it.
    #[schema(value_type = ChannelKind, example = "business_account")]
    kind: &'static str,
    /// What the company calls it.
    name: String,
    /// As shown to people.
    #[schema(example = "+55 11 98888-7777")]
    phone_number: Option<String>,
    /// Whether it can send.
    #[schema(value_type = ChannelStatus, example = "connected")]
    status: &'static str,
    /// Why it is not connected, or not wholly; null when it is.
    status_reason: Option<StatusReason>,
    /// Since when the status holds.
    #[schema(value_type = String, format = DateTime)]
    status_since: Timestamp,
    /// The set of rates and quotas that it runs under.
    #[schema(example = "standard")]
    tier: String,
    /// How the provider rates the number; null when unknown.
    #[schema(example = "GREEN")]
    quality_rating: Option<String>,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// Why a channel is not connected.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StatusReason {
    /// A short code: `credentials_refused`, `account_restricted` or `no_usable_token`; of web sessions `logged_out`,
    /// `account_locked`, `replaced`, `banned`, `client_outdated`, `passkey_timed_out`, `passkey_refused`,
    /// `business_pairing_refused`, `pairing_failed`, `connection_refused`, `link_lost`, `session_failed`,
    /// `unreachable`, `qr_expired`, or `restricted` while connected.
    #[schema(example = "credentials_refused")]
    code: String,
    /// One sentence for a person: what happened and what to do.
    sentence: String,
    /// The provider's own code, when it gave one.
    provider_code: Option<i64>,
}

impl From<channel::Channel> for Channel {
    fn from(channel: channel::Channel) -> Self {
        let channel::Channel {
            id,
            company_id: _,
            kind,
            name,
            phone_number,
            phone_number_id: _,
            waba_id: _,
            tier,
            connection: Connection { status, reason, since },
            trial: _,
            quality_rating,
            level: _,
            messaging_limit: _,
            linked_at: _,
            revision: _,
            created_at,
            updated_at,
        } = channel;
        Self {
            id,
            kind: kind.as_str(),
            name,
            phone_number,
            status: status.as_str(),
            status_reason: reason.map(StatusReason::from),
            status_since: since,
            tier,
            quality_rating,
            created_at,
            updated_at,
        }
    }
}

impl From<Reason> for StatusReason {
    fn from(Reason { code, sentence, provider_code }: Reason) -> Self {
        Self { code: code.to_string(), sentence, provider_code }
    }
}

/// A page of the company's channels of one kind.
pub(super) async fn list(
    state: &State,
    company: Company,
    kind: Kind,
    query: &str,
) -> Result<Envelope<Channel>, Error> {
    let query = ListQuery::new(query, &state.options);
    let (page, search) = (query.page()?, query.search()?);
    let records = state.engine.company(company.id).await?;
    let channels = records.channels().of_kind(kind, page, search.as_deref()).await?;
    Ok(Envelope::new(page, channels))
}
