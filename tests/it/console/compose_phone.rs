//! A new message through a linked phone: written, checked, sent and followed in a browser.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Channel, Kind, Status};
use pombo::domain::contact::Person;
use pombo::store::changes::Who;
use serde_json::{Value, json};
use simulator::Simulator;
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::world::World;
use crate::harness::Service;
use crate::media::host::Host;
use crate::running::until;

const NEW: &str = "/console/sends/new";
const MARIA: &str = "+999 900 000 001";
const GROUP: &str = "120363000000000001@g.us";
const QUICK: &str = "quick";

/// A world with a channel that is linked to a played phone.
struct Stage {
    world: World,
    simulator: Simulator,
    phone: Channel,
}

impl Stage {
    async fn set() -> Self {
        Self::of_tier(json!({})).await
    }

    /// The channel's tier has these options.
    async fn of_tier(options: Value) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let simulator = simulator::start(simulator::Options::default(), simulator::Seed { accounts: vec![] })
            .await
            .unwrap();
        let service = Service::start_configured(simulator.web_sessions(), |config| {
            config.media.allow = vec!["127.0.0.0/8".parse().unwrap()];
        })
        .await;
        let mut tier = json!({
            "name": QUICK, "kind": "web_session", "messages_per_second": "unlimited", "pair_interval": "0s",
            "unknown_outcome": "hold",
        });
        let Value::Object(options) = options else { panic!("options are an object") };
        tier.as_object_mut().unwrap().extend(options);
        service.store().tiers().apply(&Who::Pombo, &[(QUICK.to_owned(), tier.to_string())]).await.unwrap();
        let world = World::on(service).await;
        let (service, acme) = (&world.service, &world.acme);
        let phone =
            service.channel_of_tier(acme, Kind::WebSession, "shop phone", Status::Pairing, QUICK).await;
        let stage = Self { world, simulator, phone };
        stage.link().await;
        stage
    }

    async fn link(&self) {
        let (service, key) = (&self.world.service, &self.world.acme.key);
        let path = format!("/api/v1/web-chat/{}/pairing", self.phone.id);
        assert_eq!(service.post(&path, key, "").await.status, 202);
        let mut code = None;
        until("a code", async || {
            let shown = service.get(&path, key).await.json();
            code = shown["qr"]["payload"].as_str().map(str::to_owned);
            code.is_some()
        })
        .await;
        let scanned = self.of_phone("scan", &json!({"code": code.unwrap()})).await;
        assert_eq!(scanned["phone_number"], "+999700000001", "{scanned}");
        self.is_on().await;
    }

    /// Waits until the channel is connected and sends.
    async fn is_on(&self) {
        let (service, key) = (&self.world.service, &self.world.acme.key);
        let path = format!("/api/v1/web-chat/{}/messages?dry_run=true", self.phone.id);
        let body = json!({"phone_number": GROUP, "recipient_type": "group", "type": "text", "message": "?"});
        until("the phone to send", async || {
            let channels = service.get("/api/v1/web-chat", key).await.json();
            channels["data"][0]["status"] == "connected"
                && service.post(&path, key, body.to_string()).await.status != 409
        })
        .await;
    }

    async fn of_phone(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}/phone/{path}", self.simulator.base_url());
        reqwest::Client::new().post(url).json(body).send().await.unwrap().json().await.unwrap()
    }

    /// The messages that the phone sent.
    async fn messages(&self) -> Vec<Value> {
        let url = format!("{}/phone/messages", self.simulator.base_url());
        let answer: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        answer["data"].as_array().unwrap().clone()
    }

    /// The fields of a text, with these in the place of others.
    fn fields<'a>(&self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, String)> {
        let usual = [("type", "text"), ("message", "Olá"), ("to", "number"), ("number", MARIA)];
        let is_other = |(name, _): &&(&str, &str)| more.iter().all(|(other, _)| other != name);
        let fields =
            usual.iter().filter(is_other).chain(more).map(|(name, value)| (*name, (*value).to_owned()));
        fields.chain([("channel", self.phone.id.to_string())]).collect()
    }
}

