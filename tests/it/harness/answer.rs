//! What comes back from a service, to requests of clients and to bytes that no client would send.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    /// Reads a response to its end.
    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let text =
            |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers =
            response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Self { status, headers, body: response.text().await.unwrap() }
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
    Answer { status, headers, body }
}
