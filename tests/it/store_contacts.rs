//! Contacts and tags in the store: lists, search, matching, and the expansion of tags.

use pombo::clock::Timestamp;
use pombo::domain::contact::{Contact, Person};
use pombo::domain::page::PageRequest;
use pombo::domain::phone::PhoneNumber;
use pombo::store::{ContactDraft, ContactPosition, Store, Upserted};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, Database};
use uuid::Uuid;

use crate::database::{Universe, stores};

stores! {
    the_newest_contact_comes_first_and_pages_do_not_overlap,
    a_page_past_the_end_is_empty_and_the_total_stays_exact,
    search_finds_every_field_and_the_names_of_tags,
    search_ignores_case_accents_and_the_form_of_numbers,
    wildcards_quotes_and_line_ends_in_a_search_are_plain,
    companies_never_see_each_other,
    tags_are_listed_with_their_members_counted,
    a_tag_of_a_name_is_created_once,
    a_tag_gives_its_valid_numbers_in_order_once_each,
    numbers_with_one_of_several_tags_are_found,
    all_contacts_are_read_in_order_by_position,
}

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A company's row, made without the store's own call for it.
pub(crate) async fn company(universe: &Universe, name: &str) -> Uuid {
    let database = Database::connect(universe.url.as_str()).await.unwrap();
    let id = Uuid::now_v7();
    let row = entity::company::ActiveModel {
        id: Set(id),
        name: Set(name.to_owned()),
        tier: Set("standard".to_owned()),
        created_at: Set(NOW.millis()),
        country: Set(None),
        disabled_at: Set(None),
    };
    row.insert(&database).await.unwrap();
    database.close().await.unwrap();
    id
}

pub(crate) fn person(first_name: &str, last_name: &str, email: &str, phone_number: &str) -> Person {
    Person {
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        email: email.to_owned(),
        phone_number: phone_number.to_owned(),
        ..Person::default()
    }
}

pub(crate) fn draft(first_name: &str, email: &str, phone_number: &str, tags: &[&str]) -> ContactDraft {
    ContactDraft {
        person: person(first_name, "", email, phone_number),
        tags: tags.iter().map(|name| (*name).to_owned()).collect(),
    }
}

pub(crate) const fn page(page: u128, limit: u64) -> PageRequest {
    PageRequest { page, limit }
}

pub(crate) async fn all(store: &Store, company: Uuid) -> Vec<Contact> {
    store.of(company).contacts().after(None, 1_000).await.unwrap()
}

pub(crate) async fn found(store: &Store, company: Uuid, search: &str) -> Vec<String> {
    let found = store.of(company).contacts().page(page(1, 100), Some(search)).await.unwrap();
    assert_eq!(found.total, found.records.len() as u64, "{search}");
    found.records.into_iter().map(|contact| contact.person.first_name).collect()
}

pub(crate) fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(value).unwrap()
}

async fn the_newest_contact_comes_first_and_pages_do_not_overlap(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    for batch in 0..3_u64 {
        let people: Vec<_> = (0..5)
            .map(|i| {
                (
                    Uuid::now_v7(),
                    person(
                        &format!("{batch}-{i}"),
                        "",
                        "",
                        &format!("{}", 5_511_000_000_u64 + batch * 5 + i),
                    ),
                )
            })
            .collect();
        store
            .of(company)
            .contacts()
            .add(&people, &[], NOW.plus(std::time::Duration::from_secs(batch)))
            .await
            .unwrap();
    }
    let mut names = Vec::new();
    for number in 1..=4 {
        let page = store.of(company).contacts().page(page(number, 4), None).await.unwrap();
        assert_eq!((page.total, page.pages(4)), (15, 4));
        names.extend(page.records.into_iter().map(|contact| contact.person.first_name));
    }
    let wanted: Vec<_> =
        (0..3).rev().flat_map(|batch| (0..5).rev().map(move |i| format!("{batch}-{i}"))).collect();
    assert_eq!(names, wanted);
}

async fn a_page_past_the_end_is_empty_and_the_total_stays_exact(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    store
        .of(company)
        .contacts()
        .add(&[(Uuid::now_v7(), person("Ana", "", "", "5511988887777"))], &[], NOW)
        .await
        .unwrap();
    for request in [page(2, 1), page(u128::MAX, 1_000)] {
        let page = store.of(company).contacts().page(request, None).await.unwrap();
        assert_eq!((page.records.len(), page.total), (0, 1));
    }
    let nothing = store.of(company).contacts().page(page(1, 10), Some("zzz")).await.unwrap();
    assert_eq!((nothing.records.len(), nothing.total, nothing.pages(10)), (0, 0, 0));
}

