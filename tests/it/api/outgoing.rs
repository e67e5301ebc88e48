//! The requests that the service makes: the reference describes them, and receivers get what it says.

use std::collections::BTreeSet;

use jsonschema::Validator;
use pombo::domain::event::Type;
use pombo::domain::webhook::known_types;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::compile;
use crate::webhooks::receiver::Receiver;

/// What the reference says of these requests: objects have only described fields.
fn reference() -> Value {
    let mut document = pombo::api::document();
    for schema in document["components"]["schemas"].as_object_mut().unwrap().values_mut() {
        if schema["properties"].is_object() && schema["additionalProperties"].is_null() {
            schema["additionalProperties"] = false.into();
        }
    }
    document
}

fn validator(document: &Value, name: &str) -> Validator {
    let body = &document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"];
    let mut schema = body["schema"].clone();
    schema["additionalProperties"] = false.into();
    compile(schema, &document["components"], true)
}

fn faults(validator: &Validator, body: &Value) -> Vec<String> {
    validator
        .iter_errors(body)
        .map(|fault| format!("{fault} at `{}` by `{}`", fault.instance_path(), fault.schema_path()))
        .collect()
}

#[test]
fn each_type_of_event_is_a_request_with_an_example_that_fits_it_alone() {
    let document = reference();
    let requests = document["webhooks"].as_object().unwrap();
    let expected: BTreeSet<_> = known_types().map(Type::as_str).chain(["batch"]).collect();
    assert_eq!(requests.keys().map(String::as_str).collect::<BTreeSet<_>>(), expected);
    let validators: Vec<_> = requests.keys().map(|name| (name, validator(&document, name))).collect();
    for (name, request) in requests {
        let operation = &request["post"];
        let headers = operation["parameters"].as_array().unwrap().iter();
        let headers: Vec<_> = headers.map(|header| header["name"].as_str().unwrap()).collect();
        assert_eq!(headers, ["webhook-id", "webhook-timestamp", "webhook-signature", "x-pombo-test"]);
        assert!(!operation["description"].as_str().unwrap().is_empty(), "{name}");
        let responses: Vec<_> = operation["responses"].as_object().unwrap().keys().collect();
        assert_eq!(responses, ["2XX", "410", "default"]);
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        for (other, validator) in &validators {
            let faults = faults(validator, example);
            assert_eq!(faults.is_empty(), name == *other, "the example of {name}, by {other}: {faults:?}");
        }
    }
}

#[tokio::test]
async fn a_test_of_each_type_sends_what_the_reference_says() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let key = &world.acme.key;
    // A type of event that does not happen here.
    let new = json!({"url": receiver.url(), "types": ["message.read"]}).to_string();
    let added = world.service.post("/api/v1/webhooks", key, new).await.json();
    let path = format!("/api/v1/webhooks/{}/test", added["id"].as_str().unwrap());
    let document = reference();
    for known in known_types() {
        let body = json!({"type": known.as_str()}).to_string();
        let answer = world.service.post(&path, key, body).await.json();
        assert_eq!(answer["is_delivered"], true, "{answer}");
        let got = receiver.got().pop().unwrap();
        let (request, body) = (&document["webhooks"][known.as_str()]["post"], got.json());
        assert_eq!(body["type"], known.as_str());
        assert_eq!(faults(&validator(&document, known.as_str()), &body), [""; 0], "{body}");
        for header in request["parameters"].as_array().unwrap() {
            assert!(!got.header(header["name"].as_str().unwrap()).is_empty(), "{got:?}");
        }
    }
}
