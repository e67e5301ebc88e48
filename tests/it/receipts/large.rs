//! Large webhooks: other companies' sends go in between, and the rows that wait for the database are limited.

use std::collections::BTreeMap;

use pombo::clock::Timestamp;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, FromQueryResult, Statement};
use serde_json::json;
use tokio::task::JoinHandle;

use super::FIRST;
use super::suppressed::{marketing, templates};
use super::teller::Teller;
use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{APP_SECRET, NUMBER, Running, until};

stores!(a_webhook_of_thousands_of_preferences_lets_other_sends_in);

/// The opt-outs and opt-ins of a large webhook whose people are looked up together.
const PART: u64 = 1_000;
/// Those that one commit writes. Commits of one millisecond look like one, and no more than two of them are in one.
const AT_ONCE: u64 = 64;
const MOST_AT_ONCE: u64 = 2 * AT_ONCE;

/// A webhook in which these people opt in to marketing or out of it.
fn preferences(value: &str, people: std::ops::Range<u64>) -> String {
    let at = Timestamp::now().millis() / 1_000;
    let said: Vec<_> = people
        .map(|who| {
            json!({ "wa_id": (FIRST + who).to_string(), "category": "marketing_messages", "value": value,
                "timestamp": at })
        })
        .collect();
    let value = json!({ "user_preferences": said,
        "metadata": { "display_phone_number": "15550783881", "phone_number_id": NUMBER } });
    let entry = json!([{ "id": "1", "changes": [{ "field": "user_preferences", "value": value }] }]);
    json!({ "object": "whatsapp_business_account", "entry": entry }).to_string()
}

/// Posts the body, and does not wait for the answer.
fn post(running: &Running, body: String) -> JoinHandle<Answer> {
    let request = reqwest::Client::new().post(running.hook(running.channel));
    let request = request.header("X-Hub-Signature-256", Teller::sign(APP_SECRET, &body)).body(body);
    tokio::spawn(async move { Answer::read(request.send().await.unwrap()).await })
}

#[derive(FromQueryResult)]
struct Commit {
    at: i64,
    rows: i64,
}

/// The number of suppressions that were written at each moment.
async fn commits(universe: &Universe) -> BTreeMap<i64, u64> {
    let database = Database::connect(&universe.url).await.unwrap();
    let sql = "SELECT created_at AS at, COUNT(*) AS rows FROM suppression GROUP BY created_at";
    let statement = Statement::from_string(database.get_database_backend(), sql);
    let rows = Commit::find_by_statement(statement).all(&database).await.unwrap();
    database.close().await.unwrap();
    rows.into_iter().map(|Commit { at, rows }| (at, rows.cast_unsigned())).collect()
}

async fn a_webhook_of_thousands_of_preferences_lets_other_sends_in(universe: &Universe) {
    const PEOPLE: u64 = 3_000;
    let running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": FIRST });
    let mut accepted = Vec::new();
    for value in ["stop", "resume"] {
        let told = post(&running, preferences(value, 0..PEOPLE));
        while !told.is_finished() {
            assert_eq!(running.send(&text).await.0, 202);
            accepted.push(Timestamp::now().millis());
        }
        assert_eq!(told.await.unwrap().status, 200);
        let kept = running.store.suppressions().current(Timestamp::now()).await.unwrap().len() as u64;
        assert_eq!(kept, if value == "stop" { PEOPLE } else { 0 });
        // The answer holds for all of them, wherever they stood in the webhook.
        let (code, answer) =
            running.send(&marketing(promo, &[FIRST, FIRST + PEOPLE / 2, FIRST + PEOPLE - 1])).await;
        assert_eq!(code, if value == "stop" { 400 } else { 202 }, "{answer}");
        if value == "stop" {
            let commits = commits(universe).await;
            assert!(commits.values().all(|rows| *rows <= MOST_AT_ONCE), "{commits:?}");
            // The provider waits for the answer: what one commit takes is used.
            let most = PEOPLE.div_ceil(PART) * PART.div_ceil(AT_ONCE);
            assert!(commits.len() as u64 <= most, "{commits:?}");
            let (first, last) = (*commits.keys().next().unwrap(), *commits.keys().last().unwrap());
            assert!(accepted.iter().any(|at| (first..last).contains(at)), "no send went in between");
        }
    }
    running.end().await;
}

#[actix_web::test]
async fn the_number_of_preferences_that_wait_for_the_database_is_bounded() {
    const WEBHOOKS: u64 = 4;
    const WORDS: u64 = 2_000;
    let universe = Universe::sqlite().await;
    let running = Running::start(&universe, |_| {}).await;
    let mut options = ConnectOptions::new(&universe.url);
    options.max_connections(1);
    let writer = Database::connect(options).await.unwrap();
    writer.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
    let told: Vec<_> = (0..WEBHOOKS)
        .map(|nth| post(&running, preferences("stop", WORDS * nth..WORDS * (nth + 1))))
        .collect();
    until("an answer to one of the webhooks", async || told.iter().any(JoinHandle::is_finished)).await;
    writer.execute_unprepared("COMMIT").await.unwrap();
    writer.close().await.unwrap();
    let mut answers = BTreeMap::<u16, u64>::new();
    for told in told {
        let answer: Answer = told.await.unwrap();
        *answers.entry(answer.status).or_default() += 1;
    }
    assert_eq!(answers.keys().copied().collect::<Vec<_>>(), [200, 503], "{answers:?}");
    let kept = running.store.suppressions().current(Timestamp::now()).await.unwrap().len() as u64;
    assert_eq!(kept, WORDS * answers[&200]);
    running.end().await;
    universe.end().await;
}
