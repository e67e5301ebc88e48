//! Templates that people write, change, archive and delete. The preview follows what is typed.

use crate::engine::TemplateDesk;
use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Value;

use super::accounts::{TemplateAccounts, name};
use super::{category, examples, form as template_form, state_of, why};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm;
use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::library::OfferedFiles;
use crate::console::component::phone::phone;
use crate::console::component::time::moment;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::channel::words::quality as rating;
use crate::console::query::{Query, TemplateId};
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::template::{DraftFields, LOCAL_ACCOUNT, Status};
use crate::engine::records::templates::Record;
use crate::engine::{self, Declined, TemplateEdit};
use crate::error::{Code, Refusal};

const PLACE: &str = "/console/templates";
const NEW: &str = "/console/templates/new";
const PREVIEW: &str = "/console/templates/preview";
/// The most characters of the name of an example in the address.
const EXAMPLE: usize = 40;

pub(crate) async fn new(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let values = examples::values(viewer.text, query.text("from", EXAMPLE));
    new_page(&viewer, &state, &Form::filled(viewer.text, values)).await
}

pub(crate) async fn create(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let chosen = accounts.of(form.words().one("account"));
    if chosen.is_none() {
        form.fault("account", text.get("fault-field-choice"));
    }
    if let Some(channel) = chosen.filter(|_| !form.has_faults()) {
        let parts = template_form::components(form.words());
        let created = state
            .once
            .attempt::<Declined>(&viewer, &form, async || {
                let words = form.words();
                let given = DraftFields {
                    name: words.one("name"),
                    language: words.one("language"),
                    category: words.one("category"),
                    parameter_format: None,
                    components: &parts,
                    options: None,
                };
                Ok(match TemplateDesk::of(&state.engine, channel).create(&viewer.who(), given).await {
                    Ok(record) => {
                        let key = match record.status {
                            Status::Approved => "templates-created-approved",
                            _ => "templates-created",
                        };
                        Ok(Answer::done(&state, &viewer, text.get(key), place(record.id)))
                    }
                    Err(declined) => Err(declined),
                })
            })
            .await?;
        match created {
            Ok(answer) => return Ok(answer),
            Err(declined) => refused(&mut form, declined, &parts)?,
        }
    }
    Ok(new_page(&viewer, &state, &form).await?.unprocessable().into())
}

/// Only the preview, for a page that is being filled in.
pub(crate) async fn preview(viewer: Viewer, form: Form) -> Result<HttpResponse> {
    let shown = template_form::preview(viewer.text, form.words()).into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, TemplateId(id): TemplateId) -> Result<Page> {
    let template = find(&viewer, &state, id).await?;
    let values = template_form::values(&template).unwrap_or_default();
    let values = values.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let form = Form::filled(viewer.text, values);
    one_page(&viewer, &state, &template, &form).await
}

pub(crate) async fn change(
    viewer: Viewer,
    state: Data<State>,
    TemplateId(id): TemplateId,
    mut form: Form,
) -> Result<Answer> {
    let template = find(&viewer, &state, id).await?;
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let channel = accounts.of(&template.waba_id).ok_or(Error::NotFound)?;
    let parts = template_form::components(form.words());
    let wanted = form.words().one("category").to_owned();
    let is_other = !wanted.is_empty() && wanted != template.category.as_str();
    let edit = TemplateEdit { category: is_other.then_some(wanted.as_str()), components: Some(&parts) };
    // The provider counts changes: a form that is sent twice makes one.
    let changed = state.once.attempt::<Declined>(&viewer, &form, async || {
        Ok(match TemplateDesk::of(&state.engine, channel).change(&viewer.who(), id, edit).await {
            Ok(changed) => {
                let key = match changed.status {
                    Status::Approved => "templates-saved",
                    _ => "templates-saved-review",
                };
                Ok(Answer::done(&state, &viewer, viewer.text.get(key), place(id)))
            }
            Err(declined) => Err(declined),
        })
    });
    match changed.await? {
        Ok(answer) => Ok(answer),
        Err(declined) => {
            refused(&mut form, declined, &parts)?;
            Ok(one_page(&viewer, &state, &template, &form).await?.unprocessable().into())
        }
    }
}

