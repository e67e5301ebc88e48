//! Every code of the table is reached over HTTP, with its status and its exact body.

mod operator;
mod sends;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use pombo::domain::scope::{Scope, Scopes};
use pombo::engine::{Claim, Turn};
use pombo::error::{Class, Code};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::World;
use super::{contact_codes, webhook_codes};
use crate::harness::Answer;

const NUMBER: &str = "5511988887777";
/// An `Idempotency-Key` of an accepted request, and one of a request that is being carried out.
const USED: &str = "used";
const HELD: &str = "held";

/// A key that may be used for reading sends and channels only.
const READING_KEY: &str = "pombo_reads";

struct Case {
    code: Code,
    method: Method,
    path: String,
    key: Option<String>,
    /// The `Idempotency-Key`.
    once: Option<&'static str>,
    /// A text is sent as it is, anything else as JSON.
    body: Value,
}

/// Writes the cases of one company and one key.
struct Cases {
    key: String,
    cases: Vec<Case>,
}

impl Cases {
    fn add(&mut self, code: Code, method: Method, path: impl Into<String>, body: Value) {
        let key = Some(self.key.clone());
        self.cases.push(Case { code, method, path: path.into(), key, once: None, body });
    }

    fn post(&mut self, code: Code, path: &str, body: Value) {
        self.add(code, Method::POST, path, body);
    }

    fn get(&mut self, code: Code, path: impl Into<String>) {
        self.add(code, Method::GET, path, json!(""));
    }
}

fn cases(world: &World) -> Vec<Case> {
    let mut cases = Cases { key: world.acme.key.clone(), cases: Vec::new() };
    surface(world, &mut cases);
    business(world, &mut cases);
    templates(world, &mut cases);
    web(world, &mut cases);
    pairing(world, &mut cases);
    of_sends(world, &mut cases);
    hooks(world, &mut cases);
    cases.key.clone_from(&world.operator);
    operator::cases(world, &mut cases);
    cases.cases
}

fn hooks(world: &World, cases: &mut Cases) {
    let path = format!("/hooks/meta/{}", world.connected);
    cases.get(Code::InvalidVerifyToken, format!("{path}?hub.mode=subscribe&hub.challenge=7"));
    cases.post(Code::InvalidSignature, &path, json!({}));
    cases.post(Code::ChannelNotFound, &format!("/hooks/meta/{}", Uuid::nil()), json!({}));
    cases.get(Code::ChannelNotFound, format!("/hooks/meta/{}", world.web));
}

fn surface(world: &World, cases: &mut Cases) {
    let anonymous = |key: Option<&str>| Case {
        code: if key.is_some() { Code::InvalidApiKey } else { Code::InvalidAuthHeader },
        method: Method::GET,
        path: "/api/v1/contacts".to_owned(),
        key: key.map(str::to_owned),
        once: None,
        body: json!(""),
    };
    cases.cases.extend([anonymous(None), anonymous(Some("pombo_nobody"))]);
    cases.cases.push(Case {
        code: Code::RateLimited,
        key: Some(world.exhausted.key.clone()),
        ..anonymous(None)
    });
    cases.cases.push(Case {
        code: Code::InsufficientScope,
        key: Some(READING_KEY.to_owned()),
        ..anonymous(None)
    });
    cases.get(Code::NotFound, "/api/v1/nothing");
    cases.add(Code::MethodNotAllowed, Method::DELETE, "/api/v1/contacts", json!(""));
    cases.get(Code::InvalidPagination, "/api/v1/contacts?page=0");
    cases.get(Code::UnknownParameter, "/api/v1/contacts?serach=ana");
    cases.get(Code::UnknownParameter, "/api/v1/contacts?colour=red");
    cases.get(Code::RepeatedParameter, "/api/v1/contacts?page=1&page=2");
    cases.get(Code::InvalidField, "/api/v1/contacts?search=%ff");
    cases.get(Code::ChannelNotFound, format!("/api/v1/chat/{}/templates", Uuid::nil()));
    cases.get(Code::CredentialResourceMismatch, format!("/api/v1/chat/{}/templates", world.foreign));
}

