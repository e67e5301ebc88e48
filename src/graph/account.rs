//! An account: a business account of Meta, or the web sessions of the company together, which have one account.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::object::asked;
use super::refusal::DoorRefusal;
use super::{number, token};
use crate::engine::graph::GraphAccount;

/// What Meta would say of an account.
fn described(account: &GraphAccount) -> Map<String, Value> {
    let name = match (&account.waba_id, account.channels.first()) {
        (Some(_), Some(channel)) => channel.name.clone(),
        _ => "Web sessions".to_owned(),
    };
    let owner = json!({ "id": account.id, "name": name });
    let fields = [
        ("id", json!(account.id)),
        ("name", json!(name)),
        ("currency", json!("USD")),
        ("timezone_id", json!("0")),
        ("message_template_namespace", json!(account.id)),
        ("account_review_status", json!("APPROVED")),
        ("business_verification_status", json!("verified")),
        ("owner_business_info", owner),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Shows an account.
pub(super) fn show(call: &Call, account: &GraphAccount) -> Result<HttpResponse, DoorRefusal> {
    Ok(HttpResponse::Ok().json(asked(call, described(account))))
}

/// Lists the accounts of the key.
pub(super) async fn list(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let accounts = call.door().accounts().await?;
    let data: Vec<_> = accounts.iter().map(|account| asked(&call, described(account))).collect();
    Ok(HttpResponse::Ok().json(json!({ "data": data })))
}

/// Lists the numbers of an account. They come at once: programs read the first part alone.
pub(super) async fn numbers(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let mut data = Vec::with_capacity(account.channels.len());
    for channel in &account.channels {
        let id = call.door().number_id(channel).await?;
        data.push(asked(&call, number::described(channel, &id)));
    }
    Ok(HttpResponse::Ok().json(json!({ "data": data })))
}

/// Lists the apps that get the webhooks of an account: the company's own.
pub(super) async fn subscribed(call: Call) -> Result<HttpResponse, DoorRefusal> {
    call.account(call.path.at(0)).await?;
    let app = json!({ "whatsapp_business_api_data": token::app_record(&call).await? });
    Ok(HttpResponse::Ok().json(json!({ "data": [app] })))
}

/// Subscribes the app to the webhooks of an account, as it is always, or gives the account a receiver of its own.
pub(super) async fn subscribe(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    call.account(call.path.at(0)).await?;
    let (fields, _) = call.fields().await?;
    receiver(&fields.map)
}

/// Removes the receiver of an account's webhooks.
pub(super) async fn unsubscribe(call: Call) -> Result<HttpResponse, DoorRefusal> {
    call.account(call.path.at(0)).await?;
    Ok(success())
}

/// Sets the receiver of the webhooks of an account or of one of its numbers, if the request names one.
pub(super) fn receiver(given: &Map<String, Value>) -> Result<HttpResponse, DoorRefusal> {
    let address = given.get("override_callback_uri").and_then(Value::as_str).unwrap_or_default();
    if address.trim().is_empty() {
        return Ok(success());
    }
    let details = "a receiver of webhooks cannot be set here: add a webhook in the console, or with POST /api/v1/webhooks";
    Err(DoorRefusal::because(100, details))
}

fn success() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "success": true }))
}
