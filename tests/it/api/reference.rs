//! The reference describes exactly the routes that exist, and needs no network to be read.

use std::collections::BTreeSet;

use pombo::api::{Access, Options, ROUTES};
use pombo::domain::tier::Tier;
use pombo::error::Code;
use serde_json::{Value, json};

use crate::harness::Service;

#[tokio::test]
async fn the_reference_has_every_route_that_clients_and_probes_may_use() {
    let service = Service::start().await;
    let answer = service.get("/openapi.json", "").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let document = answer.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let codes = document["components"]["schemas"]["Error"]["properties"]["code"]["enum"].as_array().unwrap();
    assert_eq!(codes.len(), Code::ALL.len());
    let (mut described, mut operations) = (BTreeSet::new(), BTreeSet::new());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert((method.to_uppercase(), path.clone()));
            assert!(operations.insert(operation["operationId"].to_string()), "{operation}");
            let route = ROUTES.iter().find(|route| route.path == path).unwrap();
            let security = match route.access {
                Access::Company => Value::Null,
                Access::Operator => json!([{"operator_key": []}]),
                Access::Open => json!([{}]),
            };
            assert_eq!(operation["security"], security, "{path}");
            assert_eq!(operation["tags"] == json!(["operator"]), route.access == Access::Operator, "{path}");
            let open = route.access == Access::Open;
            let unauthenticated = operation["responses"].get("401").is_some();
            assert_eq!(unauthenticated, !open, "{path}");
            assert_eq!(operation["responses"].get("429").is_some(), !open, "{path}");
        }
    }
    for scheme in ["api_key", "operator_key"] {
        assert_eq!(document["components"]["securitySchemes"][scheme]["scheme"], "bearer");
    }
    let is_page = |path: &str| path.starts_with("/docs") || path == "/openapi.json";
    let routes: BTreeSet<_> = ROUTES
        .iter()
        .filter(|route| !is_page(route.path))
        .map(|route| (route.method.to_owned(), route.path.to_owned()))
        .collect();
    assert_eq!(described, routes);
}

#[test]
fn the_reference_has_every_option_of_a_tier() {
    let document = serde_json::to_value(pombo::api::document()).unwrap();
    let described = document["components"]["schemas"]["Tier"]["properties"].as_object().unwrap();
    let described: BTreeSet<_> = described.keys().map(String::as_str).collect();
    let options: BTreeSet<_> = Tier::OPTIONS.iter().copied().chain(["updated_at"]).collect();
    assert_eq!(described, options);
}

#[tokio::test]
async fn the_page_is_served_whole_from_the_program() {
    let service = Service::start().await;
    assert_eq!(service.get("/docs", "").await.header("location"), "/docs/index.html");
    let page = service.get("/docs/index.html", "").await;
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(!page.body.contains("http://") && !page.body.contains("https://"), "{}", page.body);
    for reference in page.body.split(['"']).filter(|text| text.starts_with("./") || text.ends_with(".js")) {
        let file = service.get(&format!("/docs/{}", reference.trim_start_matches("./")), "").await;
        assert_eq!(file.status, 200, "{reference}");
    }
    assert!(service.get("/docs/swagger-initializer.js", "").await.body.contains("/openapi.json"));
    assert_eq!(service.get("/docs/nothing.js", "").await.code().as_deref(), Some("not_found"));
}

#[tokio::test]
async fn what_is_switched_off_is_not_there() {
    let service = Service::start_with(Options { docs: false, ..Options::default() }).await;
    for path in ["/openapi.json", "/docs", "/docs/index.html", "/metrics"] {
        let answer = service.get(path, "").await;
        assert_eq!((answer.status, answer.code().as_deref()), (404, Some("not_found")), "{path}");
    }
}
