//! What people ask of endpoints: a test, an event once more, and that a change counts at once.

use std::sync::Arc;

use uuid::Uuid;

use super::attempt::deliver;
use super::context::DeliveryContext;
use super::example::example;
use super::open::{OpenEndpoint, seen};
use super::prepared::prepare;
use crate::{Engine, Error};
use clock::Timestamp;
use connectors::webhook::{DeliveryAnswer, DeliveryFault, Sender, Unverified};
use domain::error::{Code, Refusal};
use domain::event::log::Sequence;
use domain::event::{Event, Type};
use domain::secret::Secret;
use domain::webhook::{Endpoint, GraphReach, OPENING_FAILURES, SealedPart, Shape};
use store::webhooks::EndpointRecord;
use vault::context;

/// The webhook endpoints of companies.
#[derive(Clone, Copy)]
pub struct WebhookEndpoints<'e> {
    pub(super) engine: &'e Engine,
}

/// The result of sending something that a person asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resent {
    /// It was sent, and the receiver answered this.
    Answered(DeliveryAnswer),
    /// The company has no such endpoint.
    NoEndpoint,
    /// The company's log has no such event, or no longer.
    NoEvent,
}

/// An example that a person had sent to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentExample {
    /// The body of the request, as the receiver got it.
    pub body: String,
    /// What the receiver answered.
    pub answer: DeliveryAnswer,
}

/// The refusal of an id that names no endpoint of the company.
pub fn no_such_webhook() -> Refusal {
    let sentence = "this company has no such webhook endpoint: GET /api/v1/webhooks lists them";
    Refusal::new(Code::WebhookNotFound, sentence)
}

/// The refusal to send something to an endpoint of which these parts cannot be unsealed.
fn unsealable(parts: &[SealedPart]) -> Refusal {
    let remedy = |part: &SealedPart| match part {
        SealedPart::Secret => "replace the secret with POST /api/v1/webhooks/{id}/rotate-secret",
        SealedPart::Headers => "give the headers again with PATCH /api/v1/webhooks/{id}",
    };
    let words: Vec<_> = parts.iter().map(|part| part.as_str()).collect();
    let remedies: Vec<_> = parts.iter().map(remedy).collect();
    let sentence = format!(
        "the {} of this webhook endpoint cannot be unsealed, because the service lacks the sealing key: {}, or ask the operator \
         of this service to set the key back",
        words.join(" and the "),
        remedies.join(", "),
    );
    Refusal::new(Code::WebhookUnsealable, sentence)
}

/// The refusal of a receiver that does not say that it expects webhooks.
pub fn unverified_receiver(unverified: &Unverified) -> Refusal {
    Refusal::new(Code::InvalidField, unverified.to_string()).about("verify_token")
}

impl Engine {
    /// The webhook endpoints of companies.
    pub const fn webhook_endpoints(&self) -> WebhookEndpoints<'_> {
        WebhookEndpoints { engine: self }
    }
}

