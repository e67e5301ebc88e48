//! How people mend a receiver: the log of deliveries has the headers that it got, and once it works again it does not wait for the
//! next probe.

use std::ops::Range;

use super::*;
use crate::running::until_soon;

stores! {
    a_receiver_that_works_again_gets_an_event_after_a_test_or_a_replay_at_once,
    the_log_of_deliveries_has_the_headers_of_each_request,
}

/// Lets requests fail until the endpoint gets one event a minute. Afterwards its receiver works again.
async fn fail(running: &Running, receiver: &Receiver, id: Uuid, ordinals: Range<u64>) {
    receiver.answer_always(Some(500));
    for ordinal in ordinals {
        send(running, ordinal).await;
    }
    until("five failures in a row", async || standing(&running.store, id).await.health.failures >= 5).await;
    receiver.answer_always(None);
}

async fn a_receiver_that_works_again_gets_an_event_after_a_test_or_a_replay_at_once(universe: &Universe) {
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let id = add_to(&running, settings(&receiver, &[Type::MessageSent])).await.id;
    let endpoints = running.engine().webhook_endpoints();
    let works = async || standing(&running.store, id).await.health.failures == 0;
    fail(&running, &receiver, id, 0..8).await;
    let tested = endpoints.test(running.company, id, Type::MessageSent).await.unwrap().unwrap();
    assert!(tested.answer.is_delivered(), "{tested:?}");
    until_soon("an event after the test", works).await;

    fail(&running, &receiver, id, 8..16).await;
    let failed = ReplayRequest { of: ReplayOf::Failed, ..ReplayRequest::default() };
    endpoints.replay(&Who::Pombo, running.company, id, failed).await.unwrap();
    until_soon("an event after the replay", works).await;
    running.end().await;
}

async fn the_log_of_deliveries_has_the_headers_of_each_request(universe: &Universe) {
    const CONTACTS: u64 = 60;
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let settings = Settings { batch: 30, ..settings(&receiver, &[Type::MessageSent]) };
    let id = add_to(&running, settings).await.id;
    let tag = running.tag("everyone", FIRST, CONTACTS).await;
    running.send_to_tag(tag, CONTACTS).await;
    until("all events at the receiver", async || receiver.ids().len() as u64 == CONTACTS).await;
    until("all requests in the log", async || deliveries(&running, id).await.len() == receiver.got().len())
        .await;
    let log = deliveries(&running, id).await;
    for got in receiver.got() {
        let request = ("webhook-id", Some(got.header("webhook-id").to_owned()));
        let mut sent = log.iter().map(|delivery| delivery.sent.all(&delivery.event_id, delivery.at));
        let sent = sent.find(|headers| headers.contains(&request)).unwrap_or_else(|| panic!("{got:?}"));
        for (name, value) in sent {
            assert_eq!(value.as_deref(), Some(got.header(name)), "{name}");
        }
    }
    running.end().await;
}
