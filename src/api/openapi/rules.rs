//! Rules for the whole document, which are applied here and not at each type, and the configured bounds.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api::{Access, Options, ROUTES};
use crate::domain::request::MOST_SEGMENTS;

/// Objects that may have more fields than the document describes: those of a provider or of another version
/// of this program.
const OPEN_OBJECTS: [&str; 6] =
    ["Currency", "OtherParameter", "TemplateDateTime", "TemplateLocation", "TemplateOther", "Tier"];

/// Applies all rules to a document that was generated from the handlers' types.
pub(super) fn apply(document: &mut Value, options: &Options) {
    operations(document, options);
    other_contents(document);
    scopes(document);
    let asked = named(document, "requestBody");
    for name in named(document, "responses") {
        let schema = &mut document["components"]["schemas"][&name];
        // What has one form in both directions leaves out what it has not.
        if asked.contains(&name) { never_null(schema) } else { require_nullable(schema) }
    }
    let schemas = &mut document["components"]["schemas"];
    for name in OPEN_OBJECTS {
        schemas[name]["additionalProperties"] = true.into();
    }
    bound(schemas, options);
}

/// A parameter or a body that may be left out is never `null`; lists have the configured bounds.
fn operations(document: &mut Value, options: &Options) {
    let paths = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for operation in paths.filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
            let is_named = |name: &str| parameter["in"] == "query" && parameter["name"] == name;
            let (is_limit, is_search) = (is_named("limit"), is_named("search"));
            let schema = &mut parameter["schema"];
            without_null(schema);
            if is_limit {
                schema["maximum"] = options.page_size.into();
                schema["default"] = options.page_size.min(10).into();
            } else if is_search {
                schema["maxLength"] = options.search_chars.into();
            }
        }
        let Some(body) = operation.get_mut("requestBody") else { continue };
        for content in
            body.get_mut("content").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
        {
            without_null(&mut content["schema"]);
        }
    }
}

/// Where an answer is JSON unless the client asks for another type, the description of the other types goes beside it: a
/// generated client would have to find out which of them it got, although it never asks for another one.
fn other_contents(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    let operations = paths.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
    let answers = operations.filter_map(|operation| operation["responses"].as_object_mut());
    for answer in answers.flat_map(Map::values_mut) {
        let Some(content) = answer.get_mut("content").and_then(Value::as_object_mut) else { continue };
        let Some(json) = content.remove("application/json") else { continue };
        if !content.is_empty() {
            answer["x-other-content"] = std::mem::take(content).into();
        }
        answer["content"] = json!({ "application/json": json });
    }
}

/// The scope that a company's key needs, and the refusal of a key without it.
fn scopes(document: &mut Value) {
    for route in ROUTES {
        let Some(scope) = route.access.scope() else { continue };
        let operation = &mut document["paths"][route.path][route.method.to_lowercase()];
        if operation.is_null() {
            continue;
        }
        let needed = match route.access {
            Access::CompanyOrSession => {
                format!(
                    "Needs an API key with the scope `{scope}`, or the token of a session in the console."
                )
            }
            _ => format!("Needs an API key with the scope `{scope}`."),
        };
        append(&mut operation["description"], &needed, "\n\n");
        let refused = &mut operation["responses"]["403"];
        append(&mut refused["description"], "`insufficient_scope`", ", ");
        let body = json!({ "schema": { "$ref": "#/components/schemas/Error" } });
        refused["content"] = json!({ "application/json": body });
    }
}

/// Adds a sentence or a word to a text that may be absent.
fn append(text: &mut Value, more: &str, between: &str) {
    *text = match text.as_str() {
        Some(text) if !text.is_empty() => format!("{text}{between}{more}").into(),
        _ => more.into(),
    };
}

fn without_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("oneOf") {
        kinds.retain(|kind| kind["type"] != "null");
        if let [only] = kinds.as_slice() {
            *schema = only.clone();
        }
    }
}

/// The names of all schemas in this part of the operations.
fn named(document: &Value, part: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = Vec::new();
    for path in document["paths"].as_object().into_iter().flat_map(Map::values) {
        left.extend(path.as_object().into_iter().flat_map(Map::values).map(|operation| &operation[part]));
    }
    while let Some(value) = left.pop() {
        match value {
            Value::Object(fields) => left.extend(fields.values()),
            Value::Array(items) => left.extend(items),
            Value::String(text) => {
                if let Some(name) = text.strip_prefix("#/components/schemas/")
                    && names.insert(name.to_owned())
                {
                    left.push(&document["components"]["schemas"][name]);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    names
}

/// The fields of an object that is asked for and answered are never `null`.
fn never_null(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(without_null);
}

/// A field of an answer is either optional or nullable, never both: fields that may be null are required.
fn require_nullable(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, inner) in keywords.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(require_nullable);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => parts.iter_mut().for_each(require_nullable),
            ("items", items) => require_nullable(items),
            _ => {}
        }
    }
    let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
    let nullable = properties.filter(|(_, schema)| may_be_null(schema)).map(|(name, _)| name.clone());
    let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: BTreeSet<_> =
        required.filter_map(Value::as_str).map(str::to_owned).chain(nullable).collect();
    if !required.is_empty() {
        keywords.insert("required".to_owned(), json!(required));
    }
}

fn may_be_null(schema: &Value) -> bool {
    let is_among = |kinds: &Value, null: &Value| kinds.as_array().is_some_and(|kinds| kinds.contains(null));
    is_among(&schema["type"], &json!("null")) || is_among(&schema["oneOf"], &json!({"type": "null"}))
}

/// Adds the configured bounds of sends.
fn bound(schemas: &mut Value, options: &Options) {
    let limits = &options.send;
    for send in ["BusinessSend", "WebSend", "ConversationSend"] {
        for (field, max) in
            [("message", limits.text_chars), ("link", limits.link_chars), ("caption", limits.caption_chars)]
        {
            schemas[send]["properties"][field]["maxLength"] = max.into();
        }
    }
    for (list, max) in
        [("Numbers", limits.phone_numbers), ("Tags", limits.tags), ("SegmentIds", MOST_SEGMENTS)]
    {
        kind(&mut schemas[list], "array")["maxItems"] = max.into();
    }
}

/// The alternative with this type.
fn kind<'a>(schema: &'a mut Value, name: &str) -> &'a mut Value {
    let kinds = schema["oneOf"].as_array();
    let place = kinds.and_then(|kinds| kinds.iter().position(|kind| kind["type"] == name));
    &mut schema["oneOf"][place.unwrap_or_default()]
}
