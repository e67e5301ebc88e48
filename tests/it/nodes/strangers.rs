//! Somebody with a user at the NATS server of a cluster, and without its database and its sealing key.

use std::sync::Arc;

use async_nats::{Client, Message, Subscriber};
use futures_util::{FutureExt as _, StreamExt as _};
use pombo::app::App;
use pombo::app::sealing_keys;
use pombo::cluster::{Carrier as _, NatsCarrier};
use pombo::connector::nats::Nats;
use pombo::store::changes::Who;
use pombo::vault::Vault;
use reqwest::Method;

use super::web_sessions::{Cluster, MARIA, NOBODY, node_config};
use super::*;
use crate::web_chat::world::text;

/// Below this, nodes speak to each other.
const BASE: &str = "pombo.web";
/// A text that nobody else may read.
const PRIVATE: &str = "the result of your test came";

async fn stranger(cluster: &Cluster) -> Client {
    async_nats::connect(cluster.nats.url()).await.unwrap()
}

fn subject(cluster: &Cluster, name: &str) -> String {
    format!("{BASE}.channel.{}.{name}", cluster.channel.as_simple())
}

/// Questions in the form that nodes understand once they are opened, one of each name.
fn questions() -> Vec<(&'static str, Value)> {
    let message = json!({
        "request": { "recipient": { "number": MARIA }, "content": { "type": "text", "body": "forged" } },
        "key": null,
        "form": "api",
    });
    vec![
        ("limits", json!({})),
        ("outlook", json!({ "sends": [] })),
        ("speed", json!({})),
        ("pairing", json!({})),
        ("pair", json!({ "number": null })),
        ("passkey", json!({ "answer": "confirmation" })),
        ("send", message.clone()),
        ("begin", message.clone()),
        ("rehearse", json!({ "request": message["request"] })),
        ("heard", json!({ "messages": [] })),
        ("picture", json!({ "number": MARIA })),
        ("unlink", json!({})),
        ("unheard_of", json!({})),
    ]
}

