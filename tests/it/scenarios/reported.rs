//! The service is killed again and again. Afterwards, its state of each message is compared with the
//! provider's, because equal counts may hide two mistakes that cancel each other out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::message::Key;
use rand::RngExt as _;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::killed::{Killed, slow};
use super::seed::Seed;
use super::watch::soon;
use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::until;

stores!(
    the_report_of_each_message_after_kills_fits_the_provider_s,
    the_report_of_each_message_of_a_send_canceled_before_a_kill_fits_the_provider_s,
    the_report_of_each_message_of_a_send_that_expired_during_a_crash_fits_the_provider_s,
);

const CONTACTS: u64 = 900;
const KILLS: u64 = 3;
/// Single sends that are under way at each kill.
const SINGLES: u64 = 12;
/// A number that is not in the tag.
const FIRST_SINGLE: u64 = 5_521_900_000_000;
/// How long the provider takes for an answer.
const LATENCY: Duration = Duration::from_millis(15);
/// The same for sends that end: a cancel and a kill come before the outstanding answers.
const LONG_LATENCY: Duration = Duration::from_secs(2);
/// From the acceptance of a send to its expiry: longer than the service takes to begin it and to be killed.
const UNTIL_EXPIRY: Duration = Duration::from_secs(12);
/// An address on which nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";
const OPTIONS: [(&str, &str); 3] = [
    ("POMBO__ENGINE__CONCURRENCY", "24"),
    ("POMBO__ENGINE__IN_FLIGHT", "48"),
    // Shorter than the patience of the test, longer than receipts take.
    ("POMBO__RETRY__UNKNOWN_GRACE", "3s"),
];

/// The timeout of the provider's last receipts. It is long, because it decides only how long a failing test
/// takes.
const LAST_WORDS: Duration = Duration::from_secs(30);
/// Numbers with this end are refused permanently.
const REFUSED: char = '3';
/// Messages to numbers with this end are accepted, and called failed later.
const FAILING_LATER: char = '8';

/// The service's report of a message.
#[derive(Debug)]
struct Said {
    state: String,
    recipient: String,
}

/// The messages that the provider accepted, by the service's own id of each.
fn provided(killed: &Killed<'_>) -> BTreeMap<(Uuid, u64), u64> {
    let mut provided = BTreeMap::new();
    for message in killed.serving.simulator.messages(0, 1_000_000) {
        let Key { send_id, ordinal } = message.key.expect("a message without a key").parse().unwrap();
        *provided.entry((send_id, ordinal)).or_default() += 1;
    }
    provided
}

/// The service's report of each message of a send.
async fn said(killed: &Killed<'_>, send: Uuid) -> Vec<Said> {
    let url = format!("{}/api/v1/sends/{send}/messages", killed.url);
    let request = reqwest::Client::new().get(url).bearer_auth(&killed.serving.key);
    let answer = Answer::read(request.header("accept", "application/x-ndjson").send().await.unwrap()).await;
    assert_eq!(answer.status, 200, "send {send}: {}", answer.body);
    let lines = answer.body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .enumerate()
        .map(|(ordinal, line)| {
            assert_eq!(line["ordinal"], ordinal, "send {send} leaves a message out");
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            Said { state: text("state"), recipient: text("recipient") }
        })
        .collect()
}

/// Whether the service's report of a message fits the provider's; no more receipts of the message are to
/// come.
fn fits(said: &Said, copies: u64) -> bool {
    let failed_later = said.recipient.ends_with(FAILING_LATER);
    match said.state.as_str() {
        "sent" | "delivered" | "read" => copies == 1,
        "failed" => copies == u64::from(failed_later),
        "canceled" | "expired" | "queued" => copies == 0,
        "unknown" => copies <= 1,
        _ => false,
    }
}

