//! Dead connections: one to a database that vanished without an error, so that no signal says that it will never
//! answer, and those beside a connection that broke off.

use std::time::Duration;

use futures_util::future::join_all;
use pombo::store::{Options, Store};
use reqwest::Method;
use serde_json::Value;
use url::Url;

use crate::database::Universe;
use crate::postgres_proxy::{Moment, PostgresProxy};
use crate::proxy::Proxy;
use crate::running::{Running, until, until_soon};

/// So few connections that requests have only one of them.
const CONNECTIONS: u32 = 5;
const OFTEN: usize = 3;
const CONTACTS: &str = "FROM contact_book";
/// How long a request may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_request_is_given_up_that_the_database_never_answers_and_its_connection_with_it() {
    let universe = Universe::postgres().await;
    let proxy = PostgresProxy::to(&universe.url);
    let options = Options {
        url: proxy.url.clone(),
        connections: CONNECTIONS,
        acquire_timeout: Duration::from_secs(1),
        statement_timeout: Duration::from_millis(200),
        ..universe.options()
    };
    let store = Store::open(&options).await.unwrap();
    let running = Running::start_on(store, options, |_| {}).await;
    let nothing = Value::Null;
    let ask = async || {
        let asked = running.ask(Method::GET, "/api/v1/contacts", &nothing);
        tokio::time::timeout(PATIENCE, asked).await.expect("an unanswered request is given up")
    };
    assert_eq!(ask().await.status, 200);
    let mut held = Vec::new();
    for _ in 0..OFTEN {
        let caught = proxy.catch(Moment::Request(CONTACTS));
        let answer = ask().await;
        assert_eq!((answer.status, answer.code().as_deref()), (503, Some("service_unavailable")));
        assert!(caught.is_held());
        held.push(caught);
    }
    // The other requests' statements are under way for as long as the test runs.
    until_soon("the list", async || ask().await.status == 200).await;
    drop(held);
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn after_one_connection_broke_off_the_others_are_asked_before_they_are_used() {
    let universe = Universe::postgres().await;
    let mut url = Url::parse(&universe.url).unwrap();
    let server = format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap_or(5432));
    let proxy = Proxy::to(server);
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(proxy.address.port())).unwrap();
    let options = Options { url: url.into(), connections: 6 * CONNECTIONS, ..universe.options() };
    let store = Store::open(&options).await.unwrap();
    let connections = store.connections();
    assert!(connections > 2, "{connections}");
    join_all((0..connections).map(|_| store.ping())).await.into_iter().for_each(Result::unwrap);
    until("a connection that broke off is used", async || {
        proxy.cut();
        proxy.mend();
        let mut failed = 0;
        for _ in 0..connections {
            failed += usize::from(store.ping().await.is_err());
        }
        assert!(failed <= 1, "{failed} calls met connections that broke off");
        // The connections that were just given back are checked then, and closed: no call gets one.
        join_all((0..connections).map(|_| store.ping())).await.into_iter().for_each(Result::unwrap);
        failed == 1
    })
    .await;
    store.close().await;
    universe.end().await;
}
