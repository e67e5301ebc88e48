//! Retries of one send that several nodes are asked for.

use futures_util::future::join_all;
use reqwest::Method;

use super::*;

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_retry_that_two_nodes_are_asked_for_at_once_sends_once() {
    let stage = Stage::new(0, &["a", "b"]).await;
    let refused = json!([{ "times": 1, "outcome": { "error": { "code": 131_026 } } }]);
    stage.serving.simulator.script(&refused).unwrap();
    let body = json!({ "type": "text", "message": "hi", "phone_number": SINGLE });
    let sent = stage.serving.send_through(&stage.serving.channel, &stage.nodes[0].url, &body).await;
    let send = sent.json()["send_id"].as_str().unwrap().to_owned();
    until("the message failed", async || {
        let path = format!("/api/v1/sends/{send}");
        stage.ask(&stage.nodes[0], Method::GET, &path, &Value::Null).await.json()["counts"]["failed"] == 1
    })
    .await;
    let path = format!("/api/v1/sends/{send}/retry");
    let retry =
        async |place: usize| stage.ask(&stage.nodes[place % 2], Method::POST, &path, &json!({})).await;
    let answers = join_all((0..8).map(&retry)).await;
    let codes: Vec<_> = answers.iter().map(|answer| (answer.status, answer.code())).collect();
    assert_eq!(codes.iter().filter(|(status, _)| *status == 202).count(), 1, "{codes:?}");
    for (status, code) in codes.iter().filter(|(status, _)| *status != 202) {
        let word = code.as_deref();
        assert!(matches!(word, Some("retry_in_progress" | "no_valid_recipients")), "{status} {code:?}");
    }
    // Each of them is over, and has released the send.
    for place in 0..2 {
        let again = retry(place).await;
        assert_eq!(again.code().as_deref(), Some("no_valid_recipients"), "{}", again.body);
        assert_eq!(again.json()["skipped"][0]["code"], "already_retried", "{}", again.body);
    }
    stage.all_heard_once(1).await;
    stage.end().await;
}
