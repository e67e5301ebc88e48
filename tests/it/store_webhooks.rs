//! Webhook endpoints: people's changes, the progress that the engine writes, and the log of deliveries.

mod deliveries;
mod lag;
mod progress;
mod replay;
mod together;
mod told;

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::event::log::Sequence;
use pombo::domain::event::{Data, Type};
use pombo::domain::page::PageRequest;
use pombo::domain::webhook::{Cause, Endpoint, Health, Resume, Schemes, SentHeaders, Settings, State};
use pombo::store::changes::{Change, Filter, What, Who};
use pombo::store::ledger::PendingWrites;
use pombo::store::sealed::{Kind, Place};
use pombo::store::webhooks::{
    Changing, Delivery, EndpointSecrets, EndpointStanding, HeadersChange, NewEndpoint, StoredRetry, Write,
};
use pombo::store::{Lease, Store};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::wrote;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const CHANNEL: Uuid = Uuid::from_u128(3);
const ALL: PageRequest = PageRequest { page: 1, limit: 2_000 };

stores! {
    endpoints_are_added_and_changed_and_each_change_is_recorded,
    a_company_reaches_only_its_own_endpoints,
    a_secret_is_replaced_at_once_or_signs_for_a_while,
    a_removed_endpoint_leaves_nothing,
    the_log_of_a_company_with_an_endpoint_is_written,
    the_secrets_of_an_endpoint_can_be_sealed_again,
}

fn ana() -> Who {
    Who::Key("ana".to_owned())
}

async fn company(store: &Store, name: &str) -> Uuid {
    store.companies().add(&Who::Pombo, name, "standard").await.unwrap().id
}

fn settings() -> Settings {
    Settings::new("https://example.com/hooks?token=secret").checked(Schemes::Https).unwrap()
}

fn new_endpoint() -> NewEndpoint {
    NewEndpoint { id: Uuid::now_v7(), settings: settings(), headers: Some(vec![7, 1]), secret: vec![7, 2] }
}

async fn add(store: &Store, company: Uuid) -> Endpoint {
    store.of(company).webhooks().add(&ana(), new_endpoint()).await.unwrap().unwrap()
}

/// The recorded changes of this kind, the newest first.
async fn recorded(store: &Store, what: What) -> Vec<Change> {
    let filter = Filter { what: &[what], ..Filter::default() };
    store.changes().page(filter, ALL).await.unwrap().records
}

async fn revision(store: &Store) -> i64 {
    store.revisions().await.unwrap().webhook
}

fn retry(block: i64, attempts: u16) -> StoredRetry {
    StoredRetry { sequence: Sequence::new(block, 0), attempts, next_at: NOW }
}

async fn standing(store: &Store, id: Uuid) -> EndpointStanding {
    store.webhooks().standing(id).await.unwrap().unwrap()
}

async fn endpoints_are_added_and_changed_and_each_change_is_recorded(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let before = revision(store).await;
    let first = add(store, acme).await;
    let second = add(store, acme).await;
    assert_eq!((first.company_id, first.health, first.is_enabled()), (acme, Health::NEW, true));
    let webhooks = store.of(acme).webhooks();
    assert_eq!(webhooks.list().await.unwrap(), [first.clone(), second]);
    assert_eq!(webhooks.find(first.id).await.unwrap(), Some(first.clone()));
    assert_eq!(revision(store).await, before + 2);

    let settings = Settings {
        url: "https://example.com/other".to_owned(),
        types: vec![Type::MessageRead, Type::SendFinished],
        channels: vec![CHANNEL],
        max_in_flight: 4,
        batch: 100,
        masks_numbers: true,
        ..settings()
    };
    let changed = Endpoint { settings: settings.clone(), ..first.clone() };
    let mut present = first.settings.clone();
    for headers in [HeadersChange::Replace(vec![7, 9]), HeadersChange::Keep, HeadersChange::Remove] {
        let both = (&present, settings.clone());
        let answer = webhooks.change(&ana(), first.id, both, headers).await.unwrap();
        assert_eq!(answer, Changing::Done);
        present.clone_from(&settings);
        assert_eq!(webhooks.find(first.id).await.unwrap(), Some(changed.clone()));
    }
    let both = (&first.settings, settings.clone());
    let outdated = webhooks.change(&ana(), first.id, both, HeadersChange::Keep).await.unwrap();
    assert_eq!(outdated, Changing::Outdated);
    assert_eq!(revision(store).await, before + 4, "two of the changes change nothing");
    assert_eq!(webhooks.secrets(first.id).await.unwrap().unwrap().headers, None);

    let shown = |url: &str, is_changed: bool| {
        json!({
            "company_id": acme,
            "url": url,
            "shape": "pombo",
            "types": if is_changed { vec!["message.read", "send.finished"] } else { Vec::new() },
            "channels": if is_changed { vec![CHANNEL] } else { Vec::new() },
            "max_in_flight": if is_changed { 4 } else { 2 },
            "batch": if is_changed { 100 } else { 1 },
            "masks_numbers": is_changed,
        })
    };
    let with = |mut shown: Value, headers: &str| {
        shown["headers"] = json!(headers);
        shown
    };
    let (was, is) = (shown("https://example.com/hooks?…", false), shown("https://example.com/other", true));
    let changes = recorded(store, What::Webhook).await;
    let of_first: Vec<_> = changes.iter().filter(|change| change.subject == first.id.to_string()).collect();
    let [removed, replaced, added] = of_first[..] else { panic!("{changes:?}") };
    assert_eq!(
        (added.who.as_str(), &added.before, &added.after),
        ("key:ana", &None, &with(was.clone(), "given"))
    );
    assert_eq!((&replaced.before, &replaced.after), (&Some(was), &with(is.clone(), "replaced")));
    assert_eq!((&removed.before, &removed.after), (&Some(is.clone()), &with(is, "removed")));
}

