//! One contact: showing, adding, changing and deleting it, and merging it with duplicates.

pub(crate) mod consent;
pub(crate) mod conversations;
mod form;
mod messages;
pub(crate) mod notes;
pub(in crate::console::pages) mod own;
mod page;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use uuid::Uuid;

use self::form::{KNOWN, Read};
use self::page::Shown;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::Page;
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Contact, Person};
use crate::domain::own_field::OwnField;
use crate::domain::phone::Country;
use crate::engine::Whom;
use crate::engine::records::contacts::{ContactChange, ContactDraft, Edited};
use crate::error::{Code, Refusal};

/// The number of duplicates that are shown.
const DOUBLES: u32 = 20;

/// Shows an empty form.
pub(crate) async fn new(viewer: Viewer, state: Data<State>) -> Result<Page> {
    let (country, own) = (country(&viewer, &state).await?, own_fields(&viewer, &state).await?);
    Ok(page::new(&Form::new(viewer.text), &own, &[], country))
}

/// What the number of a form is read as while it is typed: that of a contact, or that of a suppression.
pub(crate) async fn number(viewer: Viewer, state: Data<State>, form: Form) -> Result<HttpResponse> {
    let shown = form::reading(&form, country(&viewer, &state).await?).into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

pub(crate) async fn add(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let company = viewer.company.id;
    let (country, fields) = (country(&viewer, &state).await?, own_fields(&viewer, &state).await?);
    let Read { mut person, tags, own, meant } = form::read(&mut form, &fields, country, "");
    if form.has_faults() {
        return Ok(page::new(&form, &fields, &meant, country).unprocessable().into());
    }
    person.own = own.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    let added = state
        .once
        .act(&viewer, &form, async || {
            if let Some(number) = person.phone() {
                let records = state.engine.company(company).await?;
                if !records.contacts().with_numbers(&[number]).await?.is_empty() {
                    return Err(Error::Refused(Refusal::new(Code::NumberTaken, "")));
                }
            }
            let written = state
                .engine
                .contacts()
                .write(&viewer.who(), company, vec![ContactDraft { person, tags }])
                .await?;
            let (id, _) = written.first().ok_or(Error::Internal)?;
            Ok(Answer::done(&state, &viewer, viewer.text.get("contacts-added"), place(*id)))
        })
        .await;
    match added {
        Err(Error::Refused(refusal)) if refusal.code == Code::NumberTaken => {
            form.fault("phone_number", viewer.text.get("contacts-number-taken"));
            Ok(page::new(&form, &fields, &[], country).unprocessable().into())
        }
        other => other,
    }
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let contact = find(&viewer, &state, id.0).await?;
    let shown = Shown::read(&viewer, &state, contact).await?;
    Ok(shown.page(&viewer, &shown.filled(&viewer), &[]))
}

pub(crate) async fn change(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let contact = find(&viewer, &state, id.0).await?;
    let (country, fields) = (country(&viewer, &state).await?, own_fields(&viewer, &state).await?);
    let known = &contact.person.phone_number;
    let Read { person, tags, own, meant } = form::read(&mut form, &fields, country, known);
    if !form.has_faults() {
        if form::saw_other_tags(&form, &contact) {
            return outdated(&viewer, &state, id.0, form).await;
        }
        let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, own: _ } =
            person;
        let change = ContactChange {
            first_name: Some(first_name),
            last_name: Some(last_name),
            email: Some(email),
            phone_number: Some(phone_number),
            phone_number_lid: Some(phone_number_lid.unwrap_or_default()),
            profile_picture: Some(profile_picture),
            own,
            tags: Some(tags),
            known: form.words().one(KNOWN).parse().ok().map(Timestamp::from_millis),
        };
        let records = state.engine.company(viewer.company.id).await?;
        let changed = records.contacts().change(&viewer.who(), id.0, &change, Timestamp::now()).await?;
        drop(records);
        match changed {
            Edited::Done => {
                return Ok(Answer::done(&state, &viewer, viewer.text.get("contacts-saved"), place(id.0)));
            }
            Edited::Missing => return Err(Error::NotFound),
            Edited::Taken => form.fault("phone_number", viewer.text.get("contacts-number-taken")),
            Edited::Nameless => form.fault("phone_number", viewer.text.get("contacts-nameless")),
            Edited::Outdated => return outdated(&viewer, &state, id.0, form).await,
        }
    }
    let shown = Shown::read(&viewer, &state, contact).await?;
    Ok(shown.page(&viewer, &form, &meant).unprocessable().into())
}

/// Shows the form again with what was typed, and what someone else has saved meanwhile. When it is saved once more, the
/// person knows what it replaces.
async fn outdated(viewer: &Viewer, state: &State, id: Uuid, mut form: Form) -> Result<Answer> {
    let contact = find(viewer, state, id).await?;
    for (name, value) in form::seen(&contact) {
        form.put(name, value);
    }
    let shown = Shown::read(viewer, state, contact).await?.outdated();
    Ok(shown.page(viewer, &form, &[]).with_status(StatusCode::CONFLICT).into())
}

pub(crate) async fn delete(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    let whom = Whom::Named { ids: vec![id.0], numbers: Vec::new() };
    if state.engine.contacts().delete(&viewer.who(), viewer.company.id, whom).await? == 0 {
        return Err(Error::NotFound);
    }
    let done = viewer.text.with("contacts-deleted", [("count", 1.into())]);
    Ok(Answer::done(&state, &viewer, done, "/console/contacts"))
}

/// Merges duplicates into a contact.
pub(crate) async fn merge(viewer: Viewer, state: Data<State>, id: Id, form: Form) -> Result<Answer> {
    let others = form.words().all("contact").filter_map(|id| Uuid::try_parse(id).ok());
    let others: Vec<Uuid> = others.take(DOUBLES as usize).collect();
    if !others.is_empty() {
        let records = state.engine.company(viewer.company.id).await?;
        match records.contacts().merge(&viewer.who(), id.0, &others, Timestamp::now()).await? {
            Edited::Done => {}
            Edited::Missing | Edited::Taken | Edited::Nameless | Edited::Outdated => {
                return Err(Error::NotFound);
            }
        }
        state.flashes.put(viewer.session, "done", viewer.text.get("contacts-merged"));
    }
    Ok(Answer::to(place(id.0)))
}

async fn find(viewer: &Viewer, state: &State, id: Uuid) -> Result<Contact> {
    let records = state.engine.company(viewer.company.id).await?;
    records.contacts().find(id).await?.ok_or(Error::NotFound)
}

/// The company's own fields.
async fn own_fields(viewer: &Viewer, state: &State) -> Result<Vec<OwnField>> {
    Ok(state.engine.company(viewer.company.id).await?.fields().all().await?)
}

/// The company's country, in which numbers are read.
pub(super) async fn country(viewer: &Viewer, state: &State) -> Result<Option<Country>> {
    Ok(state.engine.company(viewer.company.id).await?.country().await?.likely())
}

/// The address of the page.
fn place(id: Uuid) -> String {
    format!("/console/contacts/{id}")
}
