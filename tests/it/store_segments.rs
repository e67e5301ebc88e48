//! What narrows a company's contacts by a send, the segments that it saves, and the notes on its contacts.

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Outcome, Position, Reception, State as At};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Mark, Progress, Recipients, Schedule, State};
use pombo::store::changes::{ContactRecord, Filter, What, Who};
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites};
use pombo::store::segments::{Lack, NewSegment};
use pombo::store::sends::StoredLabel;
use pombo::store::{
    BySend, ContactFilter, ContactNote, Counting, Edited, MOST_NOTES, NewNote, NotesOf, Store,
};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, draft, page};

stores! {
    the_outcomes_of_a_send_select_its_contacts,
    a_segment_is_a_filter_under_a_name_that_says_when_it_lacks_something,
    the_numbers_of_contacts_are_read_by_place_and_in_order,
    notes_belong_to_their_authors_and_go_with_their_contact,
}

const SEND: Uuid = Uuid::from_u128(10);
const RECIPIENTS: u64 = 8;
/// The messages with rows; the others were not attempted.
const ROWS: [At; 5] = [At::Sent, At::Delivered, At::Read, At::Failed, At::Suppressed];

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

/// A send to [`RECIPIENTS`] numbers, canceled after the sixth was reserved.
async fn canceled_send(universe: &Universe, company: Uuid) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let send = NewSend {
        id: SEND,
        company_id: company,
        channel_id: Uuid::from_u128(3),
        state: State::Active,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients: Recipients::Blocks(RECIPIENTS),
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    };
    let numbers: Vec<_> = (0..RECIPIENTS).map(number).collect();
    let block = Block { first_ordinal: 0, recipients: RECIPIENTS, packed: pack(&numbers) };
    let blocks = vec![BlockOf { send_id: SEND, block }];
    let batch = PendingWrites { sends: vec![send], blocks, ..PendingWrites::default() };
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    let outcome = |(ordinal, state): (u64, At)| OutcomeOf {
        send_id: SEND,
        company_id: company,
        outcome: Outcome {
            position: Position { ordinal, recipient: Some(number(ordinal)) },
            state,
            attempts: 1,
            provider_message_id: None,
            error: None,
            retry_at: None,
            taken_at: None,
        },
    };
    let progress = Progress { high_water: 6, settled: 5 };
    let batch = PendingWrites {
        outcomes: (0_u64..).zip(ROWS).map(outcome).collect(),
        marks: vec![Mark { send_id: SEND, progress, state: State::Active, due_at: None }],
        ..PendingWrites::default()
    };
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    store.of(company).sends().cancel(SEND, NOW, None, None).await.unwrap();
}

/// A contact for each recipient but the fifth, each second one with a tag, and one whom nothing was sent to.
async fn seed(store: &Store, company: Uuid) -> Uuid {
    let recipients = (0..RECIPIENTS).filter(|ordinal| *ordinal != 4);
    let people: Vec<_> = recipients
        .chain([99])
        .map(|ordinal| {
            let tags: &[&str] = if ordinal % 2 == 0 { &["even"] } else { &[] };
            draft(&format!("P{ordinal}"), "", &number(ordinal).to_string(), tags)
        })
        .collect();
    store.of(company).contacts().upsert(&people, NOW).await.unwrap();
    store.of(company).tags().ensure("even", None).await.unwrap()
}

async fn names(store: &Store, company: Uuid, filter: &ContactFilter) -> Vec<String> {
    let contacts = store.of(company).contacts();
    let found = contacts.filtered(filter, page(1, 100), Counting::Exact).await.unwrap();
    assert_eq!(found.total, found.records.len() as u64, "{filter:?}");
    let places = contacts.search(filter).await.unwrap();
    assert_eq!(places.len() as u64, found.total, "{filter:?}");
    assert!(places.is_sorted_by(|one, other| one > other), "{filter:?}");
    found.records.into_iter().map(|contact| contact.person.first_name).collect()
}

