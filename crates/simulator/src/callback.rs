//! Callbacks of their own, which a business sets for an account or for a number: webhooks go there, and not to the app's
//! receiver. They are signed with the app's secret, so they need a receiver that was set before.

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Map, Value, json};

use super::error::GraphError;
use super::management;
use super::options::ReceiptOptions;
use super::reply::{about_account, about_number};
use super::target::Target;
use super::world::World;

/// `GET /{waba_id}/subscribed_apps`.
pub(super) async fn show(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let app = json!({ "whatsapp_business_api_data": { "id": "1000000000", "name": "Simulator", "link": "https://example.com" } });
    let (_, waba_id) = path.into_inner();
    about_account(&world, &waba_id, &request, |account| {
        Ok(json!({ "data": if account.is_subscribed() { vec![app] } else { Vec::new() } }))
    })
}

/// `POST /{waba_id}/subscribed_apps`, with or without a callback of the account's own.
pub(super) async fn subscribe(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, waba_id) = path.into_inner();
    let fields: Map<String, Value> = serde_json::from_slice(&body).unwrap_or_default();
    about_account(&world, &waba_id, &request, |account| {
        if let Some(callback) = Callback::of(&fields)? {
            let waba_id = &account.waba_id;
            let receiver = world.outbox.receiver_of_account(waba_id);
            callback.aim(&world, receiver.as_deref(), |options| options.waba_id = Some(waba_id.clone()))?;
        }
        account.subscribe(true);
        Ok(json!({ "success": true }))
    })
}

/// `DELETE /{waba_id}/subscribed_apps`.
pub(super) async fn unsubscribe(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, waba_id) = path.into_inner();
    about_account(&world, &waba_id, &request, |account| {
        world.outbox.end_account(&account.waba_id);
        account.subscribe(false);
        Ok(json!({ "success": true }))
    })
}

/// `POST /{id}`: sets or removes the callback of a number, or edits a template.
pub(super) async fn configure(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    if let Some(edited) = management::edit(&world, &id, &request, &body) {
        return edited;
    }
    about_number(&world, &id, &request, |number| {
        let fields: Map<String, Value> = serde_json::from_slice(&body)
            .map_err(|_| GraphError::because(100, "the body is not a JSON object"))?;
        let Some(configuration) = fields.get("webhook_configuration").and_then(Value::as_object) else {
            return Err(GraphError::because(100, "webhook_configuration is required"));
        };
        match Callback::of(configuration)? {
            Some(callback) => {
                let receiver = world.outbox.receiver_of(number);
                callback
                    .aim(&world, receiver.as_deref(), |options| options.phone_number_id = Some(id.clone()))?;
                number.upkeep().callback = Some(callback.url);
            }
            None => {
                world.outbox.end_number(&id);
                number.upkeep().callback = None;
            }
        }
        Ok(json!({ "success": true }))
    })
}

/// An address with the token of its handshake.
struct Callback {
    url: String,
    verify_token: String,
}

impl Callback {
    /// `None` when the address is absent or empty, which removes it.
    fn of(fields: &Map<String, Value>) -> Result<Option<Self>, GraphError> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (url, verify_token) = (text("override_callback_uri"), text("verify_token"));
        if url.is_empty() {
            return Ok(None);
        }
        if !url::Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            return Err(GraphError::because(100, "override_callback_uri must be a web address"));
        }
        if verify_token.is_empty() {
            return Err(GraphError::because(100, "verify_token is required with override_callback_uri"));
        }
        Ok(Some(Self { url, verify_token }))
    }

    /// Sends the webhooks of a scope there, as the present receiver gets them. Without one there is no secret to sign
    /// with, and the callback is only shown.
    fn aim(
        &self,
        world: &World,
        receiver: Option<&Target>,
        scope: impl FnOnce(&mut ReceiptOptions),
    ) -> Result<(), GraphError> {
        let Some(receiver) = receiver else { return Ok(()) };
        let mut options = ReceiptOptions {
            url: self.url.clone(),
            verify_token: Some(self.verify_token.clone()),
            phone_number_id: None,
            waba_id: None,
            ..receiver.options.clone()
        };
        scope(&mut options);
        world.aim(options).map_err(|fault| GraphError::because(100, fault))
    }
}
