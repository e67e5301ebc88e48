//! People's changes of endpoints: checks what they give, seals secrets and headers, and makes a change count at once.

use std::time::Duration;

use uuid::Uuid;

use super::endpoints::{WebhookEndpoints, no_such_webhook};
use super::open::header_names;
use crate::records::Records;
use crate::{Error, Who};
use clock::Timestamp;
use clock::database::new_id;
use connectors::webhook::{DeliveryFault, signature};
use domain::error::{Code, Refusal};
use domain::event::Type;
use domain::page::{Page, Window};
use domain::secret::Secret;
use domain::webhook::{Endpoint, Header, Headers, Replay, Resume, Settings};
use store::webhooks::{Delivery, EndpointLag, EndpointRecord, HeadersChange, MOST_ENDPOINTS, NewEndpoint};
use vault::{Vault, context};

/// The longest time for which a former secret signs, too.
const MOST_OVERLAP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Settings of an endpoint to change, or those of a new one. What is `None` stays, or has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// The address of the receiver.
    pub url: Option<String>,
    /// The types of events that it gets; the default ones when there are none.
    pub types: Option<Vec<Type>>,
    /// The channels whose events it gets; all channels when there are none.
    pub channels: Option<Vec<Uuid>>,
    /// All headers that its requests have in addition to Pombo's own.
    pub headers: Option<Vec<Header>>,
    /// The most requests at the same time.
    pub max_in_flight: Option<u8>,
    /// The most events in one request.
    pub batch: Option<u8>,
    /// Whether personal numbers are masked.
    pub masks_numbers: Option<bool>,
}

impl EndpointChange {
    /// Changes the settings, and returns the headers if they are changed.
    fn apply(self, settings: &mut Settings) -> Option<Vec<Header>> {
        let Self { url, types, channels, headers, max_in_flight, batch, masks_numbers } = self;
        replace(&mut settings.url, url);
        replace(&mut settings.types, types);
        replace(&mut settings.channels, channels);
        replace(&mut settings.max_in_flight, max_in_flight);
        replace(&mut settings.batch, batch);
        replace(&mut settings.masks_numbers, masks_numbers);
        headers
    }
}

fn replace<T>(value: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *value = by;
    }
}

/// An endpoint as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The names of its headers; `None` when they cannot be unsealed.
    pub header_names: Option<Vec<String>>,
    /// The failed events that wait for another attempt.
    pub retries: u64,
    /// The events that were given up although the log has them.
    pub given_up: u64,
    /// The events that were removed from the log before the endpoint got them, since a person enabled it last.
    pub lost: u64,
    /// Since when events wait that it has not got; `None` when none do.
    pub waiting_since: Option<Timestamp>,
    /// Its last replay, whether it has ended or not.
    pub replay: Option<Replay>,
}

