//! The provider accepts a message and answers with an error: the message waits for a retry, and may still
//! have arrived.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};
use simulator::ReceiptOptions;

use super::killed::Killed;
use super::watch::{FIRST, all_delivered, assert_once, begin, counts, receipts, shown, steer};
use crate::database::{Universe, stores};
use crate::running::{APP_SECRET, Running, until};

stores!(
    a_message_that_may_have_been_accepted_waits_for_its_receipt_after_a_crash,
    a_canceled_message_that_may_have_been_accepted_is_delivered_once_its_receipt_says_so,
);

/// The pause before a retry, of which at least half passes: longer than any test.
const RETRY_AFTER: &str = "120s";
/// Longer than the test takes. Messages that go again within a minute are in memory, where a receipt ends
/// their send at once.
const GRACE: &str = "50s";
/// An address on which nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";

/// A server in front of the provider that passes everything on.
struct Front {
    /// The provider's address, once it is known.
    provider: Arc<OnceLock<String>>,
    /// Whether a message was passed on: the answer to the first one is replaced by an error.
    has_message: AtomicBool,
}

/// Listens until the test ends; the address.
fn front(provider: Arc<OnceLock<String>>) -> String {
    let front = Data::new(Front { provider, has_message: AtomicBool::new(false) });
    let server =
        HttpServer::new(move || App::new().app_data(front.clone()).default_service(web::to(pass_on)))
            .workers(1)
            .client_request_timeout(Duration::ZERO)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .unwrap();
    let url = format!("http://{}", server.addrs()[0]);
    actix_web::rt::spawn(server.run());
    url
}

async fn pass_on(front: Data<Front>, request: HttpRequest, body: Bytes) -> HttpResponse {
    until("the provider's address", async || front.provider.get().is_some()).await;
    let url = format!("{}{}", front.provider.get().unwrap(), request.uri());
    let method = request.method().as_str().parse().unwrap();
    let token = request.headers().get("authorization").map_or("", |token| token.to_str().unwrap());
    let passed_on = reqwest::Client::new().request(method, url).header("authorization", token).body(body);
    let answer = passed_on.send().await.unwrap();
    if request.method() == "POST" && !front.has_message.swap(true, Ordering::Relaxed) {
        let error = json!({ "code": 131_000, "message": "(#131000) Something went wrong" });
        return HttpResponse::InternalServerError().json(json!({ "error": error }));
    }
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
    HttpResponse::build(status).content_type("application/json").body(answer.bytes().await.unwrap())
}

/// Receipts that reach no service.
fn unheard() -> ReceiptOptions {
    ReceiptOptions::to(NOBODY, APP_SECRET)
}

fn single(number: u64) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": number })
}

/// Sends to this number; the id of the send.
async fn send(killed: &Killed<'_>, number: u64) -> String {
    let answer = killed.serving.send_through(&killed.serving.channel, &killed.url, &single(number)).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["send_id"].as_str().unwrap().to_owned()
}

async fn finished(killed: &Killed<'_>, id: &str) {
    until("the send finished", async || killed.shown(id).await["state"] == "finished").await;
}

async fn a_message_that_may_have_been_accepted_waits_for_its_receipt_after_a_crash(universe: &Universe) {
    let provider = Arc::new(OnceLock::new());
    let front = front(Arc::clone(&provider));
    let options = [
        ("POMBO__CLOUD_API__BASE_URL", front.as_str()),
        ("POMBO__RETRY__FIRST", RETRY_AFTER),
        ("POMBO__RETRY__CAP", RETRY_AFTER),
        ("POMBO__RETRY__UNKNOWN_GRACE", GRACE),
    ];
    let mut killed = Killed::start(universe, 1, "unlimited", &options).await;
    provider.set(killed.serving.simulator.base_url()).unwrap();
    killed.serving.simulator.aim_receipts(Some(unheard())).unwrap();
    let perhaps_taken = send(&killed, FIRST).await;
    // The retry becomes due while no service runs.
    let database = Database::connect(&universe.url).await.unwrap();
    until("the message waiting to be tried again", async || {
        let due = "UPDATE message SET retry_at = 1 WHERE retry_at IS NOT NULL";
        database.execute_unprepared(due).await.unwrap().rows_affected() == 1
    })
    .await;
    database.close().await.unwrap();
    killed.kill().await;
    killed.start_again().await;

    // A message accepted now goes after all messages that may go.
    let later = send(&killed, FIRST + 1).await;
    finished(&killed, &later).await;
    assert_once(&killed.serving.simulator, 2);
    killed.aim();
    finished(&killed, &perhaps_taken).await;
    assert_once(&killed.serving.simulator, 2);
    killed.end().await;
}

async fn a_canceled_message_that_may_have_been_accepted_is_delivered_once_its_receipt_says_so(
    universe: &Universe,
) {
    let running = Running::start(universe, |config| {
        let provider = Arc::new(OnceLock::from(config.cloud_api.base_url.clone()));
        config.cloud_api.base_url = front(provider);
        config.retry.first = Duration::from_secs(120);
        config.retry.cap = config.retry.first;
    })
    .await;
    running.simulator.aim_receipts(Some(unheard())).unwrap();
    let id = begin(&running, &single(FIRST)).await;
    let messages = format!("/api/v1/sends/{id}/messages");
    until("the message waiting to be tried again", async || {
        let messages = running.ask(Method::GET, &messages, &Value::Null).await.json();
        messages["data"][0]["attempts"] == 1
    })
    .await;
    let canceled = steer(&running, &id, "cancel").await;
    assert_eq!(counts(&canceled), [("canceled".to_owned(), 1)].into());
    running.simulator.aim_receipts(Some(receipts(&running))).unwrap();
    all_delivered(&running, &id, 1).await;
    assert_eq!(shown(&running, &id).await["state"], "canceled");
    assert_once(&running.simulator, 1);
    running.end().await;
}
