//! Groups of a linked phone, as programs that are written for Meta are told of them.

use std::sync::atomic::Ordering;

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::graph::message_key;
use pombo::domain::inbound::{
    Direction, InboundBody, InboundContent, InboundMessage, MessageAuthor, MessageContext, Peer,
};
use serde_json::{Value, json};

use super::World;
use crate::harness::Service;
use crate::running::until;
use crate::scripted_driver::ScriptedDriver;
use crate::webhooks::receiver::Receiver;

const GROUP: &str = "120363025246125016";
const TOKEN: &str = "the shop's token";

/// A text of a member of the group that answers the message with this id of WhatsApp.
fn answer(id: &str, answers: &str) -> InboundMessage {
    let author = MessageAuthor {
        number: Some("+5521977776666".to_owned()),
        user_id: None,
        name: Some("João".to_owned()),
    };
    let context = MessageContext { message_id: Some(answers.to_owned()), ..MessageContext::default() };
    InboundMessage {
        id: id.to_owned(),
        direction: Direction::In,
        peer: Peer { group: Some(GROUP.to_owned()), ..Peer::default() },
        at: Timestamp::now(),
        is_past: false,
        by_admin: false,
        body: InboundBody {
            content: InboundContent::Text { body: "sim".to_owned() },
            context: Some(context),
            referral: None,
            author: Some(author),
            beyond: None,
        },
    }
}

#[tokio::test]
async fn an_answer_in_a_group_names_the_message_by_the_id_that_the_program_has_for_it() {
    let driver = ScriptedDriver::default();
    let service = Service::start_configured(driver.clone(), |config| {
        (config.graph.enabled, config.graph.groups) = (true, true);
        config.webhooks.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
        config.webhooks.allow_http = true;
    })
    .await;
    let company = service.company("acme").await;
    let channel = service.channel(&company, Kind::WebSession, "phone", Status::Pairing).await.id;
    let world = World { service, driver, company, channel };
    let session = world.link(1).await;
    session.is_online.store(true, Ordering::Relaxed);
    let receiver = Receiver::start().await;
    receiver.expect_token(TOKEN);
    let hook = json!({ "url": receiver.url(), "shape": "graph", "profile": "meta", "verify_token": TOKEN });
    let added = world.service.post("/api/v1/webhooks", &world.company.key, hook.to_string()).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let body = json!({
        "phone_number": format!("{GROUP}@g.us"), "recipient_type": "group", "type": "text", "message": "oi",
    });
    let path = format!("/api/v1/web-chat/{}/messages", world.channel);
    let mut sent = Value::Null;
    // The channel's actor hears a moment later that the session is connected.
    until("the message to go", async || {
        let answer = world.service.post(&path, &world.company.key, body.to_string()).await;
        sent = answer.json();
        answer.status == 200
    })
    .await;
    let own = sent["data"][0]["result"]["key"]["id"].as_str().unwrap();
    session.inbox.take(vec![answer("A1", own), answer("A2", "A1")]).await.unwrap();

    let heard = || {
        let got = receiver.got().into_iter().map(|got| got.json()["entry"][0]["changes"][0]["value"].clone());
        let messages = got.map(|value| value["messages"][0].clone());
        messages.filter(|message| !message.is_null()).collect::<Vec<_>>()
    };
    until("both answers", async || heard().len() == 2).await;
    let [first, second] = &heard()[..] else { panic!("{:?}", heard()) };
    assert_eq!((&first["id"], &first["group_id"]), (&json!("A1"), &json!(GROUP)), "{first}");
    let key = message_key(first["context"]["id"].as_str().unwrap()).unwrap();
    assert_eq!(json!(key.send_id.to_string()), sent["send_id"], "{first}");
    assert_eq!(first["context"]["from"], "5511988887777", "{first}");
    assert_eq!(second["context"], json!({ "id": "A1" }), "whose message it is is not known: {second}");
}
