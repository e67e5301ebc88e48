//! The program itself, killed and starved in the middle of its work: nothing accepted is lost.

use std::collections::BTreeSet;

use pombo::clock::Timestamp;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use serde_json::json;

use crate::child::OwnedChild;
use crate::database::{Universe, stores};
use crate::running::until;
use crate::serving::{IN_FLIGHT, SERVE, Serving};

const CONTACTS: u64 = 6_000;
/// Times that the service is killed.
const KILLS: u64 = 3;

stores!(
    a_service_killed_in_mid_send_loses_nothing_and_repeats_at_most_what_was_in_flight,
    a_second_service_on_the_same_database_is_refused,
);

async fn a_service_killed_in_mid_send_loses_nothing_and_repeats_at_most_what_was_in_flight(
    universe: &Universe,
) {
    let mut serving = Serving::new(universe, CONTACTS, "unlimited").await;
    let (mut child, url) = serving.serve().await;
    let answer = serving.send(&url).await;
    assert_eq!((answer.status, &answer.json()["recipients_count"]), (202, &json!(CONTACTS)));
    for kill in 1..=KILLS {
        let enough = kill * CONTACTS / (KILLS + 2);
        until("messages before the kill", async || serving.figures().1 >= enough).await;
        child.crash();
        (child, _) = serving.serve().await;
    }
    until("every recipient reached", async || serving.figures().1 == CONTACTS).await;
    until("the send finished", async || universe.store.channels().working().await.unwrap().is_empty()).await;
    let (messages, recipients) = serving.figures();
    assert_eq!(recipients, CONTACTS);
    assert!(messages - recipients <= KILLS * IN_FLIGHT, "{messages} messages to {recipients} recipients");
    child.crash();
    serving.simulator.stop().await;
}

async fn a_second_service_on_the_same_database_is_refused(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let (mut child, _) = serving.serve().await;
    let second = serving.place.run(SERVE);
    assert_eq!(second.code, Some(1));
    assert!(second.stderr.contains("another `pombo serve`"), "{}", second.stderr);
    child.crash();
    serving.simulator.stop().await;
}

/// The same command, unable to make any file larger than this: writes beyond it fail as on a full disk.
#[cfg(target_os = "linux")]
fn on_a_full_disk(command: &std::process::Command, kibibytes: u64) -> std::process::Command {
    let mut limited = std::process::Command::new("bash");
    // An ignored signal stays ignored in the program: it sees the failed write instead.
    limited.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", &kibibytes.to_string()]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.stdout(std::process::Stdio::piped());
    limited
}

/// Serves with room for some more records.
#[cfg(target_os = "linux")]
async fn serve_on_a_full_disk(universe: &Universe, serving: &mut Serving) -> (OwnedChild, String) {
    // The last connection that closes copies the log into the database and removes it. A remaining log would have its
    // space already, and could be written although the disk is full.
    universe.store.clone().close().await;
    let path = std::path::Path::new(universe.url.trim_start_matches("sqlite://")).to_owned();
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let largest = files.map(|file| file.unwrap().metadata().unwrap().len()).max().unwrap();
    let command = on_a_full_disk(&serving.place.command(SERVE), largest / 1024 + 100);
    serving.serve_as(command).await
}

#[cfg(target_os = "linux")]
#[actix_web::test]
async fn a_full_disk_refuses_sends_and_loses_none_that_were_accepted() {
    let universe = Universe::sqlite().await;
    let mut serving = Serving::new(&universe, 1, "unlimited").await;
    let (mut child, url) = serve_on_a_full_disk(&universe, &mut serving).await;

    let single = |number: u64| json!({ "type": "text", "message": "hi", "phone_number": number });
    let mut accepted = BTreeSet::new();
    let (mut next, mut refusals) = (5_521_900_000_000_u64, 0);
    while refusals < 5 {
        let answer = serving.send_through(&serving.channel, &url, &single(next)).await;
        match answer.status {
            202 => assert!(accepted.insert(next)),
            503 => {
                assert_eq!(answer.code().as_deref(), Some("service_unavailable"));
                assert_ne!(answer.header("retry-after").parse::<u64>().unwrap(), 0);
                refusals += 1;
            }
            other => panic!("{other}: {}", answer.body),
        }
        assert!(accepted.len() < 1_000, "the disk never filled");
        next += 1;
    }
    assert!(!accepted.is_empty(), "the disk was full from the start");
    assert_eq!(serving.list(&url, "/api/v1/contacts").await.status, 200, "existing records can be read");
    child.crash();

    let (mut child, url) = serving.serve().await;
    assert_eq!(serving.send_through(&serving.channel, &url, &single(next)).await.status, 202);
    accepted.insert(next);
    let store = pombo::store::Store::open(&universe.options()).await.unwrap();
    until("the sends finished", async || store.channels().working().await.unwrap().is_empty()).await;
    let messages = serving.simulator.messages(0, 100_000);
    let reached: BTreeSet<u64> = messages.iter().map(|message| message.to.parse().unwrap()).collect();
    assert_eq!(reached, accepted);
    assert!(messages.len() - reached.len() <= usize::try_from(IN_FLIGHT).unwrap(), "{}", messages.len());
    child.crash();
    serving.simulator.stop().await;
    store.close().await;
    universe.end().await;
}

/// The provider's ids of all messages that people wrote, in their order.
#[cfg(target_os = "linux")]
async fn heard(universe: &Universe) -> Vec<String> {
    let database = Database::connect(&universe.url).await.unwrap();
    let sql = "SELECT provider_id FROM conversation_message ORDER BY provider_id";
    let statement = Statement::from_string(database.get_database_backend(), sql);
    let rows = database.query_all_raw(statement).await.unwrap();
    database.close().await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

#[cfg(target_os = "linux")]
#[actix_web::test]
async fn a_full_disk_confirms_no_message_that_is_not_kept_and_keeps_what_is_repeated_once() {
    let universe = Universe::sqlite().await;
    let mut serving = Serving::new(&universe, 1, "unlimited").await;
    let (mut child, url) = serve_on_a_full_disk(&universe, &mut serving).await;
    let at = (Timestamp::now().millis() / 1_000).to_string();
    let id = |nth: usize| format!("wamid.{nth:04}");
    let text = |nth: usize| {
        json!({
            "from": "5511900000001", "id": id(nth), "timestamp": at, "type": "text",
            "text": { "body": format!("text {nth}") },
        })
    };
    let (mut confirmed, mut refused) = (Vec::new(), Vec::new());
    while refused.len() < 5 {
        let next = confirmed.len() + refused.len();
        let answer = serving.tell(&url, &[text(next)]).await;
        match answer.status {
            200 => confirmed.push(id(next)),
            503 => refused.push(next),
            other => panic!("{other}: {}", answer.body),
        }
        assert!(confirmed.len() < 1_000, "the disk never filled");
    }
    assert!(!confirmed.is_empty(), "the disk was full from the start");
    child.crash();

    let (mut child, url) = serving.serve().await;
    let kept = heard(&universe).await;
    assert!(confirmed.iter().all(|id| kept.contains(id)), "{confirmed:?}, and {kept:?} are kept");
    let count = confirmed.len() + refused.len();
    // The provider repeats what was not confirmed, and what it takes for unconfirmed.
    for nth in refused.into_iter().chain(0..count) {
        let answer = serving.tell(&url, &[text(nth)]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    assert_eq!(heard(&universe).await, (0..count).map(id).collect::<Vec<_>>());
    child.crash();
    serving.simulator.stop().await;
    universe.end().await;
}
