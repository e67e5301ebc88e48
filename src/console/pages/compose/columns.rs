//! Which column of the recipients' file stands in which field of the message. A field that has a column shows it beside the
//! text, which is then for people whose column is empty.

use maud::{Markup, html};

use super::attached::RecipientMapping;
use super::choice::Choice;
use super::content::Kind;
use super::list::{self, RecipientList};
use super::template;
use crate::console::State;
use crate::console::component::copy::copy;
use crate::console::component::field::Field;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::fold::fold;
use crate::domain::template::contact_field::{
    Addressee, Placeholders, check_link, check_text_of, filled_for, is_in, values_of,
};
use crate::domain::values::is_value_name;

/// The beginning of the name of the field that chooses a column, before the name of the field that the column stands in.
pub(super) const FROM: &str = "from_";
/// The field with the template whose columns are chosen already.
const MAPPED: &str = "mapped";
/// The fields with what people read in a message of this kind, those of a template left out.
const fn texts_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Text => &["message"],
        Kind::Image | Kind::Video | Kind::Document => &["caption", "link"],
        Kind::Audio => &["link"],
        Kind::Template => &[],
        Kind::Buttons => &["message", "buttons", "header", "footer"],
        Kind::List => &["message", "menu", "rows", "header", "footer"],
        Kind::Product => &["message", "footer"],
        Kind::Products => &["header", "message", "products", "footer"],
    }
}

/// The placeholder of a column, with the text for people who have nothing in it.
fn placeholder(name: &str, otherwise: &str) -> String {
    match otherwise {
        "" => format!("{{{{value.{name}}}}}"),
        otherwise => format!("{{{{value.{name}|{otherwise}}}}}"),
    }
}

/// The values of the form with the placeholders of columns in the fields that have one.
pub(super) fn applied(words: &Words) -> Words {
    let mut applied = words.clone();
    if list::named(words).is_none() {
        return applied;
    }
    for (field, column) in words.iter() {
        if let Some(field) = field.strip_prefix(FROM).filter(|_| is_value_name(column)) {
            // A file of the library can stand for nobody: only an address can.
            let otherwise = words.one(field);
            let is_own = field.ends_with("_link") && !otherwise.starts_with("http");
            applied.put(field, placeholder(column, if is_own { "" } else { otherwise }));
        }
    }
    applied
}

/// The same with the values of the file's first row in their places, for the preview.
pub(super) fn shown(words: &Words, list: Option<&RecipientList>) -> Words {
    let mut shown = applied(words);
    let Some(list) = list else { return shown };
    let (texts, example) = (shown.clone(), list.example());
    for (field, text) in texts.iter().filter(|(_, text)| is_in(text)) {
        // A text with a contact's field stays as it is.
        if let Ok(filled) = filled_for(text, Addressee { person: None, values: Some(&example) }) {
            shown.put(field, filled);
        }
    }
    shown
}

/// Chooses the columns that a template had in the company's last send of it, or that are called like its variables; once for
/// each template, so that what a person chooses stays.
pub(super) async fn recall(
    state: &State,
    viewer: &Viewer,
    choice: &Choice,
    list: Option<&RecipientList>,
    form: &mut Form,
) -> Result<(), Error> {
    let Some(chosen) = choice.filled() else { return Ok(()) };
    let (Some(list), mapped) = (list, format!("{} {}", chosen.id, form.words().one(list::LIST))) else {
        return Ok(());
    };
    if form.words().one(MAPPED) == mapped {
        return Ok(());
    }
    form.put(MAPPED, mapped);
    let known = remembered(state, viewer, chosen.id).await?.fields;
    for place in template::places(viewer.text, chosen) {
        let field = format!("{FROM}{}", place.field);
        let is_column = |name: &&String| list.names.contains(*name);
        let called = fold(&place.variable).replace('.', "_");
        let column = known.get(&place.field).filter(is_column).or(Some(&called).filter(is_column));
        let column = column.or(Some(&place.field).filter(is_column));
        // The copy of a send has the placeholders of its columns already.
        if form.words().one(&field).is_empty()
            && !is_in(form.words().one(&place.field))
            && let Some(column) = column
        {
            form.put(&field, column.as_str());
        }
    }
    Ok(())
}

