//! Methods and paths: unknown ones, and HTTP's rules for known ones.

use pombo::api::ROUTES;
use reqwest::Method;

use super::world::World;
use crate::harness::Answer;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"];

async fn ask(world: &World, method: &str, path: &str) -> Answer {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    Answer::to(world.service.request(method, path)).await
}

/// The methods that a path answers, from all its rows of the table.
fn allow(path: &str) -> String {
    let methods = ROUTES.iter().filter(|route| route.path == path).map(|route| route.method);
    let mut methods: Vec<_> =
        methods.flat_map(|method| if method == "GET" { vec!["GET", "HEAD"] } else { vec![method] }).collect();
    methods.push("OPTIONS");
    methods.join(", ")
}

#[tokio::test]
async fn a_known_path_says_which_methods_it_answers() {
    let world = World::new().await;
    for route in ROUTES {
        let path = route.path.replace("{id}", &world.connected.to_string()).replace("{file}", "index.html");
        let path = path.replace("{name}", "standard");
        let allow = allow(route.path);
        for method in METHODS {
            let answer = ask(&world, method, &path).await;
            if method == "OPTIONS" {
                assert_eq!((answer.status, answer.header("allow")), (204, allow.as_str()), "{route:?}");
            } else if allow.split(", ").any(|allowed| allowed == method) {
                assert_ne!(answer.status, 405, "{method} {path}");
            } else {
                assert_eq!((answer.status, answer.header("allow")), (405, allow.as_str()), "{method} {path}");
                let code = (method != "HEAD").then(|| "method_not_allowed".to_owned());
                assert_eq!(answer.code(), code, "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_head_request_is_answered_like_a_get_without_its_body() {
    let world = World::new().await;
    for path in ["/healthz", "/api/v1/chat", "/api/v1/contacts", "/api/v1/contacts/tags?page=0"] {
        let got = world.service.get(path, &world.acme.key).await;
        let request = world.service.request(Method::HEAD, path).bearer_auth(&world.acme.key);
        let head = Answer::to(request).await;
        assert_eq!((head.status, head.body.as_str()), (got.status, ""), "{path}");
        assert_eq!(head.header("content-length"), got.body.len().to_string(), "{path}");
        assert_eq!(head.header("content-type"), got.header("content-type"), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_for_any_caller_and_any_method() {
    let world = World::new().await;
    let sends = World::send(world.connected);
    let paths =
        ["/api", "/api/v1/", "/api/v1/chat/", "/API/v1/chat", "/api/v1//chat", "/healthz/", "/docs//"];
    for path in paths.into_iter().chain([format!("{sends}/").as_str(), "/api/v1/%63hat/%00", "/%ff"]) {
        for method in METHODS {
            let answer = ask(&world, method, path).await;
            assert_eq!(answer.status, 404, "{method} {path}");
            if method != "HEAD" {
                assert_eq!(answer.code().as_deref(), Some("not_found"), "{method} {path}");
            }
        }
    }
}
