//! Reading a body: only after the other checks, with limits of size and time.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use pombo::api::Options;
use pombo::domain::channel::{Kind, Status};
use pombo::surface::body::Budget;
use serde_json::json;

use super::world::World;
use crate::harness::Service;
use crate::running::until_soon;

/// A request whose body comes in pieces, its length not declared.
fn chunked(path: &str, key: &str, pieces: &[&str]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let chunk = |piece: &&str| format!("{:x}\r\n{piece}\r\n", piece.len());
    let chunks: String = pieces.iter().map(chunk).collect();
    format!("{head}{chunks}").into_bytes()
}

/// The same request with the end of its body.
fn whole(path: &str, key: &str, pieces: &[&str]) -> Vec<u8> {
    [chunked(path, key, pieces), b"0\r\n\r\n".to_vec()].concat()
}

#[tokio::test]
async fn a_body_in_pieces_is_the_same_body() {
    let world = World::new().await;
    let pieces = ["{\"type\":\"te", "xt\",\"message\":\"x\",", "\"phone_number\":\"5511988887777\"}"];
    let request = whole(&World::send(world.connected), &world.acme.key, &pieces);
    let answer = world.service.raw(request).await;
    assert_eq!((answer.status, &answer.json()["recipients_count"]), (202, &json!(1)));
}

#[tokio::test]
async fn a_body_of_undeclared_length_is_bounded_too() {
    let world = World::new().await;
    let kibibyte = " ".repeat(1024);
    let path = World::send(world.connected);
    let too_much = chunked(&path, &world.acme.key, &vec![kibibyte.as_str(); 17]);
    let answer = world.service.raw(too_much).await;
    assert_eq!((answer.status, answer.code().as_deref()), (413, Some("body_too_large")));
    let just_enough = whole(&path, &world.acme.key, &vec![kibibyte.as_str(); 16]);
    let answer = world.service.raw(just_enough).await;
    assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_body")));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_invalid_body() {
    let world = World::new().await;
    let broken = chunked(&World::send(world.connected), &world.acme.key, &["{"]);
    let answer = world.service.raw_and_close(broken).await;
    assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_body")));
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let options = Options { body_timeout: Duration::from_millis(50), ..Options::default() };
    let service = Service::start_with(options).await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await;
    let answer = service.raw(chunked(&World::send(channel.id), &acme.key, &["{"])).await;
    assert_eq!((answer.status, answer.code().as_deref()), (408, Some("body_too_slow")));
}

/// The head of a request whose body has this length.
fn declared(path: &str, key: &str, length: usize) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    head.into_bytes()
}

#[tokio::test]
async fn a_declared_length_is_checked_before_the_body_arrives() {
    let world = World::new().await;
    let answer =
        world.service.raw(declared(&World::send(world.connected), &world.acme.key, 16 * 1024 + 1)).await;
    assert_eq!((answer.status, answer.code().as_deref()), (413, Some("body_too_large")));
}

#[tokio::test]
async fn bodies_share_a_budget_and_each_company_has_a_part() {
    let options = Options { bodies: Budget::new(40_000), client_rate: 1, ..Options::default() };
    let service = Service::start_with(options).await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let channel =
        async |company| service.channel(company, Kind::BusinessAccount, "shop", Status::Connected).await;
    let [own, others] = [World::send(channel(&acme).await.id), World::send(channel(&globex).await.id)];
    // A body of which only a part arrives keeps its share of the budget.
    let address = service.url().trim_start_matches("http://").to_owned();
    let mut holding = TcpStream::connect(address).unwrap();
    holding.write_all(&declared(&own, &acme.key, 20_000)).unwrap();
    holding.write_all(&[b' '; 1000]).unwrap();
    until_soon("the company's part used up", async || service.post(&own, &acme.key, "{").await.status == 503)
        .await;
    let refused = service.raw(declared(&own, &acme.key, 1)).await;
    assert_eq!((refused.status, refused.code().as_deref()), (503, Some("service_unavailable")));
    assert_eq!(refused.header("retry-after"), "1");
    let undeclared = service.raw(chunked(&own, &acme.key, &["{"])).await;
    assert_eq!(undeclared.status, 503);
    // Another company's requests find room.
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
    assert_eq!(service.post(&others, &globex.key, body.clone()).await.status, 202);
    // The company's own requests find room too, once that body is gone.
    drop(holding);
    until_soon("the room given back", async || {
        service.post(&own, &acme.key, body.clone()).await.status == 202
    })
    .await;
}

#[tokio::test]
async fn a_body_below_the_required_rate_is_given_up() {
    let options = Options { client_rate: 1024 * 1024, ..Options::default() };
    let service = Service::start_with(options).await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await;
    let started = Instant::now();
    let answer = service.raw(chunked(&World::send(channel.id), &acme.key, &["{"])).await;
    assert_eq!((answer.status, answer.code().as_deref()), (408, Some("body_too_slow")));
    assert!(started.elapsed() < Options::default().body_timeout / 2);
}

