//! Checks of a business account at the provider, field by field: before it becomes a channel, and whenever a person asks.

use uuid::Uuid;

use crate::Error;
use crate::channel::Channels;
use connectors::cloud_api::{CloudApi, refuses_credentials};
use connectors::{Disposition, Health};
use domain::channel;
use domain::message::Failure;
use domain::provider::TokenEnd;
use domain::secret::Secret;

/// What the provider says about a business account that can send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its number.
    pub number: channel::Number,
    /// When the token ends.
    pub token_end: TokenEnd,
    /// Whether the account sends its webhooks to an app; `None` when the provider does not say.
    pub is_subscribed: Option<bool>,
}

/// Why a business account cannot be a channel, by the provider's answer. The fields are checked in the order of
/// [`CheckedField`]: those before the refused one passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The provider refuses the token.
    Token(Failure),
    /// The provider has restricted the account.
    Restricted(Failure),
    /// The provider does not know the number, or the token may not use it.
    Number(Failure),
    /// The provider does not know the business account, or the token may not use it.
    Account(Failure),
    /// The number is one of another business account.
    OtherAccount,
    /// The provider did not answer.
    Away(Failure),
}

/// The parts of a business account that are checked one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckedField {
    /// The provider accepts the token.
    Token,
    /// The token may use the number.
    Number,
    /// The token may use the business account.
    Account,
    /// The number belongs to the business account.
    Belonging,
}

impl Unfit {
    /// The field that was refused; `None` when the answer is about none of them.
    pub const fn field(&self) -> Option<CheckedField> {
        match self {
            Self::Token(_) => Some(CheckedField::Token),
            Self::Number(_) => Some(CheckedField::Number),
            Self::Account(_) => Some(CheckedField::Account),
            Self::OtherAccount => Some(CheckedField::Belonging),
            Self::Restricted(_) | Self::Away(_) => None,
        }
    }
}

impl Channels<'_> {
    /// Asks the provider about a channel with its stored token; `None` when there is no such business account. With
    /// `subscribes`, an account that sends its webhooks to no app sends them to the app of the token from now on.
    ///
    /// # Errors
    ///
    /// When the stored token cannot be opened, or no client for the provider can be created; the provider's objections are
    /// [`Unfit`].
    pub async fn check(&self, id: Uuid, subscribes: bool) -> Result<Option<Result<Checked, Unfit>>, Error> {
        let Some((number, account, token)) = self.own_account(id).await? else { return Ok(None) };
        let checked = self.ask_about(&number, &account, &token).await?;
        if !subscribes || !matches!(&checked, Ok(Checked { is_subscribed: Some(false), .. })) {
            return Ok(Some(checked));
        }
        let subscribed = self.client(&number, &account, &token)?.subscribe().await;
        Ok(Some(match subscribed {
            Ok(()) => checked.map(|checked| Checked { is_subscribed: Some(true), ..checked }),
            Err(error) => Err(refused(error, Unfit::Account)),
        }))
    }

    /// When the stored token of a business account ends, by the provider; unknown when there is no such channel.
    ///
    /// # Errors
    ///
    /// Those of [`Channels::check`].
    pub async fn token_end(&self, id: Uuid) -> Result<TokenEnd, Error> {
        let Some((number, account, token)) = self.own_account(id).await? else {
            return Ok(TokenEnd::Unknown);
        };
        Ok(self.client(&number, &account, &token)?.token_end(&token).await)
    }

    /// The provider's ids of a number and its account, with the token; `None` when there is no such business account.
    async fn own_account(&self, id: Uuid) -> Result<Option<(String, String, Secret)>, Error> {
        let found = self.engine.store().channels().find(id).await?;
        let Some(channel) = found.filter(|channel| channel.kind == channel::Kind::BusinessAccount) else {
            return Ok(None);
        };
        let sealed = self.engine.store().channels().secrets(id).await?;
        let Some(token) = sealed.and_then(|sealed| sealed.token) else { return Ok(None) };
        let opened = self.engine.0.shared.vault.unseal(&token, &vault::context::token(id));
        let token = opened.map_err(|error| {
            tracing::warn!(channel.id = %id, %error, "cannot open the token of a channel to check it");
            Error::Internal
        })?;
        let (number, account) = (channel.phone_number_id, channel.waba_id);
        Ok(Some((number.unwrap_or_default(), account.unwrap_or_default(), token)))
    }

    /// The provider's report on a number, field by field.
    ///
    /// # Errors
    ///
    /// When no client for the provider can be created; the provider's objections are [`Unfit`].
    pub(super) async fn ask_about(
        &self,
        phone_number_id: &str,
        waba_id: &str,
        token: &Secret,
    ) -> Result<Result<Checked, Unfit>, Error> {
        let connector = self.client(phone_number_id, waba_id, token)?;
        let number = match connector.health().await {
            Health::Healthy(number) => number,
            Health::Refused(disposition, failure) => {
                return Ok(Err(unfit(disposition, failure, Unfit::Number)));
            }
            Health::Unknown(failure) => return Ok(Err(Unfit::Away(failure))),
        };
        if let Err(error) = connector.has_account().await {
            return Ok(Err(refused(error, Unfit::Account)));
        }
        match connector.has_number().await {
            Ok(true) => {}
            Ok(false) => return Ok(Err(Unfit::OtherAccount)),
            Err(error) => return Ok(Err(refused(error, Unfit::Account))),
        }
        // What follows refuses no channel: a number can send without it.
        let token_end = connector.token_end(token).await;
        let is_subscribed = connector.is_subscribed().await.ok();
        Ok(Ok(Checked { number, token_end, is_subscribed }))
    }

    fn client(&self, phone_number_id: &str, waba_id: &str, token: &Secret) -> Result<CloudApi, Error> {
        let options = &self.engine.0.shared.cloud_api;
        let unusable = |error: connectors::Error| {
            tracing::error!(%error, "cannot create a client to check a channel at the provider");
            Error::Internal
        };
        let connections = self.engine.0.connections.here(options).map_err(unusable)?;
        CloudApi::new(connections, options, phone_number_id, waba_id, token).map_err(unusable)
    }
}

/// Why the provider did not answer a question, or refused it.
fn refused(error: connectors::Error, otherwise: impl FnOnce(Failure) -> Unfit) -> Unfit {
    match error {
        connectors::Error::Refused(disposition, failure) => unfit(disposition, failure, otherwise),
        connectors::Error::NoAnswer(sentence) => Unfit::Away(Failure { code: None, sentence }),
    }
}

/// What a refusal means for a new channel; `otherwise` when the refusal is about the requested object.
fn unfit(disposition: Disposition, failure: Failure, otherwise: impl FnOnce(Failure) -> Unfit) -> Unfit {
    match disposition {
        Disposition::Disconnect if refuses_credentials(&failure) => Unfit::Token(failure),
        Disposition::Block | Disposition::Restrict => Unfit::Restricted(failure),
        Disposition::Wait
        | Disposition::Retry
        | Disposition::SlowNumber
        | Disposition::SlowAccount
        | Disposition::SlowApp
        | Disposition::Maintenance => Unfit::Away(failure),
        Disposition::Disconnect
        | Disposition::Fail
        | Disposition::Pair
        | Disposition::HoldTemplate
        | Disposition::HoldRecipient
        | Disposition::Suppress(_) => otherwise(failure),
    }
}
