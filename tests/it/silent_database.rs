//! A database that is gone without an error: no signal says that it will never answer.

use std::time::Duration;

use pombo::store::{Options, Store};
use reqwest::Method;
use serde_json::Value;

use crate::database::Universe;
use crate::postgres_proxy::{Moment, PostgresProxy};
use crate::running::{Running, until_soon};

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
        tokio::time::timeout(PATIENCE, asked).await.expect("what nobody answers is given up")
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
