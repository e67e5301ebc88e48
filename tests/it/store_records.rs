//! Companies, keys, channels, templates and tiers in the store, on both databases.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Connection, Kind, Number, Reason, ReasonCode, Status};
use pombo::domain::page::PageRequest;
use pombo::domain::scope::Scopes;
use pombo::domain::template::{self, ListedTemplate, ParameterFormat};
use pombo::domain::tier::OwnOptions;
use pombo::store::Error;
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::templates::{Filter, Record, Said};
use uuid::Uuid;

use crate::database::{Universe, stores};

const FIRST: PageRequest = PageRequest { page: 1, limit: 10 };

fn new_channel(company_id: Uuid, phone_number_id: &str) -> NewChannel {
    NewChannel {
        id: Uuid::now_v7(),
        company_id,
        kind: Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: Some(phone_number_id.to_owned()),
        waba_id: Some("waba".to_owned()),
        tier: "standard".to_owned(),
        secrets: Sealed { token: Some(vec![1, 2]), app_secret: None },
        status: Status::Connecting,
    }
}

fn synced(name: &str, status: &str, text: &str) -> ListedTemplate {
    ListedTemplate {
        provider_id: format!("p-{name}"),
        name: name.to_owned(),
        language: "en".to_owned(),
        category: "UTILITY".into(),
        status: status.into(),
        parameter_format: ParameterFormat::Positional,
        components: serde_json::value::to_raw_value(&[text]).unwrap(),
        rejected_reason: None,
        quality_score: None,
    }
}

async fn a_company_is_found_by_name_and_by_id_and_its_name_is_taken(universe: &Universe) {
    let store = &universe.store;
    let acme = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap();
    assert!(matches!(store.companies().add(&Who::Pombo, "acme", "large").await, Err(Error::Taken(_))));
    let aardvark = store.companies().add(&Who::Pombo, "aardvark", "standard").await.unwrap();
    assert_eq!(store.companies().all().await.unwrap(), [aardvark, acme.clone()]);
    assert_eq!(store.companies().find_named("acme").await.unwrap(), Some(acme.clone()));
    assert_eq!(store.companies().find_named(&acme.id.to_string()).await.unwrap(), Some(acme));
    assert_eq!(store.companies().find_named("nobody").await.unwrap(), None);
}

async fn a_revoked_key_stays_known_as_revoked(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap();
    let key = |hash| NewKey { name: "till", prefix: "pombo_ab", hash, expires_at: None, scopes: Scopes::ALL };
    let before = store.revisions().await.unwrap();
    let first = store.of(company.id).keys().add(&Who::Pombo, key([1; 32])).await.unwrap();
    assert!(matches!(store.of(company.id).keys().add(&Who::Pombo, key([1; 32])).await, Err(Error::Taken(_))));
    let second = store.of(company.id).keys().add(&Who::Pombo, key([2; 32])).await.unwrap();
    assert!(store.keys().revoke(&Who::Pombo, first.id).await.unwrap());
    assert!(!store.keys().revoke(&Who::Pombo, first.id).await.unwrap());
    assert!(!store.keys().revoke(&Who::Pombo, Uuid::nil()).await.unwrap());

    let now = Timestamp::now();
    assert!(!store.keys().find(&[1; 32]).await.unwrap().unwrap().is_valid(now));
    let found = store.keys().find(&[2; 32]).await.unwrap().unwrap();
    assert!(found.is_valid(now));
    assert_eq!((found.id, found.company_id, &*found.tier), (second.id, company.id, "standard"));
    assert_eq!(store.keys().find(&[3; 32]).await.unwrap(), None);
    let listed = store.of(company.id).keys().all().await.unwrap();
    assert_eq!(listed.iter().map(|key| key.id).collect::<Vec<_>>(), [second.id, first.id]);
    let after = store.revisions().await.unwrap();
    assert_eq!((after.api_key - before.api_key, after.channel, after.tier), (3, before.channel, before.tier));
}

