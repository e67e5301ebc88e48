//! What a company answers by itself through a business account: once, however often a message comes and a process dies.

use pombo::clock::Timestamp;
use pombo::domain::automatic::{AutomaticTexts, OpeningHours};
use pombo::engine::conversations::types::ConversationFilter;
use pombo::store::changes::Who;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use serde_json::{Value, json};

use super::teller::Teller;
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    an_opt_out_is_confirmed_once_although_it_stops_everything,
    outside_of_the_opening_hours_a_person_gets_one_text_and_stays_unread,
    an_answer_whose_end_was_not_noted_is_not_sent_again,
);

const ANA: &str = "5511900000001";
const STOPPED: &str = "You get nothing more.";
const STARTED: &str = "Welcome back.";
const CLOSED: &str = "We are closed.";

async fn set(running: &Running, hours: OpeningHours) {
    let texts = AutomaticTexts::new(Some(STOPPED), Some(STARTED), Some(CLOSED), hours).unwrap();
    let who = Who::CommandLine("ana".to_owned());
    assert!(running.store.of(running.company).automatic().set_texts(&who, &texts).await.unwrap());
    assert!(!running.store.of(running.company).automatic().set_texts(&who, &texts).await.unwrap());
}

fn open() -> OpeningHours {
    OpeningHours::parse("UTC", ["00:00-24:00"; 7]).unwrap()
}

/// She writes a text.
async fn writes(running: &Running, id: &str, body: &str) {
    let at = Timestamp::now().millis() / 1_000;
    let message = json!({ "from": ANA, "id": id, "timestamp": at.to_string(), "type": "text", "text": { "body": body } });
    let value =
        json!({ "contacts": [{ "profile": { "name": "Ana" }, "wa_id": ANA }], "messages": [message] });
    assert_eq!(Teller::new(running).tell(running.channel, NUMBER, &value).await.status, 200);
}

/// The texts that reached the provider, in their order.
fn sent(running: &Running) -> Vec<String> {
    let messages = running.simulator.messages(0, 100).into_iter();
    messages.map(|message| message.body.unwrap()["text"]["body"].as_str().unwrap().to_owned()).collect()
}

async fn run(universe: &Universe, sql: &str) -> i64 {
    let database = Database::connect(&universe.url).await.unwrap();
    let statement = Statement::from_string(database.get_database_backend(), sql);
    let row = database.query_one_raw(statement).await.unwrap();
    let count = row.and_then(|row| row.try_get_by_index(0).ok()).unwrap_or_default();
    database.close().await.unwrap();
    count
}

/// Waits until no answer is due.
async fn over(universe: &Universe) {
    let due = "SELECT count(*) FROM automatic_answer WHERE due_at IS NOT NULL";
    until("no answer due", async || run(universe, due).await == 0).await;
}

async fn an_opt_out_is_confirmed_once_although_it_stops_everything(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    set(&running, open()).await;
    // Nobody opted out, so that there is nothing to confirm.
    writes(&running, "wamid.0", "start").await;
    for id in ["wamid.1", "wamid.1", "wamid.2"] {
        writes(&running, id, "Stop").await;
    }
    until("the confirmation sent", async || sent(&running) == [STOPPED]).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": ANA });
    let (status, answer) = running.send(&text).await;
    assert_eq!((status, &answer["code"]), (400, &json!("no_valid_recipients")), "{answer}");
    writes(&running, "wamid.3", "START").await;
    until("the other one sent", async || sent(&running) == [STOPPED, STARTED]).await;
    assert_eq!(running.send(&text).await.0, 202);
    over(universe).await;
    until("all sent", async || sent(&running).len() == 3).await;
    running.end().await;
}

async fn outside_of_the_opening_hours_a_person_gets_one_text_and_stays_unread(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    set(&running, OpeningHours::default()).await;
    writes(&running, "wamid.1", "hello?").await;
    until("the text sent", async || sent(&running) == [CLOSED]).await;
    writes(&running, "wamid.2", "anybody?").await;
    // An opt-out word gets its confirmation alone.
    writes(&running, "wamid.3", "stop").await;
    until("the confirmation sent", async || sent(&running) == [CLOSED, STOPPED]).await;
    over(universe).await;
    assert_eq!(sent(&running).len(), 2);
    let found = running.conversations().list(ConversationFilter::default(), None, 9).await.unwrap();
    let [listed] = &found.conversations[..] else { panic!("{found:?}") };
    assert_eq!((listed.conversation.unread, listed.line.as_deref()), (3, Some("stop")));
    running.end().await;
}

async fn an_answer_whose_end_was_not_noted_is_not_sent_again(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    set(&running, open()).await;
    writes(&running, "wamid.1", "stop").await;
    until("the confirmation sent", async || sent(&running) == [STOPPED]).await;
    over(universe).await;
    // As if the process had died between the two.
    run(universe, "UPDATE automatic_answer SET due_at = 1 RETURNING recipient").await;
    running.restart().await;
    over(universe).await;
    assert_eq!(sent(&running), [STOPPED]);
    let shown: Value = running.ask(reqwest::Method::GET, "/api/v1/sends", &Value::Null).await.json();
    assert_eq!(shown["totalRecords"], 1, "{shown}");
    running.end().await;
}