async fn post(browser: &Browser<'_>, fields: &[(&str, String)]) -> crate::harness::Answer {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.check(NEW, &fields).await
}

/// Checks the form, and returns it with the fields that send it.
async fn checked<'a>(
    browser: &Browser<'_>,
    fields: &[(&'a str, String)],
) -> (String, Vec<(&'a str, String)>) {
    let mut check = fields.to_vec();
    check.push(("action", "check".to_owned()));
    let answer = post(browser, &check).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut send = fields.to_vec();
    for name in ["once", "checked"] {
        send.retain(|(known, _)| *known != name);
        send.push((name, value_of(&answer.body, name).unwrap()));
    }
    send.push(("action", "send".to_owned()));
    (answer.body, send)
}

fn send_of(place: &str) -> Uuid {
    place.strip_prefix("/console/sends/").unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_message_is_checked_first_goes_once_and_is_followed() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let page = [member.page(NEW).await, member.page(&format!("{NEW}?type=text")).await].concat();
    for words in [
        "shop phone (Web session)",
        "One person",
        "A group",
        "as soon as the phone&#39;s pace allows",
        "Check it first",
    ] {
        assert!(page.contains(words) || page.contains(&words.replace("&#39;", "'")), "{words}: {page}");
    }
    for absent in ["datetime-local", "value=\"template\"", "name=\"tag\""] {
        assert!(!page.contains(absent), "{absent}: {page}");
    }
    let unchecked = post(&member, &stage.fields(&[("action", "send")])).await;
    assert!(unchecked.body.contains("The form was changed after the check"), "{}", unchecked.body);
    let (shown, send) = checked(&member, &stage.fields(&[])).await;
    for words in ["+999 900 000 001", "It goes out at once."] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(stage.messages().await.is_empty(), "the dry run sent a message");

    let (first, second) = (post(&member, &send).await, post(&member, &send).await);
    assert_eq!((first.status, second.status), (303, 303), "{}", first.body);
    assert_eq!(first.header("location"), second.header("location"));
    let place = first.header("location");
    assert!(member.page(place).await.contains("Accepted. This page shows when WhatsApp has the message"));
    until("the message to be read", async || {
        stage.messages().await.first().is_some_and(|message| message["state"] == "read")
    })
    .await;
    let [message] = &stage.messages().await[..] else { panic!("one message was sent") };
    assert_eq!((&message["to"], &message["text"]), (&json!("999900000001@s.whatsapp.net"), &json!("Olá")));
    until("the page to show that it was read", async || member.page(place).await.contains("Read")).await;
    let journey = member.page(&format!("{place}/messages/0")).await;
    assert!(journey.contains("+999 900 000 001"), "{journey}");
}

#[tokio::test]
async fn a_file_goes_to_a_group() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let paper = Host::body("", b"%PDF-1.7\n").await;
    let link = paper.link("/menu.pdf");
    let fields = stage.fields(&[
        ("type", "document"),
        ("link", link.as_str()),
        ("caption", "<today>"),
        ("to", "group"),
        ("group", GROUP),
    ]);
    let (shown, send) = checked(&member, &fields).await;
    for words in
        ["Goes to the group", "120363000000000001", "menu.pdf", "application/pdf", "1 kB", "&lt;today&gt;"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let sent = post(&member, &send).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    until("the message", async || stage.messages().await.len() == 1).await;
    let message = &stage.messages().await[0];
    assert_eq!((&message["to"], &message["file"]["name"]), (&json!(GROUP), &json!("menu.pdf")));
    assert!(member.page(sent.header("location")).await.contains(GROUP));
}

#[tokio::test]
async fn content_that_a_phone_cannot_send_is_refused_beside_its_field_and_the_input_stays() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let closed = Host::body("", b"<html>").await;
    let page = closed.link("/page");
    for (more, fault) in [
        (vec![("number", "")], "Give one number with its country code."),
        (vec![("number", "12")], "Give one number with its country code."),
        (vec![("number", "+999 900 000 000")], "This number is not on WhatsApp."),
        (vec![("to", "group"), ("group", "the team")], "Give the id of the group"),
        (vec![("message", " ")], "Write a message."),
        (vec![("type", "image"), ("link", "ftp://x")], "Give the public address"),
        (vec![("type", "image"), ("link", "http://10.1.2.3/x.png")], "is not on the public internet"),
        (vec![("type", "image"), ("link", page.as_str())], "no such file at this address"),
        (vec![("type", "template")], "A linked phone sends texts and files."),
    ] {
        let mut fields = stage.fields(&more);
        fields.push(("action", "check".to_owned()));
        let answer = post(&member, &fields).await;
        assert_eq!(answer.status, 422, "{more:?}: {}", answer.body);
        assert!(answer.body.contains(fault), "{more:?}: {}", answer.body);
        assert!(!answer.body.contains("name=\"checked\""), "{more:?}: {}", answer.body);
        for (name, value) in more.iter().filter(|(name, _)| ["number", "group", "link"].contains(name)) {
            assert_eq!(
                value_of(&answer.body, name).as_deref(),
                Some(*value),
                "the words stay: {}",
                answer.body
            );
        }
    }
    assert!(stage.messages().await.is_empty());
}

#[tokio::test]
async fn beyond_the_pace_the_page_says_when_to_retry() {
    let stage = Stage::of_tier(json!({"daily_cap": 1})).await;
    let member = stage.world.signed_in(Role::Member).await;
    // The service applies a new tier a moment after it is written.
    until("the rest of the day's cap", async || member.page(NEW).await.contains("1 left")).await;
    let (_, send) = checked(&member, &stage.fields(&[])).await;
    assert_eq!(post(&member, &send).await.status, 303);
    until("the message", async || stage.messages().await.len() == 1).await;
    let mut more = stage.fields(&[("message", "another")]);
    more.push(("action", "check".to_owned()));
    let answer = post(&member, &more).await;
    assert_eq!(answer.status, 429, "{}", answer.body);
    assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    assert!(answer.body.contains("The phone has sent as much as it may for now."), "{}", answer.body);
    assert!(answer.body.contains("\nanother</textarea>"), "the words stay: {}", answer.body);
}

#[tokio::test]
async fn a_person_who_is_found_is_picked_by_a_button() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let number = "999900000005";
    let caio = Person { first_name: "Caio".to_owned(), phone_number: number.to_owned(), ..Person::default() };
    let (store, acme) = (stage.world.service.store(), stage.world.acme.id);
    store.of(acme).contacts().add(&[(Uuid::now_v7(), caio)], &[], Timestamp::now()).await.unwrap();
    let found = post(&member, &stage.fields(&[("action", "find"), ("find", "caio"), ("number", "")])).await;
    assert!(found.status == 200 && found.body.contains("Caio"), "{}", found.body);
    assert!(found.body.contains(&format!("name=\"pick\" value=\"{number}\"")), "{}", found.body);
    let picked = post(&member, &stage.fields(&[("pick", number), ("to", "group")])).await;
    assert_eq!((picked.status, value_of(&picked.body, "number").as_deref()), (200, Some(number)));
    assert!(picked.body.contains("value=\"number\" checked"), "{}", picked.body);
}

