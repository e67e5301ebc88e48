//! A send that is canceled or expires while its service is killed: the service's state of each message is
//! compared with the receiver's messages.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pombo::clock::Timestamp;
use serde_json::{Value, json};

use super::killed::{Killed, slow};
use super::watch::{checked, counts, soon};
use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{NUMBER, until};
use crate::serving::IN_FLIGHT;

stores!(
    a_send_that_is_canceled_just_before_a_kill_denies_no_message_that_went_out,
    a_send_that_is_canceled_just_after_a_kill_denies_no_message_that_went_out,
    a_send_that_expires_after_a_kill_denies_no_message_that_went_out,
);

const CONTACTS: u64 = 3_000;
/// How long the provider takes for an answer: long enough that some answers are always outstanding.
const LATENCY: Duration = Duration::from_millis(600);
/// An address on which nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";

async fn a_send_that_is_canceled_just_before_a_kill_denies_no_message_that_went_out(universe: &Universe) {
    let (mut killed, id) = in_the_middle(universe, None).await;
    let canceled = cancel(&killed, &id).await;
    assert_eq!(canceled["state"], "canceled");
    killed.kill().await;
    killed.start_again().await;
    denies_nothing(&killed, &id, "canceled").await;
    killed.end().await;
}

async fn a_send_that_is_canceled_just_after_a_kill_denies_no_message_that_went_out(universe: &Universe) {
    let (mut killed, id) = in_the_middle(universe, None).await;
    killed.kill().await;
    killed.start_again().await;
    cancel(&killed, &id).await;
    denies_nothing(&killed, &id, "canceled").await;
    killed.end().await;
}

async fn a_send_that_expires_after_a_kill_denies_no_message_that_went_out(universe: &Universe) {
    let (mut killed, id) = in_the_middle(universe, Some(Duration::from_secs(6))).await;
    killed.kill().await;
    killed.start_again().await;
    until("the send expired", async || killed.shown(&id).await["state"] == "expired").await;
    denies_nothing(&killed, &id, "expired").await;
    killed.end().await;
}

/// A send with messages in flight, without any receipts so far.
async fn in_the_middle(universe: &Universe, expires_after: Option<Duration>) -> (Killed<'_>, String) {
    let killed = Killed::start(universe, CONTACTS, "unlimited", &[]).await;
    let nobody = soon(killed.serving.receipts(NOBODY));
    killed.serving.simulator.aim_receipts(Some(nobody)).unwrap();
    slow(&killed, LATENCY);
    let mut body = json!({ "type": "text", "message": "hi", "contact_tag_id": killed.serving.tag });
    if let Some(after) = expires_after {
        body["expires_at"] = json!(Timestamp::now().plus(after).to_string());
    }
    let answer = killed.serving.send_through(&killed.serving.channel, &killed.url, &body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let id = answer.json()["send_id"].as_str().unwrap().to_owned();
    until("some messages", async || killed.messages() > 100).await;
    (killed, id)
}

async fn cancel(killed: &Killed<'_>, id: &str) -> Value {
    let cancel = reqwest::Client::new().post(format!("{}/api/v1/sends/{id}/cancel", killed.url));
    checked(&Answer::read(cancel.bearer_auth(&killed.serving.key).send().await.unwrap()).await)
}

/// The service's state of each recipient's message.
async fn told(killed: &Killed<'_>, id: &str) -> BTreeMap<String, String> {
    let list = reqwest::Client::new().get(format!("{}/api/v1/sends/{id}/messages", killed.url));
    let list = list.bearer_auth(&killed.serving.key).header("accept", "application/x-ndjson");
    let lines = list.send().await.unwrap().text().await.unwrap();
    let messages = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let word = |value: &Value| value.as_str().unwrap().trim_start_matches('+').to_owned();
    messages.map(|message| (word(&message["recipient"]), word(&message["state"]))).collect()
}

/// Checks that the service calls no sent message unsent and no unsent message sent. After the provider's
/// receipts, its states are exact.
async fn denies_nothing(killed: &Killed<'_>, id: &str, ended: &str) {
    let has = || killed.serving.simulator.recipients(NUMBER, 0).into_keys().collect::<BTreeSet<_>>();
    let (states, has_now) = (told(killed, id).await, has());
    assert_eq!(states.len() as u64, CONTACTS);
    let denied = states.iter().filter(|(to, state)| *state == ended && has_now.contains(*to)).count();
    let invented = states.iter().filter(|(to, state)| *state == "sent" && !has_now.contains(*to)).count();
    assert_eq!((denied, invented), (0, 0), "{:?}", counts(&killed.shown(id).await));
    let unknown = states.values().filter(|state| *state == "unknown").count() as u64;
    assert!((1..=3 * IN_FLIGHT).contains(&unknown), "{unknown} unknown");
    let limits = format!("/api/v1/chat/{}/limits", killed.serving.channel);
    until("nothing in flight", async || {
        killed.serving.list(&killed.url, &limits).await.json()["in_flight"] == 0
    })
    .await;
    // Outcomes may still be written between the two answers.
    until("the counts to say what the messages say", async || {
        let mut counted = BTreeMap::new();
        told(killed, id).await.into_values().for_each(|state| *counted.entry(state).or_insert(0) += 1);
        counts(&killed.shown(id).await) == counted
    })
    .await;
    killed.aim();
    until("every message that went out delivered", async || {
        let states = told(killed, id).await;
        has().iter().all(|to| ["delivered", "read"].contains(&states[to].as_str()))
    })
    .await;
    let (states, has) = (told(killed, id).await, has());
    for (to, state) in &states {
        let is_there = ["delivered", "read"].contains(&state.as_str());
        assert_eq!(is_there, has.contains(to), "{to} {state}");
    }
    assert_eq!(killed.serving.simulator.number(NUMBER).unwrap().repeated, 0);
}
