//! Values from a request to a block and back.

use std::io;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::block::Damaged;
use crate::content::Content;
use crate::phone::PhoneNumber;
use crate::request::{Limits, SkipCode, Skipped};
use crate::template::{Component, Parameter};

/// A spill in memory.
#[derive(Debug, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Spill for Kept {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let (kept, at) = (self.0.lock().unwrap(), usize::try_from(at).unwrap());
        into.copy_from_slice(&kept[at..at + into.len()]);
        Ok(())
    }
}

fn number(of: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + of).unwrap()
}

fn add(rows: &mut Rows, of: u64, values: &[(&str, &str)], skipped: &mut Skipped) {
    values.iter().for_each(|(name, value)| rows.value(name, value).unwrap());
    rows.reference(&format!("crm-{of}")).unwrap();
    rows.end(&number(of).to_string(), skipped).unwrap();
}

#[test]
fn recipients_are_found_by_number_with_their_values_wherever_they_are_kept() {
    let kept = Arc::<Mutex<Vec<u8>>>::default();
    let long = "x".repeat(1_000);
    for spill in [None, Some(Box::new(Kept(Arc::clone(&kept))) as Box<dyn Spill>)] {
        let (mut rows, mut skipped) = (Rows::new(false, spill), Skipped::default());
        for of in (0..10_000).rev() {
            let order = format!("A-{of}");
            add(&mut rows, of, &[("order", &order), ("blank", "  "), ("long", &long)], &mut skipped);
        }
        rows.finish(&mut skipped).unwrap();
        assert!(rows.phone_numbers().is_sorted());
        let mut memory = Vec::new();
        let (index, row) = rows.find(number(7_000), &mut memory).unwrap().unwrap();
        assert_eq!((index, row.reference, row.value("order")), (2_999, "crm-7000", Some("A-7000")));
        assert_eq!((row.value("blank"), row.value("long").map(str::len)), (None, Some(1_000)));
        assert!(rows.find(number(10_000), &mut memory).unwrap().is_none());
        assert_eq!((rows.len(), rows.given(), skipped.count), (10_000, 10_000, 0));
    }
    assert!(!kept.lock().unwrap().is_empty(), "the second list was too long for memory");
}

#[test]
fn what_cannot_be_sent_is_skipped_with_its_place_and_its_field() {
    let (mut rows, mut skipped) = (Rows::new(true, None), Skipped::default());
    add(&mut rows, 1, &[("name", " Ana\n Lúcia ")], &mut skipped);
    rows.value("name", &"x".repeat(VALUE_CHARS + 1)).unwrap();
    rows.end(&number(2).to_string(), &mut skipped).unwrap();
    rows.end("nobody", &mut skipped).unwrap();
    add(&mut rows, 1, &[("name", "Ana Lúcia")], &mut skipped);
    add(&mut rows, 1, &[("name", "Eva")], &mut skipped);
    rows.finish(&mut skipped).unwrap();
    let mut memory = Vec::new();
    let (_, row) = rows.find(number(1), &mut memory).unwrap().unwrap();
    assert_eq!(
        (rows.len(), row.value("name")),
        (1, Some("Ana Lúcia")),
        "the first counts, with folded spaces"
    );
    let shown: Vec<_> =
        skipped.first.iter().map(|it| (it.code.as_deref(), it.index, it.field.as_deref())).collect();
    assert_eq!(
        shown,
        [
            (Some("value_not_allowed"), Some(1), Some("values.name")),
            (Some("invalid_number"), Some(2), Some("phone_number")),
            (Some("duplicate_recipient"), Some(4), Some("phone_number")),
        ]
    );
}

#[test]
fn names_and_numbers_of_values_have_bounds() {
    let mut rows = Rows::new(false, None);
    for wrong in ["", "Name", "a b", "é", "button.10", &"a".repeat(41)] {
        assert!(rows.value(wrong, "x").is_err(), "{wrong}");
    }
    rows.value("button.0", "x").unwrap();
    assert!(rows.value("button.0", "y").is_err(), "a name is given once");
    for more in 1..MOST_VALUES {
        rows.value(&format!("n{more}"), "x").unwrap();
    }
    assert_eq!(rows.value("one_more", "x"), Err(RowFault::many()));
    assert!(rows.reference(&"r".repeat(129)).is_err());
}

