//! Drafts of contacts in the store: the contacts that they match and may change.

use pombo::store::changes::{ContactRecord, Who};
use pombo::store::{ContactChange, Names, Upserted};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, draft, found, number, page, person};

stores! {
    a_draft_is_matched_by_number_then_by_address,
    people_who_share_an_address_and_have_numbers_of_their_own_are_different_people,
    a_wrongly_decoded_name_replaces_a_good_one_only_where_it_may,
    the_same_batch_again_changes_nothing,
    drafts_of_one_batch_see_each_other,
    unknown_fields_never_erase_known_ones,
    an_invalid_number_never_replaces_a_valid_one,
    the_number_in_the_tags_follows_the_contact,
    a_batch_for_nobody_writes_nothing,
}

async fn a_draft_is_matched_by_number_then_by_address(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let start =
        [draft("Ana", "ana@example.com", "5511988887771", &[]), draft("Bob", "bob@example.com", "", &[])];
    store.of(company).contacts().upsert(&start, NOW).await.unwrap();
    let next = [
        draft("Anna", "bob@example.com", "+55 11 98888-7771", &[]),
        draft("Robert", "BOB@example.com", "", &[]),
        draft("Carol", "carol@example.com", "5511988887773", &[]),
        draft("Nova", "CAROL@EXAMPLE.COM", "", &[]),
    ];
    // Ana takes Bob's address, so that the next draft finds two contacts with it: the older one is Ana.
    let results = store
        .of(company)
        .contacts()
        .upsert(&next, NOW.plus(std::time::Duration::from_secs(1)))
        .await
        .unwrap();
    assert_eq!(results, [Upserted::Updated, Upserted::Updated, Upserted::Created, Upserted::Updated]);
    let contacts = all(store, company).await;
    let names: Vec<_> = contacts.iter().map(|contact| contact.person.first_name.as_str()).collect();
    assert_eq!(names, ["Robert", "Bob", "Nova"]);
    assert_eq!(contacts[2].person.phone_number, "5511988887773");
    assert!(contacts[0].updated_at > contacts[1].updated_at);
    assert_eq!(found(store, company, "robert").await, ["Robert"]);
}

async fn people_who_share_an_address_and_have_numbers_of_their_own_are_different_people(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let family = [
        draft("Pai", "familia@example.com", "5511900000401", &[]),
        draft("Mae", "familia@example.com", "5511900000402", &[]),
        draft("Filho", "FAMILIA@example.com", "5511900000403", &[]),
    ];
    use Upserted::{Created, Unchanged, Updated};
    assert_eq!(store.of(company).contacts().upsert(&family, NOW).await.unwrap(), [Created; 3]);
    assert_eq!(store.of(company).contacts().upsert(&family, NOW).await.unwrap(), [Unchanged; 3]);
    // A person without a number gets the first one.
    let later = [
        draft("Tia", "tia@example.com", "", &[]),
        draft("Tia", "tia@example.com", "5511900000404", &[]),
        draft("Tio", "tia@example.com", "5511900000405", &[]),
    ];
    assert_eq!(store.of(company).contacts().upsert(&later, NOW).await.unwrap(), [Created, Updated, Created]);
    let contacts = all(store, company).await;
    let names: Vec<_> = contacts.iter().map(|contact| contact.person.first_name.as_str()).collect();
    assert_eq!(names, ["Pai", "Mae", "Filho", "Tia", "Tio"]);
}

async fn a_wrongly_decoded_name_replaces_a_good_one_only_where_it_may(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    store.of(company).contacts().upsert(&[draft("João", "", "5511900000401", &[])], NOW).await.unwrap();
    let wrong = [draft("JoÃ£o", "joao@example.com", "5511900000401", &["a"])];
    let (results, kept) = store.of(company).contacts().compare_drafts(&wrong, Names::KeepGood).await.unwrap();
    assert_eq!((&results[..], kept), (&[Upserted::Updated][..], 1));
    let mut record = ContactRecord::new(&Who::Pombo, company);
    let (_, kept) =
        store.of(company).contacts().import_drafts(&mut record, &wrong, Names::KeepGood, NOW).await.unwrap();
    let names = async || all(store, company).await.remove(0).person;
    assert_eq!(
        (kept, names().await.first_name, names().await.email.as_str()),
        (1, "João".to_owned(), "joao@example.com")
    );
    let (_, kept) =
        store.of(company).contacts().import_drafts(&mut record, &wrong, Names::Replace, NOW).await.unwrap();
    assert_eq!((kept, names().await.first_name), (0, "JoÃ£o".to_owned()));
}

