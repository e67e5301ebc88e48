//! Every change of a tier, a channel or an operator is committed together with its record.

mod nothing;

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::page::PageRequest;
use pombo::domain::scope::Scopes;
use pombo::domain::tier::OwnOptions;
use pombo::store::api_keys::NewKey;
use pombo::store::changes::{Change, Filter, What, Who};
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::checkup::check_up;
use pombo::store::operators::NewOperator;
use pombo::store::schema::Schema;
use pombo::store::{Error, Store};
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Universe, stores};

const ALL: PageRequest = PageRequest { page: 1, limit: 100 };

stores!(
    applied_tiers_are_recorded_with_what_they_were,
    tiers_of_another_kind_are_refused_whole,
    operators_changes_of_a_channel_are_recorded_without_the_token,
    companies_channels_keys_and_app_secrets_are_recorded_without_the_secrets,
    an_operator_s_name_is_given_once_and_the_key_can_be_revoked,
    a_change_that_cannot_be_recorded_is_not_made,
    changes_are_found_by_kind_and_subject,
    changes_are_found_by_who_made_them_and_when,
    the_schema_goes_all_the_way_down_and_up_again,
    a_schema_of_another_version_is_refused_and_the_refusal_says_what_to_do,
);

fn ana() -> Who {
    Who::Operator("ana".to_owned())
}

fn tier(name: &str, settings: &Value) -> (String, String) {
    (name.to_owned(), settings.to_string())
}

/// The record of changes, without the companies and channels that a test begins with.
async fn changes(store: &Store) -> Vec<Change> {
    let mut recorded = store.changes().page(Filter::default(), ALL).await.unwrap().records;
    recorded.retain(|change| ![What::Company, What::Channel].contains(&change.what));
    recorded
}

/// Author, kind, before and after of each change, the newest first.
fn told(changes: &[Change]) -> Vec<(&str, &str, Option<&Value>, &Value)> {
    changes
        .iter()
        .map(|change| (change.who.as_str(), change.what.as_str(), change.before.as_ref(), &change.after))
        .collect()
}

async fn add_channel(store: &Store, status: Status) -> Uuid {
    let company = store.companies().add(&Who::Pombo, &Uuid::now_v7().to_string(), "standard").await.unwrap();
    let new = NewChannel {
        id: Uuid::now_v7(),
        company_id: company.id,
        kind: Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: None,
        waba_id: None,
        tier: "standard".to_owned(),
        secrets: Sealed { token: Some(vec![1]), app_secret: None },
        status,
    };
    store.channels().add(&Who::Pombo, new).await.unwrap().id
}