/// Archives a template, or offers it again.
pub(crate) async fn archive(
    viewer: Viewer,
    state: Data<State>,
    TemplateId(id): TemplateId,
    form: Form,
) -> Result<Answer> {
    let template = find(&viewer, &state, id).await?;
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let channel = accounts.of(&template.waba_id).ok_or(Error::NotFound)?;
    let is_archived = form.words().one("archived") == "yes";
    TemplateDesk::of(&state.engine, channel).archive(&viewer.who(), id, is_archived).await?;
    let key = if is_archived { "templates-archived-done" } else { "templates-offered-done" };
    Ok(Answer::done(&state, &viewer, viewer.text.get(key), place(id)))
}

pub(crate) async fn delete(
    viewer: Viewer,
    state: Data<State>,
    TemplateId(id): TemplateId,
    mut form: Form,
) -> Result<Answer> {
    let template = find(&viewer, &state, id).await?;
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let channel = accounts.of(&template.waba_id).ok_or(Error::NotFound)?;
    match TemplateDesk::of(&state.engine, channel).delete(&viewer.who(), &template, false).await {
        Ok(()) => Ok(Answer::done(&state, &viewer, viewer.text.get("templates-deleted-done"), PLACE)),
        Err(declined) => {
            refused(&mut form, declined, &Value::Null)?;
            Ok(one_page(&viewer, &state, &template, &form).await?.unprocessable().into())
        }
    }
}

/// The company's template of this id, that is not deleted.
async fn find(viewer: &Viewer, state: &State, id: i64) -> Result<Record> {
    let found = state.engine.company(viewer.company.id).await?.templates().find(id).await?;
    found.filter(|found| found.status != Status::Deleted).ok_or(Error::NotFound)
}

/// The address of a template's page.
pub(super) fn place(id: i64) -> String {
    format!("{PLACE}/{id}")
}

/// Notes why a template was not written: at its field, in words of the person's language.
pub(super) fn refused(form: &mut Form, declined: Declined, parts: &Value) -> Result<()> {
    let text = form.text();
    let refusal = match declined {
        Declined::ByProvider(failure) => {
            let said = [("reason", failure.sentence.into())];
            form.general_fault(text.with("templates-provider-refused", said));
            return Ok(());
        }
        Declined::Here(engine::Error::Refused(refusal)) => refusal,
        Declined::Here(error) => return Err(error.into()),
    };
    match refusal.code {
        Code::InvalidTemplate => {
            let (field, key) = fault_of(&refusal, parts);
            form.fault(field, text.get(key));
        }
        Code::TemplateNameTaken => form.fault("name", text.get("templates-name-taken")),
        Code::TooManyTemplates => form.general_fault(text.get("templates-too-many")),
        Code::MediaNotFound | Code::MediaTooLarge => {
            form.fault("header_file", text.get("templates-fault-file"));
        }
        Code::ProviderUnavailable => form.general_fault(text.get("templates-provider-away")),
        _ => return Err(engine::Error::from(refusal).into()),
    }
    Ok(())
}

/// The field that a refusal is about, and the key of the rule that it broke.
fn fault_of(refusal: &Refusal, parts: &Value) -> (&'static str, &'static str) {
    let param = refusal.param.as_deref().unwrap_or_default();
    match param {
        "name" => return ("name", "templates-fault-name"),
        "language" => return ("language", "templates-fault-language"),
        "category" => return ("category", "fault-field-choice"),
        _ => {}
    }
    let place = param.strip_prefix("components[").and_then(|rest| rest.split_once(']'));
    let part = place.and_then(|(place, _)| place.parse::<usize>().ok()).map(|place| &parts[place]["type"]);
    match part.and_then(Value::as_str).unwrap_or_default() {
        "HEADER" if param.contains("header_handle") => ("header_file", "templates-fault-file"),
        "HEADER" if param.contains(".example") => ("header_example", "templates-fault-examples"),
        "HEADER" => ("header", "templates-fault-header"),
        "FOOTER" => ("footer", "templates-fault-footer"),
        "BUTTONS" => ("buttons", "templates-fault-buttons"),
        _ if param.contains(".example") => ("examples", "templates-fault-examples"),
        _ => ("body", "templates-fault-body"),
    }
}

