//! Requests of an operation, generated from the reference's parameters and body.

use std::collections::BTreeMap;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::super::world::{NO_RECEIVER, World};

/// Schemas within schemas; deeper ones become `null`.
const DEPTH: u32 = 7;
/// Entries of a generated array or of an open object.
const ENTRIES: usize = 3;

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
}

/// One method of one path of the reference.
pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: String,
    description: Value,
}

/// The records that requests may name.
pub(super) struct Known {
    /// Beginnings of paths, each with the id of a record that the caller has there.
    own: Vec<(&'static str, String)>,
    /// Ids of all records, of the caller's company and of another one.
    ids: Vec<String>,
    /// Ids of templates.
    templates: Vec<Value>,
}

impl Known {
    /// The records of this world, with some more of the caller's.
    pub(super) async fn of(world: &World) -> Self {
        let key = &world.acme.key;
        let contact = json!({"contacts": [{"phone_number": "5511988880001", "tags": ["vip"]}]}).to_string();
        let contacts = world.service.post("/api/v1/contacts/batch", key, contact).await.json();
        let tags = world.service.get("/api/v1/contacts/tags", key).await.json();
        let import =
            world.service.post("/api/v1/contacts/imports", key, "phone\n5511988887777\n").await.json();
        let text = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
        let sent = world.service.post(&World::send(world.connected), key, text).await.json();
        let webhook = json!({"url": NO_RECEIVER}).to_string();
        let webhook = world.service.post("/api/v1/webhooks", key, webhook).await.json();
        let file = world.service.post("/api/v1/media", key, "hello").await.json();
        let conversation = world.conversation(&world.acme, 4999).await;
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        // The longer beginnings come first.
        let own = vec![
            ("/api/v1/contacts/tags/", id(&tags["data"][0]["id"])),
            ("/api/v1/contacts/imports/", id(&import["id"])),
            ("/api/v1/contacts/", id(&contacts["results"][0]["id"])),
            ("/api/v1/sends/", id(&sent["send_id"])),
            ("/api/v1/webhooks/", id(&webhook["id"])),
            ("/api/v1/media/", id(&file["id"])),
            ("/api/v1/conversations/", conversation.to_string()),
            ("/api/v1/chat/", world.connected.to_string()),
            ("/api/v1/web-chat/", world.web.to_string()),
            ("/operator/v1/channels/", world.connected.to_string()),
            ("/operator/v1/companies/", world.acme.id.to_string()),
        ];
        let World { disconnected, foreign, foreign_web, globex, .. } = world;
        let World { foreign_send, foreign_contact, foreign_tag, foreign_import, foreign_webhook, .. } = world;
        let others = [disconnected, foreign, foreign_web, &globex.id, foreign_webhook];
        let others = others.into_iter().chain([foreign_send, foreign_contact, foreign_tag, foreign_import]);
        let ids = own.iter().map(|(_, id)| id.clone()).chain(others.map(ToString::to_string)).collect();
        let templates = [world.approved, world.rejected, world.foreign_template].map(Value::from).to_vec();
        Self { own, ids, templates }
    }

    fn id(&self) -> BoxedStrategy<String> {
        select(self.ids.clone()).boxed()
    }

    /// An id that fits the path, most of the time.
    fn id_in(&self, path: &str) -> BoxedStrategy<String> {
        let own = self.own.iter().find(|(beginning, _)| path.starts_with(beginning));
        match own {
            Some((_, id)) => prop_oneof![5 => Just(id.clone()), 1 => self.id()].boxed(),
            None => self.id(),
        }
    }
}

/// The operations of the reference, without those of the pages.
pub(super) fn operations(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, operations)| {
        let operations = operations.as_object().unwrap();
        operations.iter().filter(|(_, operation)| operation["responses"].is_object()).map(
            |(method, operation)| Operation {
                method: Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(),
                path: path.clone(),
                description: operation.clone(),
            },
        )
    });
    all.filter(|operation| operation.path.starts_with("/api/") || operation.path.starts_with("/operator/"))
        .collect()
}

