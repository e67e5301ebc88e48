//! The receivers of webhooks that programs set: for a number, an account, or the app.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::refusal::DoorRefusal;
use super::token;
use crate::domain::channel::Channel;
use crate::domain::secret::Secret;
use crate::domain::webhook::SetFor;
use crate::engine;
use crate::engine::graph::GraphAccount;

/// The most bytes of a verify token.
const LONGEST_TOKEN: usize = 1_024;
/// The fields of webhooks that the app's receiver gets.
const FIELDS: [&str; 9] = [
    "messages",
    "user_preferences",
    "smb_message_echoes",
    "message_template_status_update",
    "message_template_quality_update",
    "template_category_update",
    "account_update",
    "phone_number_quality_update",
    "phone_number_name_update",
];

pub(super) const fn of_number(channel: &Channel) -> SetFor {
    SetFor::Number(channel.id)
}

fn of_account(account: &GraphAccount) -> SetFor {
    SetFor::Account(account.waba_id.clone())
}

/// The address of the receiver that a program set for this.
async fn address(call: &Call, set_for: &SetFor) -> Result<Option<String>, DoorRefusal> {
    let receiver = call.door().receiver(set_for).await?;
    Ok(receiver.map(|shown| shown.endpoint.settings.public_url()))
}

/// What a number says of its receivers: its own, and that of its account and of the app.
pub(super) async fn configuration(call: &Call, channel: &Channel) -> Result<Value, DoorRefusal> {
    let mut configuration = Map::new();
    for (name, set_for) in [
        ("phone_number", of_number(channel)),
        ("whatsapp_business_account", SetFor::Account(channel.waba_id.clone())),
        ("application", SetFor::App),
    ] {
        if let Some(address) = address(call, &set_for).await? {
            configuration.insert(name.to_owned(), json!(address));
        }
    }
    Ok(Value::Object(configuration))
}

/// Sets or removes a receiver, as the fields of a request say. Without an address, nothing is changed.
async fn set(
    call: &Call,
    set_for: &SetFor,
    given: &Map<String, Value>,
    address: &str,
) -> Result<HttpResponse, DoorRefusal> {
    let text = |name: &str| given.get(name).map(|value| value.as_str().map(str::trim));
    let wrong = |name: &str| DoorRefusal::because(100, format!("`{name}` must be a text"));
    let url = match text(address) {
        None => return Ok(success()),
        Some(url) => url.ok_or_else(|| wrong(address))?,
    };
    let door = call.door();
    if url.is_empty() {
        door.remove_receiver(&call.who(), set_for).await.map_err(refused)?;
        return Ok(success());
    }
    let token = text("verify_token").flatten().filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| {
        let details = "`verify_token` is missing: give the one that the receiver expects";
        DoorRefusal::because(100, details)
    })?;
    if token.len() > LONGEST_TOKEN {
        let details = format!("`verify_token` is longer than {LONGEST_TOKEN} bytes");
        return Err(DoorRefusal::because(100, details));
    }
    let token = Secret::new(token.to_owned());
    door.set_receiver(&call.who(), set_for, url, token).await.map_err(refused)?;
    Ok(success())
}

/// A refusal of what is no message has one number, whatever is wrong.
fn refused(error: engine::Error) -> DoorRefusal {
    match error {
        engine::Error::Refused(refusal) => DoorRefusal::because(100, refusal.sentence),
        error => error.into(),
    }
}

/// Sets or removes the receiver of a number.
pub(super) async fn set_for_number(
    call: &Call,
    channel: &Channel,
    given: &Map<String, Value>,
) -> Result<HttpResponse, DoorRefusal> {
    set(call, &of_number(channel), given, "override_callback_uri").await
}

/// Lists the apps that get the webhooks of an account: the company's own.
pub(super) async fn subscribed(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let mut app = json!({ "whatsapp_business_api_data": token::app_record(&call).await? });
    if let Some(address) = address(&call, &of_account(&account)).await? {
        app["override_callback_uri"] = json!(address);
    }
    Ok(HttpResponse::Ok().json(json!({ "data": [app] })))
}

/// Subscribes the app to the webhooks of an account, as it is always, or gives the account a receiver of its own.
pub(super) async fn subscribe(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let (fields, _) = call.fields().await?;
    set(&call, &of_account(&account), &fields.map, "override_callback_uri").await
}

/// Removes the receiver of an account.
pub(super) async fn unsubscribe(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    call.door().remove_receiver(&call.who(), &of_account(&account)).await.map_err(refused)?;
    Ok(success())
}

/// Lists what the receiver of the app gets.
pub(super) async fn subscriptions(call: Call) -> Result<HttpResponse, DoorRefusal> {
    check_app(&call).await?;
    let data = address(&call, &SetFor::App).await?.map(|address| {
        let fields = FIELDS.map(|name| json!({ "name": name, "version": "v23.0" }));
        json!({
            "object": "whatsapp_business_account",
            "callback_url": address,
            "active": true,
            "fields": fields,
        })
    });
    let data: Vec<_> = data.into_iter().collect();
    Ok(HttpResponse::Ok().json(json!({ "data": data })))
}

/// Sets the receiver of the app.
pub(super) async fn set_for_app(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    check_app(&call).await?;
    let (fields, _) = call.fields().await?;
    set(&call, &SetFor::App, &fields.map, "callback_url").await
}

/// Removes the receiver of the app.
pub(super) async fn remove_from_app(call: Call) -> Result<HttpResponse, DoorRefusal> {
    check_app(&call).await?;
    call.door().remove_receiver(&call.who(), &SetFor::App).await.map_err(refused)?;
    Ok(success())
}

async fn check_app(call: &Call) -> Result<(), DoorRefusal> {
    let id = call.path.at(0);
    if call.door().is_app(id).await? { Ok(()) } else { Err(call.unknown(id)) }
}

fn success() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "success": true }))
}