/// The reports that do not fit the provider's, of these sends and of all others that the provider knows.
async fn misreported(killed: &Killed<'_>, sends: &BTreeSet<Uuid>) -> Vec<String> {
    let provided = provided(killed);
    let known = provided.keys().map(|(send, _)| *send);
    let sends: BTreeSet<Uuid> = known.chain(sends.iter().copied()).collect();
    let (mut faults, mut told) = (Vec::new(), 0);
    for send in sends {
        for (ordinal, said) in said(killed, send).await.iter().enumerate() {
            let copies = provided.get(&(send, ordinal as u64)).copied().unwrap_or_default();
            told += u64::from(copies > 0);
            if !fits(said, copies) {
                faults.push(format!("message {ordinal} of {send}: {said:?}, the provider has {copies}"));
            }
        }
    }
    if told != provided.len() as u64 {
        faults.push(format!("the provider has {} messages, the service tells of {told}", provided.len()));
    }
    faults
}

/// Waits for the last receipts of these sends, and checks that all reports fit the provider's.
async fn assert_reported(killed: &Killed<'_>, sends: &BTreeSet<Uuid>) {
    for send in sends {
        let over = async || {
            let state = killed.shown(&send.to_string()).await["state"].clone();
            ["finished", "canceled", "expired"].contains(&state.as_str().unwrap())
        };
        until("every send over", over).await;
    }
    // The provider's last receipts may still be on their way.
    let deadline = Instant::now() + LAST_WORDS;
    loop {
        let faults = misreported(killed, sends).await;
        if faults.is_empty() {
            return;
        }
        let shown = faults[..faults.len().min(20)].join("\n");
        assert!(Instant::now() < deadline, "{} messages are misreported:\n{shown}", faults.len());
    }
}

/// Single sends that go on by themselves; the service may be killed before it answers.
fn singles(killed: &Killed<'_>, first: u64) -> Vec<JoinHandle<Option<Uuid>>> {
    let url = format!("{}/api/v1/chat/{}/messages", killed.url, killed.serving.channel);
    (first..first + SINGLES)
        .map(|number| {
            let body = json!({ "type": "text", "message": "hi", "phone_number": number });
            let request = reqwest::Client::new().post(&url).bearer_auth(&killed.serving.key).json(&body);
            tokio::spawn(async move {
                let answer = request.send().await.ok()?;
                (answer.status() == 202).then_some(())?;
                // An answer that was cut off in the middle accepted nothing that a client could read.
                answer.json::<Value>().await.ok().map(|answer| id(&answer))
            })
        })
        .collect()
}

fn id(answer: &Value) -> Uuid {
    answer["send_id"].as_str().unwrap().parse().unwrap()
}

async fn begun(killed: &Killed<'_>) -> Uuid {
    let answer = killed.serving.send(&killed.url).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    id(&answer.json())
}

async fn the_report_of_each_message_after_kills_fits_the_provider_s(universe: &Universe) {
    let mut chance = Seed::new().chance();
    let mut killed = Killed::start(universe, CONTACTS, "unlimited", &OPTIONS).await;
    slow(&killed, LATENCY);
    let trouble = json!([
        { "match": { "to_suffix": REFUSED }, "outcome": { "error": { "code": 131_026 } } },
        { "match": { "to_suffix": FAILING_LATER }, "outcome": { "async_failed": { "code": 131_026 } } },
        { "probability": 0.05, "seed": 1, "outcome": { "error": { "code": 131_000 } } },
        { "probability": 0.05, "seed": 2, "outcome": { "drop_reply": true } },
        { "probability": 0.05, "seed": 3, "outcome": { "reset": true } },
    ]);
    killed.serving.simulator.script(&trouble).unwrap();
    let mut promised = BTreeSet::from([begun(&killed).await]);
    for kill in 1..=KILLS {
        let step = CONTACTS / (KILLS + 2);
        let enough = (kill - 1) * step + chance.random_range(0..step);
        until("messages before the kill", async || killed.messages() >= enough).await;
        let asked = singles(&killed, FIRST_SINGLE + kill * SINGLES);
        // Some of them are answered, others are on their way.
        let answered = chance.random_range(0..asked.len());
        until("answers before the kill", async || {
            asked.iter().filter(|one| one.is_finished()).count() >= answered
        })
        .await;
        killed.kill_and_start_again().await;
        for one in asked {
            promised.extend(one.await.unwrap());
        }
    }
    promised.insert(begun(&killed).await);
    assert!(promised.len() > 3, "hardly anything was accepted");
    assert_reported(&killed, &promised).await;
    assert_ne!(killed.in_doubt, 0, "nothing was in flight at the kills");
    killed.end().await;
}