async fn a_key_and_a_channel_are_reached_through_their_own_company_alone(universe: &Universe) {
    let store = &universe.store;
    let acme = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap();
    let globex = store.companies().add(&Who::Pombo, "globex", "standard").await.unwrap();
    let channel = store.channels().add(&Who::Pombo, new_channel(acme.id, "1")).await.unwrap();
    assert_eq!(store.of(globex.id).channels().find(channel.id).await.unwrap(), None);
    assert_eq!(store.of(acme.id).channels().find(channel.id).await.unwrap(), Some(channel));

    let new =
        NewKey { name: "till", prefix: "pombo_ab", hash: [1; 32], expires_at: None, scopes: Scopes::ALL };
    let key = store.of(acme.id).keys().add(&Who::Pombo, new).await.unwrap();
    let is_valid = async || store.keys().find(&[1; 32]).await.unwrap().unwrap().is_valid(Timestamp::now());
    assert_eq!(store.of(globex.id).keys().revoke(&Who::Pombo, key.id).await.unwrap(), None);
    assert!(is_valid().await);
    assert!(store.of(acme.id).keys().revoke(&Who::Pombo, key.id).await.unwrap().is_some());
    assert!(!is_valid().await);
    assert_eq!(store.of(acme.id).keys().revoke(&Who::Pombo, key.id).await.unwrap(), None);
}

async fn every_change_of_a_channel_is_found_by_its_revision(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap();
    let one = store.channels().add(&Who::Pombo, new_channel(company.id, "1")).await.unwrap();
    let two = store.channels().add(&Who::Pombo, new_channel(company.id, "2")).await.unwrap();
    assert!(matches!(
        store.channels().add(&Who::Pombo, new_channel(company.id, "1")).await,
        Err(Error::Taken(_))
    ));
    assert_eq!(store.channels().find(one.id).await.unwrap(), Some(one.clone()));

    let mut seen = store.revisions().await.unwrap().channel;
    let reason = Reason {
        code: ReasonCode::CredentialsRefused.into(),
        sentence: "no".to_owned(),
        provider_code: Some(190),
    };
    let since = Timestamp::from_millis(7);
    let connection = Connection { status: Status::Disconnected, reason: Some(reason), since };
    assert!(store.channels().reconnect(&Who::Pombo, one.id, Some(vec![3])).await.unwrap());
    assert!(
        store
            .channels()
            .set_tier(&Who::Pombo, one.id, ("large", &OwnOptions::default()), None)
            .await
            .unwrap()
    );
    let now = store.channels().find(one.id).await.unwrap().unwrap().connection;
    let revision = store.channels().set_connection(one.id, &now, &connection).await.unwrap().unwrap();
    assert_eq!(store.channels().set_connection(one.id, &now, &connection).await.unwrap(), None);
    assert!(store.channels().set_number(two.id, rated("RED")).await.unwrap());
    assert!(!store.channels().set_number(two.id, rated("RED")).await.unwrap());
    let changed = store.channels().changed_since(seen).await.unwrap();
    assert_eq!(changed.iter().map(|channel| channel.id).collect::<Vec<_>>(), [one.id, two.id]);
    assert_eq!((changed[0].revision, changed[0].tier.as_str()), (revision, "large"));
    assert_eq!(changed[0].connection, connection);
    assert_eq!(changed[1].quality_rating.as_deref(), Some("RED"));
    let secrets = store.channels().secrets(one.id).await.unwrap().unwrap();
    assert_eq!(secrets, Sealed { token: Some(vec![3]), app_secret: None });

    seen = store.revisions().await.unwrap().channel;
    assert!(
        !store
            .channels()
            .set_tier(&Who::Pombo, Uuid::nil(), ("large", &OwnOptions::default()), None)
            .await
            .unwrap()
    );
    assert_eq!(store.channels().secrets(Uuid::nil()).await.unwrap(), None);
    assert_eq!(store.revisions().await.unwrap().channel, seen);
    assert!(store.channels().changed_since(seen).await.unwrap().is_empty());
}

