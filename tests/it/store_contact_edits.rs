//! Deleting, tagging and merging contacts in the store: lists, counts and searches stay exact.

use pombo::domain::contact::Contact;
use pombo::store::changes::{ContactRecord, Who};
use pombo::store::{Care, ContactChange, Edited, Membership, Store};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, draft, found, number, page};

stores! {
    pages_and_searches_are_exact_while_contacts_go,
    contacts_that_come_after_deleted_ones_are_the_newest,
    a_tag_that_is_deleted_reaches_nobody_at_once_and_leaves_its_contacts_in_steps,
    a_tag_that_is_renamed_is_found_by_its_new_name,
    a_merged_contact_has_the_fields_of_all,
    a_number_belongs_to_one_contact,
}

const SEGMENT: u32 = 16;

fn record(company: Uuid) -> ContactRecord {
    ContactRecord::new(&Who::Pombo, company)
}

async fn listed(store: &Store, company: Uuid, limit: u64) -> Vec<Uuid> {
    let mut ids = Vec::new();
    for number in 1.. {
        let page = store.of(company).contacts().page(page(number, limit), None).await.unwrap();
        if page.records.is_empty() {
            assert_eq!(page.total, ids.len() as u64);
            break;
        }
        ids.extend(page.records.into_iter().map(|contact: Contact| contact.id));
    }
    ids
}

async fn pages_and_searches_are_exact_while_contacts_go(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people: Vec<_> = (0..100_u64)
        .map(|i| draft(&format!("P{i} x"), "", &format!("{}", 5_511_000_000 + i), &["t"]))
        .collect();
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
    let mut left: Vec<Uuid> = all(store, company).await.iter().map(|contact| contact.id).collect();
    let tag = store.of(company).tags().ensure("t", None).await.unwrap();
    for round in 0..6 {
        let going: Vec<Uuid> = left.iter().copied().skip(round).step_by(5).collect();
        let twice: Vec<Uuid> = going.iter().chain(&going).copied().collect();
        assert_eq!(
            store.of(company).contacts().delete(&mut record(company), &twice).await.unwrap(),
            going.len() as u64
        );
        assert_eq!(store.of(company).contacts().delete(&mut record(company), &going).await.unwrap(), 0);
        left.retain(|id| !going.contains(id));
        if round % 2 == 0 {
            while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
        }
        let newest_first: Vec<Uuid> = left.iter().rev().copied().collect();
        assert_eq!(listed(store, company, 7).await, newest_first, "{round}");
        assert_eq!(found(store, company, "x").await.len(), left.len(), "{round}");
        assert_eq!(store.of(company).tags().find(tag).await.unwrap().unwrap().contacts, left.len() as u64);
        assert_eq!(store.of(company).tags().phones(tag, None, 1_000).await.unwrap().0.len(), left.len());
        assert_eq!(all(store, company).await.len(), left.len());
    }
}

async fn contacts_that_come_after_deleted_ones_are_the_newest(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let person = |i: u64| draft(&format!("P{i}"), "", &format!("{}", 5_511_000_000 + i), &[]);
    store.of(company).contacts().upsert(&[person(1), person(2), person(3)], NOW).await.unwrap();
    let ids: Vec<Uuid> = all(store, company).await.iter().map(|contact| contact.id).collect();
    store.of(company).contacts().delete(&mut record(company), &ids[1..]).await.unwrap();
    store.of(company).contacts().upsert(&[person(4)], NOW).await.unwrap();
    let names: Vec<_> =
        all(store, company).await.into_iter().map(|contact| contact.person.first_name).collect();
    assert_eq!(names, ["P1", "P4"]);
    store
        .of(company)
        .contacts()
        .delete(&mut record(company), &listed(store, company, 10).await)
        .await
        .unwrap();
    assert!(listed(store, company, 10).await.is_empty());
    store.of(company).contacts().upsert(&[person(2)], NOW).await.unwrap();
    assert_eq!(found(store, company, "p2").await, ["P2"]);
}

