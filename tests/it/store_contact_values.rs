//! Own fields of contacts in the store: lists by them, merging, and what is left after a field or a contact is deleted.

use std::collections::BTreeMap;

use pombo::domain::contact::Contact;
use pombo::domain::own_field::{FieldCondition, FieldKind, FieldTest, FieldValue, OwnField};
use pombo::store::changes::{ContactRecord, Who};
use pombo::store::{ContactChange, ContactFilter, Counting, Edited, NewField, Store, Upserted};
use sea_orm::{ConnectionTrait, Database, Statement};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, draft, page};

stores! {
    conditions_find_what_reading_every_contact_finds,
    drafts_keep_what_they_lack_and_repeat_nothing,
    a_merge_takes_the_values_that_the_contact_lacks,
    a_deleted_field_is_gone_at_once_and_its_values_follow,
    another_company_s_values_are_never_found,
}

async fn add(store: &Store, company: Uuid, name: &str, kind: FieldKind) -> OwnField {
    match store.of(company).fields().add(&Who::Pombo, name, kind, NOW).await.unwrap() {
        NewField::Added(field) => field,
        other => panic!("{name}: {other:?}"),
    }
}

/// The three fields: a text, a number, a date.
async fn fields(store: &Store, company: Uuid) -> Vec<OwnField> {
    let mut fields = Vec::new();
    for (name, kind) in [("City", FieldKind::Text), ("Age", FieldKind::Number), ("Born", FieldKind::Date)] {
        fields.push(add(store, company, name, kind).await);
    }
    fields
}

fn value(field: &OwnField, text: &str) -> FieldValue {
    field.kind.exact(text).unwrap().unwrap()
}

/// Forty contacts, of whom some lack a field, and one is deleted again.
async fn seed(store: &Store, company: Uuid, fields: &[OwnField]) {
    let cities = ["São Paulo", "sao paulo", "Rio", ""];
    let drafts: Vec<_> = (0..40_usize)
        .map(|nth| {
            let tags: &[&str] = if nth % 2 == 0 { &["even"] } else { &[] };
            let mut draft = draft("Ana", "", &format!("{}", 5_511_000_000 + nth), tags);
            let ages = format!("{}.5", nth as i64 - 20);
            let day = format!("19{:02}-01-31", 50 + nth);
            let given = [
                cities[nth % 4],
                if nth % 3 == 0 { "" } else { ages.as_str() },
                if nth % 5 == 0 { "" } else { day.as_str() },
            ];
            for (field, text) in fields.iter().zip(given) {
                draft.person.own.extend(field.kind.exact(text).unwrap().map(|value| (field.key, value)));
            }
            draft
        })
        .collect();
    store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    let gone = all(store, company).await[7].id;
    let mut record = ContactRecord::new(&Who::Pombo, company);
    assert_eq!(store.of(company).contacts().delete(&mut record, &[gone]).await.unwrap(), 1);
}

fn meets(contact: &Contact, condition: &FieldCondition) -> bool {
    let key = |value: &FieldValue| match value {
        FieldValue::Text(text) => (pombo::domain::fold::fold(text), 0),
        FieldValue::Number(number) => (String::new(), number.millionths()),
        FieldValue::Date(day) => (String::new(), day.number()),
    };
    let own = contact.person.own.get(&condition.key).map(key);
    match &condition.test {
        FieldTest::Is(value) => own == Some(key(value)),
        FieldTest::IsNot(value) => own != Some(key(value)),
        FieldTest::AtLeast(value) => own.is_some_and(|own| own >= key(value)),
        FieldTest::AtMost(value) => own.is_some_and(|own| own <= key(value)),
        FieldTest::Known => own.is_some(),
        FieldTest::Unknown => own.is_none(),
    }
}

