//! An endpoint that is ready to get events: its settings, with its secrets unsealed.

use std::time::Duration;

use uuid::Uuid;

use super::machine;
use clock::Timestamp;
use connectors::webhook::signature::InvalidSecret;
use connectors::webhook::{Delivery, SigningKey};
use domain::event::{Event, Type};
use domain::secret::Secret;
use domain::webhook::{Headers, Settings};
use store::webhooks::{EndpointRecord, EndpointSecrets};
use vault::{Vault, context};

/// An endpoint whose secrets are unsealed.
pub(super) struct OpenEndpoint {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    settings: Settings,
    headers: Vec<(String, Secret)>,
    key: SigningKey,
    /// The key before, which signs too until then.
    former: Option<(SigningKey, Timestamp)>,
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
}

/// The headers of an endpoint's requests.
fn headers(vault: &Vault, record: &EndpointRecord) -> Result<Headers, Unopened> {
    let Some(sealed) = &record.secrets.headers else { return Ok(Headers::default()) };
    let text = vault.unseal(sealed, &context::webhook_headers(record.endpoint.id))?;
    Headers::from_stored(&text).ok_or(Unopened::Headers)
}

/// The names of the headers of an endpoint's requests.
pub(super) fn header_names(vault: &Vault, record: &EndpointRecord) -> Result<Vec<String>, Unopened> {
    let headers = headers(vault, record)?;
    Ok(headers.as_slice().iter().map(|header| header.name.clone()).collect())
}

impl OpenEndpoint {
    pub(super) fn new(vault: &Vault, record: &EndpointRecord) -> Result<Self, Unopened> {
        let EndpointRecord { endpoint, secrets, replay: _ } = record;
        let EndpointSecrets { headers: _, secret, former } = secrets;
        let key = |sealed: &[u8]| {
            let secret = vault.unseal(sealed, &context::webhook_secret(endpoint.id))?;
            Ok::<_, Unopened>(SigningKey::parse(&secret)?)
        };
        let headers = headers(vault, record)?;
        let headers = headers.as_slice().iter().map(|header| (header.name.clone(), header.value.clone()));
        Ok(Self {
            id: endpoint.id,
            company_id: endpoint.company_id,
            settings: endpoint.settings.clone(),
            headers: headers.collect(),
            key: key(secret)?,
            former: former
                .as_ref()
                .map(|(sealed, until)| Ok::<_, Unopened>((key(sealed)?, *until)))
                .transpose()?,
        })
    }

    /// The settings of its machine.
    pub(super) fn machine_settings(&self, keep: Duration) -> machine::EndpointSettings {
        machine::EndpointSettings {
            max_in_flight: usize::from(self.settings.max_in_flight),
            batch: usize::from(self.settings.batch),
            keep,
        }
    }

    /// Whether it gets events of this type.
    pub(super) fn wants_type(&self, r#type: Type) -> bool {
        self.settings.wants_type(r#type)
    }

    /// Whether it gets this event.
    pub(super) fn wants(&self, event: &Event) -> bool {
        self.settings.wants_type(event.r#type) && self.settings.wants_channel(event.channel_id)
    }

    /// Whether its requests have lists of events.
    pub(super) const fn is_batched(&self) -> bool {
        self.settings.batch > 1
    }

    pub(super) const fn masks_numbers(&self) -> bool {
        self.settings.masks_numbers
    }

    /// An attempt that begins now.
    pub(super) fn delivery(&self, id: String, body: Vec<u8>, now: Timestamp) -> Delivery {
        let former = self.former.iter().filter(|(_, until)| *until > now).map(|(key, _)| key);
        Delivery {
            company_id: self.company_id,
            url: self.settings.url.clone(),
            headers: self.headers.clone(),
            keys: std::iter::once(&self.key).chain(former).cloned().collect(),
            id,
            body,
        }
    }
}
