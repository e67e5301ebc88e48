//! One person has several numbers, and the provider names another one than the company wrote to.

use pombo::domain::message::State;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::store::changes::Who;
use pombo::store::persons::OtherNumber;
use reqwest::Method;
use serde_json::{Value, json};

use super::suppressed::{marketing, templates};
use super::teller::{Teller, rows, status};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    a_stop_under_the_provider_s_form_of_a_number_is_a_stop_of_the_person,
    a_pair_of_numbers_that_no_rule_gives_is_learned_from_an_answer_and_lasts,
    a_pair_of_numbers_is_learned_from_a_receipt,
    a_stop_of_a_person_without_a_number_counts_once_the_number_is_known,
    a_word_lifts_no_stop_that_waits_beside_it,
    a_person_who_writes_is_known_for_good_even_if_a_receipt_named_them_before,
    a_receipt_without_our_key_is_applied_by_the_provider_s_id,
    what_the_provider_writes_for_people_is_shown_with_the_failure,
    a_contact_is_found_under_every_form_of_the_number,
);

/// The form that people write, and the one that the provider has.
const FORMS: [(u64, u64); 4] = [
    (5_564_988_887_777, 556_488_887_777),
    (525_512_345_678, 5_215_512_345_678),
    (541_155_554_444, 5_491_155_554_444),
    (2_250_708_091_011, 22_508_091_011),
];
/// The same in a country whose rule the service does not know, and the simulator does.
const UNKNOWN: (u64, u64) = (2_290_161_234_567, 22_961_234_567);

fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(value).unwrap()
}

fn now() -> i64 {
    pombo::clock::Timestamp::now().millis() / 1_000
}

async fn prefers(running: &Running, person: Value, value: &str, at: i64) {
    let mut said = json!({ "category": "marketing_messages", "value": value, "timestamp": at });
    said.as_object_mut().unwrap().extend(person.as_object().unwrap().clone());
    let said = json!({ "user_preferences": [said] });
    let told = Teller::new(running).tell_field(running.channel, "user_preferences", &said).await;
    assert_eq!(told.status, 200);
}

/// Whether marketing to this number is accepted.
async fn gets(running: &Running, promo: i64, number: u64) -> bool {
    let (status, answer) = running.send(&marketing(promo, &[number])).await;
    assert!(status == 202 || answer["code"] == "no_valid_recipients", "{answer}");
    status == 202
}

async fn learned(running: &Running, pair: (u64, u64)) {
    let expected =
        [OtherNumber { company_id: running.company, number: number(pair.0), person: number(pair.1) }];
    until("the pair learned", async || {
        running.store.persons().other_numbers(None).await.unwrap() == expected
    })
    .await;
}

async fn a_stop_under_the_provider_s_form_of_a_number_is_a_stop_of_the_person(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    for (written, known_as) in FORMS {
        for (said, sent, at) in [(known_as, written, now() - 200), (written, known_as, now() - 100)] {
            prefers(&running, json!({ "wa_id": said.to_string() }), "stop", at).await;
            assert!(!gets(&running, promo, sent).await, "{said} {sent}");
            prefers(&running, json!({ "wa_id": sent.to_string() }), "resume", at + 10).await;
            assert!(gets(&running, promo, said).await, "{said} {sent}");
            prefers(&running, json!({ "wa_id": said.to_string() }), "stop", at + 5).await;
            assert!(gets(&running, promo, sent).await, "an older stop under the other form changes nothing");
        }
        // What a person adds and lifts is about the person too.
        let ana = Who::CommandLine("ana".to_owned());
        let (store, company) = (&running.store, running.company);
        store.of(company).suppressions().add(&ana, number(known_as), Suppression::Marketing).await.unwrap();
        until("the suppression seen", async || !gets(&running, promo, written).await).await;
        assert_eq!(store.of(company).suppressions().lift(&ana, number(written)).await.unwrap().len(), 1);
        until("its end seen", async || gets(&running, promo, known_as).await).await;
    }
    // Both forms in one send are one person, and one message.
    let numbers: Vec<u64> = FORMS.iter().flat_map(|(written, known_as)| [*written, *known_as]).collect();
    let (status, answer) = running.send(&marketing(promo, &numbers)).await;
    assert_eq!((status, &answer["recipients_count"], &answer["skipped_count"]), (202, &json!(4), &json!(4)));
    let first = json!({ "input": "+5491155554444", "code": "same_person",
        "reason": "is another form of +541155554444, which is in this send" });
    let skipped = answer["skipped"].as_array().unwrap();
    assert!(skipped.contains(&first), "{answer}");
    assert!(skipped.iter().all(|entry| entry["code"] == "same_person"), "{answer}");
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", running.channel);
    let rehearsed = running.ask(Method::POST, &path, &marketing(promo, &numbers)).await.json();
    assert_eq!((&rehearsed["recipients_count"], &rehearsed["skipped_count"]), (&json!(4), &json!(4)));
    running.end().await;
}

