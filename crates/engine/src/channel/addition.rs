//! New channels: a business account is checked at the provider before it is stored, unless the check is left for later.
//! [`super::checks`] asks the provider.

use uuid::Uuid;

use super::checks::{Checked, Unfit};
use crate::Error;
use crate::channel::Channels;
use domain::channel::{Channel, Kind, Status};
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

/// A channel that was added.
#[derive(Debug)]
pub struct Added {
    /// The channel.
    pub channel: Channel,
    /// What the provider says about a business account, if it was asked.
    pub checked: Option<Checked>,
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
    pub async fn add(&self, who: &Who, addition: Addition) -> Result<Added, NotAdded> {
        let Addition { company_id, name, tier, number } = addition;
        let checked = match &number {
            Some(Number { phone_number_id, waba_id, token, check: Check::AtProvider, .. }) => {
                Some(self.ask_about(phone_number_id, waba_id, token).await?.map_err(NotAdded::Unfit)?)
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
            let said = checked.as_ref().and_then(|checked| checked.number.phone_number.clone());
            let shown = said.or(phone_number);
            new.phone_number = Some(shown.unwrap_or_default());
            new.phone_number_id = Some(phone_number_id);
            new.waba_id = Some(waba_id);
            new.status = Status::Connecting;
        }
        let channel = self.engine.store().channels().add(who, new).await?;
        if let Some(checked) = &checked {
            self.engine.store().channels().set_number(id, checked.number.clone()).await?;
        }
        Ok(Added { channel, checked })
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