async fn a_tag_that_is_deleted_reaches_nobody_at_once_and_leaves_its_contacts_in_steps(universe: &Universe) {
    let (company, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    let people: Vec<_> =
        (0..30_u64).map(|i| draft("Ana", "", &format!("{}", 5_511_000_000 + i), &["gone", "kept"])).collect();
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    let tag = store.of(company).tags().ensure("gone", None).await.unwrap();
    assert!(!store.of(other).tags().delete(&Who::Pombo, tag).await.unwrap());
    assert!(store.of(company).tags().delete(&Who::Pombo, tag).await.unwrap());
    assert!(!store.of(company).tags().delete(&Who::Pombo, tag).await.unwrap());
    assert!(store.of(company).tags().find(tag).await.unwrap().is_none());
    assert!(store.of(company).tags().phones(tag, None, 10).await.unwrap().0.is_empty());
    assert_eq!(store.of(company).tags().tagged_contacts(&[tag]).await.unwrap(), (0, 0));
    assert_eq!(
        store
            .of(company)
            .contacts()
            .change_members(&mut record(company), tag, &[], Membership::Add, NOW)
            .await
            .unwrap(),
        None
    );
    assert!(all(store, company).await.iter().all(|contact| contact.tags.len() == 1));
    let mut steps = 0;
    while store.contacts().keep_up_tags(10).await.unwrap() {
        steps += 1;
    }
    assert_eq!(steps, 4, "three with contacts, and one that ends it");
    assert!(found(store, company, "gone").await.is_empty());
    assert_eq!(found(store, company, "kept").await.len(), 30);
    // The name is free again.
    assert_ne!(store.of(company).tags().ensure("gone", None).await.unwrap(), tag);
}

async fn a_tag_that_is_renamed_is_found_by_its_new_name(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people: Vec<_> =
        (0..30_u64).map(|i| draft("Ana", "", &format!("{}", 5_511_000_000 + i), &["Old", "b"])).collect();
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
    let tag = store.of(company).tags().ensure("Old", None).await.unwrap();
    assert_eq!(
        store.of(company).tags().change(&Who::Pombo, tag, Some("b"), None).await.unwrap(),
        Edited::Taken
    );
    assert_eq!(
        store.of(company).tags().change(&Who::Pombo, tag, Some("Néw"), Some("#112233")).await.unwrap(),
        Edited::Done
    );
    // Renamed again in the middle.
    assert!(store.contacts().keep_up_tags(10).await.unwrap());
    assert_eq!(
        store.of(company).tags().change(&Who::Pombo, tag, Some("Last"), None).await.unwrap(),
        Edited::Done
    );
    while store.contacts().keep_up_tags(10).await.unwrap() {}
    for (name, contacts) in [("old", 0), ("new", 0), ("last", 30), ("b", 30)] {
        assert_eq!(found(store, company, name).await.len(), contacts, "{name}");
    }
    let tag = store.of(company).tags().find(tag).await.unwrap().unwrap();
    assert_eq!(
        (tag.summary.name.as_str(), tag.summary.color.as_str(), tag.contacts),
        ("Last", "#112233", 30)
    );
}

async fn a_merged_contact_has_the_fields_of_all(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people = [
        draft("Ana", "", "5511988887771", &["a"]),
        draft("Ana Maria", "ana@example.com", "", &["a", "b"]),
        draft("", "other@example.com", "5511988887772", &["c"]),
    ];
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    let ids: Vec<Uuid> = all(store, company).await.iter().map(|contact| contact.id).collect();
    assert_eq!(
        store.of(company).contacts().merge(&Who::Pombo, ids[0], &[Uuid::now_v7()], NOW).await.unwrap(),
        Edited::Missing
    );
    assert_eq!(
        store.of(company).contacts().merge(&Who::Pombo, ids[0], &ids, NOW).await.unwrap(),
        Edited::Done
    );
    let left = all(store, company).await;
    assert_eq!(left.len(), 1);
    let Contact { id, person, tags, .. } = &left[0];
    assert_eq!((*id, person.first_name.as_str(), person.email.as_str()), (ids[0], "Ana", "ana@example.com"));
    assert_eq!(person.phone_number, "5511988887771");
    let names: Vec<_> = tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    for (name, contacts) in [("a", 1), ("b", 1), ("c", 1)] {
        let tag = store.of(company).tags().ensure(name, None).await.unwrap();
        assert_eq!(store.of(company).tags().find(tag).await.unwrap().unwrap().contacts, contacts, "{name}");
        assert_eq!(
            store.of(company).tags().phones(tag, None, 9).await.unwrap().0,
            [number(5_511_988_887_771)]
        );
        assert_eq!(found(store, company, name).await.len(), 1, "{name}");
    }
}

async fn a_number_belongs_to_one_contact(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people = [draft("Ana", "", "5511988887771", &["a"]), draft("Bob", "", "5511988887772", &["b"])];
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    let ids: Vec<Uuid> = all(store, company).await.iter().map(|contact| contact.id).collect();
    let change =
        |number: &str| ContactChange { phone_number: Some(number.to_owned()), ..ContactChange::default() };
    let edit = async |change: ContactChange| {
        store.of(company).contacts().change(&Who::Pombo, ids[0], &change, NOW).await.unwrap()
    };
    assert_eq!(edit(change("+55 11 98888-7772")).await, Edited::Taken);
    assert_eq!(edit(change("")).await, Edited::Nameless);
    assert_eq!(edit(change("+55 11 98888-7773")).await, Edited::Done);
    let tags = Some(vec!["b".to_owned(), "new".to_owned()]);
    assert_eq!(edit(ContactChange { tags, ..ContactChange::default() }).await, Edited::Done);
    let b = store.of(company).tags().ensure("b", None).await.unwrap();
    let both = [number(5_511_988_887_772), number(5_511_988_887_773)];
    assert_eq!(store.of(company).tags().phones(b, None, 9).await.unwrap().0, both);
    for (word, contacts) in [("7773", 1), ("7771", 0), ("new", 1)] {
        assert_eq!(found(store, company, word).await.len(), contacts, "{word}");
    }
    let a = store.of(company).tags().ensure("a", None).await.unwrap();
    assert_eq!(store.of(company).tags().find(a).await.unwrap().unwrap().contacts, 0);
}
