//! QR codes of a number: each opens a chat with a text that the person only has to send.

use std::collections::BTreeMap;

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Map, Value, json};

use super::body::length;
use super::error::GraphError;
use super::graph::Parameters;
use super::phone::PhoneNumber;
use super::reply::{Verdict, about_number};
use super::world::World;

/// The most codes of a number, as at the provider.
const MOST: usize = 2_000;
/// The longest text of a code, in characters.
const LONGEST_TEXT: usize = 140;
/// Letters of a code.
const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// The length of a code.
const LETTERS_OF_CODE: usize = 14;

/// The codes of a number, each with its text.
#[derive(Debug, Default)]
pub(super) struct QrCodes {
    by_code: BTreeMap<String, String>,
}

/// `GET /{phone_number_id}/message_qrdls`.
pub(super) async fn list(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    handle(&world, &id, &request, |number| {
        let upkeep = number.upkeep();
        let codes: Vec<_> =
            upkeep.qr_codes.by_code.iter().map(|(code, text)| shown(code, text, None)).collect();
        Ok(json!({ "data": codes }))
    })
}

/// `POST /{phone_number_id}/message_qrdls`: creates a code, or gives the one that is named another text.
pub(super) async fn write(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    handle(&world, &id, &request, |number| {
        let fields: Map<String, Value> = serde_json::from_slice(&body).unwrap_or_default();
        // Clients write the fields into the query or into the body.
        let text = |name: &str| {
            query.get(name).map(String::as_str).or_else(|| fields.get(name)?.as_str()).map(str::to_owned)
        };
        let message = text("prefilled_message").filter(|message| !message.is_empty());
        let message = message.ok_or_else(|| GraphError::because(100, "prefilled_message is required"))?;
        length("prefilled_message", &message, LONGEST_TEXT)?;
        let image = text("generate_qr_image").map(|image| image.to_ascii_uppercase());
        if image.as_ref().is_some_and(|image| image != "SVG" && image != "PNG") {
            return Err(GraphError::because(100, "generate_qr_image must be SVG or PNG"));
        }
        let mut upkeep = number.upkeep();
        let codes = &mut upkeep.qr_codes.by_code;
        let code = match text("code") {
            Some(code) if codes.contains_key(&code) => code,
            Some(code) => return Err(GraphError::unknown_object(&code)),
            None if codes.len() >= MOST => {
                return Err(GraphError::because(100, format!("a number has at most {MOST} QR codes")));
            }
            None => new_code(),
        };
        codes.insert(code.clone(), message.clone());
        Ok(shown(&code, &message, image.as_deref()))
    })
}

/// `GET /{phone_number_id}/message_qrdls/{code}`.
pub(super) async fn show(
    world: Data<World>,
    path: Path<(String, String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id, code) = path.into_inner();
    handle(&world, &id, &request, |number| {
        let upkeep = number.upkeep();
        let text = upkeep.qr_codes.by_code.get(&code).ok_or_else(|| GraphError::unknown_object(&code))?;
        Ok(json!({ "data": [shown(&code, text, None)] }))
    })
}

/// `DELETE /{phone_number_id}/message_qrdls/{code}`.
pub(super) async fn delete(
    world: Data<World>,
    path: Path<(String, String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id, code) = path.into_inner();
    handle(&world, &id, &request, |number| {
        let removed = number.upkeep().qr_codes.by_code.remove(&code);
        removed.map(|_| json!({ "success": true })).ok_or_else(|| GraphError::unknown_object(&code))
    })
}

fn handle(
    world: &World,
    id: &str,
    request: &HttpRequest,
    judge: impl FnOnce(&PhoneNumber) -> Verdict,
) -> HttpResponse {
    about_number(world, id, request, |number| {
        number.account.spare(world.now())?;
        judge(number)
    })
}

fn shown(code: &str, text: &str, image: Option<&str>) -> Value {
    let mut shown = json!({
        "code": code, "prefilled_message": text, "deep_link_url": format!("https://wa.me/message/{code}"),
    });
    if let Some(image) = image {
        let kind = image.to_ascii_lowercase();
        shown["qr_image_url"] = format!("https://example.com/qr/{code}.{kind}").into();
    }
    shown
}

fn new_code() -> String {
    let letter = |_| char::from(LETTERS[usize::from(rand::random::<u8>()) % LETTERS.len()]);
    (0..LETTERS_OF_CODE).map(letter).collect()
}
