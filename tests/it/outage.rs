//! The database of a running service becomes unreachable and comes back: no message is lost, and no restart
//! is needed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use pombo::config::Config;
use pombo::store::{Options, Store};
use reqwest::Method;
use serde_json::{Value, json};
use url::Url;

use crate::database::Universe;
use crate::harness::Answer;
use crate::proxy::Proxy;
use crate::running::{Running, until};

const CONTACTS: u64 = 3_000;
const FIRST_CONTACT: u64 = 5_511_900_000_000;
/// A number that is not in the tag.
const FIRST_SINGLE: u64 = 5_521_900_000_000;
/// A number that gets messages only while the database is unreachable.
const NEVER: u64 = 5_531_900_000_000;

/// A service whose connection to its PostgreSQL database can be cut; `change` may change the configuration
/// first.
pub(crate) async fn behind_proxy(universe: &Universe, change: impl FnOnce(&mut Config)) -> (Proxy, Running) {
    let mut url = Url::parse(&universe.url).unwrap();
    let proxy =
        Proxy::to(format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap_or(5432)));
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(proxy.address.port())).unwrap();
    let options = Options { url: url.into(), acquire_timeout: Duration::from_secs(3), ..universe.options() };
    let store = Store::open(&options).await.unwrap();
    let running = Running::start_on(store, options, |config| {
        config.engine.in_flight = 48;
        config.engine.concurrency = 24;
        config.engine.block_size = 500;
        config.engine.watch_interval = Duration::from_millis(20);
        change(config);
    })
    .await;
    (proxy, running)
}

pub(crate) async fn ready(running: &Running) -> u16 {
    running.ask(Method::GET, "/readyz", &Value::Null).await.status
}

pub(crate) async fn single(running: &Running, number: u64) -> Answer {
    let body = json!({ "type": "text", "message": "hi", "phone_number": number });
    let path = format!("/api/v1/chat/{}/messages", running.channel);
    running.ask(Method::POST, &path, &body).await
}

pub(crate) fn assert_unavailable(answer: &Answer, what: &str) {
    assert_eq!(
        (answer.status, answer.code().as_deref()),
        (503, Some("service_unavailable")),
        "{what}: {}",
        answer.body
    );
    assert_ne!(answer.header("retry-after").parse::<u64>().unwrap(), 0, "{what}");
}

/// The same under an `Idempotency-Key`, which is the number.
pub(crate) async fn once(running: &Running, number: u64) -> Answer {
    let body = json!({ "type": "text", "message": "hi", "phone_number": number });
    let path = format!("/api/v1/chat/{}/messages", running.channel);
    running.ask_once(&path, &number.to_string(), &body).await
}

/// All recipients that the simulator has a message for.
fn reached(running: &Running) -> BTreeSet<u64> {
    let messages = running.simulator.messages(0, 100_000);
    messages.iter().map(|message| message.to.parse().unwrap()).collect()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_database_that_goes_away_in_mid_send_and_comes_back_costs_nothing_but_time() {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind_proxy(&universe, |_| {}).await;
    let tag = running.tag("everyone", FIRST_CONTACT, CONTACTS).await;
    running.send_to_tag(tag, CONTACTS).await;
    until("some messages delivered", async || running.delivered().0 > 200).await;

    // Single sends are under way while the connection is cut. Each is accepted or refused, and the answer
    // holds. The commit in doubt is answered when the connection works again.
    let is_cut = Cell::new(false);
    let sending = async {
        let numbers = FIRST_SINGLE..FIRST_SINGLE + 40;
        let mut numbers: FuturesUnordered<_> =
            numbers.map(|number| single(&running, number).map(move |answer| (number, answer))).collect();
        let mut accepted = BTreeSet::new();
        while let Some((number, answer)) = numbers.next().await {
            match answer.status {
                202 => assert!(accepted.insert(number)),
                _ => assert_unavailable(&answer, "a single send"),
            }
            if accepted.len() == 5 && !is_cut.replace(true) {
                proxy.cut();
            }
        }
        accepted
    };
    let meanwhile = async {
        until("the connection cut", async || is_cut.get()).await;
        until("a commit failed", async || {
            running.ask(Method::GET, "/readyz", &Value::Null).await.body.contains("cannot be written")
        })
        .await;
        assert_unavailable(&single(&running, NEVER).await, "a single send");
        let to_tag = json!({ "type": "text", "message": "hi", "contact_tag_id": tag });
        let path = format!("/api/v1/chat/{}/messages", running.channel);
        assert_unavailable(&running.ask(Method::POST, &path, &to_tag).await, "a send to a tag");
        for list in ["/api/v1/contacts", "/api/v1/contacts/tags", "/api/v1/chat"] {
            assert_unavailable(&running.ask(Method::GET, list, &Value::Null).await, list);
        }
        assert_eq!(running.ask(Method::GET, "/healthz", &Value::Null).await.status, 200);
        assert!(running.delivered().1 < CONTACTS, "the cut came too late to prove anything");
        proxy.mend();
    };
    let (mut accepted, ()) = futures_util::join!(sending, meanwhile);
    until("ready", async || ready(&running).await == 200).await;
    let back = FIRST_SINGLE + 100;
    assert_eq!(single(&running, back).await.status, 202);
    accepted.insert(back);
    running.settled(CONTACTS + accepted.len() as u64).await;
    let expected: BTreeSet<u64> =
        (FIRST_CONTACT..FIRST_CONTACT + CONTACTS).chain(accepted.iter().copied()).collect();
    assert_eq!(reached(&running), expected);
    assert_eq!(running.delivered(), (expected.len() as u64, expected.len() as u64), "none twice");
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn requests_that_broke_off_and_are_repeated_under_their_keys_arrive_once_each() {
    const REQUESTS: u64 = 60;
    let universe = Universe::postgres().await;
    let (proxy, running) = behind_proxy(&universe, |_| {}).await;
    let is_cut = Cell::new(false);
    let sending = async {
        let numbers = FIRST_SINGLE..FIRST_SINGLE + REQUESTS;
        let mut answers: FuturesUnordered<_> =
            numbers.map(|number| once(&running, number).map(move |answer| (number, answer))).collect();
        let (mut accepted, mut broken) = (Vec::new(), Vec::new());
        while let Some((number, answer)) = answers.next().await {
            match answer.status {
                202 => accepted.push((number, answer.body)),
                _ => {
                    assert_unavailable(&answer, "a single send");
                    broken.push(number);
                }
            }
            if accepted.len() == 5 && !is_cut.replace(true) {
                proxy.cut();
            }
        }
        (accepted, broken)
    };
    let mending = async {
        until("the connection cut", async || is_cut.get()).await;
        until("not ready", async || ready(&running).await == 503).await;
        proxy.mend();
    };
    let ((accepted, mut broken), ()) = futures_util::join!(sending, mending);
    until("all accepted", async || {
        let mut left = Vec::new();
        for number in std::mem::take(&mut broken) {
            if once(&running, number).await.status != 202 {
                left.push(number);
            }
        }
        broken = left;
        broken.is_empty()
    })
    .await;
    for (number, body) in accepted {
        // The service notices a broken connection only when it uses it.
        until("the answer again", async || {
            let again = once(&running, number).await;
            if again.status != 202 {
                return false;
            }
            assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &body));
            true
        })
        .await;
    }
    running.settled(REQUESTS).await;
    assert_eq!(running.delivered(), (REQUESTS, REQUESTS), "none left out and none twice");
    running.end().await;
    universe.end().await;
}