/// A message with the private text, posted at the node that does not have the session.
async fn post_elsewhere(cluster: &Cluster) {
    let (_, other) = cluster.owner().await;
    let path = format!("/api/v1/web-chat/{}/messages", cluster.channel);
    let body = text(MARIA, PRIVATE);
    let answer = cluster.ask(other, Method::POST, &path, Some((&body, ""))).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// Everything that passed so far, in its order.
async fn passed(stranger: &Client, all: &mut Subscriber) -> Vec<Message> {
    stranger.publish("end", Vec::new().into()).await.unwrap();
    let mut passed = Vec::new();
    loop {
        let message = all.next().await.unwrap();
        if message.subject.as_str() == "end" {
            return passed;
        }
        passed.push(message);
    }
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_stranger_on_nats_gets_no_answer_and_unlinks_no_phone() {
    let cluster = Cluster::linked().await;
    let (logins, (_, other)) = (cluster.phone.logins(), cluster.owner().await);
    let stranger = stranger(&cluster).await;
    let replies = [format!("{BASE}.answer.stranger"), "_INBOX.stranger".to_owned()];
    let mut answers = Vec::new();
    for reply in &replies {
        answers.push(stranger.subscribe(reply.clone()).await.unwrap());
    }
    for (name, question) in questions() {
        let body = json!({ "channel": cluster.channel, "question": question }).to_string();
        for reply in &replies {
            let subject = subject(&cluster, name);
            stranger.publish_with_reply(subject, reply.clone(), body.clone().into()).await.unwrap();
        }
    }
    stranger.flush().await.unwrap();
    // The owner answers nodes in the order in which their questions and the stranger's came.
    for _ in 0..3 {
        assert_eq!(cluster.post(other, NOBODY, None).await.status, 422);
        let path = format!("/api/v1/web-chat/{}/pairing", cluster.channel);
        let pairing = cluster.ask(other, Method::GET, &path, None).await;
        assert_eq!((pairing.status, &pairing.json()["state"]), (200, &json!("linked")));
    }
    for answers in &mut answers {
        let answer = answers.next().now_or_never();
        assert!(answer.is_none(), "a stranger was answered: {answer:?}");
    }
    assert!(cluster.whatsapp.messages().is_empty());
    assert_eq!(cluster.phone.logins(), logins);
    assert!(cluster.universe.store.web_sessions().exists(cluster.channel).await.unwrap());
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_forged_code_is_never_shown_and_the_phone_links_by_the_true_one() {
    const FORGED: &str = "2@forged";
    let mut cluster = Cluster::new().await;
    let url = cluster.universe.url.clone();
    cluster.start("a", &url).await;
    cluster.start("b", &url).await;
    let stranger = stranger(&cluster).await;
    let mut questions = stranger.subscribe(format!("{BASE}.channel.>")).await.unwrap();
    stranger.flush().await.unwrap();
    let answer = json!({ "answer": {
        "stage": "waiting",
        "qr": { "secret": FORGED, "expires_at": Timestamp::now().plus(Duration::from_secs(3_600)) },
        "code": null, "code_failure": null, "passkey": null,
    } });
    // The stranger answers each question at once.
    let (asked, mut heard) = tokio::sync::mpsc::unbounded_channel();
    actix_web::rt::spawn(async move {
        while let Some(question) = questions.next().await {
            if let Some(reply) = question.reply {
                stranger.publish(reply, answer.to_string().into()).await.unwrap();
                stranger.flush().await.unwrap();
                let _ = asked.send(());
            }
        }
    });
    let path = format!("/api/v1/web-chat/{}/pairing", cluster.channel);
    until("a pairing", async || cluster.ask("a", Method::POST, &path, None).await.status == 202).await;
    for _ in 0..40 {
        for name in ["a", "b"] {
            let shown = cluster.ask(name, Method::GET, &path, None).await;
            assert!(!shown.body.contains(FORGED), "{name}: {}", shown.body);
        }
    }
    let mut count = 0;
    while heard.try_recv().is_ok() {
        count += 1;
    }
    assert!(count >= 40, "the stranger answered {count} questions");
    cluster.link().await;
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn what_passes_between_nodes_shows_no_code_and_no_text() {
    let mut cluster = Cluster::new().await;
    let url = cluster.universe.url.clone();
    let stranger = stranger(&cluster).await;
    let mut all = stranger.subscribe(">").await.unwrap();
    stranger.flush().await.unwrap();
    cluster.start("a", &url).await;
    cluster.start("b", &url).await;
    cluster.link().await;
    post_elsewhere(&cluster).await;
    let passed = passed(&stranger, &mut all).await;
    let named = |name: &str| passed.iter().filter(|message| message.subject.ends_with(name)).count();
    assert!(named(".send") > 0 && named(".pairing") > 0, "the questions passed here");
    for message in &passed {
        let payload = String::from_utf8_lossy(&message.payload);
        for secret in [PRIVATE, MARIA, "\"qr\"", "stage", "channel"] {
            assert!(!payload.contains(secret), "{}: {payload}", message.subject);
        }
    }
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_recorded_message_is_not_sent_again_even_when_the_session_has_moved() {
    let cluster = Cluster::linked().await;
    let stranger = stranger(&cluster).await;
    let mut all = stranger.subscribe(">").await.unwrap();
    stranger.flush().await.unwrap();
    post_elsewhere(&cluster).await;
    until("the message", async || cluster.whatsapp.messages().len() == 1).await;
    let recorded = passed(&stranger, &mut all).await;
    let recorded: Vec<_> = recorded.iter().filter(|message| message.subject.ends_with(".send")).collect();
    assert!(!recorded.is_empty());
    let repeat = async || {
        for message in &recorded {
            let reply = format!("{BASE}.answer.stranger");
            let (subject, payload) = (message.subject.clone(), message.payload.clone());
            stranger.publish_with_reply(subject, reply, payload).await.unwrap();
        }
        stranger.flush().await.unwrap();
        // The owner answers in the order of the questions.
        cluster.sends().await;
    };
    repeat().await;
    assert_eq!(cluster.whatsapp.messages().len(), 1);

    let (owner, other) = cluster.owner().await;
    let nodes = cluster.universe.store.nodes().all().await.unwrap();
    let id = nodes.iter().find(|node| node.name == owner).unwrap().id;
    assert!(cluster.universe.store.nodes().drain(&Who::Pombo, id).await.unwrap());
    until("another owner", async || cluster.owner().await.0 == other).await;
    cluster.sends().await;
    repeat().await;
    assert_eq!(cluster.whatsapp.messages().len(), 1);
    post_elsewhere(&cluster).await;
    until("both messages", async || cluster.whatsapp.messages().len() == 2).await;
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn the_key_of_a_cluster_is_rotated_while_its_nodes_ask_each_other() {
    let cluster = Cluster::linked().await;
    let config = || node_config("command", &cluster.universe.url, cluster.directory.path(), &cluster.nats);
    let former = Vault::open(&config().secrets, cluster.directory.path()).unwrap().0;
    let former_key = former.current_key();
    post_elsewhere(&cluster).await;
    let rotated = sealing_keys::rotate(&App::open(config()).await.unwrap(), &Who::Pombo).await.unwrap();
    assert_eq!(rotated.retired, [former_key]);
    post_elsewhere(&cluster).await;
    until("both messages", async || cluster.whatsapp.messages().len() == 2).await;
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn what_another_node_asks_for_passes_the_limits_of_the_api() {
    let cluster = Cluster::linked().await;
    // A node that has the key, and passes on what no client may ask for.
    let config = node_config("c", &cluster.universe.url, cluster.directory.path(), &cluster.nats);
    let vault = Arc::new(Vault::open(&config.secrets, cluster.directory.path()).unwrap().0);
    let nats = Nats::connect(&config.nats, Some("web")).await.unwrap().unwrap();
    until("a connection", async || nats.is_connected()).await;
    let node = NatsCarrier::new(nats, vault);
    let ask = async |name: &str, question: Value| -> Value {
        let body = json!({ "channel": cluster.channel, "question": question }).to_string();
        let answer = node.request(cluster.channel, name, body.into_bytes(), name == "send", None).await;
        serde_json::from_slice(&answer.unwrap()).unwrap()
    };
    let number = json!({ "number": MARIA });
    let short = json!({ "type": "text", "body": "hi" });
    let long = "x".repeat(4_097);
    let link = "https://files.example/a.pdf";
    let wrong = [
        ("text_too_long", json!({ "recipient": number, "content": { "type": "text", "body": long } })),
        ("missing_message", json!({ "recipient": number, "content": { "type": "text", "body": " " } })),
        ("invalid_phone_number", json!({ "recipient": { "group": "1@evil" }, "content": short })),
        (
            "invalid_link",
            json!({ "recipient": number, "content": { "type": "image", "link": "file:///etc" } }),
        ),
        (
            "caption_too_long",
            json!({ "recipient": number, "content": { "type": "image", "link": link, "caption": long } }),
        ),
        (
            "invalid_field",
            json!({ "recipient": number, "content": { "type": "document", "link": link, "filename": "../x" } }),
        ),
        (
            "invalid_type",
            json!({ "recipient": number, "content": { "type": "interactive", "interactive": {} } }),
        ),
    ];
    for (code, request) in wrong {
        for name in ["send", "begin", "rehearse"] {
            let answer = ask(name, json!({ "request": request, "key": null, "form": "api" })).await;
            assert_eq!(answer["fault"]["refused"]["code"], code, "{name}: {answer}");
        }
    }
    let key = json!({ "key": "k".repeat(256), "fingerprint": vec![0; 32], "node": Uuid::nil() });
    let sent = json!({ "request": { "recipient": number, "content": short }, "key": key, "form": "api" });
    assert_eq!(ask("send", sent).await["fault"]["refused"]["code"], "invalid_idempotency_key");
    let sends = vec![json!({ "id": Uuid::nil(), "has_template": false }); 1_001];
    assert_eq!(ask("outlook", json!({ "sends": sends })).await["fault"]["refused"]["code"], "invalid_field");
    // A channel of another shard than the one that was asked.
    let body = json!({ "channel": Uuid::nil(), "question": {} }).to_string().into_bytes();
    let answer = node.request(cluster.channel, "limits", body, false, None).await.unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), r#"{"fault":"not_here"}"#);
    assert!(ask("limits", json!({})).await["answer"].is_object());
    assert!(cluster.whatsapp.messages().is_empty());
    cluster.end().await;
}
