//! The filter by own fields: one condition is added at a time, and each is a chip above the list.

use maud::{Markup, html};

use super::listed::Listed;
use crate::console::component::field::Field;
use crate::console::component::icon::Icon;
use crate::console::form::Form;
use crate::console::pages::contact::own;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::own_field::{
    ConditionFault, FieldCondition, FieldKey, FieldTest, LONGEST_TEXT, MOST_CONDITIONS, find,
};

/// The choices of a condition: a word in the address, the operator of the condition, and the key of its words. The last two
/// need no value.
const TESTS: [(&str, &str, &str); 6] = [
    ("is", "=", "contacts-own-is"),
    ("not", "!=", "contacts-own-not"),
    ("least", ">=", "contacts-own-least"),
    ("most", "<=", "contacts-own-most"),
    ("known", "=", "contacts-own-known"),
    ("unknown", "!=", "contacts-own-unknown"),
];

/// Adds the condition that the address has beside the others. Returns the form of the next one, which has the fault of this
/// one.
pub(super) fn add(viewer: &Viewer, query: &Query, listed: &mut Listed) -> Form {
    let text = viewer.text;
    let (on, test, value) = (query.one("on"), query.one("test"), query.one("value"));
    let field = FieldKey::parse(on).and_then(|key| find(&listed.own, key));
    let chosen = TESTS.into_iter().find(|(word, ..)| *word == test);
    let (Some(field), Some((word, operator, _))) = (field, chosen) else { return Form::new(text) };
    let wanted = if matches!(word, "known" | "unknown") { "*" } else { value };
    let (at, sentence) = match FieldCondition::of(field, operator, wanted) {
        Ok(condition) if listed.conditions.contains(&condition) => return Form::new(text),
        Ok(_) if listed.conditions.len() >= MOST_CONDITIONS => {
            ("on", text.with("contacts-own-many", [("most", MOST_CONDITIONS.into())]))
        }
        Ok(condition) => {
            listed.conditions.push(condition);
            return Form::new(text);
        }
        Err(ConditionFault::Order(_)) => ("test", text.get("contacts-own-order")),
        Err(ConditionFault::Value(_, wrong)) => ("value", own::fault(text, wrong)),
        Err(ConditionFault::Nothing(_) | ConditionFault::Form | ConditionFault::NoSuchField(_)) => {
            ("value", text.get("fault-field-missing"))
        }
    };
    let given = [("on", on), ("test", test), ("value", value)].map(|(name, value)| (name, value.to_owned()));
    let mut form = Form::filled(text, given);
    form.fault(at, sentence);
    form
}

/// The fields of the next condition, and those that the list has.
pub(super) fn form(text: Text, listed: &Listed, added: &Form) -> Markup {
    let fields = listed.own.iter().map(|field| (field.key.to_string(), field.name.clone()));
    let none = (String::new(), text.get("contacts-own-none"));
    let tests = TESTS.map(|(word, _, key)| (word, text.get(key)));
    html! {
        @for condition in &listed.conditions { input type="hidden" name="field" value=(condition); }
        @if !listed.own.is_empty() {
            details.by-tags id="by-fields" open[added.has_faults()] {
                summary { (Icon::Filter) (text.get("contacts-by-fields")) }
                div.columns {
                    (Field::new(added, "on", &text.get("contacts-own-field")).select(std::iter::once(none).chain(fields)))
                    (Field::new(added, "test", &text.get("contacts-own-test")).select(tests))
                    (Field::new(added, "value", &text.get("contacts-own-value")).hint(&text.get("contacts-own-value-hint"))
                        .most(LONGEST_TEXT).text())
                }
                button.plain type="submit" { (text.get("contacts-show")) }
            }
        }
    }
}

/// A condition in words.
pub(super) fn words(text: Text, listed: &Listed, condition: &FieldCondition) -> String {
    let name = find(&listed.own, condition.key).map_or_else(String::new, |field| field.name.clone());
    let test = match condition.test {
        FieldTest::Is(_) => "is",
        FieldTest::IsNot(_) => "not",
        FieldTest::AtLeast(_) => "least",
        FieldTest::AtMost(_) => "most",
        FieldTest::Known => "known",
        FieldTest::Unknown => "unknown",
    };
    let key = TESTS.into_iter().find(|(word, ..)| *word == test).map_or("contacts-own-is", |(.., key)| key);
    match condition.test {
        FieldTest::Known | FieldTest::Unknown => format!("{name} {}", text.get(key)),
        _ => format!("{name} {} {}", text.get(key), condition.parts().1),
    }
}
