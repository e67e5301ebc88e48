//! Receipts: webhooks of a hundred updates, signed, stored and applied before each answer, beside the rate at
//! which the same service dispatched their messages.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::service::{APP_SECRET, Service};
use crate::{Row, dispatch, median};

const MESSAGES: u64 = 100_000;
/// Updates in one webhook, and webhooks under way at once: the provider sends them concurrently.
pub(crate) const BATCH: u64 = 100;
pub(crate) const AT_ONCE: usize = 8;
/// The provider's requirements for a receiver: room for three updates for each message at the highest level,
/// and half of the answers within this time.
const PATIENCE: Duration = Duration::from_millis(250);

pub(crate) fn measure() -> Vec<Row> {
    let provider = dispatch::provider(Arc::new(AtomicU64::new(0)));
    let (mut dispatched, mut taken, mut answers) = (0.0, Vec::new(), Vec::new());
    actix_web::rt::System::new().block_on(async {
        let service = Service::start(&format!("http://{provider}"), "unlimited", 64).await;
        let tag = service.tag(MESSAGES).await;
        let started = Instant::now();
        let (_, recipients) = service.send_to_tag(tag).await;
        while !service.store.channels().working().await.unwrap().is_empty() {
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        dispatched = recipients as f64 / started.elapsed().as_secs_f64();
        let send = service.last_send().await;
        for status in ["sent", "delivered", "read"] {
            let bodies: Vec<_> = (0..recipients / BATCH)
                .map(|batch| webhook(&send.simple().to_string(), batch * BATCH, status))
                .collect();
            let (client, url) = (reqwest::Client::new(), service.hook());
            let started = Instant::now();
            let posts = futures_util::stream::iter(bodies.into_iter().map(|body| {
                let request = client.post(&url).header("X-Hub-Signature-256", signature(&body)).body(body);
                async move {
                    let started = Instant::now();
                    assert_eq!(request.send().await.unwrap().status(), 200);
                    started.elapsed().as_secs_f64()
                }
            }));
            answers.extend(posts.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await);
            taken.push((recipients / BATCH * BATCH) as f64 / started.elapsed().as_secs_f64());
        }
        service.engine.stop().await;
    });
    let (taken, answer) = (median(taken), Duration::from_secs_f64(median(answers)));
    vec![Row {
        what: "receipts taken in, 100 in a webhook, stored and applied",
        ours: format!(
            "{taken:.0}/s, median answer {:.1} ms of {} ms",
            answer.as_secs_f64() * 1e3,
            PATIENCE.as_millis()
        ),
        yardstick: format!("the same messages dispatched {dispatched:.0}/s"),
        ratio: format!("{:.2}", taken / dispatched),
        bound: "≥ 1.5",
    }]
}

/// The provider's webhook about `BATCH` messages of a send, from `first` on.
pub(crate) fn webhook(send: &str, first: u64, status: &str) -> String {
    let mut statuses = String::new();
    for ordinal in first..first + BATCH {
        let comma = if ordinal > first { "," } else { "" };
        let _ = write!(
            statuses,
            r#"{comma}{{"id":"wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1{ordinal:08}","status":"{status}","timestamp":"1763700000","recipient_id":"5511900000000","biz_opaque_callback_data":"{send}.{ordinal}","pricing":{{"billable":true,"pricing_model":"PMP","type":"regular","category":"marketing"}}}}"#
        );
    }
    format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"2","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"15550783881","phone_number_id":"1"}},"statuses":[{statuses}]}}}}]}}]}}"#
    )
}

pub(crate) fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}
