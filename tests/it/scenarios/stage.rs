//! Helpers of the scenarios about limits: tiers, a second number, and the clients' view.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use pombo::clock::Timestamp;
use pombo::store::changes::Who;
use pombo::store::operators::NewOperator;
use pombo::vault::api_key;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use simulator::{Account, Number, ReceiptOptions, Seed};
use uuid::Uuid;

use crate::harness::Answer;
use crate::running::{APP_SECRET, Running, TOKEN, WABA, until};

/// A second number of the same business account.
pub(crate) const OTHER_NUMBER: &str = "206540352242922";
/// The first of the contacts.
pub(crate) const FIRST: u64 = 5_511_900_000_000;

const OPERATOR: &str = "pombo_op_ana";

/// The answer to a request of an operator.
pub(crate) async fn operate(running: &Running, method: Method, path: &str, body: &Value) -> Answer {
    if running.store.operators().all().await.unwrap().is_empty() {
        let hash = api_key::hash(OPERATOR);
        let new = NewOperator { name: "ana", prefix: "pombo_op_", hash, expires_at: None };
        running.store.operators().add(&Who::Pombo, new).await.unwrap();
    }
    running.ask_as(OPERATOR, method, &format!("/operator/v1/{path}"), body).await
}

/// Adds or replaces a tier for business accounts; options that are left out have their usual values.
pub(crate) async fn put_tier(running: &Running, name: &str, mut options: Value) {
    options["kind"] = json!("business_account");
    let answer = operate(running, Method::PUT, &format!("tiers/{name}"), &options).await;
    assert!(matches!(answer.status, 200 | 201), "{}", answer.body);
}

/// Adds a tier, puts the running channel under it, and waits until that is in force.
pub(crate) async fn run_under(running: &Running, name: &str, options: Value) {
    put_tier(running, name, options).await;
    run_channel_under(running, name).await;
}

/// Puts the running channel under a tier that there is, and waits until that is in force.
pub(crate) async fn run_channel_under(running: &Running, name: &str) {
    let path = format!("channels/{}/tier", running.channel);
    let answer = operate(running, Method::PUT, &path, &json!({ "tier": name })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let set_by = format!("tier `{name}`");
    until("the channel under its tier", async || {
        let limits = limits(running, running.channel).await;
        limit(&limits, "messages_per_second")["set_by"].as_str().unwrap().contains(&set_by)
    })
    .await;
}

/// A channel of the same company for [`OTHER_NUMBER`].
pub(crate) async fn other_channel(running: &Running, number: Number, tier: &str) -> Uuid {
    assert_eq!(number.phone_number_id, OTHER_NUMBER);
    let account = Account { waba_id: WABA.to_owned(), numbers: vec![number], ..Account::default() };
    running.simulator.add(Seed { accounts: vec![account] }).unwrap();
    running.add_channel(TOKEN, OTHER_NUMBER, tier).await
}

/// [`OTHER_NUMBER`] without any limit at the provider.
pub(crate) fn other_number() -> Number {
    Number::new(OTHER_NUMBER, "+1 555 078 3882")
}

/// Sends `content` through a channel to all contacts of a tag, and returns the send's id.
pub(crate) async fn send_to(running: &Running, channel: Uuid, tag: Uuid, mut content: Value) -> String {
    content["contact_tag_id"] = json!(tag);
    let (status, answer) = running.send_through(channel, &content).await;
    assert_eq!(status, 202, "{answer}");
    answer["send_id"].as_str().unwrap().to_owned()
}

/// A text without recipients.
pub(crate) fn text() -> Value {
    json!({ "type": "text", "message": "hi" })
}

/// A message of a template without values and without recipients.
pub(crate) fn plain_template(id: i64) -> Value {
    json!({ "type": "template", "template_id": id, "components": [] })
}

/// The service's number of one of the provider's templates, once the service has them.
pub(crate) async fn template(running: &Running, name: &str) -> i64 {
    let find =
        async || running.store.of(running.company).templates().named(WABA, name, "en_US").await.unwrap();
    until("the provider's templates", async || find().await.is_some()).await;
    find().await.unwrap().id
}

/// A send's record in the company's API.
pub(crate) async fn show(running: &Running, send: &str) -> Value {
    let answer = running.ask(Method::GET, &format!("/api/v1/sends/{send}"), &Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// Waits until a send waits for this reason, and returns its record.
pub(crate) async fn until_it_waits_for(running: &Running, send: &str, reason: &str) -> Value {
    let mut shown = Value::Null;
    until(&format!("the send waiting for {reason}"), async || {
        shown = show(running, send).await;
        shown["waiting"]["reason"] == reason
    })
    .await;
    shown
}

/// The limits of a channel.
pub(crate) async fn limits(running: &Running, channel: Uuid) -> Value {
    let path = format!("/api/v1/chat/{channel}/limits");
    let answer = running.ask(Method::GET, &path, &Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// One of the limits; `null` when it is not among them.
pub(crate) fn limit(limits: &Value, name: &str) -> Value {
    let mut all = limits["limits"].as_array().unwrap().iter();
    all.find(|limit| limit["limit"] == name).cloned().unwrap_or_default()
}

/// How long from now until a moment in an answer.
pub(crate) fn from_now(moment: &Value) -> Duration {
    Timestamp::parse(moment.as_str().unwrap()).unwrap().from_now(Timestamp::now())
}

/// Figures of a number: accepted messages, their different recipients, and repeated messages.
pub(crate) fn taken(running: &Running, number: &str) -> (u64, u64, u64) {
    let simulator::NumberFigures { messages, unique_recipients, repeated, .. } =
        running.simulator.number(number).unwrap();
    (messages, unique_recipients, repeated)
}

/// Lets the provider send webhooks from now on.
pub(crate) fn listen(running: &Running) {
    let receipts = ReceiptOptions {
        verify_token: Some(running.verify_token.clone()),
        ..ReceiptOptions::to(running.hook(running.channel), APP_SECRET)
    };
    running.simulator.aim_receipts(Some(receipts)).unwrap();
}

/// Posts a webhook with these changes to the channel's address, signed as it should be.
pub(crate) async fn tell(running: &Running, changes: &[Value]) {
    let entry = json!([{ "id": WABA, "changes": changes }]);
    let body = json!({ "object": "whatsapp_business_account", "entry": entry }).to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
    let request = reqwest::Client::new().post(running.hook(running.channel)).body(body);
    let answer = request.header("X-Hub-Signature-256", signature).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}
