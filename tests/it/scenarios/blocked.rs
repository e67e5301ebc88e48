//! The provider refuses every message of a channel but reports its number as healthy: one trial message at a
//! time finds out whether that is over.

use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::channel::{Status, Trial};
use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{
    FIRST, limits, listen, operate, run_under, send_to, show, taken, tell, text, until_it_waits_for,
};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA, until};

stores!(
    a_blocked_channel_opens_with_one_message_that_the_provider_accepts_and_not_with_a_healthy_answer,
    a_channel_with_nothing_queued_opens_with_the_next_send,
    a_number_restricted_for_spam_is_left_alone_for_hours,
    a_restart_keeps_the_block_and_its_back_off,
    a_message_whose_answer_is_lost_opens_the_channel_with_its_receipt,
);

const CONTACTS: u64 = 200;

/// Every message is refused with this code; the number is described as healthy.
fn refuse(running: &Running, code: u32) {
    running.simulator.script(&json!({ "outcome": { "error": { "code": code } } })).unwrap();
}

/// A send in the middle of which the provider began to refuse every message.
async fn refused_in_mid_send(universe: &Universe, code: u32) -> (Running, String) {
    let running = Running::start(universe, |config| config.engine.concurrency = 16).await;
    run_under(&running, "brisk", json!({ "messages_per_second": "150/s", "pair_interval": "0s" })).await;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    let send = send_to(&running, running.channel, tag, text()).await;
    until("some messages taken", async || running.delivered().0 > 30).await;
    refuse(&running, code);
    listen(&running);
    (running, send)
}

async fn until_it_is(running: &Running, status: Status) {
    until(&format!("the channel {status}"), async || running.status(running.channel).await == status).await;
}

/// Waits until no request is on its way.
async fn at_rest(running: &Running) {
    until("no request on its way", async || limits(running, running.channel).await["in_flight"] == 0).await;
}

fn arrivals(running: &Running) -> u64 {
    running.simulator.number(NUMBER).unwrap().arrivals
}

/// Sends a webhook about the account, after which the service asks for the number's state; waits until it has
/// the answer.
async fn ask_again(running: &Running) {
    for _ in 0..2 {
        let before = running.simulator.descriptions(NUMBER);
        let news = json!({ "waba_id": WABA, "event": "ACCOUNT_RECONNECTED" });
        running.simulator.script(&json!({ "webhook": { "account_update": news } })).unwrap();
        // Questions go one after the other: with the second one, the answer to the first has been processed.
        until("the service asking", async || running.simulator.descriptions(NUMBER) > before).await;
    }
}

/// The channel's trial.
async fn trial(running: &Running) -> Trial {
    running
        .store
        .channels()
        .find(running.channel)
        .await
        .unwrap()
        .unwrap()
        .trial
        .expect("the channel owes nothing")
}

/// Makes the next trial message due now, as if the pause before it were over.
async fn let_the_pause_pass(running: &Running) {
    let channel = running.store.channels().find(running.channel).await.unwrap().unwrap();
    let (connection, due) = (&channel.connection, Timestamp::now());
    let trial = channel.trial.map(|trial| Trial { due, ..trial });
    let written =
        running.store.channels().set_trial(channel.id, connection, connection, trial).await.unwrap();
    assert!(written.is_some());
}

async fn send_one(running: &Running) -> (u16, Value) {
    running.send(&json!({ "type": "text", "message": "hi", "phone_number": FIRST + 5_000 })).await
}

async fn assert_refuses_sends(running: &Running) {
    let (status, answer) = send_one(running).await;
    assert_eq!((status, answer["code"].as_str()), (400, Some("reconnect_waba")), "{answer}");
}

