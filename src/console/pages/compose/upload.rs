//! The upload of a file with the recipients of a new send, for a draft that continues with it, and the sample file of a template.

use std::time::Instant;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::Data;
use maud::html;
use uuid::Uuid;

use super::attached::template_of;
use super::choice::Choice;
use super::columns::remembered;
use super::list::{COUNTRY, FILE_NAME, LIST, PHONE, REFERENCE, named, phone_column};
use super::{Around, Checked, draft, page, step::SendStep, template};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::component::phone::example;
use crate::console::drafts::{self, FIELD, Keeping};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::imports;
use crate::console::query::Query;
use crate::console::rest;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::phone::Country;
use crate::domain::template::{Status, Template, variables};
use crate::domain::values::MOST_VALUES;
use crate::engine::records::imports::Import;
use crate::engine::{self, import_settings};
use crate::error::{Code, Refusal};
use crate::import::{BYTE_ORDER_MARK, csv_row, value_names};
use crate::surface::body::Incoming;
use crate::surface::multipart::Multipart;

/// The path of the page.
const PLACE: &str = "/console/sends/new/list";
/// The action that leads to it.
pub(super) const BEGIN: &str = "upload";
/// The maximum of bytes of a form without its file, and of its other field.
const AROUND: usize = 64 * 1024;
const DRAFT: usize = 64;
/// The name of the stored reason for a refused file, for a browser that did not show the answer.
const REFUSED: &str = "refused_list";
/// Characters of a file's name that are kept.
const LONGEST_NAME: usize = 200;

/// Keeps the form as a draft, and leads to the page of the upload.
pub(super) async fn begin(viewer: &Viewer, state: &Data<State>, mut form: Form) -> Result<Answer, Error> {
    match keep_draft(viewer, state, &form).await? {
        Ok(id) => return Ok(Answer::to(format!("{PLACE}?{FIELD}={id}"))),
        Err(sentence) => form.general_fault(sentence),
    }
    let around = Around::read(state, viewer, &form, SendStep::Who).await?;
    Ok(page(viewer, &around, &form, &Checked::default()).unprocessable().into())
}

/// Keeps the form as a draft. A sentence says why it cannot be kept.
async fn keep_draft(viewer: &Viewer, state: &State, form: &Form) -> Result<Result<Uuid, String>, Error> {
    let keeper = (viewer.company.id, viewer.signed_in.user.id);
    Ok(match drafts::keep(state, keeper, form.words(), false).await? {
        Keeping::As(id) => Ok(id),
        Keeping::TooLong => Err(viewer.text.get("drafts-too-long")),
        Keeping::TooMany => Err(viewer.text.get("drafts-too-many")),
    })
}

/// The draft that the upload continues.
async fn drafted(viewer: &Viewer, state: &State, id: Uuid) -> Result<Form, Error> {
    let records = state.engine.company(viewer.company.id).await?;
    let content = records.drafts().content(viewer.signed_in.user.id, id, Timestamp::now()).await?;
    drop(records);
    let mut form = Form::kept(viewer.text, Words::parse(content.ok_or(Error::NotFound)?.as_bytes()));
    form.put(FIELD, id.to_string());
    Ok(form)
}

/// Shows the form for the file, and the sample file of the draft's template.
pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    // Without a draft, the upload begins a new send.
    let draft = match query.parsed(FIELD) {
        Some(id) => drafted(&viewer, &state, id).await?,
        None => Form::new(viewer.text),
    };
    let mut form = Form::new(viewer.text);
    if let Some(refused) = state.flashes.take(viewer.session, REFUSED) {
        form.fault("file", refused);
    }
    upload_page(&viewer, &state, &draft, &form).await
}

