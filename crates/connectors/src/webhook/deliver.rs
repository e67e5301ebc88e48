//! Makes one attempt: checks the address, posts and reads the answer within one time limit.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use url::{Host, Url};
use uuid::Uuid;

use super::{Delivery, DeliveryAnswer, DeliveryFault, answer};
use crate::Error;
use crate::fair_semaphore::FairSemaphore;
use crate::guard::{self, Guard, Lookup, Networks, System};
use domain::secret::Secret;
use domain::webhook::{
    ATTEMPT_HEADER, BODY_TYPE, HUB_SIGNATURE_HEADER, ID_HEADER, SIGNATURE_HEADER, TEST_HEADER,
    TIMESTAMP_HEADER, is_example, is_own_header, signed_at,
};

/// Look-ups of host names at once, each of which has a thread. A company uses no more of them than it leaves free.
const LOOKUPS: usize = 256;
/// Connections to one host that are kept open between deliveries. Many endpoints may have the same host.
const IDLE_CONNECTIONS: usize = 16;
/// How long an unused connection is kept: not as long as receivers keep theirs, 5 s with Node, Apache and Uvicorn. A
/// delivery on a connection that the receiver closes at the same moment fails.
const IDLE: Duration = Duration::from_secs(4);

/// Delivers to the receivers of all companies. Connections are bound to the thread that opened them, so each thread
/// that delivers needs its own.
pub struct Sender {
    client: Client,
    guard: Guard,
    networks: Arc<Networks>,
    lookups: Arc<FairSemaphore>,
    allow_http: bool,
    timeout: Duration,
}

impl Sender {
    /// A sender that resolves host names with the system's resolver.
    ///
    /// # Errors
    ///
    /// When the TLS library finds no root certificates.
    pub fn new(options: &config::Webhooks) -> Result<Self, Error> {
        Self::with_lookup(options, Arc::new(System))
    }

