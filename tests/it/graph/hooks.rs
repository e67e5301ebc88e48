//! Webhooks in Meta's form: statuses and messages as programs read them, and the receivers that programs set.

use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::graph::message_key;
use pombo::store::changes::Who;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{Program, read, refused, with_fields};
use crate::database::{Universe, stores};
use crate::harness::sign;
use crate::receipts::teller::{Teller, rows, status};
use crate::running::{APP_SECRET, NUMBER, Running, WABA, until};
use crate::webhooks::receiver::{Got, Receiver};

stores!(
    statuses_come_in_order_with_the_ids_of_programs_and_not_before_they_know_them,
    a_message_that_ended_before_it_began_has_failed,
    a_message_of_meta_comes_as_it_was_with_the_id_of_the_message_that_it_answers,
    what_a_program_sets_for_a_number_goes_before_its_account_and_people_add_more,
    what_a_program_sets_for_a_channel_goes_with_it,
    what_meta_says_of_people_and_numbers_comes_as_it_was,
    a_proof_is_made_with_the_secret_of_the_app_or_of_a_webhook_and_with_no_other,
);

const ANA: &str = "5511900000001";
const TOKEN: &str = "the shop's token";

async fn start(universe: &Universe) -> (Running, Program) {
    let running = Running::start(universe, |config| {
        config.graph.enabled = true;
        config.webhooks.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
        config.webhooks.allow_http = true;
    })
    .await;
    let program = Program::new(running.address(), &running.key);
    (running, program)
}

