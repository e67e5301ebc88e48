//! Nodes that share the work.

use futures_util::future::join_all;
use pombo::clock::Timestamp;
use pombo::domain::send::{Control, State};
use pombo::store::nodes::NoteOfSend;
use reqwest::Method;

use super::*;
use crate::events::server::NatsServer;

const PEOPLE: u64 = 300;

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_send_that_any_node_accepts_is_sent_once_by_the_channel_s_owner() {
    let stage = Stage::new(PEOPLE, &["a", "b", "c"]).await;
    for (place, node) in stage.nodes.iter().enumerate() {
        for number in 0..10 {
            stage.send(node, SINGLE + 100 * place as u64 + number).await;
        }
    }
    stage.all_heard_once(30).await;
    // A bulk send through a node that does not run the channel, while another one is under way there.
    let owner = stage.owner().await;
    let other = stage.nodes.iter().find(|node| Some(node.name) != owner.as_deref()).unwrap();
    assert_eq!(stage.serving.send(&other.url).await.status, 202);
    stage.all_heard_once(30 + PEOPLE).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_send_that_another_node_accepts_goes_beside_one_under_way() {
    let mut stage = Stage::new(PEOPLE, &["a", "b"]).await;
    stage.serving.simulator.script(&json!({ "latency": "1s" })).unwrap();
    let owner = stage.take_owner().await;
    assert_eq!(stage.serving.send(&owner.url).await.status, 202);
    until("the bulk send under way", async || stage.serving.figures().0 > 0).await;
    stage.send(&stage.nodes[0], SINGLE).await;
    until("the single message", async || stage.heard().contains_key(&SINGLE.to_string())).await;
    assert!(stage.heard().len() < PEOPLE as usize, "the send waited for the whole bulk send");
    stage.nodes.push(owner);
    stage.all_heard_once(PEOPLE + 1).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn other_nodes_answer_503_with_the_owner_s_name_where_only_the_owner_knows() {
    let mut stage = Stage::new(0, &["first", "second"]).await;
    let owner = stage.take_owner().await;
    let path = format!("/api/v1/chat/{}/limits", stage.serving.channel);
    let elsewhere = stage.ask(&stage.nodes[0], Method::GET, &path, &Value::Null).await;
    assert_eq!(elsewhere.status, 503, "{}", elsewhere.body);
    assert_eq!(elsewhere.json()["code"], "service_unavailable");
    let named = format!("the node {} ({})", owner.name, owner.url.trim_start_matches("http://"));
    assert!(elsewhere.body.contains(&named), "{}", elsewhere.body);
    assert!(elsewhere.headers.contains_key("retry-after"));
    let there = stage.ask(&owner, Method::GET, &path, &Value::Null).await;
    assert_eq!(there.status, 200, "{}", there.body);
    stage.nodes.push(owner);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn with_nats_the_owner_s_answer_is_given_everywhere() {
    let mut server = NatsServer::start_with(&[]).await;
    let options = [("POMBO__NATS__URL", server.url())];
    let options = options.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut stage = Stage::with(0, &["first", "second"], "standard", &options).await;
    let owner = stage.take_owner().await;
    let path = format!("/api/v1/chat/{}/limits", stage.serving.channel);
    let elsewhere = async || stage.ask(&stage.nodes[0], Method::GET, &path, &Value::Null).await;
    until("the owner's answer", async || elsewhere().await.status == 200).await;
    // The provider's answer about the number may come in between.
    until("the same answer at both", async || {
        let there = stage.ask(&owner, Method::GET, &path, &Value::Null).await.json();
        let answer = elsewhere().await.json();
        (&answer["limits"], &answer["waiting"]) == (&there["limits"], &there["waiting"])
    })
    .await;
    server.stop();
    until("no answer without NATS", async || elsewhere().await.status == 503).await;
    let refused = elsewhere().await;
    assert!(refused.body.contains(&format!("the node {}", owner.name)), "{}", refused.body);
    assert!(refused.headers.contains_key("retry-after"));
    server.start_again().await;
    until("the owner's answer again", async || elsewhere().await.status == 200).await;
    stage.nodes.push(owner);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_webhook_about_the_account_at_another_node_reaches_the_owner() {
    let mut stage = Stage::new(0, &["a", "b"]).await;
    let owner = stage.take_owner().await;
    stage.aim(&stage.nodes[0]);
    // The provider still answers questions about the number, so a question would not show the trouble.
    let account = "102290129340398";
    let told = json!({
        "waba_id": account, "event": "DISABLED_UPDATE", "ban_info": { "waba_ban_state": "DISABLE" },
    });
    stage.serving.simulator.script(&json!({ "webhook": { "account_update": told } })).unwrap();
    until("the channel blocked", async || stage.channel_state().await == "blocked").await;
    stage.nodes.push(owner);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn any_node_pauses_resumes_and_cancels_a_send() {
    let mut stage = Stage::of_tier(PEOPLE, &["a", "b"], "standard").await;
    let owner = stage.take_owner().await;
    slow_down(&stage);
    let send = stage.serving.send(&owner.url).await.json()["send_id"].as_str().unwrap().to_owned();
    until("the send under way", async || stage.serving.figures().0 > 5).await;
    let steer = async |verb: &str| {
        let path = format!("/api/v1/sends/{send}/{verb}");
        let answer = stage.ask(&stage.nodes[0], Method::POST, &path, &Value::Null).await;
        assert!(answer.status < 300, "{verb}: {} {}", answer.status, answer.body);
    };
    steer("pause").await;
    // Messages that began before the answer still arrive.
    let begun = stage.serving.figures().0 + crate::serving::IN_FLIGHT;
    assert!(begun < PEOPLE, "it is too late to see a pause");
    steer("resume").await;
    until("the send to go on", async || stage.serving.figures().0 > begun - crate::serving::IN_FLIGHT).await;
    steer("cancel").await;
    let store = &stage.universe.store;
    until("the send over", async || store.channels().working().await.unwrap().is_empty()).await;
    assert!(stage.serving.figures().0 < PEOPLE);
    stage.nodes.push(owner);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn the_owner_obeys_a_pause_and_a_cancel_of_a_node_that_died_as_soon_as_they_were_durable() {
    let mut stage = Stage::of_tier(PEOPLE, &["a", "b"], "standard").await;
    let owner = stage.take_owner().await;
    slow_down(&stage);
    let send: Uuid =
        stage.serving.send(&owner.url).await.json()["send_id"].as_str().unwrap().parse().unwrap();
    until("the send under way", async || stage.serving.figures().0 > 5).await;
    let store = &stage.universe.store;
    let company = store.companies().find_named("Acme").await.unwrap().unwrap().id;
    let note = |over: Option<i16>| {
        let body = json!({ "release": { "send": send, "over": over } }).to_string();
        NoteOfSend { name: "release", body }
    };
    let until_obeyed = async |note: Option<i64>| {
        let note = note.expect("a note is written with the change");
        until("the note acted on", async || !store.notes().has(note).await.unwrap()).await;
    };
    let paused =
        store.of(company).sends().control(send, Control::Paused, None, Some(&note(None))).await.unwrap();
    until_obeyed(paused.unwrap().note).await;
    // Messages that began before arrive, and no others.
    let begun = stage.serving.figures().0 + crate::serving::IN_FLIGHT;
    assert!(begun < PEOPLE, "it is too late to see a pause");
    let over = Some(State::Canceled.as_i16());
    let canceled =
        store.of(company).sends().cancel(send, Timestamp::now(), None, Some(&note(over))).await.unwrap();
    until_obeyed(canceled.unwrap().note).await;
    assert!(stage.serving.figures().0 <= begun);
    assert!(store.channels().working().await.unwrap().is_empty());
    // An ended send cannot be paused, and no node gets a note.
    let late = store
        .of(company)
        .sends()
        .control(send, Control::Paused, None, Some(&note(None)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((late.state, late.note), (State::Canceled, None));
    stage.nodes.push(owner);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_suppression_that_one_node_learns_of_applies_at_the_others() {
    let stage = Stage::new(0, &["a", "b", "c"]).await;
    let refuse =
        json!([{ "match": { "to": SINGLE.to_string() }, "outcome": { "error": { "code": 130_403 } } }]);
    stage.serving.simulator.script(&refuse).unwrap();
    let body = json!({ "type": "text", "message": "hi", "phone_number": SINGLE });
    let send = async |node: &Node| stage.serving.send_through(&stage.serving.channel, &node.url, &body).await;
    // The owner of the channel gets the receipt, no matter which node accepted the message.
    assert_eq!(send(&stage.nodes[0]).await.status, 202);
    for node in &stage.nodes {
        until("the node to know", async || {
            let answer = send(node).await;
            answer.status == 400 && answer.body.contains("no_valid_recipients")
        })
        .await;
    }
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_request_under_a_key_is_accepted_once_at_whichever_nodes_it_is_repeated() {
    let stage = Stage::new(0, &["a", "b", "c"]).await;
    for round in 0..20 {
        let body = json!({ "type": "text", "message": "hi", "phone_number": SINGLE + round });
        let key = format!("order-{round}");
        let asked = stage.nodes.iter().cycle().take(6).map(|node| {
            let post = reqwest::Client::new()
                .post(format!("{}/api/v1/chat/{}/messages", node.url, stage.serving.channel))
                .bearer_auth(&stage.serving.key)
                .header("idempotency-key", &key)
                .json(&body);
            Answer::to(post)
        });
        let answers = join_all(asked).await;
        let sends: std::collections::BTreeSet<_> = answers
            .iter()
            .filter(|answer| answer.status == 202)
            .map(|answer| answer.json()["send_id"].to_string())
            .collect();
        assert_eq!(sends.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| [202, 409].contains(&answer.status)), "{answers:?}");
    }
    stage.all_heard_once(20).await;
    stage.end().await;
}
