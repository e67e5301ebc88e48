//! Searching contacts: at every moment, the index finds the same contacts as a read of every contact.

use std::collections::BTreeSet;
use std::time::Duration;

use pombo::domain::contact::Contact;
use pombo::domain::fold::{digits, fold, looks_like_a_number};
use pombo::store::{Care, ContactDraft, Store, Upserted};
use sea_orm::{ConnectionTrait as _, Database};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, draft, found, page, person};

stores! {
    a_search_finds_what_reading_every_contact_finds,
    pages_of_a_search_are_parts_of_one_list,
    a_search_is_exact_while_contacts_are_added_changed_and_indexed,
    segments_with_many_changes_are_rebuilt,
    contacts_keep_their_order_when_the_clock_jumps_back,
    texts_are_folded_again_after_an_update,
}

/// Contacts of one segment here.
const SEGMENT: u32 = 16;

/// Numbers without order, the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn text(&mut self, characters: &str, most: usize) -> String {
        let characters: Vec<char> = characters.chars().collect();
        (0..self.below(most + 1)).map(|_| characters[self.below(characters.len())]).collect()
    }

    /// Few characters, so that words repeat and overlap, and one of few numbers, so that contacts change.
    fn draft(&mut self) -> ContactDraft {
        let number = format!("+55 (11) 9000-{:04}", self.below(150));
        let mut draft = draft(&self.text("abÁç_% ", 6), "", &number, &[]);
        draft.person.last_name = self.text("ab日'1\"*", 6);
        if self.below(4) == 0 {
            draft.person.phone_number_lid = Some(self.text("12@", 4));
        }
        let tags = (0..self.below(3)).map(|_| format!("t{}", self.text("ab-", 2)));
        draft.tags = tags.collect::<BTreeSet<_>>().into_iter().collect();
        draft
    }
}

/// The definition of a search, in its simplest form; the newest first.
fn read(contacts: &[Contact], search: &str) -> Vec<Uuid> {
    let search = fold(search);
    // A number is searched for as a whole, anything else word by word; from the eighth word on the rest is one.
    let words: Vec<&str> = match search.trim() {
        number if looks_like_a_number(number) => vec![number],
        words => words.splitn(8, ' ').collect(),
    };
    let has = |contact: &Contact, search: &str| {
        let person = &contact.person;
        let lid = person.phone_number_lid.as_deref().unwrap_or_default();
        let fields = [&person.first_name, &person.last_name, &person.email, &person.phone_number];
        let fields = fields.into_iter().map(String::as_str).chain([lid]);
        let mut texts = fields.chain(contact.tags.iter().map(|tag| tag.name.as_str()));
        texts.any(|text| fold(text).contains(search))
            || (looks_like_a_number(search) && digits(&person.phone_number).contains(&digits(search)))
    };
    let is_found = |contact: &&Contact| {
        words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).all(|word| has(contact, word))
    };
    contacts.iter().rev().filter(is_found).map(|contact| contact.id).collect()
}

async fn searched(store: &Store, company: Uuid, search: &str) -> Vec<Uuid> {
    let page = store.of(company).contacts().page(page(1, 1_000), Some(search)).await.unwrap();
    assert_eq!(page.total, page.records.len() as u64, "{search}");
    page.records.into_iter().map(|contact| contact.id).collect()
}

async fn a_search_finds_what_reading_every_contact_finds(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    let mut dice = Dice(0x5eed);
    for round in 0..6 {
        for company in [acme, other] {
            let drafts: Vec<_> = (0..30).map(|_| dice.draft()).collect();
            store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
            // Some rounds leave many contacts that are not indexed yet, or changed since.
            let care = if round % 2 == 0 { Care::Passing } else { Care::Thorough };
            for _ in 0..round {
                store.of(company).index().step_by(care, SEGMENT).await.unwrap();
            }
        }
        let contacts = all(store, acme).await;
        let fixed = [
            "a",
            "5",
            "+5",
            "90",
            "0-0",
            "+55 (11) 9000-0",
            "5511",
            "t",
            "ta",
            "日",
            "%",
            "_",
            "\"",
            "*",
            "a 日",
            "b 5 t",
            "ab  9000-0",
        ];
        let random: Vec<String> = (0..10).map(|_| dice.text("abáç日_%1 5t", 4)).collect();
        for search in fixed.into_iter().chain(random.iter().map(String::as_str)) {
            if !search.trim().is_empty() {
                assert_eq!(
                    searched(store, acme, search).await,
                    read(&contacts, search),
                    "{round} {search:?}"
                );
            }
        }
    }
}

