//! Answers of a service, to requests of clients and to bytes that no client would send.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Body, Method, RequestBuilder, Response};
use serde_json::Value;
use sha2::Sha256;

use super::reference::{self, Exchange};

/// The header by which the provider signs a webhook with this body.
pub(crate) fn sign(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Of each header the first line.
    pub(crate) headers: BTreeMap<String, String>,
    /// The cookies that the answer sets.
    pub(crate) cookies: Vec<String>,
    pub(crate) body: String,
}

impl Answer {
    /// Sends a request and reads the answer, which must be one that the reference describes.
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let sent = request.body().and_then(Body::as_bytes).map(<[u8]>::to_vec);
        let answer = Self::whole(client.execute(request).await.unwrap()).await;
        reference::hold(Exchange { method: Some(&method), path: &path, sent: sent.as_deref() }, &answer);
        answer
    }

    /// Reads a response to its end; like [`Answer::to`], but the request's method is not known any more.
    pub(crate) async fn read(response: Response) -> Self {
        let path = response.url().path().to_owned();
        let answer = Self::whole(response).await;
        reference::hold(Exchange { method: None, path: &path, sent: None }, &answer);
        answer
    }

    async fn whole(response: Response) -> Self {
        let status = response.status().as_u16();
        let text =
            |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let mut headers = BTreeMap::new();
        for (name, value) in response.headers() {
            headers.entry(name.to_string()).or_insert_with(|| text(value));
        }
        let cookies = response.headers().get_all("set-cookie").iter().map(text).collect();
        Self { status, headers, cookies, body: response.text().await.unwrap() }
    }

    /// The body as JSON; `null` when it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The `code` of the body.
    pub(crate) fn code(&self) -> Option<String> {
        self.json()["code"].as_str().map(str::to_owned)
    }

    /// A header's value; empty when absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// Sends bytes as they are; with `close`, the client closes its side after them.
pub(crate) fn raw(address: &str, request: &[u8], close: bool) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request).unwrap();
    if close {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        let _ = reader.read_line(&mut line);
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
    let mut body = String::new();
    let _ = reader.take(length).read_to_string(&mut body);
    let answer = Answer { status, headers, cookies: Vec::new(), body };
    let line = request.split(|&byte| byte == b'\r').next().and_then(|line| str::from_utf8(line).ok());
    if let Some((method, rest)) = line.and_then(|line| line.split_once(' ')) {
        let path = rest.split(' ').next().unwrap_or_default();
        let method = Method::from_bytes(method.as_bytes()).ok();
        reference::hold(Exchange { method: method.as_ref(), path, sent: None }, &answer);
    }
    answer
}
