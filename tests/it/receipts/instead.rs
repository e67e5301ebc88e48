//! A template in place of a free message, to people whose window is closed: in one request, and by a send of its own.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::inbound::WindowRule;
use pombo::store::changes::Who;
use reqwest::Method;
use serde_json::{Value, json};

use super::teller::{Teller, rows, status};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running};
use crate::scenarios::stage::{show, template};

stores!(
    a_bulk_send_gives_a_template_to_people_whose_window_is_closed,
    when_all_windows_are_closed_the_template_is_the_only_send,
    a_send_to_one_person_is_a_template_while_the_window_is_closed,
    people_without_the_values_of_their_content_are_skipped,
    a_skipped_person_has_a_place_also_when_the_template_alone_has_values,
    a_wrong_template_is_refused_whatever_the_windows,
    a_send_for_later_and_its_dry_run_count_the_windows_that_are_open_then,
    a_retry_gives_a_template_to_people_whose_window_has_closed,
);

const ANA: &str = "5511900000001";
const BEA: &str = "5511900000002";
const CAI: &str = "5511900000003";

/// A service on which windows are enforced, and Ana's is open.
async fn start(universe: &Universe) -> Running {
    let running = Running::start(universe, |_| {}).await;
    let at = (Timestamp::now().millis() / 1_000).to_string();
    let text =
        json!({ "from": ANA, "id": "wamid.1", "timestamp": at, "type": "text", "text": { "body": "hi" } });
    let value = json!({ "contacts": [{ "profile": { "name": "Ana" }, "wa_id": ANA }], "messages": [text] });
    let told = Teller::new(&running).tell(running.channel, NUMBER, &value).await;
    assert_eq!(told.status, 200, "{}", told.body);
    enforce(&running, WindowRule::Enforce).await;
    running
}

async fn enforce(running: &Running, rule: WindowRule) {
    let who = Who::CommandLine("ana".to_owned());
    running.conversations().set_window_rule(&who, running.channel, rule).await.unwrap();
}

/// A text to these numbers, with the template `hello_world` for closed windows.
async fn either(running: &Running, to: &[&str]) -> Value {
    let hello = template(running, "hello_world").await;
    json!({
        "type": "text", "message": "hi", "phone_number": to, "reference": "r-1",
        "template_instead": { "template_id": hello, "components": [] },
    })
}

fn path(running: &Running) -> String {
    format!("/api/v1/chat/{}/messages", running.channel)
}

fn id(answer: &Value) -> &str {
    answer["send_id"].as_str().unwrap()
}

/// The types of the messages that this person got.
fn types(running: &Running, to: &str) -> Vec<String> {
    let sent = running.simulator.messages(0, 99).into_iter().filter(|sent| sent.to == to);
    sent.map(|sent| sent.body.unwrap()["type"].as_str().unwrap().to_owned()).collect()
}

