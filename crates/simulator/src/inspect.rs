//! `/_sim/…`: the simulator's own surface, for tests and people. The provider has no such surface, and it
//! needs no token.

use std::collections::{BTreeMap, HashMap};

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Path, Query};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::figures::NumberFigures;
use super::log::Filter;
use super::options::ReceiptOptions;
use super::seed::Seed;
use super::switch;
use super::world::World;

pub(super) const PAGE: usize = 100;
const LARGEST_PAGE: usize = 10_000;

/// 400 with a sentence.
pub(super) fn refusal(sentence: &str) -> HttpResponse {
    HttpResponse::BadRequest().json(json!({ "error": sentence }))
}

fn done(result: Result<(), String>) -> HttpResponse {
    match result {
        Ok(()) => HttpResponse::Ok().json(json!({ "success": true })),
        Err(fault) => refusal(&fault),
    }
}

pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("the body is not understood: {error}"))
}

/// `GET /_sim/numbers`: the figures of all numbers.
pub(super) async fn numbers(world: Data<World>) -> HttpResponse {
    let figures: Vec<NumberFigures> =
        world.directory.read().numbers().map(|number| number.figures()).collect();
    HttpResponse::Ok().json(json!({ "data": figures }))
}

/// `GET /_sim/numbers/{phone_number_id}`.
pub(super) async fn number(world: Data<World>, id: Path<String>) -> HttpResponse {
    match world.directory.read().number(&id) {
        Some(number) => HttpResponse::Ok().json(number.figures()),
        None => absent(&id),
    }
}

/// `GET /_sim/numbers/{phone_number_id}/recipients?above=&limit=`: the recipients of more than `above`
/// messages, with their numbers of messages. Without `above`, all recipients.
pub(super) async fn recipients(
    world: Data<World>,
    id: Path<String>,
    query: Query<HashMap<String, String>>,
) -> HttpResponse {
    let (above, limit) = match (count(&query, "above", 0), count(&query, "limit", PAGE as u64)) {
        (Ok(above), Ok(limit)) => (above, limit),
        (Err(fault), _) | (_, Err(fault)) => return refusal(&fault),
    };
    let Some(number) = world.directory.read().number(&id).cloned() else { return absent(&id) };
    let all = number.recipients(u32::try_from(above).unwrap_or(u32::MAX));
    let limit = usize::try_from(limit).unwrap_or(LARGEST_PAGE).clamp(1, LARGEST_PAGE);
    let shown: BTreeMap<&String, &u32> = all.iter().take(limit).collect();
    HttpResponse::Ok().json(json!({ "total": all.len(), "data": shown }))
}

/// `GET /_sim/numbers/{phone_number_id}/timeline`: accepted messages per tenth of a second.
pub(super) async fn timeline(world: Data<World>, id: Path<String>) -> HttpResponse {
    match world.directory.read().number(&id) {
        Some(number) => HttpResponse::Ok().json(number.timeline()),
        None => absent(&id),
    }
}

fn absent(id: &str) -> HttpResponse {
    HttpResponse::NotFound().json(json!({ "error": format!("there is no number {id}") }))
}

/// A whole number among the parameters.
pub(super) fn count(query: &HashMap<String, String>, name: &str, absent: u64) -> Result<u64, String> {
    let given = query.get(name).map_or(Ok(absent), |text| text.parse::<u64>());
    given.map_err(|_| format!("{name} must be a whole number"))
}

/// `GET /_sim/messages?phone_number_id=&to=&after=&limit=`: accepted messages, the oldest kept first.
/// `next` is the `after` of the next page, or null. With `newest=true`, the last ones.
pub(super) async fn messages(world: Data<World>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let (after, limit) = match (count(&query, "after", 0), count(&query, "limit", PAGE as u64)) {
        (Ok(after), Ok(limit)) => (after, limit),
        (Err(fault), _) | (_, Err(fault)) => return refusal(&fault),
    };
    let digits = |to: &String| to.trim_start_matches(['+', ' ']).to_owned();
    let filter = Filter {
        phone_number_id: query.get("phone_number_id").cloned(),
        to: query.get("to").map(digits),
        after,
        limit: usize::try_from(limit).unwrap_or(LARGEST_PAGE).clamp(1, LARGEST_PAGE),
    };
    if query.get("newest").is_some_and(|newest| newest == "true") {
        return HttpResponse::Ok().json(json!({ "data": world.log.newest(filter), "next": null }));
    }
    let (data, next) = world.log.page(&filter);
    HttpResponse::Ok().json(json!({ "data": data, "next": next }))
}

/// `POST /_sim/script`.
pub(super) async fn script(world: Data<World>, body: Bytes) -> HttpResponse {
    done(read::<Value>(&body).and_then(|script| switch::apply(&world, &script)))
}

/// `GET /_sim/script`: the rules in force with their progress.
pub(super) async fn script_progress(world: Data<World>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "data": world.script.progress() }))
}

/// `DELETE /_sim/script`: ends all rules; switches stay as they are.
pub(super) async fn end_script(world: Data<World>) -> HttpResponse {
    world.script.clear();
    done(Ok(()))
}

/// `POST /_sim/accounts`: adds what a [`Seed`] describes.
pub(super) async fn accounts(world: Data<World>, body: Bytes) -> HttpResponse {
    done(read::<Seed>(&body).and_then(|seed| world.directory.write().add(seed)))
}

/// `POST /_sim/reset`: resets the simulator.
pub(super) async fn reset(world: Data<World>) -> HttpResponse {
    done(world.reset())
}

/// `POST /_sim/webhook`: sets the receiver of webhooks ([`ReceiptOptions`]), also of outstanding ones.
pub(super) async fn aim(world: Data<World>, body: Bytes) -> HttpResponse {
    done(read::<ReceiptOptions>(&body).and_then(|options| world.aim(options)))
}

/// `GET /_sim/webhook`: the receivers of webhooks, and the outcomes.
pub(super) async fn receipts(world: Data<World>) -> HttpResponse {
    HttpResponse::Ok().json(world.outbox.figures())
}

/// `DELETE /_sim/webhook`: creates no more webhooks; outstanding ones wait until a receiver is set again.
pub(super) async fn stop_receipts(world: Data<World>) -> HttpResponse {
    world.outbox.stop();
    done(Ok(()))
}
