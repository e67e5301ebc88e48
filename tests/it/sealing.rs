//! The sealing key is rotated while a service runs on it, on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::join;
use futures_util::poll;
use hmac::{Hmac, KeyInit as _, Mac as _};
use pombo::app::App;
use pombo::app::sealing_keys::{self, KeyState};
use pombo::config::Config;
use pombo::connector::web_session::{Change, Record, Records as _};
use pombo::engine::web_session::SessionRecords;
use pombo::store::changes::Who;
use pombo::store::sealed::{Kind, Place};
use pombo::vault::{self, Vault};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, DbBackend, TransactionTrait as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{APP_SECRET, NUMBER, until, until_soon};
use crate::serving::{OTHER_NUMBER, SERVE, Serving};

stores!(
    a_running_service_goes_on_while_the_key_is_rotated,
    a_session_that_writes_loses_nothing_to_a_rotation,
    a_rotation_waits_for_records_that_a_session_has_sealed_but_not_written,
    a_rotation_does_not_overwrite_a_record_that_changed_since_it_was_read,
    additions_by_the_command_line_are_in_the_record_of_changes,
    a_channel_whose_token_cannot_be_opened_is_disconnected_before_anybody_sends,
);

/// More values than a few batches hold.
const RECORDS: u64 = 350;

