//! The provider's template management: listing in pages, creating, editing, deleting, and lifting a pause.

use std::sync::Arc;

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::authoring;
use super::catalogue::Wanted;
use super::error::GraphError;
use super::graph::{Parameters, TEMPLATE_FIELDS, selected};
use super::library;
use super::reply::{Verdict, about_account, answer};
use super::seed::Template;
use super::send::bearer;
use super::template::StoredTemplate;
use super::world::World;

const PAGE: usize = 25;
const LARGEST_PAGE: usize = 1_000;

/// `GET /{waba_id}/message_templates`.
pub(super) async fn templates(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
) -> HttpResponse {
    let (_, waba_id) = path.into_inner();
    if let Some(account) = world.directory.read().account(&waba_id).filter(|_| !query.contains_key("after")) {
        account.count_listing();
    }
    about_account(&world, &waba_id, &request, |account| {
        let (after, limit) = (after(&query)?, limit(&query)?);
        let text = |name: &str| query.get(name).map(String::as_str);
        let wanted = Wanted {
            name: text("name"),
            language: text("language"),
            status: text("status"),
            category: text("category"),
        };
        let catalogue = account.catalogue.read();
        let (page, has_more) = catalogue.page(&wanted, after, limit);
        let nodes = page.iter().map(|stored| selected(stored.node(), text("fields"), TEMPLATE_FIELDS));
        let mut body = json!({ "data": nodes.collect::<Result<Vec<_>, _>>()? });
        if let (Some(first), Some(last)) = (page.first(), page.last()) {
            body["paging"]["cursors"] = json!({ "before": cursor(first), "after": cursor(last) });
            if has_more {
                body["paging"]["next"] = next(&request, &query, &cursor(last)).into();
            }
        }
        if query.contains_key("summary") {
            let (count, most) = catalogue.count();
            body["summary"] = json!({
                "total_count": catalogue.count_wanted(&wanted), "message_template_count": count,
                "message_template_limit": most, "are_translations_complete": false,
            });
        }
        Ok(body)
    })
}

/// A cursor: the encoded id of the template at the edge of the page.
fn cursor(stored: &Arc<StoredTemplate>) -> String {
    URL_SAFE_NO_PAD.encode(stored.id.to_string())
}

fn after(query: &Parameters) -> Result<u64, GraphError> {
    let Some(cursor) = query.get("after").filter(|cursor| !cursor.is_empty()) else { return Ok(0) };
    let decoded = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let id = decoded.and_then(|text| text.parse().ok());
    id.ok_or_else(|| GraphError::because(100, "after is not a cursor of this listing"))
}

fn limit(query: &Parameters) -> Result<usize, GraphError> {
    let Some(limit) = query.get("limit") else { return Ok(PAGE) };
    let limit = limit.parse().ok().filter(|limit| *limit > 0);
    let limit: usize = limit.ok_or_else(|| GraphError::because(100, "limit must be a positive number"))?;
    Ok(limit.min(LARGEST_PAGE))
}

/// The address of the next page: this request's own, with another cursor.
pub(super) fn next(request: &HttpRequest, query: &Parameters, cursor: &str) -> String {
    let mut parameters: Vec<_> = query.iter().filter(|(name, _)| *name != "after").collect();
    parameters.sort();
    let mut encoded = Serializer::new(String::new());
    encoded.extend_pairs(parameters).append_pair("after", cursor);
    let connection = request.connection_info();
    format!("{}://{}{}?{}", connection.scheme(), connection.host(), request.path(), encoded.finish())
}

#[derive(Debug, Default, Deserialize)]
struct NewTemplate {
    name: String,
    language: String,
    category: String,
    #[serde(default)]
    parameter_format: Option<String>,
    #[serde(default)]
    message_send_ttl_seconds: Option<i64>,
    #[serde(default)]
    components: Value,
    #[serde(default)]
    library_template_name: Option<String>,
    #[serde(default)]
    library_template_button_inputs: Value,
    #[serde(default)]
    library_template_body_inputs: Value,
}

/// `POST /{waba_id}/message_templates`: a template that is PENDING until a script approves it. A copy of one of the library is
/// approved at once.
pub(super) async fn create(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, waba_id) = path.into_inner();
    about_account(&world, &waba_id, &request, |account| {
        let template = read_template(&body)?;
        let (status, category) = (template.status.clone(), template.category.clone());
        let directory = world.directory.read();
        let id = account.catalogue.write().add(directory.template_ids(), template)?;
        Ok(json!({ "id": id.to_string(), "status": status, "category": category }))
    })
}

fn read_template(body: &[u8]) -> Result<Template, GraphError> {
    let new = serde_json::from_slice(body).map_err(|error| GraphError::because(100, error.to_string()))?;
    checked(new)
}