async fn a_pair_of_numbers_that_no_rule_gives_is_learned_from_an_answer_and_lasts(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let (written, known_as) = UNKNOWN;
    // The stop comes before anything was sent to the person.
    prefers(&running, json!({ "wa_id": known_as.to_string() }), "stop", now() - 10).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": [written] });
    assert_eq!(running.send(&text).await.0, 202);
    learned(&running, UNKNOWN).await;
    until("the person known", async || !gets(&running, promo, written).await).await;
    running.restart().await;
    assert!(!gets(&running, promo, written).await, "the pair lasts");
    prefers(&running, json!({ "wa_id": written.to_string() }), "resume", now()).await;
    assert!(gets(&running, promo, known_as).await);
    running.end().await;
}

async fn a_pair_of_numbers_is_learned_from_a_receipt(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let (written, known_as) = (233_241_234_567, 23_341_234_567);
    let text = json!({ "type": "text", "message": "hi", "phone_number": [written] });
    assert_eq!(running.send(&text).await.0, 202);
    running.settled(1).await;
    let mut delivered = status(&rows(universe).await[0], "delivered", None);
    delivered["recipient_id"] = json!(known_as.to_string());
    // A stranger's number, which a receipt never has, joins nobody.
    let mut strange = delivered.clone();
    strange["recipient_id"] = json!("5511900000007");
    let said = json!({ "statuses": [strange, delivered] });
    assert_eq!(Teller::new(&running).tell(running.channel, NUMBER, &said).await.status, 200);
    learned(&running, (written, known_as)).await;
    prefers(&running, json!({ "wa_id": known_as.to_string() }), "stop", now()).await;
    until("the person known", async || !gets(&running, promo, written).await).await;
    running.end().await;
}

async fn a_stop_of_a_person_without_a_number_counts_once_the_number_is_known(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let (receives, writes, known) = (super::FIRST + 1, super::FIRST + 2, super::FIRST + 3);
    let text = |number: u64| json!({ "type": "text", "message": "hi", "phone_number": [number] });
    assert_eq!(running.send(&text(receives)).await.0, 202);
    running.settled(1).await;
    let inbound = |number: u64, user: &str| wrote(Some(number), user, "hello, it is me", now());
    // Known before, and over a restart.
    hear(&running, &inbound(known, "BR.3")).await;
    running.restart().await;
    prefers(&running, json!({ "user_id": "BR.3" }), "stop", now() - 10).await;
    assert!(!gets(&running, promo, known).await, "the number was known");
    for user in ["BR.1", "BR.2"] {
        prefers(&running, json!({ "user_id": user }), "stop", now() - 10).await;
    }
    assert!(
        gets(&running, promo, receives).await && gets(&running, promo, writes).await,
        "nobody knows whose"
    );
    running.restart().await;
    // A receipt names both, and so does a message.
    let mut read = status(&rows(universe).await[0], "read", None);
    read["recipient_user_id"] = json!("BR.1");
    hear(&running, &json!({ "statuses": [read] })).await;
    hear(&running, &inbound(writes, "BR.2")).await;
    assert!(!gets(&running, promo, receives).await && !gets(&running, promo, writes).await);
    prefers(&running, json!({ "user_id": "BR.2" }), "resume", now()).await;
    assert!(gets(&running, promo, writes).await);
    running.end().await;
}

/// A text of a person whose id the provider says, and perhaps the number.
fn wrote(number: Option<u64>, user: &str, body: &str, at: i64) -> Value {
    let mut message = json!({ "from_user_id": user, "id": format!("wamid.{user}.{body}"),
        "timestamp": at.to_string(), "type": "text", "text": { "body": body } });
    if let Some(number) = number {
        message["from"] = json!(number.to_string());
    }
    json!({ "messages": [message] })
}

async fn hear(running: &Running, value: &Value) {
    assert_eq!(Teller::new(running).tell(running.channel, NUMBER, value).await.status, 200);
}