async fn upload_page(viewer: &Viewer, state: &State, draft: &Form, form: &Form) -> Result<Page, Error> {
    let (text, most) = (viewer.text, state.engine.imports().largest_of_recipients());
    let choice = Choice::read(state, viewer, draft.words()).await?;
    let samples: Vec<(String, String)> = match choice.template.as_ref().or(choice.instead.chosen.as_ref()) {
        Some(chosen) => vec![(chosen.id.to_string(), chosen.name.clone())],
        None => choice.cards.offered().map(|(id, name)| (id.to_string(), name.to_owned())).collect(),
    };
    let label = text.get("imports-file");
    let too_large = too_large(viewer, state);
    let back =
        draft.words().one(FIELD).parse::<Uuid>().map_or_else(|_| drafts::PLACE.to_owned(), drafts::place);
    let body = html! {
        (faults(form))
        form.panel method="post" action=(PLACE) enctype="multipart/form-data"
            data-most=(most) data-too-large=(too_large) data-broken=(text.get("imports-broken")) {
            p { (text.get("compose-list-about")) }
            (draft::field(draft))
            (Field::new(form, "file", &label).required().file(imports::ACCEPTED))
            button type="submit" { (text.get("compose-list-upload")) }
        }
        @if !samples.is_empty() {
            form.panel method="get" action="/console/sends/new/sample/file" {
                h2 { (text.get("compose-sample")) }
                p { (text.get("compose-sample-hint")) }
                (Field::new(&Form::new(text), "template", &text.get("compose-sample-template")).select(samples))
                button.plain type="submit" { (text.get("compose-sample-download")) }
            }
        }
        p { a href=(back) { (text.get("compose-list-back")) } }
    };
    Ok(Page::new(text.get("compose-list"), Menu::Sends, body))
}