async fn operator(
    serving: &Serving,
    url: &str,
    key: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> Answer {
    let request = reqwest::Client::new().request(method, format!("{url}/operator/v1{path}")).bearer_auth(key);
    let answer = Answer::to(request.json(body)).await;
    assert_eq!(answer.status, 200, "{path}: {} {}", answer.body, serving.channel);
    answer
}

/// The status of the answer to an empty webhook, signed with the app secret.
async fn webhook(serving: &Serving, url: &str) -> u16 {
    let body = json!({ "object": "whatsapp_business_account", "entry": [] }).to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
    let request = reqwest::Client::new().post(format!("{url}/hooks/meta/{}", serving.channel)).body(body);
    request.header("X-Hub-Signature-256", signature).send().await.unwrap().status().as_u16()
}

async fn handshake(serving: &Serving, url: &str, word: &str) -> u16 {
    let query = [("hub.mode", "subscribe"), ("hub.challenge", "1"), ("hub.verify_token", word)];
    let request = reqwest::Client::new().get(format!("{url}/hooks/meta/{}", serving.channel)).query(&query);
    request.send().await.unwrap().status().as_u16()
}

async fn deliver(serving: &Serving, url: &str, number: u64) {
    let before = serving.simulator.number(NUMBER).unwrap().messages;
    let text = json!({ "type": "text", "message": "hi", "phone_number": number });
    let answer = serving.send_through(&serving.channel, url, &text).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    until("the message delivered", async || serving.simulator.number(NUMBER).unwrap().messages > before)
        .await;
}

async fn a_running_service_goes_on_while_the_key_is_rotated(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let word = serving.place.json(&format!("channel webhook {}", serving.channel))["verify_token"].clone();
    let word = word.as_str().unwrap().to_owned();
    let ana = serving.place.json("operator create ana")["key"].as_str().unwrap().to_owned();
    let (mut child, url) = serving.serve().await;
    deliver(&serving, &url, 5_511_900_000_001).await;
    assert_eq!((webhook(&serving, &url).await, handshake(&serving, &url, &word).await), (200, 200));

    let rotated = serving.place.json("secrets rotate");
    assert_eq!(rotated["retired"].as_array().unwrap().len(), 1);
    // The channel changes, so that the service reads its secrets again: they are under a key that it has not seen yet.
    let path = format!("/channels/{}/tier", serving.channel);
    operator(&serving, &url, &ana, Method::PUT, &path, &json!({ "tier": "high" })).await;
    until_soon("the change taken up", async || {
        let shown = operator(&serving, &url, &ana, Method::GET, "/channels", &Value::Null).await.json();
        shown["data"][0]["tier"] == "high"
    })
    .await;
    assert_eq!((webhook(&serving, &url).await, handshake(&serving, &url, &word).await), (200, 200));
    // A token that the service seals is under the new key.
    let path = format!("/channels/{}/reconnect", serving.channel);
    operator(&serving, &url, &ana, Method::POST, &path, &json!({ "token": "EAAG-good" })).await;
    deliver(&serving, &url, 5_511_900_000_002).await;
    let keys = serving.place.json("secrets list");
    assert_eq!((keys.as_array().unwrap().len(), &keys[0]["id"]), (2, &rotated["key"]), "{keys}");
    // The former key is discarded while the service runs.
    let former = keys[1]["id"].as_str().unwrap();
    assert_eq!(serving.place.json(&format!("secrets discard {former}"))["discarded"], json!([former]));
    assert_eq!((webhook(&serving, &url).await, handshake(&serving, &url, &word).await), (200, 200));
    let counts = ["tokens", "app_secrets", "verify_tokens"].map(|kind| keys[0][kind].as_u64());
    assert_eq!(counts, [Some(1); 3]);

    child.crash();
    let (mut child, url) = serving.serve().await;
    deliver(&serving, &url, 5_511_900_000_003).await;
    assert_eq!((webhook(&serving, &url).await, handshake(&serving, &url, &word).await), (200, 200));
    let changes =
        operator(&serving, &url, &ana, Method::GET, "/changes?limit=1000", &Value::Null).await.json();
    let of_keys: Vec<_> =
        changes["data"].as_array().unwrap().iter().filter(|one| one["what"] == "sealing_key").collect();
    let after: Vec<_> = of_keys.iter().map(|one| &one["after"]).collect();
    assert_eq!(after, ["discarded", "retired", "current"], "{changes}");
    child.crash();
    serving.simulator.stop().await;
}

fn app(universe: &Universe, directory: &TempDir) -> App {
    let config = Config::default();
    let vault = Vault::open(&config.secrets, directory.path()).unwrap().0;
    App { config, store: universe.store.clone(), vault: Arc::new(vault) }
}

fn put(key: &str, value: &[u8]) -> Change {
    let record = Record { key: key.to_owned(), value: value.to_vec(), mark: 0 };
    Change::Put { namespace: "session".to_owned(), record }
}

/// A service's session rewrites its records again and again while the command rotates the key three times.
async fn a_session_that_writes_loses_nothing_to_a_rotation(universe: &Universe) {
    let directory = tempfile::tempdir().unwrap();
    let (service, channel) = (app(universe, &directory).vault, Uuid::now_v7());
    let session = SessionRecords::new(universe.store.clone(), service, channel);
    session.apply((0..RECORDS).map(|key| put(&key.to_string(), b"first")).collect()).await.unwrap();
    let (done, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let writing = async {
        while !done.load(Ordering::Relaxed) {
            let round = written.load(Ordering::Relaxed) + 1;
            let keys = (round * 7 % RECORDS..RECORDS).step_by(50);
            session.apply(keys.map(|key| put(&key.to_string(), b"later")).collect()).await.unwrap();
            written.store(round, Ordering::Relaxed);
        }
    };
    let rotating = async {
        let command = app(universe, &directory);
        for rotation in 1..=3 {
            until_soon("a write of the session", async || written.load(Ordering::Relaxed) > 0).await;
            written.store(0, Ordering::Relaxed);
            let rotated = sealing_keys::rotate(&command, &Who::Pombo).await.unwrap();
            assert!(rotated.resealed.session_records > 0 && rotated.unopened == 0, "{rotated:?}");
            assert_eq!(rotated.retired.len(), rotation, "all former keys are kept");
            let newest = &rotated.retired[0].to_string();
            if rotation == 3 {
                for kept in &rotated.retired {
                    sealing_keys::discard(&command, &Who::Pombo, &kept.to_string()).await.unwrap();
                }
                assert!(sealing_keys::discard(&command, &Who::Pombo, newest).await.is_err(), "it is gone");
            }
        }
        done.store(true, Ordering::Relaxed);
    };
    join(writing, rotating).await;

    // A process that knows only the newest key opens everything.
    let later = app(universe, &directory);
    let keys = sealing_keys::list(&later).await.unwrap();
    assert_eq!(
        (keys.len(), keys[0].state, keys[0].counts.session_records),
        (1, KeyState::Current, RECORDS),
        "{keys:?}"
    );
    let session = SessionRecords::new(universe.store.clone(), later.vault, channel);
    let records = session.list("session").await.unwrap();
    assert_eq!(records.len() as u64, RECORDS);
    assert!(
        records.iter().all(|record| [b"first", b"later"].contains(&record.value[..].try_into().unwrap()))
    );
    assert!(records.iter().any(|record| record.value == b"later"));
}

async fn a_rotation_waits_for_records_that_a_session_has_sealed_but_not_written(universe: &Universe) {
    let directory = tempfile::tempdir().unwrap();
    let (service, channel) = (app(universe, &directory).vault, Uuid::now_v7());
    let session = SessionRecords::new(universe.store.clone(), Arc::clone(&service), channel);
    let first = service.current_key();
    let outside = Database::connect(&universe.url).await.unwrap();
    let lock = outside.begin().await.unwrap();
    let sql = match lock.get_database_backend() {
        DbBackend::Postgres => "LOCK TABLE web_session_record IN ACCESS EXCLUSIVE MODE",
        _ => "DELETE FROM web_session_record WHERE mark = -1",
    };
    lock.execute_unprepared(sql).await.unwrap();
    let mut writing = std::pin::pin!(session.apply(vec![put("a", b"first")]));
    assert!(poll!(writing.as_mut()).is_pending());

    let command = app(universe, &directory);
    let mut adding = std::pin::pin!(command.vault.add_key());
    until_soon("the new key in the file", async || {
        assert!(poll!(adding.as_mut()).is_pending(), "the command did not wait");
        service.current_key() != first
    })
    .await;
    assert!(poll!(adding.as_mut()).is_pending(), "the command did not wait");
    lock.rollback().await.unwrap();
    writing.await.unwrap();
    assert_eq!(adding.await.unwrap(), service.current_key());
    let rotated = sealing_keys::rotate(&command, &Who::Pombo).await.unwrap();
    assert_eq!((rotated.resealed.session_records, rotated.retired), (1, vec![first]));
    let keys = sealing_keys::list(&command).await.unwrap();
    assert_eq!((keys.len(), keys[0].counts.session_records), (2, 1), "{keys:?}");
    outside.close().await.unwrap();
}

async fn a_rotation_does_not_overwrite_a_record_that_changed_since_it_was_read(universe: &Universe) {
    let store = &universe.store;
    let channel = Uuid::now_v7();
    let record = |key: &str, value: u8| pombo::domain::web_session::Record {
        key: key.to_owned(),
        value: [&[2; 9][..], &[value; 40]].concat(),
        mark: 5,
    };
    let change = |key: &str, value| {
        let namespace = "session".to_owned();
        [pombo::domain::web_session::Change::Put { namespace, record: record(key, value) }]
    };
    for key in ["a", "b", "c"] {
        store.web_sessions().change(channel, &change(key, 1)).await.unwrap();
    }
    let beginning = vault::beginning(app(universe, &tempfile::tempdir().unwrap()).vault.current_key());
    let first = store.sealed().otherwise(Kind::SessionRecord, &beginning, &Place::first(), 2).await.unwrap();
    assert_eq!(first.iter().map(|value| value.place.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let rest = store.sealed().otherwise(Kind::SessionRecord, &beginning, &first[1].place, 2).await.unwrap();
    assert_eq!(rest.iter().map(|value| value.place.key.as_str()).collect::<Vec<_>>(), ["c"]);

    store.web_sessions().change(channel, &change("a", 7)).await.unwrap();
    let fresh = [&beginning[..], &[9; 40]].concat();
    let values: Vec<_> = first.into_iter().map(|value| (value, fresh.clone())).collect();
    assert_eq!(store.sealed().reseal(Kind::SessionRecord, &values).await.unwrap(), 1);
    let mut rows = store.web_sessions().namespace(channel, "session").await.unwrap();
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    assert_eq!(rows[0], record("a", 7));
    assert_eq!((&rows[1].value, rows[1].mark), (&fresh, 5));
    assert_eq!(rows[2], record("c", 1));
}

async fn additions_by_the_command_line_are_in_the_record_of_changes(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let id = serving.place.json("key list")[0]["id"].as_str().unwrap().to_owned();
    let company = serving.place.json("company list")[0]["id"].as_str().unwrap().to_owned();
    let web = serving.place.json("channel add-web --company Acme --name Phone");
    serving
        .place
        .json_with("new-secret", &format!("channel webhook {} --app-secret-file -", serving.channel));
    let ana = serving.place.json("operator create ana")["key"].as_str().unwrap().to_owned();
    let (mut child, url) = serving.serve().await;
    let recorded = async |subject: &str| {
        let path = format!("/changes?subject={subject}");
        let body = operator(&serving, &url, &ana, Method::GET, &path, &Value::Null).await.json();
        let changes = body["data"].as_array().unwrap().clone();
        assert!(changes.iter().all(|change| change["who"].as_str().unwrap().starts_with("cli:")), "{body}");
        changes.iter().map(|one| json!([one["what"], one["before"], one["after"]])).collect::<Vec<_>>()
    };
    assert_eq!(recorded(&company).await, [json!(["company", null, { "name": "Acme", "tier": "standard" }])]);
    let given = recorded(&serving.channel).await;
    assert_eq!(given[0], json!(["channel.app_secret", null, "replaced"]));
    assert_eq!((&given[1][0], &given[1][2]["phone_number_id"]), (&json!("channel"), &json!(NUMBER)));
    let linked = recorded(web["id"].as_str().unwrap()).await;
    assert_eq!((linked.len(), &linked[0][2]["kind"]), (1, &json!("web_session")));
    let key = recorded(&id).await;
    assert_eq!(
        (&key[0][0], &key[0][2]["status"], &key[0][2]["name"]),
        (&json!("key"), &json!("valid"), &json!("default"))
    );
    assert_eq!(key[0][2]["company_id"], company);
    assert_eq!(serving.place.run(&format!("key revoke {id}")).code, Some(0));
    assert_eq!(recorded(&id).await[0], json!(["key", "valid", "revoked"]));

    let all = operator(&serving, &url, &ana, Method::GET, "/changes?limit=1000", &Value::Null).await.body;
    for secret in [serving.key.as_str(), ana.as_str(), "EAAG-good", APP_SECRET, "new-secret"] {
        assert!(!all.contains(secret), "{secret} is in the record");
    }
    child.crash();
    serving.simulator.stop().await;
}

async fn a_channel_whose_token_cannot_be_opened_is_disconnected_before_anybody_sends(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let other = serving.add_channel(OTHER_NUMBER, "unlimited");
    let connected = ("connected".to_owned(), Value::Null);
    let mut command = serving.place.command(SERVE);
    let (mut child, url) = serving.serve_as(command).await;
    until_soon("both channels connected", async || {
        status(&serving, &url, &serving.channel).await == connected
            && status(&serving, &url, &other).await == connected
    })
    .await;
    child.crash();

    // The token of the other channel does not open for this one.
    let outside = Database::connect(&universe.url).await.unwrap();
    let sql = format!(
        "UPDATE channel SET token = (SELECT token FROM channel AS other WHERE other.phone_number_id = '{OTHER_NUMBER}') \
         WHERE phone_number_id = '{NUMBER}'"
    );
    assert_eq!(outside.execute_unprepared(&sql).await.unwrap().rows_affected(), 1);
    outside.close().await.unwrap();
    command = serving.place.command(SERVE);
    let (mut child, url) = serving.serve_as(command).await;
    let lost = ("disconnected".to_owned(), json!("no_usable_token"));
    until_soon("the channel disconnected", async || status(&serving, &url, &serving.channel).await == lost)
        .await;
    assert_eq!(status(&serving, &url, &other).await, connected);
    let text = json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" });
    let refused = serving.send_through(&serving.channel, &url, &text).await;
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (400, &json!("reconnect_waba")),
        "{}",
        refused.body
    );
    assert_eq!(serving.send_through(&other, &url, &text).await.status, 202);
    until_soon("the command line", async || {
        let listed = serving.place.json("channel list");
        let found =
            listed.as_array().unwrap().iter().find(|one| one["id"] == *serving.channel).unwrap().clone();
        found["status"] == "disconnected"
    })
    .await;
    child.crash();
    serving.simulator.stop().await;
}

/// The status of a channel and the code of its reason, as the company sees them.
async fn status(serving: &Serving, url: &str, channel: &str) -> (String, Value) {
    let listed = serving.list(url, "/api/v1/chat").await.json();
    let found = listed["data"].as_array().unwrap().iter().find(|one| one["id"] == channel).unwrap().clone();
    (found["status"].as_str().unwrap().to_owned(), found["status_reason"]["code"].clone())
}