async fn a_word_lifts_no_stop_that_waits_beside_it(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let (first, second) = (super::FIRST + 1, super::FIRST + 2);
    // Of the first person, everything waits for the number; of the second one, the word takes back a word.
    prefers(&running, json!({ "user_id": "BR.1" }), "stop", now() - 30).await;
    hear(&running, &wrote(None, "BR.1", "start", now() - 20)).await;
    hear(&running, &wrote(None, "BR.2", "stop", now() - 30)).await;
    hear(&running, &wrote(None, "BR.2", "start", now() - 20)).await;
    hear(&running, &wrote(Some(first), "BR.1", "hello", now() - 10)).await;
    hear(&running, &wrote(Some(second), "BR.2", "hello", now() - 10)).await;
    assert!(!gets(&running, promo, first).await && gets(&running, promo, second).await);
    running.end().await;
}

async fn a_person_who_writes_is_known_for_good_even_if_a_receipt_named_them_before(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let person = super::FIRST + 1;
    let text = json!({ "type": "text", "message": "hi", "phone_number": [person] });
    assert_eq!(running.send(&text).await.0, 202);
    running.settled(1).await;
    let mut read = status(&rows(universe).await[0], "read", None);
    read["recipient_user_id"] = json!("BR.1");
    hear(&running, &json!({ "statuses": [read] })).await;
    hear(&running, &wrote(Some(person), "BR.1", "thank you", now())).await;
    running.restart().await;
    prefers(&running, json!({ "user_id": "BR.1" }), "stop", now()).await;
    assert!(!gets(&running, promo, person).await);
    running.end().await;
}

async fn a_receipt_without_our_key_is_applied_by_the_provider_s_id(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": [super::FIRST] });
    assert_eq!(running.send(&text).await.0, 202);
    running.settled(1).await;
    let mut delivered = status(&rows(universe).await[0], "delivered", None);
    delivered.as_object_mut().unwrap().remove("biz_opaque_callback_data");
    let mut unknown = delivered.clone();
    unknown["id"] = json!("wamid.of-another-program");
    let said = json!({ "statuses": [unknown, delivered] });
    assert_eq!(Teller::new(&running).tell(running.channel, NUMBER, &said).await.status, 200);
    assert_eq!(rows(universe).await[0].state, State::Delivered.as_i16());
    running.end().await;
}

async fn what_the_provider_writes_for_people_is_shown_with_the_failure(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let text = json!({ "type": "text", "message": "hi", "phone_number": [super::FIRST] });
    let (_, answer) = running.send(&text).await;
    running.settled(1).await;
    let mut failed = status(&rows(universe).await[0], "failed", Some(131_026));
    failed["errors"][0]["error_user_title"] = json!("Payment issue");
    failed["errors"][0]["error_user_msg"] = json!("Add a card in the payment settings.");
    let said = json!({ "statuses": [failed] });
    assert_eq!(Teller::new(&running).tell(running.channel, NUMBER, &said).await.status, 200);
    let path = format!("/api/v1/sends/{}/messages", answer["send_id"].as_str().unwrap());
    let messages = running.ask(Method::GET, &path, &Value::Null).await.json();
    let shown = messages.to_string();
    assert!(shown.contains("refused: Payment issue: Add a card in the payment settings."), "{shown}");
    running.end().await;
}

async fn a_contact_is_found_under_every_form_of_the_number(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    running.tag("brazil", FORMS[0].0, 1).await;
    running.tag("benin", UNKNOWN.1, 1).await;
    let found = async |search: String| {
        let path = format!("/api/v1/contacts?search={search}");
        let answer = running.ask(Method::GET, &path, &Value::Null).await.json();
        answer["totalRecords"].as_u64().unwrap()
    };
    assert_eq!(found(FORMS[0].1.to_string()).await, 1);
    assert_eq!(found("%2B55%20(64)%208888-7777".to_owned()).await, 1);
    assert_eq!(found("556488887776".to_owned()).await, 0);
    assert_eq!(found(UNKNOWN.0.to_string()).await, 0);
    let pair = [(number(UNKNOWN.0), number(UNKNOWN.1))];
    assert_eq!(running.store.of(running.company).persons().learn_numbers(&pair).await.unwrap(), 1);
    assert_eq!(running.store.of(running.company).persons().learn_numbers(&pair).await.unwrap(), 0);
    assert_eq!(found(UNKNOWN.0.to_string()).await, 1);
    running.end().await;
}
