//! Imports of uploaded files in a service that is killed, and uploads that break off.

use std::io::Write as _;
use std::net::TcpStream;

use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection};
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{Running, until};
use crate::serving::Serving;

stores!(
    an_import_goes_on_where_a_killed_service_was,
    an_upload_that_breaks_off_leaves_nothing,
    companies_import_in_turns,
    an_import_that_lost_a_piece_or_a_row_is_failed_and_never_finished,
    the_rest_of_an_upload_is_removed_at_the_next_start,
);

/// Enough for many steps on either database.
const ROWS: u64 = 20_000;

fn file(rows: u64) -> String {
    let row = |row: u64| format!("Ana {row},+55 11 9{row:08}\n");
    format!("Nome,Telefone\n{}", (0..rows).map(row).collect::<String>())
}

async fn count(rows: &DatabaseConnection, of: &str) -> i64 {
    let statement =
        sea_orm::Statement::from_string(rows.get_database_backend(), format!("SELECT COUNT(*) FROM {of}"));
    rows.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

async fn post(url: &str, key: &str, body: impl Into<reqwest::Body>) -> Value {
    let answer = Answer::to(reqwest::Client::new().post(url).bearer_auth(key).body(body)).await;
    assert!((200..300).contains(&answer.status), "{}", answer.body);
    answer.json()
}

fn mapping() -> String {
    let columns = json!([
        {"column": "Nome", "field": "first_name"},
        {"column": "Telefone", "field": "phone_number"},
    ]);
    json!({"columns": columns, "tags": ["feira"], "action": "start"}).to_string()
}

async fn an_import_goes_on_where_a_killed_service_was(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let (mut child, url) = serving.serve().await;
    let imports = format!("{url}/api/v1/contacts/imports");
    let uploaded = post(&imports, &serving.key, file(ROWS)).await;
    assert_eq!((&uploaded["state"], &uploaded["preview"]["looked_at"]), (&json!("ready"), &json!(500)));
    let id = uploaded["id"].as_str().unwrap().to_owned();
    assert_eq!(post(&format!("{imports}/{id}"), &serving.key, mapping()).await["state"], "running");
    let path = format!("/api/v1/contacts/imports/{id}");
    until("some rows written", async || count(&rows, "contact").await > 0).await;
    child.crash();
    let written = count(&rows, "contact").await;
    assert!(written > 0 && written < ROWS.cast_signed(), "{written} are written");

    let (mut child, url) = serving.serve().await;
    until("the import over", async || {
        let import = serving.list(&url, &path).await.json();
        assert!(import["rows"].as_i64().unwrap() >= written, "written rows are not read again: {import}");
        import["state"] == "finished"
    })
    .await;
    let import = serving.list(&url, &path).await.json();
    assert_eq!((&import["created"], &import["unchanged"]), (&json!(ROWS), &json!(0)), "{import}");
    assert_eq!(import["bytes_read"], import["bytes"]);
    assert_eq!(count(&rows, "contact").await, ROWS.cast_signed());
    let tags = serving.list(&url, "/api/v1/contacts/tags").await.json();
    assert_eq!(tags["data"][0]["_count"]["contact_tag"], ROWS, "{tags}");
    let found = serving.list(&url, "/api/v1/contacts?search=ana%2019999").await.json();
    assert_eq!(found["totalRecords"], 1);
    until("the file gone", async || count(&rows, "contact_import_chunk").await == 0).await;
    child.crash();
    serving.simulator.stop().await;
}

async fn an_upload_that_breaks_off_leaves_nothing(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let (mut child, url) = serving.serve().await;
    let address = url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = format!(
        "POST /api/v1/contacts/imports HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {}\r\nContent-Length: 9000000\r\n\r\n",
        serving.key
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(file(30_000).as_bytes()).unwrap();
    until("a part of the upload stored", async || count(&rows, "contact_import_chunk").await > 0).await;
    drop(stream);
    until("the upload removed", async || {
        count(&rows, "contact_import_chunk").await == 0 && count(&rows, "contact_import").await == 0
    })
    .await;
    let listed = serving.list(&url, "/api/v1/contacts/imports").await.json();
    assert_eq!(listed["totalRecords"], 0);
    child.crash();
    serving.simulator.stop().await;
}

async fn the_rest_of_an_upload_is_removed_at_the_next_start(universe: &Universe) {
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let (mut child, url) = serving.serve().await;
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /api/v1/contacts/imports HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {}\r\nContent-Length: 9000000\r\n\r\n",
        serving.key
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(file(30_000).as_bytes()).unwrap();
    until("a part of the upload stored", async || count(&rows, "contact_import_chunk").await > 0).await;
    child.crash();
    let (mut child, _) = serving.serve().await;
    until("the upload removed", async || {
        count(&rows, "contact_import_chunk").await == 0 && count(&rows, "contact_import").await == 0
    })
    .await;
    child.crash();
    serving.simulator.stop().await;
}

async fn companies_import_in_turns(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let upload = |rows: u64| {
        let text = file(rows).replace("Nome,Telefone", "name,phone");
        let request = reqwest::Client::new()
            .post(format!("{}/api/v1/contacts/imports?start=true", running.address()))
            .bearer_auth(&running.key)
            .body(text);
        async move { Answer::to(request).await }
    };
    // The imports of one company run one after the other; both end.
    let (first, second) = (upload(3_000).await, upload(10).await);
    let ids = [&first, &second].map(|answer| {
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["id"].as_str().unwrap().to_owned()
    });
    // A graceful stop in the middle loses no rows either.
    running.restart().await;
    for (id, created, unchanged) in [(&ids[0], 3_000, 0), (&ids[1], 0, 10)] {
        let path = format!("/api/v1/contacts/imports/{id}");
        until("the import over", async || {
            running.ask(Method::GET, &path, &Value::Null).await.json()["state"] == "finished"
        })
        .await;
        let import = running.ask(Method::GET, &path, &Value::Null).await.json();
        assert_eq!(
            (&import["created"], &import["unchanged"]),
            (&json!(created), &json!(unchanged)),
            "{import}"
        );
    }
    running.end().await;
}

async fn an_import_that_lost_a_piece_or_a_row_is_failed_and_never_finished(universe: &Universe) {
    // Enough rows for two pieces of a file, and for some steps.
    const TWO_PIECES: u64 = 12_000;
    const SOME_STEPS: u64 = 2_000;
    let mut serving = Serving::new(universe, 0, "unlimited").await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let (mut child, url) = serving.serve().await;
    let imports = format!("{url}/api/v1/contacts/imports");
    let incomplete = "byte 262144: the stored file is incomplete";
    for (index, (damage, rows_of_file, said)) in [
        ("DELETE FROM contact_import_chunk WHERE ordinal = 1", TWO_PIECES, incomplete),
        (
            "UPDATE contact_import_chunk SET bytes = substr(bytes, 1, 1000) WHERE ordinal = 1",
            TWO_PIECES,
            incomplete,
        ),
        (
            "UPDATE contact_import SET rejected = 3 WHERE state = 1",
            SOME_STEPS,
            "do not add up to the rows of the file",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let file = file(rows_of_file).replace("Ana", &format!("Ana{index}"));
        let uploaded = post(&imports, &serving.key, file).await;
        let id = uploaded["id"].as_str().unwrap().to_owned();
        rows.execute_unprepared(damage).await.unwrap();
        post(&format!("{imports}/{id}"), &serving.key, mapping()).await;
        let path = format!("/api/v1/contacts/imports/{id}");
        until("the import over", async || serving.list(&url, &path).await.json()["finished_at"].is_string())
            .await;
        let import = serving.list(&url, &path).await.json();
        assert_eq!(import["state"], "failed", "{import}");
        assert!(import["error"].as_str().unwrap().contains(said), "{import}");
        assert!(import["rows"].as_u64().unwrap() > 0, "the rows before the damage are written: {import}");
    }
    child.crash();
    serving.simulator.stop().await;
}
