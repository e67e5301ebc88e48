//! Every route, with every kind of caller that it must refuse.

use std::sync::Arc;

use pombo::api::{Access, Measures, Options, ROUTES, Route};
use pombo::domain::scope::{Scope, Scopes};
use reqwest::Method;
use reqwest::header::HeaderValue;

use super::world::{EXPIRED_KEY, EXPIRED_OPERATOR, REVOKED_KEY, REVOKED_OPERATOR, World};
use crate::harness::{Answer, Service};

/// The paths without a key: those that anybody may read, the provider's, which it signs, and files, whose addresses are
/// signed. Everything else is a company's or an operator's.
const OPEN: [&str; 11] = [
    "/hooks/meta/{id}",
    "/media/{id}",
    "/hooks/meta/{id}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/docs/",
    "/docs/{file}",
    "/",
];

/// The route's answer to a company about another company's record.
fn seen_from_outside(route: &Route) -> (u16, &'static str) {
    match (route.method, route.path) {
        (
            "GET",
            "/api/v1/chat"
            | "/api/v1/web-chat"
            | "/api/v1/sends"
            | "/api/v1/contacts"
            | "/api/v1/contacts/imports"
            | "/api/v1/contacts/tags"
            | "/api/v1/media"
            | "/api/v1/contacts/fields"
            | "/api/v1/suppressions",
        ) => (200, r#"{"data":[],"currentPage":1,"totalPages":0,"totalRecords":0}"#),
        (
            "GET",
            "/api/v1/webhooks"
            | "/api/v1/contacts/segments"
            | "/api/v1/conversations"
            | "/api/v1/quick-replies",
        ) => (200, r#"{"data":[]}"#),
        // The body's faults are answered first.
        ("POST", "/api/v1/conversations/{id}/notes")
        | ("PATCH", "/api/v1/conversations/{id}/notes/{note}") => (400, "invalid_field"),
        ("DELETE", "/api/v1/conversations/{id}/notes/{note}") => (404, "note_not_found"),
        (_, path) if path.starts_with("/api/v1/conversations/{id}") => (404, "conversation_not_found"),
        (
            "POST",
            "/api/v1/webhooks" | "/api/v1/webhooks/{id}/deliveries/resend" | "/api/v1/webhooks/{id}/verify",
        ) => (400, "invalid_field"),
        (_, path) if path.starts_with("/api/v1/webhooks/{id}") => (404, "webhook_not_found"),
        ("GET", "/api/v1/costs") => (200, r#""data":[]}"#),
        ("GET", "/api/v1/messages") => (400, "missing_recipient"),
        ("GET", "/api/v1/events") => (200, r#"{"data":[],"next_cursor":"#),
        (_, path) if path.starts_with("/api/v1/sends/{id}") => (404, "send_not_found"),
        // The body's faults are answered first, without a look at the other company's record.
        (
            "POST",
            "/api/v1/contacts/batch"
            | "/api/v1/contacts/tags/batch"
            | "/api/v1/contacts/segments"
            | "/api/v1/contacts/fields"
            | "/api/v1/contacts/{id}/notes"
            | "/api/v1/contacts/{id}/merge",
        )
        | ("POST", "/api/v1/contacts/tags/{id}/members") => (400, "invalid_field"),
        ("POST", "/api/v1/suppressions") => (400, "invalid_field"),
        ("POST", "/api/v1/numbers/check") => (400, "missing_phone_number"),
        ("GET", "/api/v1/suppressions/{number}") => (400, "invalid_phone_number"),
        ("DELETE", "/api/v1/suppressions/{number}") => (404, "suppression_not_found"),
        ("POST", "/api/v1/contacts/imports") => (201, "ready"),
        ("POST", "/api/v1/media") => (201, "text/plain"),
        (_, "/api/v1/media/{id}") => (404, "media_not_found"),
        ("POST", "/api/v1/quick-replies") => (400, "invalid_field"),
        (_, "/api/v1/quick-replies/{id}") => (404, "quick_reply_not_found"),
        (_, "/api/v1/automatic-answers") => (200, r#""stop_text":null"#),
        (_, path) if path.starts_with("/api/v1/contacts/imports/{id}") => (404, "import_not_found"),
        (_, path) if path.starts_with("/api/v1/contacts/tags/{id}") => (404, "tag_not_found"),
        (_, path) if path.starts_with("/api/v1/contacts/segments/{id}") => (404, "segment_not_found"),
        (_, path) if path.starts_with("/api/v1/contacts/fields/{id}") => (404, "field_not_found"),
        (_, path) if path.starts_with("/api/v1/contacts/{id}") => (404, "contact_not_found"),
        (
            "GET",
            "/api/v1/chat/{id}/templates" | "/api/v1/chat/{id}/template-library" | "/api/v1/chat/{id}/limits",
        )
        | ("GET" | "PATCH", "/api/v1/chat/{id}/profile")
        | ("GET" | "PUT", "/api/v1/chat/{id}/window-rule")
        | ("POST", "/api/v1/chat/{id}/templates")
        | ("GET" | "PATCH" | "DELETE", "/api/v1/chat/{id}/templates/{template}")
        | ("POST", "/api/v1/chat/{id}/messages") => (403, "credential_resource_mismatch"),
        (_, path) if path.starts_with("/api/v1/web-chat/{id}/templates") => (404, "channel_not_found"),
        (_, path) if path.starts_with("/api/v1/web-chat/{id}/") => (404, "Unknown Channel"),
        other => panic!("say here how {other:?} looks to another company"),
    }
}

/// The path with the globex company's channel or send in it.
fn path(world: &World, route: &Route) -> String {
    let id = match route.path {
        path if path.contains("web-chat") => world.foreign_web,
        path if path.contains("sends") => world.foreign_send,
        path if path.contains("contacts/imports") => world.foreign_import,
        path if path.contains("contacts/tags") => world.foreign_tag,
        path if path.contains("contacts") => world.foreign_contact,
        path if path.contains("conversations") => world.foreign_conversation,
        path if path.contains("webhooks") => world.foreign_webhook,
        _ => world.foreign,
    };
    route
        .path
        .replace("{id}", &id.to_string())
        .replace("{file}", "index.html")
        .replace("{name}", "standard")
        .replace("{date}", "2026-10-01")
        .replace("{ordinal}", "0")
        .replace("{key}", "7")
        .replace("{note}", "7")
        .replace("{template}", "7")
        .replace("{number}", "7")
}

async fn ask(world: &World, route: &Route, authorization: &[&[u8]]) -> Answer {
    let method = Method::from_bytes(route.method.as_bytes()).unwrap();
    let mut request = world.service.request(method, &path(world, route)).body("{}");
    for value in authorization {
        request = request.header("authorization", HeaderValue::from_bytes(value).unwrap());
    }
    Answer::to(request).await
}

/// Callers without a valid key, each with the code of their refusal.
fn strangers(key: &str) -> Vec<(Vec<Vec<u8>>, &'static str)> {
    let bearer = |key: &str| format!("Bearer {key}").into_bytes();
    let mut strangers: Vec<_> = [
        vec![],
        vec![b"".to_vec()],
        vec![b"Bearer".to_vec()],
        vec![b"Bearer ".to_vec()],
        vec![b"Basic cG9tYm86".to_vec()],
        vec![b"Bearer two words".to_vec()],
        vec![b"Bearer \xff\xfe".to_vec()],
        vec![bearer(key), bearer(key)],
    ]
    .into_iter()
    .map(|values| (values, "invalid_auth_header"))
    .collect();
    let known = ["pombo_nobody", REVOKED_KEY, EXPIRED_KEY, REVOKED_OPERATOR, EXPIRED_OPERATOR];
    strangers.extend(known.map(|key| (vec![bearer(key)], "invalid_api_key")));
    strangers
}

/// Whether a company's key opens the route.
fn is_company_s(route: &Route) -> bool {
    route.access.scope().is_some()
}

/// Asks every route of one kind with the wrong keys and with the right one.
async fn only_opens_to(world: &World, is_its: impl Fn(&Route) -> bool, key: &str, other_kind: &str) {
    let mut strangers = strangers(key);
    strangers.push((vec![format!("Bearer {other_kind}").into_bytes()], "invalid_api_key"));
    for route in ROUTES.iter().filter(|route| is_its(route)) {
        for (authorization, code) in &strangers {
            let values: Vec<&[u8]> = authorization.iter().map(Vec::as_slice).collect();
            let answer = ask(world, route, &values).await;
            assert_eq!((answer.status, answer.code().as_deref()), (401, Some(*code)), "{route:?}");
            assert_eq!(answer.header("www-authenticate"), "Bearer", "{route:?}");
        }
        let lower = format!("bearer {key}");
        assert_ne!(ask(world, route, &[lower.as_bytes()]).await.status, 401, "{route:?}");
    }
}

#[tokio::test]
async fn no_route_of_a_company_answers_without_a_valid_key_of_a_company() {
    let world = World::new().await;
    only_opens_to(&world, is_company_s, &world.globex.key, &world.operator).await;
}

#[tokio::test]
async fn no_route_of_an_operator_answers_without_a_valid_key_of_an_operator() {
    let world = World::new().await;
    let is_operators = |route: &Route| route.access == Access::Operator;
    only_opens_to(&world, is_operators, &world.operator, &world.globex.key).await;
}

#[tokio::test]
async fn every_route_below_operator_is_an_operator_s_and_no_other_is() {
    for route in ROUTES {
        assert_eq!(route.access == Access::Operator, route.path.starts_with("/operator/"), "{route:?}");
    }
}

#[tokio::test]
async fn no_route_of_a_company_shows_another_company_s_records() {
    let world = World::with_webhook().await;
    let outsider = world.service.company("outsider").await;
    let key = format!("Bearer {}", outsider.key);
    for route in ROUTES.iter().filter(|route| is_company_s(route)) {
        let (status, sign) = seen_from_outside(route);
        let answer = ask(&world, route, &[key.as_bytes()]).await;
        assert_eq!(answer.status, status, "{route:?}: {}", answer.body);
        assert!(answer.body.contains(sign), "{route:?}: {}", answer.body);
    }
}

#[tokio::test]
async fn each_route_of_a_company_needs_its_scope_and_no_other() {
    let world = World::with_webhook().await;
    let keys = Scope::ALL.map(|scope| (scope, format!("pombo_only_{scope}")));
    for (scope, key) in &keys {
        world.service.add_scoped_key(world.globex.id, key, Scopes::from_iter([*scope])).await;
    }
    let nothing = "pombo_for_nothing";
    world.service.add_scoped_key(world.globex.id, nothing, Scopes::from_iter([])).await;
    for route in ROUTES.iter().filter(|route| is_company_s(route)) {
        for (scope, key) in &keys {
            let answer = ask(&world, route, &[format!("Bearer {key}").as_bytes()]).await;
            let is_refused = answer.code().as_deref() == Some("insufficient_scope");
            assert_eq!(
                is_refused,
                route.access.scope() != Some(*scope),
                "{route:?} {scope}: {}",
                answer.body
            );
            assert_eq!(is_refused, is_refused && answer.status == 403, "{route:?} {scope}");
        }
        let answer = ask(&world, route, &[format!("Bearer {nothing}").as_bytes()]).await;
        assert_eq!(answer.code().as_deref(), Some("insufficient_scope"), "{route:?}");
    }
}

#[tokio::test]
async fn only_probes_the_reference_and_webhooks_are_open() {
    let open: Vec<_> =
        ROUTES.iter().filter(|route| route.access == Access::Open).map(|route| route.path).collect();
    assert_eq!(open, OPEN);
    let world = World::new().await;
    for route in ROUTES.iter().filter(|route| route.access == Access::Open) {
        let answer = ask(&world, route, &[]).await;
        let expected = match route.path {
            "/docs" | "/docs/" => 302,
            // The request has neither the channel's verify token nor its signature.
            "/hooks/meta/{id}" => 403,
            // The address is not signed.
            "/media/{id}" => 404,
            // Metrics are not configured in this world.
            "/metrics" => 404,
            _ => 200,
        };
        assert_eq!(answer.status, expected, "{route:?}");
    }
}

#[tokio::test]
async fn a_path_whose_fixed_parts_are_encoded_is_no_path() {
    let measures = Measures { detail: 0, render: Arc::new(|_| String::new()) };
    let options = Options { metrics: Some(measures), ..Options::default() };
    let service = Service::start_with(options).await;
    let operator = service.operator("ops", None).await;
    for (plain, encoded) in [
        ("/metrics", "/%6detrics"),
        ("/operator/v1/tiers", "/%6fperator/v1/tiers"),
        ("/operator/v1/tiers", "/operator/v1/tier%73"),
        ("/openapi.json", "/openapi%2Ejson"),
        ("/healthz", "/health%7a"),
    ] {
        let raw = async |path: &str| {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {operator}\r\n\r\n");
            service.raw(request.into_bytes()).await.status
        };
        assert_eq!((raw(plain).await, raw(encoded).await), (200, 404), "{encoded}");
    }
}

#[tokio::test]
async fn answers_about_a_company_are_kept_by_no_cache_and_pages_run_nothing_from_elsewhere() {
    let world = World::new().await;
    for (path, key) in [("/api/v1/contacts", &world.globex.key), ("/operator/v1/changes", &world.operator)] {
        assert_eq!(world.service.get(path, key).await.header("cache-control"), "no-store", "{path}");
        assert_eq!(world.service.get(path, "nobody").await.header("cache-control"), "no-store", "{path}");
    }
    for path in ["/docs/index.html", "/console/sign-in"] {
        let request = world.service.request(Method::GET, path).header("accept", "text/html");
        let page = Answer::read(request.send().await.unwrap()).await;
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
    }
}

#[tokio::test]
async fn the_root_leads_a_browser_to_the_console_and_tells_a_program_where_to_look() {
    let world = World::new().await;
    let ask = async |accept: &str| {
        let request = world.service.request(Method::GET, "/").header("accept", accept);
        Answer::read(request.send().await.unwrap()).await
    };
    let led = ask("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8").await;
    assert_eq!((led.status, led.header("location")), (303, "/console"));
    let directory: serde_json::Value = serde_json::from_str(&ask("*/*").await.body).unwrap();
    for (name, path) in [("docs", "/docs"), ("openapi", "/openapi.json"), ("readiness", "/readyz")] {
        assert_eq!(directory[name], path);
    }
}