/// A receiver that a person added, with its secret.
async fn added(running: &Running, profile: &str) -> (Receiver, String) {
    let receiver = Receiver::start().await;
    receiver.expect_token(TOKEN);
    let body = json!({ "url": receiver.url(), "shape": "graph", "profile": profile, "verify_token": TOKEN });
    let answer = running.ask(Method::POST, "/api/v1/webhooks", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let added = answer.json();
    assert_eq!((&added["shape"], &added["profile"]), (&json!("graph"), &json!(profile)));
    (receiver, added["secret"].as_str().unwrap().to_owned())
}

/// The only item of a request, with the name of its list, and the value around it.
fn item(got: &Got) -> (String, Value, Value) {
    let body = got.json();
    assert!(got.is_ascii(), "some programs compute the signature of the escaped form: {body}");
    assert_eq!(body["object"], "whatsapp_business_account");
    let [entry] = &body["entry"].as_array().unwrap()[..] else { panic!("{body}") };
    let [change] = &entry["changes"].as_array().unwrap()[..] else { panic!("{body}") };
    assert_eq!(entry["id"], WABA);
    let value = change["value"].clone();
    let lists = ["messages", "statuses", "message_echoes"];
    let list = lists.into_iter().find(|list| value.get(list).is_some()).unwrap();
    let [one] = &value[list].as_array().unwrap()[..] else { panic!("{body}") };
    assert_eq!(value["metadata"]["phone_number_id"], NUMBER);
    assert_eq!(value["contacts"][0]["wa_id"], ANA);
    (list.to_owned(), one.clone(), value.clone())
}

/// A person tells something.
async fn tells(running: &Running, mut message: Value) -> Value {
    let at = Timestamp::now().millis() / 1_000;
    message["from"] = json!(ANA);
    message["timestamp"] = json!(at.to_string());
    let contact = json!({ "profile": { "name": "Ana" }, "wa_id": ANA });
    let value = json!({ "contacts": [contact], "messages": [message] });
    let told = Teller::new(running).tell(running.channel, NUMBER, &value).await;
    assert_eq!(told.status, 200, "{}", told.body);
    message
}

/// What a receiver got of people, and no statuses.
fn messages(receiver: &Receiver) -> Vec<(Value, Value)> {
    let items = about_messages(receiver).iter().map(item).collect::<Vec<_>>();
    let messages = items.into_iter().filter(|(list, ..)| list == "messages");
    messages.map(|(_, message, value)| (message, value)).collect()
}

/// The ids of the messages that a receiver got.
fn heard(receiver: &Receiver) -> Vec<String> {
    messages(receiver).iter().map(|(message, _)| message["id"].as_str().unwrap().to_owned()).collect()
}

async fn send(program: &Program) -> String {
    let body = json!({ "to": ANA, "text": { "body": "oi" }, "biz_opaque_callback_data": "order 7" });
    let (status, answer) = program.post(&format!("/{NUMBER}/messages"), &body).await;
    assert_eq!(status, 200, "{answer}");
    answer["messages"][0]["id"].as_str().unwrap().to_owned()
}

/// What a receiver got about messages; the channel is connected meanwhile, too.
fn about_messages(receiver: &Receiver) -> Vec<Got> {
    let is_of_messages = |got: &Got| got.json()["entry"][0]["changes"][0]["field"] == "messages";
    receiver.got().into_iter().filter(is_of_messages).collect()
}

async fn statuses_come_in_order_with_the_ids_of_programs_and_not_before_they_know_them(universe: &Universe) {
    let (running, program) = start(universe).await;
    let (receiver, secret) = added(&running, "meta").await;
    let [asked] = &receiver.asked()[..] else { panic!("it is asked once") };
    let url = url::Url::parse(&format!("http://receiver{asked}")).unwrap();
    let challenge = url.query_pairs().find(|(name, _)| name == "hub.challenge").unwrap().1.into_owned();
    assert!((9..=15).contains(&challenge.len()) && !challenge.starts_with('0'), "{challenge}");
    let begun = Instant::now();
    let id = send(&program).await;
    running.settled(1).await;
    let teller = Teller::new(&running);
    // Each in a report of its own: of several that come together, the last one counts.
    for word in ["delivered", "read"] {
        let said = json!({ "statuses": [status(&rows(universe).await[0], word, None)] });
        let told = teller.tell(running.channel, NUMBER, &said).await;
        assert_eq!(told.status, 200, "{}", told.body);
    }
    until("the first status", async || !about_messages(&receiver).is_empty()).await;
    // The answer was given after this began, so a slow machine only makes it longer.
    assert!(
        begun.elapsed() >= Duration::from_secs(2),
        "{:?}: {:?}",
        begun.elapsed(),
        about_messages(&receiver)
    );
    until("the message read", async || about_messages(&receiver).len() >= 3).await;
    let mut words = Vec::new();
    for got in about_messages(&receiver) {
        assert!(got.is_signed_as_by_meta(&secret), "{got:?}");
        assert_eq!(got.header("x-pombo-attempt"), "1");
        let (list, status, _) = item(&got);
        assert_eq!((list.as_str(), status["id"].as_str()), ("statuses", Some(id.as_str())));
        assert_eq!((&status["recipient_id"], &status["timestamp"].is_string()), (&json!(ANA), &true));
        assert_eq!(status["biz_opaque_callback_data"], "order 7");
        words.push(status["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(words, ["sent", "delivered", "read"]);
    running.end().await;
}

async fn a_message_that_ended_before_it_began_has_failed(universe: &Universe) {
    let (running, _) = start(universe).await;
    let (receiver, _) = added(&running, "strict").await;
    let send_at = Timestamp::now().plus(Duration::from_secs(3_600)).to_string();
    let body = json!({ "type": "text", "message": "oi", "phone_number": ANA, "send_at": send_at });
    let (status, accepted) = running.send(&body).await;
    assert_eq!(status, 202, "{accepted}");
    let send = accepted["send_id"].as_str().unwrap().to_owned();
    let canceled = running.ask(Method::POST, &format!("/api/v1/sends/{send}/cancel"), &Value::Null).await;
    assert_eq!(canceled.status, 200, "{}", canceled.body);
    until("the status", async || !about_messages(&receiver).is_empty()).await;
    let [got] = &about_messages(&receiver)[..] else { panic!("{:?}", about_messages(&receiver)) };
    let (list, status, _) = item(got);
    assert_eq!((list.as_str(), &status["status"]), ("statuses", &json!("failed")));
    assert_eq!(message_key(status["id"].as_str().unwrap()).unwrap().send_id.to_string(), send);
    assert_eq!((&status["recipient_id"], &status["errors"][0]["code"]), (&json!(ANA), &json!(131_000)));
    running.end().await;
}

async fn a_message_of_meta_comes_as_it_was_with_the_id_of_the_message_that_it_answers(universe: &Universe) {
    let (running, program) = start(universe).await;
    let id = send(&program).await;
    let key = message_key(&id).unwrap();
    let mut provider = None;
    until("the message accepted", async || {
        let ids = running.store.of(running.company).graph_ids();
        provider = ids.provider_id(running.channel, key).await.unwrap();
        provider.is_some()
    })
    .await;
    let provider = provider.unwrap();
    let (meta, _) = added(&running, "meta").await;
    let (chatwoot, _) = added(&running, "chatwoot").await;
    let answer = json!({
        "id": "wamid.IN1", "type": "text", "text": { "body": "sim", "tone": "new" },
        "context": { "from": NUMBER, "id": provider }, "later": { "than": ["this version"] },
    });
    let mut told = tells(&running, answer).await;
    told["context"]["id"] = json!(id);
    until("the answer", async || heard(&meta) == ["wamid.IN1"] && heard(&chatwoot) == ["wamid.IN1"]).await;
    let (message, value) = messages(&meta).remove(0);
    assert_eq!(message, told, "fields that this version does not know stay");
    assert_eq!(value["contacts"][0]["profile"]["name"], "Ana");

    let reaction = json!({ "message_id": provider, "emoji": "👍" });
    let mut told =
        tells(&running, json!({ "id": "wamid.IN2", "type": "reaction", "reaction": reaction })).await;
    told["reaction"]["message_id"] = json!(id);
    let both = ["wamid.IN1", "wamid.IN2"];
    until("the reaction", async || heard(&meta) == both && heard(&chatwoot) == both).await;
    assert_eq!(messages(&meta)[1].0, told);
    let text = &messages(&chatwoot)[1].0;
    assert_eq!((&text["type"], &text["text"]["body"]), (&json!("text"), &json!("👍")));
    assert_eq!(text["context"]["id"], json!(id));

    let order =
        json!({ "catalog_id": "7", "product_items": [{ "product_retailer_id": "a", "quantity": 2 }] });
    let told = tells(&running, json!({ "id": "wamid.IN3", "type": "order", "order": order })).await;
    until("the order", async || heard(&meta).len() == 3 && heard(&chatwoot).len() == 3).await;
    assert_eq!(messages(&meta)[2].0, told);
    let unknown = &messages(&chatwoot)[2].0;
    assert_eq!((&unknown["type"], &unknown["errors"][0]["code"]), (&json!("unsupported"), &json!(131_051)));
    running.end().await;
}

async fn what_a_program_sets_for_a_number_goes_before_its_account_and_people_add_more(universe: &Universe) {
    let (running, program) = start(universe).await;
    let (person, _) = added(&running, "strict").await;
    let (number, account) = (Receiver::start().await, Receiver::start().await);
    let given = |receiver: &Receiver, token: &str| {
        receiver.expect_token(TOKEN);
        json!({ "override_callback_uri": receiver.url(), "verify_token": token })
    };
    let (apps, own) = (format!("/{WABA}/subscribed_apps"), format!("/{NUMBER}"));
    assert_eq!(refused(&program.post(&apps, &given(&account, "another")).await), (400, 100, None));
    let without = json!({ "override_callback_uri": account.url() });
    assert_eq!(refused(&program.post(&apps, &without).await), (400, 100, None));
    let success = (200, json!({ "success": true }));
    assert_eq!(program.post(&apps, &given(&account, TOKEN)).await, success);
    let of_number = json!({ "webhook_configuration": given(&number, TOKEN) });
    assert_eq!(program.post(&own, &of_number).await, success);
    let (_, shown) = program.get(&own).await;
    let expected = json!({ "phone_number": number.url(), "whatsapp_business_account": account.url() });
    assert_eq!(shown["webhook_configuration"], expected);
    let (_, listed) = program.get(&apps).await;
    assert_eq!(listed["data"][0]["override_callback_uri"], json!(account.url()));
    let endpoints = running.ask(Method::GET, "/api/v1/webhooks", &Value::Null).await.json();
    let words: Vec<_> =
        endpoints["data"].as_array().unwrap().iter().map(|one| one["set_for"].clone()).collect();
    assert_eq!(words, [Value::Null, json!("account"), json!("number")]);

    let text = |id: &str| json!({ "id": id, "type": "text", "text": { "body": "oi" } });
    tells(&running, text("wamid.IN1")).await;
    until("both", async || heard(&person).len() == 1 && heard(&number).len() == 1).await;

    let removed = json!({ "webhook_configuration": { "override_callback_uri": "" } });
    assert_eq!(program.post(&own, &removed).await, success);
    tells(&running, text("wamid.IN2")).await;
    until("both", async || heard(&person).len() == 2 && heard(&account).len() == 1).await;
    assert_eq!(
        (heard(&account), heard(&number)),
        (vec!["wamid.IN2".to_owned()], vec!["wamid.IN1".to_owned()])
    );
    assert_eq!(program.ask(Method::DELETE, &apps, &Value::Null).await, success);
    assert!(program.get(&apps).await.1["data"][0].get("override_callback_uri").is_none());
    running.end().await;
}

async fn what_a_program_sets_for_a_channel_goes_with_it(universe: &Universe) {
    let (running, program) = start(universe).await;
    let (_person, _) = added(&running, "strict").await;
    let receiver = Receiver::start().await;
    receiver.expect_token(TOKEN);
    let set = |address: &str| json!({ address: receiver.url(), "verify_token": TOKEN });
    let app = program.get("/app").await.1["id"].as_str().unwrap().to_owned();
    let of_number = json!({ "webhook_configuration": set("override_callback_uri") });
    for (path, body) in [
        (format!("/{NUMBER}"), of_number),
        (format!("/{WABA}/subscribed_apps"), set("override_callback_uri")),
        (format!("/{app}/subscriptions"), set("callback_url")),
    ] {
        assert_eq!(program.post(&path, &body).await, (200, json!({ "success": true })), "{path}");
    }
    let set_for = async || {
        let endpoints = running.ask(Method::GET, "/api/v1/webhooks", &Value::Null).await.json();
        let endpoints = endpoints["data"].as_array().unwrap().clone();
        endpoints.iter().map(|one| one["set_for"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(set_for().await, [Value::Null, json!("number"), json!("account"), json!("app")]);
    assert!(running.store.channels().remove(&Who::Pombo, running.channel).await.unwrap());
    assert_eq!(set_for().await, [Value::Null, json!("app")], "what people add stays, too");
    running.end().await;
}

async fn what_meta_says_of_people_and_numbers_comes_as_it_was(universe: &Universe) {
    let (running, _) = start(universe).await;
    let (meta, _) = added(&running, "meta").await;
    let (strict, _) = added(&running, "strict").await;
    let at = Timestamp::now().millis() / 1_000;
    let wants = |person: &str, value: &str| {
        json!({ "wa_id": person, "detail": "User requested to stop marketing messages",
            "category": "marketing_messages", "value": value, "timestamp": at })
    };
    let (ana, other) = (wants(ANA, "stop"), wants("5511900000002", "resume"));
    let contact = json!({ "profile": { "name": "Ana" }, "wa_id": ANA });
    let metadata = json!({ "display_phone_number": "15550783881", "phone_number_id": NUMBER });
    let preferences = json!({ "messaging_product": "whatsapp", "metadata": metadata, "contacts": [contact],
        "user_preferences": [ana, other] });
    let upgrade = json!({ "display_phone_number": "15550783881", "event": "THROUGHPUT_UPGRADE",
        "current_limit": "TIER_UNLIMITED", "later": { "than": ["this version"] } });
    let foreign = json!({ "display_phone_number": "15550783899", "event": "ONBOARDING" });
    let quality = "phone_number_quality_update";
    let teller = Teller::new(&running);
    for (field, value) in [("user_preferences", &preferences), (quality, &foreign), (quality, &upgrade)] {
        let told = teller.tell_field(running.channel, field, value).await;
        assert_eq!(told.status, 200, "{}", told.body);
    }
    let news = |receiver: &Receiver| {
        let changes = receiver.got().into_iter().map(|got| got.json()["entry"][0]["changes"][0].clone());
        let fields = ["user_preferences", quality].map(Value::from);
        changes.filter(|change| fields.contains(&change["field"])).collect::<Vec<_>>()
    };
    until("what Meta said", async || news(&meta).len() == 3).await;
    let said: Vec<_> = news(&meta).into_iter().map(|mut change| change["value"].take()).collect();
    assert!(said.contains(&upgrade), "{said:?}");
    for (person, contact) in
        [(ana, contact), (other, json!({ "profile": { "name": "5511900000002" }, "wa_id": "5511900000002" }))]
    {
        let one = json!({ "messaging_product": "whatsapp", "metadata": metadata, "contacts": [contact],
            "user_preferences": [person] });
        assert!(said.contains(&one), "{one}: {said:?}");
    }
    tells(&running, json!({ "id": "wamid.IN1", "type": "text", "text": { "body": "oi" } })).await;
    until("the message", async || heard(&strict).len() == 1).await;
    assert!(news(&strict).is_empty(), "what not every program knows");
    running.end().await;
}

async fn a_proof_is_made_with_the_secret_of_the_app_or_of_a_webhook_and_with_no_other(universe: &Universe) {
    let (running, program) = start(universe).await;
    let shown = async |secret: &str| {
        let signed = sign(secret, &running.key);
        let proof = signed.trim_start_matches("sha256=");
        program.get(&format!("/{NUMBER}?fields=id&appsecret_proof={proof}")).await
    };
    let found = (200, json!({ "id": NUMBER }));
    assert_eq!(shown(APP_SECRET).await, found);
    let (_receiver, secret) = added(&running, "strict").await;
    assert_eq!(shown(&secret).await, found, "a program knows no other secret than that of its webhook");
    assert_eq!(refused(&shown("another").await), (401, 190, None));
    // A form has it beside the key.
    let posted = async |secret: &str| {
        let signed = sign(secret, &running.key);
        let proof = signed.trim_start_matches("sha256=");
        let fields = [("access_token", running.key.as_str()), ("appsecret_proof", proof)];
        let address = format!("{}/v23.0/{WABA}/subscribed_apps", running.address());
        read(with_fields(Client::new().post(address), &fields)).await
    };
    assert_eq!(posted(APP_SECRET).await, (200, json!({ "success": true })));
    assert_eq!(refused(&posted("another").await), (401, 190, None));
    running.end().await;
}
