//! The provider refuses a channel in the middle of a send: its queue is kept, and goes on when a person
//! connects the channel again.

use pombo::domain::channel::Status;
use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{FIRST, listen, operate, run_under, send_to, show, taken, text, until_it_waits_for};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, TOKEN, WABA, until};

stores!(
    a_token_that_expires_in_mid_send_keeps_the_queue_until_an_operator_gives_another,
    a_number_that_is_healthy_again_goes_on_by_itself,
    an_account_that_is_removed_or_disabled_stops_and_goes_on_when_it_is_restored,
);

const CONTACTS: u64 = 300;

/// A send some of whose messages are accepted, and many are not.
async fn in_mid_send(universe: &Universe) -> (Running, String) {
    let running = Running::start(universe, |config| config.engine.concurrency = 16).await;
    run_under(&running, "brisk", json!({ "messages_per_second": "150/s", "pair_interval": "0s" })).await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let send = send_to(&running, running.channel, tag, text()).await;
    until("some messages taken", async || running.delivered().0 > 50).await;
    (running, send)
}

async fn until_it_is(running: &Running, status: Status) {
    until(&format!("the channel {status}"), async || running.status(running.channel).await == status).await;
}

/// Checks that new sends are refused, and that accepted messages wait without a failure.
async fn assert_stopped(running: &Running, send: &str, reason: &str) {
    let body = json!({ "type": "text", "message": "hi", "phone_number": FIRST });
    let (status, answer) = running.send(&body).await;
    assert_eq!((status, answer["code"].as_str()), (400, Some("reconnect_waba")), "{answer}");
    let shown = until_it_waits_for(running, send, reason).await;
    assert_eq!((&shown["state"], &shown["counts"]["failed"]), (&json!("active"), &json!(0)), "{shown}");
    assert!(running.delivered().0 < CONTACTS, "the refusal came too late to prove anything");
}

async fn assert_all_once(running: Running, send: &str) {
    running.settled(CONTACTS).await;
    assert_eq!(taken(&running, NUMBER), (CONTACTS, CONTACTS, 0));
    let shown = show(&running, send).await;
    assert_eq!((&shown["state"], &shown["waiting"]), (&json!("finished"), &Value::Null), "{shown}");
    until_it_is(&running, Status::Connected).await;
    running.end().await;
}

async fn a_token_that_expires_in_mid_send_keeps_the_queue_until_an_operator_gives_another(
    universe: &Universe,
) {
    let (running, send) = in_mid_send(universe).await;
    let expired = json!({ "token": { "value": TOKEN, "valid": false } });
    running.simulator.script(&expired).unwrap();
    until_it_is(&running, Status::Disconnected).await;
    assert_stopped(&running, &send, "disconnected").await;

    // A person tries the old token again.
    let path = format!("channels/{}/reconnect", running.channel);
    let since =
        async || running.store.channels().find(running.channel).await.unwrap().unwrap().connection.since;
    let refused = since().await;
    assert_eq!(operate(&running, Method::POST, &path, &Value::Null).await.status, 200);
    until("the channel refused again", async || {
        since().await > refused && running.status(running.channel).await == Status::Disconnected
    })
    .await;
    assert_stopped(&running, &send, "disconnected").await;

    let grant = json!({ "number": { "phone_number_id": NUMBER, "token": "EAAG-new" } });
    running.simulator.script(&grant).unwrap();
    let answer = operate(&running, Method::POST, &path, &json!({ "token": "EAAG-new" })).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("connecting")), "{}", answer.body);
    assert_all_once(running, &send).await;
}

async fn a_number_that_is_healthy_again_goes_on_by_itself(universe: &Universe) {
    let (running, send) = in_mid_send(universe).await;
    listen(&running);
    let status = |status: &str| json!({ "number": { "phone_number_id": NUMBER, "status": status } });
    running.simulator.script(&status("DISCONNECTED")).unwrap();
    until_it_is(&running, Status::Disconnected).await;
    assert_stopped(&running, &send, "disconnected").await;

    // A webhook about the account makes the service ask, and only the answer counts.
    let news =
        json!({ "webhook": { "account_update": { "waba_id": WABA, "event": "ACCOUNT_RECONNECTED" } } });
    running.simulator.script(&news).unwrap();
    assert_stopped(&running, &send, "disconnected").await;
    running.simulator.script(&json!([status("CONNECTED"), news])).unwrap();
    assert_all_once(running, &send).await;
}

async fn an_account_that_is_removed_or_disabled_stops_and_goes_on_when_it_is_restored(universe: &Universe) {
    let (running, send) = in_mid_send(universe).await;
    listen(&running);
    let tell = |event: &str, ban: &str| {
        let update = json!({ "waba_id": WABA, "event": event, "ban_info": { "waba_ban_state": ban } });
        running.simulator.script(&json!({ "webhook": { "account_update": update } })).unwrap();
    };
    tell("PARTNER_REMOVED", "");
    until_it_is(&running, Status::Disconnected).await;
    assert_stopped(&running, &send, "disconnected").await;
    let before = running.delivered().0;
    tell("PARTNER_APP_INSTALLED", "");
    until("the send goes on", async || running.delivered().0 > before + 20).await;

    tell("DISABLED_UPDATE", "DISABLE");
    until_it_is(&running, Status::Blocked).await;
    assert_stopped(&running, &send, "blocked").await;
    tell("DISABLED_UPDATE", "REINSTATE");
    assert_all_once(running, &send).await;
}