async fn the_outcomes_of_a_send_select_its_contacts(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    let even = seed(store, acme).await;
    seed(store, other).await;
    canceled_send(universe, acme).await;
    let by = |reception| ContactFilter {
        reached: Some(BySend { send: SEND, reception }),
        ..ContactFilter::default()
    };
    // Newest first. The sixth message is unknown, and the fifth has no contact.
    for (reception, due) in [
        (Reception::Received, vec!["P2", "P1"]),
        (Reception::NotReceived, vec!["P7", "P6", "P3"]),
        (Reception::Read, vec!["P2"]),
        (Reception::NotRead, vec!["P1", "P0"]),
    ] {
        assert_eq!(names(store, acme, &by(reception)).await, due, "{reception}");
        assert!(names(store, other, &by(reception)).await.is_empty(), "{reception}: another company's send");
    }
    let not_received = by(Reception::NotReceived);
    let with = ContactFilter { tags: vec![even], ..not_received.clone() };
    assert_eq!(names(store, acme, &with).await, ["P6"]);
    let without = ContactFilter { without: vec![even], ..not_received.clone() };
    assert_eq!(names(store, acme, &without).await, ["P7", "P3"]);
    let searched = ContactFilter { search: Some("p7".to_owned()), ..not_received.clone() };
    assert_eq!(names(store, acme, &searched).await, ["P7"]);
    let second =
        store.of(acme).contacts().filtered(&not_received, page(2, 2), Counting::Exact).await.unwrap();
    assert_eq!((second.total, second.records[0].person.first_name.as_str()), (3, "P3"));
    let gone = BySend { send: Uuid::from_u128(11), reception: Reception::Read };
    let gone = ContactFilter { reached: Some(gone), ..ContactFilter::default() };
    assert!(names(store, acme, &gone).await.is_empty());
}

async fn a_segment_is_a_filter_under_a_name_that_says_when_it_lacks_something(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let (store, who) = (&universe.store, &Who::Pombo);
    let even = seed(store, acme).await;
    canceled_send(universe, acme).await;
    let segments = store.of(acme).segments();
    let odd = ContactFilter { without: vec![even], ..ContactFilter::default() };
    let NewSegment::Saved(id) = segments.add(who, "Odd", &odd, NOW).await.unwrap() else { panic!() };
    assert_eq!(segments.add(who, "ODD", &odd, NOW).await.unwrap(), NewSegment::Taken);
    let readers = BySend { send: SEND, reception: Reception::Read };
    let readers = ContactFilter { reached: Some(readers), ..ContactFilter::default() };
    let NewSegment::Saved(read) = segments.add(who, "a reader", &readers, NOW).await.unwrap() else {
        panic!()
    };
    assert_eq!(segments.change(who, read, Some("odd"), None, NOW).await.unwrap(), Edited::Taken);
    let shown = async || {
        let all = segments.all().await.unwrap();
        all.into_iter().map(|segment| (segment.name, segment.filter, segment.lack)).collect::<Vec<_>>()
    };
    let due = [("a reader".to_owned(), readers.clone(), None), ("Odd".to_owned(), odd.clone(), None)];
    assert_eq!(shown().await, due);
    assert_eq!(names(store, acme, &odd).await, ["P99", "P7", "P5", "P3", "P1"]);
    assert!(store.of(other).segments().all().await.unwrap().is_empty());
    assert_eq!(store.of(other).segments().find(id).await.unwrap(), None);
    assert!(!store.of(other).segments().delete(who, id).await.unwrap());

    // Without its tag the filter would select everybody.
    store.of(acme).tags().delete(who, even).await.unwrap();
    let found = segments.find(id).await.unwrap().unwrap();
    assert_eq!(found.lack, Some(Lack::Tag));
    assert!(names(store, acme, &found.filter).await.is_empty());
    let later = Timestamp::from_millis(NOW.millis() + 1_000);
    assert_eq!(segments.change(who, id, None, Some(&readers), later).await.unwrap(), Edited::Done);
    let replaced = segments.find(id).await.unwrap().unwrap();
    assert_eq!((replaced.lack, &replaced.filter, replaced.updated_at), (None, &readers, later));
    let unknown = BySend { send: Uuid::from_u128(11), reception: Reception::Read };
    let unknown = ContactFilter { reached: Some(unknown), ..ContactFilter::default() };
    segments.change(who, id, Some("Gone"), Some(&unknown), later).await.unwrap();
    let found = segments.find(id).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.lack), ("Gone", Some(Lack::Send)));
    assert!(segments.delete(who, id).await.unwrap() && !segments.delete(who, id).await.unwrap());
    assert_eq!(segments.change(who, id, Some("x"), None, later).await.unwrap(), Edited::Missing);
    let filter = Filter { what: &[What::Segments], ..Filter::default() };
    assert_eq!(store.changes().page(filter, page(1, 10)).await.unwrap().total, 5);
}