#[tokio::test]
async fn the_caller_is_checked_before_the_body_is_read() {
    let world = World::new().await;
    for (path, key, status) in [
        (World::send(world.connected), "pombo_nobody", 401),
        (World::send(world.foreign), world.acme.key.as_str(), 403),
        (World::web_send(world.foreign_web), world.acme.key.as_str(), 404),
    ] {
        let answer = world.service.raw(chunked(&path, key, &["{"])).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_batch_is_read_up_to_the_first_entry_too_many() {
    let service = Service::start_with(Options::default()).await;
    let acme = service.company("acme").await;
    // Nearly as large as a body may be. What comes after the bound is JSON, and nothing is made of it.
    for (path, field, code) in [
        ("/api/v1/contacts/batch", "contacts", "too_many_contacts"),
        ("/api/v1/contacts/tags/batch", "tags", "invalid_field"),
    ] {
        let body = format!(r#"{{"{field}":[{{}}{}]}}"#, ",{}".repeat(2_700_000));
        let refused = service.post(path, &acme.key, body).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some(code)), "{path}");
    }
    let tag = service.post("/api/v1/contacts/tags/batch", &acme.key, r#"{"tags":[{"name":"vip"}]}"#).await;
    let members =
        format!("/api/v1/contacts/tags/{}/members", tag.json()["results"][0]["id"].as_str().unwrap());
    let body =
        format!(r#"{{"add":{{"phone_numbers":[5511988887777{}]}}}}"#, ",5511988887777".repeat(500_000));
    let refused = service.post(&members, &acme.key, body).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("too_many_contacts")));
}

#[tokio::test]
async fn what_is_made_of_a_body_is_charged_before_it_is_made() {
    let bodies = Budget::new(4 * 1024 * 1024);
    let options = Options { bodies: bodies.clone(), ..Options::default() };
    let service = Service::start_with(options).await;
    let (acme, operator) = (service.company("acme").await, service.operator("ana", None).await);
    // Each of these is small, and would take many times its size.
    let tags: Vec<_> = (0..100).map(|tag| format!("t{tag}")).collect();
    let contact = json!({"email": "a@b.example", "tags": tags}).to_string();
    let batch = format!(r#"{{"contacts":[{contact}{}]}}"#, format!(",{contact}").repeat(500));
    let tree = |name: &str| format!(r#"{{"{name}":[{{}}{}]}}"#, r#",{"":0}"#.repeat(10_000));
    for (path, key, body) in [
        ("/api/v1/contacts/batch", &acme.key, batch.clone()),
        ("/api/v1/contacts/01890a5d-ac96-774b-bcce-b302099a8057/merge", &acme.key, tree("contact_ids")),
        ("/operator/v1/companies", &operator, tree("name")),
    ] {
        assert!(body.len() < 1024 * 1024, "{}", body.len());
        let refused = service.post(path, key, body).await;
        assert_eq!((refused.status, refused.code().as_deref()), (413, Some("body_too_large")), "{path}");
        assert!(refused.body.contains("too much memory: split it"), "{}", refused.body);
    }
    assert_eq!(bodies.held(), 0);
    let half = format!(r#"{{"contacts":[{contact}{}]}}"#, format!(",{contact}").repeat(50));
    let written = service.post("/api/v1/contacts/batch", &acme.key, half).await;
    assert_eq!(written.status, 200, "{}", written.body);
}

#[tokio::test]
async fn one_bad_entry_is_rejected_alone_and_the_last_of_a_repeated_field_counts() {
    let service = Service::start_with(Options::default()).await;
    let acme = service.company("acme").await;
    let body = r#"{
        "contacts": 7,
        "contacts": [
            {"email": "a@b.example", "email": "c@d.example"},
            {"email": 7},
            [],
            null,
            {"email": "e@f.example", "tags": [1]},
            {"email": "g@h.example", "unknown": {"deep": [[[1e999]]]}}
        ]
    }"#;
    let written = service.post("/api/v1/contacts/batch", &acme.key, body).await.json();
    assert_eq!((&written["created"], &written["rejected"]), (&json!(2), &json!(4)), "{written}");
    let first = &written["results"][0];
    let path = format!("/api/v1/contacts/{}", first["id"].as_str().unwrap());
    assert_eq!(service.get(&path, &acme.key).await.json()["email"], "c@d.example");
    let wrong = written["results"][1]["error"].as_str().unwrap();
    assert_eq!(wrong, "invalid type: integer `7`, expected a string");
    for (body, code) in [
        ("[]", "invalid_body"),
        (r#"{"contacts": [{}"#, "invalid_body"),
        (r#"{"contacts": [{}], "x": tru}"#, "invalid_body"),
        ("{}", "invalid_field"),
        (r#"{"contacts": null}"#, "invalid_field"),
        (r#"{"contacts": {}}"#, "invalid_field"),
    ] {
        let refused = service.post("/api/v1/contacts/batch", &acme.key, body).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some(code)), "{body}");
    }
}
