//! Templates that programs create, change and delete. Samples that were uploaded here are files of the library, which the engine
//! uploads to the provider when it needs them.

use crate::engine::TemplateDesk;
use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::{FoundTemplate, id_of};
use crate::domain::template::{DraftFields, LIBRARY_NAME, LOCAL_ACCOUNT, LibraryFields};
use crate::engine::records::templates::Record;
use crate::engine::{self, Declined, TemplateEdit};
use crate::error::Code;
use crate::graph::call::Call;
use crate::graph::refusal::{DoorRefusal, meaning};
use crate::graph::uploads::with_files;

impl From<Declined> for DoorRefusal {
    fn from(declined: Declined) -> Self {
        match declined {
            Declined::ByProvider(failure) => meaning::of_provider(failure, 100),
            // Of what is no message, a wrong field has this number.
            Declined::Here(engine::Error::Refused(refusal)) if refusal.code == Code::InvalidField => {
                Self::because(100, refusal.sentence)
            }
            Declined::Here(error) => error.into(),
        }
    }
}

/// Creates a template: the provider reviews it, or a web session has it at once. What is about one of the provider's library goes on
/// as it is.
pub(in crate::graph) async fn create(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let channel = account.channels.first().ok_or_else(|| call.unknown(&account.id))?;
    let (fields, _) = call.fields().await?;
    let given = &fields.map;
    let desk = TemplateDesk::of(&call.state.engine, channel);
    if given.get(LIBRARY_NAME).is_some_and(|name| !name.is_null()) {
        let asked = LibraryFields {
            name: text(given, "name").unwrap_or_default(),
            language: language(given),
            category: text(given, "category").unwrap_or_default(),
            given,
        };
        return Ok(told(&desk.create_from_library(&call.who(), asked).await?));
    }
    let components = components(given)?.unwrap_or_else(|| json!([]));
    let draft = DraftFields {
        name: text(given, "name").unwrap_or_default(),
        language: language(given),
        category: text(given, "category").unwrap_or_default(),
        parameter_format: text(given, "parameter_format"),
        components: &components,
        options: Some(given),
    };
    Ok(told(&desk.create(&call.who(), draft).await?))
}

/// What a program is told of the template that it created.
fn told(created: &Record) -> HttpResponse {
    let (id, status, category) = (id_of(created), created.status.to_string(), created.category.to_string());
    HttpResponse::Ok().json(json!({ "id": id, "status": status, "category": category }))
}

/// Changes the words or the category of a template.
pub(in crate::graph) async fn change(
    mut call: Call,
    found: FoundTemplate,
) -> Result<HttpResponse, DoorRefusal> {
    let (fields, _) = call.fields().await?;
    let components = components(&fields.map)?;
    let edit = TemplateEdit { category: text(&fields.map, "category"), components: components.as_ref() };
    let desk = TemplateDesk::of(&call.state.engine, &found.channel);
    desk.change(&call.who(), found.template.id, edit).await?;
    Ok(HttpResponse::Ok().json(json!({ "success": true })))
}

/// Deletes a template by its name in every language, or the one with the id.
pub(in crate::graph) async fn delete(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let channel = account.channels.first().ok_or_else(|| call.unknown(&account.id))?;
    let name = call.parameter("name").map(str::to_owned);
    let id = call.parameter("hsm_id").map(str::to_owned);
    let gone = || DoorRefusal::because(100, "there is no such template in this account");
    let found = match (&id, &name) {
        (Some(id), _) => super::find(&call, id).await?.map(|found| found.template),
        (None, Some(name)) => {
            let records = call.state.engine.company(call.caller.company_id).await?;
            let account = channel.template_account();
            records.templates().languages_of(account, name).await?.into_iter().next()
        }
        (None, None) => {
            return Err(DoorRefusal::because(100, "`name` is missing: give that of the template"));
        }
    };
    let found = found.filter(|found| found.waba_id == account.waba_id.as_deref().unwrap_or(LOCAL_ACCOUNT));
    let found =
        found.filter(|found| name.as_ref().is_none_or(|name| found.name == *name)).ok_or_else(gone)?;
    TemplateDesk::of(&call.state.engine, channel).delete(&call.who(), &found, id.is_none()).await?;
    Ok(HttpResponse::Ok().json(json!({ "success": true })))
}

fn text<'a>(given: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    given.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// The language, which some programs give as an object.
fn language(given: &Map<String, Value>) -> &str {
    let inner = given.get("language").and_then(|language| language.get("code")).and_then(Value::as_str);
    text(given, "language").or(inner).unwrap_or_default()
}

/// The parts, which forms give as a text. Samples that were uploaded here become files of the library.
fn components(given: &Map<String, Value>) -> Result<Option<Value>, DoorRefusal> {
    let parts = match given.get("components") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => serde_json::from_str(text)
            .map_err(|wrong| DoorRefusal::because(100, format!("`components` is no JSON: {wrong}")))?,
        Some(parts) => parts.clone(),
    };
    Ok(Some(with_files(parts)))
}