fn business(world: &World, cases: &mut Cases) {
    let path = &World::send(world.connected);
    let tag = Uuid::nil().to_string();
    cases.post(Code::ChannelNotFound, &World::send("7"), json!({}));
    cases.post(Code::CredentialResourceMismatch, &World::send(world.foreign), json!({}));
    cases.add(Code::InvalidBody, Method::POST, path, json!([]));
    cases.add(Code::BodyTooLarge, Method::POST, path, json!(" ".repeat(16 * 1024 + 1)));
    cases.post(Code::UnknownField, path, json!({"type": "text", "mesage": "hi"}));
    cases.post(Code::MissingType, path, json!({}));
    cases.post(Code::InvalidType, path, json!({"type": "fax"}));
    cases.post(Code::MissingRecipient, path, json!({"type": "text"}));
    let mut to_one = |code, fields: Value| {
        let mut body = json!({"phone_number": NUMBER});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        cases.post(code, path, body);
    };
    to_one(Code::InvalidField, json!({"type": "text", "message": 7}));
    to_one(Code::MissingMessage, json!({"type": "text"}));
    to_one(Code::TextTooLong, json!({"type": "text", "message": "x".repeat(4097)}));
    to_one(Code::MissingLink, json!({"type": "image"}));
    to_one(Code::InvalidLink, json!({"type": "image", "link": "ftp://a.example/x"}));
    to_one(
        Code::LinkTooLong,
        json!({"type": "image", "link": format!("https://a.example/{}", "x".repeat(2048))}),
    );
    let caption = "x".repeat(1025);
    to_one(Code::CaptionTooLong, json!({"type": "image", "link": "https://a.example/x", "caption": caption}));
    to_one(Code::MissingTemplateId, json!({"type": "template"}));
    to_one(Code::InvalidTemplateIdFormat, json!({"type": "template", "template_id": "seven"}));
    to_one(Code::MissingComponents, json!({"type": "template", "template_id": 7}));
    to_one(Code::MissingInteractive, json!({"type": "interactive"}));
    to_one(Code::InvalidInteractive, json!({"type": "interactive", "interactive": {"type": "poll"}}));
    to_one(Code::MissingLocation, json!({"type": "location"}));
    to_one(Code::InvalidLocation, json!({"type": "location", "location": {"latitude": 91, "longitude": 0}}));
    to_one(Code::MissingContacts, json!({"type": "contacts"}));
    to_one(
        Code::InvalidContacts,
        json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "Ana"}}]}),
    );
    to_one(Code::MissingReaction, json!({"type": "reaction"}));
    to_one(
        Code::InvalidReaction,
        json!({"type": "reaction", "reaction": {"message_id": "wamid.x", "emoji": "ok"}}),
    );
    let numbers = ["5511988880001", "5511988880002", "5511988880003", "5511988880004"];
    cases.post(
        Code::TooManyRecipients,
        path,
        json!({"type": "text", "message": "x", "phone_number": numbers}),
    );
    let tags = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];
    cases.post(Code::TooManyTags, path, json!({"type": "text", "message": "x", "contact_tag_id": tags}));
    cases.post(Code::NoValidRecipients, path, json!({"type": "text", "message": "x", "contact_tag_id": tag}));
    let text = json!({"type": "text", "message": "x", "phone_number": NUMBER});
    cases.post(Code::ReconnectWaba, &World::send(world.disconnected), text);
    let past = "2023-11-14T22:13:20Z";
    let fields = json!({
        "type": "text", "message": "x", "phone_number": NUMBER, "send_at": past, "expires_at": past,
    });
    cases.post(Code::InvalidSchedule, path, fields);
}

fn of_sends(world: &World, cases: &mut Cases) {
    let path = &World::send(world.connected);
    cases.get(Code::SendNotFound, format!("/api/v1/sends/{}", world.foreign_send));
    for (code, once) in [
        (Code::InvalidIdempotencyKey, "two words"),
        (Code::IdempotencyKeyReused, USED),
        (Code::IdempotencyInProgress, HELD),
    ] {
        cases.post(code, path, json!({}));
        cases.cases.last_mut().unwrap().once = Some(once);
    }
}

fn templates(world: &World, cases: &mut Cases) {
    let path = &World::send(world.connected);
    let mut template = |code, id: i64, components: Value| {
        cases.post(
            code,
            path,
            json!({"type": "template", "phone_number": NUMBER, "template_id": id, "components": components}),
        );
    };
    template(Code::TemplateNotFound, 999_999, json!([]));
    template(Code::TemplateNotFound, world.foreign_template, json!([]));
    template(Code::TemplateNotApproved, world.rejected, json!([]));
    template(Code::InvalidComponents, world.approved, json!([]));
}

