//! Answers in JSON, compressed for clients that accept it.

use std::io::Read as _;

use flate2::read::GzDecoder;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::world::World;
use crate::harness::Service;

/// The encoding of the answer, whether caches keep it apart, and its JSON.
async fn read(request: RequestBuilder) -> (String, bool, Value) {
    let answer = request.send().await.unwrap();
    let header =
        |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    let (encoding, varies) = (header("content-encoding"), header("vary").contains("accept-encoding"));
    let bytes = answer.bytes().await.unwrap();
    let mut text = String::new();
    match encoding.as_str() {
        "gzip" => drop(GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap()),
        _ => text.push_str(str::from_utf8(&bytes).unwrap()),
    }
    (encoding, varies, serde_json::from_str(&text).unwrap_or_default())
}

fn get(service: &Service, path: &str, key: &str, accepts: &str) -> RequestBuilder {
    service.request(Method::GET, path).bearer_auth(key).header("accept-encoding", accepts)
}

#[tokio::test]
async fn a_long_answer_is_compressed_for_a_client_that_accepts_it_and_says_the_same() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let contacts: Vec<_> =
        (1000..1040).map(|end| json!({"phone_number": format!("551198888{end}")})).collect();
    let written =
        service.post("/api/v1/contacts/batch", key, json!({"contacts": contacts}).to_string()).await;
    assert_eq!(written.status, 200, "{}", written.body);
    let path = "/api/v1/contacts?limit=40";
    let (encoding, varies, plain) = read(get(service, path, key, "identity")).await;
    assert_eq!((encoding.as_str(), varies), ("", true));
    assert_eq!(plain["data"].as_array().unwrap().len(), 40);
    for accepts in ["gzip", "br;q=1.0, gzip;q=0.8", "deflate, GZIP"] {
        assert_eq!(
            read(get(service, path, key, accepts)).await,
            ("gzip".to_owned(), true, plain.clone()),
            "{accepts}"
        );
    }
    assert_eq!(read(get(service, path, key, "gzip;q=0")).await.0, "");
    // The reference is long enough to be compressed beside the threads that serve.
    let (encoding, _, document) = read(get(service, "/openapi.json", "", "gzip")).await;
    assert_eq!((encoding.as_str(), document["info"]["title"].as_str()), ("gzip", Some("Pombo")));
    // What fits into a packet stays as it is.
    assert_eq!(read(get(service, "/api/v1/sends", key, "gzip")).await.0, "");
}

#[tokio::test]
async fn a_stream_and_an_answer_with_a_secret_are_not_compressed() {
    let world = World::new().await;
    let service = &world.service;
    let messages = format!("/api/v1/sends/{}/messages", world.foreign_send);
    let lines = get(service, &messages, &world.globex.key, "gzip").header("accept", "application/x-ndjson");
    assert_eq!(read(lines).await.0, "");
    // Long enough to be compressed, if it were not for the key.
    let long = "🔑".repeat(200);
    let path = format!("/operator/v1/companies/{}/keys", world.acme.id);
    let new = service.request(Method::POST, &path).bearer_auth(&world.operator);
    let new = new.header("accept-encoding", "gzip").body(json!({ "name": long }).to_string());
    let (encoding, varies, made) = read(new).await;
    assert_eq!((encoding.as_str(), varies), ("", false));
    assert!(made["key"].as_str().unwrap().starts_with("pombo_") && made.to_string().len() > 1024, "{made}");
}