async fn applied_tiers_are_recorded_with_what_they_were(universe: &Universe) {
    let store = &universe.store;
    let (slow, fast) = (json!({"kind": "a", "pace": 1}), json!({"kind": "a", "pace": 2}));
    let before = Timestamp::now();
    let added = store.tiers().apply(&Who::Pombo, &[tier("x", &slow), tier("y", &slow)]).await.unwrap();
    assert_eq!(added.iter().map(|change| change.subject.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    let compared = store.tiers().compare(&ana(), &[tier("x", &fast), tier("y", &slow)]).await.unwrap();
    assert_eq!(told(&compared), [("ana", "tier", Some(&slow), &fast)]);
    assert_eq!(changes(store).await.len(), 2, "comparing changes nothing");

    let changed = store.tiers().apply(&ana(), &[tier("x", &fast), tier("y", &slow)]).await.unwrap();
    assert_eq!(told(&changed), [("ana", "tier", Some(&slow), &fast)]);
    let recorded = changes(store).await;
    assert_eq!(recorded[0], changed[0]);
    assert_eq!(told(&recorded[1..]), [("pombo", "tier", None, &slow), ("pombo", "tier", None, &slow)]);
    assert!(recorded[0].at >= recorded[2].at && recorded[2].at >= before);
    assert_eq!(recorded[0].id.get_version_num(), 7);
}

async fn tiers_of_another_kind_are_refused_whole(universe: &Universe) {
    let store = &universe.store;
    store.tiers().apply(&ana(), &[tier("x", &json!({"kind": "a"}))]).await.unwrap();
    let seen = (store.tiers().all().await.unwrap(), store.revisions().await.unwrap(), changes(store).await);
    let given = [tier("new", &json!({"kind": "a"})), tier("x", &json!({"kind": "b"}))];
    for refused in [store.tiers().apply(&ana(), &given).await, store.tiers().compare(&ana(), &given).await] {
        assert!(matches!(&refused, Err(Error::OtherKind(name)) if name == "x"), "{refused:?}");
    }
    assert_eq!(
        (store.tiers().all().await.unwrap(), store.revisions().await.unwrap(), changes(store).await),
        seen
    );
    store.tiers().apply(&ana(), &[tier("x", &json!({"kind": "a", "pace": 2}))]).await.unwrap();
}

async fn operators_changes_of_a_channel_are_recorded_without_the_token(universe: &Universe) {
    let store = &universe.store;
    let id = add_channel(store, Status::Disconnected).await;
    let user = Who::CommandLine("root".to_owned());
    assert!(store.channels().set_tier(&user, id, ("high", &OwnOptions::default()), None).await.unwrap());
    let revision = store.revisions().await.unwrap().channel;
    assert!(
        store.channels().set_tier(&user, id, ("high", &OwnOptions::default()), None).await.unwrap(),
        "the tier is there all the same"
    );
    assert_eq!(store.revisions().await.unwrap().channel, revision);
    assert!(store.channels().reconnect(&ana(), id, Some(b"sealed".to_vec())).await.unwrap());
    assert!(store.channels().reconnect(&ana(), id, None).await.unwrap());

    let recorded = changes(store).await;
    assert!(recorded.iter().all(|change| change.subject == id.to_string()));
    let [old, new, replaced] = [json!("standard"), json!("high"), json!("replaced")];
    let [disconnected, connecting] = [json!("disconnected"), json!("connecting")];
    let expected = [
        ("ana", "channel.status", Some(&disconnected), &connecting),
        ("ana", "channel.token", None, &replaced),
        ("cli:root", "channel.tier", Some(&old), &new),
    ];
    assert_eq!(told(&recorded), expected);
    assert!(
        !store.channels().set_tier(&user, Uuid::nil(), ("high", &OwnOptions::default()), None).await.unwrap()
    );
    assert!(!store.channels().reconnect(&user, Uuid::nil(), None).await.unwrap());
    assert_eq!(changes(store).await.len(), 3);
}

async fn companies_channels_keys_and_app_secrets_are_recorded_without_the_secrets(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&ana(), "acme", "standard").await.unwrap().id;
    let id = Uuid::now_v7();
    let new = NewChannel {
        id,
        company_id: company,
        kind: Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: Some("30".to_owned()),
        waba_id: Some("20".to_owned()),
        tier: "standard".to_owned(),
        secrets: Sealed { token: Some(b"token".to_vec()), app_secret: None },
        status: Status::Connecting,
    };
    store.channels().add(&ana(), new).await.unwrap();
    for sealed in [b"secret", b"sealed"] {
        assert!(store.channels().set_app_secret(&ana(), id, sealed.to_vec()).await.unwrap());
    }
    assert!(!store.channels().set_app_secret(&ana(), Uuid::nil(), b"secret".to_vec()).await.unwrap());
    let key =
        NewKey { name: "till", prefix: "pombo_ab", hash: [7; 32], expires_at: None, scopes: Scopes::ALL };
    let key = store.of(company).keys().add(&ana(), key).await.unwrap().id;
    assert!(store.keys().revoke(&ana(), key).await.unwrap());
    assert!(!store.keys().revoke(&ana(), key).await.unwrap());

    let recorded = store.changes().page(Filter::default(), ALL).await.unwrap().records;
    let subjects: Vec<_> = recorded.iter().map(|change| change.subject.clone()).collect();
    assert_eq!(subjects, [key, key, id, id, id, company].map(|id| id.to_string()));
    let channel = json!({
        "company_id": company, "kind": "business_account", "name": "shop", "phone_number": null,
        "phone_number_id": "30", "waba_id": "20", "tier": "standard",
    });
    let added = json!({
        "status": "valid", "company_id": company, "name": "till", "prefix": "pombo_ab", "expires_at": null,
        "scopes": ["send", "read", "contacts", "control", "events", "inbox", "graph"],
    });
    let [valid, revoked, given, replaced] = ["valid", "revoked", "given", "replaced"].map(|word| json!(word));
    let expected = [
        ("ana", "key", Some(&valid), &revoked),
        ("ana", "key", None, &added),
        ("ana", "channel.app_secret", None, &replaced),
        ("ana", "channel.app_secret", None, &given),
        ("ana", "channel", None, &channel),
        ("ana", "company", None, &json!({ "name": "acme", "tier": "standard" })),
    ];
    assert_eq!(told(&recorded), expected);
}

async fn an_operator_s_name_is_given_once_and_the_key_can_be_revoked(universe: &Universe) {
    let store = &universe.store;
    let new = |name, hash| NewOperator { name, prefix: "pombo_op_ab", hash, expires_at: None };
    let ana = store.operators().add(&Who::Pombo, new("ana", [1; 32])).await.unwrap();
    assert!(matches!(store.operators().add(&Who::Pombo, new("ana", [2; 32])).await, Err(Error::Taken(_))));
    assert!(matches!(store.operators().add(&Who::Pombo, new("bob", [1; 32])).await, Err(Error::Taken(_))));
    assert_eq!(store.operators().find(&[1; 32]).await.unwrap(), Some(ana.clone()));
    assert_eq!(store.operators().find(&[2; 32]).await.unwrap(), None);
    let now = Timestamp::now();
    let late = NewOperator { expires_at: Some(now), ..new("late", [3; 32]) };
    let late = store.operators().add(&Who::Pombo, late).await.unwrap();
    assert!(ana.is_valid(now) && !late.is_valid(now));

    assert!(store.operators().revoke(&Who::Pombo, "ana").await.unwrap());
    assert!(!store.operators().revoke(&Who::Pombo, "ana").await.unwrap());
    assert!(!store.operators().revoke(&Who::Pombo, "nobody").await.unwrap());
    assert!(!store.operators().find(&[1; 32]).await.unwrap().unwrap().is_valid(now));
    assert!(matches!(store.operators().add(&Who::Pombo, new("ana", [4; 32])).await, Err(Error::Taken(_))));
    let names: Vec<_> = store.operators().all().await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["ana", "late"]);
    let [valid, revoked] = [json!("valid"), json!("revoked")];
    let expected = [
        ("pombo", "operator", Some(&valid), &revoked),
        ("pombo", "operator", None, &valid),
        ("pombo", "operator", None, &valid),
    ];
    assert_eq!(told(&changes(store).await), expected);
}

