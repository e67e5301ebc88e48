//! The list of conversations by a tag: whole, whether the tag has few contacts or thousands.

use std::ops::Range;
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use pombo::domain::phone::PhoneNumber;
use pombo::store::changes::Who;
use pombo::store::conversations::ConversationFilter;
use pombo::store::ledger::PendingWrites;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::wrote_by;

stores!(a_list_by_a_tag_is_whole_whether_the_tag_has_few_contacts_or_thousands);

const CHANNEL: Uuid = Uuid::from_u128(2);
const PEOPLE: u64 = 600;
/// More contacts of a tag than are looked up one by one.
const MANY: u64 = 3_000;

fn number(nth: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
}

/// The people in the list of the tag, from its first part to its last.
async fn listed(universe: &Universe, company: Uuid, filter: &ConversationFilter) -> Vec<PhoneNumber> {
    let (mut people, mut after) = (Vec::new(), None);
    loop {
        let conversations = universe.store.of(company).conversations();
        let (part, next) = conversations.list(filter, after, 50).await.unwrap();
        assert!(part.len() <= 50 && people.len() <= usize::try_from(PEOPLE).unwrap());
        people.extend(part.iter().map(|conversation| conversation.peer.number().unwrap()));
        match next {
            Some(_) => after = next,
            None => return people,
        }
    }
}

async fn a_list_by_a_tag_is_whole_whether_the_tag_has_few_contacts_or_thousands(universe: &Universe) {
    let store = &universe.store;
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let other = store.companies().add(&Who::Pombo, "Other", "standard").await.unwrap().id;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let now = Timestamp::now();
    let wrote =
        |nth: u64| wrote_by(number(nth), (company, CHANNEL), "a", now.minus(Duration::from_secs(nth)));
    let batch = PendingWrites { inbound: (0..PEOPLE).map(wrote).collect(), ..PendingWrites::default() };
    store.ledger().commit(&lease, &batch, now).await.unwrap();
    let tag = store.of(company).tags().ensure("VIP", None).await.unwrap();
    let add = async |numbers: Range<u64>, step: usize| {
        let person = |nth| Person { phone_number: number(nth).to_string(), ..Person::default() };
        let people: Vec<_> = numbers.step_by(step).map(|nth| (Uuid::now_v7(), person(nth))).collect();
        store.of(company).contacts().add(&people, &[tag], now).await.unwrap();
    };
    add(0..PEOPLE, 5).await;
    let wanted: Vec<_> = (0..PEOPLE).step_by(5).map(number).collect();
    let tagged = ConversationFilter { tag: Some(tag), ..ConversationFilter::default() };
    let found = ConversationFilter { search: Some("0000005".to_owned()), ..tagged.clone() };
    let few = [listed(universe, company, &tagged).await, listed(universe, company, &found).await];
    assert_eq!(few, [wanted, vec![number(5)]]);
    add(PEOPLE..PEOPLE + MANY, 1).await;
    let many = [listed(universe, company, &tagged).await, listed(universe, company, &found).await];
    assert_eq!(many, few, "however they are found");
    assert!(listed(universe, other, &tagged).await.is_empty(), "the tag is of another company");
}
