//! A scheduled send that is moved at one node starts at the new time on the node that runs its channel.

use reqwest::Method;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);
const SOON: Duration = Duration::from_secs(4);

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn any_node_moves_a_scheduled_send() {
    let mut stage = Stage::new(0, &["a", "b"]).await;
    let owner = stage.take_owner().await;
    let scheduled = async |number: u64, at: Timestamp| {
        let at = at.to_string();
        let body = json!({ "type": "text", "message": "hi", "phone_number": number, "send_at": at });
        let answer = stage.serving.send_through(&stage.serving.channel, &owner.url, &body).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.json()["send_id"].as_str().unwrap().to_owned()
    };
    let (soon, later) = (Timestamp::now().plus(SOON), Timestamp::now().plus(HOUR));
    let (earlier, put_off) = (scheduled(SINGLE, later).await, scheduled(SINGLE + 1, soon).await);
    scheduled(SINGLE + 2, soon).await;
    for (id, at) in [(&earlier, soon), (&put_off, later)] {
        let (path, body) = (format!("/api/v1/sends/{id}"), json!({ "send_at": at.to_string() }));
        // Twice, at a node that does not run the channel: the second request changes nothing.
        for _ in 0..2 {
            let moved = stage.ask(&stage.nodes[0], Method::PATCH, &path, &body).await;
            assert_eq!(
                (moved.status, &moved.json()["send_at"]),
                (200, &json!(at.to_string())),
                "{}",
                moved.body
            );
        }
    }
    let went = async |number: u64| stage.heard().contains_key(&number.to_string());
    until("the send that was moved forward", async || went(SINGLE).await).await;
    until("the send that was not moved", async || went(SINGLE + 2).await).await;
    stage.send(&stage.nodes[0], SINGLE + 3).await;
    until("a message after the former time", async || went(SINGLE + 3).await).await;
    assert!(!went(SINGLE + 1).await, "a send that was put off went at its former time");
    let shown =
        stage.ask(&stage.nodes[0], Method::GET, &format!("/api/v1/sends/{put_off}"), &Value::Null).await;
    assert_eq!(shown.json()["state"], "scheduled", "{}", shown.body);
    stage.nodes.push(owner);
    stage.end().await;
}