async fn a_company_reaches_only_its_own_endpoints(universe: &Universe) {
    let store = &universe.store;
    let (acme, other) = (company(store, "Acme").await, company(store, "Globex").await);
    let endpoint = add(store, acme).await;
    let (id, before) = (endpoint.id, revision(store).await);
    let foreign = store.of(other).webhooks();
    assert!(foreign.list().await.unwrap().is_empty());
    assert_eq!(foreign.find(id).await.unwrap(), None);
    assert_eq!(foreign.secrets(id).await.unwrap(), None);
    let changed = Settings { batch: 9, ..settings() };
    let change = foreign.change(&ana(), id, (&settings(), changed), HeadersChange::Remove).await.unwrap();
    assert_eq!(change, Changing::NoEndpoint);
    assert_eq!(foreign.disable(&ana(), id).await.unwrap(), None);
    assert_eq!(foreign.enable(&ana(), id, Resume::FromNow).await.unwrap(), None);
    assert!(!foreign.rotate(&ana(), id, &[7, 2], vec![7, 3], None).await.unwrap());
    store.webhooks().log(&[delivery(id, NOW, 1)]).await.unwrap();
    assert_eq!(foreign.deliveries(id, ALL).await.unwrap().total, 0);
    assert!(!foreign.remove(&ana(), id).await.unwrap());
    assert_eq!(revision(store).await, before);
    let record = store.webhooks().find(id).await.unwrap().unwrap();
    let secrets = EndpointSecrets { headers: Some(vec![7, 1]), secret: vec![7, 2], former: None };
    assert_eq!((record.endpoint, record.secrets), (endpoint, secrets));
    assert_eq!(recorded(store, What::Webhook).await.len(), 1);
}

async fn a_secret_is_replaced_at_once_or_signs_for_a_while(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let id = add(store, acme).await.id;
    let webhooks = store.of(acme).webhooks();
    let secrets = async || {
        let EndpointSecrets { secret, former, .. } = webhooks.secrets(id).await.unwrap().unwrap();
        (secret, former)
    };
    let until = NOW.plus(Duration::from_secs(60));
    let former = |value| Some((vec![7, value], until));
    assert!(webhooks.rotate(&ana(), id, &[7, 2], vec![7, 3], former(2)).await.unwrap());
    assert!(!webhooks.rotate(&ana(), id, &[7, 2], vec![7, 9], None).await.unwrap(), "it was replaced before");
    assert_eq!(secrets().await, (vec![7, 3], Some((vec![7, 2], until))));
    store.webhooks().trim(NOW).await.unwrap();
    assert!(secrets().await.1.is_some());
    store.webhooks().trim(until).await.unwrap();
    assert_eq!(secrets().await, (vec![7, 3], None), "it no longer signs");
    assert!(webhooks.rotate(&ana(), id, &[7, 3], vec![7, 4], former(3)).await.unwrap());
    assert!(webhooks.rotate(&ana(), id, &[7, 4], vec![7, 5], None).await.unwrap());
    assert_eq!(secrets().await, (vec![7, 5], None), "no former secret signs");
    let changes = recorded(store, What::WebhookSecret).await;
    assert_eq!((changes.len(), &changes[0].subject, &changes[0].before), (3, &id.to_string(), &None));
    let after =
        |until: Option<Timestamp>| json!({ "company_id": acme, "status": "replaced", "former_until": until });
    assert_eq!((&changes[0].after, &changes[1].after), (&after(None), &after(Some(until))));
}

async fn a_removed_endpoint_leaves_nothing(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let (id, webhooks) = (add(store, acme).await.id, store.of(acme).webhooks());
    let changes = Write { put: vec![retry(1, 1)], ..Write::default() };
    assert!(store.webhooks().write(id, &changes).await.unwrap());
    store.webhooks().log(&[delivery(id, NOW, 1)]).await.unwrap();
    assert!(webhooks.remove(&ana(), id).await.unwrap());
    assert!(!webhooks.remove(&ana(), id).await.unwrap());
    assert_eq!(recorded(store, What::Webhook).await[0].after, json!("removed"));

    assert!(!store.webhooks().write(id, &changes).await.unwrap());
    store.webhooks().log(&[delivery(id, NOW, 2)]).await.unwrap();
    assert_eq!(store.webhooks().standing(id).await.unwrap(), None);
    assert_eq!(store.webhooks().find(id).await.unwrap(), None);
    webhooks.add(&ana(), NewEndpoint { id, ..new_endpoint() }).await.unwrap();
    assert!(standing(store, id).await.retries.is_empty());
    assert_eq!(webhooks.deliveries(id, ALL).await.unwrap().total, 0);
}

