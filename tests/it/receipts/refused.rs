//! Webhooks with a part that the database refuses permanently: the service accepts them without that part,
//! because the provider would otherwise repeat them for a week.

use pombo::domain::message::State;
use serde_json::json;

use super::teller::{Teller, heard, rows, status};
use super::{FIRST, send};
use crate::database::{Universe, stores};
use crate::refused_rows::refuse;
use crate::running::{NUMBER, Running};

stores!(a_webhook_is_accepted_without_the_part_that_the_database_refuses);

async fn a_webhook_is_accepted_without_the_part_that_the_database_refuses(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    send(&running, "everyone", FIRST, 20).await;
    refuse(universe, "message", "error", "%poison%").await;
    refuse_payloads(universe).await;
    let teller = Teller::new(&running);
    let sent = rows(universe).await;
    let mut statuses: Vec<_> = sent.iter().map(|row| status(row, "delivered", None)).collect();
    let guilty = sent[7].recipient;
    statuses[7] = status(&sent[7], "failed", Some(131_026));
    statuses[7]["errors"][0]["message"] = json!("poison");
    let person = |id: &str, words: &str| {
        let at = "1700000000";
        json!({ "id": id, "from": "5511900000000", "timestamp": at, "type": "text", "text": { "body": words } })
    };
    let messages = [person("wamid.A", "hello"), person("wamid.B", "venom"), person("wamid.C", "bye")];
    let told = json!({ "statuses": statuses, "messages": messages });
    let answer = teller.tell(running.channel, NUMBER, &told).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    for row in rows(universe).await {
        let is_guilty = row.recipient == guilty;
        let expected = if is_guilty { State::Failed } else { State::Delivered };
        assert_eq!(row.state, expected.as_i16());
        assert_eq!(row.error_code, is_guilty.then_some(131_026));
    }
    assert_eq!(heard(universe).await, ["wamid.A", "wamid.C"]);
    running.end().await;
}

async fn refuse_payloads(universe: &Universe) {
    refuse(universe, "conversation_message", "provider_id", "wamid.B").await;
}
