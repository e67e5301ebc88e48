//! Answers in the provider's form: its headers, trace ids and errors, and closed connections.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::account::Account;
use super::error::GraphError;
use super::phone::PhoneNumber;
use super::send::bearer;
use super::world::World;

const APP_USAGE: HeaderName = HeaderName::from_static("x-app-usage");
const BUSINESS_USAGE: HeaderName = HeaderName::from_static("x-business-use-case-usage");
const TRACE: HeaderName = HeaderName::from_static("x-fb-trace-id");

/// The result of a handler: a body or a refusal.
pub(super) type Verdict = Result<Value, GraphError>;

/// The answer for a verdict. `account` is absent while the account is unknown.
pub(super) fn answer(world: &World, account: Option<&Account>, verdict: &Verdict) -> HttpResponse {
    let trace = trace();
    let mut reply = match verdict {
        Ok(_) => HttpResponse::Ok(),
        Err(error) => HttpResponse::build(error.status(world.options.throttle_status)),
    };
    let now = world.now();
    reply.insert_header((APP_USAGE, world.app.app_usage(now)));
    if let Some(account) = account {
        reply.insert_header((BUSINESS_USAGE, account.usage(now)));
    }
    if let Ok(value) = HeaderValue::from_str(&trace) {
        reply.insert_header((TRACE, value));
    }
    reply.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json; charset=UTF-8")));
    match verdict {
        Ok(body) => reply.body(body.to_string()),
        Err(error) => reply.body(error.body(&trace).to_string()),
    }
}

/// Answers a request about the account of this id, if the token may see it and its budget is not spent.
pub(super) fn about_account(
    world: &World,
    waba_id: &str,
    request: &HttpRequest,
    judge: impl FnOnce(&Account) -> Verdict,
) -> HttpResponse {
    let token = bearer(request);
    match world.admit(token).and_then(|()| world.account(token, waba_id)) {
        Ok(account) => answer(world, Some(&account), &judge(&account)),
        Err(error) => answer(world, None, &Err(error)),
    }
}

/// Answers a request about the number of this id, if the token may see it.
pub(super) fn about_number(
    world: &World,
    id: &str,
    request: &HttpRequest,
    judge: impl FnOnce(&PhoneNumber) -> Verdict,
) -> HttpResponse {
    let token = bearer(request);
    match world.admit(token).and_then(|()| world.number(token, id)) {
        Ok(number) => answer(world, Some(&number.account), &judge(&number)),
        Err(error) => answer(world, None, &Err(error)),
    }
}

/// Status 200 and a body that is not JSON, as from a faulty proxy between the provider and its client.
pub(super) fn garbled() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json; charset=UTF-8").body("{\"messaging_product\":\"what")
}

/// A proxy's page instead of the provider's answer.
pub(super) fn bad_gateway() -> HttpResponse {
    let page = "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>";
    HttpResponse::BadGateway().content_type("text/html").body(page)
}

/// No answer at all: the connection is closed before a byte of it is written.
pub(super) fn severed() -> HttpResponse {
    HttpResponse::Ok().body(Severed)
}

fn trace() -> String {
    format!("A{}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; 16]>()))
}

/// A body that fails at once. The server writes head and body together, so that the client sees
/// the connection close and nothing else.
struct Severed;

impl MessageBody for Severed {
    type Error = io::Error;

    fn size(&self) -> BodySize {
        BodySize::Sized(1)
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Poll::Ready(Some(Err(io::Error::other("the script closes this connection"))))
    }
}
