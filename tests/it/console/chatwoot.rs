//! A Chatwoot that tests play: it asks its base URL before it makes an inbox, and checks what its receiver gets.

use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use parking_lot::Mutex;
use pombo::connector::cloud_api::webhook::verify;
use pombo::domain::secret::Secret;
use serde_json::{Value, json};

/// The token of an administrator of one account, that of an administrator of two, and that of an agent.
pub(super) const ADMIN: &str = "token-of-an-administrator";
pub(super) const ADMIN_OF_TWO: &str = "token-of-two-accounts";
pub(super) const AGENT: &str = "token-of-an-agent";
/// The account of the administrator.
pub(super) const ACCOUNT: u64 = 3;

/// What it has and does.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// Its base URL; without one it asks somebody who does not know the key.
    pub(super) base: Option<String>,
    /// The settings of its inboxes, each with its number.
    pub(super) inboxes: Vec<(u64, Value)>,
    /// Whether an inbox has the number already.
    pub(super) is_taken: bool,
    /// Whether its receiver does not answer with the challenge.
    pub(super) is_deaf: bool,
    /// Whether its inboxes want to be connected again.
    pub(super) wants_reconnecting: bool,
    /// The bodies that its receiver took.
    pub(super) got: Vec<Value>,
}

/// It listens until it is dropped.
pub(super) struct Chatwoot {
    pub(super) url: String,
    pub(super) played: Arc<Mutex<Played>>,
    server: ServerHandle,
}

impl Chatwoot {
    /// With this base URL.
    pub(super) fn start(base: &str) -> Self {
        let played = Arc::new(Mutex::new(Played { base: Some(base.to_owned()), ..Played::default() }));
        let kept = Data::from(Arc::clone(&played));
        let app = move || {
            App::new()
                .app_data(kept.clone())
                .route("/api", web::get().to(about))
                .route("/api/v1/profile", web::get().to(profile))
                .route("/api/v1/accounts/{account}/inboxes", web::post().to(create))
                .route("/api/v1/accounts/{account}/inboxes/{inbox}", web::get().to(show))
                .route("/api/v1/accounts/{account}/inboxes/{inbox}", web::delete().to(remove))
                .route("/webhooks/whatsapp/{number}", web::get().to(challenge))
                .route("/webhooks/whatsapp/{number}", web::post().to(take))
        };
        let server = HttpServer::new(app).workers(1).disable_signals().bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", server.addrs()[0]);
        let server = server.run();
        let handle = server.handle();
        tokio::spawn(server);
        Self { url, played, server: handle }
    }

    /// The settings of its only inbox.
    pub(super) fn inbox(&self) -> Value {
        let played = self.played.lock();
        let [(_, inbox)] = &played.inboxes[..] else { panic!("{played:?}") };
        inbox.clone()
    }
}

impl Drop for Chatwoot {
    fn drop(&mut self) {
        // The command is given at once; nobody waits for its end.
        drop(self.server.stop(false));
    }
}

async fn about() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "version": "4.18.0", "queue_services": "ok", "data_services": "ok" }))
}

/// The accounts of a token with the roles there.
fn accounts(request: &HttpRequest) -> Vec<Value> {
    let account = |id: u64, name: &str, role: &str| json!({ "id": id, "name": name, "role": role });
    match request.headers().get("api_access_token").map(|token| token.to_str().unwrap()) {
        Some(ADMIN) => vec![account(ACCOUNT, "Shop", "administrator"), account(9, "Other", "agent")],
        Some(ADMIN_OF_TWO) => {
            vec![account(ACCOUNT, "Shop", "administrator"), account(4, "Depot", "administrator")]
        }
        Some(AGENT) => vec![account(ACCOUNT, "Shop", "agent")],
        _ => Vec::new(),
    }
}

fn is_administrator(request: &HttpRequest) -> bool {
    let account = request.match_info().get("account").unwrap().parse::<u64>().unwrap();
    accounts(request).iter().any(|known| known["id"] == account && known["role"] == "administrator")
}

async fn profile(request: HttpRequest) -> HttpResponse {
    match accounts(&request) {
        accounts if accounts.is_empty() => HttpResponse::Unauthorized().json(json!({ "error": "Invalid" })),
        accounts => HttpResponse::Ok().json(json!({ "id": 1, "name": "Ana", "accounts": accounts })),
    }
}