/// A person writes to a company.
async fn inbound(store: &Store, lease: &Lease, company_id: Uuid, identity: &str) {
    let message = wrote((company_id, company_id), identity, NOW);
    let batch = PendingWrites { inbound: vec![message], ..PendingWrites::default() };
    store.ledger().commit(lease, &batch, NOW).await.unwrap();
}

/// The messages of persons in a company's log after this place.
async fn logged(store: &Store, company: Uuid, after: Sequence) -> Vec<String> {
    let log = store.event_log();
    let through = log.settle().await.unwrap().through;
    let page = log.read(Some(company), (after, through), 100, |_| true).await.unwrap();
    let events = page.told.into_iter().filter_map(|told| match told.event.unwrap().data {
        Data::Inbound(inbound) => Some(inbound.provider_message_id),
        Data::WebhookDisabled(_) | Data::Conversation(_) => None,
        other => panic!("{other:?}"),
    });
    events.collect()
}

async fn the_log_of_a_company_with_an_endpoint_is_written(universe: &Universe) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let (acme, other) = (company(store, "Acme").await, company(store, "Globex").await);
    let write = async |identity: &str| {
        for company in [acme, other] {
            inbound(store, &lease, company, identity).await;
        }
    };
    write("a").await;
    let (id, webhooks) = (add(store, acme).await.id, store.of(acme).webhooks());
    write("b").await;
    assert_eq!(logged(store, acme, standing(store, id).await.cursor).await, ["b"]);
    webhooks.disable(&ana(), id).await.unwrap();
    write("c").await;
    assert_eq!(logged(store, acme, standing(store, id).await.cursor).await, ["b", "c"]);
    webhooks.enable(&ana(), id, Resume::FromNow).await.unwrap();
    write("d").await;
    assert_eq!(logged(store, acme, standing(store, id).await.cursor).await, ["d"]);
    webhooks.remove(&ana(), id).await.unwrap();
    write("e").await;
    assert_eq!(logged(store, acme, Sequence::default()).await, ["b", "c", "d"]);
    assert!(logged(store, other, Sequence::default()).await.is_empty(), "it has no reader");
}

/// The attempt of this number at this time.
fn delivery(endpoint_id: Uuid, at: Timestamp, nth: u16) -> Delivery {
    Delivery {
        id: Uuid::from_u128(u128::from(at.millis().unsigned_abs()) << 80 | u128::from(nth)),
        endpoint_id,
        at,
        event_id: format!("event.{nth}"),
        r#type: Type::MessageFailed.as_str().to_owned(),
        sequence: Some(Sequence::new(9, usize::from(nth))),
        events: 2,
        attempt: nth,
        status: Some(500),
        took: Duration::from_millis(120),
        answer: Some("a \"quoted\" answer".to_owned()),
        fault: None,
        fault_kind: None,
        sent: SentHeaders { id: None, signature: "v1,AAAA".to_owned(), own: Vec::new() },
    }
}

async fn the_secrets_of_an_endpoint_can_be_sealed_again(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let id = add(store, acme).await.id;
    let webhooks = store.of(acme).webhooks();
    assert!(webhooks.rotate(&ana(), id, &[7, 2], vec![7, 3], Some((vec![7, 2], NOW))).await.unwrap());
    let kinds = [(Kind::WebhookHeaders, 1), (Kind::FormerWebhookSecret, 2), (Kind::WebhookSecret, 3)];
    for (kind, value) in kinds {
        let beginnings = store.sealed().beginnings(kind, 1, 0).await.unwrap();
        assert_eq!(beginnings.iter().map(|one| (one.bytes[0], one.values)).collect::<Vec<_>>(), [(7, 1)]);
        let found = store.sealed().otherwise(kind, &[8], &Place::first(), 10).await.unwrap();
        let [sealed] = &found[..] else { panic!("{found:?}") };
        assert_eq!((sealed.place.channel_id, &sealed.sealed), (id, &vec![7, value]));
        assert_eq!(store.sealed().reseal(kind, &[(sealed.clone(), vec![8, value])]).await.unwrap(), 1);
        assert!(store.sealed().otherwise(kind, &[8], &Place::first(), 10).await.unwrap().is_empty());
    }
    let expected =
        EndpointSecrets { headers: Some(vec![8, 1]), secret: vec![8, 3], former: Some((vec![8, 2], NOW)) };
    assert_eq!(webhooks.secrets(id).await.unwrap(), Some(expected));
}
