//! The service is killed during another fault: every recipient gets the message exactly once.

use std::time::Duration;

use serde_json::{Value, json};
use simulator::{NumberFigures, Simulator};

use super::killed::{Killed, slow};
use super::watch::{applied, assert_once};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, WABA, until};

stores!(
    killed_while_the_provider_throttles_the_number,
    killed_while_answers_get_lost,
    killed_while_the_provider_is_down,
    killed_while_the_template_is_paused,
    killed_while_recipients_wait_for_their_next_message,
);

const CONTACTS: u64 = 2_000;
const KILLS: u64 = 2;

async fn start(universe: &Universe, contacts: u64) -> Killed<'_> {
    let killed = Killed::start(universe, contacts, "unlimited", &[]).await;
    slow(&killed, Duration::from_millis(10));
    killed
}

fn figures(killed: &Killed<'_>) -> NumberFigures {
    killed.serving.simulator.number(NUMBER).unwrap()
}

/// Sends through the channel; the id of the send.
async fn send(killed: &Killed<'_>, body: &Value) -> String {
    let answer = killed.serving.send_through(&killed.serving.channel, &killed.url, body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["send_id"].as_str().unwrap().to_owned()
}

fn text(killed: &Killed<'_>) -> Value {
    json!({ "type": "text", "message": "hi", "contact_tag_id": killed.serving.tag })
}

/// Kills the service twice while `script` is in force, each time after the count of `seen` has grown by
/// `so_much`; then ends the trouble.
async fn killed_in(
    universe: &Universe,
    script: &Value,
    so_much: u64,
    seen: impl AsyncFn(&Killed<'_>) -> u64,
) {
    let mut killed = start(universe, CONTACTS).await;
    let id = send(&killed, &text(&killed)).await;
    until("some messages", async || killed.messages() > 200).await;
    killed.serving.simulator.script(script).unwrap();
    for kill in 1..=KILLS {
        let before = seen(&killed).await;
        until("the trouble seen", async || seen(&killed).await >= before + so_much).await;
        assert!(killed.messages() < CONTACTS, "kill {kill} came too late to be in the middle of the send");
        killed.kill_and_start_again().await;
    }
    killed.serving.simulator.end_script();
    let free = json!({ "number": { "phone_number_id": NUMBER, "throttle": "unlimited" } });
    killed.serving.simulator.script(&free).unwrap();
    killed.finished(&id, CONTACTS).await;
    assert_once(&killed.serving.simulator, CONTACTS);
    killed.end().await;
}

async fn killed_while_the_provider_throttles_the_number(universe: &Universe) {
    // So few that a slow machine sends more, and that the messages last until the second kill.
    let storm = json!({ "number": { "phone_number_id": NUMBER, "throttle": 20 } });
    killed_in(universe, &storm, 10, async |killed| figures(killed).throttled).await;
}

async fn killed_while_answers_get_lost(universe: &Universe) {
    let lossy = json!([
        { "probability": 0.1, "seed": 7, "outcome": { "drop_reply": true } },
        { "probability": 0.1, "seed": 8, "outcome": { "garbled_reply": true } },
    ]);
    killed_in(universe, &lossy, 50, async |killed| applied(&killed.serving.simulator).await).await;
}

async fn killed_while_the_provider_is_down(universe: &Universe) {
    let down = json!([
        { "probability": 0.5, "outcome": { "bad_gateway": true } },
        { "outcome": { "error": { "code": 2, "http": 503 } } },
    ]);
    killed_in(universe, &down, 20, async |killed| figures(killed).refused).await;
}

async fn killed_while_the_template_is_paused(universe: &Universe) {
    let mut killed = start(universe, CONTACTS).await;
    let path = format!("/api/v1/chat/{}/templates", killed.serving.channel);
    let mut template = Value::Null;
    until("the templates known", async || {
        let templates = killed.serving.list(&killed.url, &path).await.json();
        let mut templates = templates["data"].as_array().unwrap().iter();
        template =
            templates.find(|it| it["name"] == "hello_world").map_or(Value::Null, |it| it["id"].clone());
        !template.is_null()
    })
    .await;
    let body = json!({ "type": "template", "template_id": template, "components": [],
        "contact_tag_id": killed.serving.tag });
    let id = send(&killed, &body).await;
    let turn = |killed: &Killed<'_>, status: &str| {
        let switch = json!({ "template": { "waba_id": WABA, "name": "hello_world", "language": "en_US",
            "status": status } });
        killed.serving.simulator.script(&switch).unwrap();
    };
    until("some messages", async || killed.messages() > 200).await;
    for kill in 1..=KILLS {
        // The first kill comes during the answers that report the pause, the second during the wait.
        let before = figures(&killed).refused;
        turn(&killed, "PAUSED");
        until("the refusal", async || figures(&killed).refused > before).await;
        if kill == KILLS {
            let reason = async || killed.shown(&id).await["waiting"]["reason"].clone();
            until("the send held", async || reason().await == "template_paused").await;
        }
        assert!(killed.messages() < CONTACTS, "kill {kill} came too late to be in the middle of the send");
        killed.kill_and_start_again().await;
        // Webhooks come in any order: the service has this one before the next is sent.
        until("the webhook of the pause", async || told(&killed.serving.simulator).await >= 2 * kill - 1)
            .await;
        let before = killed.messages();
        turn(&killed, "APPROVED");
        until("more messages", async || killed.messages() > before + 100).await;
    }
    killed.finished(&id, CONTACTS).await;
    assert_once(&killed.serving.simulator, CONTACTS);
    killed.end().await;
}

/// The number of webhooks so far that are no statuses.
async fn told(simulator: &Simulator) -> u64 {
    let figures = reqwest::get(format!("{}/_sim/webhook", simulator.base_url())).await.unwrap();
    figures.json::<Value>().await.unwrap()["notices_delivered"].as_u64().unwrap()
}

async fn killed_while_recipients_wait_for_their_next_message(universe: &Universe) {
    const FEW: u64 = 200;
    const SENDS: u64 = 3;
    let mut killed = start(universe, FEW).await;
    let tier = "[unlimited]\nkind = \"business_account\"\nmessages_per_second = \"unlimited\"\n\
                pair_interval = \"1500ms\"\npair_burst = 1\n";
    killed.serving.place.write("tiers.toml", tier);
    killed.serving.place.json("tier apply tiers.toml");
    // A service that starts with the tier applies it from the first message on.
    killed.kill_and_start_again().await;
    let crowded = json!([{ "probability": 0.1, "outcome": { "error": { "code": 131_056 } } }]);
    killed.serving.simulator.script(&crowded).unwrap();
    let mut sends = Vec::new();
    for _ in 0..SENDS {
        sends.push(send(&killed, &text(&killed)).await);
    }
    for kill in 1..=KILLS {
        let enough = kill * FEW + FEW / 4;
        until("messages before the kill", async || killed.messages() >= enough).await;
        assert!(
            killed.messages() < SENDS * FEW,
            "kill {kill} came too late to be in the middle of the sends"
        );
        killed.kill_and_start_again().await;
    }
    killed.serving.simulator.end_script();
    for id in &sends {
        killed.finished(id, FEW).await;
    }
    let figures = figures(&killed);
    assert_eq!(
        (figures.messages, figures.unique_recipients, figures.most_per_recipient, figures.repeated),
        (SENDS * FEW, FEW, 3, 0)
    );
    assert_ne!(figures.pair_violations, 0, "the provider refused no pair");
    killed.end().await;
}
