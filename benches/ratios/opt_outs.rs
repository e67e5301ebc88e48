//! Single sends of one company while another company's recipients opt in again: a million of them are opted
//! out, and each webhook opts ten thousand of them in. How long the provider waits for the answer to such a webhook.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::vault::context;
use uuid::Uuid;

use crate::Row;
use crate::provider::Provider;
use crate::receipts::signature;
use crate::seed::{FIRST, Seed};
use crate::service::{APP_SECRET, Ground};
use crate::singles::{Traffic, at};

const LEFT_OUT: u64 = 1_000_000;
const LIFTED: u64 = 10_000;
const WEBHOOKS: u64 = 10;
const IDLE: Duration = Duration::from_secs(10);
const WARMING: Duration = Duration::from_secs(2);
const NUMBER: &str = "other";

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let provider = Provider::start();
        let ground = Ground::new(&provider.url(), "unlimited", 64).await;
        let other = ground.store.companies().add(&Who::Pombo, "Other", "standard").await.unwrap().id;
        let channel = Uuid::now_v7();
        let sealed = |secret: &[u8], of: &str| ground.vault.seal(secret, of);
        let new = NewChannel {
            id: channel,
            company_id: other,
            kind: Kind::BusinessAccount,
            name: "Other".to_owned(),
            phone_number: None,
            phone_number_id: Some(NUMBER.to_owned()),
            waba_id: Some("other".to_owned()),
            tier: "standard".to_owned(),
            secrets: Sealed {
                token: Some(sealed(b"bench", &context::token(channel))),
                app_secret: Some(sealed(APP_SECRET.as_bytes(), &context::app_secret(channel))),
            },
            status: Status::Connected,
        };
        ground.store.channels().add(&Who::Pombo, new).await.unwrap();
        Seed::at(&ground.database.url).await.suppressions(other, LEFT_OUT).await;
        let service = ground.serve().await;
        let mut traffic = Traffic::new(&service);
        traffic.during(actix_web::rt::time::sleep(WARMING), &provider).await;
        let idle = traffic.during(actix_web::rt::time::sleep(IDLE), &provider).await;
        let (client, url) = (reqwest::Client::new(), format!("http://{}/hooks/meta/{channel}", service.address));
        let mut answered = Vec::new();
        let lifting = async {
            for webhook in 0..WEBHOOKS {
                let body = resumes(webhook);
                let post = client.post(&url).header("X-Hub-Signature-256", signature(&body)).body(body);
                let began = Instant::now();
                assert_eq!(post.send().await.unwrap().status(), 200);
                answered.push(began.elapsed().as_secs_f64());
            }
        };
        let lifting = traffic.during(lifting, &provider).await;
        let left = service.store.suppressions().current(Timestamp::now()).await.unwrap().len() as u64;
        assert_eq!(left, LEFT_OUT - WEBHOOKS * LIFTED);
        service.engine.stop().await;
        traffic.shut_down();
        let p99 = |values: &[f64]| (at(values, 0.99), values.len());
        let ((ours, sends), (yardstick, idle_sends)) = (p99(&lifting.accepted), p99(&idle.accepted));
        let slowest = answered.into_iter().fold(0.0, f64::max);
        let webhook = Row {
            what: "the answer to a webhook that lifts 10,000 of 1 M opt-outs, the slowest of ten",
            ours: format!("{slowest:.2} s"),
            yardstick: "–".to_owned(),
            ratio: "–".to_owned(),
            bound: "≤ 1 s",
        };
        let others = Row {
            what: "202 for another company's single sends, p99, while webhooks lift 10,000 of 1 M opt-outs each",
            ours: format!("{ours:.1} ms of {sends}"),
            yardstick: format!("idle {yardstick:.1} ms of {idle_sends}"),
            ratio: format!("{:.1}", ours / yardstick),
            bound: "≤ 3.0",
        };
        vec![others, webhook]
    })
}

/// A webhook that opts in ten thousand recipients, spread over all.
fn resumes(webhook: u64) -> String {
    let at = Timestamp::now().millis() / 1_000;
    let mut people = String::new();
    for nth in 0..LIFTED {
        let comma = if nth > 0 { "," } else { "" };
        let number = FIRST + nth * (LEFT_OUT / LIFTED) + webhook;
        let _ = write!(
            people,
            r#"{comma}{{"wa_id":"{number}","category":"marketing_messages","value":"resume","timestamp":{at}}}"#
        );
    }
    format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"other","changes":[{{"field":"user_preferences","value":{{"metadata":{{"phone_number_id":"{NUMBER}"}},"user_preferences":[{people}]}}}}]}}]}}"#
    )
}
