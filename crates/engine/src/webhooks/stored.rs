//! The endpoints of a company in the store, with their secrets sealed. The engine and commands change them by this.

use uuid::Uuid;

use super::open::{former_secrets, seen};
use super::rules::CheckedEndpoint;
use crate::Who;
use clock::Timestamp;
use clock::database::new_id;
use domain::error::{Code, Refusal};
use domain::secret::Secret;
use domain::webhook::{Endpoint, Headers, Replay, SealedPart};
use store::CompanyStore;
use store::webhooks::{Changing, EndpointLag, EndpointSecrets, HeadersChange, MOST_ENDPOINTS, NewEndpoint};
use vault::{Vault, context};

/// How often a replacement begins again because another one came first.
const ROTATIONS: u32 = 5;

/// An endpoint as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The names of its headers; `None` when they cannot be unsealed.
    pub header_names: Option<Vec<String>>,
    /// What of it cannot be unsealed. While there is any, it gets no events, and they wait.
    pub unsealable: Vec<SealedPart>,
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

impl ShownEndpoint {
    fn new(
        endpoint: Endpoint,
        (header_names, unsealable): (Option<Vec<String>>, Vec<SealedPart>),
        lag: EndpointLag,
    ) -> Self {
        let EndpointLag { retries, given_up, lost, waiting_since, replay } = lag;
        Self { endpoint, header_names, unsealable, retries, given_up, lost, waiting_since, replay }
    }
}

/// The endpoints of one company in the store.
///
/// What needs no secret, such as disabling one, the store does by itself.
#[derive(Clone, Copy)]
pub struct StoredEndpoints<'a> {
    /// The company's part of the store.
    pub company: CompanyStore<'a>,
    /// Seals and unseals secrets and headers.
    pub vault: &'a Vault,
}

