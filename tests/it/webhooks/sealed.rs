//! An endpoint whose secret was sealed with a key that the service lacks gets nothing, and loses nothing.

use pombo::domain::error::Code;
use pombo::domain::webhook::SealedPart;
use pombo::engine;

use super::*;

stores!(events_wait_for_an_endpoint_whose_sealing_key_is_lost_until_its_secret_is_replaced);

/// Adds an endpoint as a service with another sealing key did; with a header, if `has_headers` says so.
pub(crate) async fn add_sealed(store: &Store, company: Uuid, settings: Settings, has_headers: bool) -> Uuid {
    let (id, lost) = (Uuid::now_v7(), Vault::unused());
    let secret = lost.seal(signature::generate().expose().as_bytes(), &context::webhook_secret(id));
    let headers = has_headers.then(|| lost.seal(br#"[["x-team","sales"]]"#, &context::webhook_headers(id)));
    let settings = settings.checked(Schemes::HttpToo).unwrap();
    let new = NewEndpoint { id, settings, headers, secret };
    store.of(company).webhooks().add(&Who::Pombo, new).await.unwrap().unwrap();
    id
}

async fn events_wait_for_an_endpoint_whose_sealing_key_is_lost_until_its_secret_is_replaced(
    universe: &Universe,
) {
    let (running, receiver) = (start(universe).await, Receiver::start().await);
    let (company, types) = (running.company, [Type::MessageSent]);
    let id = add_sealed(&running.store, company, settings(&receiver, &types), false).await;
    let (endpoints, begin) =
        (running.engine().webhook_endpoints(), standing(&running.store, id).await.cursor);
    endpoints.changed();
    for ordinal in 0..3 {
        send(&running, ordinal).await;
    }
    until("the events in the log", async || logged(&running.store, company, begin, &types).await.len() == 3)
        .await;
    let shown = endpoints.find(company, id).await.unwrap();
    assert_eq!((shown.unsealable, shown.header_names), (vec![SealedPart::Secret], Some(Vec::new())));
    let health = shown.endpoint.health;
    assert_eq!((health.state, health.failures, shown.lost), (State::Enabled, 0, 0));
    assert!(shown.waiting_since.is_some() && receiver.got().is_empty());
    let refused = endpoints.test(company, id, Type::MessageSent).await.unwrap_err();
    assert!(
        matches!(&refused, engine::Error::Refused(refusal) if refusal.code == Code::WebhookUnsealable),
        "{refused:?}"
    );

    let overlap = Duration::from_secs(3_600);
    let (secret, _) = endpoints.rotate(&Who::Pombo, company, id, None, overlap).await.unwrap();
    until("all events at the receiver", async || receiver.ids().len() == 3).await;
    let key = SigningKey::parse(&secret).unwrap();
    assert!(receiver.got().iter().all(|got| got.is_signed_with(&key)), "a lost secret signs nothing");
    assert!(endpoints.find(company, id).await.unwrap().unsealable.is_empty());
    running.end().await;
}