async fn conditions_find_what_reading_every_contact_finds(universe: &Universe) {
    let (store, acme) = (&universe.store, company(universe, "acme").await);
    let fields = fields(store, acme).await;
    seed(store, acme, &fields).await;
    let contacts = all(store, acme).await;
    assert_eq!(contacts.len(), 39);
    assert_eq!(store.of(acme).contacts().find(contacts[3].id).await.unwrap().unwrap(), contacts[3]);
    let even = store.of(acme).tags().ensure("even", None).await.unwrap();
    for texts in [
        &["city=SAO PAULO"][..],
        &["city!=rio"],
        &["city=*"],
        &["city!=*"],
        &["age>=-3.5"],
        &["age>=-3.5", "age<=8.5"],
        &["age>=9", "age<=8"],
        &["age=0.5"],
        &["born>=1960-01-31", "city!=*", "age=*"],
        &["born<=1970-12-31", "born!=1965-01-31"],
    ] {
        let parsed = texts.iter().map(|text| FieldCondition::parse(text, &fields).unwrap());
        let conditions: Vec<FieldCondition> = parsed.collect();
        for (search, tags) in
            [(None, vec![]), (None, vec![even]), (Some("ana"), vec![]), (Some("ana"), vec![even])]
        {
            let has = |contact: &&Contact| {
                tags.iter().all(|tag| contact.tags.iter().any(|known| known.id == *tag))
                    && conditions.iter().all(|condition| meets(contact, condition))
            };
            let due: Vec<Uuid> = contacts.iter().rev().filter(has).map(|contact| contact.id).collect();
            let filter = ContactFilter {
                search: search.map(str::to_owned),
                tags: tags.clone(),
                fields: conditions.clone(),
                ..ContactFilter::default()
            };
            let list = async |number, limit| {
                store
                    .of(acme)
                    .contacts()
                    .filtered(&filter, page(number, limit), Counting::Exact)
                    .await
                    .unwrap()
            };
            let ids =
                |contacts: Vec<Contact>| contacts.into_iter().map(|contact| contact.id).collect::<Vec<_>>();
            let found = list(1, 100).await;
            assert_eq!((found.total, ids(found.records)), (due.len() as u64, due.clone()), "{filter:?}");
            let second: Vec<Uuid> = due.iter().copied().skip(3).take(3).collect();
            assert_eq!(ids(list(2, 3).await.records), second, "{filter:?}");
        }
    }
    let city = store.of(acme).fields().count(fields[0].id).await.unwrap();
    assert_eq!(
        city,
        contacts.iter().filter(|contact| contact.person.own.contains_key(&fields[0].key)).count() as u64
    );
}

async fn drafts_keep_what_they_lack_and_repeat_nothing(universe: &Universe) {
    let (store, acme) = (&universe.store, company(universe, "acme").await);
    let fields = fields(store, acme).await;
    let given = |values: &[(usize, &str)]| {
        let mut draft = draft("Ana", "", "5511988880001", &[]);
        let own = values.iter().map(|(nth, text)| (fields[*nth].key, value(&fields[*nth], text)));
        draft.person.own = own.collect();
        draft
    };
    let write = async |drafts: &[_]| store.of(acme).contacts().upsert(drafts, NOW).await.unwrap();
    // In one batch, the second draft adds to the contact that the first creates.
    let both = [given(&[(0, "Rio"), (1, "7")]), given(&[(1, "8")])];
    assert_eq!(write(&both).await, [Upserted::Created, Upserted::Updated]);
    assert_eq!(write(&[given(&[(0, "Rio")]), given(&[])]).await, [Upserted::Unchanged; 2]);
    assert_eq!(write(&[given(&[(2, "1990-01-31")])]).await, [Upserted::Updated]);
    let contact = all(store, acme).await.remove(0);
    let due = [(0, "Rio"), (1, "8"), (2, "1990-01-31")]
        .map(|(nth, text)| (fields[nth].key, value(&fields[nth], text)));
    assert_eq!(contact.person.own, BTreeMap::from(due));
    let own = BTreeMap::from([(fields[0].key, None), (fields[1].key, Some(value(&fields[1], "9")))]);
    let change = ContactChange { own, ..ContactChange::default() };
    let changed = store
        .of(acme)
        .contacts()
        .change(&Who::Pombo, contact.id, &change, NOW.plus(std::time::Duration::from_secs(1)))
        .await;
    assert_eq!(changed.unwrap(), Edited::Done);
    let after = all(store, acme).await.remove(0);
    let due = [(1, "9"), (2, "1990-01-31")].map(|(nth, text)| (fields[nth].key, value(&fields[nth], text)));
    assert_eq!(after.person.own, BTreeMap::from(due));
    assert!(after.updated_at > contact.updated_at);
}

