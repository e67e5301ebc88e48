//! Values of recipients: each gets what the request says about them, and nobody gets braces.

use std::collections::BTreeMap;

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::running::{Running, until};
use crate::scenarios::stage::{show, template};

stores!(
    each_recipient_gets_their_own_values_and_who_lacks_one_is_named,
    a_retry_uses_the_same_values_until_they_are_gone,
    values_count_under_any_form_of_a_person_s_number,
);

const ANA: u64 = 5_511_900_000_001;
const BIA: u64 = 5_511_900_000_002;
const EVA: u64 = 5_511_900_000_003;

/// A request for `order_update` with these texts.
async fn order_update(running: &Running, texts: [&str; 2], recipients: Value) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": text });
    json!({
        "type": "template",
        "template_id": template(running, "order_update").await,
        "components": [{ "type": "body", "parameters": texts.map(text) }],
        "values": { "shop": "Acme" },
        "recipients": recipients,
    })
}

/// The texts that the provider got, by recipient.
fn texts(running: &Running) -> BTreeMap<u64, Vec<String>> {
    let of = |body: &Value| {
        let parameters = body["template"]["components"][0]["parameters"].as_array().unwrap();
        parameters.iter().map(|parameter| parameter["text"].as_str().unwrap().to_owned()).collect()
    };
    let messages = running.simulator.messages(0, 10_000).into_iter();
    messages.filter_map(|message| Some((message.to.parse().unwrap(), of(&message.body?)))).collect()
}

fn expected<const N: usize>(all: [(u64, [&str; 2]); N]) -> BTreeMap<u64, Vec<String>> {
    all.into_iter().map(|(number, texts)| (number, texts.map(str::to_owned).to_vec())).collect()
}

async fn each_recipient_gets_their_own_values_and_who_lacks_one_is_named(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let recipients = json!([
        { "phone_number": EVA, "values": { "order": "A-3 {{value.shop}}" }, "reference": "crm-3" },
        { "phone_number": ANA, "values": { "name": "Ana", "order": "A-1" } },
        { "phone_number": BIA, "values": { "name": "Bia" } },
        { "phone_number": ANA, "values": { "name": "Anita", "order": "A-9" } },
    ]);
    let mut body =
        order_update(&running, ["{{value.name|friend}}", "{{value.order}} of {{value.shop}}"], recipients)
            .await;
    body["on_skipped"] = json!("refuse");
    let (status, refused) = running.send(&body).await;
    assert_eq!((status, &refused["code"]), (422, &json!("recipients_skipped")), "{refused}");
    body["on_skipped"] = json!("send");
    let (status, answer) = running.send(&body).await;
    assert_eq!(
        (status, &answer["recipients_count"], &answer["skipped_count"]),
        (202, &json!(2), &json!(2)),
        "{answer}"
    );
    let why = |at: usize| {
        let entry = &answer["skipped"][at];
        (entry["index"].clone(), entry["code"].clone(), entry["field"].clone())
    };
    assert_eq!(why(0), (json!(3), json!("duplicate_recipient"), json!("phone_number")));
    assert_eq!(why(1), (json!(2), json!("value_missing"), json!("values.order")));
    running.settled(2).await;
    let all = expected([(EVA, ["friend", "A-3 {{value.shop}} of Acme"]), (ANA, ["Ana", "A-1 of Acme"])]);
    assert_eq!(texts(&running), all);
    let send: Uuid = serde_json::from_value(answer["send_id"].clone()).unwrap();
    let found = running.store.of(running.company).sends().with_reference("crm-3", 10).await.unwrap();
    assert_eq!(found, [(send, 1)]);

    // One recipient goes as any single message does.
    let single = json!([{ "phone_number": BIA, "values": { "order": "B-1" } }]);
    let single = order_update(&running, ["{{value.shop}}", "{{value.order}}"], single).await;
    assert_eq!(running.send(&single).await.0, 202);
    running.settled(3).await;
    assert_eq!(texts(&running)[&BIA], ["Acme", "B-1"]);
    let text = json!({ "type": "template", "template_id": body["template_id"], "values": { "1": "Eva", "2": "E-1" },
        "phone_number": EVA });
    let (status, answer) = running.send(&text).await;
    assert_eq!(status, 202, "{answer}");
    running.settled(4).await;
    assert_eq!(texts(&running)[&EVA], ["Eva", "E-1"]);
    running.end().await;
}

async fn a_retry_uses_the_same_values_until_they_are_gone(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let recipients = json!([
        { "phone_number": ANA, "values": { "order": "A-1" } },
        { "phone_number": EVA, "values": { "order": "A-3", "shop": "Globex" } },
    ]);
    let body =
        order_update(&running, ["{{contact.first_name}}", "{{value.order}} of {{value.shop}}"], recipients)
            .await;
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    let send = answer["send_id"].as_str().unwrap();
    let path = format!("/api/v1/sends/{send}/retry");
    until("both messages failed", async || show(&running, send).await["counts"]["failed"] == 2).await;
    let person = |number: u64, first_name: &str| {
        let (first_name, phone_number) = (first_name.to_owned(), format!("+{number}"));
        (Uuid::now_v7(), Person { first_name, phone_number, ..Person::default() })
    };
    let people = [person(ANA, "Ana"), person(EVA, "Eva")];
    running.store.of(running.company).contacts().add(&people, &[], Timestamp::now()).await.unwrap();
    let again = running.ask(Method::POST, &path, &json!({})).await;
    assert_eq!(again.status, 202, "{}", again.body);
    running.settled(2).await;
    assert_eq!(texts(&running), expected([(ANA, ["Ana", "A-1 of Acme"]), (EVA, ["Eva", "A-3 of Globex"])]));
    let database = Database::connect(&universe.url).await.unwrap();
    database.execute_unprepared("UPDATE personal_send SET gone = 1").await.unwrap();
    database.close().await.unwrap();
    let gone = running.ask(Method::POST, &path, &json!({})).await;
    assert_eq!((gone.status, &gone.json()["code"]), (410, &json!("values_gone")), "{}", gone.body);
    running.end().await;
}

async fn values_count_under_any_form_of_a_person_s_number(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let given = json!([{ "phone_number": "+55 11 98888-0002", "values": { "order": "A-1" } }]);
    let mut body = order_update(&running, ["{{value.name|friend}}", "{{value.order|none}}"], given).await;
    // The form without the ninth digit is the lesser number, which would be met first.
    body["phone_number"] = json!(["551188880002", EVA]);
    let (status, answer) = running.send(&body).await;
    assert_eq!((status, &answer["recipients_count"]), (202, &json!(2)), "{answer}");
    let skipped = &answer["skipped"][0];
    assert_eq!((&skipped["code"], &skipped["input"]), (&json!("same_person"), &json!("+551188880002")));
    running.settled(2).await;
    assert_eq!(
        texts(&running),
        expected([(5_511_988_880_002, ["friend", "A-1"]), (EVA, ["friend", "none"])])
    );
    running.end().await;
}
