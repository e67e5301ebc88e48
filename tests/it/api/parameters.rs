//! Query parameters: only those of the reference, each once, and a flag with a value. A mistyped one never sends.

use pombo::api::{Access, ROUTES, Route};
use reqwest::Method;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::past_send::FIRST;
use super::world::World;
use crate::harness::Answer;

/// The path with some id for each variable segment.
fn filled(path: &str) -> String {
    let id = Uuid::nil().to_string();
    let segment = |segment: &str| if segment.starts_with('{') { id.clone() } else { segment.to_owned() };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

async fn ask(world: &World, route: &Route, query: &str, key: Option<&str>) -> Answer {
    let method: Method = route.method.parse().unwrap();
    let request = world.service.request(method, &format!("{}?{query}", filled(route.path))).body("{}");
    Answer::to(match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    })
    .await
}

/// The routes for companies and operators, each with a key.
fn routes(world: &World) -> impl Iterator<Item = (&'static Route, &str)> {
    ROUTES.iter().filter_map(|route| match route.access {
        Access::Company(_) | Access::CompanyOrSession => Some((route, world.acme.key.as_str())),
        Access::Operator => Some((route, world.operator.as_str())),
        Access::Open => None,
    })
}

#[tokio::test]
async fn every_route_refuses_an_unknown_parameter_once_it_knows_its_caller() {
    let world = World::new().await;
    for (route, key) in routes(&world) {
        let refused = ask(&world, route, "nonsense=1", Some(key)).await;
        let told = refused.json();
        assert_eq!((refused.status, &told["code"]), (400, &json!("unknown_parameter")), "{route:?}: {told}");
        assert_eq!(told["param"], "nonsense", "{route:?}");
        let stranger = ask(&world, route, "nonsense=1", None).await;
        assert_eq!((stranger.status, stranger.code().as_deref()), (401, Some("invalid_auth_header")));
    }
    for open in ["/healthz?nonsense=1", "/openapi.json?nonsense=1"] {
        assert_eq!(world.service.get(open, "").await.status, 200, "{open}");
    }
}

#[tokio::test]
async fn every_parameter_of_the_reference_is_known_and_taken_once_unless_it_is_a_list() {
    let world = World::new().await;
    let document = pombo::api::document();
    let mut tried = 0;
    for (route, key) in routes(&world) {
        let operation = &document["paths"][route.path][route.method.to_lowercase()];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let is_list = |parameter: &Value| parameter["schema"]["type"].to_string().contains("array");
        let names: Vec<_> = parameters
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| (parameter["name"].as_str().unwrap(), is_list(parameter)))
            .collect();
        for (name, is_list) in names {
            let known = ask(&world, route, &format!("{name}="), Some(key)).await;
            assert_ne!(known.code().as_deref(), Some("unknown_parameter"), "{route:?} {name}");
            let twice = ask(&world, route, &format!("{name}=1&{name}=1"), Some(key)).await;
            assert_eq!(
                twice.code().as_deref() == Some("repeated_parameter"),
                !is_list,
                "{route:?} {name}: {}",
                twice.body
            );
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
    let head = world.service.request(Method::HEAD, "/api/v1/contacts?page=1&limit=1");
    assert_eq!(Answer::to(head.bearer_auth(&world.acme.key)).await.status, 200);
}

#[tokio::test]
async fn no_spelling_of_a_dry_run_sends() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let text = json!({"type": "text", "message": "x", "phone_number": FIRST.to_string()});
    let web = json!({
        "type": "text", "message": "x", "phone_number": FIRST.to_string(), "recipient_type": "number",
    });
    for (path, body) in [(World::send(world.connected), text), (World::web_send(world.web), web)] {
        for (query, code, words) in [
            ("dryrun=true", "unknown_parameter", "did you mean `dry_run`?"),
            ("Dry_Run=true", "unknown_parameter", "did you mean `dry_run`?"),
            ("dry-run", "unknown_parameter", "did you mean `dry_run`?"),
            ("dry_run", "invalid_field", "`dry_run` has no value: give true or false"),
            ("dry_run=", "invalid_field", "`dry_run` has no value: give true or false"),
            ("dry_run=yes", "invalid_field", "`dry_run` must be true or false"),
            ("dry_run=true&dry_run=false", "repeated_parameter", "`dry_run` is given more than once"),
        ] {
            let refused = service.post(&format!("{path}?{query}"), key, body.to_string()).await;
            assert_eq!(refused.code().as_deref(), Some(code), "{query}: {}", refused.body);
            assert!(refused.body.contains(words), "{query}: {}", refused.body);
        }
        for name in ["dry_run", "dryRun"] {
            let mut with_flag: Map<String, Value> = body.as_object().unwrap().clone();
            with_flag.insert(name.to_owned(), json!(true));
            let refused = service.post(&path, key, Value::from(with_flag).to_string()).await;
            let told = refused.json();
            assert_eq!((&told["code"], &told["param"]), (&json!("unknown_field"), &json!(name)), "{told}");
            assert!(told["error"].as_str().unwrap().contains("add `?dry_run=true` to the path"), "{told}");
        }
    }
    let sends = service.get("/api/v1/sends", key).await.json();
    assert_eq!(sends["totalRecords"], 0, "{sends}");
}

#[tokio::test]
async fn a_refusal_names_the_parameter_or_the_field_at_fault_and_the_request() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let of = async |path: &str, param: Value| {
        let refused = service.get(path, key).await;
        let told = refused.json();
        assert_eq!((refused.status, &told["param"]), (400, &param), "{path}: {told}");
        assert_eq!(told["request_id"], refused.header("x-request-id"), "{path}");
    };
    of("/api/v1/contacts?limit=0", json!("limit")).await;
    of("/api/v1/contacts?search=%ff", json!("search")).await;
    of("/api/v1/sends?state=gone", json!("state")).await;
    of("/api/v1/sends?from=soon", json!("from")).await;
    of("/api/v1/contacts?colour=red", json!("colour")).await;
    for (body, param) in [
        (json!({"phone_number": "1"}), json!("type")),
        (json!({"type": "text", "phone_number": "1", "message": 7}), json!("message")),
        (json!({"type": "text", "message": "x"}), Value::Null),
        (
            json!({"type": "interactive", "phone_number": "1", "interactive": {"type": "button", "body": {}}}),
            json!("interactive.body.text"),
        ),
        (
            json!({"type": "template", "phone_number": "1", "template_id": 999_999, "components": []}),
            json!("template_id"),
        ),
    ] {
        let refused = service.post(&World::send(world.connected), key, body.to_string()).await;
        let told = refused.json();
        assert_eq!(told.get("param").cloned().unwrap_or_default(), param, "{body}: {told}");
        assert_eq!(told["request_id"], refused.header("x-request-id"), "{told}");
    }
    let lost = service.get("/api/v1/nothing", key).await;
    assert_eq!(lost.json()["request_id"], lost.header("x-request-id"));
    let own = service.request(Method::GET, "/api/v1/contacts").header("x-request-id", "order-7");
    assert_eq!(Answer::to(own).await.json()["request_id"], "order-7");
}
