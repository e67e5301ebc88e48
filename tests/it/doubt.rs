//! A commit without an answer: the service's answer to the client is true, whether the commit succeeded or
//! not.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use crate::database::Universe;
use crate::outage::{assert_unavailable, behind_proxy, ready, single};
use crate::proxy::Held;
use crate::running::until;

const COMMIT_TIMEOUT: Duration = Duration::from_millis(500);
/// The recipient of the message whose commit hangs.
const FIRST: u64 = 5_521_900_000_001;
const OTHER: u64 = 5_521_900_000_002;
const BEFORE: u64 = 5_521_900_000_003;

/// A recipient in the statement that writes one send: an array that counts from 1, and its only element of 8 bytes.
fn number(number: u64) -> Vec<u8> {
    [&1_i32.to_be_bytes()[..], &8_i32.to_be_bytes(), &number.to_be_bytes()].concat()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_send_that_was_refused_because_the_database_hung_is_not_accepted_later() {
    let universe = Universe::postgres().await;
    let (proxy, running) =
        behind_proxy(&universe, |config| config.database.commit_timeout = COMMIT_TIMEOUT).await;
    assert_eq!(single(&running, BEFORE).await.status, 202);
    running.settled(1).await;

    proxy.hold(Held::Request, &number(FIRST));
    assert_unavailable(&single(&running, FIRST).await, "a send whose backend hangs");
    assert!(proxy.holds());
    // Rows after the refusal are written while the backend still hangs.
    until("another send accepted", async || single(&running, OTHER).await.status == 202).await;
    running.settled(2).await;
    proxy.let_go();
    until("the late statement answered", async || proxy.is_answered()).await;

    assert_eq!(single(&running, FIRST).await.status, 202, "the client repeats what was refused");
    running.settled(3).await;
    assert_eq!(running.delivered(), (3, 3), "messages, and people");
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_send_that_was_written_but_not_confirmed_is_accepted() {
    let universe = Universe::postgres().await;
    let (proxy, running) =
        behind_proxy(&universe, |config| config.database.commit_timeout = COMMIT_TIMEOUT).await;
    assert_eq!(single(&running, BEFORE).await.status, 202);
    // A send beside an outcome is written in a transaction, whose failure is certain.
    running.settled(1).await;

    proxy.hold(Held::Answer, &number(FIRST));
    let answer = single(&running, FIRST).await;
    assert!(proxy.holds());
    assert_eq!(answer.status, 202, "{}", answer.body);
    running.settled(2).await;
    proxy.let_go();
    assert_eq!(running.delivered(), (2, 2), "messages, and people");
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn nobody_is_told_that_a_send_was_refused_before_that_is_certain() {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind_proxy(&universe, |_| {}).await;
    assert_eq!(single(&running, BEFORE).await.status, 202);
    running.settled(1).await;

    proxy.hold(Held::Answer, &number(FIRST));
    let meanwhile = async {
        until("the answer held back", async || proxy.holds()).await;
        proxy.refuse();
        until("not ready", async || ready(&running).await == 503).await;
        // This one never reached the database.
        assert_unavailable(&single(&running, OTHER).await, "a send while the database is away");
    };
    let answer = match select(pin!(single(&running, FIRST)), pin!(meanwhile)).await {
        Either::Left((answer, _)) => {
            panic!("answered {} while nobody knew: {}", answer.status, answer.body)
        }
        Either::Right(((), in_doubt)) => {
            proxy.mend();
            in_doubt.await
        }
    };
    assert_eq!(answer.status, 202, "{}", answer.body);
    until("ready", async || ready(&running).await == 200).await;
    running.settled(2).await;
    assert_eq!(running.delivered(), (2, 2), "messages, and people");
    running.end().await;
    universe.end().await;
}