impl StoredEndpoints<'_> {
    /// The endpoints, the oldest first.
    pub async fn list(self) -> store::Result<Vec<ShownEndpoint>> {
        let webhooks = self.company.webhooks();
        let (all, mut lags) = (webhooks.records().await?, webhooks.lags().await?);
        let shown = all.into_iter().map(|record| {
            let lag = lags.remove(&record.endpoint.id).unwrap_or_default();
            // An unused vault unseals nothing, although the service may.
            let parts = if self.vault.is_unused() { (None, Vec::new()) } else { seen(self.vault, &record) };
            ShownEndpoint::new(record.endpoint, parts, lag)
        });
        Ok(shown.collect())
    }

    /// The endpoint of this id.
    pub async fn find(self, id: Uuid) -> store::Result<Option<ShownEndpoint>> {
        Ok(self.list().await?.into_iter().find(|shown| shown.endpoint.id == id))
    }

    /// Adds an endpoint, and returns it with the secret that signs its requests, which cannot be read again.
    ///
    /// # Errors
    ///
    /// Those of the database. The refusals are `invalid_field` for channels of others, and `too_many_webhooks`.
    pub async fn add(
        self,
        who: &Who,
        new: CheckedEndpoint,
        secret: Secret,
    ) -> store::Result<Result<(ShownEndpoint, Secret), Refusal>> {
        if let Some(refusal) = self.foreign_channel(&new).await? {
            return Ok(Err(refusal));
        }
        let CheckedEndpoint { settings, headers, .. } = new;
        let (id, headers) = (new_id(), headers.unwrap_or_default());
        let _hold = self.vault.hold();
        let new = NewEndpoint {
            id,
            settings,
            headers: (!headers.is_empty()).then(|| self.sealed_headers(id, &headers)),
            secret: self.sealed_secret(id, &secret),
        };
        let Some(endpoint) = self.company.webhooks().add(who, new).await? else {
            let sentence = format!(
                "this company has {MOST_ENDPOINTS} webhook endpoints, which is the most: delete one that is not used"
            );
            return Ok(Err(Refusal::new(Code::TooManyWebhooks, sentence)));
        };
        let names = headers.as_slice().iter().map(|header| header.name.clone()).collect();
        Ok(Ok((ShownEndpoint::new(endpoint, (Some(names), Vec::new()), EndpointLag::default()), secret)))
    }

    /// Changes an endpoint. The caller checks again when its settings are other ones than those that were checked.
    ///
    /// # Errors
    ///
    /// Those of the database. The refusal is `invalid_field` for channels of others.
    pub async fn change(
        self,
        who: &Who,
        id: Uuid,
        changed: CheckedEndpoint,
    ) -> store::Result<Result<Changing, Refusal>> {
        if let Some(refusal) = self.foreign_channel(&changed).await? {
            return Ok(Err(refusal));
        }
        if changed.moves_headers
            && self.company.webhooks().secrets(id).await?.is_some_and(|secrets| secrets.headers.is_some())
        {
            let what = "have to be given again, or as {}, because the address leads to another receiver, which would get them";
            return Ok(Err(Refusal::of("headers", Code::InvalidField, what)));
        }
        let CheckedEndpoint { settings, headers, former, .. } = changed;
        let _hold = self.vault.hold();
        let headers = match headers {
            None => HeadersChange::Keep,
            Some(headers) if headers.is_empty() => HeadersChange::Remove,
            Some(headers) => HeadersChange::Replace(self.sealed_headers(id, &headers)),
        };
        let former = former.unwrap_or_else(|| settings.clone());
        Ok(Ok(self.company.webhooks().change(who, id, (&former, settings), headers).await?))
    }

    /// Replaces the secret of an endpoint. The former one signs, too, until then, and so do those before it until their own
    /// times; with `None` none of them does. The caller retries when others replaced it meanwhile, again and again.
    pub async fn rotate(
        self,
        who: &Who,
        id: Uuid,
        secret: &Secret,
        former_until: Option<Timestamp>,
    ) -> store::Result<Changing> {
        let webhooks = self.company.webhooks();
        for _ in 0..ROTATIONS {
            let _hold = self.vault.hold();
            let Some(EndpointSecrets { headers: _, secret: present, former }) = webhooks.secrets(id).await?
            else {
                return Ok(Changing::NoEndpoint);
            };
            let former = former_until.and_then(|until| self.sealed_former(id, &present, former, until));
            let sealed = self.sealed_secret(id, secret);
            if webhooks.rotate(who, id, &present, sealed, former).await? {
                return Ok(Changing::Done);
            }
        }
        Ok(Changing::Outdated)
    }

    /// The secrets that sign beside a new one. One that cannot be unsealed signs nothing, and is left out.
    fn sealed_former(
        self,
        id: Uuid,
        present: &[u8],
        former: Option<(Vec<u8>, Timestamp)>,
        until: Timestamp,
    ) -> Option<(Vec<u8>, Timestamp)> {
        let unsealable = |error: &dyn std::fmt::Display| {
            tracing::error!(webhook.id = %id, %error, "a former secret of a webhook cannot be unsealed, it signs no longer");
        };
        let present = self.vault.unseal(present, &context::webhook_secret(id));
        let present = present.inspect_err(|error| unsealable(error)).ok()?;
        let former = former.map(|(sealed, _)| former_secrets(self.vault, id, &sealed));
        let former = former.transpose().inspect_err(|error| unsealable(error)).ok().flatten();
        let all = former.unwrap_or_default().and(present, until, Timestamp::now());
        let ends = all.until()?;
        Some((self.vault.seal(all.to_stored().expose().as_bytes(), &context::webhook_secret(id)), ends))
    }

    /// The refusal of given ids that are no channels of the company.
    async fn foreign_channel(self, given: &CheckedEndpoint) -> store::Result<Option<Refusal>> {
        let ids = &given.settings.channels;
        if !given.has_channels || ids.is_empty() {
            return Ok(None);
        }
        let Some(unknown) = self.company.channels().first_unknown(ids).await? else { return Ok(None) };
        let what = format_args!(
            "has {unknown}, which is no channel of this company: GET /api/v1/chat and GET /api/v1/web-chat list its channels"
        );
        Ok(Some(Refusal::of("channel_ids", Code::InvalidField, what)))
    }

    fn sealed_secret(self, id: Uuid, secret: &Secret) -> Vec<u8> {
        self.vault.seal(secret.expose().as_bytes(), &context::webhook_secret(id))
    }

    fn sealed_headers(self, id: Uuid, headers: &Headers) -> Vec<u8> {
        self.vault.seal(headers.to_stored().expose().as_bytes(), &context::webhook_headers(id))
    }
}