async fn concurrent_changes_each_get_a_revision_of_their_own(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap();
    let before = store.revisions().await.unwrap().channel;
    let added = (0..20).map(|id| store.channels().add(&Who::Pombo, new_channel(company.id, &id.to_string())));
    futures_util::future::try_join_all(added).await.unwrap();
    assert_eq!(store.revisions().await.unwrap().channel, before + 20);
    for seen in [0, 7, 19] {
        let left = usize::try_from(20 - seen).unwrap();
        assert_eq!(store.channels().changed_since(before + seen).await.unwrap().len(), left);
    }
}

async fn a_synchronised_template_keeps_its_id_and_a_vanished_one_is_deleted(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap().id;
    let sync = async |waba: &str, listed: &[ListedTemplate]| {
        store.of(company).templates().sync(waba, listed).await.unwrap();
    };
    let find =
        async |name: &str| store.of(company).templates().named("waba", name, "en").await.unwrap().unwrap();
    let approved = async || -> Vec<String> {
        let page = store.of(company).templates().approved("waba", FIRST, Filter::default()).await.unwrap();
        assert_eq!(page.total, page.records.len() as u64);
        page.records.into_iter().map(|record| record.name).collect()
    };
    sync("other", &[synced("b", "APPROVED", "x")]).await;
    sync("waba", &[synced("a", "APPROVED", "x"), synced("b", "APPROVED", "x"), synced("c", "PENDING", "x")])
        .await;
    assert_eq!(approved().await, ["b", "a"]);
    let (a, b) = (find("a").await, find("b").await);

    sync("waba", &[synced("a", "APPROVED", "x"), synced("c", "APPROVED", "y")]).await;
    assert_eq!(approved().await, ["c", "a"]);
    assert_eq!(find("a").await, a);
    let gone =
        Record { status: template::Status::Deleted, updated_at: find("b").await.updated_at, ..b.clone() };
    assert_eq!(find("b").await, gone);
    assert_eq!(find("c").await.components, serde_json::json!(["y"]));
    assert_eq!(store.of(company).templates().find(b.id).await.unwrap(), Some(gone));
    assert_eq!(store.of(Uuid::nil()).templates().find(b.id).await.unwrap(), None);

    sync("waba", &[synced("b", "APPROVED", "x")]).await;
    assert_eq!((find("b").await.id, approved().await), (b.id, vec!["b".to_owned()]));
    sync("waba", &[]).await;
    assert!(approved().await.is_empty());
    let templates = store.of(company).templates().all().await.unwrap();
    let statuses: Vec<_> = templates.iter().map(|record| record.status.as_str()).collect();
    assert_eq!(statuses, ["APPROVED", "DELETED", "DELETED", "DELETED"]);
}

async fn a_language_in_another_case_is_understood_unless_two_are_meant(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap().id;
    let language = |name: &str, language: &str| ListedTemplate {
        language: language.to_owned(),
        ..synced(name, "APPROVED", "x")
    };
    let listed = [language("one", "pt_BR"), language("two", "en_us"), language("two", "en_US")];
    store.of(company).templates().sync("waba", &listed).await.unwrap();
    let find = async |name: &str, language: &str| {
        let found = store.of(company).templates().named("waba", name, language).await.unwrap();
        found.map(|template| template.language)
    };
    assert_eq!(find("one", "PT_br").await.as_deref(), Some("pt_BR"));
    assert_eq!(find("one", "pt").await, None);
    assert_eq!(find("two", "en_us").await.as_deref(), Some("en_us"));
    assert_eq!(find("two", "en_US").await.as_deref(), Some("en_US"));
    assert_eq!(find("two", "EN_US").await, None);
}