/// Receives a file piece by piece, and goes on with the draft.
pub(in crate::console) async fn take(
    viewer: Viewer,
    state: Data<State>,
    body: Incoming,
) -> Result<Answer, Error> {
    let (request, declared) = (body.request().clone(), body.declared());
    let most = (state.engine.imports().largest_of_recipients() + AROUND).max(declared.unwrap_or_default());
    let (mut form, mut parts) = (Form::new(viewer.text), Multipart::new(body, most)?);
    let mut draft = Form::new(viewer.text);
    while let Some(part) = parts.next().await? {
        match (part.name.as_str(), part.file_name) {
            (FIELD, None) => {
                let id: Uuid = parts.text(DRAFT).await?.trim().parse().map_err(|_| Error::NotFound)?;
                draft = drafted(&viewer, &state, id).await?;
            }
            ("file", Some(name)) if !name.is_empty() => {
                let name: String = name.chars().take(LONGEST_NAME).collect();
                let kept = match keep(&viewer, &state, &mut parts, &name).await? {
                    Ok(file) => go_on(&viewer, &state, &mut draft, &file).await?,
                    Err(refused) => Err(refused),
                };
                match kept {
                    Ok(answer) => return Ok(answer),
                    Err(refused) => {
                        form.fault("file", refused);
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    if !form.has_faults() {
        form.fault("file", viewer.text.get("imports-no-file"));
    }
    let (later, session) = (state.clone(), viewer.session);
    let said = form.fault_of("file").unwrap_or_default().to_owned();
    rest::leave(&request, parts.into_rest(), move || later.flashes.put(session, REFUSED, said));
    Ok(upload_page(&viewer, &state, &draft, &form).await?.unprocessable().into())
}

/// Stores the file; a sentence says why it is refused.
async fn keep(
    viewer: &Viewer,
    state: &State,
    parts: &mut Multipart,
    name: &str,
) -> Result<Result<Import, String>, Error> {
    let mut upload = state.engine.imports().begin_recipients(viewer.company.id, name).await?;
    while let Some(piece) = parts.piece().await? {
        let began = Instant::now();
        if let Err(error) = upload.write(&piece).await {
            return refused(viewer, state, error).map(Err);
        }
        parts.stored(began.elapsed());
    }
    // A form that breaks off after the file may have broken off in the file.
    while parts.next().await?.is_some() {}
    let file = match upload.finish().await {
        Ok(file) => file,
        Err(error) => return refused(viewer, state, error).map(Err),
    };
    let columns = import_settings(&file).header.len();
    if columns > MOST_VALUES {
        state.engine.imports().discard_recipients(viewer.company.id, file.id).await?;
        return Ok(Err(too_many_columns(viewer)));
    }
    Ok(Ok(file))
}

fn refused(viewer: &Viewer, state: &State, error: engine::Error) -> Result<String, Error> {
    match error {
        engine::Error::Refused(Refusal { code: Code::BodyTooLarge, .. }) => Ok(too_large(viewer, state)),
        engine::Error::Refused(Refusal { code: Code::TooManyColumns, .. }) => Ok(too_many_columns(viewer)),
        engine::Error::Refused(refusal) => Ok(imports::refused(viewer, state, &refusal)),
        other => Err(other.into()),
    }
}

fn too_many_columns(viewer: &Viewer) -> String {
    viewer.text.with("compose-list-columns", [("most", MOST_VALUES.into())])
}

fn too_large(viewer: &Viewer, state: &State) -> String {
    let most = state.engine.imports().largest_of_recipients() as f64 / 1e6;
    viewer.text.with("imports-too-large", [("most", viewer.text.0.decimal(most, 1).into())])
}

/// Puts the file into the draft in place of an earlier one, with the columns that are known, and goes on with it; a sentence says
/// why the draft cannot be kept.
async fn go_on(
    viewer: &Viewer,
    state: &State,
    form: &mut Form,
    file: &Import,
) -> Result<Result<Answer, String>, Error> {
    let (company, earlier) = (viewer.company.id, named(form.words()));
    let settings = import_settings(file);
    let choice = Choice::read(state, viewer, form.words()).await?;
    let known = remembered(state, viewer, template_of(&choice)).await?;
    let names = value_names(&settings.header);
    let column = |name: Option<String>| {
        let name = name?;
        names.iter().position(|known| *known == name)
    };
    let phone = column(known.phone).or_else(|| phone_column(&settings));
    let written = |place: Option<usize>| place.map(|place| place.to_string()).unwrap_or_default();
    let country = known.country.as_deref().and_then(Country::parse).map_or("", Country::code);
    form.put(LIST, file.id.to_string());
    form.put(FILE_NAME, file.file_name.as_str());
    form.put(PHONE, written(phone));
    form.put(REFERENCE, written(column(known.reference)));
    form.put(COUNTRY, country);
    let kept = keep_draft(viewer, state, form).await?;
    let unneeded = if kept.is_ok() { earlier } else { Some(file.id) };
    if let Some(id) = unneeded {
        state.engine.imports().discard_recipients(company, id).await?;
    }
    Ok(kept.map(|id| Answer::to(drafts::place(id))))
}

/// Downloads the sample file of a template: a row with the names of its variables, and one with examples. Without a template,
/// there are only numbers.
pub(in crate::console) async fn sample(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<HttpResponse, Error> {
    let records = state.engine.company(viewer.company.id).await?;
    let chosen: Option<Template> = match query.parsed::<i64>("template") {
        Some(id) => {
            let found = records.templates().find(id).await?.filter(|found| found.status == Status::Approved);
            Some(found.ok_or(Error::NotFound)?.into())
        }
        None => None,
    };
    let country = records.country().await?.likely();
    drop(records);
    let (mut header, mut row) = (vec!["phone_number".to_owned()], vec![sample_number(country)]);
    for (name, value) in chosen.iter().flat_map(|chosen| variables_of(&viewer, chosen)) {
        header.push(name);
        row.push(value);
    }
    let written = [header, row].map(|cells| csv_row(b';', &cells)).concat();
    let written = format!("{BYTE_ORDER_MARK}{}", String::from_utf8_lossy(&written));
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"sample.csv\""))
        .body(written))
}

/// The variables of a template with an example of each; of a template that is more than texts and a file, its places.
fn variables_of(viewer: &Viewer, chosen: &Template) -> Vec<(String, String)> {
    let of = |name: &str, is_link: bool| match is_link {
        true => "https://example.com/file".to_owned(),
        false => {
            let given = example(&chosen.components, "body", name);
            let given = given
                .or_else(|| example(&chosen.components, "header", if name == "header" { "1" } else { name }));
            given.unwrap_or_else(|| viewer.text.get("compose-sample-value"))
        }
    };
    match variables(chosen) {
        Ok(variables) => variables
            .into_iter()
            .map(|variable| {
                let value = of(&variable.value, variable.is_link);
                (variable.value, value)
            })
            .collect(),
        Err(_) => {
            let places = template::places(viewer.text, chosen).into_iter();
            places
                .map(|place| (place.field.clone(), of(&place.variable, place.field.ends_with("_link"))))
                .collect()
        }
    }
}

/// A number that nobody has.
fn sample_number(country: Option<Country>) -> String {
    match country {
        Some(country) => format!("{} 900 000 001", country.calling_code()),
        None => "999 900 000 001".to_owned(),
    }
}