fn web(world: &World, cases: &mut Cases) {
    let path = &World::web_send(world.web);
    cases.post(Code::InvalidIdParam, &World::web_send("7"), json!({}));
    cases.post(Code::MissingType, path, json!({}));
    cases.post(Code::InvalidType, path, json!({"type": "template"}));
    cases.post(Code::MissingPhoneNumber, path, json!({"type": "text"}));
    cases.post(Code::MissingRecipientType, path, json!({"type": "text", "phone_number": NUMBER}));
    let fields = json!({"type": "text", "phone_number": NUMBER, "recipient_type": "list"});
    cases.post(Code::InvalidRecipientType, path, fields);
    let fields = json!({"type": "text", "phone_number": "12", "recipient_type": "number"});
    cases.post(Code::InvalidPhoneNumber, path, fields);
    let fields = json!({"type": "text", "phone_number": NUMBER, "recipient_type": "number", "message": "x"});
    cases.post(Code::SessionDisconnected, path, fields);
}

fn pairing(world: &World, cases: &mut Cases) {
    let path = format!("/api/v1/web-chat/{}/pairing", world.web);
    cases.get(Code::InvalidIdParam, "/api/v1/web-chat/7/pairing");
    cases.post(Code::InvalidBody, &path, json!([]));
    cases.post(Code::InvalidField, &path, json!({"phone_number": true}));
    cases.post(Code::InvalidPhoneNumber, &path, json!({"phone_number": "0800 1234"}));
    // This world has no driver of web sessions.
    cases.post(Code::FeatureUnavailable, &path, json!({}));
    cases.get(Code::FeatureUnavailable, path.as_str());
    cases.add(Code::FeatureUnavailable, Method::DELETE, path.clone(), json!(""));
    let passkey = format!("{path}/passkey");
    cases.get(Code::InvalidIdParam, "/api/v1/web-chat/7/pairing/passkey");
    cases.post(Code::InvalidBody, &passkey, json!([]));
    cases.post(Code::InvalidField, &passkey, json!({"assertion": {}}));
    cases.post(Code::InvalidField, &passkey, json!({"confirmed": false}));
    cases.post(Code::FeatureUnavailable, &passkey, json!({"confirmed": true}));
    cases.get(Code::FeatureUnavailable, passkey);
}

async fn answer(world: &World, case: &Case) -> Answer {
    let body = case.body.as_str().map_or_else(|| case.body.to_string(), str::to_owned);
    let request = world.service.request(case.method.clone(), &case.path).body(body);
    let request = match &case.key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    let request = match case.once {
        Some(once) => request.header("idempotency-key", once),
        None => request,
    };
    Answer::to(request).await
}

const fn status(code: Code) -> u16 {
    match code.class() {
        Class::Invalid => 400,
        Class::Unauthenticated => 401,
        Class::Forbidden => 403,
        Class::NotFound => 404,
        Class::Gone => 410,
        Class::MethodNotAllowed => 405,
        Class::TooSlow => 408,
        Class::Conflict => 409,
        Class::TooLarge => 413,
        Class::TooManyRequests => 429,
        Class::Unprocessable => 422,
        Class::NotBuilt => 501,
        Class::Unavailable => 503,
    }
}

/// Ids differ from run to run.
fn without_ids(text: &str) -> String {
    let is_id = |word: &&str| Uuid::try_parse(word).is_ok();
    let separators = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let ids: BTreeSet<_> = text.split(separators).filter(is_id).collect();
    ids.iter().fold(text.to_owned(), |text, id| text.replace(id, "ID"))
}