    /// A sender that asks `lookup` for the addresses of host names and of this machine.
    ///
    /// # Errors
    ///
    /// When the TLS library finds no root certificates.
    pub fn with_lookup(options: &config::Webhooks, lookup: Arc<dyn Lookup>) -> Result<Self, Error> {
        let guard = Guard::new(lookup, &options.allow_networks, &[]);
        let client = guard::client(guard.clone())
            .http1_only()
            // A connection that loses against another one is finished in the background.
            .connect_timeout(options.timeout)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE)
            .build()
            .map_err(|error| Error::NoAnswer(format!("cannot make a client: {error}")))?;
        Ok(Self {
            client,
            networks: guard.networks(),
            guard,
            lookups: FairSemaphore::new(LOOKUPS),
            allow_http: options.allow_http,
            timeout: options.timeout,
        })
    }

    /// Checks an address that a company gives to an endpoint, as each delivery checks it: a host name by the addresses
    /// that it has now. No connection is made.
    ///
    /// # Errors
    ///
    /// The fault of a delivery to that address. [`DeliveryFault::UnknownHost`] and [`DeliveryFault::Timeout`] may be
    /// temporary.
    pub async fn check(&self, company: Uuid, url: &str) -> Result<(), DeliveryFault> {
        let url = self.admit(url)?;
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        let resolving = guard::with_lookups(Arc::clone(&self.lookups), company, self.guard.addresses(name));
        match timeout(self.timeout, resolving).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if guard::was_refused(&*error) => Err(DeliveryFault::Network),
            Ok(Err(_)) => Err(DeliveryFault::UnknownHost),
            Err(_) => Err(DeliveryFault::Timeout(self.timeout)),
        }
    }

    /// Makes one attempt. It ends within the timeout of the options.
    pub async fn deliver(&self, delivery: Delivery) -> DeliveryAnswer {
        let begun = Instant::now();
        let (lookups, company) = (Arc::clone(&self.lookups), delivery.company_id);
        let attempt = guard::with_lookups(lookups, company, self.attempt(delivery, begun + self.timeout));
        let answer = attempt.await.unwrap_or_else(DeliveryAnswer::without_status);
        DeliveryAnswer { took: begun.elapsed(), ..answer }
    }

    async fn attempt(&self, delivery: Delivery, deadline: Instant) -> Result<DeliveryAnswer, DeliveryFault> {
        let url = self.admit(&delivery.url)?;
        let headers = headers(&delivery)?;
        let request = self.client.post(url).headers(headers).body(delivery.body);
        self.ask(request, deadline).await
    }

    /// Asks an address with this query, as Meta verifies one, once.
    pub(super) async fn get(
        &self,
        company: Uuid,
        url: &str,
        query: &[(&str, &str)],
    ) -> Result<DeliveryAnswer, DeliveryFault> {
        let mut url = self.admit(url)?;
        url.query_pairs_mut().extend_pairs(query);
        let asking = self.ask(self.client.get(url), Instant::now() + self.timeout);
        guard::with_lookups(Arc::clone(&self.lookups), company, asking).await
    }

    /// Makes a request of the API of a program that a company runs, with one header of its own, and reads at most `most` bytes of
    /// the answer: its status, whatever it is, and what was read.
    pub(crate) async fn call(
        &self,
        company: Uuid,
        (method, url): (Method, &str),
        header: Option<(&'static str, &Secret)>,
        body: Option<&Value>,
        most: usize,
    ) -> Result<(u16, Vec<u8>), DeliveryFault> {
        let mut request = self.client.request(method, self.admit(url)?);
        if let Some((name, value)) = header {
            let value = HeaderValue::from_str(value.expose());
            let mut value = value.map_err(|_| DeliveryFault::Header(name.to_owned()))?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, BODY_TYPE).body(body.to_string());
        }
        let calling = self.exchange(request, most);
        guard::with_lookups(Arc::clone(&self.lookups), company, calling).await
    }

    async fn exchange(&self, request: RequestBuilder, most: usize) -> Result<(u16, Vec<u8>), DeliveryFault> {
        let deadline = Instant::now() + self.timeout;
        let mut response = self.response(request, deadline).await?;
        let (status, mut read) = (response.status().as_u16(), Vec::new());
        loop {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(chunk))) if read.len() + chunk.len() <= most => read.extend_from_slice(&chunk),
                Ok(Ok(Some(_) | None)) => return Ok((status, read)),
                Ok(Err(error)) => return Err(DeliveryFault::of(&error)),
                Err(_) => return Err(DeliveryFault::Timeout(self.timeout)),
            }
        }
    }

    async fn ask(&self, request: RequestBuilder, deadline: Instant) -> Result<DeliveryAnswer, DeliveryFault> {
        let response = self.response(request, deadline).await?;
        Ok(answer::read(response, deadline, self.timeout).await)
    }

    /// The head of the answer, if it comes from an address that is allowed.
    async fn response(&self, request: RequestBuilder, deadline: Instant) -> Result<Response, DeliveryFault> {
        let response = match timeout_at(deadline, request.send()).await {
            Ok(response) => response.map_err(|error| DeliveryFault::of(&error))?,
            Err(_) => return Err(DeliveryFault::Timeout(self.timeout)),
        };
        if self.is_from_elsewhere(&response) { Err(DeliveryFault::Network) } else { Ok(response) }
    }

    /// Whether the answer is from an address that is not allowed. The address of the connection itself is checked last.
    fn is_from_elsewhere(&self, response: &Response) -> bool {
        response.remote_addr().is_some_and(|peer| !self.networks.admit(peer.ip()))
    }

    /// The address of an endpoint, if requests to it are allowed. A host name is checked when it is resolved.
    fn admit(&self, url: &str) -> Result<Url, DeliveryFault> {
        let url = Url::parse(url).map_err(|_| DeliveryFault::Address)?;
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            "http" => return Err(DeliveryFault::Unencrypted),
            _ => return Err(DeliveryFault::Scheme),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(DeliveryFault::Credentials);
        }
        let host = url.host().ok_or(DeliveryFault::Address)?;
        if self.networks.admit_host(&host) { Ok(url) } else { Err(DeliveryFault::Network) }
    }
}

/// All headers of an attempt.
fn headers(delivery: &Delivery) -> Result<HeaderMap, DeliveryFault> {
    let mut all = HeaderMap::new();
    for (name, value) in &delivery.headers {
        let (name, value) = header(name, value).ok_or_else(|| DeliveryFault::Header(name.clone()))?;
        all.append(name, value);
    }
    for (name, text) in [
        (ID_HEADER, delivery.id.clone()),
        (TIMESTAMP_HEADER, signed_at(delivery.at).to_string()),
        (SIGNATURE_HEADER, delivery.signature.clone()),
    ] {
        let value = HeaderValue::try_from(text).map_err(|_| DeliveryFault::Header(name.to_owned()))?;
        all.insert(name, value);
    }
    // Those below take the place of headers of the endpoint with these names.
    if is_example(&delivery.id) {
        all.insert(TEST_HEADER, HeaderValue::from_static("true"));
    }
    if let Some((signature, attempt)) = &delivery.hub {
        let signature = HeaderValue::try_from(signature.as_str());
        let refused = |_| DeliveryFault::Header(HUB_SIGNATURE_HEADER.to_owned());
        all.insert(HUB_SIGNATURE_HEADER, signature.map_err(refused)?);
        all.insert(ATTEMPT_HEADER, HeaderValue::from(*attempt));
    }
    all.insert(CONTENT_TYPE, HeaderValue::from_static(BODY_TYPE));
    Ok(all)
}

/// A header of an endpoint; `None` when it is not valid, or Pombo's own.
fn header(name: &str, value: &Secret) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    if is_own_header(name.as_str()) {
        return None;
    }
    let mut value = HeaderValue::from_str(value.expose()).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}
