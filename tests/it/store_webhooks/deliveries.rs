//! The log of deliveries.

use pombo::domain::page::{Start, Window};
use pombo::domain::webhook::FaultKind;
use pombo::store::webhooks::{DELIVERIES_KEPT, MOST_DELIVERIES};

use super::*;

stores!(deliveries_are_kept_for_a_week_and_up_to_a_number);

async fn deliveries_are_kept_for_a_week_and_up_to_a_number(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let (many, few) = (add(store, acme).await.id, add(store, acme).await.id);
    let silent = Delivery {
        sequence: None,
        status: None,
        answer: None,
        fault: Some("the receiver did not answer in time".to_owned()),
        fault_kind: Some(FaultKind::Timeout),
        sent: SentHeaders {
            id: Some("batch.7.9.a".to_owned()),
            signature: "v1,AAAA v1,BBBB".to_owned(),
            own: vec!["authorization".to_owned(), "x-team".to_owned()],
        },
        ..delivery(few, NOW, 2)
    };
    let most = u16::try_from(MOST_DELIVERIES).unwrap();
    let week_ago = NOW.minus(DELIVERIES_KEPT);
    let mut all: Vec<_> = (1..=most + 5).map(|nth| delivery(many, NOW, nth)).collect();
    let old = delivery(few, week_ago.minus(Duration::from_millis(1)), 1);
    all.extend([silent.clone(), old, delivery(few, week_ago, 1)]);
    for delivery in &mut all {
        // Those of both endpoints have different ids.
        delivery.id = Uuid::from_u128(delivery.id.as_u128() | u128::from(delivery.endpoint_id == few) << 60);
    }
    for _ in 0..2 {
        store.webhooks().log(&all).await.unwrap();
    }
    let webhooks = store.of(acme).webhooks();
    assert_eq!(webhooks.deliveries(many, ALL).await.unwrap().total, u64::from(most) + 5);
    assert_eq!(webhooks.deliveries(few, ALL).await.unwrap().total, 3);
    assert_eq!(store.webhooks().trim(NOW).await.unwrap(), 6);
    assert_eq!(store.webhooks().trim(NOW).await.unwrap(), 0);

    let page = webhooks.deliveries(many, Window::<Uuid> { start: Start::Offset(0), limit: 2 }).await.unwrap();
    let attempts = |page: &[Delivery]| page.iter().map(|delivery| delivery.attempt).collect::<Vec<_>>();
    assert_eq!((page.total, attempts(&page.records)), (MOST_DELIVERIES, vec![most + 5, most + 4]));
    let next = Window { start: Start::After(page.records[1].id), limit: 2 };
    let next = webhooks.deliveries(many, next).await.unwrap();
    assert_eq!((next.total, attempts(&next.records)), (MOST_DELIVERIES, vec![most + 3, most + 2]));
    let kept = webhooks.deliveries(few, ALL).await.unwrap().records;
    let expected = |delivery: Delivery| Delivery { id: Uuid::nil(), ..delivery };
    let kept: Vec<_> = kept.into_iter().map(expected).collect();
    assert_eq!(kept, [silent, delivery(few, week_ago, 1)].map(expected));
}
