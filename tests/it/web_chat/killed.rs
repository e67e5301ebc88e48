//! The end of a process with messages under way: a graceful one, and one like a crash.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pombo::api::Options;
use pombo::config::Config;
use pombo::connector::web_session::{Driver, MessageId};
use pombo::console;
use pombo::domain::graph::message_key;
use serde_json::{Value, json};

use super::graph::sent;
use super::waiting::{becomes, begin, came, newest, steer, waits};
use super::world::{Sent, World, configure, driver, messages, text, tier};
use super::{MARIA, OTHER};
use crate::graph::{Program, read};
use crate::harness::{Answer, Process, config};
use crate::media::host::Host;
use crate::running::until;

/// The variable with the address of the data and of WhatsApp for the service of another process.
const PLACE: &str = "POMBO_TEST_WEB_CHAT_PLACE";
const NAME: &str = "web_chat::killed::a_service_of_another_process_serves_until_its_input_ends";
/// The text before the address, on a line of its own.
const SERVING: &str = "serving ";

/// The service that the tests below kill. Without a place it serves nobody.
#[tokio::test]
async fn a_service_of_another_process_serves_until_its_input_ends() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let place: Value = serde_json::from_str(&place).unwrap();
    let text = |name: &str| place[name].as_str().unwrap().to_owned();
    let mut config = config();
    configure(&mut config);
    door(&mut config);
    let driver = driver(&text("whatsapp"), &text("media_host"));
    let directory = PathBuf::from(text("directory"));
    let options = Options::default();
    let (driver, pages) = (Some(Arc::new(driver) as Arc<dyn Driver>), console::Options::default());
    let process = Process::start(&text("database"), &directory, config, options, driver, pages).await;
    say(&process.url);
    let until_the_end = || std::io::stdin().read_to_end(&mut Vec::new());
    tokio::task::spawn_blocking(until_the_end).await.unwrap().unwrap();
}

/// Programs that are written for Meta are let in, and do not wait.
fn door(config: &mut Config) {
    (config.graph.enabled, config.graph.wait) = (true, Duration::ZERO);
}

fn say(address: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{SERVING}{address}").unwrap();
}

/// A service in a process of its own; killed when dropped.
struct Other(Child);

impl Other {
    /// Ends the world's own process, and serves its data in the place of it.
    async fn take_over(world: &mut World) -> Self {
        world.service.stop().await;
        world.own.phone.expect_offline().await;
        let logins = world.own.phone.logins();
        let place = json!({
            "database": world.service.universe.url,
            "directory": world.service.directory(),
            "whatsapp": world.whatsapp.url(),
            "media_host": world.whatsapp.media_host(),
        });
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(PLACE, place.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let other = Self(child);
        let address = tokio::task::spawn_blocking(move || {
            let mut lines = output.lines().map_while(Result::ok);
            lines.find_map(|line| line.split_once(SERVING).map(|(_, address)| address.to_owned()))
        });
        world.service.ask_at(address.await.unwrap().expect("the other process serves"));
        world.comes_back(logins).await;
        other
    }

    /// Ends it as a crash does, and lets the world's own process go on.
    async fn kill(mut self, world: &mut World) {
        self.end();
        world.own.phone.expect_offline().await;
        let logins = world.own.phone.logins();
        world.restart().await;
        world.comes_back(logins).await;
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.end();
    }
}

#[tokio::test]
async fn a_message_that_a_crash_left_without_an_answer_is_unknown_and_not_sent_again() {
    let mut world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    let other = Other::take_over(&mut world).await;
    world.own.phone.withhold_acks();
    let (sent, message) = world.arrives(&text(MARIA, "oi")).await;
    world.is_under_way(&sent.send).await;
    other.kill(&mut world).await;
    world.reaches(&sent.send, "unknown").await;

    world.own.phone.give_acks();
    let (later, _) = world.arrives(&text(MARIA, "e agora?")).await;
    world.reaches(&later.send, "sent").await;
    assert_eq!((came(&world, "oi"), world.message(&sent.send).await["state"].as_str()), (1, Some("unknown")));
    maria.gets(&message);
    world.reaches(&sent.send, "delivered").await;
}

#[tokio::test]
async fn a_request_that_a_crash_cut_short_before_the_hand_over_is_carried_out_once_when_it_is_repeated() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let host = Host::body("", b"%PDF-1.7\n").await;
    let body = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": "document", "link": host.link("/x.pdf"),
    });
    let other = Other::take_over(&mut world).await;
    world.whatsapp.hold_uploads();
    let own = world.own.clone();
    let cut_short = begin(&world, &own, "k", &body);
    world.whatsapp.expect_upload().await;
    let send = newest(&world, &own, 1).await;
    other.kill(&mut world).await;
    assert!(cut_short.await.unwrap().is_none());
    world.whatsapp.answer_uploads();

    let mut again = None;
    until("the repeated request to be carried out", async || {
        let answer = begin(&world, &own, "k", &body).await.unwrap().unwrap();
        let is_over = answer.code().as_deref() != Some("idempotency_in_progress");
        again = Some(answer);
        is_over
    })
    .await;
    let again = again.unwrap();
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, ""), "{}", again.body);
    let sent = Sent::new(again.json());
    assert_ne!(sent.send, send);
    world.reaches(&sent.send, "sent").await;
    let replayed = begin(&world, &own, "k", &body).await.unwrap().unwrap();
    assert_eq!(
        (replayed.status, replayed.header("idempotency-replayed")),
        (200, "true"),
        "{}",
        replayed.body
    );
    assert_eq!((replayed.body, world.whatsapp.messages().len()), (again.body, 1));
}

