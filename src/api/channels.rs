//! Channels, as the lists of both kinds of channels show them.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::envelope::Envelope;
use super::error::Error;
use super::list_query::Query;
use super::schema::{ChannelKind, ChannelStatus};
use crate::clock::Timestamp;
use crate::domain::channel::{self, Connection, Kind, Reason};

/// A channel. It never contains tokens and secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Channel {
    /// The channel's id in paths.
    pub(crate) id: Uuid,
    /// The kind of provider.
    #[schema(value_type = ChannelKind, example = "business_account")]
    pub(crate) kind: &'static str,
    /// The name that the company gave the channel.
    pub(crate) name: String,
    /// The number as it is shown to people.
    #[schema(example = "+55 11 98888-7777")]
    pub(crate) phone_number: Option<String>,
    /// Whether the channel can send.
    #[schema(value_type = ChannelStatus, example = "connected")]
    pub(crate) status: &'static str,
    /// Why the channel is not connected, or is connected with restrictions; null when it is connected.
    pub(crate) status_reason: Option<StatusReason>,
    /// When the status began.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) status_since: Timestamp,
    /// The channel's tier: a set of rates and quotas.
    #[schema(example = "standard")]
    pub(crate) tier: String,
    /// How the provider rates the number; null when unknown.
    #[schema(example = "GREEN")]
    pub(crate) quality_rating: Option<String>,
    /// When the channel was added.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// When the channel last changed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) updated_at: Timestamp,
}

/// Why a channel is not connected.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusReason {
    /// A short code: `credentials_refused`, `account_restricted` or `no_usable_token`; for web sessions
    /// `logged_out`, `account_locked`, `replaced`, `banned`, `client_outdated`, `passkey_timed_out`,
    /// `passkey_refused`, `business_pairing_refused`, `pairing_failed`, `connection_refused`, `link_lost`,
    /// `session_failed`, `unreachable`, `qr_expired`, or `restricted` while connected.
    #[schema(example = "credentials_refused")]
    pub(crate) code: String,
    /// One sentence for a person: what happened and what to do.
    pub(crate) sentence: String,
    /// The provider's own code, when it gave one.
    pub(crate) provider_code: Option<i64>,
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
            own_options: _,
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
    query: &Query,
) -> Result<Envelope<Channel>, Error> {
    let (page, search) = (query.page()?, query.search()?);
    let records = state.engine.company(company.id).await?;
    let channels = records.channels().of_kind(kind, page, search.as_deref()).await?;
    Ok(Envelope::new(page, channels))
}
