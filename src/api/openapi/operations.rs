//! What the table of routes says of an operation: its callers, its group, and the failures that it shares with others.
//! Handlers describe what is their own.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::IntoResponses;

use crate::api::error::ErrorBody;
use crate::api::schema::Failures;
use crate::api::{Access, ROUTES};

/// The failures of a request with a body.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
enum BodyFailures {
    /// `body_too_slow`
    #[response(status = 408)]
    TooSlow(ErrorBody<'static>),
    /// `body_too_large`
    #[response(status = 413)]
    TooLarge(ErrorBody<'static>),
}

/// The groups of operations, each with the beginning of its paths.
const GROUPS: [(&str, &str); 6] = [
    ("/api/v1/chat", "business account"),
    ("/api/v1/web-chat", "web session"),
    ("/api/v1/sends", "sends"),
    ("/api/v1/contacts", "contacts"),
    ("/hooks", "webhooks"),
    ("/operator", "operator"),
];
/// The group of all other paths.
const OTHERS: &str = "operation";

/// Completes every operation. What a handler says itself stays.
pub(super) fn complete(document: &mut Value) {
    let shared = responses::<Failures>();
    let of_bodies = responses::<BodyFailures>();
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
        for (status, response) in failures.into_iter().chain(of_body).flatten() {
            let own = &mut operation["responses"][status];
            if own.is_null() {
                *own = response.clone();
            }
        }
    }
}

fn responses<T: IntoResponses>() -> BTreeMap<String, Value> {
    let described = T::responses().into_iter();
    described.map(|(status, response)| (status, serde_json::to_value(response).unwrap_or_default())).collect()
}
