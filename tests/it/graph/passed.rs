//! What is not for us and goes on to Meta, if the operator wants it.

use pombo::domain::page::PageRequest;
use pombo::store::changes::{Filter, What};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use simulator::Simulator;

use super::{FormField, Program, read, refused, with_parts};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA};

stores!(
    a_number_that_stays_at_meta_is_served_there_with_the_token_of_its_program,
    a_program_has_files_and_templates_at_meta_for_a_number_that_stays_there,
    what_the_door_does_not_answer_goes_on_with_the_token_of_the_channel_and_is_recorded,
);

/// A token of Meta's, and a number that the service does not have.
const THEIRS: &str = "EAAofAnotherShop";
const ELSEWHERE: &str = "207010000000001";
/// The account there.
const ACCOUNT: &str = "100000000000001";

/// A service, and the Meta to which it passes requests on, which knows every token and every number.
async fn start(universe: &Universe, passes: bool) -> (Running, Simulator) {
    let options = simulator::Options { accept_any: true, ..simulator::Options::default() };
    let meta = simulator::start(options, simulator::Seed { accounts: Vec::new() }).await.unwrap();
    let running = Running::start(universe, |config| {
        config.cloud_api.base_url = meta.base_url();
        (config.graph.enabled, config.graph.pass_through) = (true, passes);
    })
    .await;
    (running, meta)
}

async fn a_number_that_stays_at_meta_is_served_there_with_the_token_of_its_program(universe: &Universe) {
    let (running, _meta) = start(universe, true).await;
    let theirs = Program::new(running.address(), THEIRS);
    let body = json!({ "messaging_product": "whatsapp", "to": "5511900000001", "type": "text", "text": { "body": "oi" } });
    let (status, answer) = theirs.post(&format!("/{ELSEWHERE}/messages"), &body).await;
    assert_eq!(status, 200, "{answer}");
    let id = answer["messages"][0]["id"].as_str().unwrap();
    assert!(pombo::domain::graph::message_key(id).is_none(), "it is Meta's: {id}");
    let (status, shown) = theirs.get(&format!("/{ELSEWHERE}?fields=id")).await;
    assert_eq!((status, &shown["id"]), (200, &json!(ELSEWHERE)), "{shown}");
    let sends = running.ask(Method::GET, "/api/v1/sends", &Value::Null).await.json();
    assert_eq!(sends["totalRecords"], 0, "it is no send of ours");

    // A sample of a header is uploaded in two steps; the session has a signature, as Meta's have.
    let session = format!("/{ELSEWHERE}/uploads?file_length=3&file_type=image/png");
    let (status, session) = theirs.post(&session, &Value::Null).await;
    assert_eq!(status, 200, "{session}");
    let place = format!("/{}", session["id"].as_str().unwrap());
    assert!(place.contains("?sig="), "it is Meta's: {place}");
    let file = theirs.request(Method::POST, &place).header("file_offset", "0").body("png");
    let (status, told) = read(file).await;
    assert_eq!((status, told["h"].is_string()), (200, true), "{told}");

    // What is not listed is ours to refuse, and so is a key of ours.
    let in_address =
        Client::new().post(format!("{}/v23.0/{ELSEWHERE}?access_token={THEIRS}", running.address()));
    assert_eq!(refused(&read(in_address.json(&json!({ "pin": "123456" }))).await), (401, 190, None));
    for path in ["register", "subscribed_apps"] {
        assert_eq!(refused(&theirs.post(&format!("/{ELSEWHERE}/{path}"), &json!({})).await).1, 190, "{path}");
    }
    let revoked = Program::new(running.address(), "pombo_revoked");
    assert_eq!(refused(&revoked.post(&format!("/{ELSEWHERE}/messages"), &body).await), (401, 190, None));
    let own = Program::new(running.address(), &running.key);
    assert_eq!(refused(&own.post(&format!("/{ELSEWHERE}/messages"), &body).await), (400, 100, Some(33)));
    running.end().await;
}

