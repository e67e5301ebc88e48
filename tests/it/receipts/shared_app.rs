//! One app serves two companies: each gets at its own address the reports about its own numbers, and no
//! others.

use std::collections::BTreeSet;

use pombo::clock::Timestamp;
use pombo::store::changes::Who;
use serde_json::{Value, json};
use uuid::Uuid;

use super::teller::{Teller, rows, status};
use super::{FIRST, send};
use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{APP_SECRET, NUMBER, Running, WABA};
use crate::serving::Serving;

stores!(two_companies_of_one_app_get_each_exactly_their_own);

const THEIR_NUMBER: &str = "206540352242922";

/// A change about a number, or about the whole account.
fn change(field: &str, number: Option<&str>, mut value: Value) -> Value {
    if let Some(number) = number {
        value["metadata"] = json!({ "display_phone_number": "15550783881", "phone_number_id": number });
    }
    json!({ "field": field, "value": value })
}

/// A recipient's opt-out from marketing, which a company's number received.
fn stop(number: Option<&str>, who: u64) -> Value {
    let at = Timestamp::now().millis() / 1_000;
    let said = json!([{ "wa_id": who.to_string(), "category": "marketing_messages", "value": "stop",
        "timestamp": at }]);
    change("user_preferences", number, json!({ "user_preferences": said }))
}

/// A message of an unknown sender failed because its recipient wants no marketing.
fn opted_out(number: &str, who: u64) -> Value {
    let at = (Timestamp::now().millis() / 1_000).to_string();
    let status = json!({ "id": "wamid.x", "status": "failed", "timestamp": at, "recipient_id": who.to_string(),
        "errors": [{ "code": 131_050, "title": "refused", "message": "refused" }] });
    change("messages", Some(number), json!({ "messaging_product": "whatsapp", "statuses": [status] }))
}

fn body(entries: &[(&str, Vec<Value>)]) -> String {
    let entry = |(account, changes): &(&str, Vec<Value>)| json!({ "id": account, "changes": changes });
    let entries: Vec<_> = entries.iter().map(entry).collect();
    json!({ "object": "whatsapp_business_account", "entry": entries }).to_string()
}

/// The opted-out recipients, by company.
async fn left_out(running: &Running) -> BTreeSet<(Uuid, u64)> {
    let all = running.store.suppressions().current(Timestamp::now()).await.unwrap();
    all.into_iter().map(|record| (record.company_id, record.recipient.to_string().parse().unwrap())).collect()
}

async fn two_companies_of_one_app_get_each_exactly_their_own(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let globex = running.store.companies().add(&Who::Pombo, "Globex", "standard").await.unwrap().id;
    let theirs = running.add_channel_of(globex, "x", THEIR_NUMBER, "standard").await;
    send(&running, "everyone", FIRST, 1).await;
    let before = rows(universe).await;
    // A report by the other company's number about a message that Acme sent.
    let foreign = change(
        "messages",
        Some(THEIR_NUMBER),
        json!({ "messaging_product": "whatsapp",
        "statuses": [status(&before[0], "failed", Some(131_050))] }),
    );
    let webhook = body(&[
        (
            WABA,
            vec![
                stop(Some(NUMBER), FIRST + 1),
                stop(Some(THEIR_NUMBER), FIRST + 2),
                opted_out(NUMBER, FIRST + 3),
                opted_out(THEIR_NUMBER, FIRST + 4),
                stop(Some("999"), FIRST + 5),
                opted_out("999", FIRST + 6),
                // A report about the account of both companies.
                stop(None, FIRST + 7),
                foreign,
            ],
        ),
        ("777", vec![stop(None, FIRST + 8)]),
    ]);
    let teller = Teller::new(&running);
    let signature = Teller::sign(APP_SECRET, &webhook);
    assert_eq!(teller.post(running.channel, webhook.clone(), Some(&signature)).await.status, 200);
    let acme: BTreeSet<_> = [1, 3, 7].map(|who| (running.company, FIRST + who)).into();
    assert_eq!(left_out(&running).await, acme);
    assert_eq!(rows(universe).await, before, "a report about another company's number changes no message");
    assert_eq!(teller.post(theirs, webhook, Some(&signature)).await.status, 200);
    let globex: BTreeSet<_> = [0, 2, 4, 7].map(|who| (globex, FIRST + who)).into();
    assert_eq!(left_out(&running).await, acme.union(&globex).copied().collect());
    running.end().await;
}

#[actix_web::test]
async fn reports_about_numbers_of_no_channel_of_the_company_are_counted() {
    let universe = Universe::sqlite().await;
    let mut serving = Serving::new(&universe, 0, "unlimited").await;
    let (child, url) = serving.serve().await;
    let webhook = body(&[(
        WABA,
        vec![stop(Some("999"), FIRST), opted_out("999", FIRST + 1), stop(Some(NUMBER), FIRST)],
    )]);
    let request = reqwest::Client::new().post(format!("{url}/hooks/meta/{}", serving.channel));
    let request = request.header("X-Hub-Signature-256", Teller::sign(APP_SECRET, &webhook));
    assert_eq!(Answer::to(request.body(webhook)).await.status, 200);
    let metrics = Answer::to(reqwest::Client::new().get(format!("{url}/metrics"))).await.body;
    let counted = r#"pombo_receipts_ignored_total{reason="foreign_number"} 2"#;
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    drop(child);
    serving.simulator.stop().await;
    universe.end().await;
}
