//! The provider's nodes: numbers, accounts, templates, files, tokens, and simple actions on them.

use std::collections::HashMap;

use actix_web::web::{Bytes, Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Map, Value, json};

use super::error::GraphError;
use super::reply::{Verdict, about_account, about_number, answer};
use super::send::bearer;
use super::world::World;
use super::{media, node};

/// Query parameters by name.
pub(super) type Parameters = Query<HashMap<String, String>>;

/// The default fields of a number.
const NUMBER_FIELDS: &str = "id,display_phone_number,verified_name,quality_rating,code_verification_status";
const ACCOUNT_FIELDS: &str = "id,name,currency,timezone_id,message_template_namespace";
/// The default fields of a template; `rejected_reason` and `quality_score` have to be requested.
pub(super) const TEMPLATE_FIELDS: &str = "id,name,language,status,category,parameter_format,components";

/// Fields of nodes that the provider has and that the simulator may have no value for. They are then left
/// out.
const MAY_BE_UNSET: [&str; 25] = [
    "about",
    "address",
    "certificate",
    "conversational_automation",
    "correct_category",
    "degrees_of_freedom_spec",
    "description",
    "display_format",
    "email",
    "library_template_name",
    "message_send_ttl_seconds",
    "new_certificate",
    "new_display_name",
    "new_name_status",
    "on_behalf_of_business_info",
    "owner_business",
    "previous_category",
    "primary_business_location",
    "primary_funding_id",
    "profile_picture_url",
    "purchase_order_number",
    "subscribed_apps",
    "username",
    "vertical",
    "websites",
];

/// `GET /{id}`: a number, an account, a template or a file.
pub(super) async fn node(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    let token = bearer(&request);
    let fields = query.get("fields").map(String::as_str);
    if let Err(error) = world.admit(token) {
        return answer(&world, None, &Err(error));
    }
    let template = id.parse().ok().and_then(|id| world.directory.read().visible_template(token, id));
    if let Some((account, template)) = template {
        let node = || selected(template.node(), fields, TEMPLATE_FIELDS);
        let verdict = account.spare(world.now()).and_then(|()| node());
        return answer(&world, Some(&account), &verdict);
    }
    let account = world.directory.read().visible_account(token, &id);
    if let Some(account) = account {
        let node = || selected(node::account(&account), fields, ACCOUNT_FIELDS);
        let verdict = account.spare(world.now()).and_then(|()| node());
        return answer(&world, Some(&account), &verdict);
    }
    if let Some(verdict) = media::describe(&world, &request, &id, &query) {
        return answer(&world, None, &verdict);
    }
    match world.number(token, &id) {
        Ok(number) => {
            number.count_description();
            let node = || selected(node::number(&number), fields, NUMBER_FIELDS);
            let verdict = number.account.spare(world.now()).and_then(|()| node());
            answer(&world, Some(&number.account), &verdict)
        }
        Err(error) => answer(&world, None, &Err(error)),
    }
}

/// `GET /{waba_id}/phone_numbers`.
pub(super) async fn phone_numbers(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
) -> HttpResponse {
    let (_, waba_id) = path.into_inner();
    about_account(&world, &waba_id, &request, |_| {
        let fields = query.get("fields").map(String::as_str);
        let numbers = world.directory.read().numbers_of(&waba_id);
        let nodes = numbers.iter().map(|number| selected(node::number(number), fields, NUMBER_FIELDS));
        Ok(json!({ "data": nodes.collect::<Result<Vec<_>, _>>()? }))
    })
}

/// `POST /{phone_number_id}/register`: the number is connected again.
pub(super) async fn register(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    about_number(&world, &id, &request, |number| {
        let fields: Map<String, Value> = serde_json::from_slice(&body).unwrap_or_default();
        let pin = fields.get("pin").and_then(Value::as_str).unwrap_or_default();
        let is_pin = pin.len() == 6 && pin.bytes().all(|byte| byte.is_ascii_digit());
        if !is_pin || fields.get("messaging_product").is_none_or(|product| product != "whatsapp") {
            return Err(GraphError::because(100, "messaging_product must be whatsapp and pin six digits"));
        }
        number.set_status("CONNECTED");
        Ok(json!({ "success": true }))
    })
}

/// `POST /{phone_number_id}/deregister`: the number cannot send until it is registered again.
pub(super) async fn deregister(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    about_number(&world, &id, &request, |number| {
        number.set_status("DISCONNECTED");
        Ok(json!({ "success": true }))
    })
}

/// `GET /debug_token?input_token=…`.
pub(super) async fn debug_token(world: Data<World>, query: Parameters, request: HttpRequest) -> HttpResponse {
    let verdict = world.admit(bearer(&request)).and_then(|()| {
        let Some(inspected) = query.get("input_token") else {
            return Err(GraphError::because(100, "input_token is required"));
        };
        let (is_valid, accounts, expires_at) = world.directory.read().token(inspected);
        let scopes = ["whatsapp_business_management", "whatsapp_business_messaging"];
        let granular = scopes.map(|scope| json!({ "scope": scope, "target_ids": accounts }));
        let mut data = json!({
            "app_id": "1000000000", "type": "SYSTEM_USER", "application": "Simulator", "is_valid": is_valid,
            "expires_at": expires_at, "data_access_expires_at": 0, "issued_at": 1_700_000_000, "user_id": "2000000000",
            "scopes": scopes, "granular_scopes": granular,
        });
        if !is_valid {
            data["error"] = json!({ "code": 190, "message": "The token is not valid", "subcode": 463 });
        }
        Ok(json!({ "data": data }))
    });
    answer(&world, None, &verdict)
}

/// Answers an unknown path.
pub(super) async fn unknown_path(world: Data<World>) -> HttpResponse {
    answer(&world, None, &Err(GraphError::new(2_500)))
}

/// The requested fields, and always the id. An unknown field is an error, as at the provider.
pub(super) fn selected(node: Value, fields: Option<&str>, usual: &str) -> Verdict {
    let Value::Object(mut all) = node else { return Ok(node) };
    let asked = fields.filter(|fields| !fields.trim().is_empty()).unwrap_or(usual);
    let mut shown = Map::new();
    for name in asked.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "id") {
        match all.remove(name).or_else(|| shown.get(name).cloned()) {
            Some(value) => drop(shown.insert(name.to_owned(), value)),
            None if MAY_BE_UNSET.contains(&name) => {}
            None => return Err(GraphError::because(100, format!("there is no field {name}"))),
        }
    }
    shown.extend(all.remove("id").map(|id| ("id".to_owned(), id)));
    Ok(Value::Object(shown))
}
