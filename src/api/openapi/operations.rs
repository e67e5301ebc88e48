//! What the table of routes says of an operation: its callers, its group, and the failures that it shares with others.
//! Handlers describe what is their own.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::IntoResponses;

use super::failures::{AllowanceFailures, BodyFailures, Failures};
use crate::api::{Access, ROUTES};

/// The groups of operations, each with the beginning of its paths.
const GROUPS: [(&str, &str); 17] = [
    ("/api/v1/chat", "business account"),
    ("/api/v1/web-chat", "web session"),
    ("/api/v1/conversations", "conversations"),
    ("/api/v1/sends", "sends"),
    ("/api/v1/messages", "sends"),
    ("/api/v1/costs", "sends"),
    ("/api/v1/events", "events"),
    ("/api/v1/webhooks", "events"),
    ("/api/v1/contacts", "contacts"),
    ("/api/v1/quick-replies", "conversations"),
    ("/api/v1/automatic-answers", "conversations"),
    ("/api/v1/media", "media"),
    ("/media", "media"),
    ("/api/v1/numbers", "contacts"),
    ("/api/v1/suppressions", "contacts"),
    ("/hooks", "webhooks"),
    ("/operator", "operator"),
];
/// The group of all other paths.
const OTHERS: &str = "operation";

/// The headers with the allowance of a company, each with its description and an example.
const ALLOWANCE: [(&str, &str, &str); 2] = [
    (
        "RateLimit",
        "What is left of each allowance, and the seconds until it is whole again. Sent if the company's tier has \
         `api_requests`, and when a channel of web sessions refuses a message as too early.",
        r#""api";r=49;t=1"#,
    ),
    (
        "RateLimit-Policy",
        "Each allowance: how many, and in how many seconds. Sent with `RateLimit`.",
        r#""api";q=50;w=1"#,
    ),
];
/// The answers to callers who are not authenticated, or to a method that the path does not have: no company is known.
const WITHOUT_COMPANY: [&str; 2] = ["401", "405"];

/// Completes every operation. What a handler says itself stays.
pub(super) fn complete(document: &mut Value) {
    let shared = responses::<Failures>();
    let of_bodies = responses::<BodyFailures>();
    let of_allowance = responses::<AllowanceFailures>();
    for route in ROUTES {
        let path = document["paths"].get_mut(route.path);
        let Some(operation) = path.and_then(|path| path.get_mut(route.method.to_lowercase())) else {
            continue;
        };
        let group = GROUPS.iter().find(|(beginning, _)| route.path.starts_with(beginning));
        operation["tags"] = json!([group.map_or(OTHERS, |(_, group)| group)]);
        match route.access {
            Access::Company(_) | Access::CompanyOrSession => {}
            Access::Operator => operation["security"] = json!([{ "operator_key": [] }]),
            Access::Open => operation["security"] = json!([{}]),
        }
        let failures = (route.access != Access::Open).then_some(&shared);
        let of_body = operation.get("requestBody").map(|_| &of_bodies);
        let of_company = route.access.scope().map(|_| &of_allowance);
        for (status, response) in failures.into_iter().chain(of_body).chain(of_company).flatten() {
            let own = &mut operation["responses"][status];
            if own.is_null() {
                *own = response.clone();
            }
        }
    }
}

/// Adds the headers with the allowance of a company to the operations for companies, once they have all their answers.
pub(super) fn show_allowances(document: &mut Value) {
    for (name, description, example) in ALLOWANCE {
        document["components"]["headers"][name] =
            json!({ "description": description, "schema": { "type": "string", "examples": [example] } });
    }
    for route in ROUTES.iter().filter(|route| route.access.scope().is_some()) {
        let path = document["paths"].get_mut(route.path);
        if let Some(operation) = path.and_then(|path| path.get_mut(route.method.to_lowercase())) {
            show_allowance(&mut operation["responses"]);
        }
    }
}

/// Adds these headers to the answers that have them.
fn show_allowance(responses: &mut Value) {
    let responses = responses.as_object_mut().into_iter().flat_map(Map::iter_mut);
    for (_, response) in responses.filter(|(status, _)| !WITHOUT_COMPANY.contains(&status.as_str())) {
        for (name, ..) in ALLOWANCE {
            response["headers"][name] = json!({ "$ref": format!("#/components/headers/{name}") });
        }
    }
}

fn responses<T: IntoResponses>() -> BTreeMap<String, Value> {
    let described = T::responses().into_iter();
    described.map(|(status, response)| (status, serde_json::to_value(response).unwrap_or_default())).collect()
}
