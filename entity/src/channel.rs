//! One sending identity at one provider.

use sea_orm::entity::prelude::*;

/// One sending identity at one provider.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "channel")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the channel.
    pub company_id: Uuid,
    /// The kind of provider.
    pub kind: Kind,
    /// The company's name for it.
    pub name: String,
    /// The name without case and accents, for search.
    pub name_folded: String,
    /// The phone number, as pages show it.
    pub phone_number: Option<String>,
    /// The provider's id of the number.
    pub phone_number_id: Option<String>,
    /// The provider's id of the business account.
    pub waba_id: Option<String>,
    /// The tier in force.
    pub tier: String,
    /// Options of the tier for which the channel has values of its own, as a JSON object; null without any.
    pub own_options: Option<String>,
    /// The provider's access token, sealed.
    pub token: Option<Vec<u8>>,
    /// The provider's app secret, sealed.
    pub app_secret: Option<Vec<u8>>,
    /// The verify token of the webhook's handshake, sealed. Null until it is first needed.
    pub verify_token: Option<Vec<u8>>,
    /// The state of the connection.
    pub status: Status,
    /// The reason of the status, as a code.
    pub status_code: Option<String>,
    /// The reason of the status, for a person.
    pub status_sentence: Option<String>,
    /// The provider's own code for the reason.
    pub status_provider_code: Option<i64>,
    /// Unix milliseconds.
    pub status_since: i64,
    /// The pause between two trial messages of a refused channel, in milliseconds; null while the channel is
    /// not on trial.
    pub trial_wait: Option<i64>,
    /// When the next trial message may go, in Unix milliseconds; null with `trial_wait`.
    pub trial_due: Option<i64>,
    /// The provider's quality rating of the number.
    pub quality_rating: Option<String>,
    /// How fast the provider lets the number send: `standard`, `high`, `coexistence` or `not_applicable`.
    pub level: Option<String>,
    /// The provider's limit of people that the portfolio may reach with templates in 24 hours, by the
    /// provider's name for it.
    pub messaging_limit: Option<String>,
    /// When the phone of a web session was linked, in Unix milliseconds; null while there is none.
    pub linked_at: Option<i64>,
    /// The `channel` revision that last changed it.
    pub revision: i64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// The kind of provider behind a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum Kind {
    /// The Cloud API.
    #[sea_orm(string_value = "business_account")]
    BusinessAccount,
    /// A linked device.
    #[sea_orm(string_value = "web_session")]
    WebSession,
}

/// The state of a channel's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum Status {
    /// Not yet confirmed by the provider.
    #[sea_orm(string_value = "connecting")]
    Connecting,
    /// Confirmed by the provider.
    #[sea_orm(string_value = "connected")]
    Connected,
    /// Refused by the provider.
    #[sea_orm(string_value = "disconnected")]
    Disconnected,
    /// Restricted by the provider.
    #[sea_orm(string_value = "blocked")]
    Blocked,
    /// A web session without a phone.
    #[sea_orm(string_value = "pairing")]
    Pairing,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
