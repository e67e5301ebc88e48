//! Lists of contacts by their tags: all of some tags, none of others, with and without a search.

use pombo::domain::contact::Contact;
use pombo::domain::page::{Start, Window};
use pombo::store::changes::Who;
use pombo::store::{Care, ContactChange, ContactFilter, ContactPosition, Counting, Edited, Store};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, draft, page};

stores! {
    a_filter_by_tags_finds_what_reading_every_contact_finds,
    a_cursor_goes_through_a_filtered_list_once,
    a_tag_that_no_contact_can_have_finds_nobody,
    a_contact_that_changed_meanwhile_is_not_overwritten,
}

const SEGMENT: u32 = 16;
const NAMES: [&str; 4] = ["vip", "vip gold", "news", "new"];

/// Sixty contacts: each has the tags of the bits of its number.
async fn seed(store: &Store, company: Uuid) -> Vec<Uuid> {
    let people: Vec<_> = (0..60_usize)
        .map(|nth| {
            let tags: Vec<&str> =
                (0..NAMES.len()).filter(|bit| (nth >> bit) & 1 == 1).map(|bit| NAMES[bit]).collect();
            let first_name = if nth % 3 == 0 { "Ana" } else { "Vip" };
            draft(first_name, "", &format!("{}", 5_511_000_000 + nth), &tags)
        })
        .collect();
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    let mut tags = Vec::new();
    for name in NAMES {
        tags.push(store.of(company).tags().ensure(name, None).await.unwrap());
    }
    tags
}

/// The contacts that have all of these tags and none of those, newest first.
fn expected(contacts: &[Contact], filter: &ContactFilter) -> Vec<Uuid> {
    let has = |contact: &Contact, tag: &Uuid| contact.tags.iter().any(|known| known.id == *tag);
    let is_meant = |contact: &&Contact| {
        filter.tags.iter().all(|tag| has(contact, tag))
            && !filter.without.iter().any(|tag| has(contact, tag))
            && filter.search.as_deref().is_none_or(|search| contact.person.first_name == search)
    };
    contacts.iter().rev().filter(is_meant).map(|contact| contact.id).collect()
}

fn ids(contacts: &[Contact]) -> Vec<Uuid> {
    contacts.iter().map(|contact| contact.id).collect()
}

async fn a_filter_by_tags_finds_what_reading_every_contact_finds(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    let tags = seed(store, acme).await;
    seed(store, other).await;
    // A part is in the index of the search, and a part is not.
    store.of(acme).index().step_by(Care::Thorough, SEGMENT).await.unwrap();
    let contacts = all(store, acme).await;
    let sets: [&[usize]; 6] = [&[], &[0], &[1], &[0, 1], &[2, 0], &[3, 1, 0]];
    for search in [None, Some("Ana".to_owned())] {
        for with in sets {
            for without in sets {
                let chosen = |set: &[usize]| set.iter().map(|nth| tags[*nth]).collect();
                let filter = ContactFilter {
                    search: search.clone(),
                    tags: chosen(with),
                    without: chosen(without),
                    ..ContactFilter::default()
                };
                let due = expected(&contacts, &filter);
                let found =
                    store.of(acme).contacts().filtered(&filter, page(1, 100), Counting::Exact).await.unwrap();
                assert_eq!((found.total, ids(&found.records)), (due.len() as u64, due.clone()), "{filter:?}");
                let second =
                    store.of(acme).contacts().filtered(&filter, page(2, 4), Counting::Exact).await.unwrap();
                let due_second: Vec<_> = due.iter().copied().skip(4).take(4).collect();
                assert_eq!(
                    (second.total, ids(&second.records)),
                    (due.len() as u64, due_second),
                    "{filter:?}"
                );
                // The places are descending.
                let places = store.of(acme).contacts().search(&filter).await.unwrap();
                let mut at = store.of(acme).contacts().with_ordinals(&places).await.unwrap();
                at.reverse();
                assert!(places.is_sorted_by(|one, other| one > other), "{filter:?}");
                assert_eq!(ids(&at), due, "{filter:?}");
            }
        }
    }
}

async fn a_cursor_goes_through_a_filtered_list_once(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    let tags = seed(store, company).await;
    let contacts = all(store, company).await;
    for (search, with, without, counting) in [
        (None, vec![tags[0], tags[2]], vec![], Counting::Exact),
        (None, vec![], vec![tags[1]], Counting::Exact),
        (Some("Ana"), vec![tags[0]], vec![], Counting::Exact),
        // Without a count the list has the same contacts.
        (None, vec![tags[0], tags[2]], vec![tags[1]], Counting::Skipped),
        (None, vec![], vec![tags[1], tags[2]], Counting::Skipped),
    ] {
        let filter = ContactFilter {
            search: search.map(str::to_owned),
            tags: with,
            without,
            ..ContactFilter::default()
        };
        let (mut start, mut seen) = (Start::Offset(0), Vec::new());
        loop {
            let window = Window { start, limit: 3 };
            let found = store.of(company).contacts().filtered(&filter, window, counting).await.unwrap();
            let Some(last) = found.records.last() else { break };
            start = Start::After(ContactPosition::from(last));
            seen.extend(ids(&found.records));
        }
        assert_eq!(seen, expected(&contacts, &filter), "{filter:?}");
    }
}

async fn a_tag_that_no_contact_can_have_finds_nobody(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    let tags = seed(store, acme).await;
    let others = seed(store, other).await;
    let listed = async |filter: ContactFilter| {
        let found = store.of(acme).contacts().filtered(&filter, page(1, 100), Counting::Exact).await.unwrap();
        assert_eq!(store.of(acme).contacts().search(&filter).await.unwrap().len() as u64, found.total);
        found.total
    };
    for tag in [others[0], Uuid::now_v7()] {
        let with = ContactFilter { tags: vec![tags[0], tag], ..ContactFilter::default() };
        assert_eq!(listed(with).await, 0);
        let without = ContactFilter { without: vec![tag], ..ContactFilter::default() };
        assert_eq!(listed(without).await, 60);
    }
    // A tag that is being deleted is a tag that no contact has.
    store.of(acme).tags().delete(&Who::Pombo, tags[0]).await.unwrap();
    assert_eq!(listed(ContactFilter { tags: vec![tags[0]], ..ContactFilter::default() }).await, 0);
    assert_eq!(listed(ContactFilter { without: vec![tags[0]], ..ContactFilter::default() }).await, 60);
}

async fn a_contact_that_changed_meanwhile_is_not_overwritten(universe: &Universe) {
    let company = company(universe, "acme").await;
    let store = &universe.store;
    store.of(company).contacts().upsert(&[draft("Ana", "", "5511988887771", &[])], NOW).await.unwrap();
    let contact = all(store, company).await.remove(0);
    let later = NOW.plus(std::time::Duration::from_secs(1));
    let change = async |first_name: &str, known| {
        let change =
            ContactChange { first_name: Some(first_name.to_owned()), known, ..ContactChange::default() };
        store.of(company).contacts().change(&Who::Pombo, contact.id, &change, later).await.unwrap()
    };
    assert_eq!(change("Bea", Some(contact.updated_at)).await, Edited::Done);
    assert_eq!(change("Cai", Some(contact.updated_at)).await, Edited::Outdated);
    assert_eq!(all(store, company).await[0].person.first_name, "Bea");
    assert_eq!(change("Cai", Some(later)).await, Edited::Done);
    assert_eq!(change("Dia", None).await, Edited::Done);
    assert_eq!(all(store, company).await[0].person.first_name, "Dia");
}