#[tokio::test]
async fn every_code_is_answered_with_its_status_and_its_exact_body() {
    let world = World::new().await;
    let mut unseen: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let mut bodies = String::new();
    let claim = Claim { key: HELD.to_owned(), fingerprint: [0; 32] };
    let Ok(Turn::First(_held)) = world.service.engine().claim(world.acme.id, claim).await else { panic!() };
    let canceled = sends::canceled_send(&world).await;
    world.service.add_scoped_key(world.acme.id, READING_KEY, Scopes::from_iter([Scope::Read])).await;
    let mut cases = Cases { key: world.acme.key.clone(), cases: cases(&world) };
    cases.post(Code::SendIsOver, &format!("/api/v1/sends/{canceled}/pause"), json!(""));
    let later = json!({"send_at": "2090-01-31T09:00:00Z"});
    cases.add(Code::SendHasBegun, Method::PATCH, sends::unscheduled_send(&world).await, later);
    cases.get(Code::MessageNotFound, format!("/api/v1/sends/{canceled}/messages/1"));
    cases.get(Code::MediaNotFound, format!("/api/v1/media/{}", Uuid::nil()));
    cases.get(Code::CursorExpired, "/api/v1/events?after=1");
    sends::of_values(&world, &mut cases).await;
    // As a retry holds it while it is accepted.
    let family = Claim { key: format!("retry {canceled}"), fingerprint: [0; 32] };
    let Ok(Turn::First(_family)) = world.service.engine().claim(world.acme.id, family).await else {
        panic!()
    };
    cases.post(Code::RetryInProgress, &format!("/api/v1/sends/{canceled}/retry"), json!({}));
    // The sentence names the place where the log begins: before a webhook endpoint gets it written.
    assert_eq!(world.service.get("/api/v1/events", &world.acme.key).await.status, 200);
    let others = contact_codes::cases(&world).await.into_iter().chain(webhook_codes::cases(&world).await);
    for (code, method, path, body) in others {
        cases.add(code, method, path, body);
    }
    for case in cases.cases {
        let answer = answer(&world, &case).await;
        let asked = format!("{} {}", case.method, without_ids(&case.path));
        assert_eq!(answer.code().as_deref(), Some(case.code.as_str()), "{asked}: {}", answer.body);
        assert_eq!(answer.status, status(case.code), "{asked}");
        assert_eq!(answer.json()["request_id"], answer.header("x-request-id"), "{asked}: {}", answer.body);
        assert!(answer.header("content-type").starts_with("application/json"), "{asked}");
        let challenge = if answer.status == 401 { "Bearer" } else { "" };
        assert_eq!(answer.header("www-authenticate"), challenge, "{asked}");
        writeln!(bodies, "{} {asked}\n    {}", answer.status, without_ids(&answer.body)).unwrap();
        unseen.remove(case.code.as_str());
    }
    let malformed = world.service.raw(b"GET / HTTP/9.9\r\n\r\n".to_vec()).await;
    assert_eq!((malformed.status, malformed.code().as_deref()), (400, Some("malformed_request")));
    unseen.remove("malformed_request");
    world.service.lose_database().await;
    let unavailable = world.service.get("/api/v1/contacts", &world.globex.key).await;
    assert_eq!((unavailable.status, unavailable.header("retry-after")), (503, "1"));
    assert_eq!(unavailable.code().as_deref(), Some("service_unavailable"));
    writeln!(bodies, "503 GET /api/v1/contacts\n    {}", without_ids(&unavailable.body)).unwrap();
    unseen.remove("service_unavailable");

    // Reached elsewhere: with a small library, a provider elsewhere, a session that is connected, a provider that answers, a
    // driver of web sessions, a body that is larger than this world's may be, a client that takes its time, and a company that
    // is disabled.
    for (code, expected) in [
        (Code::MediaUnavailable, 400),
        (Code::LinkNotAllowed, 400),
        (Code::MediaTooLarge, 400),
        (Code::MediaLibraryFull, 409),
        (Code::NoPublicAddress, 409),
        (Code::NotOnWhatsapp, 422),
        (Code::WindowClosed, 409),
        (Code::ConversationNotFound, 404),
        (Code::UserCannotAnswer, 409),
        (Code::ProviderRefused, 422),
        (Code::PasskeyNotExpected, 409),
        (Code::TooManyContacts, 400),
        (Code::BodyTooSlow, 408),
        (Code::CompanyDisabled, 403),
    ] {
        assert!(unseen.remove(code.as_str()), "{code} is reached by now");
        assert_eq!(status(code), expected);
    }

    assert!(unseen.is_empty(), "no case reaches {unseen:?}");
    insta::assert_snapshot!(bodies);
}

#[tokio::test]
async fn a_web_session_that_the_company_does_not_have_is_unknown_in_the_words_of_the_specification() {
    let world = World::new().await;
    for channel in [Uuid::nil(), world.foreign_web, world.connected] {
        let answer = world.service.post(&World::web_send(channel), &world.acme.key, "{}").await;
        assert_eq!((answer.status, answer.body.as_str()), (404, r#"{"message":"Unknown Channel"}"#));
    }
}

#[tokio::test]
async fn a_send_is_answered_with_its_queued_and_skipped_recipients() {
    let world = World::new().await;
    let body = json!({"type": "text", "message": "x", "phone_number": [NUMBER, "+55 11 98888-7777", "12"]});
    let answer = world.service.post(&World::send(world.connected), &world.acme.key, body.to_string()).await;
    assert_eq!(answer.status, 202);
    let mut json = answer.json();
    let send_id: Uuid = serde_json::from_value(json["send_id"].take()).unwrap();
    assert_eq!(send_id.get_version_num(), 7);
    assert_eq!(
        json,
        json!({
            "message": "Message queued for sending",
            "recipients_count": 1,
            "send_id": null,
            "skipped_count": 1,
            "skipped": [{"input": "12", "reason": "has fewer than 7 digits", "code": "invalid_number"}],
        })
    );
}
