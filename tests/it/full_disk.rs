//! A database that has no room for what people write: nothing is confirmed before it is there, and what is repeated is there once.

use pombo::clock::Timestamp;
use sea_orm::{ConnectionTrait as _, Database, DbBackend};
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::receipts::teller::Teller;
use crate::running::{NUMBER, Running, until};

stores!(what_finds_no_room_is_refused_and_is_there_once_when_the_provider_repeats_it);

const ANA: &str = "5511900000001";

/// From now on, each message that somebody writes finds the disk of the database full.
pub(crate) async fn fill(url: &str) {
    let database = Database::connect(url).await.unwrap();
    let statements: &[&str] = match database.get_database_backend() {
        DbBackend::Postgres => &[
            "CREATE FUNCTION no_room() RETURNS trigger AS $$ BEGIN \
             RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$ LANGUAGE plpgsql",
            "CREATE TRIGGER finds_no_room BEFORE INSERT ON conversation_message \
             FOR EACH ROW EXECUTE FUNCTION no_room()",
        ],
        // SQLite's answer for a table whose keys are used up is that for a full disk.
        _ => &[
            "CREATE TABLE no_room (id INTEGER PRIMARY KEY AUTOINCREMENT)",
            "INSERT INTO no_room (id) VALUES (9223372036854775807)",
            "CREATE TRIGGER finds_no_room BEFORE INSERT ON conversation_message \
             BEGIN INSERT INTO no_room (id) VALUES (NULL); END",
        ],
    };
    for sql in statements {
        database.execute_unprepared(sql).await.unwrap();
    }
    database.close().await.unwrap();
}

/// There is room again.
pub(crate) async fn free(url: &str) {
    let database = Database::connect(url).await.unwrap();
    let sql = match database.get_database_backend() {
        DbBackend::Postgres => "DROP TRIGGER finds_no_room ON conversation_message",
        _ => "DROP TRIGGER finds_no_room",
    };
    database.execute_unprepared(sql).await.unwrap();
    database.close().await.unwrap();
}

/// The lines of the only conversation, as the API lists them.
async fn lines(running: &Running) -> Vec<Value> {
    let list = running.ask(reqwest::Method::GET, "/api/v1/conversations", &Value::Null).await.json();
    let path = format!("/api/v1/conversations/{}/messages", list["data"][0]["id"].as_str().unwrap());
    let thread = running.ask(reqwest::Method::GET, &path, &Value::Null).await.json();
    thread["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["received"]["content"]["body"].clone())
        .collect()
}

async fn what_finds_no_room_is_refused_and_is_there_once_when_the_provider_repeats_it(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (teller, now) = (Teller::new(&running), Timestamp::now().millis() / 1_000);
    let text = |nth: i64| {
        json!({
            "from": ANA, "id": format!("wamid.{nth}"), "timestamp": (now - 9 + nth).to_string(),
            "type": "text", "text": { "body": format!("text {nth}") },
        })
    };
    let contacts = json!([{ "profile": { "name": "Ana" }, "wa_id": ANA }]);
    let tell = async |messages: &[Value]| {
        let value = json!({ "contacts": contacts, "messages": messages });
        teller.tell(running.channel, NUMBER, &value).await
    };
    assert_eq!(tell(&[text(1)]).await.status, 200);
    fill(&universe.url).await;
    for messages in [&[text(2)][..], &[text(2), text(3)]] {
        let refused = tell(messages).await;
        assert_eq!((refused.status, refused.code().as_deref()), (503, Some("service_unavailable")));
        assert_ne!(refused.header("retry-after").parse::<u64>().unwrap(), 0);
    }
    // What it has can be repeated and read.
    assert_eq!(lines(&running).await, [json!("text 1")]);
    free(&universe.url).await;
    let repeated = [text(2), text(3)];
    until("what is repeated taken", async || tell(&repeated).await.status == 200).await;
    for again in [&[text(3), text(1)][..], &repeated] {
        assert_eq!(tell(again).await.status, 200);
    }
    let all = [1, 2, 3].map(|nth| json!(format!("text {nth}")));
    assert_eq!(lines(&running).await, all);
    running.end().await;
}