/// A send in its middle: some of its messages are read, and of the last ones the service has no answer and no receipt.
async fn in_the_middle(universe: &Universe, expires_after: Option<Duration>) -> (Killed<'_>, Uuid) {
    let killed = Killed::start(universe, CONTACTS, "unlimited", &OPTIONS).await;
    slow(&killed, LONG_LATENCY);
    let expires_at = expires_after.map(|after| Timestamp::now().plus(after).to_string());
    let body = json!({
        "type": "text", "message": "hi", "contact_tag_id": killed.serving.tag, "expires_at": expires_at,
    });
    let answer = killed.serving.send_through(&killed.serving.channel, &killed.url, &body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let send = id(&answer.json());
    until("some messages read", async || said(&killed, send).await.iter().any(|said| said.state == "read"))
        .await;
    let nobody = soon(killed.serving.receipts(NOBODY));
    killed.serving.simulator.aim_receipts(Some(nobody)).unwrap();
    let before = killed.messages();
    until("messages without receipts", async || killed.messages() > before).await;
    (killed, send)
}

/// Checks the report of each message of an ended send against the provider's: first without receipts of the
/// messages in flight at the kill, then with them.
async fn assert_ended_and_reported(killed: Killed<'_>, send: Uuid) {
    assert_ne!(killed.in_doubt, 0, "nothing was in flight at the kill");
    assert!(killed.messages() < CONTACTS, "the send ended too late to be in its middle");
    assert_reported(&killed, &[send].into()).await;
    killed.aim();
    // Not every message is read.
    let arrived = async || {
        let said = said(&killed, send).await;
        let arrived = said.iter().filter(|said| ["delivered", "read"].contains(&said.state.as_str()));
        arrived.count() as u64 == killed.messages()
    };
    until("every message that the provider has delivered", arrived).await;
    assert_reported(&killed, &[send].into()).await;
    killed.end().await;
}

async fn the_report_of_each_message_of_a_send_canceled_before_a_kill_fits_the_provider_s(
    universe: &Universe,
) {
    let (mut killed, send) = in_the_middle(universe, None).await;
    let cancel = reqwest::Client::new().post(format!("{}/api/v1/sends/{send}/cancel", killed.url));
    let canceled = cancel.bearer_auth(&killed.serving.key).send().await.unwrap();
    assert_eq!(canceled.status().as_u16(), 200);
    killed.kill().await;
    killed.start_again().await;
    assert_ended_and_reported(killed, send).await;
}

async fn the_report_of_each_message_of_a_send_that_expired_during_a_crash_fits_the_provider_s(
    universe: &Universe,
) {
    let (mut killed, send) = in_the_middle(universe, Some(UNTIL_EXPIRY)).await;
    let shown = killed.shown(&send.to_string()).await;
    assert_eq!(shown["state"], "active", "the send expired before the kill");
    killed.kill().await;
    let expires_at = Timestamp::parse(shown["expires_at"].as_str().unwrap()).unwrap();
    until("the send's time over", async || Timestamp::now() > expires_at).await;
    killed.start_again().await;
    until("the send expired", async || killed.shown(&send.to_string()).await["state"] == "expired").await;
    assert_ended_and_reported(killed, send).await;
}