async fn a_bulk_send_gives_a_template_to_people_whose_window_is_closed(universe: &Universe) {
    let running = start(universe).await;
    let body = either(&running, &[ANA, BEA, CAI]).await;
    let dry = running.ask(Method::POST, &format!("{}?dry_run=true", path(&running)), &body).await.json();
    assert_eq!((&dry["recipients_count"], &dry["skipped_count"]), (&json!(3), &json!(0)), "{dry}");
    assert_eq!(dry["template_instead"]["recipients_count"], 2, "{dry}");
    let costs = [&dry["cost"]["category"], &dry["template_instead"]["cost"]["category"]];
    assert_eq!(costs, [&json!("service"), &json!("utility")], "{dry}");

    let first = running.ask_once(&path(&running), "once", &body).await;
    let again = running.ask_once(&path(&running), "once", &body).await;
    assert_eq!((first.status, again.status, &first.body), (202, 202, &again.body), "{}", first.body);
    assert_eq!(again.header("idempotency-replayed"), "true");
    let told = first.json();
    let instead = &told["template_instead"];
    assert_eq!((&told["recipients_count"], &instead["recipients_count"]), (&json!(3), &json!(2)), "{told}");
    assert_ne!(id(&told), id(instead), "{told}");
    running.settled(3).await;
    assert_eq!(types(&running, ANA), ["text"]);
    assert_eq!([types(&running, BEA), types(&running, CAI)].concat(), ["template", "template"]);

    let (main, other) = (show(&running, id(&told)).await, show(&running, id(instead)).await);
    assert_eq!(
        (&main["recipients_count"], &main["template_instead_id"]),
        (&json!(1), &other["id"]),
        "{main}"
    );
    assert_eq!((&main["instead_of"], &main["type"]), (&Value::Null, &json!("text")), "{main}");
    assert_eq!((&other["recipients_count"], &other["type"]), (&json!(2), &json!("template")), "{other}");
    assert_eq!(other["instead_of"], json!({ "send_id": main["id"] }), "{other}");
    let listed = running.ask(Method::GET, "/api/v1/sends?reference=r-1", &Value::Null).await.json();
    assert_eq!(listed["totalRecords"], 2, "both have the words of the request: {listed}");
    running.end().await;
}

async fn when_all_windows_are_closed_the_template_is_the_only_send(universe: &Universe) {
    let running = start(universe).await;
    let body = either(&running, &[BEA, CAI]).await;
    let first = running.ask_once(&path(&running), "once", &body).await;
    let again = running.ask_once(&path(&running), "once", &body).await;
    assert_eq!((first.status, &first.body), (202, &again.body), "{}", first.body);
    let told = first.json();
    assert_eq!(told["template_instead"], json!({ "send_id": told["send_id"], "recipients_count": 2 }));
    running.settled(2).await;
    let shown = show(&running, id(&told)).await;
    assert_eq!((&shown["type"], &shown["instead_of"]), (&json!("template"), &json!({ "send_id": null })));
    let listed = running.ask(Method::GET, "/api/v1/sends", &Value::Null).await.json();
    assert_eq!(listed["totalRecords"], 1, "{listed}");
    // Nobody needs the template while all windows are open.
    let (status, told) = running.send(&either(&running, &[ANA]).await).await;
    assert_eq!((status, &told["template_instead"]), (202, &Value::Null), "{told}");
    running.end().await;
}

async fn a_send_to_one_person_is_a_template_while_the_window_is_closed(universe: &Universe) {
    let running = start(universe).await;
    for (to, kind, is_instead) in [(ANA, "text", false), (BEA, "template", true)] {
        let body = either(&running, &[to]).await;
        let dry = running.ask(Method::POST, &format!("{}?dry_run=true", path(&running)), &body).await.json();
        assert_eq!(dry["template_instead"]["recipients_count"], u64::from(is_instead), "{dry}");
        let first = running.ask_once(&path(&running), to, &body).await;
        let again = running.ask_once(&path(&running), to, &body).await;
        assert_eq!((first.status, &first.body), (202, &again.body), "{}", first.body);
        let told = first.json();
        let expected = json!({ "send_id": told["send_id"], "recipients_count": 1 });
        let expected = if is_instead { expected } else { Value::Null };
        assert_eq!((&told["template_instead"], &told["recipients_count"]), (&expected, &json!(1)), "{told}");
        assert_eq!(show(&running, id(&told)).await["type"], kind);
    }
    // A person who wants no messages gets no template either.
    let suppressed = json!({ "phone_number": CAI, "left_out_of": "everything" });
    let added = running.ask(Method::POST, "/api/v1/suppressions", &suppressed).await;
    assert!(matches!(added.status, 200 | 201), "{}", added.body);
    let (status, told) = running.send(&either(&running, &[CAI]).await).await;
    assert_eq!((status, &told["code"]), (400, &json!("no_valid_recipients")), "{told}");
    assert_eq!(told["skipped"][0]["code"], "suppressed", "{told}");
    running.end().await;
}