#[tokio::test]
async fn a_phone_that_is_not_linked_is_told_with_the_way_to_its_page() {
    let stage = Stage::set().await;
    let (service, acme) = (&stage.world.service, &stage.world.acme);
    let other = service.channel_of_tier(acme, Kind::WebSession, "spare", Status::Pairing, QUICK).await.id;
    let foreign = service
        .channel_of_tier(&stage.world.globex, Kind::WebSession, "theirs", Status::Connected, QUICK)
        .await;
    let member = stage.world.signed_in(Role::Member).await;
    let page = member.page(&format!("{NEW}?channel={other}")).await;
    assert!(page.contains("this phone is not linked"), "{page}");
    assert!(
        page.contains(&format!("href=\"/console/channels/{other}\"")) && !page.contains("<textarea"),
        "{page}"
    );
    let page = member.page(&format!("{NEW}?channel={}", foreign.id)).await;
    assert!(!page.contains("theirs"), "another company's phone is not offered: {page}");
    stage.of_phone_is_off().await;
    let mut fields = stage.fields(&[]);
    fields.push(("action", "check".to_owned()));
    let answer = post(&member, &fields).await;
    assert!(answer.status == 422 || answer.status == 200, "{}", answer.body);
    assert!(answer.body.contains("<h1>New send</h1>"), "{}", answer.body);
}

