//! The part of the reference that a listener shows: its own routes, and what these refer to.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api::{Listener, ROUTES};

/// Removes from a whole document what `listener` does not serve.
pub(super) fn keep(document: &mut Value, listener: Listener) {
    if listener == Listener::Whole {
        return;
    }
    let is_served = |path: &str| ROUTES.iter().any(|route| route.path == path && route.is_on(listener));
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.retain(|path, _| is_served(path));
    }
    if listener == Listener::Operator {
        document["security"] = json!([{ "operator_key": [] }]);
        if let Some(document) = document.as_object_mut() {
            document.remove("webhooks");
        }
    }
    let (schemes, references) = used(document);
    if let Some(components) = document["components"].as_object_mut() {
        for (kind, components) in components.iter_mut() {
            let Some(components) = components.as_object_mut() else { continue };
            match kind.as_str() {
                "securitySchemes" => components.retain(|name, _| schemes.contains(name)),
                kind => {
                    components.retain(|name, _| references.contains(&format!("#/components/{kind}/{name}")));
                }
            }
        }
    }
}

/// The security schemes that operations need, and everything that they refer to, directly or not.
fn used(document: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut schemes, mut references) = (BTreeSet::new(), BTreeSet::new());
    let operations = document["paths"].as_object().into_iter().flat_map(Map::values);
    let operations = operations.filter_map(Value::as_object).flat_map(Map::values);
    for security in operations.map(|operation| &operation["security"]).chain([&document["security"]]) {
        let needed = security.as_array().into_iter().flatten().filter_map(Value::as_object);
        schemes.extend(needed.flat_map(Map::keys).cloned());
    }
    let mut left = vec![&document["paths"], &document["webhooks"]];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(fields) => left.extend(fields.values()),
            Value::Array(items) => left.extend(items),
            Value::String(text) => {
                if let Some(pointer) = text.strip_prefix('#')
                    && let Some(component) = document.pointer(pointer)
                    && references.insert(text.clone())
                {
                    left.push(component);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    (schemes, references)
}
