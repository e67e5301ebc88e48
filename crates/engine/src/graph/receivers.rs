//! The receivers of webhooks that programs set for a number, an account or the app. People add receivers beside them.

use uuid::Uuid;

use super::GraphDoor;
use crate::{EndpointChange, Error, ShownEndpoint, Who};
use connectors::webhook::AppSecret;
use domain::channel::Kind;
use domain::error::{Code, Refusal};
use domain::secret::Secret;
use domain::webhook::{Resume, SetFor, Shape};

impl GraphDoor<'_> {
    /// The receiver that a program set for this; `None` when none did, or one did whose key is for other channels.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn receiver(&self, set_for: &SetFor) -> Result<Option<ShownEndpoint>, Error> {
        Ok(self.set(set_for).await?.filter(|shown| self.is_in_reach(set_for, shown)))
    }

    /// Sets the receiver for this, in place of the one before, once it was asked whether it expects webhooks.
    ///
    /// # Errors
    ///
    /// `invalid_field` when the address cannot be used, the receiver does not answer with the challenge, or a key for other channels
    /// set the present receiver; `too_many_webhooks`.
    pub async fn set_receiver(
        &self,
        who: &Who,
        set_for: &SetFor,
        url: &str,
        token: Secret,
    ) -> Result<(), Error> {
        let endpoints = self.engine.webhook_endpoints();
        let change = EndpointChange {
            url: Some(url.to_owned()),
            shape: Some(Shape::Graph),
            channels: Some(self.channels_of(set_for)),
            ..EndpointChange::default()
        };
        let Some(present) = self.own_receiver(set_for).await? else {
            let secret = self.app_secret_of(set_for).await?;
            let new = (change, Some(set_for.clone()));
            endpoints.add_for(who, self.company, new, secret, Some(token)).await?;
            return Ok(());
        };
        endpoints.verify(self.company, url, &token).await?;
        let change = EndpointChange { shape: None, channels: None, headers: Some(Vec::new()), ..change };
        endpoints.change(who, self.company, present.endpoint.id, change).await?;
        if !present.endpoint.is_enabled() {
            // The program wants its events again, and none of the past.
            endpoints.enable(who, self.company, present.endpoint.id, Resume::FromNow).await?;
        }
        Ok(())
    }

    /// Removes the receiver that a program set for this, if there is one.
    ///
    /// # Errors
    ///
    /// `invalid_field` when a key for other channels set it.
    pub async fn remove_receiver(&self, who: &Who, set_for: &SetFor) -> Result<(), Error> {
        match self.own_receiver(set_for).await? {
            Some(present) => {
                self.engine.webhook_endpoints().remove(who, self.company, present.endpoint.id).await
            }
            None => Ok(()),
        }
    }

    async fn set(&self, set_for: &SetFor) -> Result<Option<ShownEndpoint>, Error> {
        let all = self.engine.webhook_endpoints().list(self.company).await?;
        Ok(all.into_iter().find(|shown| shown.endpoint.settings.set_for.as_ref() == Some(set_for)))
    }

    /// The present receiver, which this key may replace.
    async fn own_receiver(&self, set_for: &SetFor) -> Result<Option<ShownEndpoint>, Error> {
        let Some(present) = self.set(set_for).await? else { return Ok(None) };
        if !self.is_in_reach(set_for, &present) {
            let sentence = "a key for other channels set the receiver of this: delete it in the console, or with DELETE \
                            /api/v1/webhooks/{id}";
            return Err(Refusal::new(Code::InvalidField, sentence).into());
        }
        Ok(Some(present))
    }

    /// Whether a receiver gets what this key may see, and nothing else. One for a number does: the key may use the number.
    fn is_in_reach(&self, set_for: &SetFor, shown: &ShownEndpoint) -> bool {
        shown.endpoint.settings.channels == self.channels_of(set_for)
    }

    /// The channels to which a receiver for this is bound: those of the key.
    fn channels_of(&self, set_for: &SetFor) -> Vec<Uuid> {
        match (set_for, &self.bound) {
            (SetFor::Number(_), _) | (_, None) => Vec::new(),
            (SetFor::Account(_) | SetFor::App, Some(bound)) => {
                let mut channels = bound.to_vec();
                channels.sort_unstable();
                channels.dedup();
                channels
            }
        }
    }

    /// The app secret of a business account, with which a program verifies webhooks that Meta sends: ours look the same to it.
    async fn app_secret_of(&self, set_for: &SetFor) -> Result<Option<Secret>, Error> {
        for channel in self.channels().await? {
            let is_meant = match set_for {
                SetFor::Number(id) => channel.id == *id,
                SetFor::Account(account) => channel.waba_id == *account,
                SetFor::App => true,
            };
            if is_meant && channel.kind == Kind::BusinessAccount {
                let secret = self.engine.webhooks().app_secret(&channel).await?;
                let secret = secret.map(|secret| (*secret).clone());
                return Ok(secret.filter(|secret| AppSecret::parse(secret).is_ok()));
            }
        }
        Ok(None)
    }
}
