use proptest::prelude::*;

use super::*;
use domain::contact::{Person, digits_pattern};
use domain::fold::{digits, fold, looks_like_a_number};

/// What a search means, without any index.
fn contains(search_text: &str, tag_text: &str, search: &str) -> bool {
    let (lines, number) = split_search_text(search_text);
    lines.contains(search)
        || tag_text.contains(search)
        || (looks_like_a_number(search) && number.contains(&digits(search)))
}

/// The contacts of one segment that a search finds, if lists of more than `longest` bytes are read only when they are
/// needed, and the texts of uncertain contacts are checked.
fn found(contacts: &[(String, String)], search: &str, longest: usize) -> Vec<u32> {
    let mut builder = Builder::default();
    contacts.iter().for_each(|(search_text, tag_text)| builder.add(search_text, tag_text));
    let lists = builder.finish().into_iter();
    let lists: Lists = lists.map(|(gram, list)| (gram, Some(list))).collect();
    let mut short = lists.clone();
    short.values_mut().for_each(|list| *list = list.take().filter(|list| list.len() <= longest));
    let lengths = lists[&LENGTHS].as_deref().unwrap();
    let mut words = vec![Word::new(Part::Words, search)];
    if looks_like_a_number(search) {
        words.push(Word::new(Part::Digits, &digits(search)));
    }
    let mut found = Vec::new();
    for word in &words {
        let mut places = word.find(&short);
        if !places.is_enough(1) {
            word.unread(&short).collect::<Vec<_>>().into_iter().for_each(|gram| {
                short.insert(gram, lists[&gram].clone());
            });
            places = word.find(&short);
        }
        found.extend(match places {
            Found::Contacts(contacts) => contacts,
            Found::Places { places, is_certain: true } => contacts_at(&places, lengths),
            Found::Places { places, is_certain: false } => {
                let mut doubted = contacts_at(&places, lengths);
                doubted.retain(|contact| {
                    let (search_text, tag_text) = &contacts[*contact as usize];
                    contains(search_text, tag_text, search)
                });
                doubted
            }
            Found::Unread => panic!("all lists were read"),
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn contact(first_name: &str, last_name: &str, phone_number: &str, tags: &str) -> (String, String) {
    let person = Person {
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        phone_number: phone_number.to_owned(),
        ..Person::default()
    };
    (person.search_text(), fold(tags))
}

#[test]
fn a_word_is_found_where_its_characters_follow_each_other_and_nowhere_else() {
    let contacts = [
        contact("Banana", "Split", "+55 (11) 9", "vip"),
        contact("Ban", "anas", "5519", ""),
        contact("", "", "", ""),
        contact("nabana", "İ日本語", "", "ban"),
    ];
    for (search, wanted) in [
        ("banana", vec![0]),
        ("anan", vec![0]),
        ("ana", vec![0, 1, 3]),
        ("na", vec![0, 1, 3]),
        ("n", vec![0, 1, 3]),
        ("bana", vec![0, 3]),
        ("nanas", vec![]),
        ("vip", vec![0]),
        ("ban", vec![0, 1, 3]),
        ("日本語", vec![3]),
        ("本", vec![3]),
        ("5511", vec![0]),
        ("+55 1", vec![0, 1]),
        ("9", vec![0, 1]),
        ("+9", vec![0, 1]),
        ("zebra", vec![]),
    ] {
        for longest in [0, 1, usize::MAX] {
            assert_eq!(found(&contacts, search, longest), wanted, "{search}, lists of {longest} bytes");
        }
    }
}

#[test]
fn the_pattern_for_a_scan_looks_where_the_index_looks() {
    assert_eq!(digits_pattern("55"), "%\u{1}%55%");
}

proptest! {
    /// Few characters, so that grams repeat and overlap; some of several bytes.
    #[test]
    fn the_index_finds_what_reading_every_text_finds(
        people in proptest::collection::vec(("[ab1+é ]{0,7}", "[abß日]{0,5}", "[+ 15]{0,6}", "[ab1 ]{0,5}"), 0..12),
        search in "[ab1+5日é ]{1,6}",
        longest in 0_usize..6,
    ) {
        let contacts: Vec<_> = people.iter().map(|(a, b, c, tags)| contact(a, b, c, tags)).collect();
        let search = fold(&search);
        let wanted = (0_u32..).zip(&contacts).filter(|(_, (text, tags))| contains(text, tags, &search));
        prop_assert_eq!(
            found(&contacts, &search, longest),
            wanted.map(|(index, _)| index).collect::<Vec<_>>()
        );
    }

    #[test]
    fn packed_numbers_unpack_to_themselves(mut numbers in proptest::collection::vec(any::<u32>(), 0..20)) {
        numbers.sort_unstable();
        numbers.dedup();
        let mut list = List::default();
        numbers.iter().for_each(|number| list.push(*number));
        let bytes = list.into_bytes();
        prop_assert_eq!(super::numbers(&bytes).collect::<Vec<_>>(), numbers);
    }
}