async fn search_finds_every_field_and_the_names_of_tags(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let mut ana = draft("Ana", "ana@example.com", "+55 11 98888-7777", &["Friends", "VIP"]);
    ana.person.last_name = "Souza".to_owned();
    ana.person.phone_number_lid = Some("123456789012345@lid".to_owned());
    let bob = draft("Bob", "bob@example.net", "+49 30 901820", &["Customers"]);
    store.of(company).contacts().upsert(&[ana, bob], NOW).await.unwrap();
    for search in ["ana", "souz", "ana@example.com", "98888", "345@lid", "friend", "vip", "  Ana  "] {
        assert_eq!(found(store, company, search).await, ["Ana"], "{search}");
    }
    assert_eq!(found(store, company, "example").await, ["Bob", "Ana"]);
    assert_eq!(found(store, company, "").await, ["Bob", "Ana"]);
    assert_eq!(found(store, company, "   ").await, ["Bob", "Ana"]);
    // A tag and a field may match different contacts.
    assert_eq!(found(store, company, "b").await, ["Bob"]);
    assert_eq!(found(store, company, "s").await, ["Bob", "Ana"]);
    let page = store.of(company).contacts().page(page(1, 10), Some("ana")).await.unwrap();
    let tags: Vec<_> = page.records[0].tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!(tags, ["Friends", "VIP"]);
    assert_eq!(page.records[0].person.phone_number_lid.as_deref(), Some("123456789012345@lid"));
}

async fn search_ignores_case_accents_and_the_form_of_numbers(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let drafts = [
        draft("João", "JOAO@EXAMPLE.COM", "+55 (11) 98888-7777", &["Ação"]),
        draft("ÉMILIE", "", "33612345678", &[]),
    ];
    store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    for search in
        ["joao", "JOÃO", "joão", "acao", "AÇÃO", "joao@example.com", "55119", "+55 (11) 9", "5511 9888-87"]
    {
        assert_eq!(found(store, company, search).await, ["João"], "{search}");
    }
    for search in ["emilie", "Émilie", "+33 6 12 34 56 78", "(33) 612"] {
        assert_eq!(found(store, company, search).await, ["ÉMILIE"], "{search}");
    }
    assert!(found(store, company, "77773361").await.is_empty());
}

