//! A person who has another number from now on.

use pombo::clock::Timestamp;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::store::changes::Who;
use reqwest::Method;
use serde_json::{Value, json};

use super::teller::Teller;
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running};

stores!(a_changed_number_links_two_conversations_and_an_opt_out_goes_with_the_person);

const FORMER: &str = "5511900000001";
const NEW: &str = "5521900000002";
const LIST: &str = "/api/v1/conversations";

/// A message from this number, some seconds ago.
async fn tell(running: &Running, number: &str, id: &str, ago: i64, what: Value) {
    let at = Timestamp::now().millis() / 1_000 - ago;
    let mut message = json!({ "from": number, "id": id, "timestamp": at.to_string() });
    message.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
    let value = json!({ "messages": [message] });
    let told = Teller::new(running).tell(running.channel, NUMBER, &value).await;
    assert_eq!(told.status, 200, "{}", told.body);
}

async fn get(running: &Running, path: &str) -> Value {
    let answer = running.ask(Method::GET, path, &Value::Null).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

/// What was written in the conversation with this number.
async fn thread(running: &Running, number: &str) -> Vec<Value> {
    let listed = get(running, LIST).await;
    let mut all = listed["data"].as_array().unwrap().iter();
    let found = all.find(|one| one["phone_number"] == format!("+{number}").as_str());
    let id = found.unwrap_or_else(|| panic!("{listed}"))["id"].as_str().unwrap();
    let messages = get(running, &format!("{LIST}/{id}/messages")).await;
    messages["data"].as_array().unwrap().iter().map(|message| message["received"].clone()).collect()
}

async fn a_changed_number_links_two_conversations_and_an_opt_out_goes_with_the_person(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let text = |body: &str| json!({ "type": "text", "text": { "body": body } });
    tell(&running, FORMER, "wamid.1", 30, text("hello")).await;
    let suppressions = || running.store.of(running.company).suppressions();
    let former = PhoneNumber::parse(FORMER).unwrap();
    assert!(suppressions().add(&Who::Pombo, former, Suppression::Marketing).await.unwrap());
    let system = json!({ "type": "user_changed_number", "body": "another number", "wa_id": NEW });
    for _ in 0..2 {
        tell(&running, FORMER, "wamid.2", 20, json!({ "type": "system", "system": system })).await;
    }
    tell(&running, NEW, "wamid.3", 10, text("it is me")).await;

    let [hello, notice] = &thread(&running, FORMER).await[..] else { panic!("the former one has two") };
    assert_eq!((&hello["content"]["body"], &hello["author"]), (&json!("hello"), &Value::Null));
    assert_eq!(notice["content"]["new_number"], format!("+{NEW}"));
    assert_eq!(notice["author"], Value::Null);
    let [notice, again] = &thread(&running, NEW).await[..] else { panic!("the new one has two") };
    assert_eq!(notice["author"]["number"], format!("+{FORMER}"));
    assert_eq!(again["content"]["body"], "it is me");

    let kept = suppressions().all(Timestamp::now()).await.unwrap();
    let kept: Vec<_> = kept.iter().map(|kept| (kept.record.recipient, kept.record.scope)).collect();
    let new = PhoneNumber::parse(NEW).unwrap();
    assert_eq!(kept, [(former, Suppression::Marketing), (new, Suppression::Marketing)]);
    running.end().await;
}
