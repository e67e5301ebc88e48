//! People's changes of suppressions, beside the provider's.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::page::PageRequest;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;

use pombo::store::changes::{Filter, What, Who};
use pombo::store::ledger::PendingWrites;
use pombo::store::persons::users::Statement;
use pombo::store::suppressions::{Record, Says, Word};
use pombo::store::{Lease, Store};
use serde_json::json;
use uuid::Uuid;

use crate::database::{Universe, stores};

stores!(
    suppressions_that_a_person_adds_and_lifts_are_recorded_and_noticed,
    suppressions_are_found_by_many_numbers_at_once,
    a_person_s_suppression_outlasts_a_hold_and_leaves_the_provider_s_alone,
    a_statement_that_waits_for_a_number_counts_as_made_now_once_the_clock_went_back,
);

const CODE: i64 = 131_050;
const DAY: Duration = Duration::from_secs(24 * 3_600);

fn number(text: &str) -> PhoneNumber {
    PhoneNumber::parse(text).unwrap()
}

fn ana() -> Who {
    Who::CommandLine("ana".to_owned())
}

/// A report of the provider or a recipient.
async fn heard(store: &Store, lease: &Lease, record: Record) {
    let Record { company_id, recipient, scope, until, provider_code } = record;
    let says = match until {
        None => Says::Stop { provider_code },
        Some(until) => Says::Hold { until, provider_code },
    };
    let word = Word { company_id, recipient, scope, said_at: Timestamp::now(), says };
    let batch = PendingWrites { suppressions: vec![word], ..PendingWrites::default() };
    store.ledger().commit(lease, &batch, Timestamp::now()).await.unwrap();
}

async fn kept(store: &Store, company: Uuid) -> Vec<Record> {
    let kept = store.of(company).suppressions().all(Timestamp::now()).await.unwrap();
    kept.into_iter().map(|kept| kept.record).collect()
}

async fn suppressions_that_a_person_adds_and_lifts_are_recorded_and_noticed(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let other = store.companies().add(&Who::Pombo, "Globex", "standard").await.unwrap().id;
    let (one, two) = (number("+5511900000001"), number("+5511900000002"));
    let revision = async || store.revisions().await.unwrap().suppression;

    let before = revision().await;
    assert!(store.of(company).suppressions().add(&ana(), two, Suppression::Everything).await.unwrap());
    assert!(store.of(company).suppressions().add(&ana(), one, Suppression::Marketing).await.unwrap());
    assert!(store.of(other).suppressions().add(&ana(), one, Suppression::Marketing).await.unwrap());
    assert_eq!(revision().await, before + 3);
    assert!(!store.of(company).suppressions().add(&ana(), one, Suppression::Marketing).await.unwrap());
    assert_eq!(revision().await, before + 3, "nothing changed, so nobody has to look");
    let permanent = |company_id, recipient, scope| Record {
        company_id,
        recipient,
        scope,
        until: None,
        provider_code: None,
    };
    let both =
        [permanent(company, one, Suppression::Marketing), permanent(company, two, Suppression::Everything)];
    assert_eq!(kept(store, company).await, both);

    let lifted = store.of(company).suppressions().lift(&ana(), one).await.unwrap();
    assert_eq!(lifted.iter().map(|kept| kept.record).collect::<Vec<_>>(), both[..1]);
    assert!(store.of(company).suppressions().lift(&ana(), one).await.unwrap().is_empty());
    assert_eq!(revision().await, before + 4);
    assert_eq!(kept(store, company).await, both[1..]);
    assert_eq!(kept(store, other).await, [permanent(other, one, Suppression::Marketing)]);

    let filter = Filter { what: &[What::Suppression], subject: Some("+5511900000001"), ..Filter::default() };
    let changes = store.changes().page(filter, PageRequest { page: 1, limit: 10 }).await.unwrap().records;
    assert_eq!(changes.len(), 3);
    let lift = &changes[0];
    let was = |left_out_of: serde_json::Value| json!({ "company_id": company, "left_out_of": left_out_of, "held_for_a_while": [] });
    assert_eq!(lift.who, "cli:ana");
    assert_eq!((&lift.before, &lift.after), (&Some(was(json!(["marketing"]))), &was(json!([]))));
    assert_eq!(changes[2].before, None);
}