async fn wildcards_quotes_and_line_ends_in_a_search_are_plain(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let drafts = [
        draft("100%", "", "5511988887771", &["50% off"]),
        draft("under_score", "", "5511988887772", &[]),
        draft(r"back\slash", "", "5511988887773", &[]),
        draft("O'Neil", "", "5511988887774", &[]),
        draft("plain", "", "5511988887775", &[]),
    ];
    store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    assert_eq!(found(store, company, "%").await, ["100%"]);
    assert_eq!(found(store, company, "0% o").await, ["100%"]);
    assert_eq!(found(store, company, "_").await, ["under_score"]);
    assert_eq!(found(store, company, r"\").await, [r"back\slash"]);
    assert_eq!(found(store, company, "o'n").await, ["O'Neil"]);
    assert!(found(store, company, "1\n5511").await.is_empty());
    assert_eq!(found(store, company, "pl\0ain").await, ["plain"], "a control character separates words");
    for endless in ["x", "%"].map(|text| text.repeat(60_000)) {
        assert!(found(store, company, &endless).await.is_empty());
        assert_eq!(store.of(company).tags().page(page(1, 10), Some(&endless)).await.unwrap().total, 0);
    }
    let long = "%".repeat(10_000);
    assert!(found(store, company, &long).await.is_empty());
}

async fn companies_never_see_each_other(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    let mine = draft("Ana", "ana@example.com", "5511988887777", &["VIP"]);
    assert_eq!(
        store.of(acme).contacts().upsert(std::slice::from_ref(&mine), NOW).await.unwrap(),
        [Upserted::Created]
    );
    assert_eq!(store.of(other).contacts().upsert(&[mine], NOW).await.unwrap(), [Upserted::Created]);
    assert_eq!(store.of(other).contacts().page(page(1, 10), Some("vip")).await.unwrap().total, 1);
    let tag = store.of(acme).tags().page(page(1, 10), None).await.unwrap().records[0].summary.id;
    assert_eq!(store.of(acme).tags().phones(tag, None, 10).await.unwrap().0, [number(5_511_988_887_777)]);
    assert!(store.of(other).tags().phones(tag, None, 10).await.unwrap().0.is_empty());
    assert_eq!(store.of(other).tags().tagged_contacts(&[tag]).await.unwrap(), (0, 0));
}

async fn tags_are_listed_with_their_members_counted(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let first = store.of(company).tags().ensure("Aniversário", Some("#112233")).await.unwrap();
    store.of(company).tags().ensure("Empty", None).await.unwrap();
    let people: Vec<_> = (0..7)
        .map(|i| (Uuid::now_v7(), person("p", "", "", &format!("{}", 5_511_000_000_u64 + i))))
        .collect();
    store.of(company).contacts().add(&people, &[first], NOW).await.unwrap();
    let tags = store.of(company).tags().page(page(1, 10), None).await.unwrap();
    let shown: Vec<_> = tags.records.iter().map(|tag| (tag.summary.name.as_str(), tag.contacts)).collect();
    assert_eq!((tags.total, shown), (2, vec![("Empty", 0), ("Aniversário", 7)]));
    assert_eq!(tags.records[1].summary.color, "#112233");
    let found = store.of(company).tags().page(page(1, 10), Some(" ANIVERSARIO ")).await.unwrap();
    assert_eq!((found.total, found.records[0].summary.id), (1, first));
    assert_eq!(store.of(company).tags().page(page(2, 1), None).await.unwrap().records[0].summary.id, first);
    assert_eq!(store.of(company).tags().page(page(1, 10), Some("%")).await.unwrap().total, 0);
}

async fn a_tag_of_a_name_is_created_once(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let first = store.of(company).tags().ensure("VIP", None).await.unwrap();
    assert_eq!(store.of(company).tags().ensure("VIP", Some("#000000")).await.unwrap(), first);
    let tags = store.of(company).tags().page(page(1, 10), None).await.unwrap();
    assert_eq!(tags.total, 1);
    assert!(tags.records[0].summary.color.starts_with('#') && tags.records[0].summary.color != "#000000");
}

async fn a_tag_gives_its_valid_numbers_in_order_once_each(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let tag = store.of(company).tags().ensure("all", None).await.unwrap();
    let numbers = ["5511000000003", "5511000000001", "5511000000002", "+55 11 00000 0002", "12", ""];
    let people: Vec<_> = numbers.iter().map(|number| (Uuid::now_v7(), person("p", "", "", number))).collect();
    store.of(company).contacts().add(&people, &[tag], NOW).await.unwrap();
    let [first, second, third] = [1, 2, 3].map(|last| number(5_511_000_000_000 + last));
    let phones = async |tag, after, limit| store.of(company).tags().phones(tag, after, limit).await.unwrap();
    assert_eq!(phones(tag, None, 10).await, (vec![first, second, third], false));
    assert_eq!(phones(tag, None, 2).await, (vec![first, second], true));
    // Two contacts have the second number; the first of them is the last requested contact.
    assert_eq!(phones(tag, Some(second), 2).await, (vec![third], false));
    assert_eq!(phones(tag, Some(first), 2).await, (vec![second], true));
    assert_eq!(phones(tag, Some(third), 2).await, (vec![], false));
    assert_eq!(phones(Uuid::now_v7(), None, 2).await, (vec![], false));
    assert_eq!(store.of(company).tags().tagged_contacts(&[tag, Uuid::now_v7()]).await.unwrap(), (6, 3));
}

async fn numbers_with_one_of_several_tags_are_found(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "globex").await);
    let tags = universe.store.of(acme).tags();
    let (staff, press) =
        (tags.ensure("staff", None).await.unwrap(), tags.ensure("press", None).await.unwrap());
    let all: Vec<_> = (1..=4).map(|last| number(5_511_000_000_000 + last)).collect();
    for (index, of) in [vec![staff], vec![staff, press], vec![press], vec![]].iter().enumerate() {
        let people = [(Uuid::now_v7(), person("p", "", "", &all[index].to_string()))];
        universe.store.of(acme).contacts().add(&people, of, NOW).await.unwrap();
    }
    let found = async |company, tags: &[Uuid], numbers: &[PhoneNumber]| {
        let found = universe.store.of(company).tags().having_any(tags, numbers).await.unwrap();
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found(acme, &[staff, press], &all).await, all[..3]);
    assert_eq!(found(acme, &[press, Uuid::now_v7()], &all[..2]).await, all[1..2]);
    assert_eq!(found(other, &[staff, press], &all).await, []);
    assert_eq!((found(acme, &[], &all).await, found(acme, &[staff], &[]).await), (vec![], vec![]));
}

async fn all_contacts_are_read_in_order_by_position(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let tag = store.of(company).tags().ensure("all", None).await.unwrap();
    let people: Vec<_> = (0..25)
        .map(|i| (Uuid::now_v7(), person(&format!("{i}"), "", "", &format!("{}", 5_511_000_000_u64 + i))))
        .collect();
    store.of(company).contacts().add(&people, &[tag], NOW).await.unwrap();
    let mut position = None;
    let mut names = Vec::new();
    loop {
        let chunk = store.of(company).contacts().after(position, 10).await.unwrap();
        let Some(last) = chunk.last() else { break };
        position = Some(ContactPosition::from(last));
        assert!(chunk.iter().all(|contact| contact.tags.len() == 1));
        names.extend(chunk.into_iter().map(|contact| contact.person.first_name));
    }
    assert_eq!(names, (0..25).map(|i| i.to_string()).collect::<Vec<_>>());
}
