//! Example contacts: the same number always gives the same person.

use std::ops::Range;

use crate::domain::contact::Person;

const FIRST: [&str; 16] = [
    "Ana", "Bruno", "Chloé", "Dmitri", "Elif", "Fernando", "Grace", "Hiro", "Inês", "João", "Kwame", "Léa",
    "Mariana", "Noor", "Oscar", "Priya",
];
const LAST: [&str; 13] = [
    "Almeida", "Bianchi", "Costa", "Dubois", "Eriksson", "Fischer", "García", "Haddad", "Ito", "Jansen",
    "Kaya", "Lima", "Müller",
];
/// Entries that people write into forms in place of a number.
const NO_NUMBERS: [&str; 5] = ["", "unknown", "12345", "n/a", "0800 123"];
/// Contacts in each write.
const LOT: u32 = 2_000;

/// The sort of contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    WithoutNumber,
    Vip,
    Plain,
}

/// The person of this number in the company of this prefix.
pub(super) fn person(prefix: u8, index: u32, sort: Sort) -> Person {
    let place = index as usize;
    let phone_number = match sort {
        Sort::WithoutNumber => NO_NUMBERS[place % NO_NUMBERS.len()].to_owned(),
        Sort::Vip | Sort::Plain => format!("+999 {prefix}{index:08}"),
    };
    Person {
        first_name: FIRST[place % FIRST.len()].to_owned(),
        last_name: LAST[(place / FIRST.len()) % LAST.len()].to_owned(),
        email: format!("contact{index}@example.com"),
        phone_number,
        ..Person::default()
    }
}

/// The numbers from `have` to `wanted` in lots of one sort each: first contacts without a number, then the
/// VIPs, then all others.
pub(super) fn lots(have: u32, wanted: u32, without_number: u32, vip: u32) -> Vec<(Range<u32>, Sort)> {
    let mut lots = Vec::new();
    let mut from = have;
    while from < wanted {
        let (sort, end) = if from < without_number {
            (Sort::WithoutNumber, without_number)
        } else if from < without_number + vip {
            (Sort::Vip, without_number + vip)
        } else {
            (Sort::Plain, wanted)
        };
        let to = end.min(wanted).min(from + LOT);
        lots.push((from..to, sort));
        from = to;
    }
    lots
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_lot_has_one_sort_and_together_they_cover_everybody_once() {
        let lots = lots(0, 4_100, 5, 25);
        let shown: Vec<_> = lots.iter().map(|(range, sort)| (range.start, range.end, *sort)).collect();
        assert_eq!(
            shown,
            [
                (0, 5, Sort::WithoutNumber),
                (5, 30, Sort::Vip),
                (30, 2_030, Sort::Plain),
                (2_030, 4_030, Sort::Plain),
                (4_030, 4_100, Sort::Plain)
            ]
        );
        assert_eq!(super::lots(3, 4, 5, 25), [(3..4, Sort::WithoutNumber)]);
        assert_eq!(super::lots(40, 20, 5, 25), []);
    }

    #[test]
    fn numbers_are_valid_and_unique_except_where_there_are_none() {
        let phones: HashSet<_> = (5..500).filter_map(|index| person(1, index, Sort::Plain).phone()).collect();
        assert_eq!(phones.len(), 495);
        assert!((0..5).all(|index| person(1, index, Sort::WithoutNumber).phone().is_none()));
    }
}
