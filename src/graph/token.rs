//! What programs ask about their key and their app before they use them.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::object::asked;
use super::refusal::DoorRefusal;
use crate::domain::scope::Scope;
use crate::engine::graph::GraphDoor;
use crate::engine::{self, Caller};

/// The permissions of a key with the scope `graph`, in Meta's words.
const PERMISSIONS: [&str; 2] = ["whatsapp_business_management", "whatsapp_business_messaging"];
/// The name of the company's app.
const NAME: &str = "Pombo";

/// The company's app.
pub(super) async fn app_record(call: &Call) -> Result<Map<String, Value>, DoorRefusal> {
    let fields =
        [("id", json!(call.door().app_id().await?)), ("name", json!(NAME)), ("link", json!(call.base()))];
    Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Shows the app.
pub(super) async fn app(call: Call) -> Result<HttpResponse, DoorRefusal> {
    Ok(HttpResponse::Ok().json(asked(&call, app_record(&call).await?)))
}

/// Lists the permissions of the key.
pub(super) async fn permissions(_call: Call) -> Result<HttpResponse, DoorRefusal> {
    let data = PERMISSIONS.map(|permission| json!({ "permission": permission, "status": "granted" }));
    Ok(HttpResponse::Ok().json(json!({ "data": data })))
}

/// Tells of a key of the company, which may be the caller's own. One of another company is as good as none.
pub(super) async fn debug(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let given = call
        .parameter("input_token")
        .ok_or_else(|| DoorRefusal::because(100, "`input_token` is missing: give the key to tell of"))?;
    let own = |other: &Caller| other.company_id == call.caller.company_id && other.scopes.has(Scope::Graph);
    let found = match call.state.engine.authenticate(given).await {
        Ok(found) => found.filter(own),
        Err(engine::Error::Refused(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let app = call.door().app_id().await?;
    let Some(found) = found else {
        let error = json!({ "code": 190, "message": "Invalid OAuth access token" });
        let data = json!({ "app_id": app, "is_valid": false, "error": error, "scopes": [] });
        return Ok(HttpResponse::Ok().json(json!({ "data": data })));
    };
    let door = GraphDoor::new(&call.state.engine, found.company_id, found.channels.clone());
    let accounts: Vec<_> = door.accounts().await?.into_iter().map(|account| account.id).collect();
    let granular = PERMISSIONS.map(|scope| json!({ "scope": scope, "target_ids": accounts }));
    // The end of a key is not told: programs warn of every key that ends.
    let data = json!({
        "app_id": app,
        "type": "SYSTEM_USER",
        "application": NAME,
        "data_access_expires_at": 0,
        "expires_at": 0,
        "is_valid": true,
        "scopes": PERMISSIONS,
        "granular_scopes": granular,
        "user_id": app,
    });
    Ok(HttpResponse::Ok().json(json!({ "data": data })))
}