async fn a_program_has_files_and_templates_at_meta_for_a_number_that_stays_there(universe: &Universe) {
    let (running, _meta) = start(universe, true).await;
    let theirs = Program::new(running.address(), THEIRS);
    // A usual picture is larger than any form of a visitor.
    let picture = vec![7; 512 * 1024];
    let parts: [FormField<'_>; 3] = [
        ("messaging_product", None, &b"whatsapp"[..]),
        ("type", None, &b"image/png"[..]),
        ("file", Some("a.png"), &picture[..]),
    ];
    let upload = theirs.request(Method::POST, &format!("/{ELSEWHERE}/media"));
    let (status, kept) = read(with_parts(upload, &parts)).await;
    assert_eq!(status, 200, "{kept}");
    let id = kept["id"].as_str().unwrap();
    assert!(pombo::domain::graph::media_of(id).is_none(), "it is Meta's: {id}");

    let list = format!("/{ACCOUNT}/message_templates");
    let body = json!([{ "type": "BODY", "text": "Pronto." }]);
    let new = json!({ "name": "pronto", "language": "pt_BR", "category": "UTILITY", "components": body });
    let (status, created) = theirs.post(&list, &new).await;
    assert_eq!((status, created["id"].is_string()), (200, true), "{created}");
    let gone = theirs.ask(Method::DELETE, &format!("{list}?name=pronto"), &Value::Null).await;
    assert_eq!(gone, (200, json!({ "success": true })));
    let (status, found) = theirs.get("/message_template_library?search=venceram").await;
    assert_eq!((status, &found["data"][0]["name"]), (200, &json!("payment_overdue_1")), "{found}");

    let other = Universe::sqlite().await;
    let (closed, _meta) = start(&other, false).await;
    let theirs = Program::new(closed.address(), THEIRS);
    assert_eq!(refused(&theirs.get("/message_template_library").await), (401, 190, None));
    closed.end().await;
    other.end().await;
    running.end().await;
}

async fn what_the_door_does_not_answer_goes_on_with_the_token_of_the_channel_and_is_recorded(
    universe: &Universe,
) {
    let (running, _meta) = start(universe, true).await;
    let own = Program::new(running.address(), &running.key);
    // The simulator does not have the last path, and says so with a number that the door never uses.
    let users = json!({ "messaging_product": "whatsapp", "block_users": [{ "user": "5511900000001" }] });
    for (method, path, sign) in [
        (Method::GET, format!("/{NUMBER}/block_users"), r#"{"data":[]"#),
        (Method::POST, format!("/{NUMBER}/block_users"), "added_users"),
        (Method::GET, format!("/{WABA}/flows"), r#""code":2500"#),
    ] {
        let body = if method == Method::POST { users.clone() } else { Value::Null };
        let (_, answer) = own.ask(method, &path, &body).await;
        assert!(answer.to_string().contains(sign), "{path}: {answer}");
    }
    for path in [
        format!("/{NUMBER}/register"),
        format!("/{ELSEWHERE}/block_users"),
        format!("/{NUMBER}/marketing_messages"),
    ] {
        assert_eq!(refused(&own.post(&path, &users).await), (400, 100, Some(33)), "{path}");
    }
    let filter = Filter { what: &[What::PassedOn], ..Filter::default() };
    let page = PageRequest { page: 1, limit: 10 };
    let recorded = running.store.changes().page(filter, page).await.unwrap().records;
    let [only] = &recorded[..] else { panic!("what is read is not recorded: {recorded:?}") };
    assert_eq!(only.after["request"], json!(format!("POST {NUMBER}/block_users")));
    assert_eq!((&only.subject, only.who.as_str()), (&running.channel.to_string(), "key:test"));
    running.end().await;

    let other = Universe::sqlite().await;
    let (closed, _meta) = start(&other, false).await;
    let own = Program::new(closed.address(), &closed.key);
    assert_eq!(refused(&own.get(&format!("/{NUMBER}/block_users")).await), (400, 100, Some(33)));
    closed.end().await;
    other.end().await;
}
