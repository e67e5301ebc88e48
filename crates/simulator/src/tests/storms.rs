//! Throttles of every kind and for a span, the headers meanwhile, and a number's description.

use std::time::{Duration, Instant};

use super::super::Level;
use super::*;

const TO: &str = "+5511999990001";

fn number(change: &Value) -> Value {
    let mut switch = json!({ "number": { "phone_number_id": NUMBER } });
    switch["number"].as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    switch
}

impl Universe {
    /// Sends until an answer has another code than this one, and returns that answer.
    async fn outlasts(&self, code: u64) -> u64 {
        let begun = Instant::now();
        let mut met = 0;
        loop {
            let (_, answer) = self.code(&text(TO)).await;
            if answer != code {
                assert!(met > 0, "the storm never began");
                return answer;
            }
            met += 1;
            assert!(begun.elapsed() < Duration::from_secs(10), "the storm did not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A header of the answer to a send.
    async fn header(&self, name: &str) -> Value {
        let request = self.client.post(self.url(&format!("/v25.0/{NUMBER}/messages"))).bearer_auth(TOKEN);
        let answer = request.json(&text(TO)).send().await.unwrap();
        serde_json::from_str(answer.headers()[name].to_str().unwrap()).unwrap()
    }
}

#[actix_web::test]
async fn a_number_is_throttled_for_a_span_and_other_numbers_are_not() {
    let universe = universe().await;
    let begun = Instant::now();
    universe.script(&number(&json!({ "throttled_for": "1s" })));
    let other = universe.post("/v25.0/2002/messages", TOKEN, &text(TO)).await;
    assert_eq!(other.0, 200);
    assert_eq!(universe.outlasts(130_429).await, 0);
    // The simulator counts whole milliseconds.
    assert!(begun.elapsed() >= Duration::from_millis(999), "{:?}", begun.elapsed());
    let figures = universe.figures();
    assert_eq!((figures.messages, figures.throttled), (1, figures.refused));
}

#[actix_web::test]
async fn the_app_is_throttled_as_a_whole_and_its_header_says_so() {
    let universe = universe().await;
    universe.script(&json!({ "app": { "usage": 85 } }));
    assert_eq!(universe.header("x-app-usage").await["call_count"], 85);
    universe.script(&json!({ "app": { "throttled_for": "1s" } }));
    let (_, answer) = universe.send(&text(TO)).await;
    assert_eq!((&answer["error"]["code"], &answer["error"]["is_transient"]), (&json!(4), &json!(true)));
    assert_eq!(universe.header("x-app-usage").await["call_count"], 100);
    assert_eq!(universe.get(&format!("/v25.0/{NUMBER}")).await.1["error"]["code"], 4);
    assert_eq!(universe.outlasts(4).await, 0);
    assert_eq!(universe.header("x-app-usage").await["call_count"], 85);
}

#[actix_web::test]
async fn an_account_is_throttled_and_its_header_tells_the_minutes() {
    let universe = universe().await;
    universe.script(&json!({ "account": { "waba_id": WABA, "throttled_for": "1s" } }));
    let usage = universe.header("x-business-use-case-usage").await;
    let minutes = &usage[WABA][0]["estimated_time_to_regain_access"];
    assert_eq!((minutes, &usage[WABA][1]["call_count"]), (&json!(1), &json!(100)));
    let path = format!("/v25.0/{WABA}/message_templates");
    assert_eq!(universe.get(&path).await.1["error"]["code"], 80_007);
    assert_eq!(universe.get(&format!("/v25.0/{NUMBER}")).await.1["error"]["code"], 80_007);
    let other = universe.post("/v25.0/2003/messages", "T-2", &text(TO)).await;
    assert_eq!(other.0, 200);
    assert_eq!(universe.outlasts(80_007).await, 0);
    assert_eq!(universe.get(&path).await.0, 200);
    let calm = universe.header("x-business-use-case-usage").await;
    assert_eq!(calm[WABA][0]["estimated_time_to_regain_access"], 0);
    universe.script(&json!({ "account": {
        "waba_id": WABA, "throttled_for": "10s", "regain_minutes": 7,
    } }));
    let told = universe.header("x-business-use-case-usage").await;
    assert_eq!(told[WABA][0]["estimated_time_to_regain_access"], 7);
}

#[actix_web::test]
async fn an_upgrade_refuses_sends_and_then_the_level_is_high() {
    let universe = universe().await;
    universe.script(&number(&json!({ "level": "STANDARD", "upgrade_for": "1s" })));
    assert_eq!(universe.code(&text(TO)).await, (500, 131_057));
    assert_eq!(universe.outlasts(131_057).await, 0);
    let (_, node) = universe.get(&format!("/v25.0/{NUMBER}?fields=throughput")).await;
    assert_eq!(node["throughput"]["level"], "HIGH");
}

#[actix_web::test]
async fn an_outage_for_a_span_ends_by_itself() {
    let universe = universe().await;
    universe.script(&json!({ "outage": "1s" }));
    assert_eq!(universe.outlasts(2).await, 0);
}

#[actix_web::test]
async fn a_number_limited_by_its_level_gets_at_most_the_tolerance_beyond_it() {
    let account = Account {
        waba_id: "1005".to_owned(),
        tokens: vec![TOKEN.to_owned()],
        numbers: vec![Number::new("2005", "+1 555 000 2005").at_level(Level::Standard)],
        templates: Vec::new(),
    };
    let universe = universe().await;
    universe.simulator.add(Seed { accounts: vec![account] }).unwrap();
    let sends = (0..120).map(|_| async { universe.post("/v25.0/2005/messages", TOKEN, &text(TO)).await });
    let answers = futures_util::future::join_all(sends).await;
    let accepted = answers.iter().filter(|(status, _)| *status == 200).count() as u64;
    let figures = universe.simulator.number("2005").unwrap();
    // A slow machine may need more than the second of which no more than 84 are accepted.
    assert!((84..120).contains(&accepted) && figures.max_accepted_per_second <= 84, "{figures:?}");
    assert_eq!((figures.messages, figures.throttled), (accepted, 120 - accepted));
}

#[actix_web::test]
async fn every_field_of_a_number_can_be_set_and_taken_back() {
    let universe = universe().await;
    let shown =
        async |name: &str| universe.get(&format!("/v25.0/{NUMBER}?fields={name}")).await.1[name].clone();
    let fields = [
        "status",
        "quality_rating",
        "throughput",
        "platform_type",
        "is_on_biz_app",
        "code_verification_status",
        "name_status",
        "account_mode",
        "verified_name",
        "whatsapp_business_manager_messaging_limit",
        "health_status",
    ];
    for name in fields {
        let before = shown(name).await;
        universe.script(&number(&json!({ "fields": { name: ["changed"] } })));
        assert_eq!(shown(name).await, json!(["changed"]), "{name}");
        universe.script(&number(&json!({ "fields": { name: null } })));
        assert_eq!(shown(name).await, before, "{name}");
    }
    universe.script(&number(&json!({ "level": "NOT_APPLICABLE", "is_on_biz_app": true })));
    assert_eq!(shown("throughput").await["level"], "NOT_APPLICABLE");
    assert_eq!(shown("is_on_biz_app").await, true);
}

#[actix_web::test]
async fn a_number_that_is_also_in_the_app_is_limited_to_twenty_a_second() {
    let universe = universe().await;
    universe.script(&number(&json!({ "throttle": "level", "level": "HIGH", "is_on_biz_app": true })));
    let sends = (0..60).map(|_| async { universe.code(&text(TO)).await });
    futures_util::future::join_all(sends).await;
    let figures = universe.figures();
    assert!(figures.max_accepted_per_second <= 21 && figures.throttled > 0, "{figures:?}");
    universe.script(&number(&json!({ "throttle": "unlimited" })));
    assert_eq!(universe.code(&text(TO)).await, (200, 0));
}
