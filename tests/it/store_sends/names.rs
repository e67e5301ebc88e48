//! The names of sends, who made them, and who paused and canceled them.

use pombo::clock::Timestamp;
use pombo::domain::send::{Control, Label, Recipients, Source};
use pombo::store::changes::{Filter as ChangeFilter, What, Who};
use pombo::store::ledger::{NewSend, PendingWrites, SourceOf};
use pombo::store::sends::StoredLabel;
use pombo::store::sends::list::Filter;
use serde_json::json;
use uuid::Uuid;

use super::{ACME, ALL, CHANNEL, GLOBEX, NOW, channels, commit, lease, new_send, number};
use crate::database::{Universe, stores};

stores! {
    sends_have_their_given_name_or_a_made_one_and_are_found_by_the_given_one,
    what_people_did_to_a_send_is_recorded_once_with_its_name,
}

fn named(id: u128, name: Option<&str>) -> NewSend {
    let label =
        Label { name: name.map(str::to_owned), made_by: Some("key:reports".to_owned()), ..Label::default() };
    NewSend { label: StoredLabel::from(&label), ..new_send(id, Recipients::One(number(0))) }
}

async fn sends_have_their_given_name_or_a_made_one_and_are_found_by_the_given_one(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    channels(universe, &[(CHANNEL, ACME)]).await;
    let vip = store.of(ACME).tags().ensure("vip", None).await.unwrap();
    let gone = store.of(ACME).tags().ensure("gone", None).await.unwrap();
    // As a version without names wrote it.
    let old = NewSend { label: StoredLabel::default(), ..new_send(12, Recipients::Group) };
    let foreign = NewSend { company_id: GLOBEX, ..named(13, Some("Ação de primavera")) };
    let sends = vec![named(10, Some("Ação 100% de Primavera")), named(11, None), old, foreign];
    let of = |id: u128, tag: Uuid| SourceOf { send_id: Uuid::from_u128(id), source: Source::Tag(tag) };
    let sources = vec![of(11, vip), of(11, gone)];
    commit(store, &lease, PendingWrites { sends, sources, ..PendingWrites::default() }).await;
    assert!(store.of(ACME).tags().delete(&Who::Pombo, gone).await.unwrap());

    let page = store.of(ACME).sends().page(ALL, &Filter::default(), NOW).await.unwrap();
    let shown: Vec<_> = page
        .records
        .iter()
        .map(|send| (send.id.as_u128(), send.name(), send.label.made_by.as_deref()))
        .collect();
    let by = Some("key:reports");
    assert_eq!(
        shown,
        [
            (12, "hi to a group".to_owned(), None),
            (11, "hi to vip".to_owned(), by),
            (10, "Ação 100% de Primavera".to_owned(), by),
        ]
    );
    for (search, expected) in [
        ("acao", &[10_u128][..]),
        ("PRIMAVERA", &[10]),
        ("100%", &[10]),
        ("0%d", &[]),
        ("hi", &[]),
        ("  ", &[12, 11, 10]),
    ] {
        let filter = Filter { search: Some(search.to_owned()), ..Filter::default() };
        let found = store.of(ACME).sends().heads(ALL, &filter, NOW).await.unwrap();
        let ids: Vec<_> = found.records.iter().map(|send| send.id.as_u128()).collect();
        assert_eq!((&ids[..], found.total), (expected, expected.len() as u64), "{search}");
    }
    let sent = store.of(ACME).sends().sent(Uuid::from_u128(10)).await.unwrap().unwrap();
    assert_eq!(sent.label.name.as_deref(), Some("Ação 100% de Primavera"));
}

async fn what_people_did_to_a_send_is_recorded_once_with_its_name(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    channels(universe, &[(CHANNEL, ACME)]).await;
    let sends = vec![named(10, Some("Spring")), named(11, None)];
    commit(store, &lease, PendingWrites { sends, ..PendingWrites::default() }).await;
    let (ana, id) = (Who::Key("ana".to_owned()), Uuid::from_u128(10));
    let sends = store.of(ACME).sends();
    for control in [Control::Paused, Control::Paused, Control::Running] {
        sends.control(id, control, Some(&ana), None).await.unwrap();
    }
    for _ in 0..2 {
        sends.cancel(id, Timestamp::now(), Some(&ana), None).await.unwrap();
    }
    sends.control(Uuid::from_u128(11), Control::Paused, Some(&ana), None).await.unwrap();
    // Another company's send is not changed, and nothing is recorded.
    store.of(GLOBEX).sends().cancel(Uuid::from_u128(11), NOW, Some(&ana), None).await.unwrap();

    let filter = ChangeFilter { what: &[What::Send], ..ChangeFilter::default() };
    let recorded = store.changes().page(filter, ALL).await.unwrap().records;
    let recorded: Vec<_> = recorded
        .iter()
        .rev()
        .map(|change| (change.who.as_str(), change.subject.as_str(), &change.after))
        .collect();
    let (first, second, acme) = (id.to_string(), Uuid::from_u128(11).to_string(), ACME.to_string());
    let became = |state: &str| json!({"state": state, "company_id": acme, "name": "Spring"});
    assert_eq!(
        recorded,
        [
            ("key:ana", first.as_str(), &became("paused")),
            ("key:ana", first.as_str(), &became("resumed")),
            ("key:ana", first.as_str(), &became("canceled")),
            ("key:ana", second.as_str(), &json!({"state": "paused", "company_id": acme})),
        ]
    );
}
