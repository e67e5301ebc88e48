//! Messages dispatched to a local server, with the ledger written, beside a bare reqwest loop.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc as threads};
use std::time::{Duration, Instant};

use actix_web::{App, HttpResponse, HttpServer, web};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::service::Service;
use crate::{Row, median, statements};

pub(crate) const CONCURRENCY: usize = 64;
const MESSAGES: u64 = 200_000;
const ROUNDS: usize = 3;
const ANSWER: &str = r#"{"messaging_product":"whatsapp","contacts":[{"input":"+5511988887777","wa_id":"5511988887777"}],"messages":[{"id":"wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA"}]}"#;
/// Its level bounds no rate; a number without a level is held to the lowest.
const NUMBER: &str = r#"{"id":"1","status":"CONNECTED","throughput":{"level":"NOT_APPLICABLE"}}"#;

pub(crate) fn measure() -> Vec<Row> {
    let arrivals = Arc::new(AtomicU64::new(0));
    let provider = provider(Arc::clone(&arrivals));
    let (mut ours, mut bare, mut recorded) = (Vec::new(), Vec::new(), Vec::new());
    actix_web::rt::System::new().block_on(async {
        let service = Service::start(&format!("http://{provider}"), "unlimited", CONCURRENCY).await;
        let tag = service.tag(MESSAGES).await;
        let server = statements::database().await;
        for _ in 0..ROUNDS {
            bare.push(loop_of_requests(provider.clone(), MESSAGES, None).await);
            if let Some(server) = &server {
                let (tell, told) = statements::channel();
                let writer = actix_web::rt::spawn(statements::record(server.clone(), told));
                let started = Instant::now();
                loop_of_requests(provider.clone(), MESSAGES, Some(tell)).await;
                writer.await.unwrap();
                recorded.push(MESSAGES as f64 / started.elapsed().as_secs_f64());
            }
            ours.push(dispatched(&service, tag, &arrivals).await);
        }
        service.engine.stop().await;
    });
    let (ours, bare) = (median(ours), median(bare));
    let mut rows = vec![Row {
        what: "messages dispatched, rate unlimited, 64 at once",
        ours: format!("{ours:.0}/s"),
        yardstick: format!("bare reqwest loop {bare:.0}/s"),
        ratio: format!("{:.2}", ours / bare),
        bound: "≥ 0.75",
    }];
    if !recorded.is_empty() {
        let recorded = median(recorded);
        rows.push(Row {
            what: "the same beside a loop that writes what it sent",
            ours: format!("{ours:.0}/s"),
            yardstick: format!("bare loop of requests and statements {recorded:.0}/s"),
            ratio: format!("{:.2}", ours / recorded),
            bound: "≥ 0.85",
        });
    }
    rows
}

/// Messages of a tag send that are dispatched in a second, until the ledger has all of them.
pub(crate) async fn dispatched(service: &Service, tag: Uuid, arrivals: &AtomicU64) -> f64 {
    let before = arrivals.load(Ordering::Relaxed);
    let (_, recipients) = service.send_to_tag(tag).await;
    let started = Instant::now();
    let seen = arrivals.load(Ordering::Relaxed);
    while arrivals.load(Ordering::Relaxed) < before + recipients
        || !service.store.channels().working().await.unwrap().is_empty()
    {
        actix_web::rt::time::sleep(Duration::from_millis(5)).await;
    }
    (before + recipients - seen) as f64 / started.elapsed().as_secs_f64()
}

/// Starts a provider that accepts every message, on a thread of its own, and returns its address.
pub(crate) fn provider(arrivals: Arc<AtomicU64>) -> String {
    let (addresses, address) = threads::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let state = web::Data::from(arrivals);
            let server = HttpServer::new(move || {
                App::new()
                    .app_data(state.clone())
                    .route("/{path:.*}", web::post().to(take))
                    .route("/{path:.*}", web::get().to(describe))
            })
            .workers(1)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .unwrap();
            addresses.send(server.addrs()[0].to_string()).unwrap();
            server.run().await.unwrap();
        });
    });
    address.recv().unwrap()
}

async fn take(arrivals: web::Data<AtomicU64>, body: web::Bytes) -> HttpResponse {
    std::hint::black_box(&body);
    arrivals.fetch_add(1, Ordering::Relaxed);
    HttpResponse::Ok().content_type("application/json").body(ANSWER)
}

async fn describe() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(NUMBER)
}

/// The yardstick: the same number of the same requests with the same concurrency. It reads and parses the
/// answers, and keeps only the ones that `tell` passes on.
pub(crate) async fn loop_of_requests(
    provider: String,
    messages: u64,
    tell: Option<mpsc::Sender<u64>>,
) -> f64 {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let client = reqwest::Client::builder().tcp_nodelay(true).timeout(Duration::from_secs(30)).build().unwrap();
            let url = reqwest::Url::parse(&format!("http://{provider}/v25.0/1/messages")).unwrap();
            let started = Instant::now();
            futures_util::stream::iter(0..messages)
                .map(|number| {
                    let body = format!(
                        r#"{{"messaging_product":"whatsapp","recipient_type":"individual","text":{{"body":"hi","preview_url":false}},"type":"text","to":"+{}","biz_opaque_callback_data":"0198f0aa7c7a7d3e8a4f0123456789ab.{number}"}}"#,
                        5_511_900_000_000 + number
                    );
                    let request = client
                        .post(url.clone())
                        .header("Authorization", "Bearer bench")
                        .header("Content-Type", "application/json")
                        .body(body);
                    let tell = tell.clone();
                    async move {
                        let answer = request.send().await.unwrap().bytes().await.unwrap();
                        let answer = serde_json::from_slice::<serde_json::Value>(&answer).unwrap();
                        if let Some(tell) = tell {
                            tell.send(number).await.unwrap();
                        }
                        answer
                    }
                })
                .buffer_unordered(CONCURRENCY)
                .for_each(|answer| {
                    std::hint::black_box(&answer);
                    std::future::ready(())
                })
                .await;
            messages as f64 / started.elapsed().as_secs_f64()
        })
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}
