//! An endpoint that is ready to get events: its settings, with its secrets unsealed.

use uuid::Uuid;

use super::former::FormerSecrets;
use super::machine;
use clock::Timestamp;
use connectors::webhook::signature::{self, InvalidSecret};
use connectors::webhook::{AppSecret, Delivery, SigningKey};
use domain::event::{Data, Event, Type};
use domain::secret::Secret;
use domain::webhook::{GraphReach, Headers, SealedPart, Settings, Shape, WebhookProfile, signed_at};
use store::webhooks::{EndpointRecord, EndpointSecrets};
use vault::{Vault, context};

/// An endpoint whose secrets are unsealed.
pub(super) struct OpenEndpoint {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    settings: Settings,
    /// What it hears of in the shape `graph`.
    reach: GraphReach,
    headers: Vec<(String, Secret)>,
    key: SigningKey,
    /// In the shape `graph`, what signs as Meta does.
    app_secret: Option<AppSecret>,
    /// The keys before, which sign too, each until its time.
    former: Vec<FormerKey>,
}

/// Why an endpoint cannot get events.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unopened {
    #[error(transparent)]
    Vault(#[from] vault::Error),
    #[error(transparent)]
    Secret(#[from] InvalidSecret),
    #[error("the headers cannot be read")]
    Headers,
    #[error("the secrets that were replaced cannot be read")]
    Former,
}

/// The headers of an endpoint's requests.
fn headers(vault: &Vault, record: &EndpointRecord) -> Result<Headers, Unopened> {
    let Some(sealed) = &record.secrets.headers else { return Ok(Headers::default()) };
    let text = vault.unseal(sealed, &context::webhook_headers(record.endpoint.id))?;
    Headers::from_stored(&text).ok_or(Unopened::Headers)
}

/// The secrets of an endpoint that were replaced and sign for a while.
pub(super) fn former_secrets(
    vault: &Vault,
    endpoint: Uuid,
    sealed: &[u8],
) -> Result<FormerSecrets, Unopened> {
    let text = vault.unseal(sealed, &context::webhook_secret(endpoint))?;
    FormerSecrets::from_stored(&text).ok_or(Unopened::Former)
}

/// A key that signed before, with the time until which it signs.
type FormerKey = (SigningKey, Timestamp);

/// The secret that signs the requests to an endpoint, and the keys before.
fn keys(vault: &Vault, record: &EndpointRecord) -> Result<(Secret, Vec<FormerKey>), Unopened> {
    let id = record.endpoint.id;
    let EndpointSecrets { headers: _, secret, former } = &record.secrets;
    let present = vault.unseal(secret, &context::webhook_secret(id))?;
    let former = match former {
        Some((sealed, _)) => former_secrets(vault, id, sealed)?.into_secrets(),
        None => Vec::new(),
    };
    let former = former.into_iter().map(|(secret, until)| Ok((signing_key(&secret)?, until)));
    let former = former.collect::<Result<_, Unopened>>()?;
    signing_key(&present)?;
    Ok((present, former))
}

/// The key of a secret. That of an endpoint for Meta's webhooks may have the form of Meta's secrets.
fn signing_key(secret: &Secret) -> Result<SigningKey, InvalidSecret> {
    SigningKey::parse(secret)
        .or_else(|invalid| AppSecret::parse(secret).map(|app| app.signing_key(secret)).map_err(|_| invalid))
}

/// The names of the headers of an endpoint's requests, if these can be unsealed, and the parts of the endpoint that cannot. While
/// there is any, the endpoint gets no events.
pub(super) fn seen(vault: &Vault, record: &EndpointRecord) -> (Option<Vec<String>>, Vec<SealedPart>) {
    let headers = headers(vault, record).ok();
    let parts = [(SealedPart::Secret, keys(vault, record).is_ok()), (SealedPart::Headers, headers.is_some())];
    let unsealable = parts.into_iter().filter(|(_, is_open)| !is_open).map(|(part, _)| part).collect();
    let names = headers.map(|headers| headers.as_slice().iter().map(|header| header.name.clone()).collect());
    (names, unsealable)
}

impl OpenEndpoint {
    pub(super) fn new(vault: &Vault, record: &EndpointRecord) -> Result<Self, Unopened> {
        let endpoint = &record.endpoint;
        let (secret, former) = keys(vault, record)?;
        let app_secret = match endpoint.settings.shape {
            Shape::Pombo => None,
            Shape::Graph => AppSecret::parse(&secret).ok(),
        };
        let headers = headers(vault, record)?;
        let headers = headers.as_slice().iter().map(|header| (header.name.clone(), header.value.clone()));
        Ok(Self {
            id: endpoint.id,
            company_id: endpoint.company_id,
            settings: endpoint.settings.clone(),
            reach: record.reach.clone(),
            headers: headers.collect(),
            key: signing_key(&secret)?,
            app_secret,
            former,
        })
    }

    /// The settings of its machine.
    pub(super) fn machine_settings(&self) -> machine::EndpointSettings {
        machine::EndpointSettings {
            max_in_flight: usize::from(self.settings.max_in_flight),
            batch: usize::from(self.settings.batch),
        }
    }

    /// Whether it gets events of this type.
    pub(super) fn wants_type(&self, r#type: Type) -> bool {
        self.settings.wants_type(r#type)
    }

    /// Whether it gets this event. What happens to itself is told to others.
    pub(super) fn wants(&self, event: &Event) -> bool {
        let about = match &event.data {
            Data::WebhookDisabled(data) => Some(data.webhook_id),
            Data::WebhookRecovered(data) => Some(data.webhook_id),
            _ => None,
        };
        let is_own = about == Some(self.id);
        let is_within = match self.settings.shape {
            Shape::Pombo => self.settings.wants_channel(event.channel_id),
            Shape::Graph => self.reach.has(event),
        };
        !is_own && is_within && self.settings.wants_type(event.r#type)
    }

    /// What its receiver understands, if it gets Meta's webhooks.
    pub(super) const fn profile(&self) -> Option<WebhookProfile> {
        match self.settings.shape {
            Shape::Pombo => None,
            Shape::Graph => Some(self.settings.profile),
        }
    }

    /// Whether its requests have lists of events.
    pub(super) const fn is_batched(&self) -> bool {
        self.settings.batch > 1
    }

    pub(super) const fn masks_numbers(&self) -> bool {
        self.settings.masks_numbers
    }

    /// The names of the headers that its requests have in addition to Pombo's own.
    pub(super) fn header_names(&self) -> Vec<String> {
        self.headers.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The `number`-th attempt, which begins now.
    pub(super) fn delivery(&self, id: String, body: Vec<u8>, now: Timestamp, number: u16) -> Delivery {
        let former = self.former.iter().filter(|(_, until)| *until > now).map(|(key, _)| key);
        let keys: Vec<_> = std::iter::once(&self.key).chain(former).cloned().collect();
        Delivery {
            company_id: self.company_id,
            url: self.settings.url.clone(),
            headers: self.headers.clone(),
            signature: signature::sign(&keys, &id, signed_at(now), &body),
            id,
            at: now,
            hub: self.app_secret.as_ref().map(|secret| (secret.sign(&body), number)),
            body,
        }
    }
}