async fn create(played: Data<Mutex<Played>>, request: HttpRequest, body: Bytes) -> HttpResponse {
    if !is_administrator(&request) {
        return HttpResponse::Unauthorized().json(json!({ "error": "You are not authorized" }));
    }
    let inbox: Value = serde_json::from_slice(&body).unwrap();
    let base = played.lock().base.clone();
    let refused = |said: &str| HttpResponse::UnprocessableEntity().json(json!({ "message": said }));
    let Some(base) = base else { return refused("Provider config Invalid Credentials") };
    if !knows_the_number(&base, &inbox["channel"]["provider_config"]).await {
        return refused("Provider config Invalid Credentials");
    }
    let mut played = played.lock();
    if played.is_taken {
        return refused("Phone number has already been taken");
    }
    let id = 40 + played.inboxes.len() as u64;
    played.inboxes.push((id, inbox));
    HttpResponse::Ok().json(json!({ "id": id, "channel_type": "Channel::Whatsapp", "message_templates": [] }))
}

/// Asks the base URL as Chatwoot does when it checks the settings of an inbox.
async fn knows_the_number(base: &str, config: &Value) -> bool {
    let [key, number, account] = ["api_key", "phone_number_id", "business_account_id"]
        .map(|name| config[name].as_str().unwrap().to_owned());
    let client = reqwest::Client::new();
    let templates = format!("{base}/v14.0/{account}/message_templates?access_token={key}");
    if !client.get(templates).send().await.unwrap().status().is_success() {
        return false;
    }
    let numbers = format!("{base}/v14.0/{account}/phone_numbers?fields=id&limit=100");
    let numbers: Value = client.get(numbers).bearer_auth(key).send().await.unwrap().json().await.unwrap();
    numbers["data"].as_array().unwrap().iter().any(|known| known["id"] == number.as_str())
}

fn inbox_of(request: &HttpRequest) -> u64 {
    request.match_info().get("inbox").unwrap().parse().unwrap()
}

async fn show(played: Data<Mutex<Played>>, request: HttpRequest) -> HttpResponse {
    if !is_administrator(&request) {
        return HttpResponse::Unauthorized().json(json!({ "error": "You are not authorized" }));
    }
    let (id, played) = (inbox_of(&request), played.lock());
    if !played.inboxes.iter().any(|(known, _)| *known == id) {
        return HttpResponse::NotFound().json(json!({ "error": "Resource could not be found" }));
    }
    HttpResponse::Ok().json(json!({ "id": id, "reauthorization_required": played.wants_reconnecting }))
}

async fn remove(played: Data<Mutex<Played>>, request: HttpRequest) -> HttpResponse {
    if !is_administrator(&request) {
        return HttpResponse::Unauthorized().json(json!({ "error": "You are not authorized" }));
    }
    let id = inbox_of(&request);
    played.lock().inboxes.retain(|(known, _)| *known != id);
    HttpResponse::Ok()
        .json(json!({ "message": "Your inbox deletion request will be processed in some time." }))
}

/// The settings of the inbox of the number in the address.
fn addressed(played: &Played, request: &HttpRequest) -> Option<Value> {
    let number = request.match_info().get("number").unwrap();
    let mut inboxes = played.inboxes.iter().map(|(_, inbox)| &inbox["channel"]);
    inboxes
        .find(|channel| channel["phone_number"] == number)
        .map(|channel| channel["provider_config"].clone())
}

async fn challenge(played: Data<Mutex<Played>>, request: HttpRequest) -> HttpResponse {
    let played = played.lock();
    let Some(config) = addressed(&played, &request) else { return HttpResponse::NotFound().finish() };
    let query: Vec<_> = url::form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect();
    let given = |name: &str| query.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    if played.is_deaf || given("hub.verify_token").as_deref() != config["webhook_verify_token"].as_str() {
        return HttpResponse::Unauthorized().json(json!({ "error": "Error; wrong verify token" }));
    }
    HttpResponse::Ok().content_type("application/json").body(given("hub.challenge").unwrap())
}

async fn take(played: Data<Mutex<Played>>, request: HttpRequest, body: Bytes) -> HttpResponse {
    let mut played = played.lock();
    let Some(config) = addressed(&played, &request) else { return HttpResponse::NotFound().finish() };
    let secret = Secret::new(config["app_secret"].as_str().unwrap().to_owned());
    let signature = request.headers().get("x-hub-signature-256").map_or("", |value| value.to_str().unwrap());
    if !verify(&secret, &body, signature) {
        return HttpResponse::Unauthorized().finish();
    }
    played.got.push(serde_json::from_slice(&body).unwrap());
    HttpResponse::Ok().finish()
}
