//! People's changes of endpoints by the engine: they count at once.

use std::time::Duration;

use uuid::Uuid;

use super::endpoints::{WebhookEndpoints, no_such_webhook};
use super::rules::{EndpointChange, EndpointRules, checked_secret, former_until, no_verify_token};
use super::stored::{ShownEndpoint, StoredEndpoints};
use crate::records::Records;
use crate::{Error, RETRY_AFTER, Who};
use clock::Timestamp;
use domain::page::{Page, Window};
use domain::secret::Secret;
use domain::webhook::{Endpoint, Resume, SetFor, Shape};
use store::webhooks::{Changing, Delivery};

/// How often a change is checked again because another one came first.
const CHANGES: u32 = 5;

impl WebhookEndpoints<'_> {
    /// The company's endpoints, the oldest first.
    pub async fn list(&self, company: Uuid) -> Result<Vec<ShownEndpoint>, Error> {
        let records = self.engine.records_of(company).await?;
        Ok(self.stored(&records, company).list().await?)
    }

    /// The company's endpoints, the oldest first, without what each of them has not got yet.
    pub async fn endpoints(&self, company: Uuid) -> Result<Vec<Endpoint>, Error> {
        let records = self.engine.records_of(company).await?;
        Ok(records.of(company).webhooks().list().await?)
    }

    /// The company's endpoint of this id.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`.
    pub async fn find(&self, company: Uuid, id: Uuid) -> Result<ShownEndpoint, Error> {
        let records = self.engine.records_of(company).await?;
        let found = self.stored(&records, company).find(id).await?;
        found.ok_or_else(|| no_such_webhook().into())
    }

    /// Adds an endpoint, and returns it with the secret that signs its requests: the given one, or a new one. It cannot be read
    /// again. With a verify token, the receiver is asked first whether it expects webhooks.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a setting at fault and for an address that no delivery could reach, `too_many_webhooks`.
    pub async fn add(
        &self,
        who: &Who,
        company: Uuid,
        new: EndpointChange,
        secret: Option<Secret>,
        verify_token: Option<Secret>,
    ) -> Result<(ShownEndpoint, Secret), Error> {
        self.add_for(who, company, (new, None), secret, verify_token).await
    }

    /// Adds an endpoint that a program sets for something, or a person for nothing.
    pub(crate) async fn add_for(
        &self,
        who: &Who,
        company: Uuid,
        (new, set_for): (EndpointChange, Option<SetFor>),
        secret: Option<Secret>,
        verify_token: Option<Secret>,
    ) -> Result<(ShownEndpoint, Secret), Error> {
        let secret = checked_secret(secret, new.shape.unwrap_or_default())?;
        let mut new = self.rules().check(company, None, new).await?;
        new.settings.set_for = set_for;
        if let Some(token) = verify_token {
            if new.settings.shape != Shape::Graph {
                return Err(no_verify_token().into());
            }
            self.verify(company, &new.settings.url, &token).await?;
        }
        self.engine.check_sealing()?;
        let records = self.engine.records_of(company).await?;
        let added = self.stored(&records, company).add(who, new, secret).await??;
        self.changed();
        Ok(added)
    }

    /// Asks the receiver of an endpoint of the shape `graph`, once, whether it expects webhooks with this verify token.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`; `invalid_field` when it does not answer as it should, or gets Pombo's own events.
    pub async fn verify_endpoint(
        &self,
        company: Uuid,
        id: Uuid,
        token: &Secret,
    ) -> Result<ShownEndpoint, Error> {
        let shown = self.find(company, id).await?;
        if shown.endpoint.settings.shape != Shape::Graph {
            return Err(no_verify_token().into());
        }
        self.verify(company, &shown.endpoint.settings.url, token).await?;
        Ok(shown)
    }

    /// Changes settings of an endpoint.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`, and `invalid_field` as for [`WebhookEndpoints::add`].
    pub async fn change(
        &self,
        who: &Who,
        company: Uuid,
        id: Uuid,
        change: EndpointChange,
    ) -> Result<ShownEndpoint, Error> {
        for _ in 0..CHANGES {
            let records = self.engine.records_of(company).await?;
            let present = records.of(company).webhooks().find(id).await?;
            // The check of an address may take some seconds.
            drop(records);
            let present = present.ok_or_else(no_such_webhook)?.settings;
            let changed = self.rules().check(company, Some(present), change.clone()).await?;
            self.engine.check_sealing()?;
            let records = self.engine.records_of(company).await?;
            let changing = self.stored(&records, company).change(who, id, changed).await??;
            drop(records);
            match changing {
                Changing::Done => {
                    self.changed();
                    return self.find(company, id).await;
                }
                // Somebody else changed it meanwhile, perhaps something else of it.
                Changing::Outdated => {}
                Changing::NoEndpoint => return Err(no_such_webhook().into()),
            }
        }
        Err(Error::Unavailable { retry_after: RETRY_AFTER })
    }

    /// Replaces the secret of an endpoint by the given one, or by a new one. For the time `overlap`, the former secret signs, too. Returns the new secret, and
    /// until when the former one signs.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`, `invalid_field` when the overlap is too long, [`Error::Unavailable`] when others replace the secret at
    /// the same time.
    pub async fn rotate(
        &self,
        who: &Who,
        company: Uuid,
        id: Uuid,
        secret: Option<Secret>,
        overlap: Duration,
    ) -> Result<(Secret, Option<Timestamp>), Error> {
        let former_until = former_until(overlap)?;
        self.engine.check_sealing()?;
        let records = self.engine.records_of(company).await?;
        let present = records.of(company).webhooks().find(id).await?.ok_or_else(no_such_webhook)?;
        let secret = checked_secret(secret, present.settings.shape)?;
        match self.stored(&records, company).rotate(who, id, &secret, former_until).await? {
            Changing::Done => {
                self.changed();
                Ok((secret, former_until))
            }
            Changing::Outdated => Err(Error::Unavailable { retry_after: RETRY_AFTER }),
            Changing::NoEndpoint => Err(no_such_webhook().into()),
        }
    }

    /// Disables an endpoint, until a person enables it.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`.
    pub async fn disable(&self, who: &Who, company: Uuid, id: Uuid) -> Result<ShownEndpoint, Error> {
        let records = self.engine.records_of(company).await?;
        let disabled = records.of(company).webhooks().disable(who, id).await?;
        drop(records);
        disabled.ok_or_else(no_such_webhook)?;
        self.changed();
        self.find(company, id).await
    }

    /// Enables an endpoint.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`.
    pub async fn enable(
        &self,
        who: &Who,
        company: Uuid,
        id: Uuid,
        resume: Resume,
    ) -> Result<ShownEndpoint, Error> {
        let records = self.engine.records_of(company).await?;
        let enabled = records.of(company).webhooks().enable(who, id, resume).await?;
        drop(records);
        enabled.ok_or_else(no_such_webhook)?;
        self.changed();
        self.find(company, id).await
    }

    /// Removes an endpoint, with the log of its deliveries.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`.
    pub async fn remove(&self, who: &Who, company: Uuid, id: Uuid) -> Result<(), Error> {
        let records = self.engine.records_of(company).await?;
        if !records.of(company).webhooks().remove(who, id).await? {
            return Err(no_such_webhook().into());
        }
        self.changed();
        Ok(())
    }

    /// A part of the log of an endpoint's deliveries, the newest first.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`.
    pub async fn deliveries(
        &self,
        company: Uuid,
        id: Uuid,
        window: Window<Uuid>,
    ) -> Result<Page<Delivery>, Error> {
        let records = self.engine.records_of(company).await?;
        let webhooks = records.of(company).webhooks();
        webhooks.find(id).await?.ok_or_else(no_such_webhook)?;
        Ok(webhooks.deliveries(id, window).await?)
    }

    fn rules(&self) -> EndpointRules<'_> {
        let context = self.context();
        EndpointRules { sender: &context.sender, schemes: context.schemes }
    }

    fn stored<'r>(&'r self, records: &'r Records, company: Uuid) -> StoredEndpoints<'r> {
        StoredEndpoints { company: records.of(company), vault: &self.context().vault }
    }
}
