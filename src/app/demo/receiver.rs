//! A receiver of webhooks on this machine, to which the events of the first company are sent. It verifies the signature of
//! each request as a receiver should, and shows the last events at its address.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes, Data, PayloadConfig};
use actix_web::{HttpRequest, HttpResponse, HttpServer};
use anyhow::Context as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use uuid::Uuid;

use super::report::EventInbox;
use crate::app::App;
use crate::clock::Timestamp;
use crate::connector::webhook::{SigningKey, signature};
use crate::domain::event::Type;
use crate::domain::secret::Secret;
use crate::domain::webhook::{MOST_BATCH, Settings};
use crate::store::Store;
use crate::store::changes::Who;
use crate::store::webhooks::{HeadersChange, NewEndpoint};
use crate::vault::{Vault, context};

/// The path of the endpoint, by which a later start knows it: the port is another one then.
const PATH: &str = "/demo-events";
/// The events that are kept.
const KEPT: usize = 50;
/// How far the time of a request may be from the present, in seconds: an older one may be one that somebody repeats.
const TOLERANCE_S: u64 = 300;
/// The largest body: a hundred events with long errors are smaller.
const LARGEST_BODY: usize = 4 << 20;
/// How long a stop waits for requests in progress, in seconds.
const STOP_SECONDS: u64 = 1;

/// A receiver that listens.
pub(super) struct DemoReceiver {
    address: SocketAddr,
    handle: ServerHandle,
    state: Data<ReceiverState>,
}

struct ReceiverState {
    store: Store,
    vault: Arc<Vault>,
    /// The endpoint and its company, and the key that signs its requests.
    endpoint: Mutex<Option<(Uuid, Uuid, SigningKey)>>,
    /// The newest last.
    events: Mutex<VecDeque<Value>>,
}

impl DemoReceiver {
    /// Starts it at a free port. Needs a running actix system.
    pub(super) fn start(app: &App) -> anyhow::Result<Self> {
        let state = Data::new(ReceiverState {
            store: app.store.clone(),
            vault: Arc::clone(&app.vault),
            endpoint: Mutex::default(),
            events: Mutex::default(),
        });
        let served = Data::clone(&state);
        let server = move || {
            actix_web::App::new()
                .app_data(Data::clone(&served))
                .app_data(PayloadConfig::new(LARGEST_BODY))
                .route("/", web::get().to(show))
                .route(PATH, web::post().to(take))
        };
        let server = HttpServer::new(server).workers(1).disable_signals().shutdown_timeout(STOP_SECONDS);
        let bound = server.bind((Ipv4Addr::LOCALHOST, 0)).context("the receiver of events did not start")?;
        let address = bound.addrs().first().copied().context("the receiver of events has no address")?;
        let server = bound.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Ok(Self { address, handle, state })
    }

    /// Has the events of the company sent here: adds an endpoint, or gives that of an earlier start the new address. `None`
    /// when the company has as many endpoints as it may have.
    pub(super) async fn aim(&self, company: Uuid) -> anyhow::Result<Option<EventInbox>> {
        let ReceiverState { store, vault, endpoint, .. } = &**self.state;
        let webhooks = store.of(company).webhooks();
        let url = format!("http://{}{PATH}", self.address);
        let present = webhooks.list().await?.into_iter().find(|known| is_of_a_demo(&known.settings.url));
        let id = match present {
            Some(known) => {
                let settings = Settings { url, ..known.settings.clone() };
                let both = (&known.settings, settings);
                webhooks.change(&Who::Pombo, known.id, both, HeadersChange::Keep).await?;
                known.id
            }
            None => {
                let (id, secret) = (Uuid::now_v7(), signature::generate());
                let secret = vault.seal(secret.expose().as_bytes(), &context::webhook_secret(id));
                let new = NewEndpoint { id, settings: settings(url), headers: None, secret };
                if webhooks.add(&Who::Pombo, new).await?.is_none() {
                    return Ok(None);
                }
                id
            }
        };
        *endpoint.lock() = key(store, vault, company, id).await?.map(|key| (company, id, key));
        Ok(Some(EventInbox { webhook_id: id, url: format!("http://{}/", self.address) }))
    }

    pub(super) async fn stop(self) {
        self.handle.stop(true).await;
    }
}

