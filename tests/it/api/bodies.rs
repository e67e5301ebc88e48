//! How a body is read: late, bounded in size and in time.

use std::time::Duration;

use pombo::api::Options;
use pombo::domain::channel::{Kind, Status};
use serde_json::json;

use super::world::World;
use crate::harness::Service;

/// A request whose body comes in pieces, its length not declared.
fn chunked(path: &str, key: &str, pieces: &[&str]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let chunk = |piece: &&str| format!("{:x}\r\n{piece}\r\n", piece.len());
    let chunks: String = pieces.iter().map(chunk).collect();
    format!("{head}{chunks}").into_bytes()
}

/// The same, and its end.
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
    assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_body")));
}

#[tokio::test]
async fn who_asks_is_checked_before_the_body_is_read() {
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
