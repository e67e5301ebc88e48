//! Requests to a channel's provider from outside the engine: its templates, and whether the channel works.
//!
//! For commands that a person waits for. A running service asks through its channel actors.

use anyhow::{Context as _, anyhow};

use super::App;
use crate::clock::Timestamp;
use crate::connector::cloud_api::{CloudApi, Connections};
use crate::connector::{Disposition, Error, Health};
use crate::domain::address;
use crate::domain::channel::{Channel, Connection, Status};
use crate::store::templates::Record;
use crate::vault::context;

impl App {
    /// Fetches all templates of the channel's business account, stores them and returns the account's
    /// templates.
    ///
    /// # Errors
    ///
    /// A sentence that says what the provider answered and what to do; nothing was changed then.
    pub async fn sync_templates(&self, channel: &Channel) -> anyhow::Result<Vec<Record>> {
        let waba_id = channel.waba_id.as_deref().ok_or_else(|| {
            anyhow!("the channel `{}` has no business account and so no templates", channel.name)
        })?;
        let connector = self.connector(channel, waba_id).await?;
        let as_of = Timestamp::now();
        let listed = connector.templates().await.map_err(|error| self.sentence(error, channel))?;
        self.store.of(channel.company_id).templates().sync_as_of(waba_id, &listed, as_of).await?;
        let mut templates = self.store.of(channel.company_id).templates().all().await?;
        templates.retain(|template| template.waba_id == waba_id);
        Ok(templates)
    }

    /// Asks the provider whether the channel works and records the answer. Without an answer, the channel
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// When the channel has no token that can be opened, or the store fails.
    pub async fn probe(&self, channel: &Channel) -> anyhow::Result<()> {
        let connector = self.connector(channel, channel.waba_id.as_deref().unwrap_or_default()).await?;
        let (status, reason) = match connector.health().await {
            Health::Healthy(number) => {
                self.store.channels().set_number(channel.id, number).await?;
                if channel.trial.is_some() {
                    // Only an accepted message connects the channel again.
                    return Ok(());
                }
                (Status::Connected, None)
            }
            Health::Refused(disposition, failure) => match disposition.refusal(&failure) {
                Some((status, reason)) => (status, Some(reason)),
                None => return Ok(()),
            },
            Health::Unknown(_) => return Ok(()),
        };
        let settled = Connection { status, reason, since: Timestamp::now() };
        self.store.channels().set_connection(channel.id, &channel.connection, &settled).await?;
        Ok(())
    }

    async fn connector(&self, channel: &Channel, waba_id: &str) -> anyhow::Result<CloudApi> {
        let id = channel.id;
        let again = format!("enter it again with `pombo channel reconnect {id} --token-file FILE`");
        let sealed = self.store.channels().secrets(id).await?.and_then(|sealed| sealed.token);
        let sealed =
            sealed.ok_or_else(|| anyhow!("the channel `{}` has no access token; {again}", channel.name))?;
        let token = self.vault.unseal(&sealed, &context::token(id)).with_context(|| {
            format!("the access token of the channel `{}` cannot be opened; {again}", channel.name)
        })?;
        let connections = Connections::new(&self.config.cloud_api, &self.config.network)?;
        let phone_number_id = channel.phone_number_id.as_deref().unwrap_or_default();
        Ok(CloudApi::new(connections, &self.config.cloud_api, phone_number_id, waba_id, &token)?)
    }

    /// The sentence about the provider's answer for the person who asked.
    fn sentence(&self, error: Error, channel: &Channel) -> anyhow::Error {
        let (id, name) = (channel.id, &channel.name);
        let sentence = match &error {
            Error::Refused(Disposition::Disconnect, _) => format!(
                "the provider refuses the credentials of the channel `{name}`; create a new access token that may \
                 use its business account and enter it with `pombo channel reconnect {id} --token-file FILE`"
            ),
            Error::Refused(Disposition::Block | Disposition::Restrict, _) => format!(
                "the provider has restricted the business account of the channel `{name}`; the provider's \
                 console says what to do, a new token does not help"
            ),
            Error::Refused(
                Disposition::Wait
                | Disposition::Retry
                | Disposition::SlowNumber
                | Disposition::SlowAccount
                | Disposition::SlowApp
                | Disposition::Maintenance,
                _,
            ) => "the provider cannot answer now; try again in a few minutes".to_owned(),
            Error::Refused(
                Disposition::Fail
                | Disposition::Pair
                | Disposition::HoldTemplate
                | Disposition::HoldRecipient
                | Disposition::Suppress(_),
                _,
            ) => format!(
                "the provider does not know the business account {} of the channel `{name}`, or its token may not \
                 use it; compare the id with the provider's console",
                channel.waba_id.as_deref().unwrap_or_default()
            ),
            Error::NoAnswer(_) => format!(
                "no answer from the provider at {}; check the network and cloud_api.base_url",
                address::shown(&self.config.cloud_api.base_url)
            ),
        };
        anyhow::Error::new(error).context(sentence)
    }
}