/// The template that is asked for, by the provider's rules.
fn checked(mut new: NewTemplate) -> Result<Template, GraphError> {
    let is_name = (1..=512).contains(&new.name.len())
        && new.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return Err(GraphError::because(100, "name must be a-z, 0-9 and _, at most 512 characters"));
    }
    let category = new.category.to_ascii_uppercase();
    if !["MARKETING", "UTILITY", "AUTHENTICATION"].contains(&category.as_str()) {
        return Err(GraphError::because(100, "category must be MARKETING, UTILITY or AUTHENTICATION"));
    }
    if let Some(name) = &new.library_template_name {
        let inputs = (&new.library_template_button_inputs, &new.library_template_body_inputs);
        new.components = library::copied((name, &new.language, &category), inputs.0, inputs.1)?;
    }
    if !new.components.is_array() || new.language.is_empty() {
        return Err(GraphError::because(100, "language and an array of components are required"));
    }
    if let Some(seconds) = new.message_send_ttl_seconds {
        let (least, most) = ttl_bounds(&category);
        // For an authentication template, -1 means thirty days.
        let is_usual = seconds == -1 && category == "AUTHENTICATION";
        if !is_usual && !(least..=most).contains(&seconds) {
            let details = format!("message_send_ttl_seconds of {category} is {least} to {most}");
            return Err(GraphError::because(100, details));
        }
    }
    authoring::check(&new.components, &category)?;
    let mut template = Template::new(new.name, new.language, new.components);
    template.message_send_ttl_seconds = new.message_send_ttl_seconds;
    template.category = category;
    let is_copy = new.library_template_name.is_some();
    template.status = if is_copy { "APPROVED" } else { "PENDING" }.to_owned();
    template.library_template_name = new.library_template_name;
    template.parameter_format =
        new.parameter_format.map_or(template.parameter_format, |it| it.to_ascii_uppercase());
    Ok(template)
}

#[derive(Debug, Deserialize)]
struct ChangedTemplate {
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    message_send_ttl_seconds: Option<i64>,
    #[serde(default)]
    components: Option<Value>,
}

/// `POST /{template_id}`: an approved, rejected or paused template with other words, which is PENDING again. `None` for an id
/// that is none of a template.
pub(super) fn edit(world: &World, id: &str, request: &HttpRequest, body: &[u8]) -> Option<HttpResponse> {
    let token = bearer(request);
    let id = id.parse().ok()?;
    let (account, stored) = world.directory.read().visible_template(token, id)?;
    let verdict = world.admit(token).and_then(|()| account.spare(world.now())).and_then(|()| {
        let changed: ChangedTemplate =
            serde_json::from_slice(body).map_err(|error| GraphError::because(100, error.to_string()))?;
        let before = &stored.template;
        if !["APPROVED", "REJECTED", "PAUSED"].contains(&before.status.as_str()) {
            let details = format!("a template that is {} cannot be edited", before.status);
            return Err(GraphError::because(100, details).with_subcode(2_388_003));
        }
        let category = changed.category.map(|category| category.to_ascii_uppercase());
        if before.status == "APPROVED"
            && category.as_ref().is_some_and(|category| *category != before.category)
        {
            let details = "the category of an approved template cannot be changed";
            return Err(GraphError::because(100, details).with_subcode(2_388_025));
        }
        let new = NewTemplate {
            name: before.name.clone(),
            language: before.language.clone(),
            category: category.unwrap_or_else(|| before.category.clone()),
            parameter_format: Some(before.parameter_format.clone()),
            message_send_ttl_seconds: changed.message_send_ttl_seconds.or(before.message_send_ttl_seconds),
            components: changed.components.unwrap_or_else(|| before.components.clone()),
            ..NewTemplate::default()
        };
        account.catalogue.write().edit(id, checked(new)?);
        Ok(json!({ "success": true }))
    });
    Some(answer(world, Some(&account), &verdict))
}

/// `DELETE /{waba_id}/message_templates?name=…[&hsm_id=…]`: every language of a name, or the one with the id.
pub(super) async fn delete(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
) -> HttpResponse {
    let (_, waba_id) = path.into_inner();
    about_account(&world, &waba_id, &request, |account| {
        let name = query.get("name").filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| GraphError::because(100, "name is required"))?;
        let only = query.get("hsm_id").map(|id| id.parse::<u64>());
        let only = only.transpose().map_err(|_| GraphError::because(100, "hsm_id must be digits"))?;
        match account.catalogue.write().remove(name, only) {
            0 => {
                Err(GraphError::because(100, format!("there is no template {name}")).with_subcode(2_593_002))
            }
            _ => Ok(json!({ "success": true })),
        }
    })
}

/// The minimum and maximum number of seconds for which delivery of a template of this category is attempted.
fn ttl_bounds(category: &str) -> (i64, i64) {
    match category {
        "AUTHENTICATION" => (30, 15 * 60),
        "UTILITY" => (30, 12 * 60 * 60),
        _ => (12 * 60 * 60, 30 * 24 * 60 * 60),
    }
}

/// `POST /{template_id}/unpause`.
pub(super) async fn unpause(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    let token = bearer(&request);
    if let Err(error) = world.admit(token) {
        return answer(&world, None, &Err(error));
    }
    let found = id.parse().ok().and_then(|id| world.directory.read().visible_template(token, id));
    let Some((account, stored)) = found else {
        return answer(&world, None, &Err(GraphError::unknown_object(&id)));
    };
    let may = account.spare(world.now());
    let verdict: Verdict = if let Err(error) = may {
        Err(error)
    } else if stored.template.status == "PAUSED" {
        let is_lifted = world.set_template_status(&account, stored.id, "APPROVED");
        Ok(json!({ "success": is_lifted }))
    } else {
        Err(GraphError::because(100, format!("the template is {}, not PAUSED", stored.template.status)))
    };
    answer(&world, Some(&account), &verdict)
}