#[tokio::test]
async fn a_request_that_a_crash_cut_short_while_it_waited_is_carried_out_once_when_it_is_repeated() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "once", json!({"pair_interval": "1h", "pair_burst": 1})).await;
    let account = world.account("globex", OTHER, "once").await;
    let other = Other::take_over(&mut world).await;
    account.phone.expect_online().await;
    world.ready(&account).await;
    let first = world.send_by(&account, &text(MARIA, "um")).await;
    world.whatsapp.expect_message(&first.id).await;
    let cut_short = begin(&world, &account, "k", &text(MARIA, "dois"));
    let send = newest(&world, &account, 2).await;
    waits(&world, &account, &send).await;
    let logins = account.phone.logins();
    other.kill(&mut world).await;
    assert!(cut_short.await.unwrap().is_none());
    world.returns(&account, logins).await;

    let again = begin(&world, &account, "k", &text(MARIA, "dois")).await.unwrap().unwrap();
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, ""), "{}", again.body);
    becomes(&world, &account, &send, "expired").await;
    world.whatsapp.expect_message(&Sent::new(again.json()).id).await;
    assert_eq!(came(&world, "dois"), 1);
}

#[tokio::test]
async fn a_message_of_a_program_that_waited_for_its_turn_during_a_crash_goes_once() {
    let mut world = World::linked_with(door).await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "slow", json!({"messages_per_second": "12/min", "burst": 1})).await;
    let account = world.account("globex", OTHER, "slow").await;
    let other = Other::take_over(&mut world).await;
    account.phone.expect_online().await;
    world.ready(&account).await;
    let program = Program::new(world.service.url(), &account.company.key);
    let path = program.messages().await;
    let first = sent(&program, &path, json!({"text": {"body": "um"}})).await;
    world.whatsapp.expect_message(first.as_str()).await;
    let body = json!({"to": MARIA, "text": {"body": "dois"}});
    let ask = async |program: &Program| {
        let request = program.request(reqwest::Method::POST, &path).header("idempotency-key", "k");
        read(request.json(&body)).await
    };
    let answered = ask(&program).await;
    assert_eq!(answered.0, 200, "{}", answered.1);
    let id = answered.1["messages"][0]["id"].as_str().unwrap().to_owned();
    let send = newest(&world, &account, 2).await;
    // It would go some seconds later.
    assert_eq!(steer(&world, &account, &send, "pause").await.status, 200);
    tier(world.service.store(), "slow", json!({})).await;
    let logins = account.phone.logins();
    other.kill(&mut world).await;
    world.returns(&account, logins).await;

    let program = Program::new(world.service.url(), &account.company.key);
    assert_eq!(ask(&program).await, answered, "a repetition gets the same message");
    becomes(&world, &account, &send, "paused").await;
    assert_eq!((came(&world, "dois"), steer(&world, &account, &send, "resume").await.status), (0, 200));
    let message = MessageId::of_send(message_key(&id).unwrap().send_id);
    world.whatsapp.expect_message(message.as_str()).await;
    becomes(&world, &account, &send, "finished").await;
    assert_eq!(came(&world, "dois"), 1);
}

