//! A limited channel's messages a second while 200 clients list messages, beside the same channel alone, in turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::service::Service;
use crate::{Row, dispatch, load, median};

const CLIENTS: usize = 200;
const RATE: &str = "80/s";
/// More recipients than all rounds reach.
const RECIPIENTS: u64 = 10_000;
const ROUNDS: usize = 3;
const LASTING: Duration = Duration::from_secs(10);
/// The first seconds, in which the channel begins.
const BEGINNING: Duration = Duration::from_secs(2);

pub(crate) fn measure() -> Vec<Row> {
    let arrivals = Arc::new(AtomicU64::new(0));
    let provider = dispatch::provider(Arc::clone(&arrivals));
    let (mut beside, mut alone, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    actix_web::rt::System::new().block_on(async {
        let service = Service::start(&format!("http://{provider}"), RATE, dispatch::CONCURRENCY).await;
        let tag = service.tag(RECIPIENTS).await;
        service.send_to_tag(tag).await;
        let list = format!(
            "GET /api/v1/sends/{}/messages?limit=20 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            service.last_send().await,
            service.address,
            service.key
        );
        actix_web::rt::time::sleep(BEGINNING).await;
        for _ in 0..ROUNDS {
            let resting = async {
                actix_web::rt::time::sleep(LASTING).await;
                None::<f64>
            };
            alone.push(rate(&arrivals, resting).await.0);
            let (address, list) = (service.address.clone(), list.clone());
            let listing = async {
                let driving = move || load::drive(&address, list.as_bytes(), CLIENTS, LASTING, "200");
                Some(tokio::task::spawn_blocking(driving).await.unwrap())
            };
            let (messages, listed) = rate(&arrivals, listing).await;
            beside.push(messages);
            lists.extend(listed);
        }
        service.engine.stop().await;
    });
    let (beside, alone, lists) = (median(beside), median(alone), median(lists));
    vec![
        Row {
            what: "messages of a channel of 80/s while 200 clients list messages",
            ours: format!("{beside:.1}/s"),
            yardstick: format!("nobody lists: {alone:.1}/s"),
            ratio: format!("{:.2}", beside / alone),
            bound: "≥ 0.97",
        },
        Row {
            what: "… pages of 20 messages meanwhile",
            ours: format!("{lists:.0}/s"),
            yardstick: "–".to_owned(),
            ratio: "–".to_owned(),
            bound: "–",
        },
    ]
}

/// Messages that arrived each second while `doing` ran, and its result.
async fn rate<T>(arrivals: &AtomicU64, doing: impl Future<Output = T>) -> (f64, T) {
    let (before, started) = (arrivals.load(Ordering::Relaxed), Instant::now());
    let done = doing.await;
    let arrived = arrivals.load(Ordering::Relaxed) - before;
    (arrived as f64 / started.elapsed().as_secs_f64(), done)
}
