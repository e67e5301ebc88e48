//! New channels: a business account is checked at the provider before it is kept.

use uuid::Uuid;

use super::operation::{self, Addition};
use super::{Engine, Error};
use crate::connector::cloud_api::{CloudApi, Connections, refuses_credentials};
use crate::connector::{self, Disposition, Health};
use crate::domain::channel::{Channel, Kind, Number};
use crate::domain::message::Failure;
use crate::domain::secret::Secret;
use crate::error::{Code, Refusal};
use crate::store;
use crate::store::change::Who;

/// The tiers of channels whose company has none for their kind.
const USUAL: &str = "standard";
const USUAL_WEB: &str = "web-new";

/// A business account that is to become a channel.
#[derive(Debug)]
pub struct NewBusinessAccount {
    /// Whose it is.
    pub company_id: Uuid,
    /// What the company calls it.
    pub name: String,
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The provider's id of the business account.
    pub waba_id: String,
    /// The provider's access token.
    pub token: Secret,
    /// What signs the provider's webhooks.
    pub app_secret: Option<Secret>,
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
        match error {
            Error::Refused(Refusal { code: Code::AlreadyExists, .. }) => Self::Taken,
            other => Self::Failed(other),
        }
    }
}

impl From<store::Error> for NotAdded {
    fn from(error: store::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Engine {
    /// Asks the provider for the number and the business account, and adds the channel when it knows both and the token
    /// may use them. Token and app secret are sealed here.
    ///
    /// # Errors
    ///
    /// [`NotAdded`].
    pub async fn add_business_account(
        &self,
        who: &Who,
        new: NewBusinessAccount,
    ) -> Result<Channel, NotAdded> {
        let said = self.check_business_account(&new).await?.map_err(NotAdded::Unfit)?;
        let NewBusinessAccount { company_id, name, phone_number_id, waba_id, token, app_secret } = new;
        let tier = self.tier_of_new(company_id, Kind::BusinessAccount).await?;
        let phone_number = said.phone_number.clone().unwrap_or_default();
        let number = Some(operation::Number { phone_number, phone_number_id, waba_id, token, app_secret });
        let addition = Addition { company_id, kind: Kind::BusinessAccount, name, tier, number };
        let channel = self.add_channel(who, addition).await?;
        self.store().set_channel_number(channel.id, said).await?;
        Ok(channel)
    }

    /// Adds a channel that waits for a phone.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now.
    pub async fn add_web_session(&self, who: &Who, company_id: Uuid, name: String) -> Result<Channel, Error> {
        let tier = self.tier_of_new(company_id, Kind::WebSession).await?;
        let addition = Addition { company_id, kind: Kind::WebSession, name, tier, number: None };
        self.add_channel(who, addition).await
    }

    /// What the provider says of a number before it becomes a channel.
    ///
    /// # Errors
    ///
    /// When no client for the provider can be made; what the provider finds wrong is [`Unfit`].
    async fn check_business_account(&self, new: &NewBusinessAccount) -> Result<Result<Number, Unfit>, Error> {
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
