//! New channels: a business account is checked at the provider before it is stored, unless the check is left for later.

use uuid::Uuid;

use crate::Error;
use crate::channel::Channels;
use connectors::cloud_api::{CloudApi, Connections, refuses_credentials};
use connectors::{Disposition, Health};
use domain::channel::{self, Channel, Kind, Status};
use domain::message::Failure;
use domain::secret::Secret;
use store::changes::Who;
use store::channels::{NewChannel, Sealed};
use vault::context;

/// The tiers of new channels whose company's tier is for another kind.
const USUAL: &str = "standard";
const USUAL_WEB: &str = "web-new";

/// A channel to add.
#[derive(Debug)]
pub struct Addition {
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The company's name for it.
    pub name: String,
    /// The tier. `None` stands for the company's tier if that fits the kind of channel, else for the default tier of
    /// the kind.
    pub tier: Option<String>,
    /// The number of a business account; a channel without one is a web session.
    pub number: Option<Number>,
}

/// The number of a business account.
#[derive(Debug)]
pub struct Number {
    /// The number as shown to people; the provider's form takes precedence.
    pub phone_number: Option<String>,
    /// The provider's id of the number; no two channels share one.
    pub phone_number_id: String,
    /// The provider's id of the business account.
    pub waba_id: String,
    /// The provider's access token.
    pub token: Secret,
    /// The secret that signs the provider's webhooks.
    pub app_secret: Option<Secret>,
    /// Whether the provider is asked first.
    pub check: Check,
}

/// Whether a business account is checked before it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Store it only if the provider knows it and accepts the token.
    AtProvider,
    /// Store it unchecked; the provider is asked once the channel exists.
    Later,
}

/// Why a business account cannot be a channel, by the provider's answer.
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
    /// The provider did not answer.
    Away(Failure),
}

/// Why a channel was not added.
#[derive(Debug)]
pub enum NotAdded {
    /// The provider's answer excludes it.
    Unfit(Unfit),
    /// A channel with this number exists; a number belongs to one channel.
    Taken,
    /// The check or the write failed.
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

impl Channels<'_> {
    /// Adds a channel, with its secrets sealed. A business account is `connecting` until the provider confirms it; a
    /// web session waits for a phone. With a check, a business account is added only when the provider knows its number
    /// and account and the token may use them.
    ///
    /// # Errors
    ///
    /// [`NotAdded`].
    pub async fn add(&self, who: &Who, addition: Addition) -> Result<Channel, NotAdded> {
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
        self.engine.check_sealing()?;
        let (id, vault) = (Uuid::now_v7(), &self.engine.0.shared.vault);
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
        let channel = self.engine.store().channels().add(who, new).await?;
        if let Some(said) = said {
            self.engine.store().channels().set_number(id, said).await?;
        }
        Ok(channel)
    }

    /// The provider's report on a number before it becomes a channel.
    ///
    /// # Errors
    ///
    /// When no client for the provider can be created; the provider's objections are [`Unfit`].
    async fn ask_about(&self, new: &Number) -> Result<Result<channel::Number, Unfit>, Error> {
        let options = &self.engine.0.shared.cloud_api;
        let unusable = |error: connectors::Error| {
            tracing::error!(%error, "cannot create a client to check a new channel at the provider");
            Error::Internal
        };
        let connections = Connections::new(options, &self.engine.0.network).map_err(unusable)?;
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
            Err(connectors::Error::Refused(disposition, failure)) => {
                Err(unfit(disposition, failure, Unfit::Account))
            }
            Err(connectors::Error::NoAnswer(sentence)) => Err(Unfit::Away(Failure { code: None, sentence })),
        })
    }

    /// The company's tier if it is for this kind, else the default tier of the kind.
    async fn tier_of_new(&self, company_id: Uuid, kind: Kind) -> Result<String, Error> {
        let company =
            self.engine.records_of(company_id).await?.companies().find_named(&company_id.to_string()).await?;
        let own = company.map(|company| self.engine.0.shared.tiers.find(&company.tier));
        let usual = match kind {
            Kind::BusinessAccount => USUAL,
            Kind::WebSession => USUAL_WEB,
        };
        Ok(own.filter(|tier| tier.kind == kind).map_or_else(|| usual.to_owned(), |tier| tier.name.clone()))
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