async fn a_merge_takes_the_values_that_the_contact_lacks(universe: &Universe) {
    let (store, acme) = (&universe.store, company(universe, "acme").await);
    let fields = fields(store, acme).await;
    let mut drafts = [draft("Ana", "", "5511988880001", &[]), draft("", "ana@a.example", "", &[])];
    drafts[0].person.own.insert(fields[0].key, value(&fields[0], "Rio"));
    drafts[1].person.own.insert(fields[0].key, value(&fields[0], "Bahia"));
    drafts[1].person.own.insert(fields[1].key, value(&fields[1], "42"));
    store.of(acme).contacts().upsert(&drafts, NOW).await.unwrap();
    let contacts = all(store, acme).await;
    let merged = store.of(acme).contacts().merge(&Who::Pombo, contacts[0].id, &[contacts[1].id], NOW).await;
    assert_eq!(merged.unwrap(), Edited::Done);
    let kept = all(store, acme).await;
    let due = [(0, "Rio"), (1, "42")].map(|(nth, text)| (fields[nth].key, value(&fields[nth], text)));
    assert_eq!((kept.len(), &kept[0].person.own), (1, &BTreeMap::from(due)));
    assert_eq!(rows(universe, "contact_value").await, 2);
}

async fn rows(universe: &Universe, table: &str) -> i64 {
    let database = Database::connect(universe.url.as_str()).await.unwrap();
    let count =
        Statement::from_string(database.get_database_backend(), format!("SELECT count(*) FROM {table}"));
    let row = database.query_one_raw(count).await.unwrap().unwrap();
    database.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}

async fn a_deleted_field_is_gone_at_once_and_its_values_follow(universe: &Universe) {
    let (store, acme) = (&universe.store, company(universe, "acme").await);
    let fields = fields(store, acme).await;
    seed(store, acme, &fields).await;
    let before = rows(universe, "contact_value").await;
    let count = store.of(acme).fields().count(fields[0].id).await.unwrap();
    assert!(store.of(acme).fields().delete(&Who::Pombo, fields[0].id).await.unwrap());
    assert!(!store.of(acme).fields().delete(&Who::Pombo, fields[0].id).await.unwrap());
    let has_city = |contact: &Contact| contact.person.own.contains_key(&fields[0].key);
    assert!(!all(store, acme).await.iter().any(has_city));
    // Another field may have the name and the key at once, and has none of the values.
    let again = add(store, acme, "City", FieldKind::Number).await;
    assert_eq!((again.key, store.of(acme).fields().count(again.id).await.unwrap()), (fields[0].key, 0));
    assert!(!all(store, acme).await.iter().any(has_city));
    let mut steps = 0;
    while store.contacts().keep_up_fields(10).await.unwrap() {
        steps += 1;
    }
    assert!(steps > 2, "{steps}");
    assert_eq!(rows(universe, "contact_value").await, before - count.cast_signed());
    assert_eq!(rows(universe, "contact_field").await, 3);
}

async fn another_company_s_values_are_never_found(universe: &Universe) {
    let store = &universe.store;
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let (own, others) = (fields(store, acme).await, fields(store, other).await);
    seed(store, acme, &own).await;
    let filter = |fields: &[OwnField]| ContactFilter {
        fields: vec![FieldCondition::parse("city=*", fields).unwrap()],
        ..ContactFilter::default()
    };
    let list = async |company: Uuid, fields: &[OwnField]| {
        let filter = filter(fields);
        store.of(company).contacts().filtered(&filter, page(1, 10), Counting::Exact).await.unwrap().total
    };
    assert!(list(acme, &own).await > 0);
    assert_eq!(list(other, &others).await, 0);
    assert_eq!(store.of(other).fields().count(own[0].id).await.unwrap(), 0);
    assert_eq!(store.of(other).fields().rename(&Who::Pombo, own[0].id, "x").await.unwrap(), Edited::Missing);
    assert!(!store.of(other).fields().delete(&Who::Pombo, own[0].id).await.unwrap());
}