impl WebhookEndpoints<'_> {
    /// The company's endpoints, the oldest first.
    pub async fn list(&self, company: Uuid) -> Result<Vec<ShownEndpoint>, Error> {
        let records = self.engine.records_of(company).await?;
        let webhooks = records.of(company).webhooks();
        let (all, mut lags) = (webhooks.records().await?, webhooks.lags().await?);
        drop(records);
        let vault = &self.context().vault;
        let shown = all.into_iter().map(|record| {
            let lag = lags.remove(&record.endpoint.id).unwrap_or_default();
            let EndpointLag { retries, given_up, lost, waiting_since, replay } = lag;
            ShownEndpoint {
                header_names: names(vault, &record),
                endpoint: record.endpoint,
                retries,
                given_up,
                lost,
                waiting_since,
                replay,
            }
        });
        Ok(shown.collect())
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
        let found = self.list(company).await?.into_iter().find(|shown| shown.endpoint.id == id);
        found.ok_or_else(|| no_such_webhook().into())
    }

    /// Adds an endpoint, and returns it with the secret that signs its requests. The secret cannot be read again.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a setting at fault and for an address that no delivery could reach, `too_many_webhooks`.
    pub async fn add(
        &self,
        who: &Who,
        company: Uuid,
        new: EndpointChange,
    ) -> Result<(ShownEndpoint, Secret), Error> {
        let (id, mut settings) = (new_id(), Settings::new(String::new()));
        let headers = new.apply(&mut settings).unwrap_or_default();
        let settings = settings.checked(self.context().schemes)?;
        let headers = Headers::checked(headers)?;
        self.check_address(company, &settings.url).await?;
        self.engine.check_sealing()?;
        let records = self.engine.records_of(company).await?;
        check_channels(&records, company, &settings.channels).await?;
        let vault = &self.context().vault;
        let _hold = vault.hold();
        let secret = signature::generate();
        let new = NewEndpoint {
            id,
            settings,
            headers: (!headers.is_empty()).then(|| sealed_headers(vault, id, &headers)),
            secret: sealed_secret(vault, id, &secret),
        };
        let added = records.of(company).webhooks().add(who, new).await?;
        let endpoint = added.ok_or_else(|| {
            let sentence = format!(
                "this company has {MOST_ENDPOINTS} webhook endpoints, which is the most: delete one that is not used"
            );
            Refusal::new(Code::TooManyWebhooks, sentence)
        })?;
        self.changed();
        let names = headers.as_slice().iter().map(|header| header.name.clone()).collect();
        let shown = ShownEndpoint {
            endpoint,
            header_names: Some(names),
            retries: 0,
            given_up: 0,
            lost: 0,
            waiting_since: None,
            replay: None,
        };
        Ok((shown, secret))
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
        let records = self.engine.records_of(company).await?;
        let present = records.of(company).webhooks().find(id).await?;
        // The check of an address may take some seconds.
        drop(records);
        let mut settings = present.ok_or_else(no_such_webhook)?.settings;
        let (has_address, has_channels) = (change.url.is_some(), change.channels.is_some());
        let headers = change.apply(&mut settings).map(Headers::checked).transpose()?;
        let settings = settings.checked(self.context().schemes)?;
        if has_address {
            self.check_address(company, &settings.url).await?;
        }
        self.engine.check_sealing()?;
        let records = self.engine.records_of(company).await?;
        if has_channels {
            check_channels(&records, company, &settings.channels).await?;
        }
        let vault = &self.context().vault;
        let _hold = vault.hold();
        let headers = match headers {
            None => HeadersChange::Keep,
            Some(headers) if headers.is_empty() => HeadersChange::Remove,
            Some(headers) => HeadersChange::Replace(sealed_headers(vault, id, &headers)),
        };
        let changed = records.of(company).webhooks().change(who, id, settings, headers).await?;
        drop(records);
        changed.ok_or_else(no_such_webhook)?;
        self.changed();
        self.find(company, id).await
    }

    /// Replaces the secret of an endpoint. For the time `overlap`, the former secret signs, too. Returns the new secret, and
    /// until when the former one signs.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`, `invalid_field` when the overlap is too long.
    pub async fn rotate(
        &self,
        who: &Who,
        company: Uuid,
        id: Uuid,
        overlap: Duration,
    ) -> Result<(Secret, Option<Timestamp>), Error> {
        if overlap > MOST_OVERLAP {
            let what = "is longer than 7 days, the most for which a former secret signs";
            return Err(Refusal::of("overlap", Code::InvalidField, what).into());
        }
        self.engine.check_sealing()?;
        let former_until = (!overlap.is_zero()).then(|| Timestamp::now().plus(overlap));
        let records = self.engine.records_of(company).await?;
        let vault = &self.context().vault;
        let _hold = vault.hold();
        let secret = signature::generate();
        let sealed = sealed_secret(vault, id, &secret);
        if !records.of(company).webhooks().rotate(who, id, sealed, former_until).await? {
            return Err(no_such_webhook().into());
        }
        self.changed();
        Ok((secret, former_until))
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

    /// Refuses an address that no delivery could reach.
    async fn check_address(&self, company: Uuid, url: &str) -> Result<(), Error> {
        match self.check(company, url).await {
            // A name server may be slow now. Each delivery checks the address again.
            Ok(()) | Err(DeliveryFault::Timeout(_)) => Ok(()),
            Err(fault) => Err(Refusal::new(Code::InvalidField, fault.to_string()).about("url").into()),
        }
    }
}

/// Refuses ids that are no channels of the company.
async fn check_channels(records: &Records, company: Uuid, ids: &[Uuid]) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    let Some(unknown) = records.of(company).channels().first_unknown(ids).await? else { return Ok(()) };
    let what = format_args!(
        "has {unknown}, which is no channel of this company: GET /api/v1/chat and GET /api/v1/web-chat list its channels"
    );
    Err(Refusal::of("channel_ids", Code::InvalidField, what).into())
}

fn sealed_secret(vault: &Vault, id: Uuid, secret: &Secret) -> Vec<u8> {
    vault.seal(secret.expose().as_bytes(), &context::webhook_secret(id))
}

fn sealed_headers(vault: &Vault, id: Uuid, headers: &Headers) -> Vec<u8> {
    vault.seal(headers.to_stored().expose().as_bytes(), &context::webhook_headers(id))
}

/// The names of an endpoint's headers; `None` when they cannot be unsealed.
fn names(vault: &Vault, record: &EndpointRecord) -> Option<Vec<String>> {
    match header_names(vault, record) {
        Ok(names) => Some(names),
        Err(error) => {
            tracing::error!(webhook.id = %record.endpoint.id, %error, "the headers of a webhook cannot be unsealed");
            None
        }
    }
}