impl WebhookEndpoints<'_> {
    /// An endpoint was added, changed, enabled, disabled or removed in the store. This process takes it up at once; other
    /// processes do within a second.
    pub fn changed(&self) {
        self.context().changed.notify_one();
    }

    /// Checks an address that a company gives to an endpoint, as each delivery checks it. No connection is made.
    ///
    /// # Errors
    ///
    /// The fault of a delivery to that address. [`DeliveryFault::UnknownHost`] and [`DeliveryFault::Timeout`] may be
    /// temporary.
    pub async fn check(&self, company: Uuid, url: &str) -> Result<(), DeliveryFault> {
        self.context().sender.check(company, url).await
    }

    /// Asks the receiver at this address, once and as Meta does, whether it expects webhooks with this verify token.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it cannot be asked, or answers anything but the challenge; [`Error::Unavailable`] when the engine stops.
    pub async fn verify(&self, company: Uuid, url: &str, token: &Secret) -> Result<(), Error> {
        let (context, url, token) = (Arc::clone(self.context()), url.to_owned(), token.clone());
        let asking = async move { context.sender.verify(company, &url, &token).await };
        let verified = self.engine.0.webhooks.run(asking).await?;
        verified.map_err(|unverified| unverified_receiver(&unverified).into())
    }

    /// The secrets of the company's endpoints for Meta's webhooks: programs take the secret of theirs for that of their app. One that
    /// cannot be unsealed is left out.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub(crate) async fn secrets_of_programs(&self, company: Uuid) -> Result<Vec<Secret>, Error> {
        let records = self.engine.records_of(company).await?;
        let endpoints = records.of(company).webhooks().records().await?;
        drop(records);
        let vault = &self.context().vault;
        let of_programs = endpoints.iter().filter(|record| record.endpoint.settings.shape == Shape::Graph);
        let secrets = of_programs.filter_map(|record| {
            vault.unseal(&record.secrets.secret, &context::webhook_secret(record.endpoint.id)).ok()
        });
        Ok(secrets.collect())
    }

    /// Asks a program of a company, on the thread to which connections are bound.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the engine stops.
    pub(crate) async fn ask<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        question: impl FnOnce(Arc<Sender>) -> F,
    ) -> Result<T, Error> {
        self.engine.0.webhooks.run(question(Arc::clone(&self.context().sender))).await
    }

    /// Sends an example of an event of this type to the company's endpoint, enabled or not, and returns it with the
    /// receiver's answer. It is logged as every delivery is, and changes neither the endpoint's state nor its place in the log. If the
    /// receiver accepts it, an endpoint that gets one event a minute gets the next one at once. `None` when the company has no
    /// such endpoint.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away or the engine stops; `webhook_unsealable` when the endpoint's secret or
    /// headers cannot be unsealed.
    pub async fn test(
        &self,
        company: Uuid,
        endpoint: Uuid,
        r#type: Type,
    ) -> Result<Option<SentExample>, Error> {
        let Some(open) = self.open(company, endpoint).await? else { return Ok(None) };
        let event = example(company, r#type, Timestamp::now());
        let (body, answer) = self.send(open, event, "type").await?;
        Ok(Some(SentExample { body: String::from_utf8_lossy(&body).into_owned(), answer }))
    }

    /// Sends an event of the company's log to the endpoint once more, whatever its types and channels are. It has the same id
    /// as before. Otherwise it is sent as a test is.
    ///
    /// # Errors
    ///
    /// As for [`WebhookEndpoints::test`].
    pub async fn resend(&self, company: Uuid, endpoint: Uuid, sequence: Sequence) -> Result<Resent, Error> {
        let Some(open) = self.open(company, endpoint).await? else { return Ok(Resent::NoEndpoint) };
        let records = self.engine.records_of(company).await?;
        let events = records.event_log().events_at(company, &[sequence]).await?;
        // Others wait for the records.
        drop(records);
        match events.into_iter().next() {
            Some(event) => Ok(Resent::Answered(self.send(open, event, "sequence").await?.1)),
            None => Ok(Resent::NoEvent),
        }
    }

    /// The endpoint with its secrets, and whether it gets one event a minute until its receiver accepts one.
    async fn open(&self, company: Uuid, id: Uuid) -> Result<Option<(OpenEndpoint, bool)>, Error> {
        let records = self.engine.records_of(company).await?;
        let webhooks = records.of(company).webhooks();
        let Some(endpoint) = webhooks.find(id).await? else { return Ok(None) };
        let Some(secrets) = webhooks.secrets(id).await? else { return Ok(None) };
        let gets_probes = gets_probes(&endpoint);
        let reach = GraphReach::default();
        let record = EndpointRecord { endpoint, secrets, replay: None, resumed: 0, mended: 0, reach };
        let vault = &self.context().vault;
        match OpenEndpoint::new(vault, &record) {
            Ok(open) => Ok(Some((open, gets_probes))),
            Err(_) => Err(unsealable(&seen(vault, &record).1).into()),
        }
    }

    /// Sends the event in one attempt; the body of the request, and the receiver's answer.
    async fn send(
        &self,
        (endpoint, gets_probes): (OpenEndpoint, bool),
        event: Event,
        asked_by: &str,
    ) -> Result<(Vec<u8>, DeliveryAnswer), Error> {
        let (company, id, context) = (endpoint.company_id, endpoint.id, Arc::clone(self.context()));
        let sending = async move {
            let _permit = context.permit(endpoint.company_id, true).await;
            Ok::<_, store::Error>(match prepare(&context, &endpoint, vec![event]).await? {
                Some(request) => {
                    let body = request.body.clone();
                    Some((body, deliver(&context, &endpoint, request, 1, 0).await))
                }
                None => None,
            })
        };
        let Some((body, answer)) = self.engine.0.webhooks.run(sending).await?? else {
            let what =
                "is of an event that this webhook endpoint does not get in its shape and with its profile";
            return Err(Refusal::of(asked_by, Code::InvalidField, what).into());
        };
        if gets_probes && answer.is_delivered() {
            self.mended(company, id).await;
        }
        Ok((body, answer))
    }

    /// The receiver accepted a request that a person asked for, so its events need not wait for the next probe. The person gets the
    /// receiver's answer even if that cannot be noted.
    async fn mended(&self, company: Uuid, id: Uuid) {
        let noted = async {
            let records = self.engine.records_of(company).await?;
            records.of(company).webhooks().mended(id).await?;
            Ok::<_, Error>(())
        };
        match noted.await {
            Ok(()) => self.changed(),
            Err(error) => {
                tracing::debug!(webhook.id = %id, %error, "the next probe of a webhook is not brought forward");
            }
        }
    }

    pub(super) fn context(&self) -> &Arc<DeliveryContext> {
        &self.engine.0.webhooks.context
    }
}

/// Whether so many requests failed in a row that the endpoint gets one event a minute.
const fn gets_probes(endpoint: &Endpoint) -> bool {
    endpoint.is_enabled() && endpoint.health.failures >= OPENING_FAILURES
}
