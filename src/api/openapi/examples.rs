//! Examples of request bodies: at least one for each body, and one for each type of message. A test sends them.
//!
//! Ids, links and numbers are made up: a client puts its own in their place.

use std::collections::BTreeMap;

use serde_json::Value;

/// The examples by their operations, such as `post /api/v1/media`, in the form of the document.
const EXAMPLES: &str = include_str!("examples.json");

/// Adds the examples to their bodies.
pub(super) fn add(document: &mut Value) {
    let all: BTreeMap<String, Value> = serde_json::from_str(EXAMPLES).unwrap_or_default();
    for (operation, examples) in all {
        let Some((method, path)) = operation.split_once(' ') else { continue };
        let operation = document["paths"].get_mut(path).and_then(|path| path.get_mut(method));
        if let Some(body) = operation.and_then(|operation| operation.get_mut("requestBody")) {
            body["content"]["application/json"]["examples"] = examples;
        }
    }
}
