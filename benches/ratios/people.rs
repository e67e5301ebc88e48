//! Contacts by the million: the same ones in every run, with names, addresses, numbers and tags as people have.

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use pombo::store::Store;
use uuid::Uuid;

const FIRST: [&str; 24] = [
    "Ana",
    "Bia",
    "Caio",
    "Davi",
    "Enzo",
    "Fábio",
    "Gabriela",
    "Helena",
    "Igor",
    "João",
    "Karla",
    "Lucas",
    "María",
    "Nadia",
    "Otávio",
    "Paulo",
    "Quitéria",
    "Rafael",
    "Sofia",
    "Tiago",
    "Úrsula",
    "Vítor",
    "Wagner",
    "Yara",
];
const SYLLABLES: [&str; 16] =
    ["ba", "co", "de", "fi", "gu", "la", "me", "ni", "po", "ra", "se", "ti", "vu", "za", "lho", "ção"];
const HOSTS: [&str; 4] = ["gmail.com", "hotmail.com", "example.org", "correio.example"];
/// A name that one contact in ten has; no other text contains it.
pub(crate) const FREQUENT: &str = "Wexford";
/// Contacts that are added at once.
const LOT: u64 = 1_000;
/// Tags of a company with a contact or more.
pub(crate) const TAGS: u64 = 1_000;

/// The contact of this number.
pub(crate) fn person(number: u64) -> Person {
    // The values are spread, so that neighbours have nothing in common.
    let mut random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
    let mut next = |count: usize| {
        let index = (random % count as u64) as usize;
        random /= count as u64;
        index
    };
    let first_name = FIRST[next(FIRST.len())];
    let host = HOSTS[next(HOSTS.len())];
    let last: String = (0..2 + next(2)).map(|_| SYLLABLES[next(SYLLABLES.len())]).collect();
    let last_name = if number % 10 == 3 { format!("{last} {FREQUENT}") } else { last.clone() };
    let digits = format!("{:09}", 900_000_000 + number.wrapping_mul(61_803_399) % 99_999_989);
    Person {
        first_name: first_name.to_owned(),
        last_name,
        email: format!("{last}.{number}@{host}"),
        phone_number: format!("+55 11 {}-{}", &digits[..5], &digits[5..]),
        ..Person::default()
    }
}

/// The name of a tag.
pub(crate) fn tag(number: u64) -> String {
    format!("Group {:04}", number % TAGS)
}

/// Adds `count` contacts to a company, spread over all tags.
pub(crate) async fn add(store: &Store, company: Uuid, count: u64) {
    for lot in 0..count.div_ceil(LOT) {
        let id = store.of(company).tags().ensure(&tag(lot), None).await.unwrap();
        let range = lot * LOT..((lot + 1) * LOT).min(count);
        let people: Vec<_> = range.map(|number| (Uuid::now_v7(), person(number))).collect();
        store.of(company).contacts().add(&people, &[id], Timestamp::now()).await.unwrap();
    }
    store.contacts().grew().await.unwrap();
}
