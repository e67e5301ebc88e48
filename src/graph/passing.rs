//! What is not for us and goes on to Meta (`graph.pass_through`): a few paths, of two kinds of callers.
//!
//! A request with a token of Meta's is about a number that stays there: it goes on with that token. A program whose base URL is
//! this service for all its numbers needs that. A request with a key of ours, about a business account that we have, goes on with
//! the token of its channel when the door has no row for it. A key never leaves this service.
//!
//! Nothing goes on that a company could lose its number by: no registration, PIN, migration, payment, token or receiver. Neither
//! do messages with a channel's token: they would pass by its limits and by those who opted out.

use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Data;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use serde_json::Value;

use super::GraphState;
use super::call::{Call, PROOF, pairs};
use super::key::{self, ACCESS_TOKEN};
use super::path::{GraphPath, UPLOAD};
use super::refusal::DoorRefusal;
use super::uploads::MOST;
use crate::domain::channel::Kind;
use crate::domain::secret::Secret;
use crate::engine::graph::{PassedAnswer, PassedRequest, pass_on};
use crate::surface::body::{Incoming, Peer, Sender};

/// What goes on for both kinds of callers: the method and the path, which begins with the id of a number or an account.
const OF_BOTH: &[(&str, &str)] = &[
    ("GET", "/{version}/{number}/block_users"),
    ("POST", "/{version}/{number}/block_users"),
    ("DELETE", "/{version}/{number}/block_users"),
    ("GET", "/{version}/{number}/message_qrdls"),
    ("POST", "/{version}/{number}/message_qrdls"),
    ("GET", "/{version}/{number}/message_qrdls/{code}"),
    ("DELETE", "/{version}/{number}/message_qrdls/{code}"),
    ("GET", "/{version}/{number}/call_permissions"),
    ("POST", "/{version}/{number}/calls"),
    ("GET", "/{version}/{account}/flows"),
    ("POST", "/{version}/{account}/flows"),
];
/// What goes on besides with a token of Meta's.
const OF_CALLERS: &[(&str, &str)] = &[
    ("POST", "/{version}/{number}/messages"),
    ("GET", "/{version}/{number}/whatsapp_business_profile"),
    ("POST", "/{version}/{number}/whatsapp_business_profile"),
    // Without these, a program that uploads its files, or has templates of its own, stops working for its numbers at Meta.
    ("POST", MEDIA),
    ("GET", "/{version}/{account}/message_templates"),
    ("POST", "/{version}/{account}/message_templates"),
    ("DELETE", "/{version}/{account}/message_templates"),
    ("GET", "/{version}/{account}/message_template_library"),
    ("GET", "/{version}/{account}/phone_numbers"),
    ("GET", "/{version}/{account}/subscribed_apps"),
    ("POST", "/{version}/{app}/uploads"),
    ("GET", "/{version}/{object}"),
];
/// Files that are uploaded to be sent.
const MEDIA: &str = "/{version}/{number}/media";
/// Meta's library of templates, which belongs to no account.
const LIBRARY: &str = "/{version}/message_template_library";
/// The beginning of Meta's tokens.
pub(super) const OF_META: &str = "EAA";
/// Parameters that stay here: those with keys and tokens, and those by which Meta takes a request for another one. `method`
/// makes a `GET` a change, `batch` is for requests to any path.
const STAYS: [&str; 5] = [ACCESS_TOKEN, PROOF, "input_token", "method", "batch"];

/// Whether Meta takes a parameter for that of this name: it reads `a[0]` and ` a` as `a`.
fn is_named(parameter: &str, name: &str) -> bool {
    parameter.split('[').next().unwrap_or_default().trim().eq_ignore_ascii_case(name)
}

/// Whether a parameter goes on, or a field of a body.
pub(super) fn goes_on(name: &str) -> bool {
    !STAYS.iter().any(|stays| is_named(name, stays))
}

/// Whether a list of fields asks for those of other objects, which a key for some channels may not see.
fn asks_for_others(name: &str, value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    is_named(name, "fields") && (value.contains('{') || value.contains(".fields("))
}