/// All events: a person who tries Pombo sees each step of a message. With batches, a send to everybody costs few requests.
fn settings(url: String) -> Settings {
    let types = Type::ALL.iter().copied().filter(|r#type| *r#type != Type::OutboxLost);
    Settings { types: types.collect(), batch: MOST_BATCH, ..Settings::new(url) }
}

fn is_of_a_demo(url: &str) -> bool {
    url.strip_prefix("http://127.0.0.1:").is_some_and(|rest| rest.ends_with(PATH))
}

/// The key that signs the requests of an endpoint; `None` when it was deleted.
async fn key(store: &Store, vault: &Vault, company: Uuid, id: Uuid) -> anyhow::Result<Option<SigningKey>> {
    let Some(secrets) = store.of(company).webhooks().secrets(id).await? else { return Ok(None) };
    let secret = vault.unseal(&secrets.secret, &context::webhook_secret(id))?;
    Ok(Some(SigningKey::parse(&secret)?))
}

/// The last events, the newest first.
async fn show(state: Data<ReceiverState>) -> HttpResponse {
    let events = state.events.lock();
    let newest: Vec<_> = events.iter().rev().collect();
    HttpResponse::Ok().json(json!({ "data": newest }))
}

async fn take(request: HttpRequest, body: Bytes, state: Data<ReceiverState>) -> HttpResponse {
    let Some(signed) = Signed::read(&request) else {
        return HttpResponse::BadRequest().body("the request has no signature");
    };
    if !signed.is_recent(Timestamp::now()) {
        return HttpResponse::Unauthorized().body("the time of the request is more than five minutes away");
    }
    let known = state.endpoint.lock().clone();
    let Some((company, id, known)) = known else { return HttpResponse::NotFound().finish() };
    if !signed.is_by(&known, &body) {
        // A person may have replaced the secret.
        let Ok(Some(newer)) = key(&state.store, &state.vault, company, id).await else {
            return HttpResponse::ServiceUnavailable().finish();
        };
        if !signed.is_by(&newer, &body) {
            return HttpResponse::Unauthorized().body("the signature is not valid");
        }
        *state.endpoint.lock() = Some((company, id, newer));
    }
    let Ok(mut read) = serde_json::from_slice::<Value>(&body) else {
        return HttpResponse::BadRequest().body("the body is not JSON");
    };
    // A person may have set the batch to 1: then the body is the event.
    let taken = match read.get_mut("events").map(Value::take) {
        Some(Value::Array(events)) => events,
        _ => vec![read],
    };
    let answer = format!("events taken: {}", taken.len());
    keep(&mut state.events.lock(), taken);
    // The log of deliveries shows this text.
    HttpResponse::Ok().body(answer)
}

/// Lists events, each once: a request is repeated when its answer was lost, and an event may be sent again.
fn keep(events: &mut VecDeque<Value>, taken: Vec<Value>) {
    for event in taken {
        if !events.iter().any(|known| known["id"] == event["id"]) {
            events.push_back(event);
        }
    }
    let surplus = events.len().saturating_sub(KEPT);
    events.drain(..surplus);
}

/// What a request is signed with.
struct Signed<'a> {
    id: &'a str,
    timestamp: i64,
    signatures: &'a str,
}

impl<'a> Signed<'a> {
    fn read(request: &'a HttpRequest) -> Option<Self> {
        let header = |name: &'static str| request.headers().get(name)?.to_str().ok();
        let timestamp = header("webhook-timestamp")?.parse().ok()?;
        Some(Self { id: header("webhook-id")?, timestamp, signatures: header("webhook-signature")? })
    }

    fn is_recent(&self, now: Timestamp) -> bool {
        now.millis().div_euclid(1_000).abs_diff(self.timestamp) <= TOLERANCE_S
    }

    fn is_by(&self, key: &SigningKey, body: &[u8]) -> bool {
        let expected = signature::sign(std::slice::from_ref(key), self.id, self.timestamp, body);
        // The comparison of secrets takes the same time whatever differs.
        let expected = Secret::new(expected);
        self.signatures.split(' ').any(|one| Secret::new(one.to_owned()) == expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_of_a_demonstration_is_known_by_its_path() {
        assert!(is_of_a_demo("http://127.0.0.1:41234/demo-events"));
        for other in
            ["http://127.0.0.1:9000/webhooks", "https://example.com/demo-events", "http://127.0.0.1:9/x"]
        {
            assert!(!is_of_a_demo(other), "{other}");
        }
        assert!(!settings(String::new()).types.contains(&Type::OutboxLost));
    }

    #[test]
    fn a_request_is_accepted_for_five_minutes() {
        let now = Timestamp::from_millis(1_700_000_000_900);
        let of = |timestamp| Signed { id: "", timestamp, signatures: "" };
        for (seconds, is_recent) in [(0, true), (300, true), (301, false), (-300, true), (-301, false)] {
            assert_eq!(of(1_700_000_000 + seconds).is_recent(now), is_recent, "{seconds}");
        }
        assert!(!of(i64::MIN).is_recent(now));
    }

    #[test]
    fn an_event_is_listed_once_and_the_newest_are_kept() {
        let event = |number: usize| json!({ "id": format!("a.{number}.sent") });
        let mut events = VecDeque::new();
        keep(&mut events, vec![event(0), event(1), event(0)]);
        keep(&mut events, vec![event(1)]);
        assert_eq!(events, [event(0), event(1)]);
        keep(&mut events, (2..=KEPT).map(event).collect());
        assert_eq!((events.len(), &events[0], &events[KEPT - 1]), (KEPT, &event(1), &event(KEPT)));
    }
}
