//! People who write an opt-out word get nothing any more, until they write another.

use pombo::clock::Timestamp;
use pombo::domain::opt_out::OptOutWords;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::{Source, Suppression};
use pombo::store::changes::Who;
use serde_json::{Value, json};

use super::suppressed::{marketing, templates};
use super::teller::Teller;
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    a_word_stops_messages_and_another_takes_that_back,
    a_word_lifts_no_suppression_of_others,
    a_company_has_words_of_its_own_and_may_switch_them_off,
);

const PERSON: u64 = super::FIRST + 1;

fn text(number: u64) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": [number] })
}

/// The person writes; `ago` in seconds.
fn wrote(body: &str, ago: i64) -> Value {
    let at = Timestamp::now().millis() / 1_000 - ago;
    json!({ "messages": [{ "from": PERSON.to_string(), "id": format!("wamid.{body}.{ago}"),
        "timestamp": at.to_string(), "type": "text", "text": { "body": body } }] })
}

async fn hear(running: &Running, value: &Value) {
    assert_eq!(Teller::new(running).tell(running.channel, NUMBER, value).await.status, 200);
}

async fn gets(running: &Running) -> bool {
    let (status, answer) = running.send(&text(PERSON)).await;
    assert!(status == 202 || answer["code"] == "no_valid_recipients", "{answer}");
    status == 202
}

async fn kept(running: &Running) -> Vec<(Suppression, Option<Source>)> {
    let kept = running.store.of(running.company).suppressions().all(Timestamp::now()).await.unwrap();
    kept.into_iter().map(|kept| (kept.record.scope, kept.source)).collect()
}

async fn a_word_stops_messages_and_another_takes_that_back(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    for none in ["please stop by tomorrow", "stop it", "no"] {
        hear(&running, &wrote(none, 60)).await;
    }
    assert!(gets(&running).await && kept(&running).await.is_empty());
    let stop = wrote(" Stóp ", 50);
    for _ in 0..2 {
        hear(&running, &stop).await;
        assert!(!gets(&running).await);
        assert_eq!(kept(&running).await, [(Suppression::Everything, Some(Source::Message))]);
    }
    hear(&running, &wrote("unstop", 40)).await;
    assert!(gets(&running).await && kept(&running).await.is_empty());
    hear(&running, &stop).await;
    assert!(gets(&running).await, "the provider repeats a webhook, and the person said something else since");
    hear(&running, &wrote("SAIR", 30)).await;
    assert!(!gets(&running).await);
    let (status, answer) = running.send(&text(PERSON)).await;
    assert_eq!((status, &answer["code"]), (400, &json!("no_valid_recipients")));
    assert!(answer["error"].as_str().unwrap().ends_with("is on the company's suppression list"), "{answer}");
    running.end().await;
}

async fn a_word_lifts_no_suppression_of_others(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (store, company) = (&running.store, running.company);
    let (ana, person) = (Who::CommandLine("ana".to_owned()), PhoneNumber::from_u64(PERSON).unwrap());
    store.of(company).suppressions().add(&ana, person, Suppression::Everything).await.unwrap();
    hear(&running, &wrote("stop", 0)).await;
    hear(&running, &wrote("start", -1)).await;
    assert_eq!(kept(&running).await, [(Suppression::Everything, Some(Source::Operator))]);
    store.of(company).suppressions().lift(&ana, person).await.unwrap();
    // The person's own word, which an operator confirmed.
    let later = Timestamp::now().millis();
    until("the next second", async || Timestamp::now().millis() > later + 1_000).await;
    hear(&running, &wrote("stop", 0)).await;
    assert_eq!(kept(&running).await, [(Suppression::Everything, Some(Source::Message))]);
    assert!(!store.of(company).suppressions().add(&ana, person, Suppression::Everything).await.unwrap());
    hear(&running, &wrote("start", -1)).await;
    assert_eq!(kept(&running).await, [(Suppression::Everything, Some(Source::Operator))]);
    running.end().await;
}

async fn a_company_has_words_of_its_own_and_may_switch_them_off(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let ana = Who::CommandLine("ana".to_owned());
    let set = async |scope, stop: &[&str], start: &[&str]| {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let words = OptOutWords::new(scope, list(stop), list(start)).unwrap();
        running.store.of(running.company).suppressions().set_words(&ana, &words).await.unwrap();
        assert_eq!(running.store.of(running.company).suppressions().words().await.unwrap(), words);
    };
    set(None, &[], &[]).await;
    hear(&running, &wrote("stop", 90)).await;
    assert!(gets(&running).await, "words have no effect");
    set(Some(Suppression::Marketing), &["Chega já"], &["volta"]).await;
    hear(&running, &wrote("CHEGA JA", 80)).await;
    assert_eq!(kept(&running).await, [(Suppression::Marketing, Some(Source::Message))]);
    assert!(gets(&running).await, "only marketing stops");
    assert_eq!(running.send(&marketing(promo, &[PERSON])).await.0, 400);
    hear(&running, &wrote("Volta", 70)).await;
    assert_eq!(running.send(&marketing(promo, &[PERSON])).await.0, 202);
    // What was stopped under an earlier setting comes back under a later one.
    hear(&running, &wrote("stop", 60)).await;
    set(Some(Suppression::Everything), &[], &[]).await;
    hear(&running, &wrote("start", 50)).await;
    assert!(kept(&running).await.is_empty());
    running.end().await;
}