impl Operation {
    /// Requests of the operation, some of them damaged.
    pub(super) fn requests(&self, document: &Value, known: &Known) -> BoxedStrategy<Request> {
        let none = Vec::new();
        let parameters = self.description["parameters"].as_array().unwrap_or(&none);
        let (mut path, mut query) = (Vec::new(), Vec::new());
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap().to_owned();
            let values = parameter_values(&parameter["schema"], document, known);
            match parameter["in"].as_str() {
                Some("path") if parameter["schema"]["format"] == "uuid" || name == "id" => {
                    let ids = prop_oneof![8 => known.id_in(&self.path), 1 => values];
                    path.push(ids.prop_map(move |value| (name.clone(), value)).boxed());
                }
                Some("path") => path.push(values.prop_map(move |value| (name.clone(), value)).boxed()),
                Some("query") => {
                    let given = option::weighted(0.3, values);
                    query.push(given.prop_map(move |value| Some((name.clone(), value?))).boxed());
                }
                _ => {}
            }
        }
        let (method, template) = (self.method.clone(), self.path.clone());
        (path, query, self.bodies(document, known))
            .prop_map(move |(segments, query, body)| Request {
                method: method.clone(),
                path: segments.iter().fold(template.clone(), |path, (name, value)| {
                    path.replace(&format!("{{{name}}}"), &encoded(value))
                }),
                query: query.into_iter().flatten().collect(),
                body,
            })
            .boxed()
    }

    fn bodies(&self, document: &Value, known: &Known) -> BoxedStrategy<Option<Vec<u8>>> {
        let content = &self.description["requestBody"]["content"];
        let schema = &content["application/json"]["schema"];
        if !schema.is_null() {
            let whole = values(schema, document, known, DEPTH);
            let bodies = prop_oneof![
                6 => whole.clone(),
                3 => (whole, any::<prop::sample::Index>(), junk()).prop_map(damaged),
                1 => junk(),
            ];
            let text = bodies.prop_map(|body| Some(body.to_string().into_bytes()));
            let raw = prop::collection::vec(any::<u8>(), 0..40).prop_map(Some);
            return prop_oneof![12 => text, 1 => raw].boxed();
        }
        if content.is_object() {
            let files = [
                "phone,name\n5511988887777,Ana\n12,\"B, C\"\n",
                "phone;email;tags\n+55 11 98888-7777;ana@example.com;vip\n",
                "nothing,known\n1,2\n",
                "phone\n\"open\n",
                "\u{feff}phone\r\n5511988887777\r\n",
                "",
            ];
            let text = select(files.to_vec()).prop_map(|file| file.as_bytes().to_vec());
            let raw = prop::collection::vec(any::<u8>(), 0..200);
            return prop_oneof![4 => text, 1 => raw].prop_map(Some).boxed();
        }
        Just(None).boxed()
    }
}

/// Values of a parameter, as a part of a path or of a query.
fn parameter_values(schema: &Value, document: &Value, known: &Known) -> BoxedStrategy<String> {
    let plain = values(schema, document, known, DEPTH).prop_map(|value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    });
    // A part of a path is never empty, and neither one dot nor two.
    let plain = plain.prop_map(|text| if text.trim_matches('.').is_empty() { "-".to_owned() } else { text });
    let odd =
        select(vec!["7", "x", "-1", "null", "\0", "%", "a b", "ÿ", "1e3", "[]"]).prop_map(str::to_owned);
    prop_oneof![8 => plain, 1 => known.id(), 1 => odd].boxed()
}

/// Values that a schema allows.
fn values(schema: &Value, document: &Value, known: &Known, depth: u32) -> BoxedStrategy<Value> {
    if depth == 0 {
        return Just(Value::Null).boxed();
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return values(target, document, known, depth);
    }
    if let Some(words) = schema["enum"].as_array() {
        return select(words.clone()).boxed();
    }
    if !schema["const"].is_null() {
        return Just(schema["const"].clone()).boxed();
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(kinds) = schema[keyword].as_array() {
            let kinds = kinds.iter().map(|kind| values(kind, document, known, depth - 1));
            return proptest::strategy::Union::new(kinds).boxed();
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts: Vec<_> = parts.iter().map(|part| values(part, document, known, depth)).collect();
        let merged = |parts: Vec<Value>| {
            let objects = parts.into_iter().filter_map(|part| part.as_object().cloned());
            Value::Object(objects.flatten().collect())
        };
        return parts.prop_map(merged).boxed();
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return junk(),
    };
    let kinds = kinds.into_iter().map(|kind| match kind {
        "object" => (9, object(schema, document, known, depth)),
        "array" => {
            let entries = values(&schema["items"], document, known, depth - 1);
            (9, prop::collection::vec(entries, 0..=ENTRIES).prop_map(Value::Array).boxed())
        }
        "string" => (9, string(schema, known)),
        "integer" => (9, integer(schema, known)),
        "number" => (9, select(vec![json!(0), json!(0.5), json!(80), json!(-1.5)]).boxed()),
        "boolean" => (9, any::<bool>().prop_map(Value::Bool).boxed()),
        _ => (1, Just(Value::Null).boxed()),
    });
    proptest::strategy::Union::new_weighted(kinds.collect()).boxed()
}

fn object(schema: &Value, document: &Value, known: &Known, depth: u32) -> BoxedStrategy<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let fields: Vec<_> = properties
        .iter()
        .map(|(name, property)| {
            let chance = if required.contains(&name.as_str()) { 0.97 } else { 0.4 };
            let name = name.clone();
            let value = option::weighted(chance, values(property, document, known, depth - 1));
            value.prop_map(move |value| Some((name.clone(), value?)))
        })
        .collect();
    let more = &schema["additionalProperties"];
    let more =
        if more.is_object() { values(more, document, known, depth - 1) } else { Just(Value::Null).boxed() };
    let most = if schema["additionalProperties"].is_object() { ENTRIES } else { 0 };
    (fields, prop::collection::btree_map("[a-z]{1,8}", more, 0..=most))
        .prop_map(|(fields, more): (Vec<_>, BTreeMap<_, _>)| {
            Value::Object(fields.into_iter().flatten().chain(more).collect())
        })
        .boxed()
}