async fn a_person_s_suppression_outlasts_a_hold_and_leaves_the_provider_s_alone(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let (held, left) = (number("+5511900000001"), number("+5511900000002"));
    let said = |recipient, until| Record {
        company_id: company,
        recipient,
        scope: Suppression::Marketing,
        until,
        provider_code: Some(CODE),
    };
    let tomorrow = Timestamp::now().plus(DAY);
    heard(store, &lease, said(held, Some(tomorrow))).await;
    heard(store, &lease, said(left, None)).await;

    assert!(store.of(company).suppressions().add(&ana(), held, Suppression::Marketing).await.unwrap());
    assert!(!store.of(company).suppressions().add(&ana(), left, Suppression::Marketing).await.unwrap());
    let for_ever = Record { provider_code: None, ..said(held, None) };
    assert_eq!(kept(store, company).await, [for_ever, said(left, None)]);
    heard(store, &lease, said(held, Some(tomorrow))).await;
    assert_eq!(kept(store, company).await[0].until, None, "a hold that ends lets nobody back in");

    store.of(company).suppressions().lift(&ana(), held).await.unwrap();
    assert_eq!(kept(store, company).await, [said(left, None)]);
    heard(store, &lease, said(held, Some(tomorrow))).await;
    assert_eq!(
        kept(store, company).await,
        [said(left, None)],
        "the hold began before the suppression was lifted"
    );
    let tomorrow = tomorrow.plus(Duration::from_secs(60));
    heard(store, &lease, said(held, Some(tomorrow))).await;
    let lifted = store.of(company).suppressions().lift(&ana(), held).await.unwrap();
    assert_eq!(lifted[0].record.until, Some(tomorrow), "a hold can be lifted too");
    assert_eq!(kept(store, company).await, [said(left, None)]);
}

async fn a_statement_that_waits_for_a_number_counts_as_made_now_once_the_clock_went_back(
    universe: &Universe,
) {
    let (store, now) = (&universe.store, Timestamp::now());
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let stop = |said_at| Statement {
        user_id: "BR.1".to_owned(),
        scope: Suppression::Marketing,
        says: Says::Stop { provider_code: None },
        said_at,
    };
    let waiting = async || store.of(company).persons().statements_of(["BR.1"]).await.unwrap();
    store.of(company).persons().keep_statements(&[stop(now.plus(2 * DAY))]).await.unwrap();
    assert_eq!(store.sends().clock_went_back(now, DAY).await.unwrap(), 1);
    assert_eq!(waiting().await, [stop(now)]);
    let later = now.plus(Duration::from_secs(1));
    store.of(company).persons().keep_statements(&[stop(later)]).await.unwrap();
    assert_eq!(waiting().await, [stop(later)], "the later one counts");
}

async fn suppressions_are_found_by_many_numbers_at_once(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let other = store.companies().add(&Who::Pombo, "Globex", "standard").await.unwrap().id;
    let (one, two) = (number("+5511900000001"), number("+5511900000002"));
    for scope in [Suppression::Everything, Suppression::Marketing] {
        store.of(company).suppressions().add(&ana(), one, scope).await.unwrap();
    }
    store.of(other).suppressions().add(&ana(), two, Suppression::Marketing).await.unwrap();
    store.of(company).suppressions().add(&ana(), two, Suppression::Marketing).await.unwrap();
    store.of(company).suppressions().lift(&ana(), two).await.unwrap();
    let among = async |company: Uuid, numbers: &[PhoneNumber]| {
        let kept = store.of(company).suppressions().among(numbers, Timestamp::now()).await.unwrap();
        kept.iter().map(|kept| (kept.record.recipient, kept.record.scope)).collect::<Vec<_>>()
    };
    // More than are looked up together.
    let mut many: Vec<_> =
        (0..6_000).filter_map(|end| PhoneNumber::from_u64(5_511_800_000_000 + end)).collect();
    many.extend([two, one]);
    assert_eq!(among(company, &many).await, [(one, Suppression::Marketing), (one, Suppression::Everything)]);
    assert_eq!(among(other, &[one, two]).await, [(two, Suppression::Marketing)]);
    assert_eq!(among(company, &[]).await, []);
}
