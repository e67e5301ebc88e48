//! The receiver itself: a server on this machine, at a port that the system chooses.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes, Data, Path, PayloadConfig};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::{Context as _, anyhow};
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use uuid::Uuid;

use super::signature::{SignatureHeaders, WebhookVerifier};
use super::tally::{ArrivalTime, EventTally, ReceivedEvent};
use clock::Timestamp;
use domain::secret::Secret;

/// The largest body: a hundred events with long errors are smaller.
const LARGEST_BODY: usize = 4 << 20;
/// How long a stop waits for requests in progress, in seconds.
const STOP_SECONDS: u64 = 1;

/// A server that counts the events that it gets.
pub(super) struct EventListener {
    address: SocketAddr,
    handle: ServerHandle,
    state: Data<ListenerState>,
}

struct ListenerState {
    /// By the number of the endpoint.
    endpoints: Mutex<HashMap<usize, ListenedEndpoint>>,
    /// Whether bodies are lists of events.
    is_batched: bool,
    tally: Mutex<EventTally>,
}

/// What is known of an endpoint.
struct ListenedEndpoint {
    verifier: WebhookVerifier,
    /// The company whose events it gets; `None` until the service's example of an event says it.
    company: Option<Uuid>,
}

impl ListenerState {
    /// The company of the endpoint with this number, to which these events came.
    fn company(&self, number: usize, events: &[ReceivedEvent]) -> Option<Uuid> {
        let mut endpoints = self.endpoints.lock();
        let endpoint = endpoints.get_mut(&number)?;
        if endpoint.company.is_none() {
            endpoint.company = events.iter().find(|event| event.is_example()).map(|event| event.company_id);
        }
        endpoint.company
    }
}

/// The body of a request with several events.
#[derive(Deserialize)]
struct EventBatch {
    events: Vec<ReceivedEvent>,
}

impl fmt::Debug for EventListener {
    /// Never the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventListener({})", self.address)
    }
}

impl EventListener {
    /// Starts it. Needs a running actix system.
    pub(super) fn start(is_batched: bool) -> anyhow::Result<Self> {
        let state = Data::new(ListenerState {
            endpoints: Mutex::default(),
            is_batched,
            tally: Mutex::new(EventTally::new(Instant::now())),
        });
        let served = Data::clone(&state);
        let app = move || {
            App::new()
                .app_data(Data::clone(&served))
                .app_data(PayloadConfig::new(LARGEST_BODY))
                .route("/loadtest/{number}", web::post().to(take))
        };
        let server = HttpServer::new(app).workers(1).disable_signals().shutdown_timeout(STOP_SECONDS);
        let bound = server.bind((Ipv4Addr::LOCALHOST, 0));
        let bound = bound.context("cannot listen on 127.0.0.1 as a receiver of webhooks")?;
        let address = bound.addrs().first().copied().context("the receiver of webhooks has no address")?;
        let server = bound.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Ok(Self { address, handle, state })
    }

    /// The address of the endpoint with this number.
    pub(super) fn url(&self, number: usize) -> String {
        format!("http://{}/loadtest/{number}", self.address)
    }

    /// Takes the requests to the endpoint with this number that are signed with `secret`.
    pub(super) fn expect(&self, number: usize, secret: &Secret) -> anyhow::Result<()> {
        let verifier = WebhookVerifier::new(secret.expose());
        let verifier = verifier.ok_or_else(|| anyhow!("the secret of a webhook endpoint cannot be read"))?;
        self.state.endpoints.lock().insert(number, ListenedEndpoint { verifier, company: None });
        Ok(())
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, EventTally> {
        self.state.tally.lock()
    }

    pub(super) async fn stop(self) {
        self.handle.stop(true).await;
    }
}

async fn take(
    number: Path<usize>,
    request: HttpRequest,
    body: Bytes,
    state: Data<ListenerState>,
) -> HttpResponse {
    let at = ArrivalTime { monotonic: Instant::now(), wall: Timestamp::now() };
    let header = |name: &str| {
        let value = request.headers().get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default()
    };
    let headers = SignatureHeaders {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signatures: header("webhook-signature"),
    };
    let is_signed = {
        let endpoints = state.endpoints.lock();
        endpoints.get(&*number).is_some_and(|endpoint| endpoint.verifier.verifies(headers, &body, at.wall))
    };
    if !is_signed {
        state.tally.lock().figures.unsigned += 1;
        return HttpResponse::Unauthorized().finish();
    }
    match read(&body, state.is_batched) {
        Ok(events) => {
            let company = state.company(*number, &events);
            state.tally.lock().take(&events, company, at);
            HttpResponse::NoContent().finish()
        }
        Err(_) => {
            state.tally.lock().figures.unreadable += 1;
            HttpResponse::BadRequest().finish()
        }
    }
}

fn read(body: &[u8], is_batched: bool) -> serde_json::Result<Vec<ReceivedEvent>> {
    if is_batched {
        Ok(serde_json::from_slice::<EventBatch>(body)?.events)
    } else {
        Ok(vec![serde_json::from_slice(body)?])
    }
}
