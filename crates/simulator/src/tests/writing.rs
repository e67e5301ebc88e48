//! Played people write, by webhook.

use super::receiver::{Receiver, SECRET, receiver};
use super::*;

/// The values of the next webhooks that are no statuses, each with its field, until there are this many.
async fn told(receiver: &mut Receiver, count: usize) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    while told.len() < count {
        let webhook = receiver.next().await;
        for entry in webhook["entry"].as_array().unwrap() {
            let change = &entry["changes"][0];
            if change["value"]["statuses"].is_null() {
                told.push((change["field"].as_str().unwrap().to_owned(), change["value"].clone()));
            }
        }
    }
    told
}

/// The same in the order in which they were written.
fn in_order(mut told: Vec<(String, Value)>, written: &Value) -> Vec<(String, Value)> {
    let ids: Vec<_> = written["data"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    told.sort_by_key(|(_, value)| {
        let lists = ["messages", "message_echoes", "calls"];
        let id = lists.iter().map(|list| &value[list][0]["id"]).find(|id| id.is_string()).unwrap();
        ids.iter().position(|one| one == id).unwrap()
    });
    told
}

impl Universe {
    async fn write(&self, body: &Value) -> (u16, Value) {
        let answer = self.client.post(self.url("/_sim/write")).json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn listening(&self, receiver: &Receiver) {
        self.simulator.aim_receipts(Some(receiver.options())).unwrap();
    }
}

#[actix_web::test]
async fn a_person_writes_as_the_provider_tells_it() {
    let (mut receiver, universe) = (receiver(0).await, universe().await);
    universe.listening(&receiver).await;
    let of = |content: Value| {
        let mut write = json!({ "to": NUMBER, "from": "+5511999990001", "name": "Ana" });
        write.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        write
    };
    let writes = [
        of(json!({ "text": "olá", "context": "wamid.1", "referral": { "source_id": "7" } })),
        of(json!({ "voice": {} })),
        of(json!({ "contacts": [{ "name": "Rui", "phones": ["+1"], "organization": "Sol" }] })),
        of(json!({ "reaction": { "message_id": "wamid.1", "emoji": "" } })),
        of(json!({ "edit": { "message_id": "wamid.1", "text": "now" } })),
        of(json!({ "deletion": { "message_id": "wamid.1" } })),
        of(json!({ "row": { "id": "r", "title": "Blue" } })),
        of(json!({ "flow": { "response": { "size": "M" } } })),
        of(json!({ "unknown": { "kind": "poll" } })),
        of(json!({ "text": "from our phone", "echo": true })),
        of(json!({ "call": {} })),
    ];
    let (status, written) = universe.write(&json!(writes)).await;
    assert_eq!(status, 200, "{written}");
    let told = in_order(told(&mut receiver, writes.len()).await, &written);
    let messages: Vec<_> = told.iter().map(|(_, value)| value["messages"][0].clone()).collect();
    assert_eq!(messages[0]["id"], written["data"][0]["id"]);
    assert_eq!(
        (&messages[0]["text"]["body"], &messages[0]["from"]),
        (&json!("olá"), &json!("5511999990001"))
    );
    assert_eq!(
        (&messages[0]["context"]["id"], &messages[0]["referral"]["source_id"]),
        (&json!("wamid.1"), &json!("7"))
    );
    assert_eq!(told[0].1["contacts"][0]["profile"]["name"], "Ana");
    assert_eq!((&messages[1]["type"], &messages[1]["audio"]["voice"]), (&json!("audio"), &json!(true)));
    assert_eq!(messages[2]["contacts"][0]["org"]["company"], "Sol");
    assert_eq!(messages[3]["reaction"], json!({ "message_id": "wamid.1" }), "it is removed");
    assert_eq!(messages[4]["edit"]["message"]["text"]["body"], "now");
    assert_eq!(messages[5]["revoke"]["original_message_id"], "wamid.1");
    assert_eq!(messages[6]["interactive"]["list_reply"]["title"], "Blue");
    assert_eq!(messages[7]["interactive"]["nfm_reply"]["response_json"], r#"{"size":"M"}"#);
    assert_eq!((&messages[8]["type"], &messages[8]["errors"][0]["code"]), (&json!("poll"), &json!(131_051)));
    let (echoes, calls) = (&told[9], &told[10]);
    assert_eq!((echoes.0.as_str(), calls.0.as_str()), ("smb_message_echoes", "calls"));
    assert_eq!(echoes.1["message_echoes"][0]["to"], "5511999990001");
    assert_eq!(calls.1["calls"][0]["event"], "connect");

    let (status, fault) = universe.write(&json!([writes[0], { "to": "9", "from": "1", "text": "a" }])).await;
    assert_eq!((status, fault["error"].as_str()), (400, Some("there is no number 9")));
    let shown = universe.get(&format!("/_sim/conversation?channel={NUMBER}&person=5511999990001")).await.1;
    let lines = shown["data"].as_array().unwrap();
    assert_eq!(lines.len(), writes.len(), "nothing of the refused request was written");
    assert_eq!((&lines[9]["by"], &lines[9]["text"]), (&json!("echo"), &json!("from our phone")));
}

#[actix_web::test]
async fn a_file_is_fetched_by_its_id_unless_it_is_gone() {
    let (mut receiver, universe) = (receiver(0).await, universe().await);
    universe.listening(&receiver).await;
    let write = |file: Value| json!({ "to": NUMBER, "from": "5511999990001", "image": file });
    let writes = json!([write(json!({ "size": 5_000 })), write(json!({ "gone": true }))]);
    let (_, written) = universe.write(&writes).await;
    let told = in_order(told(&mut receiver, 2).await, &written);
    let image = |place: usize| told[place].1["messages"][0]["image"].clone();
    let (_, described) = universe.get(&format!("/v25.0/{}", image(0)["id"].as_str().unwrap())).await;
    assert_eq!((&described["file_size"], &described["mime_type"]), (&json!(5_000), &image(0)["mime_type"]));
    let url = described["url"].as_str().unwrap();
    let file = universe.client.get(url).bearer_auth(TOKEN).send().await.unwrap().bytes().await.unwrap();
    assert!(file.starts_with(b"\x89PNG") && file.len() == 5_000);
    let (status, _) = universe.get(&format!("/v25.0/{}", image(1)["id"].as_str().unwrap())).await;
    assert_eq!(status, 400);
}

#[actix_web::test]
async fn a_message_is_repeated_and_overtaken() {
    let (mut receiver, universe) = (receiver(0).await, universe().await);
    universe.listening(&receiver).await;
    let write = |text: &str, more: Value| {
        let mut write = json!({ "to": NUMBER, "from": "5511999990001", "text": text });
        write.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        write
    };
    let writes =
        json!([write("first", json!({ "after": "200ms" })), write("second", json!({ "copies": 2 }))]);
    let (_, written) = universe.write(&writes).await;
    let told = told(&mut receiver, 3).await;
    let ids: Vec<_> = told.iter().map(|(_, value)| &value["messages"][0]["id"]).collect();
    let [first, second] = [0, 1].map(|place| &written["data"][place]["id"]);
    assert_eq!(ids, [second, second, first]);
}

#[actix_web::test]
async fn answers_are_of_the_given_kinds_and_may_come_twice() {
    let (mut receiver, universe) = (receiver(0).await, universe().await);
    let options = json!({
        "url": receiver.url, "app_secret": SECRET, "answer_probability": 1.0, "answer_after": "0ms",
        "delivered_after": "0ms", "read_after": "0ms", "duplicate_probability": 1.0,
        "answers": [{ "reaction": { "emoji": "👍" } }],
    });
    let url = universe.url("/_sim/webhook");
    assert!(universe.client.post(url).json(&options).send().await.unwrap().status().is_success());
    let (_, sent) = universe.send(&text("+5511999990001")).await;
    let told = told(&mut receiver, 2).await;
    let reactions = told.iter().map(|(_, value)| &value["messages"][0]);
    for reaction in reactions {
        assert_eq!(reaction["reaction"]["message_id"], sent["messages"][0]["id"]);
        assert_eq!(reaction["id"], told[0].1["messages"][0]["id"]);
    }
    let wrong = ReceiptOptions { answers: Vec::new(), ..receiver.options() };
    assert!(universe.simulator.aim_receipts(Some(wrong)).is_err());
}
