//! What the provider says about billing: each message that arrived counts once, and a month shows it with prices.

use pombo::clock::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use super::FIRST;
use super::suppressed::templates;
use super::teller::{Teller, rows, status};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running};

stores!(a_month_shows_what_arrived_as_the_provider_bills_it);

const CANADIAN: u64 = 14_165_550_123;

async fn a_month_shows_what_arrived_as_the_provider_bills_it(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (_, hello) = templates(&running).await;
    let body = json!({
        "type": "template", "template_id": hello, "components": [], "phone_number": [FIRST + 1, FIRST + 2, CANADIAN],
    });
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", running.channel);
    let cost = running.ask(Method::POST, &path, &body).await.json()["cost"].take();
    assert_eq!(
        (&cost["category"], &cost["currency"], &cost["amount"]),
        (&json!("utility"), &json!("USD"), &json!("0.017")),
        "{cost}"
    );
    let brazil =
        json!({"country": "BR", "market": "Brazil", "messages": 2, "price": "0.0068", "amount": "0.0136"});
    assert_eq!((&cost["countries"][0], &cost["countries"][1]["market"]), (&brazil, &json!("North America")));

    assert_eq!(running.send(&body).await.0, 202);
    running.settled(3).await;
    // By number: the Canadian one comes first.
    let rows = rows(universe).await;
    let said = |place: usize, word: &str, billable: bool| {
        let mut said = status(&rows[place], word, None);
        let kind = if billable { "regular" } else { "free_customer_service" };
        said["pricing"] =
            json!({"billable": billable, "pricing_model": "PMP", "type": kind, "category": "utility"});
        said
    };
    let teller = Teller::new(&running);
    let tell = async |statuses: Vec<Value>| {
        let told = teller.tell(running.channel, NUMBER, &json!({ "statuses": statuses })).await;
        assert_eq!(told.status, 200, "{}", told.body);
    };
    // What the provider took costs nothing yet, and what it repeats costs nothing more.
    tell(vec![said(0, "sent", true), said(1, "sent", true), said(2, "sent", true)]).await;
    let costs = async || running.ask(Method::GET, "/api/v1/costs", &Value::Null).await.json();
    assert_eq!(costs().await["data"], json!([]));
    for _ in 0..2 {
        tell(vec![said(1, "delivered", false), said(2, "delivered", true)]).await;
        tell(vec![said(2, "read", true), said(0, "read", true), said(0, "delivered", true)]).await;
    }
    let month = Timestamp::now().to_string()[..7].to_owned();
    let answer = costs().await;
    let charged = |country: &str, market: &str, is_charged: bool, price: &str| {
        json!({
            "channel_id": running.channel, "country": country, "market": market, "category": "utility",
            "is_charged": is_charged, "messages": 1, "price": price, "amount": price,
        })
    };
    let expected = json!({
        "month": month, "currency": "USD", "prices_of": "2026-10-01", "amount": "0.0102", "unpriced_count": 0,
        "data": [
            charged("BR", "Brazil", false, "0.00"),
            charged("BR", "Brazil", true, "0.0068"),
            charged("CA", "North America", true, "0.0034"),
        ],
    });
    assert_eq!(answer, expected);
    let earlier = running.ask(Method::GET, "/api/v1/costs?month=2001-02", &Value::Null).await.json();
    assert_eq!((&earlier["data"], &earlier["currency"]), (&json!([]), &Value::Null), "no price is invented");
    let wrong = running.ask(Method::GET, "/api/v1/costs?month=November", &Value::Null).await;
    assert_eq!((wrong.status, wrong.code().as_deref()), (400, Some("invalid_field")), "{}", wrong.body);
    running.end().await;
}
