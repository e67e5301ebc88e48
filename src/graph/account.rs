//! An account: a business account of Meta, or the web sessions of the company together, which have one account.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::number;
use super::object::asked;
use super::refusal::DoorRefusal;
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
