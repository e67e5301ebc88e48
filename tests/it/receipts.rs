//! The provider's webhooks, through the real surface: the changes that they make, and the ones that they must
//! not make.

mod automatic;
mod billing;
mod conversations;
mod files;
mod inbound;
mod instead;
mod large;
mod moved;
mod opt_out_words;
mod outage;
mod people;
mod refused;
mod shared_app;
mod suppressed;
pub(crate) mod teller;

use std::collections::BTreeMap;
use std::time::Duration;

use pombo::domain::message::State;
use pombo::engine::conversations::types::ConversationFilter;
use pombo::store::changes::Who;
use serde_json::json;
use simulator::ReceiptOptions;
use uuid::Uuid;

use self::teller::{Teller, rows, status};
use crate::database::{Universe, stores};
use crate::running::{APP_SECRET, NUMBER, Running, until};

stores!(
    delivered_and_read_arrive_in_the_ledger,
    receipts_in_any_order_doubled_and_before_the_reply_end_in_the_same_ledger,
    a_forged_webhook_changes_nothing,
    another_company_s_channel_changes_nothing,
    a_thousand_receipts_come_in_one_webhook,
    only_the_right_verify_token_sets_a_webhook_up,
);

const FIRST: u64 = 5_511_900_000_000;

/// The number of messages in each state.
async fn states(universe: &Universe) -> BTreeMap<i16, usize> {
    let mut states = BTreeMap::new();
    for message in rows(universe).await {
        *states.entry(message.state).or_insert(0) += 1;
    }
    states
}

/// Sends to a tag of this many contacts and waits until the provider has all of them and that is written.
async fn send(running: &Running, name: &str, first: u64, count: u64) {
    let before = running.delivered().0;
    let tag = running.tag(name, first, count).await;
    running.send_to_tag(tag, count).await;
    running.settled(before + count).await;
}

fn options(running: &Running) -> ReceiptOptions {
    let short = Duration::from_millis(20);
    ReceiptOptions {
        delivered_after: short,
        read_after: short,
        verify_token: Some(running.verify_token.clone()),
        ..ReceiptOptions::to(running.hook(running.channel), APP_SECRET)
    }
}

async fn delivered_and_read_arrive_in_the_ledger(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    running.simulator.aim_receipts(Some(options(&running))).unwrap();
    send(&running, "everyone", FIRST, 300).await;
    let [sent, delivered, read] = [State::Sent, State::Delivered, State::Read].map(State::as_i16);
    until("every receipt", async || {
        let states = states(universe).await;
        !states.contains_key(&sent) && states.values().sum::<usize>() == 300 && states.contains_key(&read)
    })
    .await;
    assert!(states(universe).await[&delivered] > 50);
    running.end().await;
}

async fn receipts_in_any_order_doubled_and_before_the_reply_end_in_the_same_ledger(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let options = ReceiptOptions {
        read_probability: 1.0,
        reorder_probability: 0.5,
        duplicate_probability: 0.5,
        before_reply: true,
        batch: 7,
        ..options(&running)
    };
    running.simulator.aim_receipts(Some(options)).unwrap();
    send(&running, "everyone", FIRST, 200).await;
    let read = BTreeMap::from([(State::Read.as_i16(), 200)]);
    until("every message read", async || states(universe).await == read).await;
    assert_eq!(running.delivered(), (200, 200), "nothing is sent again because of a receipt");
    for message in rows(universe).await {
        assert_eq!((message.attempts, message.retry_at, message.error), (1, None, None));
        let id = message.provider_message_id.unwrap();
        assert!(id.starts_with("wamid."), "{id}");
        let ordinal = message.ordinal.cast_unsigned();
        assert_eq!(message.recipient.cast_unsigned(), FIRST + ordinal);
    }
    running.end().await;
}

