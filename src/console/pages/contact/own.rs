//! The own fields in the form of a contact.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::domain::contact::Contact;
use crate::domain::own_field::{FieldKey, FieldKind, FieldValue, LONGEST_TEXT, OwnField, WrongValue};

/// The name of a field's input.
pub(super) fn input(field: &OwnField) -> String {
    format!("own-{}", field.key)
}

/// The value that a contact has now, as its input has it.
pub(super) fn stored(contact: &Contact, field: &OwnField) -> String {
    contact.person.own.get(&field.key).map(FieldValue::plain).unwrap_or_default()
}

/// Puts the values of a contact into its form.
pub(super) fn put(form: &mut Form, contact: &Contact, own: &[OwnField]) {
    for field in own {
        form.put(&input(field), stored(contact, field));
    }
}

/// Reads the values; a fault is noted at its input. A field whose input the form lacks is kept: it was added meanwhile.
pub(super) fn read(form: &mut Form, own: &[OwnField]) -> BTreeMap<FieldKey, Option<FieldValue>> {
    let mut values = BTreeMap::new();
    for field in own {
        let name = input(field);
        if !form.words().names(&name) {
            continue;
        }
        match field.kind.exact(form.words().one(&name)) {
            Ok(value) => drop(values.insert(field.key, value)),
            Err(wrong) => {
                let sentence = fault(form.text(), wrong);
                form.fault(&name, sentence);
            }
        }
    }
    values
}

/// What is wrong with a value that a person typed.
pub(in crate::console::pages) fn fault(text: Text, wrong: WrongValue) -> String {
    match wrong {
        WrongValue::TooLong => text.with("fault-field-too-long", [("most", LONGEST_TEXT.into())]),
        WrongValue::Nul => text.get("fields-text-wrong"),
        WrongValue::Number | WrongValue::UnclearNumber => text.get("fields-number-wrong"),
        WrongValue::Date | WrongValue::UnclearDate => text.get("fields-date-wrong"),
    }
}

/// The inputs, each of the kind of its values.
pub(super) fn fields(form: &Form, own: &[OwnField]) -> Markup {
    let one = |field: &OwnField| {
        let name = input(field);
        let control = Field::new(form, &name, &field.name);
        match field.kind {
            FieldKind::Text => control.most(LONGEST_TEXT).text(),
            FieldKind::Date => control.input("date"),
            FieldKind::Number => control.decimal(),
        }
    };
    html! {
        @if !own.is_empty() { div.columns { @for field in own { (one(field)) } } }
    }
}
