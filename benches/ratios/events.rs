//! The log of events: dispatching with it beside dispatching without, and what it takes for a send with all receipts.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pombo::clock::Timestamp;
use pombo::store::event_log::Reader;

use crate::dispatch::{CONCURRENCY, dispatched, provider};
use crate::service::Service;
use crate::{Row, median, size};

const MESSAGES: u64 = 200_000;
const ROUNDS: usize = 5;

pub(crate) fn measure() -> Vec<Row> {
    let arrivals = Arc::new(AtomicU64::new(0));
    let provider = provider(Arc::clone(&arrivals));
    actix_web::rt::System::new().block_on(async {
        let service = Service::start(&format!("http://{provider}"), "unlimited", CONCURRENCY).await;
        let (tag, log) = (service.tag(MESSAGES).await, service.store.event_log());
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            log.forget(Reader::Nats).await.unwrap();
            without.push(dispatched(&service, tag, &arrivals).await);
            log.register(Reader::Nats, Timestamp::now()).await.unwrap();
            with.push(dispatched(&service, tag, &arrivals).await);
        }
        let before = log.bytes().await.unwrap();
        dispatched(&service, tag, &arrivals).await;
        let send = service.last_send().await.simple().to_string();
        for status in ["delivered", "read"] {
            size::tell(&service, &send, MESSAGES, status).await;
        }
        let taken = log.bytes().await.unwrap() - before;
        service.engine.stop().await;
        let (with, without) = (median(with), median(without));
        let million = taken as f64 / MESSAGES as f64;
        vec![
            Row {
                what: "messages dispatched with the log of events",
                ours: format!("{with:.0}/s"),
                yardstick: format!("without {without:.0}/s"),
                ratio: format!("{:.2}", with / without),
                bound: "≥ 0.95",
            },
            Row {
                what: "the log of a send to 1 M, delivered and read",
                ours: format!("{million:.1} MB"),
                yardstick: "three million events".to_owned(),
                ratio: "–".to_owned(),
                bound: "≤ 40 MB",
            },
        ]
    })
}