fn is_listed(rows: &[(&str, &str)], request: &HttpRequest) -> bool {
    let path = GraphPath::of(request.path());
    let is_plain = |segment: &&str| {
        segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let is_id = |segment: &str| !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let has_row = rows
        .iter()
        .any(|(method, row)| request.method().as_str() == *method && GraphPath::matches(row, request.path()));
    has_row && is_id(path.at(0)) && path.segments().iter().all(is_plain)
}

/// Whether a request is about a session of an upload, which was opened at Meta with the same token.
fn is_upload(request: &HttpRequest) -> bool {
    let path = GraphPath::of(request.path());
    let session = path.at(0).strip_prefix(UPLOAD).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=' | b'+');
    let is_session = !session.is_empty() && session.bytes().all(is_plain) && path.segments().len() == 1;
    is_session && matches!(request.method().as_str(), "GET" | "POST")
}

/// Whether a request searches the library of templates.
fn is_library(request: &HttpRequest) -> bool {
    *request.method() == Method::GET && GraphPath::matches(LIBRARY, request.path())
}

/// The token of Meta's with which a request goes on; `None` for one that is ours to answer.
pub(super) fn token_of(request: &HttpRequest) -> Option<Secret> {
    let state = request.app_data::<Data<GraphState>>()?;
    if !state.options.passes_through {
        return None;
    }
    let token = key::in_head(request.headers(), &pairs(request.query_string()))?;
    let is_of_meta = token.starts_with(OF_META) && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_known = is_listed(OF_BOTH, request) || is_listed(OF_CALLERS, request);
    let is_passed = is_known || is_upload(request) || is_library(request);
    (is_of_meta && is_passed).then(|| Secret::new(token))
}

/// Passes a request on with the token that it came with.
pub(super) async fn of_caller(
    request: &HttpRequest,
    body: Incoming,
    token: &Secret,
) -> Result<HttpResponse, DoorRefusal> {
    let state = request.app_data::<Data<GraphState>>().ok_or_else(DoorRefusal::internal)?.clone();
    let connected = request.peer_addr().map(|address| address.ip());
    let address = state.options.proxies.client(connected, request.headers()).address;
    let peer = Peer::new(Some(address));
    let is_change = request.method() == Method::POST;
    let takes_file = is_upload(request) && is_change;
    let has_file = takes_file || GraphPath::matches(MEDIA, request.path()) && is_change;
    request.extensions_mut().insert(if has_file { Sender::Program(peer) } else { Sender::Visitor(peer) });
    let whole = body.whole(if has_file { MOST } else { state.options.body_bytes }).await?;
    let offset = request.headers().get("file_offset").and_then(|offset| offset.to_str().ok()?.parse().ok());
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or(if takes_file { "application/octet-stream" } else { "application/json" });
    let bytes = Some(whole.bytes()).filter(|bytes| !bytes.is_empty());
    let (path, query) = (GraphPath::of(request.path()), pairs(request.query_string()));
    // Meta checks the proof of its own token.
    let query = query.iter().filter(|(name, _)| name == PROOF || goes_on(name));
    let passed = PassedRequest {
        method: request.method().as_str(),
        path: path.segments(),
        query: query.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        body: bytes.map(|bytes| (kind, bytes.clone())),
        file_offset: takes_file.then(|| offset.unwrap_or(0)),
    };
    let answer = pass_on(&state.engine, token, passed).await?;
    Ok(answered(answer))
}

/// Passes a request that the door has no row for on with the token of its channel.
pub(super) async fn of_channel(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    if !call.state.options.passes_through || !is_listed(OF_BOTH, &call.request) {
        return Err(call.unsupported());
    }
    let id = call.path.at(0).to_owned();
    let channel = match call.door().number(&id).await? {
        Some(_) => Some(call.number(&id).await?),
        None => call.account(&id).await?.channels.first().cloned(),
    };
    let channel = channel.filter(|channel| channel.kind == Kind::BusinessAccount);
    let channel = channel.ok_or_else(|| call.unsupported())?;
    let refused =
        || DoorRefusal::because(100, "`fields` may not ask for other objects: leave out the braces");
    if call.parameters().iter().any(|(name, value)| asks_for_others(name, value)) {
        return Err(refused());
    }
    let method = call.request.method().clone();
    // A form may have the key among its fields: what goes on is made of the others.
    let body = if method == "GET" {
        None
    } else {
        let (mut fields, _) = call.fields().await?;
        fields.map.retain(|name, _| goes_on(name));
        if fields.map.iter().any(|(name, value)| asks_for_others(name, &value.to_string())) {
            return Err(refused());
        }
        Some(("application/json", Value::Object(fields.map).to_string().into()))
    };
    let query = call.parameters().iter().filter(|(name, _)| {
        // The fields have the parameters, too.
        method == "GET" && goes_on(name)
    });
    let passed = PassedRequest {
        method: method.as_str(),
        path: call.path.segments(),
        query: query.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        body,
        file_offset: None,
    };
    let answer = call.door().pass_on(&call.who(), &channel, passed).await?;
    Ok(answered(with_token_of_channel(answer)?))
}

/// The provider's answer to a request with a channel's token, of which it has no trace.
pub(super) fn with_token_of_channel(answer: PassedAnswer) -> Result<PassedAnswer, DoorRefusal> {
    let PassedAnswer { status, body, retry_after } = answer;
    if status == 401 {
        // Programs take 401 for the end of their own key.
        let details = "Meta refuses the access token of the channel: reconnect it with another one";
        return Err(DoorRefusal::because(131_031, details));
    }
    Ok(PassedAnswer { status, body: without_links(&body), retry_after })
}

/// The provider's answer: the status, the body, and when to retry. Nothing else of it goes on.
pub(super) fn answered(answer: PassedAnswer) -> HttpResponse {
    let PassedAnswer { status, body, retry_after } = answer;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = HttpResponse::build(status);
    if let Some(seconds) = retry_after {
        response.insert_header((RETRY_AFTER, seconds));
    }
    response.content_type("application/json").body(body)
}

/// An answer without the addresses of other parts, which have the token in them. Programs go on by the cursors.
fn without_links(body: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut answer)) = serde_json::from_slice(body) else { return body.to_vec() };
    if let Some(Value::Object(paging)) = answer.get_mut("paging") {
        paging.remove("next");
        paging.remove("previous");
    }
    Value::Object(answer).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn listed(method: &str, path: &str) -> [bool; 2] {
        let request = TestRequest::with_uri(path).method(method.parse().unwrap()).to_http_request();
        [OF_BOTH, OF_CALLERS].map(|rows| is_listed(rows, &request))
    }

    #[test]
    fn nothing_goes_on_that_is_not_listed() {
        assert_eq!(listed("GET", "/v23.0/7/block_users"), [true, false]);
        assert_eq!(listed("DELETE", "/7/message_qrdls/4O4YGZEG3RIVE1"), [true, false]);
        assert_eq!(listed("POST", "/v23.0/7/messages"), [false, true]);
        assert_eq!(listed("GET", "/v23.0/7"), [false, true]);
        assert_eq!(listed("POST", "/v23.0/7/uploads"), [false, true]);
        assert_eq!(listed("POST", "/v23.0/7/media"), [false, true]);
        assert_eq!(listed("POST", "/v23.0/7/whatsapp_business_profile"), [false, true]);
        assert_eq!(listed("DELETE", "/7/message_templates?name=x"), [false, true]);
        for (method, path) in [
            ("POST", "/v23.0/7/register"),
            ("POST", "/v23.0/7/deregister"),
            ("POST", "/v23.0/7/request_code"),
            ("POST", "/v23.0/7/verify_code"),
            ("POST", "/v23.0/7"),
            ("DELETE", "/v23.0/7"),
            ("POST", "/v23.0/7/phone_numbers"),
            ("POST", "/v23.0/7/subscribed_apps"),
            ("GET", "/v23.0/7/payment_configurations"),
            ("POST", "/v23.0/7/marketing_messages"),
            ("GET", "/v23.0/oauth/access_token"),
            ("GET", "/v23.0/debug_token"),
            ("GET", "/v23.0/me"),
            ("DELETE", "/v23.0/7/media"),
            ("GET", "/v23.0/message_template_library"),
            ("GET", "/v23.0/7/message_qrdls/%2E%2E"),
            ("PUT", "/v23.0/7/block_users"),
        ] {
            assert_eq!(listed(method, path), [false, false], "{method} {path}");
        }
    }

    #[test]
    fn only_the_session_of_an_upload_is_taken_for_one() {
        for (method, path, is_one) in [
            ("POST", "/v23.0/upload:MTphdHRhY2g=?sig=AR", true),
            ("GET", "/upload:MTphdHRhY2g=", true),
            ("DELETE", "/v23.0/upload:MTphdHRhY2g=", false),
            ("POST", "/v23.0/upload:", false),
            ("POST", "/v23.0/upload:MTp/messages", false),
            ("POST", "/v23.0/upload:..%2F7", false),
            ("POST", "/v23.0/7", false),
        ] {
            let request = TestRequest::with_uri(path).method(method.parse().unwrap()).to_http_request();
            assert_eq!(is_upload(&request), is_one, "{method} {path}");
        }
    }

    #[test]
    fn the_library_is_searched_and_not_changed() {
        for (method, path, is_search) in [
            ("GET", "/v23.0/message_template_library?search=pix", true),
            ("GET", "/message_template_library/", true),
            ("POST", "/v23.0/message_template_library", false),
            ("GET", "/v23.0/7/message_template_library", false),
        ] {
            let request = TestRequest::with_uri(path).method(method.parse().unwrap()).to_http_request();
            assert_eq!(is_library(&request), is_search, "{method} {path}");
        }
    }

    #[test]
    fn fields_of_other_objects_are_found_in_every_form() {
        for fields in ["id,whatsapp_business_account{phone_numbers}", "whatsapp_business_account.fields(id)"]
        {
            assert!(asks_for_others("fields", fields) && asks_for_others(" Fields[0]", fields), "{fields}");
            assert!(!asks_for_others("name", fields), "{fields}");
        }
        for fields in ["id,name,status", "preview.invalidate(false)", "health_status.phone_number(7)"] {
            assert!(!asks_for_others("fields", fields), "{fields}");
        }
    }

    #[test]
    fn no_parameter_goes_on_that_makes_another_request_of_one() {
        for name in
            ["method", "METHOD", " method", "method[0]", "batch", "access_token", "input_token", PROOF]
        {
            assert!(!goes_on(name), "{name}");
        }
        for name in ["fields", "limit", "after", "messaging_product", "methods", ""] {
            assert!(goes_on(name), "{name}");
        }
    }

    #[test]
    fn the_token_in_the_address_of_another_part_stays_here() {
        let body = br#"{"data":[],"paging":{"cursors":{"after":"x"},"next":"https://graph.example?access_token=EAA1"}}"#;
        assert_eq!(without_links(body), br#"{"data":[],"paging":{"cursors":{"after":"x"}}}"#);
    }
}