async fn reconnect(running: &Running) {
    let path = format!("channels/{}/reconnect", running.channel);
    let answer = operate(running, Method::POST, &path, &Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

async fn a_blocked_channel_opens_with_one_message_that_the_provider_accepts_and_not_with_a_healthy_answer(
    universe: &Universe,
) {
    let (running, send) = refused_in_mid_send(universe, 131_031).await;
    until_it_is(&running, Status::Blocked).await;
    at_rest(&running).await;
    let (before, since) = (arrivals(&running), Instant::now());

    ask_again(&running).await;
    until("one message tried", async || arrivals(&running) > before).await;
    at_rest(&running).await;
    // The trial message was refused: the next trial comes late, no matter how often the number is reported as healthy.
    ask_again(&running).await;
    at_rest(&running).await;
    // On a machine so slow that a minute passed, there may have been a second trial.
    let tried = arrivals(&running) - before;
    assert!(tried <= 1 + since.elapsed().as_secs() / 45, "{tried} messages sent into a block");
    assert_eq!(running.status(running.channel).await, Status::Blocked);
    assert_refuses_sends(&running).await;
    until_it_waits_for(&running, &send, "blocked").await;

    // A person's request starts a trial at once. The provider's answer to the message opens the channel, not
    // the message itself.
    let slow = Duration::from_millis(500);
    running.simulator.end_script();
    let slowly = json!({ "times": 1, "outcome": { "hang_then_accept": "500ms" } });
    running.simulator.script(&slowly).unwrap();
    let (taken_before, before) = (running.delivered().0, arrivals(&running));
    reconnect(&running).await;
    until("one message on its way", async || arrivals(&running) > before).await;
    let since = Instant::now();
    until("a message taken", async || running.delivered().0 > taken_before).await;
    assert!(since.elapsed() > slow / 2, "another message overtook it");
    running.settled(CONTACTS).await;
    assert_eq!(taken(&running, NUMBER), (CONTACTS, CONTACTS, 0));
    assert_eq!(show(&running, &send).await["state"], "finished");
    until_it_is(&running, Status::Connected).await;
    running.end().await;
}

async fn a_channel_with_nothing_queued_opens_with_the_next_send(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    until_it_is(&running, Status::Connected).await;
    listen(&running);
    refuse(&running, 131_005);
    let (status, answer) = send_one(&running).await;
    assert_eq!(status, 202, "{answer}");
    until_it_is(&running, Status::Disconnected).await;
    assert_refuses_sends(&running).await;
    let cancel = format!("/api/v1/sends/{}/cancel", answer["send_id"].as_str().unwrap());
    assert_eq!(running.ask(Method::POST, &cancel, &Value::Null).await.status, 200);

    ask_again(&running).await;
    until_it_is(&running, Status::Connecting).await;
    running.simulator.end_script();
    let (status, answer) = send_one(&running).await;
    assert_eq!(status, 202, "{answer}");
    until_it_is(&running, Status::Connected).await;
    running.settled(1).await;
    running.end().await;
}

async fn a_number_restricted_for_spam_is_left_alone_for_hours(universe: &Universe) {
    let (running, _) = refused_in_mid_send(universe, 131_048).await;
    until_it_is(&running, Status::Blocked).await;
    at_rest(&running).await;
    let Trial { wait, due } = trial(&running).await;
    assert_eq!(wait, Duration::from_secs(2 * 60 * 60));
    assert!(due.from_now(Timestamp::now()) > wait / 2, "due at {due}");
    let before = arrivals(&running);
    ask_again(&running).await;
    at_rest(&running).await;
    assert_eq!((arrivals(&running), running.status(running.channel).await), (before, Status::Blocked));
    assert_refuses_sends(&running).await;
    running.end().await;
}

async fn a_restart_keeps_the_block_and_its_back_off(universe: &Universe) {
    let (mut running, _) = refused_in_mid_send(universe, 131_031).await;
    until_it_is(&running, Status::Blocked).await;
    at_rest(&running).await;
    let (before, owed) = (arrivals(&running), trial(&running).await);
    running.restart().await;
    assert_eq!((running.status(running.channel).await, trial(&running).await), (Status::Blocked, owed));
    assert_refuses_sends(&running).await;
    assert_eq!(arrivals(&running), before);

    // The pause continues after the restart, and the next one is longer.
    let_the_pause_pass(&running).await;
    until("a longer pause", async || trial(&running).await.wait > owed.wait).await;
    assert_eq!((arrivals(&running), trial(&running).await.wait), (before + 1, 2 * owed.wait));
    assert_eq!(running.status(running.channel).await, Status::Blocked);
    running.simulator.end_script();
    let_the_pause_pass(&running).await;
    running.settled(CONTACTS).await;
    assert_eq!(taken(&running, NUMBER), (CONTACTS, CONTACTS, 0));
    until_it_is(&running, Status::Connected).await;
    let channel = running.store.channels().find(running.channel).await.unwrap().unwrap();
    assert_eq!(channel.trial, None);
    running.end().await;
}

async fn a_message_whose_answer_is_lost_opens_the_channel_with_its_receipt(universe: &Universe) {
    let running =
        Running::start(universe, |config| config.retry.unknown_grace = Duration::from_secs(60)).await;
    until_it_is(&running, Status::Connected).await;
    refuse(&running, 131_031);
    let tag = running.tag("everyone", FIRST, 20).await;
    let send = send_to(&running, running.channel, tag, text()).await;
    until_it_is(&running, Status::Blocked).await;
    at_rest(&running).await;
    let before = arrivals(&running);

    running.simulator.end_script();
    running.simulator.script(&json!({ "times": 1, "outcome": { "drop_reply": true } })).unwrap();
    let_the_pause_pass(&running).await;
    until("one message tried", async || arrivals(&running) > before).await;
    at_rest(&running).await;
    until_it_waits_for(&running, &send, "blocked").await;
    assert_eq!((arrivals(&running), running.status(running.channel).await), (before + 1, Status::Blocked));

    // The provider reports that it has the message.
    let message = running.simulator.messages(0, 1).pop().unwrap();
    let sent = json!({
        "id": message.id, "status": "sent", "timestamp": (Timestamp::now().millis() / 1_000).to_string(),
        "recipient_id": message.to, "biz_opaque_callback_data": message.key,
    });
    tell(
        &running,
        &[json!({ "field": "messages", "value": {
        "messaging_product": "whatsapp",
        "metadata": { "display_phone_number": "15550783881", "phone_number_id": NUMBER },
        "statuses": [sent],
    } })],
    )
    .await;
    running.settled(20).await;
    assert_eq!(taken(&running, NUMBER), (20, 20, 0));
    until_it_is(&running, Status::Connected).await;
    running.end().await;
}
