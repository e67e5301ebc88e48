//! Options of a simulator that a person starts.

use super::receiver::receiver;
use super::*;
use crate::Level;

#[actix_web::test]
async fn a_share_of_messages_fails_and_does_so_again_after_a_reset() {
    let failures = ["100%:131049:now".parse().unwrap()];
    let universe = universe_with(Options { failures: failures.into(), ..Options::default() }).await;
    for _ in 0..2 {
        assert_eq!(universe.code(&text("+5511999990001")).await, (400, 131_049));
        universe.simulator.end_script();
        assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
        universe.simulator.reset().unwrap();
    }
}

#[actix_web::test]
async fn a_failure_that_the_provider_reports_later_comes_in_a_webhook_and_is_counted() {
    let mut receiver = receiver(0).await;
    let failures = ["100%:131026".parse().unwrap()];
    let universe = universe_with(Options { failures: failures.into(), ..Options::default() }).await;
    universe.simulator.aim_receipts(Some(receiver.options())).unwrap();
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
    let (statuses, _) = receiver.statuses(1).await;
    assert_eq!(statuses[0].1, "failed");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    // The count follows the receiver's answer.
    while universe.get("/_sim/webhook").await.1["failures_delivered"] != 1 {
        assert!(std::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
}

#[actix_web::test]
async fn a_level_limits_numbers_that_are_created_on_first_use() {
    let options = Options { accept_any: true, level: Some(Level::Standard), ..Options::default() };
    let universe = universe_with(options).await;
    let (_, node) = universe.get("/v26.0/777?fields=throughput").await;
    assert_eq!(node["throughput"]["level"], "STANDARD");
    let mut codes = Vec::new();
    for _ in 0..85 {
        codes.push(universe.post("/v26.0/777/messages", TOKEN, &text("+5511999990001")).await.0);
    }
    // Far more than 84 a second are possible, so that the last is refused unless the machine is slow.
    let most = universe.simulator.number("777").unwrap().max_accepted_per_second;
    assert!(most <= 84, "{most}");
    assert!(codes[..80].iter().all(|status| *status == 200), "{codes:?}");
}

#[actix_web::test]
async fn people_answer_a_share_of_messages_and_may_then_be_written_to() {
    let mut receiver = receiver(0).await;
    let universe = universe_with(Options { service_window: true, ..Options::default() }).await;
    let options = ReceiptOptions {
        answer_after: std::time::Duration::ZERO,
        answer_probability: 1.0,
        ..receiver.options()
    };
    universe.simulator.aim_receipts(Some(options)).unwrap();
    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 131_047));
    let (_, sent) = universe.send(&template("hello_world", json!([]))).await;
    let answer = loop {
        let webhook = receiver.next().await;
        let changes =
            webhook["entry"].as_array().unwrap().iter().map(|entry| entry["changes"][0]["value"].clone());
        if let Some(answer) = changes.into_iter().find_map(|value| value["messages"].get(0).cloned()) {
            break answer;
        }
    };
    assert_eq!(
        (&answer["from"], &answer["context"]["id"]),
        (&json!("5511999990001"), &sent["messages"][0]["id"])
    );
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}