impl Stage {
    /// Unlinks the phone.
    async fn of_phone_is_off(&self) {
        let path = format!("/api/v1/web-chat/{}/pairing", self.phone.id);
        let request = self.world.service.request(reqwest::Method::DELETE, &path);
        assert_eq!(request.bearer_auth(&self.world.acme.key).send().await.unwrap().status(), 204);
    }
}

#[tokio::test]
async fn a_form_that_is_sent_before_and_after_a_restart_sends_once() {
    let mut stage = Stage::set().await;
    let (service, acme) = (&stage.world.service, &stage.world.acme);
    let shop = service.channel(acme, Kind::BusinessAccount, "Shop", Status::Connected).await.id.to_string();
    let member = stage.world.signed_in(Role::Member).await;
    let token = member.cookie("pombo_session").unwrap();
    let (_, by_phone) = checked(&member, &stage.fields(&[])).await;
    let bulk = [
        ("channel", shop),
        ("type", "text".to_owned()),
        ("message", "oi".to_owned()),
        ("numbers", "5511988887777\n5511988887778".to_owned()),
    ];
    let (_, by_account) = checked(&member, &bulk).await;
    let first = [post(&member, &by_phone).await, post(&member, &by_account).await];
    let places = first.each_ref().map(|answer| answer.header("location").to_owned());
    until("the message", async || {
        stage.messages().await.first().is_some_and(|message| message["state"] == "read")
    })
    .await;
    until("the page to show that it was read", async || member.page(&places[0]).await.contains("Read")).await;

    stage.world.service.restart_with_driver(stage.simulator.web_sessions()).await;
    stage.is_on().await;
    let member = Browser::with_session(&stage.world.service, &token);
    // A message with another text is another message, and does not get the id of the first.
    let mut other = by_phone.clone();
    other.retain(|(name, _)| *name != "message" && *name != "checked");
    other.push(("message", "else".to_owned()));
    let (_, mut other) = checked(&member, &other).await;
    // A check gives the form an id of its own; this browser shows the one that was used.
    other.retain(|(name, _)| *name != "once");
    other.extend(by_phone.iter().find(|(name, _)| *name == "once").cloned());
    let refused = post(&member, &other).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("sent before with different content"), "{}", refused.body);
    for (form, place) in [(&by_phone, &places[0]), (&by_account, &places[1])] {
        let answer = post(&member, form).await;
        assert_eq!((answer.status, answer.header("location")), (303, place.as_str()), "{}", answer.body);
        assert!(member.page(place).await.contains("This form was sent before."));
    }
    assert_eq!(stage.messages().await.len(), 1, "one message was sent");
    let listed = stage.world.service.get("/api/v1/sends", &stage.world.acme.key).await.json();
    assert_eq!(listed["totalRecords"], 2, "{listed}");
    let ids: Vec<_> = listed["data"].as_array().unwrap().iter().map(|send| send["id"].clone()).collect();
    for place in &places {
        assert!(ids.contains(&json!(send_of(place))), "{ids:?}");
    }
}
