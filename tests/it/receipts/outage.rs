//! The database becomes unreachable while receipts come: they are refused, repeated by the provider, and then
//! accepted.

use std::time::Duration;

use pombo::domain::message::State;
use pombo::store::{Options, Store};
use serde_json::{Value, json};
use simulator::ReceiptOptions;
use url::Url;

use super::teller::{Teller, rows, status};
use super::{FIRST, options, send, states};
use crate::database::Universe;
use crate::proxy::Proxy;
use crate::running::{NUMBER, Running, until};

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn receipts_during_a_database_outage_are_refused_and_accepted_when_repeated() {
    let universe = Universe::postgres().await;
    let mut url = Url::parse(&universe.url).unwrap();
    let proxy =
        Proxy::to(format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap_or(5432)));
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(proxy.address.port())).unwrap();
    let database = Options { url: url.into(), acquire_timeout: Duration::from_secs(1), ..universe.options() };
    let store = Store::open(&database).await.unwrap();
    let running = Running::start_on(store, database, |config| {
        config.engine.watch_interval = Duration::from_millis(20);
    })
    .await;
    send(&running, "everyone", FIRST, 50).await;
    let sent = rows(&universe).await;
    let teller = Teller::new(&running);
    let statuses: Vec<_> = sent.iter().map(|row| status(row, "delivered", None)).collect();
    let value = json!({ "statuses": statuses });

    proxy.cut();
    let refused = teller.tell(running.channel, NUMBER, &value).await;
    assert_eq!((refused.status, refused.code().as_deref()), (503, Some("service_unavailable")));
    assert_ne!(refused.header("retry-after").parse::<u64>().unwrap(), 0);
    assert_eq!(rows(&universe).await, sent);
    proxy.mend();
    until("the webhook taken", async || teller.tell(running.channel, NUMBER, &value).await.status == 200)
        .await;
    assert!(rows(&universe).await.iter().all(|row| row.state == State::Delivered.as_i16()));

    // The provider itself, whose webhooks fall into the gap.
    let receipts = ReceiptOptions {
        read_probability: 1.0,
        delivered_after: Duration::from_millis(300),
        retry_after: Duration::from_millis(100),
        ..options(&running)
    };
    running.simulator.aim_receipts(Some(receipts)).unwrap();
    send(&running, "others", FIRST + 1_000, 50).await;
    proxy.cut();
    let inspect = format!("{}/_sim/webhook", running.simulator.base_url());
    until("a webhook refused", async || {
        let figures: Value = reqwest::get(&inspect).await.unwrap().json().await.unwrap();
        figures["webhooks_refused"].as_u64().unwrap() > 0
    })
    .await;
    proxy.mend();
    let read = State::Read.as_i16();
    until("every receipt", async || states(&universe).await.get(&read) == Some(&50)).await;
    running.end().await;
    universe.end().await;
}