async fn a_list_of_templates_changes_none_that_changed_since_it_was_asked_for(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap().id;
    store.of(company).templates().sync("waba", &[synced("a", "PAUSED", "x")]).await.unwrap();
    let status = async || {
        let found = store.of(company).templates().named("waba", "a", "en").await.unwrap();
        found.unwrap().status
    };
    let asked_for = Timestamp::now().minus(std::time::Duration::from_secs(60));
    let approved = Said { status: Some("APPROVED"), ..Said::default() };
    assert!(
        store.of(company).templates().change("waba", "a", "en", approved, Timestamp::now()).await.unwrap()
    );
    let old = [synced("a", "PAUSED", "x")];
    store.of(company).templates().sync_as_of("waba", &old, asked_for).await.unwrap();
    store.of(company).templates().sync_as_of("waba", &[], asked_for).await.unwrap();
    assert_eq!(status().await, template::Status::Approved);
    let later = Timestamp::now().plus(std::time::Duration::from_secs(60));
    store.of(company).templates().sync_as_of("waba", &old, later).await.unwrap();
    assert_eq!(status().await, template::Status::Paused);
}

async fn a_page_beyond_all_counting_is_empty(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap().id;
    store.channels().add(&Who::Pombo, new_channel(company, "1")).await.unwrap();
    store.of(company).templates().sync("waba", &[synced("a", "APPROVED", "x")]).await.unwrap();
    let far = PageRequest { page: u128::MAX, limit: 1000 };
    let channels = store.of(company).channels().of_kind(Kind::BusinessAccount, far, None).await.unwrap();
    assert_eq!((channels.records.len(), channels.total), (0, 1));
    let templates = store.of(company).templates().approved("waba", far, Filter::default()).await.unwrap();
    assert_eq!((templates.records.len(), templates.total), (0, 1));
}

async fn applied_tiers_replace_those_of_the_same_name_and_no_others(universe: &Universe) {
    let store = &universe.store;
    let tier = |name: &str, settings: &str| (name.to_owned(), settings.to_owned());
    let before = store.revisions().await.unwrap().tier;
    store.tiers().apply(&Who::Pombo, &[tier("standard", "{}"), tier("large", "{\"a\":1}")]).await.unwrap();
    store.tiers().apply(&Who::Pombo, &[tier("standard", "{\"b\":2}"), tier("small", "{}")]).await.unwrap();
    store.tiers().apply(&Who::Pombo, &[]).await.unwrap();
    let settings: Vec<_> =
        store.tiers().all().await.unwrap().into_iter().map(|tier| (tier.name, tier.settings)).collect();
    assert_eq!(settings, [tier("large", "{\"a\":1}"), tier("small", "{}"), tier("standard", "{\"b\":2}")]);
    assert_eq!(store.tiers().find("standard").await.unwrap().unwrap().settings, "{\"b\":2}");
    assert_eq!(store.tiers().find("none").await.unwrap(), None);
    assert_eq!(store.revisions().await.unwrap().tier, before + 2);
}

stores!(
    a_company_is_found_by_name_and_by_id_and_its_name_is_taken,
    a_revoked_key_stays_known_as_revoked,
    a_key_and_a_channel_are_reached_through_their_own_company_alone,
    every_change_of_a_channel_is_found_by_its_revision,
    concurrent_changes_each_get_a_revision_of_their_own,
    a_synchronised_template_keeps_its_id_and_a_vanished_one_is_deleted,
    a_language_in_another_case_is_understood_unless_two_are_meant,
    a_list_of_templates_changes_none_that_changed_since_it_was_asked_for,
    a_page_beyond_all_counting_is_empty,
    applied_tiers_replace_those_of_the_same_name_and_no_others,
);

/// What the provider says of a number's quality.
fn rated(rating: &str) -> Number {
    Number { quality_rating: Some(rating.to_owned()), ..Number::default() }
}
