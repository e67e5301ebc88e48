//! What is stored of a segment, and what a filter lacks.

use super::*;
use crate::contacts::reached::BySend;
use domain::message::Reception;
use domain::own_field::{FieldCondition, FieldKey, FieldKind};

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn field(key: &str, kind: FieldKind) -> OwnField {
    OwnField { id: id(9), key: FieldKey::parse(key).unwrap(), name: key.to_owned(), kind }
}

fn condition(text: &str, own: &[OwnField]) -> FieldCondition {
    FieldCondition::parse(text, own).unwrap()
}

#[test]
fn a_filter_is_read_back_as_it_was_written() {
    let reached = Some(BySend { send: id(3), reception: Reception::NotRead });
    let own = [field("city", FieldKind::Text), field("age", FieldKind::Number)];
    let fields = ["city!=São Paulo", "age>=18", "age=*"].map(|text| condition(text, &own)).to_vec();
    for filter in [
        ContactFilter::default(),
        ContactFilter {
            search: Some("ana".to_owned()),
            tags: vec![id(1)],
            without: vec![id(2)],
            reached,
            fields,
        },
    ] {
        assert_eq!(read(&written(&filter).unwrap()), Some(filter));
    }
    let of_today = r#"{"version":1,"filter":{"search":"ana","tags":[],"without":[]}}"#;
    assert_eq!(read(of_today).unwrap().search.as_deref(), Some("ana"), "the form in databases stays");
}

#[test]
fn a_filter_of_a_later_version_is_not_read_as_one_that_selects_more() {
    for later in [
        r#"{"version":2,"filter":{"search":"ana"}}"#,
        r#"{"version":1,"filter":{"search":"ana","birthday":"today"}}"#,
        r#"{"version":1,"filter":{"reached":{"send":"7","reception":"read"}}}"#,
        r#"{"version":1,"filter":{"fields":[{"condition":"age~18","kind":"number"}]}}"#,
        r#"{"version":1,"filter":{"fields":[{"condition":"age=18","kind":"colour"}]}}"#,
        r#"{"version":1,"filter":{"fields":[{"condition":"age=18"}]}}"#,
        "",
    ] {
        assert_eq!(read(later), None, "{later}");
    }
}

#[test]
fn a_filter_lacks_a_tag_a_send_or_a_field_that_is_gone() {
    let own = [field("city", FieldKind::Text), field("age", FieldKind::Number)];
    let filter = ContactFilter {
        tags: vec![id(1)],
        without: vec![id(2)],
        reached: Some(BySend { send: id(3), reception: Reception::Read }),
        fields: vec![condition("city=*", &own), condition("age>=18", &own)],
        ..ContactFilter::default()
    };
    let lack = |tags: &[u128], sends: &[u128], own: &[OwnField]| {
        let set = |ids: &[u128]| ids.iter().copied().map(id).collect::<HashSet<_>>();
        super::lack(&filter, (&set(tags), &set(sends)), own)
    };
    assert_eq!(lack(&[1, 2], &[3], &own), None);
    assert_eq!(lack(&[1], &[3], &own), Some(Lack::Tag));
    assert_eq!(lack(&[2], &[3], &own), Some(Lack::Tag));
    assert_eq!(lack(&[1, 2], &[], &own), Some(Lack::Send));
    assert_eq!(lack(&[1, 2], &[3], &own[..1]), Some(Lack::Field));
    let [city, _] = own;
    let other = [city, field("age", FieldKind::Text)];
    assert_eq!(lack(&[1, 2], &[3], &other), Some(Lack::Field), "another field has the key");
}