#[tokio::test]
async fn a_request_that_was_answered_before_a_crash_is_answered_alike_whatever_is_known_of_its_message() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let own = world.own.clone();
    let other = Other::take_over(&mut world).await;
    own.phone.withhold_acks();
    let first = begin(&world, &own, "k", &text(MARIA, "oi")).await.unwrap().unwrap();
    assert_eq!(first.status, 200, "{}", first.body);
    let sent = Sent::new(first.json());
    world.whatsapp.expect_message(&sent.id).await;
    other.kill(&mut world).await;
    own.phone.give_acks();
    world.reaches(&sent.send, "unknown").await;
    let again = begin(&world, &own, "k", &text(MARIA, "oi")).await.unwrap().unwrap();
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, "true"), "{}", again.body);
    assert_eq!((again.body, came(&world, "oi")), (first.body, 1));
}

#[tokio::test]
async fn messages_that_were_answered_before_a_crash_are_all_accounted_for_and_none_goes_twice() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let other = Other::take_over(&mut world).await;
    let words: Vec<_> = (0..6).map(|number| format!("número {number}")).collect();
    let bodies: Vec<_> = words.iter().map(|words| text(MARIA, words)).collect();
    let sent = join_all(bodies.iter().map(|body| world.send(body))).await;
    other.kill(&mut world).await;

    for sent in &sent {
        until("every message accounted for", async || {
            let state = world.message(&sent.send).await["state"].clone();
            ["sent", "unknown"].contains(&state.as_str().unwrap())
        })
        .await;
    }
    let (later, _) = world.arrives(&text(MARIA, "e agora?")).await;
    world.reaches(&later.send, "sent").await;
    for words in &words {
        assert!(came(&world, words) <= 1, "{words}");
    }
}

#[tokio::test]
async fn messages_answered_before_a_graceful_stop_have_arrived_and_are_sent() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let words: Vec<_> = (0..6).map(|number| format!("número {number}")).collect();
    let bodies: Vec<_> = words.iter().map(|words| text(MARIA, words)).collect();
    let sent = join_all(bodies.iter().map(|body| world.send(body))).await;
    world.service.stop().await;
    for words in &words {
        assert_eq!(came(&world, words), 1, "{words}");
    }
    world.restart().await;
    for sent in &sent {
        assert_eq!(world.message(&sent.send).await["state"], "sent");
    }
}

#[tokio::test]
async fn messages_requested_during_a_graceful_stop_are_sent_or_refused() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let (path, key) = (messages(&world.own), world.own.company.key.clone());
    let asked: Vec<_> = (0..6)
        .map(|number| {
            let body = text(MARIA, &format!("número {number}")).to_string();
            let request = world.service.request(reqwest::Method::POST, &path).bearer_auth(&key).body(body);
            tokio::spawn(async move {
                match request.send().await {
                    Ok(response) => Some(Answer::read(response).await),
                    // It no longer listens.
                    Err(_) => None,
                }
            })
        })
        .collect();
    until("the first message", async || !world.whatsapp.messages().is_empty()).await;
    world.service.stop().await;
    let answers: Vec<_> = join_all(asked).await.into_iter().map(Result::unwrap).collect();
    world.restart().await;
    for (number, answer) in answers.into_iter().enumerate() {
        let words = format!("número {number}");
        match answer {
            Some(answer) if answer.status == 200 => {
                assert_eq!(came(&world, &words), 1, "{}", answer.body);
                let sent = Sent::new(answer.json());
                assert_eq!(world.message(&sent.send).await["state"], "sent");
            }
            Some(answer) => assert!([409, 503].contains(&answer.status), "{} {}", answer.status, answer.body),
            None => assert_eq!(came(&world, &words), 0),
        }
    }
}
