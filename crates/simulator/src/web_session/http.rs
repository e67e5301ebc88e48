//! `/phone/…`: the phone that the devices are linked to, for tests and people.

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Query};
use serde::Deserialize;
use serde_json::{Value, json};

use super::device::{self, Scanned};
use crate::inspect::{self, count, refusal};
use crate::world::World;
use domain::phone::PhoneNumber;

/// A code that the phone uses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scan {
    /// The text of a QR code, or a code to be typed.
    code: String,
    /// The phone's number; without it, the simulator's own.
    phone_number: Option<String>,
    /// Whether its account is protected by a passkey, which WhatsApp asks for before it links the device.
    #[serde(default)]
    passkey: bool,
}

/// A challenge that the passkey has to sign.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Challenged {
    /// As the service shows it.
    challenge: Value,
}

/// `POST /phone/scan`: links the device that shows this code.
pub(crate) async fn scan(world: Data<World>, body: Bytes) -> HttpResponse {
    let Scan { code, phone_number, passkey } = match inspect::read(&body) {
        Ok(scan) => scan,
        Err(fault) => return refusal(&fault),
    };
    let number = match phone_number.as_deref().map(PhoneNumber::parse).transpose() {
        Ok(number) => number,
        Err(fault) => return refusal(&format!("phone_number {fault}")),
    };
    // People type codes with a hyphen in the middle, and in small letters.
    let typed = code.replace(['-', ' '], "").to_uppercase();
    let code = if code.contains('@') { code } else { typed };
    match world.web_sessions.scan(device::Scan { code, number, has_passkey: passkey }).await {
        Some(Scanned { number, device_name }) => {
            let phone_number = format!("+{number}");
            HttpResponse::Ok().json(json!({ "phone_number": phone_number, "device": device_name }))
        }
        None => HttpResponse::NotFound().json(json!({
            "error": "no device shows this code: it was used, a newer one has taken its place, or it never was one; \
                      scan the newest"
        })),
    }
}

/// `POST /phone/passkey`: signs a challenge with the passkey of the phone's account. The answer has the form that a
/// browser gives it, and is the body that the service takes.
pub(crate) async fn sign(world: Data<World>, body: Bytes) -> HttpResponse {
    let signed =
        inspect::read(&body).map(|Challenged { challenge }| world.web_sessions.passkey.sign(&challenge));
    match signed {
        Ok(Some(assertion)) => HttpResponse::Ok().json(json!({ "assertion": assertion })),
        Ok(None) => {
            refusal("`challenge` has no text `challenge` in it: give it whole, as the service shows it")
        }
        Err(fault) => refusal(&fault),
    }
}

/// `GET /phone/messages?to=&limit=`: messages that were sent through web sessions, the newest last.
pub(crate) async fn messages(world: Data<World>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let limit = match count(&query, "limit", inspect::PAGE as u64) {
        Ok(limit) => usize::try_from(limit).unwrap_or(usize::MAX).max(1),
        Err(fault) => return refusal(&fault),
    };
    let to = query.get("to").map(|to| to.trim_start_matches(['+', ' ']));
    HttpResponse::Ok().json(json!({ "data": world.web_sessions.inbox.newest(to, limit) }))
}
