//! The reference describes exactly the routes that exist, and needs no network to be read.

use std::collections::BTreeSet;

use pombo::api::{Access, Options, ROUTES};
use pombo::domain::message::State;
use pombo::domain::outlook::Reason;
use pombo::domain::request::{self, Limits};
use pombo::domain::send::Stage;
use pombo::domain::tier::Tier;
use pombo::error::Code;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
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
                Access::Company(_) | Access::CompanyOrSession => Value::Null,
                Access::Operator => json!([{"operator_key": []}]),
                Access::Open => json!([{}]),
            };
            assert_eq!(operation["security"], security, "{path}");
            assert_eq!(operation["tags"] == json!(["operator"]), route.access == Access::Operator, "{path}");
            let open = route.access == Access::Open;
            let method = method.to_uppercase();
            let of_method = ROUTES.iter().find(|route| route.path == path && route.method == method).unwrap();
            let scope = of_method.access.scope();
            let sentence = operation["description"].as_str().unwrap_or_default();
            let needs = scope.is_some_and(|scope| sentence.contains(&format!("the scope `{scope}`")));
            assert_eq!(needs, scope.is_some(), "{method} {path}");
            let unauthenticated = operation["responses"].get("401").is_some();
            assert_eq!(unauthenticated, !open, "{path}");
            assert_eq!(operation["responses"].get("429").is_some(), scope.is_some(), "{path}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let has_allowance = scope.is_some() && !["401", "405"].contains(&status.as_str());
                for header in ["RateLimit", "RateLimit-Policy"] {
                    let reference = format!("#/components/headers/{header}");
                    let described = response["headers"][header]["$ref"] == reference;
                    assert_eq!(described, has_allowance, "{method} {path} {status}");
                    assert!(document["components"]["headers"][header]["description"].is_string());
                }
            }
        }
    }
    for scheme in ["api_key", "operator_key"] {
        assert_eq!(document["components"]["securitySchemes"][scheme]["scheme"], "bearer");
    }
    let is_page = |path: &str| path == "/" || path.starts_with("/docs") || path == "/openapi.json";
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
    let options: BTreeSet<_> = Tier::OPTIONS.iter().copied().chain(["updated_at"]).collect();
    for tier in ["Tier", "TierOptions"] {
        let described = document["components"]["schemas"][tier]["properties"].as_object().unwrap();
        assert_eq!(described.keys().map(String::as_str).collect::<BTreeSet<_>>(), options, "{tier}");
    }
}

#[test]
fn the_reference_lists_the_words_of_the_domain() {
    let schemas = &pombo::api::document()["components"]["schemas"];
    let words = |name: &str| schemas[name]["enum"].clone();
    assert_eq!(words("MessageState"), json!(State::ALL.map(State::as_str)));
    assert_eq!(words("SendState"), json!(Stage::ALL.map(Stage::as_str)));
    let reasons: Vec<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(words("WaitingReason"), json!(reasons));
    assert_eq!(words("MessageType"), json!(request::business_types().collect::<Vec<_>>()));
    assert_eq!(words("WebMessageType"), json!(request::web_types().collect::<Vec<_>>()));
    assert_eq!(words("SendType"), words("MessageType"));
    let counts = schemas["MessageCounts"]["properties"].as_object().unwrap().keys();
    let states = State::ALL.map(State::as_str);
    assert_eq!(counts.map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(states));
}

#[test]
fn the_reference_says_what_every_code_and_every_reason_means() {
    let schemas = &pombo::api::document()["components"]["schemas"];
    let description = |schema: &Value| schema["description"].as_str().unwrap().to_owned();
    let codes = description(&schemas["Error"]["properties"]["code"]);
    for code in Code::ALL {
        assert!(codes.contains(&format!("- `{code}`: {}", code.meaning())), "{code}");
    }
    let reasons = description(&schemas["WaitingReason"]);
    for reason in Reason::ALL {
        assert!(reasons.contains(&format!("- `{reason}`: {}", reason.meaning())), "{reason}");
    }
}

