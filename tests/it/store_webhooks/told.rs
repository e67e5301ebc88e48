//! What programs and other endpoints are told of an endpoint.

use super::*;

stores!(others_are_told_when_an_endpoint_is_disabled_and_when_it_recovers);

async fn others_are_told_when_an_endpoint_is_disabled_and_when_it_recovers(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let (first, second) = (add(store, acme).await.id, add(store, acme).await.id);
    let webhooks = store.of(acme).webhooks();
    let write = async |health: Health| {
        let changes = Write { health: Some(health), ..Write::default() };
        // A write is repeated when its answer was lost.
        for _ in 0..2 {
            assert!(store.webhooks().write(first, &changes).await.unwrap());
        }
    };
    let failing =
        |failures| Health { failures, failing_since: Some(NOW), failed_at: Some(NOW), state: State::Enabled };
    for health in [failing(4), Health::NEW, failing(5), Health::NEW, failing(9)] {
        write(health).await;
    }
    let state = State::Disabled { cause: Cause::Failures, since: NOW };
    write(Health { state, ..failing(10) }).await;
    webhooks.enable(&ana(), first, Resume::CatchUp).await.unwrap();
    for _ in 0..2 {
        webhooks.disable(&ana(), second).await.unwrap();
    }

    let through = store.event_log().settle().await.unwrap().through;
    let all = (Sequence::default(), through);
    let page = store.event_log().read(Some(acme), all, 100, |_| true).await.unwrap();
    let told = page.told.into_iter().map(|told| {
        let event = told.event.unwrap();
        assert_eq!((event.company_id, event.channel_id), (acme, None));
        (event.r#type, json!(event.data))
    });
    let expected = [
        (Type::WebhookRecovered, json!({ "webhook_id": first, "failing_since": NOW.to_string() })),
        (Type::WebhookDisabled, json!({ "webhook_id": first, "reason": "failures" })),
        (Type::WebhookDisabled, json!({ "webhook_id": second, "reason": "person" })),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}
