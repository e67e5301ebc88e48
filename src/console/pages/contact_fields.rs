//! Own fields of contacts: their list, and adding, renaming and deleting them.

use actix_web::web::Data;
use maud::{Markup, html};

use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::table::{Column, table};
use crate::console::component::{confirm, copy};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::contacts;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::own_field::{FieldKind, LONGEST_NAME, MOST_FIELDS, OwnField};
use crate::engine;
use crate::error::Code;

/// The path of the list.
const PLACE: &str = "/console/contacts/fields";

pub(crate) async fn list(viewer: Viewer, state: Data<State>) -> Result<Page> {
    let all = state.engine.company(viewer.company.id).await?.fields().all().await?;
    Ok(list_page(&viewer, &Form::new(viewer.text), &all))
}

pub(crate) async fn create(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let company = viewer.company.id;
    let name = form.required("name", LONGEST_NAME);
    let kinds: Vec<&str> = FieldKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let kind = form.choice("kind", &kinds).and_then(|kind| kind.parse::<FieldKind>().ok());
    if let (Some(kind), false) = (kind, form.has_faults()) {
        let created = state
            .once
            .act(&viewer, &form, async || {
                state.engine.contacts().add_field(&viewer.who(), company, &name, kind).await?;
                Ok(Answer::done(&state, &viewer, viewer.text.get("fields-created"), PLACE))
            })
            .await;
        match created {
            Err(Error::Refused(refusal)) => {
                form.fault("name", refused(viewer.text, refusal.code));
            }
            other => return other,
        }
    }
    let all = state.engine.company(company).await?.fields().all().await?;
    Ok(list_page(&viewer, &form, &all).unprocessable().into())
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let (field, count) = find(&viewer, &state, id).await?;
    let form = Form::filled(viewer.text, [("name", field.name.clone())]);
    Ok(field_page(&viewer, &form, &field, count))
}

pub(crate) async fn rename(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let (field, count) = find(&viewer, &state, id).await?;
    let name = form.required("name", LONGEST_NAME);
    if !form.has_faults() {
        match state.engine.contacts().rename_field(&viewer.who(), viewer.company.id, id.0, &name).await {
            Ok(()) => {
                let place = format!("{PLACE}/{}", id.0);
                return Ok(Answer::done(&state, &viewer, viewer.text.get("fields-saved"), place));
            }
            Err(engine::Error::Refused(refusal)) if refusal.code != Code::FieldNotFound => {
                form.fault("name", refused(viewer.text, refusal.code));
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(field_page(&viewer, &form, &field, count).unprocessable().into())
}

pub(crate) async fn delete(viewer: Viewer, state: Data<State>, id: Id, _form: Form) -> Result<Answer> {
    state.engine.contacts().delete_field(&viewer.who(), viewer.company.id, id.0).await?;
    Ok(Answer::done(&state, &viewer, viewer.text.get("fields-deleted"), PLACE))
}

/// The field, and how many contacts have a value of it.
async fn find(viewer: &Viewer, state: &State, id: Id) -> Result<(OwnField, u64)> {
    let records = state.engine.company(viewer.company.id).await?;
    let all = records.fields().all().await?;
    let field = all.into_iter().find(|field| field.id == id.0).ok_or(Error::NotFound)?;
    let count = records.fields().count(field.id).await?;
    Ok((field, count))
}

/// Why a field cannot have the name, or be added.
pub(super) fn refused(text: Text, code: Code) -> String {
    match code {
        Code::FieldNameTaken => text.get("fields-name-taken"),
        Code::TooManyFields => text.with("fields-too-many", [("most", MOST_FIELDS.into())]),
        _ => text.with("fields-name-wrong", [("most", LONGEST_NAME.into())]),
    }
}

/// What the values of a field are.
pub(super) fn kind(text: Text, kind: FieldKind) -> String {
    text.get(match kind {
        FieldKind::Text => "fields-kind-text",
        FieldKind::Number => "fields-kind-number",
        FieldKind::Date => "fields-kind-date",
    })
}

/// What stands for the recipient's value in the values of a template.
pub(super) fn placeholder(field: &OwnField) -> String {
    format!("{{{{contact.{}}}}}", field.key)
}

fn list_page(viewer: &Viewer, form: &Form, all: &[OwnField]) -> Page {
    let text = viewer.text;
    let columns = Column::all(text, ["fields-name", "fields-kind", "fields-in-templates"]);
    let rows = all.iter().map(|field| {
        vec![
            html! { a href=(format!("{PLACE}/{}", field.id)) { bdi { (field.name) } } },
            html! { (kind(text, field.kind)) },
            html! { code { (placeholder(field)) } },
        ]
    });
    let kinds = FieldKind::ALL.iter().map(|known| (known.as_str(), kind(text, *known)));
    let body = html! {
        (faults(form))
        @if all.is_empty() {
            (empty(&text.get("fields-first"), &html! { p.soft { (text.get("fields-first-hint")) } }))
        } @else {
            (table(&text.get("fields-title"), &columns, rows))
        }
        @if viewer.may_work() {
            form.panel method="post" action=(PLACE) {
                h2 { (text.get("fields-new")) }
                (once(form))
                (name_field(form))
                (Field::new(form, "kind", &text.get("fields-kind")).hint(&text.get("fields-kind-hint")).select(kinds))
                button type="submit" { (text.get("fields-create")) }
            }
        }
        p { a href=(contacts::PLACE) { (text.get("fields-back")) } }
    };
    Page::new(text.get("fields-title"), Menu::Contacts, body)
}

fn name_field(form: &Form) -> Markup {
    Field::new(form, "name", &form.text().get("fields-name")).required().most(LONGEST_NAME).text()
}

fn field_page(viewer: &Viewer, form: &Form, field: &OwnField, count: u64) -> Page {
    let text = viewer.text;
    let place = format!("{PLACE}/{}", field.id);
    let having = format!("{}?field={}%3D*", contacts::PLACE, field.key);
    let body = html! {
        (faults(form))
        p { a href=(having) { (text.with("fields-count", [("count", count.into())])) } }
        dl.facts {
            dt { (text.get("fields-kind")) }
            dd { (kind(text, field.kind)) }
            dt { (text.get("fields-in-templates")) }
            dd { (copy::copy(text, &text.get("fields-in-templates"), &placeholder(field))) }
        }
        form.panel method="post" action=(place) {
            fieldset.plain disabled[!viewer.may_work()] {
                (name_field(form))
                @if viewer.may_work() { button type="submit" { (text.get("fields-save")) } }
            }
        }
        @if viewer.may_work() {
            (confirm::confirm(text, &format!("{place}/delete"), &text.get("fields-delete"),
                &text.with("fields-delete-question", [("count", count.into())])))
        }
        p { a href=(PLACE) { (text.get("fields-all")) } }
    };
    Page::new(field.name.clone(), Menu::Contacts, body)
}
