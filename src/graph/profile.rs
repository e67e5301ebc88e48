//! The profile of a number: passed to the provider and back. A web session has what is known of it, and cannot change it here.

use crate::engine::TemplateDesk;
use actix_web::HttpResponse;
use serde_json::{Value, json};

use super::call::Call;
use super::object::asked;
use super::refusal::DoorRefusal;
use super::uploads::file_of;
use crate::domain::channel::Kind;

/// Shows the profile.
pub(super) async fn show(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let channel = call.number(call.path.at(0)).await?;
    let mut profile = match channel.kind {
        Kind::BusinessAccount => TemplateDesk::of(&call.state.engine, &channel).profile().await?,
        Kind::WebSession => [("about", json!("")), ("vertical", json!("UNDEFINED"))]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    profile.insert("messaging_product".to_owned(), json!("whatsapp"));
    Ok(HttpResponse::Ok().json(json!({ "data": [asked(&call, profile)] })))
}

/// Changes the profile.
pub(super) async fn change(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    let channel = call.number(call.path.at(0)).await?;
    if channel.kind == Kind::WebSession {
        let details = "the profile of a web session is that of its phone: change it there";
        return Err(DoorRefusal::because(131_051, details));
    }
    let (mut fields, _) = call.fields().await?;
    if let Some(Value::String(handle)) = fields.map.get_mut("profile_picture_handle")
        && let Some(file) = file_of(handle)
    {
        *handle = file;
    }
    TemplateDesk::of(&call.state.engine, &channel).set_profile(&call.who(), &fields.map).await?;
    Ok(HttpResponse::Ok().json(json!({ "success": true })))
}