async fn the_same_batch_again_changes_nothing(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let drafts: Vec<_> = (0..50)
        .map(|i| {
            draft(
                &format!("P{i}"),
                &format!("p{i}@example.com"),
                &format!("{}", 5_511_000_000_u64 + i),
                &["a", "b"],
            )
        })
        .collect();
    let created = store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    assert!(created.iter().all(|result| *result == Upserted::Created));
    let before = all(store, company).await;
    let again = store
        .of(company)
        .contacts()
        .upsert(&drafts, NOW.plus(std::time::Duration::from_secs(9)))
        .await
        .unwrap();
    assert!(again.iter().all(|result| *result == Upserted::Unchanged));
    assert_eq!(all(store, company).await, before);
    assert_eq!(before.len(), 50);
    assert_eq!(store.of(company).tags().page(page(1, 10), None).await.unwrap().total, 2);
}

async fn drafts_of_one_batch_see_each_other(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let drafts = [
        draft("Ana", "", "5511988887777", &["a"]),
        draft("", "ana@example.com", "+5511988887777", &["a", "b"]),
        draft("Ana Maria", "ANA@example.com", "", &["b", "b"]),
    ];
    let results = store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    assert_eq!(results, [Upserted::Created, Upserted::Updated, Upserted::Updated]);
    let contacts = all(store, company).await;
    assert_eq!(contacts.len(), 1);
    assert_eq!(contacts[0].person, person("Ana Maria", "", "ANA@example.com", "+5511988887777"));
    assert_eq!(contacts[0].tags.len(), 2);
}

async fn unknown_fields_never_erase_known_ones(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let mut full = draft("Ana", "ana@example.com", "5511988887777", &["a"]);
    full.person.last_name = "Souza".to_owned();
    full.person.phone_number_lid = Some("1@lid".to_owned());
    full.person.profile_picture = "https://example.com/ana.png".to_owned();
    store.of(company).contacts().upsert(&[full.clone()], NOW).await.unwrap();
    let results =
        store.of(company).contacts().upsert(&[draft("", "", "5511988887777", &[])], NOW).await.unwrap();
    assert_eq!(results, [Upserted::Unchanged]);
    let contacts = all(store, company).await;
    assert_eq!((&contacts[0].person, contacts[0].tags.len()), (&full.person, 1));
}

async fn an_invalid_number_never_replaces_a_valid_one(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let drafts = [
        draft("Ana", "ana@example.com", "5511988887777", &[]),
        draft("Ana", "ana@example.com", "n/a", &[]),
        draft("Bob", "bob@example.com", "12", &[]),
        draft("Bob", "bob@example.com", "123", &[]),
    ];
    let results = store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    use Upserted::{Created, Unchanged, Updated};
    assert_eq!(results, [Created, Unchanged, Created, Updated]);
    let contacts = all(store, company).await;
    let numbers: Vec<_> = contacts.iter().map(|contact| contact.person.phone_number.as_str()).collect();
    assert_eq!(numbers, ["5511988887777", "123"]);
}

async fn the_number_in_the_tags_follows_the_contact(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let before = [
        draft("Ana", "ana@example.com", "5511988887777", &["a", "b"]),
        draft("Bob", "bob@example.com", "", &["a"]),
    ];
    store.of(company).contacts().upsert(&before, NOW).await.unwrap();
    let ana = all(&universe.store, company).await.remove(0);
    let change = ContactChange { phone_number: Some("5511988880000".to_owned()), ..ContactChange::default() };
    store.of(company).contacts().change(&Who::Pombo, ana.id, &change, NOW).await.unwrap();
    let after = [
        draft("", "ana@example.com", "5511988880000", &["c"]),
        draft("", "bob@example.com", "4930901820", &[]),
    ];
    store.of(company).contacts().upsert(&after, NOW).await.unwrap();
    let (ana, bob) = (number(5_511_988_880_000), number(4_930_901_820));
    for (name, wanted) in [("a", vec![bob, ana]), ("b", vec![ana]), ("c", vec![ana])] {
        let tag = store.of(company).tags().ensure(name, None).await.unwrap();
        assert_eq!(store.of(company).tags().phones(tag, None, 10).await.unwrap().0, wanted, "{name}");
    }
}

async fn a_batch_for_nobody_writes_nothing(universe: &Universe) {
    let store = &universe.store;
    let nobody = Uuid::now_v7();
    assert!(
        store.of(nobody).contacts().upsert(&[draft("Ana", "", "5511988887777", &["a"])], NOW).await.is_err()
    );
    assert!(all(store, nobody).await.is_empty());
    let company = company(universe, "acme").await;
    assert!(store.of(company).contacts().upsert(&[], NOW).await.unwrap().is_empty());
}