async fn people_without_the_values_of_their_content_are_skipped(universe: &Universe) {
    let running = start(universe).await;
    let update = template(&running, "order_update").await;
    let body = json!({
        "type": "text", "message": "{{value.order}} is ready",
        "recipients": [
            { "phone_number": ANA, "values": { "order": "A-1" }, "reference": "a" },
            { "phone_number": BEA, "values": { "order": "A-2", "name": "Bea" }, "reference": "b" },
            { "phone_number": CAI, "values": { "order": "A-3" } },
        ],
        "template_instead": { "template_id": update, "parameters": ["name", "order"] },
    });
    let dry = running.ask(Method::POST, &format!("{}?dry_run=true", path(&running)), &body).await.json();
    let shown = dry["examples"].as_array().unwrap();
    assert_eq!(shown[0]["content"]["message"], "A-1 is ready", "{dry}");
    assert_eq!(shown[1]["content"]["components"][0]["parameters"][1]["text"], "A-2", "{dry}");
    let (status, told) = running.send(&body).await;
    assert_eq!((status, &told["recipients_count"]), (202, &json!(2)), "{told}");
    assert_eq!(
        told["skipped_counts"],
        json!({ "value_missing": 1 }),
        "only the template needs a name: {told}"
    );
    assert_eq!(told["ignored"], Value::Null, "each value has a place in one of the two: {told}");
    running.settled(2).await;
    let to_bea = running.simulator.messages(0, 9).into_iter().find(|sent| sent.to == BEA).unwrap();
    let values = &to_bea.body.unwrap()["template"]["components"][0]["parameters"];
    assert_eq!([&values[0]["text"], &values[1]["text"]], [&json!("Bea"), &json!("A-2")]);
    let found = "/api/v1/messages?message_reference=b";
    let found = running.ask(Method::GET, found, &Value::Null).await.json();
    assert_eq!(found["data"][0]["send_id"], told["template_instead"]["send_id"], "{found}");

    let mut all_or_none = body.clone();
    all_or_none["on_skipped"] = json!("refuse");
    let (status, told) = running.send(&all_or_none).await;
    assert_eq!((status, &told["code"]), (422, &json!("recipients_skipped")), "{told}");
    running.end().await;
}

async fn a_skipped_person_has_a_place_also_when_the_template_alone_has_values(universe: &Universe) {
    let running = start(universe).await;
    let update = template(&running, "order_update").await;
    let suppressed = json!({ "phone_number": CAI, "left_out_of": "everything" });
    let added = running.ask(Method::POST, "/api/v1/suppressions", &suppressed).await;
    assert!(matches!(added.status, 200 | 201), "{}", added.body);
    let to = |number: &str| json!({ "phone_number": number, "values": { "order": "A-1", "name": "Bea" } });
    let body = |recipients: Value| {
        json!({
            "type": "text", "message": "hi", "recipients": recipients,
            "template_instead": { "template_id": update, "parameters": ["name", "order"] },
        })
    };
    let skipped = |told: &Value, index: u64| {
        let entry = &told["skipped"][0];
        assert_eq!((&entry["code"], &entry["index"]), (&json!("suppressed"), &json!(index)), "{told}");
        assert_eq!(entry["field"], "phone_number", "{told}");
    };
    let all = body(json!([to(ANA), to(BEA), to(CAI)]));
    let dry = running.ask(Method::POST, &format!("{}?dry_run=true", path(&running)), &all).await.json();
    skipped(&dry, 2);
    let (status, told) = running.send(&all).await;
    assert_eq!((status, &told["recipients_count"]), (202, &json!(2)), "{told}");
    skipped(&told, 2);
    running.settled(2).await;
    let (status, told) = running.send(&body(json!([to(CAI)]))).await;
    assert_eq!((status, &told["code"]), (400, &json!("no_valid_recipients")), "{told}");
    skipped(&told, 0);
    running.end().await;
}