proptest! {
    #[test]
    fn what_is_packed_unpacks_unchanged(
        rows in prop::collection::vec(prop::collection::btree_map("[a-z]{1,3}", ".{1,20}", 0..6), 0..40),
        shared in prop::collection::btree_map("[a-z]{1,3}", "[a-z ]{1,9}x", 0..3),
    ) {
        let (mut packer, mut all) = (Packer::default(), Values::default());
        shared.iter().for_each(|(name, value)| all.set(name, value).unwrap());
        let rows: Vec<_> = rows.into_iter().map(Values).collect();
        rows.iter().for_each(|row| packer.push(row.iter()));
        let unpacked = unpack(&packer.take(&all)).unwrap();
        prop_assert!(packer.is_empty());
        let own = |row: &Unpacked| {
            let values = row.own.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
            Values(values.collect())
        };
        for (row, given) in unpacked.iter().zip(&rows) {
            prop_assert!(given.iter().all(|(name, value)| row.own.value(name) == Some(value)));
            prop_assert_eq!(row.own.value("none"), None);
            prop_assert_eq!(&PackedValues::of(given.iter()), &row.own);
        }
        prop_assert_eq!(unpacked.iter().map(own).collect::<Vec<_>>(), rows);
        prop_assert!(unpacked.iter().all(|row| *row.shared == all));
    }

    #[test]
    fn damaged_bytes_are_refused_not_guessed(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = unpack(&bytes);
    }
}

#[test]
fn a_table_takes_little_more_than_its_texts() {
    let mut packer = Packer::default();
    let (mut texts, mut blocks) = (0, 0);
    for of in 0..4_096 {
        let row = [format!("Ana {of:08}"), format!("A-{of:06}"), "10,00".to_owned()];
        let named = ["name", "order", "amount"].into_iter().zip(row.iter().map(String::as_str));
        texts += row.iter().map(String::len).sum::<usize>();
        packer.push(named);
        if packer.is_full() {
            blocks += packer.take(&Values::default()).len();
        }
    }
    assert!(packer.is_empty(), "4,096 recipients are whole blocks");
    assert!(blocks * 10 < texts * 13, "{blocks} bytes for {texts}");
    assert_eq!(unpack(&[9, 0, 0, 0, 0]), Err(Damaged));
}

#[test]
fn a_recipient_without_a_value_or_with_one_that_does_not_fit_is_named() {
    let parameter = |text: &str| Parameter::Text { text: text.to_owned(), parameter_name: None };
    let texts = ["{{value.name|friend}}", "{{value.order}}"];
    let template = Content::Template {
        name: "order".to_owned(),
        language: "en".to_owned(),
        components: vec![Component::Body { parameters: texts.map(parameter).to_vec() }],
        contact_fields: true,
    };
    let limits = Limits::default();
    let values = |all: &[(&str, &str)]| {
        let mut values = Values::default();
        all.iter().for_each(|(name, value)| values.set(name, value).unwrap());
        values
    };
    let text = Content::Text { body: "{{value.name}}!".repeat(5), preview_url: None };
    let link = "https://a.example/{{value.file|b}}.jpg".to_owned();
    let picture = Content::Image { link, caption: None };
    let whole = Content::Sticker { link: "{{value.file}}".to_owned() };
    for (content, given, expected) in [
        (&template, values(&[("order", "A 1")]), None),
        (&template, values(&[("name", "Ana")]), Some((SkipCode::ValueMissing, "values.order"))),
        (&template, values(&[("order", "a\nb")]), Some((SkipCode::ValueNotAllowed, "values.order"))),
        (&text, values(&[("name", "a\nb")]), None),
        (&text, values(&[("name", &"x".repeat(1_000))]), Some((SkipCode::ValueNotAllowed, "values.name"))),
        (&picture, values(&[("file", "/../x")]), None),
        (
            &whole,
            values(&[("file", "media:00000000-0000-0000-0000-000000000001")]),
            Some((SkipCode::ValueNotAllowed, "values.file")),
        ),
        (&whole, values(&[("file", "https://a.example/b.webp")]), None),
    ] {
        let lack = Needs::of(content, &limits).check(&given).err();
        assert_eq!(
            lack.as_ref().map(|lack| (lack.code, lack.field.as_str())),
            expected,
            "{content:?} {given:?}"
        );
    }
}
