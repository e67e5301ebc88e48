//! The recipients: generated contacts spread over tags, so that counting them is not trivial.
//!
//! One in ten has a second tag, one in twenty has the number of another contact, one in fifty has no number that
//! can be sent to. All numbers begin with 999, which is no country's.

use std::collections::BTreeMap;

use domain::contact::Person;

const FIRST: [&str; 8] = ["Ana", "Bruno", "Chloé", "Dmitri", "Elif", "Grace", "João", "Priya"];
const LAST: [&str; 7] = ["Almeida", "Bianchi", "Costa", "Dubois", "Haddad", "Ito", "Müller"];
/// Entries that people write into forms in place of a number.
const NO_NUMBERS: [&str; 4] = ["", "unknown", "12345", "n/a"];
/// The first contact's number.
const FIRST_NUMBER: u64 = 999_100_000_000;
/// The first number for single sends. No contact has these numbers, and each gets one message.
const FIRST_SINGLE: u64 = 999_800_000_000;
/// The first number for the message that checks the way to the simulator.
const FIRST_PROBE: u64 = 999_700_000_000;

/// Contacts and tags of a load test.
#[derive(Debug, Clone, Copy)]
pub(super) struct People {
    /// At least 1.
    pub(super) contacts: u32,
    /// At least 1.
    pub(super) tags: u32,
}

impl People {
    /// The first tag of a contact, and the second of those that have two.
    fn tags_of(self, contact: u32) -> (u32, Option<u32>) {
        let first = contact % self.tags;
        let second = (first + 1) % self.tags;
        (first, (contact / self.tags % 10 == 3 && second != first).then_some(second))
    }

    /// The number of a contact; `None` when it has none.
    fn number_of(self, contact: u32) -> Option<u64> {
        let turn = contact / self.tags;
        if turn % 50 == 7 {
            return None;
        }
        // The number of the contact before it under the same tag, which always has one.
        let owner = if turn % 20 == 11 { contact - self.tags } else { contact };
        // Numbers are scattered, so that neighbours in the table are not neighbours in the order of numbers.
        Some(FIRST_NUMBER + u64::from(owner) * 7_919 % u64::from(self.contacts))
    }

    fn person(self, contact: u32) -> Person {
        let place = contact as usize;
        let phone_number = match self.number_of(contact) {
            Some(number) => format!("+{number}"),
            None => NO_NUMBERS[place % NO_NUMBERS.len()].to_owned(),
        };
        Person {
            first_name: FIRST[place % FIRST.len()].to_owned(),
            last_name: LAST[place / FIRST.len() % LAST.len()].to_owned(),
            email: format!("contact{contact}@example.com"),
            phone_number,
            ..Person::default()
        }
    }

    /// All people, in lots of at most `most` people with the same tags.
    pub(super) fn lots(self, most: usize) -> impl Iterator<Item = (Vec<u32>, Vec<Person>)> {
        let mut waiting: BTreeMap<(u32, Option<u32>), Vec<Person>> = BTreeMap::new();
        let mut contacts = 0..self.contacts;
        let named = |(first, second): (u32, Option<u32>)| std::iter::once(first).chain(second).collect();
        std::iter::from_fn(move || {
            for contact in contacts.by_ref() {
                let tags = self.tags_of(contact);
                let lot = waiting.entry(tags).or_default();
                lot.push(self.person(contact));
                if lot.len() >= most {
                    return Some((named(tags), std::mem::take(lot)));
                }
            }
            loop {
                let (tags, lot) = waiting.pop_first()?;
                if !lot.is_empty() {
                    return Some((named(tags), lot));
                }
            }
        })
    }

    /// The different phone numbers of each tag, ascending.
    pub(super) fn numbers(self) -> Vec<Vec<u64>> {
        let mut numbers: Vec<Vec<u64>> = vec![Vec::new(); self.tags as usize];
        for contact in 0..self.contacts {
            let (first, second) = self.tags_of(contact);
            for tag in std::iter::once(first).chain(second) {
                numbers[tag as usize].extend(self.number_of(contact));
            }
        }
        for numbers in &mut numbers {
            numbers.sort_unstable();
            numbers.dedup();
        }
        numbers
    }

    /// The number of different phone numbers of each tag, which the answer to a send to it must have.
    pub(super) fn recipients(self) -> Vec<u64> {
        self.numbers().iter().map(|numbers| numbers.len() as u64).collect()
    }
}

/// The number of a contact who writes: one contact after the other, of this many.
pub(super) fn writer(number: u64, contacts: u32) -> String {
    (FIRST_NUMBER + number % u64::from(contacts.max(1))).to_string()
}

/// The number of a single send.
pub(super) fn single(number: u64) -> String {
    format!("+{}", FIRST_SINGLE + number % 100_000_000)
}

/// A unique number for the message that checks the way to the simulator.
pub(super) fn probe() -> String {
    format!("+{}", FIRST_PROBE + rand::random::<u64>() % 100_000_000)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_recipients_of_each_tag_are_the_different_numbers_of_its_lots() {
        for (contacts, tags) in [(1, 1), (300, 1), (999, 3), (40, 7), (2_000, 5)] {
            let people = People { contacts, tags };
            let mut numbers = vec![BTreeSet::new(); tags as usize];
            let mut everybody = 0;
            for (its, lot) in people.lots(64) {
                assert!((1..=64).contains(&lot.len()) && (1..=2).contains(&its.len()));
                everybody += lot.len();
                for tag in its {
                    numbers[tag as usize].extend(lot.iter().filter_map(Person::phone));
                }
            }
            assert_eq!(everybody, contacts as usize);
            let counted: Vec<_> = numbers.iter().map(|numbers| numbers.len() as u64).collect();
            assert_eq!(people.recipients(), counted, "{contacts} contacts, {tags} tags");
        }
    }

    #[test]
    fn there_are_second_tags_repeated_numbers_and_contacts_without_one() {
        let people = People { contacts: 1_000, tags: 2 };
        let lots: Vec<_> = people.lots(5_000).collect();
        assert!(lots.iter().any(|(tags, _)| tags.len() == 2));
        let phones: Vec<_> = lots.iter().flat_map(|(_, lot)| lot).filter_map(Person::phone).collect();
        let different: BTreeSet<_> = phones.iter().collect();
        assert_eq!((phones.len(), different.len()), (980, 930));
    }
}