async fn a_change_that_cannot_be_recorded_is_not_made(universe: &Universe) {
    let store = &universe.store;
    let id = add_channel(store, Status::Disconnected).await;
    store.tiers().apply(&ana(), &[tier("x", &json!({"pace": 1}))]).await.unwrap();
    let seen = async || {
        (
            store.tiers().all().await.unwrap(),
            store.channels().find(id).await.unwrap(),
            store.channels().secrets(id).await.unwrap(),
            store.operators().all().await.unwrap(),
            store.companies().all().await.unwrap(),
            store.revisions().await.unwrap(),
        )
    };
    let before = seen().await;
    let database = Database::connect(&universe.url).await.unwrap();
    database.execute_unprepared("ALTER TABLE change RENAME TO lost").await.unwrap();
    let new = NewOperator { name: "bob", prefix: "pombo_op_ab", hash: [1; 32], expires_at: None };
    assert!(store.tiers().apply(&ana(), &[tier("x", &json!({"pace": 2}))]).await.is_err());
    assert!(store.channels().set_tier(&ana(), id, ("high", &OwnOptions::default()), None).await.is_err());
    assert!(store.channels().reconnect(&ana(), id, Some(vec![2])).await.is_err());
    assert!(store.operators().add(&ana(), new.clone()).await.is_err());
    assert!(store.channels().set_app_secret(&ana(), id, vec![2]).await.is_err());
    assert!(store.companies().add(&ana(), "globex", "standard").await.is_err());
    let company_id = store.channels().find(id).await.unwrap().unwrap().company_id;
    let key =
        NewKey { name: "till", prefix: "pombo_ab", hash: [7; 32], expires_at: None, scopes: Scopes::ALL };
    assert!(store.of(company_id).keys().add(&ana(), key).await.is_err());
    assert_eq!(seen().await, before);

    database.execute_unprepared("ALTER TABLE lost RENAME TO change").await.unwrap();
    store.operators().add(&ana(), new).await.unwrap();
    assert!(store.channels().reconnect(&ana(), id, Some(vec![2])).await.unwrap());
    assert_eq!(changes(store).await.len(), 4);
}