async fn a_forged_webhook_changes_nothing(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    send(&running, "everyone", FIRST, 3).await;
    let before = rows(universe).await;
    let teller = Teller::new(&running);
    let statuses: Vec<_> = before.iter().map(|row| status(row, "delivered", None)).collect();
    let body = teller.body(NUMBER, &json!({ "statuses": statuses }));
    let good = Teller::sign(APP_SECRET, &body);
    let turned = good.replace("sha256=", "sha1=");
    let forged = Teller::sign("another-secret", &body);
    for signature in
        [Some(forged.as_str()), Some(&turned), Some(&good[..70]), Some(""), Some("sha256="), None]
    {
        let answer = teller.post(running.channel, body.clone(), signature).await;
        assert_eq!(
            (answer.status, answer.code().as_deref()),
            (403, Some("invalid_signature")),
            "{signature:?}"
        );
    }
    let altered = body.replace("delivered", "read");
    assert_eq!(teller.post(running.channel, altered, Some(&good)).await.status, 403);
    let elsewhere = running.add_channel("x", "206540352242922", "standard").await;
    for (channel, code) in [(Uuid::now_v7(), 404), (elsewhere, 200)] {
        // The company's other channel has the same app, so a webhook at its address counts too.
        let answer = teller.post(channel, body.clone(), Some(&good)).await;
        assert_eq!(answer.status, code, "{}", answer.body);
        if code != 200 {
            assert_eq!(rows(universe).await, before);
        }
    }
    assert!(rows(universe).await.iter().all(|row| row.state == State::Delivered.as_i16()));
    let large = teller.post(running.channel, " ".repeat(4 * 1024 * 1024 + 1), Some(&good)).await;
    assert_eq!((large.status, large.code().as_deref()), (413, Some("body_too_large")));
    // Small parts, of which much more would be made.
    let many = format!(r#"{{"object":"whatsapp_business_account","entry":[0{}]}}"#, ",0".repeat(1_000_000));
    for body in ["", "[]", "{}", r#"{"object":"instagram","entry":[]}"#, &many] {
        let signature = Teller::sign(APP_SECRET, body);
        let answer = teller.post(running.channel, body.to_owned(), Some(&signature)).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_body")), "{body:.60}");
    }
    running.end().await;
}

async fn another_company_s_channel_changes_nothing(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    send(&running, "everyone", FIRST, 3).await;
    let globex = running.store.companies().add(&Who::Pombo, "Globex", "standard").await.unwrap().id;
    let theirs = running.add_channel_of(globex, "x", "206540352242922", "standard").await;
    let before = rows(universe).await;
    let teller = Teller::new(&running);
    let statuses: Vec<_> = before.iter().map(|row| status(row, "failed", Some(131_050))).collect();
    let inbound = json!([{ "from": "5511900000001", "id": "wamid.in", "timestamp": "1", "type": "text" }]);
    for number in [NUMBER, "206540352242922"] {
        let value = json!({ "statuses": statuses, "messages": inbound });
        assert_eq!(teller.tell(theirs, number, &value).await.status, 200);
    }
    // The account is the other company's too; that company has no such template, and its own channels.
    let paused = json!({ "event": "PAUSED", "message_template_id": 1, "message_template_name": "promo",
        "message_template_language": "en_US" });
    assert_eq!(teller.tell_field(theirs, "message_template_status_update", &paused).await.status, 200);
    assert_eq!(rows(universe).await, before);
    let suppressions = running.store.suppressions().current(pombo::clock::Timestamp::now()).await.unwrap();
    assert!(suppressions.iter().all(|suppression| suppression.company_id == globex), "{suppressions:?}");
    assert_eq!(teller::heard(universe).await, ["wamid.in"], "only the report about their own number");
    let everything = ConversationFilter::default();
    let kept = running.engine().conversations(globex).list(everything, None, 9).await.unwrap().conversations;
    assert_eq!(kept.iter().map(|kept| kept.conversation.channel_id).collect::<Vec<_>>(), [theirs]);
    running.end().await;
}

async fn a_thousand_receipts_come_in_one_webhook(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    send(&running, "everyone", FIRST, 1_000).await;
    let sent = rows(universe).await;
    assert!(sent.iter().all(|row| row.state == State::Sent.as_i16()));
    let teller = Teller::new(&running);
    let statuses: Vec<_> = sent.iter().rev().map(|row| status(row, "delivered", None)).collect();
    let answer = teller.tell(running.channel, NUMBER, &json!({ "statuses": statuses })).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    // The change is durable before the answer, so the test need not wait.
    assert_eq!(states(universe).await, BTreeMap::from([(State::Delivered.as_i16(), 1_000)]));
    running.end().await;
}

async fn only_the_right_verify_token_sets_a_webhook_up(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let client = reqwest::Client::new();
    let ask = async |channel: Uuid, query: &[(&str, &str)]| {
        crate::harness::Answer::to(client.get(running.hook(channel)).query(query)).await
    };
    let (word, other) = (running.verify_token.clone(), "0".repeat(64));
    let subscribe = ("hub.mode", "subscribe");
    let challenge = ("hub.challenge", "<b>1158201444</b>");
    let answer = ask(running.channel, &[subscribe, challenge, ("hub.verify_token", &word)]).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "<b>1158201444</b>"));
    assert!(answer.header("content-type").starts_with("text/plain"));
    for query in [
        vec![subscribe, challenge, ("hub.verify_token", &other)],
        vec![subscribe, challenge, ("hub.verify_token", &word[1..])],
        vec![subscribe, challenge],
        vec![subscribe, ("hub.verify_token", &word)],
        vec![("hub.mode", "unsubscribe"), challenge, ("hub.verify_token", &word)],
    ] {
        let answer = ask(running.channel, &query).await;
        assert_eq!(
            (answer.status, answer.code().as_deref()),
            (403, Some("invalid_verify_token")),
            "{query:?}"
        );
    }
    let unknown = ask(Uuid::now_v7(), &[subscribe, challenge, ("hub.verify_token", &word)]).await;
    assert_eq!((unknown.status, unknown.code().as_deref()), (404, Some("channel_not_found")));
    running.end().await;
}