fn string(schema: &Value, known: &Known) -> BoxedStrategy<Value> {
    let examples = schema["examples"].as_array().cloned().unwrap_or_default();
    let example = if schema["example"].is_string() { vec![schema["example"].clone()] } else { Vec::new() };
    let examples: Vec<_> = examples.into_iter().chain(example).filter(Value::is_string).collect();
    let usual = match schema["format"].as_str() {
        Some("uuid") => known.id().prop_map(Value::String).boxed(),
        Some("date-time") => {
            let moments = ["2023-11-14T22:13:20Z", "2099-01-01T00:00:00+02:00", "2030-02-30T00:00:00Z"];
            select(moments.map(Value::from).to_vec()).boxed()
        }
        _ => {
            let words = [
                "5511988887777",
                "text",
                "standard",
                "https://files.example/a.png",
                "ana@example.com",
                "30s",
            ];
            select(words.map(Value::from).to_vec()).boxed()
        }
    };
    let usual = if examples.is_empty() { usual } else { prop_oneof![usual, select(examples)].boxed() };
    let odd =
        ["", " ", "\0", "a\u{202e}b", "💥", "' OR 1=1 --", "%_\\", "{{contact.first_name}}", "\u{feff}"];
    let odd = prop_oneof![
        4 => select(odd.map(Value::from).to_vec()),
        1 => Just(Value::from("x".repeat(5000))),
        2 => "\\PC{0,20}".prop_map(Value::String),
    ];
    prop_oneof![8 => usual, 1 => odd].boxed()
}

fn integer(schema: &Value, known: &Known) -> BoxedStrategy<Value> {
    let least = schema["minimum"].as_i64().unwrap_or(-1);
    let most = schema["maximum"].as_i64().unwrap_or(1_000);
    let usual = (least..=most.max(least)).prop_map(Value::from);
    let odd = [json!(i64::MAX), json!(i64::MIN), json!(u64::MAX), json!(0), json!(5_511_988_887_777_i64)];
    prop_oneof![6 => usual, 2 => select(known.templates.clone()), 1 => select(odd.to_vec())].boxed()
}

/// Values outside of every schema.
fn junk() -> BoxedStrategy<Value> {
    let odd = [
        json!(null),
        json!(true),
        json!(-0.0),
        json!(1e300),
        json!(""),
        json!("\0"),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({"": null}),
        json!({"type": {"$gt": ""}}),
        json!(u64::MAX),
    ];
    select(odd.to_vec()).boxed()
}

/// The value with junk in one of its places.
fn damaged((mut value, place, junk): (Value, prop::sample::Index, Value)) -> Value {
    let places = count(&value);
    let mut left = place.index(places);
    replace(&mut value, &mut left, &junk);
    value
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the place with this number, counted from the outside; `left` is the rest of the count.
fn replace(value: &mut Value, left: &mut usize, junk: &Value) -> bool {
    if *left == 0 {
        *value = junk.clone();
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| replace(item, left, junk)),
        Value::Object(fields) => fields.values_mut().any(|field| replace(field, left, junk)),
        _ => false,
    }
}

/// Percent-encoded, so that it stays one part of a path.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