#[test]
fn fields_and_filters_that_take_words_refer_to_their_list() {
    let document = pombo::api::document();
    let named = |name: &str| json!(format!("#/components/schemas/{name}"));
    let schemas = &document["components"]["schemas"];
    for (schema, field, words) in
        [("BusinessSend", "type", "MessageType"), ("WebSend", "type", "WebMessageType")]
    {
        assert_eq!(schemas[schema]["properties"][field]["$ref"], named(words), "{schema}.{field}");
    }
    for (path, words) in [("/api/v1/sends", "SendState"), ("/api/v1/sends/{id}/messages", "MessageState")] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let state = parameters.iter().find(|parameter| parameter["name"] == "state").unwrap();
        assert_eq!(state["schema"]["$ref"], named(words), "{path}");
    }
}

/// The places in a schema that have no description.
fn vague(schema: &Value, path: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            let is = |kind: &str| match keywords.get("type") {
                Some(Value::Array(kinds)) => kinds.contains(&json!(kind)),
                only => only == Some(&json!(kind)),
            };
            let has = |keyword| keywords.contains_key(keyword);
            if is("object") && !has("properties") && !has("additionalProperties")
                || is("array") && !has("items")
            {
                found.push(path.to_owned());
            }
            for (keyword, value) in keywords.iter().filter(|(keyword, _)| !keyword.starts_with("example")) {
                vague(value, &format!("{path}/{keyword}"), found);
            }
        }
        Value::Array(schemas) => {
            for (index, schema) in schemas.iter().enumerate() {
                vague(schema, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_schema_is_described() {
    let mut found = Vec::new();
    vague(&pombo::api::document(), "", &mut found);
    assert_eq!(found, [""; 0]);
}

#[tokio::test]
async fn the_reference_has_the_bounds_that_are_configured() {
    let send = Limits { text_chars: 11, link_chars: 12, caption_chars: 13, phone_numbers: 14, tags: 15 };
    let options = Options { send, page_size: 5, search_chars: 7, ..Options::default() };
    let service = Service::start_with(options).await;
    let document = service.get("/openapi.json", "").await.json();
    let schemas = &document["components"]["schemas"];
    for send in ["BusinessSend", "WebSend"] {
        for (field, max) in [("message", 11), ("link", 12), ("caption", 13)] {
            assert_eq!(schemas[send]["properties"][field]["maxLength"], max, "{send} {field}");
        }
    }
    for (list, max) in [("Numbers", 14), ("Tags", 15)] {
        let kinds = schemas[list]["oneOf"].as_array().unwrap();
        assert!(kinds.iter().any(|kind| kind["maxItems"] == max), "{list}: {kinds:?}");
    }
    let (mut limits, mut searches) = (0, 0);
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap());
    for parameter in
        operations.flat_map(|(_, operation)| operation["parameters"].as_array().into_iter().flatten())
    {
        let schema = &parameter["schema"];
        assert!(!schema.to_string().contains("null"), "{parameter}");
        match parameter["name"].as_str() {
            Some("limit") => {
                assert_eq!((&schema["maximum"], &schema["default"]), (&json!(5), &json!(5)), "{parameter}");
                limits += 1;
            }
            Some("search") => {
                assert_eq!(schema["maxLength"], 7, "{parameter}");
                searches += 1;
            }
            _ => {}
        }
    }
    assert!(limits >= 7 && searches >= 5, "{limits} {searches}");
}

#[test]
fn an_optional_body_is_described_so_and_never_null() {
    let document = pombo::api::document();
    for path in ["/api/v1/web-chat/{id}/pairing", "/operator/v1/channels/{id}/reconnect"] {
        let body = &document["paths"][path]["post"]["requestBody"];
        assert_ne!(body["required"], true, "{path}");
        assert!(body["content"]["application/json"]["schema"]["$ref"].is_string(), "{body}");
    }
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
    let script = "/docs/swagger-ui-bundle.js";
    let plain = service.get(script, "").await;
    assert_eq!(plain.header("content-encoding"), "");
    assert!(plain.body.contains("SwaggerUIBundle"), "{} bytes", plain.body.len());
    let asked = service.request(Method::GET, script).header("accept-encoding", "gzip");
    let compressed = asked.send().await.unwrap();
    for (name, value) in [("content-encoding", "gzip"), ("vary", "accept-encoding")] {
        assert_eq!(compressed.headers()[name], value);
    }
    assert!(compressed.bytes().await.unwrap().len() < plain.body.len() / 2);
    assert_eq!(service.get("/docs/nothing.js", "").await.code().as_deref(), Some("not_found"));
}

#[tokio::test]
async fn disabled_pages_are_not_found() {
    let service = Service::start_with(Options { docs: false, ..Options::default() }).await;
    for path in ["/openapi.json", "/docs", "/docs/index.html", "/metrics"] {
        let answer = service.get(path, "").await;
        assert_eq!((answer.status, answer.code().as_deref()), (404, Some("not_found")), "{path}");
    }
}

/// Each accepted body is held to the reference as every one is.
#[tokio::test]
async fn structured_sends_accept_what_the_reference_describes() {
    let world = World::new().await;
    let text = |text: &str| json!({"text": text});
    let title = json!({"type": "text", "text": "Flavours"});
    let interactive = [
        json!({
            "type": "button", "header": title, "body": text("Will you come?"), "footer": text("Soon"),
            "action": {"buttons": [{"type": "reply", "reply": {"id": "yes", "title": "Yes"}}]},
        }),
        json!({
            "type": "list", "body": text("Choose"),
            "action": {"button": "Menu", "sections": [{"rows": [{"id": "1", "title": "Mint", "description": "Cold"}]}]},
        }),
        json!({
            "type": "product_list", "header": title, "body": text("Ours"),
            "action": {
                "catalog_id": "1",
                "sections": [{"title": "Ice", "product_items": [{"product_retailer_id": "a"}]}],
            },
        }),
        json!({"type": "product", "action": {"catalog_id": "1", "product_retailer_id": "a"}}),
        json!({
            "type": "cta_url", "header": title, "body": text("It is on its way"),
            "action": {"name": "cta_url", "parameters": {"display_text": "Track it", "url": "https://example.com/7"}},
        }),
        json!({"type": "location_request_message", "body": text("Where?"), "action": {"name": "send_location"}}),
    ];
    let interactive =
        interactive.map(|content| json!({"type": "interactive", "phone_number": 5_511_988_887_777_u64, "interactive": content}));
    let words = json!([{"type": "text", "text": "Ana"}, {"type": "text", "text": "7"}]);
    let template = json!({
        "type": "template", "phone_number": ["+55 11 98888-7777"], "template_id": world.approved,
        "components": [{"type": "body", "parameters": words}],
    });
    let own = [
        ("location", json!({"latitude": "-23.5", "longitude": -46.6, "name": "Sol", "address": "Rua 7"})),
        (
            "contacts",
            json!([{
                "name": {"formatted_name": "Ana", "first_name": "Ana"}, "birthday": "1990-12-31",
                "phones": [{"phone": "190", "type": "WORK"}], "org": {"company": "Acme"},
                "addresses": [{"city": "São Paulo", "type": "HOME"}], "urls": [{"url": "https://example.com"}],
                "emails": [{"email": "ana@example.com"}],
            }]),
        ),
        ("reaction", json!({"message_id": "wamid.HBg=", "emoji": ""})),
    ];
    let own =
        own.map(|(kind, content)| json!({"type": kind, "phone_number": "5511988887777", kind: content}));
    for body in interactive.into_iter().chain([template]).chain(own) {
        let sent = world.service.post(&World::send(world.connected), &world.acme.key, body.to_string()).await;
        assert!((200..300).contains(&sent.status), "{body}: {}", sent.body);
    }
}