/// What is remembered for a template.
pub(super) async fn remembered(
    state: &State,
    viewer: &Viewer,
    template: i64,
) -> Result<RecipientMapping, Error> {
    let written = state.engine.imports().recipient_mapping(viewer.company.id, template).await?;
    Ok(written.and_then(|written| serde_json::from_str(&written).ok()).unwrap_or_default())
}

/// A choice of a column for each variable of the template, and the placeholders of all columns.
pub(super) fn fields(text: Text, choice: &Choice, list: Option<&RecipientList>, form: &Form) -> Markup {
    let Some(list) = list else { return html! {} };
    let (chosen, is_template) = (choice.filled(), choice.kind == Kind::Template);
    let places = chosen.map(|chosen| template::places(text, chosen)).unwrap_or_default();
    let none = (String::new(), text.get("compose-column-none"));
    html! {
        fieldset.field {
            legend { (text.get("compose-columns")) }
            @if chosen.is_some() { p.hint { (text.get("compose-columns-hint")) } }
            @if !is_template { p.hint { (text.get("compose-columns-text")) } }
            @for place in &places {
                @let field = format!("{FROM}{}", place.field);
                @let label = text.with("compose-column-of", [("field", place.label.as_str().into())]);
                (Field::new(form, &field, &label).select(
                    std::iter::once(none.clone()).chain(list.columns().map(|(name, label)| (name.to_owned(), label)))
                ))
            }
            details {
                summary { (text.get("compose-columns-all")) }
                dl.facts {
                    @for (name, label) in list.columns() {
                        dt { bdi { (label) } }
                        dd { (copy(text, &label, &placeholder(name, ""))) }
                    }
                }
            }
        }
    }
}

/// Notes a fault for each text with a placeholder that nothing stands for. `known` has the names of the file's columns, or is
/// `None` where that is not known. Returns whether the message of a form that is no template has placeholders.
pub(super) fn check(choice: &Choice, known: Option<&[String]>, applied: &Words, form: &mut Form) -> bool {
    let text = form.text();
    let has_list = list::named(applied).is_some() && !choice.is_web();
    let which = if has_list { Placeholders::All } else { Placeholders::Contact };
    let is_plain =
        matches!(choice.kind, Kind::Text | Kind::Image | Kind::Video | Kind::Audio | Kind::Document);
    let texts = texts_of(choice.kind);
    let with_braces: Vec<&str> = texts.iter().copied().filter(|field| is_in(applied.one(field))).collect();
    let has_placeholders = is_plain && (has_list || !with_braces.is_empty());
    if !is_plain {
        // Nothing stands for anything in buttons and menus, and nobody is to read braces.
        with_braces.iter().for_each(|field| form.fault(field, text.get("compose-fault-braces")));
    }
    let places = choice.filled().map(|chosen| template::places(text, chosen)).unwrap_or_default();
    let places: Vec<String> = places.into_iter().map(|place| place.field).collect();
    let texts = if has_placeholders { texts } else { &[] };
    for field in texts.iter().copied().chain(places.iter().map(String::as_str)) {
        let given = applied.one(field);
        let values = values_of(given);
        if !has_list && !values.is_empty() {
            form.fault(field, text.get("compose-fault-no-list"));
        }
        let is_unknown = |name: &str| known.is_some_and(|known| known.iter().all(|known| known != name));
        if has_list && values.iter().any(|(name, _)| is_unknown(name)) {
            form.fault(field, text.get("compose-fault-no-column"));
        }
        let checked = match field {
            "link" => check_link("link", given),
            field if texts.contains(&field) => check_text_of(field, given, Placeholders::All),
            _ => Ok(()),
        };
        if checked.is_err() {
            let key = if has_list { "compose-fault-contact-field" } else { "compose-fault-braces" };
            form.fault(field, text.get(key));
        }
    }
    if let Some(chosen) = choice.filled() {
        for field in template::faulty_fields(chosen, &choice.own, which, applied) {
            form.fault(&field, text.get("compose-fault-contact-field"));
        }
    }
    has_placeholders
}