async fn changes_are_found_by_kind_and_subject(universe: &Universe) {
    let store = &universe.store;
    let id = add_channel(store, Status::Connected).await;
    for pace in 1..=5 {
        store.tiers().apply(&ana(), &[tier("x", &json!({"pace": pace}))]).await.unwrap();
    }
    store.tiers().apply(&ana(), &[tier("y", &json!({}))]).await.unwrap();
    store.channels().set_tier(&ana(), id, ("x", &OwnOptions::default()), None).await.unwrap();
    let named = id.to_string();
    let count = async |what, subject| {
        let filter = Filter { what, subject, ..Filter::default() };
        let found = store.changes().page(filter, PageRequest { page: 1, limit: 2 }).await.unwrap();
        assert!(found.records.len() <= 2);
        found.total
    };
    assert_eq!(count(&[], None).await, 9, "with the company and the channel");
    assert_eq!(count(&[What::Tier], None).await, 6);
    assert_eq!(count(&[What::Tier, What::ChannelTier], None).await, 7);
    assert_eq!(count(&[], Some("x")).await, 5);
    assert_eq!(count(&[What::ChannelTier], Some(named.as_str())).await, 1);
    assert_eq!(count(&[What::Operator], None).await, 0);
    let third = PageRequest { page: 3, limit: 2 };
    let filter = Filter { subject: Some("x"), ..Filter::default() };
    let oldest = store.changes().page(filter, third).await.unwrap().records;
    assert_eq!((oldest.len(), &oldest[0].after), (1, &json!({"pace": 1})));
}

async fn changes_are_found_by_who_made_them_and_when(universe: &Universe) {
    let store = &universe.store;
    let began = Timestamp::now();
    let users = [("ana@a.example", 1), ("bea@a.example", 2)];
    let user = |email: &str| Who::User { email: email.to_owned(), address: [127, 0, 0, 1].into() };
    let mut moments = Vec::new();
    for pace in 0..3 {
        for (email, paces) in users {
            if pace <= paces {
                store
                    .tiers()
                    .apply(&user(email), &[tier("x", &json!({"pace": pace, "by": email}))])
                    .await
                    .unwrap();
            }
        }
        moments.push(next_moment().await);
    }
    let all = Filter::default();
    let count = async |filter| store.changes().page(filter, ALL).await.unwrap().total;
    let (ana, bea) = (Some("user:ana@a.example"), Some("user:bea@a.example"));
    assert_eq!(count(Filter { who: ana, ..all }).await, 2);
    assert_eq!(count(Filter { who: bea, what: &[What::Tier], ..all }).await, 3);
    assert_eq!(count(Filter { who: bea, what: &[What::Operator], ..all }).await, 0);
    assert_eq!(count(Filter { who: Some("ana@a.example"), ..all }).await, 0, "a whole name");
    assert_eq!(count(Filter { to: Some(began), ..all }).await, 0);
    assert_eq!(count(Filter { from: Some(moments[0]), ..all }).await, 3);
    assert_eq!(count(Filter { who: bea, from: Some(moments[0]), to: Some(moments[1]), ..all }).await, 1);
    assert_eq!(count(Filter { who: ana, from: Some(moments[1]), ..all }).await, 0);
    let odd = [Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX)];
    assert_eq!(count(Filter { from: Some(odd[0]), to: Some(odd[1]), ..all }).await, 5);
    assert_eq!(count(Filter { from: Some(odd[1]), ..all }).await, 0);
}

/// Waits until the time is after all recorded changes, and returns it.
async fn next_moment() -> Timestamp {
    let now = Timestamp::now();
    while Timestamp::now().millis() < now.millis() + 2 {
        tokio::task::yield_now().await;
    }
    now.plus(std::time::Duration::from_millis(1))
}

async fn the_schema_goes_all_the_way_down_and_up_again(universe: &Universe) {
    let schema = Schema::open(&universe.options()).await.unwrap();
    let steps = schema.status().await.unwrap().len();
    let undone = schema.down(u32::try_from(steps).unwrap()).await.unwrap();
    let applied = schema.up().await.unwrap();
    assert_eq!(applied, undone.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(applied.len(), steps);
    assert!(changes(&universe.store).await.is_empty());
    schema.close().await;
}

async fn a_schema_of_another_version_is_refused_and_the_refusal_says_what_to_do(universe: &Universe) {
    let database = Database::connect(&universe.url).await.unwrap();
    for (step, says) in [
        ("m20990101_000001_fly", "migrated by a newer version of this program: "),
        (
            "m20261121_000001_create_companies",
            "made before the first release, and no later program can use it: set",
        ),
    ] {
        let add = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{step}', 0)");
        database.execute_unprepared(&add).await.unwrap();
        let refused = [
            Store::open(&universe.options()).await.map(drop).unwrap_err(),
            check_up(&universe.options()).await.map(drop).unwrap_err(),
            Schema::open(&universe.options()).await.unwrap().up().await.map(drop).unwrap_err(),
        ];
        for error in refused {
            assert!(matches!(&error, Error::Schema(words) if words.contains(says)), "{error:?}");
        }
        let remove = format!("DELETE FROM seaql_migrations WHERE version = '{step}'");
        database.execute_unprepared(&remove).await.unwrap();
    }
    database.close().await.unwrap();
}
