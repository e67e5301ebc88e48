//! Reading a body: only after the other checks, with limits of size and time.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use pombo::api::{Budget, Options};
use pombo::domain::channel::{Kind, Status};
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
