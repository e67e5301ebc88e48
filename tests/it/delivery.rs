//! Accepted messages arrive exactly once, through the real surface and at a provider that counts.

use pombo::domain::channel::Status;
use pombo::store::changes::Who;
use serde_json::json;

use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, TOKEN, until};

stores!(
    a_tag_send_reaches_every_contact_once,
    a_single_message_arrives_and_confirms_the_channel,
    a_refused_token_keeps_the_queue_and_a_new_one_goes_on_without_loss_or_repeat,
    a_permanent_error_fails_one_message_and_a_temporary_one_is_retried,
    a_graceful_stop_in_mid_send_goes_on_where_it_stopped,
    bulk_sends_and_single_sends_on_one_channel_all_arrive,
);

async fn a_tag_send_reaches_every_contact_once(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let everyone = running.tag("everyone", 5_511_900_000_000, 9_000).await;
    let vip = running.tag("vip", 5_511_900_008_000, 2_000).await;
    let body = json!({
        "type": "text",
        "message": "hi",
        "contact_tag_id": [everyone, vip],
        "phone_number": ["+55 11 90000-0001", 5_511_999_999_999_u64, "12"],
    });
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    assert_eq!(answer["recipients_count"], 10_001);
    assert_eq!(answer["skipped_count"], 1);
    running.settled(10_001).await;
    assert_eq!(running.delivered(), (10_001, 10_001));
    running.end().await;
}

async fn a_single_message_arrives_and_confirms_the_channel(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (status, answer) =
        running.send(&json!({ "type": "text", "message": "olá", "phone_number": "5511988887777" })).await;
    assert_eq!((status, &answer["recipients_count"]), (202, &json!(1)));
    running.settled(1).await;
    until("the channel connected", async || running.status(running.channel).await == Status::Connected).await;
    let body = running.simulator.messages(0, 10).remove(0);
    assert_eq!(body.to, "5511988887777");
    running.end().await;
}

async fn a_refused_token_keeps_the_queue_and_a_new_one_goes_on_without_loss_or_repeat(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let tag = running.tag("everyone", 5_511_900_000_000, 3_000).await;
    let expire = json!([
        { "match": {}, "every": 1_000, "times": 1, "outcome": { "error": { "code": 190 } } }
    ]);
    running.simulator.script(&expire).unwrap();
    running.send_to_tag(tag, 3_000).await;
    until("the channel disconnected", async || running.status(running.channel).await == Status::Disconnected)
        .await;
    let (status, answer) =
        running.send(&json!({ "type": "text", "message": "hi", "phone_number": "5511988887777" })).await;
    assert_eq!((status, answer["code"].as_str()), (400, Some("reconnect_waba")));
    assert!(running.delivered().0 < 3_000, "the queue was not kept");

    let token = running.seal(running.channel, TOKEN);
    running.store.channels().reconnect(&Who::Pombo, running.channel, Some(token)).await.unwrap();
    running.settled(3_000).await;
    assert_eq!(running.delivered(), (3_000, 3_000));
    running.end().await;
}

async fn a_permanent_error_fails_one_message_and_a_temporary_one_is_retried(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let tag = running.tag("everyone", 5_511_900_000_000, 200).await;
    let script = json!([
        { "match": { "to": "5511900000007" }, "outcome": { "error": { "code": 131_026 } } },
        { "match": { "to_suffix": "1" }, "times": 30, "outcome": { "error": { "code": 131_000 } } },
    ]);
    running.simulator.script(&script).unwrap();
    running.send_to_tag(tag, 200).await;
    running.settled(199).await;
    assert_eq!(running.delivered(), (199, 199));
    assert!(running.simulator.number(NUMBER).unwrap().arrivals >= 230);
    running.end().await;
}

async fn a_graceful_stop_in_mid_send_goes_on_where_it_stopped(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let tag = running.tag("everyone", 5_511_900_000_000, 12_000).await;
    running.send_to_tag(tag, 12_000).await;
    until("some messages delivered", async || running.delivered().0 > 500).await;
    running.restart().await;
    running.settled(12_000).await;
    assert_eq!(running.delivered(), (12_000, 12_000));
    running.end().await;
}

async fn bulk_sends_and_single_sends_on_one_channel_all_arrive(universe: &Universe) {
    let running = Running::start(universe, |config| {
        config.engine.direct_lane = 8;
        config.engine.active_bulk_sends = 2;
        config.engine.block_size = 64;
    })
    .await;
    let tag = running.tag("everyone", 5_511_900_000_000, 300).await;
    for single in 0..40_u64 {
        if single % 8 == 0 {
            running.send_to_tag(tag, 300).await;
        }
        let body = json!({ "type": "text", "message": "hi", "phone_number": 5_521_900_000_000 + single });
        assert_eq!(running.send(&body).await.0, 202);
    }
    running.settled(5 * 300 + 40).await;
    assert_eq!(running.delivered(), (5 * 300 + 40, 300 + 40));
    running.end().await;
}