async fn new_page(viewer: &Viewer, state: &State, form: &Form) -> Result<Page> {
    let text = viewer.text;
    let accounts = TemplateAccounts::read(state, viewer.company.id).await?;
    let files = OfferedFiles::read(&state.engine, viewer.company.id).await?;
    let body = html! {
        @if accounts.is_empty() {
            (empty(&text.get("templates-no-account"), &html! {}))
        } @else {
            (faults(form))
            details.more id="examples" { summary { (text.get("templates-examples-of")) } (examples::links(text)) }
            @if accounts.with_library(None).is_some() {
                p { (text.get("library-instead")) " " a href="/console/templates/library" { (text.get("library-title")) } }
            }
            form method="post" action=(NEW) data-preview=(PREVIEW) data-whole {
                (once(form))
                div.with-preview {
                    section.panel {
                        (Field::new(form, "account", &text.get("templates-account")).hint(&text.get("templates-account-hint"))
                            .select(accounts.offered(text)))
                        (template_form::identity(form))
                        (template_form::fields(form, &files))
                        button type="submit" { (text.get("templates-create")) }
                    }
                    (template_form::preview(text, form.words()))
                }
            }
        }
    };
    Ok(Page::new(text.get("templates-new"), Menu::Templates, body))
}

async fn one_page(viewer: &Viewer, state: &State, template: &Record, form: &Form) -> Result<Page> {
    let text = viewer.text;
    let accounts = TemplateAccounts::read(state, viewer.company.id).await?;
    let files = OfferedFiles::read(&state.engine, viewer.company.id).await?;
    let channel = accounts.of(&template.waba_id);
    let may_work = viewer.may_work() && channel.is_some();
    let body = html! {
        (faults(form))
        (about(viewer, template, channel))
        @if may_work {
            @if let Some(sentence) = unchangeable(template) {
                p { (text.get(sentence)) }
            } @else {
                form method="post" action=(place(template.id)) data-preview=(PREVIEW) data-whole {
                    (once(form))
                    div.with-preview {
                        section.panel {
                            h2 { (text.get("templates-change")) }
                            p.hint { (text.get(if is_local(template) { "templates-change-local" } else { "templates-change-hint" })) }
                            (template_form::fields(form, &files))
                            button type="submit" { (text.get("templates-save")) }
                        }
                        (template_form::preview(text, form.words()))
                    }
                }
            }
            (endings(viewer, template))
        }
        p { a href=(PLACE) { (text.get("templates-all")) } }
    };
    Ok(Page::new(template.name.clone(), Menu::Templates, body))
}

/// What the provider says of the template, and how a phone shows it.
fn about(viewer: &Viewer, template: &Record, channel: Option<&Channel>) -> Markup {
    let text = viewer.text;
    let quality = template.quality_score.as_deref().filter(|quality| *quality != "UNKNOWN");
    html! {
        section.panel {
            p {
                (state_of(text, template.status.as_str()))
                @if template.archived_at.is_some() { " " (super::archived(text)) }
            }
            (why(text, template))
            dl.facts {
                dt { (text.get("templates-language")) } dd { (template.language) }
                dt { (text.get("templates-category")) } dd { (category(text, template.category.as_str())) }
                @if let Some(channel) = channel { dt { (text.get("templates-account")) } dd { bdi { (name(text, channel)) } } }
                @if !is_local(template) {
                    dt { (text.get("templates-quality")) }
                    dd { @match quality { Some(quality) => (rating(text, Some(quality))), None => (text.get("templates-quality-none")), } }
                }
                dt { (text.get("templates-changed")) } dd { (moment(viewer, template.updated_at)) }
                dt { (text.get("templates-number")) }
                dd { (copy::copy(text, &text.get("templates-number"), &template.id.to_string())) }
            }
            (phone(text, &template.components))
        }
    }
}

/// Archiving and deleting.
fn endings(viewer: &Viewer, template: &Record) -> Markup {
    let text = viewer.text;
    let is_archived = template.archived_at.is_some();
    let (value, key) =
        if is_archived { ("no", "templates-offer-again") } else { ("yes", "templates-archive") };
    let question = if is_local(template) { "templates-delete-local" } else { "templates-delete-question" };
    html! {
        section.panel {
            p { (text.get("templates-archive-hint")) }
            form method="post" action=(format!("{}/archive", place(template.id))) {
                input type="hidden" name="archived" value=(value);
                button.plain type="submit" { (text.get(key)) }
            }
        }
        (confirm::confirm(text, &format!("{}/delete", place(template.id)), &text.get("templates-delete"), &text.get(question)))
    }
}

fn is_local(template: &Record) -> bool {
    template.waba_id == LOCAL_ACCOUNT
}

/// The key of why a template cannot be changed on this page; `None` when it can.
fn unchangeable(template: &Record) -> Option<&'static str> {
    if !matches!(template.status, Status::Approved | Status::Rejected | Status::Paused) {
        return Some("templates-change-later");
    }
    template_form::values(template).is_none().then_some("templates-change-elsewhere")
}
