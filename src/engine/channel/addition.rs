//! New channels: a business account is checked at the provider before it is kept, unless it is set up without the provider.

use uuid::Uuid;

use crate::connector::cloud_api::{CloudApi, Connections, refuses_credentials};
use crate::connector::{self, Disposition, Health};
use crate::domain::channel::{self, Channel, Kind, Status};
use crate::domain::message::Failure;
use crate::domain::secret::Secret;
use crate::engine::{Engine, Error};
use crate::store;
use crate::store::changes::Who;
use crate::store::channels::{NewChannel, Sealed};
use crate::vault::context;

/// The tiers of channels whose company has none for their kind.
const USUAL: &str = "standard";
const USUAL_WEB: &str = "web-new";

/// A channel to add.
#[derive(Debug)]
pub struct Addition {
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// What the company calls it.
    pub name: String,
    /// The tier to run under; `None`: the company's if it is for the kind, else the usual one.
    pub tier: Option<String>,
    /// The number of a business account; a channel without one is a web session.
    pub number: Option<Number>,
}

/// The number of a business account.
#[derive(Debug)]
pub struct Number {
    /// As shown to people; what the provider says goes before it.
    pub phone_number: Option<String>,
    /// The provider's id of the number; no two channels share one.
    pub phone_number_id: String,
    /// The provider's id of the business account.
    pub waba_id: String,
    /// The provider's access token.
    pub token: Secret,
    /// What signs the provider's webhooks.
    pub app_secret: Option<Secret>,
    /// Whether the provider is asked first.
    pub check: Check,
}

/// Whether a business account is looked up before it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// It is kept only if the provider knows it and takes the token.
    AtProvider,
    /// It is kept as it is; the provider is asked once the channel is there.
    Later,
}

/// Why a business account is no channel, as the provider answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It refuses the token.
    Token(Failure),
    /// It has restricted the account.
    Restricted(Failure),
    /// It does not know the number, or the token may not use it.
    Number(Failure),
    /// It does not know the business account, or the token may not use it.
    Account(Failure),
    /// It did not answer, or not now.
    Away(Failure),
}

/// Why a channel was not added.
#[derive(Debug)]
pub enum NotAdded {
    /// The provider says so.
    Unfit(Unfit),
    /// A channel with this number exists; a number belongs to one channel.
    Taken,
    /// It could not be looked at, or not be kept.
    Failed(Error),
}

impl From<Error> for NotAdded {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<store::Error> for NotAdded {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Taken(_) => Self::Taken,
            other => Self::Failed(other.into()),
        }
    }
}

impl Engine {
    /// Adds a channel, with its secrets sealed. A business account is `connecting` until the provider confirms it, a web
    /// session waits for a phone. Where that is to be checked, a business account is added only when the provider knows
    /// number and account and the token may use them.
    ///
    /// # Errors
    ///
    /// [`NotAdded`].
    pub async fn add_channel(&self, who: &Who, addition: Addition) -> Result<Channel, NotAdded> {
        let Addition { company_id, name, tier, number } = addition;
        let said = match &number {
            Some(number) if number.check == Check::AtProvider => {
                Some(self.ask_about(number).await?.map_err(NotAdded::Unfit)?)
            }
            _ => None,
        };
        let kind = if number.is_some() { Kind::BusinessAccount } else { Kind::WebSession };
        let tier = match tier {
            Some(tier) => tier,
            None => self.tier_of_new(company_id, kind).await?,
        };
        let (id, vault) = (Uuid::now_v7(), &self.0.shared.vault);
        let _hold = vault.hold();
        let mut new = NewChannel {
            id,
            company_id,
            kind,
            name,
            phone_number: None,
            phone_number_id: None,
            waba_id: None,
            tier,
            secrets: Sealed::default(),
            status: Status::Pairing,
        };
        if let Some(Number { phone_number, phone_number_id, waba_id, token, app_secret, check: _ }) = number {
            let seal = |secret: &Secret, place: &str| vault.seal(secret.expose().as_bytes(), place);
            new.secrets = Sealed {
                token: Some(seal(&token, &context::token(id))),
                app_secret: app_secret.map(|secret| seal(&secret, &context::app_secret(id))),
            };
            let shown = said.as_ref().and_then(|said| said.phone_number.clone()).or(phone_number);
            new.phone_number = Some(shown.unwrap_or_default());
            new.phone_number_id = Some(phone_number_id);
            new.waba_id = Some(waba_id);
            new.status = Status::Connecting;
        }
        let channel = self.store().add_channel(who, new).await?;
        if let Some(said) = said {
            self.store().set_channel_number(id, said).await?;
        }
        Ok(channel)
    }

    /// What the provider says of a number before it becomes a channel.
    ///
    /// # Errors
    ///
    /// When no client for the provider can be made; what the provider finds wrong is [`Unfit`].
    async fn ask_about(&self, new: &Number) -> Result<Result<channel::Number, Unfit>, Error> {
        let options = &self.0.shared.cloud_api;
        let unusable = |error: connector::Error| {
            tracing::error!(%error, "cannot ask the provider for a new channel");
            Error::Internal
        };
        let connections = Connections::new(options, &self.0.network).map_err(unusable)?;
        let connector = CloudApi::new(connections, options, &new.phone_number_id, &new.waba_id, &new.token);
        let connector = connector.map_err(unusable)?;
        let number = match connector.health().await {
            Health::Healthy(number) => number,
            Health::Refused(disposition, failure) => {
                return Ok(Err(unfit(disposition, failure, Unfit::Number)));
            }
            Health::Unknown(failure) => return Ok(Err(Unfit::Away(failure))),
        };
        Ok(match connector.has_account().await {
            Ok(()) => Ok(number),
            Err(connector::Error::Refused(disposition, failure)) => {
                Err(unfit(disposition, failure, Unfit::Account))
            }
            Err(connector::Error::NoAnswer(sentence)) => Err(Unfit::Away(Failure { code: None, sentence })),
        })
    }

    /// The company's tier if it is for this kind, or the usual one.
    async fn tier_of_new(&self, company_id: Uuid, kind: Kind) -> Result<String, Error> {
        let company = self.records_of(company_id).await?.find_company(&company_id.to_string()).await?;
        let own = company.map(|company| self.0.shared.tiers.find(&company.tier));
        let usual = match kind {
            Kind::BusinessAccount => USUAL,
            Kind::WebSession => USUAL_WEB,
        };
        Ok(own.filter(|tier| tier.kind == kind).map_or_else(|| usual.to_owned(), |tier| tier.name.clone()))
    }
}

/// What a refusal means for a new channel; `otherwise` when it is about what was asked for.
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