async fn a_wrong_template_is_refused_whatever_the_windows(universe: &Universe) {
    let running = start(universe).await;
    for to in [vec![ANA], vec![ANA, BEA]] {
        let mut body = either(&running, &to).await;
        body["template_instead"]["template_id"] = json!(999_999);
        let (status, told) = running.send(&body).await;
        assert_eq!((status, &told["code"]), (404, &json!("template_not_found")), "{told}");
        assert_eq!(told["param"], "template_instead.template_id", "{told}");
    }
    let listed = running.ask(Method::GET, "/api/v1/sends", &Value::Null).await.json();
    assert_eq!(listed["totalRecords"], 0, "{listed}");
    running.end().await;
}

async fn a_send_for_later_and_its_dry_run_count_the_windows_that_are_open_then(universe: &Universe) {
    let running = start(universe).await;
    let mut body = either(&running, &[ANA, BEA]).await;
    for (hours, closed) in [(23, 1), (25, 2)] {
        let at = Timestamp::now().plus(Duration::from_secs(hours * 60 * 60));
        body["send_at"] = json!(at.to_string());
        let dry = running.ask(Method::POST, &format!("{}?dry_run=true", path(&running)), &body).await.json();
        assert_eq!(dry["template_instead"]["recipients_count"], closed, "in {hours} hours: {dry}");
        let (status, told) = running.send(&body).await;
        assert_eq!((status, &told["recipients_count"]), (202, &json!(2)), "{told}");
        assert_eq!(told["template_instead"]["recipients_count"], closed, "in {hours} hours: {told}");
    }
    body.as_object_mut().unwrap().remove("template_instead");
    let dry = running.ask(Method::POST, &format!("{}?dry_run=true", path(&running)), &body).await;
    assert_eq!(dry.code().as_deref(), Some("no_valid_recipients"), "{}", dry.body);
    assert_eq!(dry.json()["skipped"][0]["code"], "window_closed", "{}", dry.body);
    running.end().await;
}

async fn a_retry_gives_a_template_to_people_whose_window_has_closed(universe: &Universe) {
    let running = start(universe).await;
    enforce(&running, WindowRule::Provider).await;
    let (_, told) =
        running.send(&json!({ "type": "text", "message": "hi", "phone_number": [ANA, BEA] })).await;
    running.settled(2).await;
    for row in rows(universe).await {
        let failed = json!({ "statuses": [status(&row, "failed", Some(131_047))] });
        let heard = Teller::new(&running).tell(running.channel, NUMBER, &failed).await;
        assert_eq!(heard.status, 200, "{}", heard.body);
    }
    enforce(&running, WindowRule::Enforce).await;
    let retry = format!("/api/v1/sends/{}/retry", id(&told));
    let plain = running.ask(Method::POST, &retry, &json!({ "error_code": 131_047 })).await;
    assert_eq!(plain.code().as_deref(), Some("no_valid_recipients"), "{}", plain.body);
    let hello = template(&running, "hello_world").await;
    let body = json!({
        "error_code": 131_047, "template_instead": { "template_id": hello, "components": [] },
    });
    let again = running.ask(Method::POST, &retry, &body).await.json();
    assert_eq!(again["template_instead"]["recipients_count"], 2, "the refusal closed both windows: {again}");
    running.settled(4).await;
    assert_eq!(
        [types(&running, ANA), types(&running, BEA)].concat(),
        ["text", "template", "text", "template"]
    );
    let shown = show(&running, id(&again)).await;
    assert_eq!(shown["retry_of"], told["send_id"], "{shown}");
    let twice = running.ask(Method::POST, &retry, &body).await;
    assert_eq!(twice.json()["skipped"][0]["code"], "already_retried", "{}", twice.body);
    running.end().await;
}