async fn pages_of_a_search_are_parts_of_one_list(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people: Vec<_> = (0..50)
        .map(|i| (Uuid::now_v7(), person(if i % 3 == 0 { "Ana" } else { "Bob" }, "", &format!("{i}@x"), "")))
        .collect();
    store.of(company).contacts().add(&people, &[], NOW).await.unwrap();
    while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
    for search in ["ana", "an", "a"] {
        let whole = searched(store, company, search).await;
        assert_eq!(whole.len(), 17);
        let mut parts = Vec::new();
        for number in 1..=4 {
            let part = store.of(company).contacts().page(page(number, 5), Some(search)).await.unwrap();
            assert_eq!((part.total, part.pages(5)), (17, 4));
            parts.extend(part.records.into_iter().map(|contact| contact.id));
        }
        assert_eq!(parts, whole);
        let beyond = store.of(company).contacts().page(page(u128::MAX, 5), Some(search)).await.unwrap();
        assert_eq!((beyond.records.len(), beyond.total), (0, 17));
    }
}

async fn a_search_is_exact_while_contacts_are_added_changed_and_indexed(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people = |version: u64, range: std::ops::Range<u64>| -> Vec<_> {
        let person =
            |i: u64| draft(&format!("Version {version}"), "", &format!("{}", 5_511_000_000 + i), &["t"]);
        range.map(person).collect()
    };
    let writing = async {
        for lot in 0..12 {
            store.of(company).contacts().upsert(&people(0, lot * 10..(lot + 1) * 10), NOW).await.unwrap();
            let half = lot / 2;
            store.of(company).contacts().upsert(&people(lot, half * 10..(half + 1) * 10), NOW).await.unwrap();
        }
    };
    let indexing = async {
        loop {
            store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let searching = async {
        loop {
            let before = store.of(company).contacts().page(page(1, 1), None).await.unwrap().total;
            // Everybody has both words at every moment, whatever the version.
            let word = store.of(company).contacts().page(page(1, 1), Some("version")).await.unwrap().total;
            let short = store.of(company).contacts().page(page(1, 1), Some("rs")).await.unwrap().total;
            let after = store.of(company).contacts().page(page(1, 1), None).await.unwrap().total;
            assert!(before <= word && word <= short && short <= after, "{before} {word} {short} {after}");
        }
    };
    tokio::select! { () = writing => {}, () = indexing => {}, () = searching => {} }
    while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
    let contacts = all(store, company).await;
    assert_eq!(contacts.len(), 120);
    for search in ["version 1", "version 0", "version 11", "n 5", "0"] {
        assert_eq!(searched(store, company, search).await, read(&contacts, search), "{search}");
    }
}

async fn segments_with_many_changes_are_rebuilt(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let people = |name: &str, range: std::ops::Range<u64>| -> Vec<_> {
        range.map(|i| draft(name, "", &format!("{}", 5_511_000_000 + i), &[])).collect()
    };
    store.of(company).contacts().upsert(&people("Ana", 0..48), NOW).await.unwrap();
    while store.of(company).index().step_by(Care::Passing, SEGMENT).await.unwrap() {}
    // Three changed contacts of a segment are few, four are a quarter.
    store.of(company).contacts().upsert(&people("Bob", 16..19), NOW).await.unwrap();
    assert!(!store.of(company).index().step_by(Care::Passing, SEGMENT).await.unwrap());
    assert_eq!((found(store, company, "bob").await.len(), found(store, company, "ana").await.len()), (3, 45));
    store.of(company).contacts().upsert(&people("Bob", 19..20), NOW).await.unwrap();
    assert!(store.of(company).index().step_by(Care::Passing, SEGMENT).await.unwrap());
    assert!(!store.of(company).index().step_by(Care::Passing, SEGMENT).await.unwrap());
    assert_eq!((found(store, company, "bob").await.len(), found(store, company, "ana").await.len()), (4, 44));
    // The same contacts with a picture, which is not searched: there is nothing to index.
    let mut same = people("Bob", 16..20);
    same.iter_mut().for_each(|draft| draft.person.profile_picture = "https://example.com/bob.png".to_owned());
    let results = store.of(company).contacts().upsert(&same, NOW).await.unwrap();
    assert!(results.iter().all(|result| *result == Upserted::Updated));
    assert!(!store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap());
}

async fn contacts_keep_their_order_when_the_clock_jumps_back(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let later = NOW.plus(Duration::from_secs(60));
    for (name, number, at) in [("first", "5511000001", later), ("second", "5511000002", NOW)] {
        store.of(company).contacts().upsert(&[draft(name, "", number, &[])], at).await.unwrap();
    }
    // An id that is lower than the newest one's, at the same time.
    let low = Uuid::from_u128(1);
    store
        .of(company)
        .contacts()
        .add(&[(low, person("third", "", "", "5511000003"))], &[], NOW)
        .await
        .unwrap();
    let shown = store.of(company).contacts().page(page(1, 10), None).await.unwrap().records;
    let names: Vec<_> = shown.iter().map(|contact| contact.person.first_name.as_str()).collect();
    assert_eq!(names, ["third", "second", "first"]);
    assert!(shown.is_sorted_by_key(|contact| std::cmp::Reverse((contact.created_at, contact.id))));
}

/// A database as an earlier version left it, which folded case in another way.
async fn texts_are_folded_again_after_an_update(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let other = |i: u64| draft("Bia", "", &(5_511_900_000_000 + i).to_string(), &[]);
    let hans = draft("Hans Großmann", "", "5511800000000", &["Groß"]);
    let drafts: Vec<_> = std::iter::once(hans).chain((0..1_200).map(other)).collect();
    store.of(company).contacts().upsert(&drafts, NOW).await.unwrap();
    while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
    let rows = Database::connect(&universe.url).await.unwrap();
    for earlier in [
        "UPDATE contact SET search_text = replace(search_text, 'grossmann', 'großmann'),
         tag_text = replace(tag_text, 'gross', 'groß')",
        "UPDATE tag SET name_folded = 'groß'",
        "INSERT INTO tag (id, company_id, name, name_folded, color, created_at)
         SELECT company_id, company_id, 'Promoc\u{327}a\u{303}o', 'promocao', '#000000', 0 FROM tag",
        "INSERT INTO contact_refold (company_id, next) SELECT id, 0 FROM company",
    ] {
        rows.execute_unprepared(earlier).await.unwrap();
    }
    rows.execute_unprepared("DELETE FROM contact_gram").await.unwrap();
    rows.execute_unprepared("DELETE FROM contact_segment").await.unwrap();
    rows.execute_unprepared("UPDATE contact_book SET indexed = 0, claimed = 0").await.unwrap();
    while store.of(company).index().step_by(Care::Thorough, SEGMENT).await.unwrap() {}
    assert_eq!(searched(store, company, "grossmann").await.len(), 0);
    let mut steps = 0;
    loop {
        let left = store.contacts().unfolded().await.unwrap();
        if left.is_empty() {
            break;
        }
        for company in left {
            store.of(company).contacts().refold().await.unwrap();
        }
        steps += 1;
    }
    assert!(steps >= 3, "1,201 contacts took {steps} steps");
    while store.contacts().keep_up_tags(100).await.unwrap() {}
    for search in ["GROSSMANN", "hans gross", "groß"] {
        assert_eq!(searched(store, company, search).await.len(), 1, "{search}");
    }
    let tags = store.of(company).tags().page(page(1, 10), Some("promo")).await.unwrap();
    assert_eq!(tags.records[0].summary.name, "Promoção");
}
