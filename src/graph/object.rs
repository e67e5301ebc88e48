//! `/{object}`: what stands behind an id decides what it is. Other kinds of objects get their place in these three functions.

use actix_web::HttpResponse;
use serde_json::{Map, Value};

use super::call::Call;
use super::path::UPLOAD;
use super::refusal::DoorRefusal;
use super::{account, media, number, templates, token, uploads};
use crate::domain::graph::media_of;

/// Shows an object.
pub(super) async fn show(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let id = call.path.at(0);
    if let Some(file) = media_of(id) {
        return media::show(&call, file).await;
    }
    if call.door().number(id).await?.is_some() {
        let channel = call.number(id).await?;
        return number::show(&call, &channel).await;
    }
    if id.starts_with(UPLOAD) {
        return uploads::show(&call);
    }
    if let Some(found) = templates::find(&call, id).await? {
        return Ok(templates::show(&call, found.template));
    }
    if call.door().is_app(id).await? {
        return Ok(HttpResponse::Ok().json(asked(&call, token::app_record(&call).await?)));
    }
    let account = call.account(id).await?;
    account::show(&call, &account)
}

/// Changes an object.
pub(super) async fn change(call: Call) -> Result<HttpResponse, DoorRefusal> {
    if call.path.at(0).starts_with(UPLOAD) {
        return uploads::take(call).await;
    }
    if let Some(found) = templates::find(&call, call.path.at(0)).await? {
        return templates::written::change(call, found).await;
    }
    let channel = call.number(call.path.at(0)).await?;
    number::change(call, &channel).await
}

/// Deletes an object: files alone.
pub(super) async fn delete(call: Call) -> Result<HttpResponse, DoorRefusal> {
    match media_of(call.path.at(0)) {
        Some(file) => media::delete(&call, file).await,
        None => Err(call.unsupported()),
    }
}

/// The fields that a program asks for, with the `id`; all that there are when it names none.
pub(super) fn asked(call: &Call, all: Map<String, Value>) -> Map<String, Value> {
    let Some(fields) = call.parameter("fields") else { return all };
    let (mut names, mut depth, mut begin) = (Vec::new(), 0_usize, 0);
    // Fields of fields are in braces, and choices in parentheses.
    for (place, byte) in fields.bytes().enumerate() {
        match byte {
            b'{' | b'(' => depth += 1,
            b'}' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                names.push(&fields[begin..place]);
                begin = place + 1;
            }
            _ => {}
        }
    }
    names.push(&fields[begin..]);
    let plain = |name: &str| name.split(['{', '(', '.']).next().unwrap_or_default().trim().to_owned();
    let names: Vec<_> = names.into_iter().map(plain).collect();
    all.into_iter().filter(|(name, _)| name == "id" || names.contains(name)).collect()
}
