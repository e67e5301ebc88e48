//! Every route, with every kind of caller that must not get in.

use pombo::api::{Access, ROUTES, Route};
use reqwest::Method;
use reqwest::header::HeaderValue;

use super::world::{EXPIRED_KEY, REVOKED_KEY, World};
use crate::harness::Answer;

/// The paths without a key: those that anybody may read, and the provider's, which it signs. Everything else is
/// a company's.
const OPEN: [&str; 8] = [
    "/hooks/meta/{id}",
    "/hooks/meta/{id}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/docs/{file}",
];

/// How the route answers a company about something that is another company's.
fn seen_from_outside(route: &Route) -> (u16, &'static str) {
    match (route.method, route.path) {
        ("GET", "/api/v1/chat" | "/api/v1/web-chat" | "/api/v1/contacts" | "/api/v1/contacts/tags") => {
            (200, r#"{"data":[],"currentPage":1,"totalPages":0,"totalRecords":0}"#)
        }
        ("GET", "/api/v1/chat/{id}/templates") | ("POST", "/api/v1/chat/{id}/messages") => {
            (403, "credential_resource_mismatch")
        }
        ("POST", "/api/v1/web-chat/{id}/messages") => (404, "Unknown Channel"),
        other => panic!("say here how {other:?} looks to another company"),
    }
}

/// The path with the globex company's channel in it.
fn path(world: &World, route: &Route) -> String {
    let channel = if route.path.contains("web-chat") { world.foreign_web } else { world.foreign };
    route.path.replace("{id}", &channel.to_string()).replace("{file}", "index.html")
}

async fn ask(world: &World, route: &Route, authorization: &[&[u8]]) -> Answer {
    let method = Method::from_bytes(route.method.as_bytes()).unwrap();
    let mut request = world.service.request(method, &path(world, route)).body("{}");
    for value in authorization {
        request = request.header("authorization", HeaderValue::from_bytes(value).unwrap());
    }
    Answer::read(request.send().await.unwrap()).await
}

#[tokio::test]
async fn no_route_of_a_company_answers_without_a_valid_key() {
    let world = World::new().await;
    let valid = format!("Bearer {}", world.globex.key);
    let valid = valid.as_bytes();
    let strangers: [(&[&[u8]], &str); 11] = [
        (&[], "invalid_auth_header"),
        (&[b""], "invalid_auth_header"),
        (&[b"Bearer"], "invalid_auth_header"),
        (&[b"Bearer "], "invalid_auth_header"),
        (&[b"Basic cG9tYm86"], "invalid_auth_header"),
        (&[b"Bearer two words"], "invalid_auth_header"),
        (&[b"Bearer \xff\xfe"], "invalid_auth_header"),
        (&[valid, valid], "invalid_auth_header"),
        (&[b"Bearer pombo_nobody"], "invalid_api_key"),
        (&[&[b"Bearer ", REVOKED_KEY.as_bytes()].concat()], "invalid_api_key"),
        (&[&[b"Bearer ", EXPIRED_KEY.as_bytes()].concat()], "invalid_api_key"),
    ];
    for route in ROUTES.iter().filter(|route| route.access == Access::Company) {
        for (authorization, code) in strangers {
            let answer = ask(&world, route, authorization).await;
            assert_eq!((answer.status, answer.code().as_deref()), (401, Some(code)), "{route:?}");
            assert_eq!(answer.header("www-authenticate"), "Bearer", "{route:?}");
        }
        let lower = format!("bearer {}", world.globex.key);
        assert_ne!(ask(&world, route, &[lower.as_bytes()]).await.status, 401, "{route:?}");
    }
}

#[tokio::test]
async fn no_route_of_a_company_shows_what_is_another_company_s() {
    let world = World::new().await;
    let outsider = world.service.company("outsider").await;
    let key = format!("Bearer {}", outsider.key);
    for route in ROUTES.iter().filter(|route| route.access == Access::Company) {
        let (status, sign) = seen_from_outside(route);
        let answer = ask(&world, route, &[key.as_bytes()]).await;
        assert_eq!(answer.status, status, "{route:?}: {}", answer.body);
        assert!(answer.body.contains(sign), "{route:?}: {}", answer.body);
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
            "/docs" => 302,
            // Neither the channel's word nor its signature is there.
            "/hooks/meta/{id}" => 403,
            // Not configured in this world.
            "/metrics" => 404,
            _ => 200,
        };
        assert_eq!(answer.status, expected, "{route:?}");
    }
}
