//! The door that speaks Graph, as programs that are written for Meta see it.

mod hooks;
mod ids;
mod keys;
mod library;
mod media;
mod messages;
mod passed;
mod templates;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

/// A program with a key.
pub(crate) struct Program {
    client: Client,
    base: String,
    key: String,
}

impl Program {
    /// A program whose base URL is this service, under a version of its own.
    pub(crate) fn new(address: &str, key: &str) -> Self {
        Self { client: Client::new(), base: format!("{address}/v23.0"), key: key.to_owned() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    /// Status and body of the answer to a request, whose body is JSON.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.request(method, path);
        read(if body.is_null() { request } else { request.json(body) }).await
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(Method::GET, path, &Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask(Method::POST, path, body).await
    }

    /// The path of the messages of the first number.
    pub(crate) async fn messages(&self) -> String {
        let (_, accounts) = self.get("/me/whatsapp_business_accounts").await;
        let account = accounts["data"][0]["id"].as_str().unwrap().to_owned();
        let (_, numbers) = self.get(&format!("/{account}/phone_numbers")).await;
        format!("/{}/messages", numbers["data"][0]["id"].as_str().unwrap())
    }
}

/// A part of a form: its name, the name of its file if it has one, and its bytes.
pub(crate) type FormField<'a> = (&'a str, Option<&'a str>, &'a [u8]);

/// Gives a request a form with files.
pub(crate) fn with_parts(request: RequestBuilder, parts: &[FormField<'_>]) -> RequestBuilder {
    let mut body = Vec::new();
    for (name, file, bytes) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let head = format!("--pigeon\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--pigeon--\r\n");
    request.header("Content-Type", "multipart/form-data; boundary=pigeon").body(body)
}

/// Gives a request a form without files.
pub(crate) fn with_fields(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.header("Content-Type", "application/x-www-form-urlencoded").body(body)
}

/// Status and body of an answer, which is always JSON.
pub(crate) async fn read(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/json"), "{kind}");
    (status, answer.json().await.unwrap())
}

/// Status, Meta's number and its subcode of a refusal, which must have the whole of Graph's shape.
pub(crate) fn refused((status, body): &(u16, Value)) -> (u16, i64, Option<i64>) {
    let error = &body["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("{status} {body}"));
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("(#{code}) ")), "{body}");
    for text in ["type", "fbtrace_id", "error_user_title", "error_user_msg"] {
        assert!(error[text].as_str().is_some_and(|text| !text.is_empty()), "{text}: {body}");
    }
    assert!(error["error_data"]["details"].is_string(), "{body}");
    (*status, code, error["error_subcode"].as_i64())
}
