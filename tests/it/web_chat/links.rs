//! Links that are not followed, or whose file cannot be sent: the answer to the caller, and that forbidden
//! hosts get no request.

use std::time::Duration;

use pombo::config::Config;
use serde_json::{Value, json};

use super::world::World;
use super::{MARIA, samples};
use crate::harness::Answer;
use crate::media::host::{Host, Step, bare, ok, to};

const KIB: usize = 1024;

/// A file behind this link, for Maria.
fn media(kind: &str, link: &str) -> Value {
    json!({"phone_number": MARIA, "recipient_type": "number", "type": kind, "link": link})
}

/// With a session that is linked, whose links are fetched as `change` says.
async fn world(change: impl FnOnce(&mut Config)) -> World {
    let world = World::linked_with(change).await;
    world.whatsapp.contact(MARIA);
    world
}

/// Posts a link; it must be refused so.
async fn refused(world: &World, kind: &str, link: &str, code: &str) -> Answer {
    let answer = world.post(&media(kind, link)).await;
    assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{link}: {}", answer.body);
    answer
}

/// Checks that no message was sent and that no number was looked up.
async fn nothing_was_sent(world: &World) {
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (0, 0));
    assert_eq!(world.whatsapp.lookups_of(MARIA), 0);
}

#[tokio::test]
async fn links_into_the_operator_s_network_are_refused_however_they_are_written() {
    let world = world(|config| config.media.allow.clear()).await;
    let host = Host::body("", b"%PDF-1.7\nsecret").await;
    for written in [
        "localhost",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "0",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.1.1",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[fc00::1]",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        let answer = refused(&world, "document", &host.link_as(written, "/x.pdf"), "link_not_allowed").await;
        let told = answer.json()["error"].to_string();
        assert!(!told.contains("secret") && !told.contains(written), "{told}");
    }
    assert_eq!(host.connections(), 0);
    nothing_was_sent(&world).await;
}

#[tokio::test]
async fn a_redirect_into_the_operator_s_network_is_not_followed() {
    let world = world(|config| config.media.allow = vec!["127.0.0.1/32".parse().unwrap()]).await;
    let inner = Host::at("127.0.0.2:0", |_| vec![Step::Send(ok("", b"%PDF-1.7\nsecret"))]).await;
    for location in [
        inner.link("/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.1.2.3/".to_owned(),
        "http://[::1]/".to_owned(),
        "http://[::ffff:10.1.2.3]/".to_owned(),
        "http://0xa9fea9fe/".to_owned(),
        "//192.168.1.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let host = Host::new(move |_| to(&location)).await;
        refused(&world, "document", &host.link("/x.pdf"), "link_not_allowed").await;
        assert_eq!(host.connections(), 1);
    }
    assert_eq!(inner.connections(), 0);
    nothing_was_sent(&world).await;
}

#[tokio::test]
async fn an_unusable_link_is_reported() {
    let world = world(|_| {}).await;
    let gone = Host::steps(bare(404, "")).await;
    let page = Host::body("Content-Type: image/png\r\n", b"<!DOCTYPE html><html>secret</html>").await;
    let empty = Host::body("", b"").await;
    let song = Host::body("", &samples::song()).await;
    for (kind, host) in [("image", &gone), ("image", &page), ("document", &empty), ("video", &song)] {
        let answer = refused(&world, kind, &host.link("/x"), "media_unavailable").await;
        assert!(!answer.body.contains("secret"), "{}", answer.body);
    }
    refused(&world, "image", "http://nobody.invalid/x", "media_unavailable").await;
    nothing_was_sent(&world).await;
}

#[tokio::test]
async fn a_file_over_its_kind_s_limit_is_too_large() {
    let world = world(|config| config.media.document_limit = 64 * KIB).await;
    let announced =
        Host::steps(vec![send("HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n"), Step::Hang]).await;
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
    let endless = Host::steps(vec![
        send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Step::Repeat(chunk, Duration::ZERO),
    ])
    .await;
    for host in [&announced, &endless] {
        refused(&world, "document", &host.link("/x"), "media_too_large").await;
    }
    nothing_was_sent(&world).await;
    let fits = Host::body("", &[b'x'; 64 * KIB]).await;
    let (_, message) = world.arrives(&media("document", &fits.link("/x"))).await;
    assert_eq!(world.whatsapp.file_of(&message).bytes.len(), 64 * KIB);
}

#[tokio::test]
async fn a_link_that_never_ends_is_given_up() {
    let world = world(|config| {
        config.media.connect_timeout = Duration::from_millis(200);
        config.media.stall_timeout = Duration::from_millis(300);
        config.media.timeout = Duration::from_millis(800);
    })
    .await;
    let silent = Host::steps(vec![Step::Hang]).await;
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n";
    let trickling =
        Host::steps(vec![send(head), Step::Repeat(b"x".to_vec(), Duration::from_millis(10))]).await;
    for host in [&silent, &trickling] {
        refused(&world, "document", &host.link("/x"), "media_unavailable").await;
    }
    nothing_was_sent(&world).await;
}

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}
