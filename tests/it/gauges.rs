//! Gauges of messages in memory: totals for monitoring, and one channel for an operator.

use reqwest::Client;
use serde_json::{Value, json};

use crate::database::Universe;
use crate::harness::Answer;
use crate::running::until_soon;
use crate::serving::{OTHER_NUMBER, Serving};

/// Messages that a channel hands to the provider at once, in a service of these tests.
const AT_ONCE: u64 = 24;
const PEOPLE: u64 = 40;

/// A channel's load, as an operator reads it.
async fn load(url: &str, operator: &str, channel: &str) -> Answer {
    let path = format!("{url}/operator/v1/channels/{channel}/load");
    Answer::to(Client::new().get(path).bearer_auth(operator)).await
}

fn figures(load: &Value) -> [u64; 5] {
    let lanes = &load["lanes"];
    let figures = [&lanes["direct"], &lanes["bulk"], &lanes["retry"], &load["in_flight"], &load["mailbox"]];
    figures.map(|figure| figure.as_u64().unwrap())
}

async fn messages_in_memory_are_measured(universe: Universe) {
    let mut serving = Serving::new(&universe, PEOPLE, "unlimited").await;
    let other = serving.add_channel(OTHER_NUMBER, "unlimited");
    let operator = serving.place.json("operator create ana")["key"].as_str().unwrap().to_owned();
    let hang = json!({ "match": {}, "outcome": { "hang_then_accept": "60s" } });
    serving.simulator.script(&hang).unwrap();
    let (mut child, url) = serving.serve().await;
    assert_eq!(serving.send(&url).await.status, 202);
    // This many are under way without an answer; the others wait in their lane.
    until_soon("the messages under way", async || {
        let answer = load(&url, &operator, &serving.channel).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        figures(&answer.json()) == [0, PEOPLE - AT_ONCE, 0, AT_ONCE, 0]
    })
    .await;
    let single = json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" });
    assert_eq!(serving.send_through(&serving.channel, &url, &single).await.status, 202);
    until_soon("a single message in its lane", async || {
        let answer = load(&url, &operator, &serving.channel).await.json();
        assert_eq!(answer["is_running"], true);
        figures(&answer) == [1, PEOPLE - AT_ONCE, 0, AT_ONCE, 0]
    })
    .await;
    // Its mailbox may still have what every channel is told at the start.
    until_soon("nothing in the other channel", async || {
        figures(&load(&url, &operator, &other).await.json()) == [0; 5]
    })
    .await;
    assert_eq!(load(&url, &operator, "0190a0c4-7c1b-7f00-8f4e-2a9f54b2c001").await.status, 404);

    let mut shown = String::new();
    let expected = [
        "pombo_lane_messages{lane=\"direct\"} 1".to_owned(),
        format!("pombo_lane_messages{{lane=\"bulk\"}} {}", PEOPLE - AT_ONCE),
        "pombo_lane_messages{lane=\"retry\"} 0".to_owned(),
        format!("pombo_messages_in_flight {AT_ONCE}"),
        "pombo_mailbox_messages{actor=\"channel\"} 0".to_owned(),
        "pombo_mailbox_messages{actor=\"ledger\"} 0".to_owned(),
        "pombo_ledger_queue 0".to_owned(),
        "pombo_ledger_open_rows 0".to_owned(),
    ];
    until_soon("the totals", async || {
        shown = Answer::to(Client::new().get(format!("{url}/metrics"))).await.body;
        expected.iter().all(|line| shown.lines().any(|shown| shown == line))
    })
    .await;
    child.crash();
    serving.simulator.stop().await;
    universe.end().await;
}

#[actix_web::test]
async fn messages_in_memory_are_measured_for_all_channels_and_shown_for_one() {
    messages_in_memory_are_measured(Universe::sqlite().await).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn messages_in_memory_are_measured_for_all_channels_and_shown_for_one_on_postgres() {
    messages_in_memory_are_measured(Universe::postgres().await).await;
}

/// The value of a series; `None` while it is not shown.
fn value(shown: &str, series: &str) -> Option<f64> {
    let line = shown.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    Some(if line == "+Inf" { f64::INFINITY } else { line.parse().unwrap() })
}

async fn waiting_messages_and_rates_are_measured(universe: Universe) {
    let mut serving = Serving::new(&universe, PEOPLE, "unlimited").await;
    let other = serving.add_channel(OTHER_NUMBER, "standard");
    let hang = json!({ "match": {}, "outcome": { "hang_then_accept": "60s" } });
    serving.simulator.script(&hang).unwrap();
    let (mut child, url) = serving.serve().await;
    let later = pombo::clock::Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string();
    let mut everyone = json!({ "type": "text", "message": "hi", "contact_tag_id": serving.tag });
    let paused = serving.send_through(&other, &url, &everyone).await;
    assert_eq!(paused.status, 202, "{}", paused.body);
    let pause = format!("{url}/api/v1/sends/{}/pause", paused.json()["send_id"].as_str().unwrap());
    let answer = Answer::to(Client::new().post(pause).bearer_auth(&serving.key)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    everyone["send_at"] = json!(later);
    let scheduled = serving.send_through(&serving.channel, &url, &everyone).await;
    assert_eq!(scheduled.status, 202, "{}", scheduled.body);

    let mut shown = String::new();
    let waits =
        |reason: &str, tier: &str| format!("pombo_messages_waiting{{reason=\"{reason}\",tier=\"{tier}\"}}");
    until_soon("the waiting messages", async || {
        shown = Answer::to(Client::new().get(format!("{url}/metrics"))).await.body;
        let of = |reason, tier| value(&shown, &waits(reason, tier));
        // Some may have gone before the pause, and get no answer.
        let gone = value(&shown, "pombo_messages_in_flight").unwrap_or_default();
        of("paused", "standard") == Some(PEOPLE as f64 - gone)
            && of("scheduled", "unlimited") == Some(PEOPLE as f64)
    })
    .await;
    assert_eq!(value(&shown, "pombo_channels{status=\"disconnected\"}"), Some(0.0), "{shown}");
    until_soon("both channels connected", async || {
        shown = Answer::to(Client::new().get(format!("{url}/metrics"))).await.body;
        value(&shown, "pombo_channels{status=\"connected\"}") == Some(2.0)
    })
    .await;
    let labels = format!("{{tier=\"standard\",channel=\"{other}\",name=\"N{OTHER_NUMBER}\"}}");
    let limit = value(&shown, &format!("pombo_channel_rate_limit{labels}")).unwrap();
    assert!(limit > 0.0 && limit.is_finite(), "{limit}");
    assert!(value(&shown, &format!("pombo_channel_rate{labels}")).is_some(), "{shown}");
    child.crash();
    serving.simulator.stop().await;
    universe.end().await;
}

#[actix_web::test]
async fn waiting_messages_and_rates_are_measured_by_reason_tier_and_channel() {
    waiting_messages_and_rates_are_measured(Universe::sqlite().await).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn waiting_messages_and_rates_are_measured_by_reason_tier_and_channel_on_postgres() {
    waiting_messages_and_rates_are_measured(Universe::postgres().await).await;
}