async fn the_numbers_of_contacts_are_read_by_place_and_in_order(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    seed(store, acme).await;
    store.of(other).contacts().upsert(&[draft("X", "x@x.example", "", &[])], NOW).await.unwrap();
    let segments = store.of(acme).segments();
    // The third number of the first step has another contact, which is read by the second step.
    let double = (Uuid::now_v7(), draft("Double", "", &number(2).to_string(), &[]).person);
    store.of(acme).contacts().add(&[double], &[], NOW).await.unwrap();
    let contacts = all(store, acme).await;
    let mut due: Vec<_> = contacts
        .iter()
        .map(|contact| (contact.person.phone().unwrap(), u32::try_from(contact.ordinal).unwrap()))
        .collect();
    due.sort_unstable();
    let (mut after, mut read) = (None, Vec::new());
    loop {
        let step = segments.phones_after(after, 3).await.unwrap();
        let Some(last) = step.last() else { break };
        after = Some(*last);
        read.extend(step);
    }
    assert_eq!(read, due);
    let mut at = segments.phones_at(&[0, 2, 1_000]).await.unwrap();
    at.sort_unstable();
    assert_eq!(at, [due[0].0, due[2].0]);
    assert!(store.of(other).segments().phones_after(None, 9).await.unwrap().is_empty(), "no number");
    assert!(store.of(other).segments().phones_at(&[0]).await.unwrap().is_empty());
}

async fn notes_belong_to_their_authors_and_go_with_their_contact(universe: &Universe) {
    let (acme, other) = (company(universe, "acme").await, company(universe, "other").await);
    let store = &universe.store;
    seed(store, acme).await;
    let [first, second, ..] = &all(store, acme).await[..] else { panic!() };
    let (first, second) = (first.id, second.id);
    let (ana, bea) = (Who::Key("ana".to_owned()), Who::Key("bea".to_owned()));
    let notes = store.of(acme).contact_notes();
    let NewNote::Added(one) = notes.add(&ana, first, "calls back", NOW).await.unwrap() else { panic!() };
    let NewNote::Added(two) = notes.add(&bea, second, "two\nlines", NOW).await.unwrap() else { panic!() };
    assert_eq!(store.of(other).contact_notes().add(&ana, first, "x", NOW).await.unwrap(), NewNote::NoContact);
    let of = async |contact| {
        let found = notes.page(contact, page(1, MOST_NOTES)).await.unwrap().records;
        found.into_iter().map(|ContactNote { author, body, .. }| (author, body)).collect::<Vec<_>>()
    };
    let text = |author: &str, body: &str| (author.to_owned(), body.to_owned());
    assert_eq!(of(first).await, [text("key:ana", "calls back")]);
    assert!(store.of(other).contact_notes().page(first, page(1, 9)).await.unwrap().records.is_empty());

    assert!(!notes.change(&bea, (first, one), "mine", NOW).await.unwrap(), "it is somebody else's");
    assert!(!notes.change(&ana, (second, one), "mine", NOW).await.unwrap(), "it is on another contact");
    assert!(notes.change(&ana, (first, one), "called", NOW).await.unwrap());
    assert!(!notes.delete(&bea, (first, one), NotesOf::Oneself).await.unwrap());
    assert!(!store.of(other).contact_notes().delete(&ana, (first, one), NotesOf::Everybody).await.unwrap());

    store.of(acme).contacts().merge(&Who::Pombo, first, &[second], NOW).await.unwrap();
    assert_eq!(of(first).await, [text("key:bea", "two\nlines"), text("key:ana", "called")]);
    assert!(of(second).await.is_empty());
    assert!(notes.delete(&bea, (first, two), NotesOf::Oneself).await.unwrap());
    let mut record = ContactRecord::new(&Who::Pombo, acme);
    assert_eq!(store.of(acme).contacts().delete(&mut record, &[first]).await.unwrap(), 1);
    assert!(of(first).await.is_empty(), "what was written on a contact is erased with it");
    let filter = Filter { what: &[What::Contacts], who: Some("key:ana"), ..Filter::default() };
    let recorded = store.changes().page(filter, page(1, 10)).await.unwrap().records;
    assert!(recorded.iter().all(|change| !change.after.to_string().contains("call")), "{recorded:?}");
    assert_eq!(recorded.len(), 2);
}
