//! Refusals of NATS, and the service's report of them.

use std::fs::{self, File};

use async_nats::jetstream::{self, stream};
use pombo::connector::nats::{Carries, Error, Nats, Unready, reach};
use serde_json::Value;

use super::killed::metric;
use super::server::{NatsServer, options};
use super::{by_type, events};
use crate::child::OwnedChild;
use crate::database::Universe;
use crate::program::Place;
use crate::running::until;
use crate::serving::{SERVE, Serving};

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn wrong_credentials_are_said_once_and_stop_nothing_else() {
    const CONTACTS: u64 = 10;
    let universe = Universe::sqlite().await;
    let mut server = NatsServer::start_with(&["-js", "--auth", "other-token"]).await;
    let url = server.url();
    let options = [
        ("POMBO__NATS__URL", url.as_str()),
        ("POMBO__NATS__TOKEN", "right-token"),
        ("POMBO__EVENTS__ENABLED", "true"),
    ];
    let mut serving = Serving::new_with(&universe, CONTACTS, "unlimited", &options).await;
    let log = serving.place.path().join("log");
    let mut command = serving.place.command(SERVE);
    let mut child = OwnedChild::spawn(command.stderr(File::create(&log).unwrap()));
    let started: Value = serde_json::from_str(&child.first_line()).unwrap();
    let url = started["base_url"].as_str().unwrap();
    serving.tag = serving.tag_id(url, "everyone").await;
    until("several refusals", async || {
        metric(url, "pombo_nats_failures_total").await.is_some_and(|failures| failures >= 3.0)
    })
    .await;
    assert_eq!(serving.send(url).await.status, 202);
    until("every message sent", async || serving.figures().1 == CONTACTS).await;
    let said = fs::read_to_string(&log).unwrap();
    let refusals: Vec<_> = said.lines().filter(|line| line.contains("NATS refuses")).collect();
    let [refusal] = refusals[..] else { panic!("{said}") };
    assert!(refusal.contains("ERROR") && refusal.contains("nats.token"), "{refusal}");
    assert!(!said.contains("right-token") && !said.contains("async_nats"), "{said}");

    // After the fix at the server, the service publishes all waiting events by itself.
    server.stop();
    server.replace_arguments(&["-js", "--auth", "right-token"]);
    server.start_again().await;
    until("everything published", async || {
        let stored = server.stored_as(Some("right-token")).await;
        by_type(&stored).get("message.sent") == Some(&10)
    })
    .await;
    child.crash();
    serving.simulator.stop().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn the_doctor_says_whether_nats_accepts_the_service() {
    let mut server = NatsServer::start_with(&["--auth", "right-token"]).await;
    let url = server.url();
    let finding = |token: &str| {
        let place = Place::new().with("POMBO__NATS__URL", &url).with("POMBO__NATS__TOKEN", token);
        let run = place.run("doctor --json");
        let findings: Value = serde_json::from_str(&run.stdout).unwrap();
        let finding = findings.as_array().unwrap().iter().find(|finding| finding["check"] == "NATS");
        finding.unwrap_or_else(|| panic!("{findings}")).clone()
    };
    assert_eq!(finding("right-token")["state"], "good");
    let refused = finding("other-token");
    assert_eq!(refused["state"], "bad");
    assert!(refused["finding"].as_str().unwrap().contains("nats.token"), "{refused}");
    server.stop();
    let away = finding("right-token");
    assert!(away["finding"].as_str().unwrap().contains("cannot be reached"), "{away}");
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn the_user_and_the_password_of_an_address_are_given_to_the_server() {
    let server = NatsServer::start_with(&["--user", "pombo", "--pass", "p@ss/word"]).await;
    let address = |password: &str| server.url().replace("nats://", &format!("nats://pombo:{password}@"));
    let connection = Nats::connect(&options(&address("p%40ss%2Fword")), None).await.unwrap().unwrap();
    until("the connection", async || connection.is_connected()).await;
    let refused = reach(Carries::All, &options(&address("wrong"))).await.unwrap_err();
    assert!(matches!(refused, Error::Unauthorized(_)), "{refused}");
}

#[test]
fn credentials_that_cannot_be_read_end_the_start_with_a_sentence() {
    let place = Place::new()
        .with("POMBO__SERVER__BIND", "127.0.0.1:0")
        .with("POMBO__NATS__URL", "nats://127.0.0.1:1")
        .with("POMBO__NATS__CREDENTIALS", "absent.creds");
    let run = place.run("serve --json");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("nats.credentials cannot be used"), "{run:?}");
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_stream_for_something_else_is_refused_until_it_takes_events() {
    let server = NatsServer::start().await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let context = jetstream::new(client);
    let other = stream::Config {
        name: "POMBO_EVENTS".to_owned(),
        subjects: vec!["orders.>".to_owned()],
        ..stream::Config::default()
    };
    context.create_stream(other.clone()).await.unwrap();
    let nats = Nats::connect(&options(&server.url()), Some("south")).await.unwrap().unwrap();
    let ours = nats.events(&events());
    until("the connection", async || nats.is_connected()).await;
    let unready = ours.prepare().await.unwrap_err();
    assert!(matches!(unready, Unready::OtherSubjects { .. }), "{unready}");
    assert!(unready.to_string().contains("pombo.south.events.>"), "{unready}");
    let subjects = vec!["orders.>".to_owned(), "pombo.south.>".to_owned()];
    context.update_stream(stream::Config { subjects, ..other }).await.unwrap();
    ours.prepare().await.unwrap();
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_server_without_jetstream_is_named_as_such() {
    let server = NatsServer::start_with(&[]).await;
    let nats = Nats::connect(&options(&server.url()), None).await.unwrap().unwrap();
    until("the connection", async || nats.is_connected()).await;
    assert_eq!(nats.events(&events()).prepare().await, Err(Unready::NoJetStream));
}
