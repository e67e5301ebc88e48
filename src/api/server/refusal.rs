//! Replaces the HTTP parser's refusals by refusals in the usual form.

use actix_web::web::Bytes;

use crate::api::error::ErrorBody;
use crate::api::request_id;
use crate::error::Code;

/// Where a refusal of the parser begins in the written bytes, and the bytes that replace it. A refusal is the
/// last output of a connection, and has no body, unlike any other answer with its status.
pub(super) fn refusal(bytes: &[u8]) -> Option<(usize, Bytes)> {
    const BEGIN: &[u8] = b"HTTP/1.1 4";
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = bytes.windows(BEGIN.len()).rposition(|window| window == BEGIN)?;
    let head = str::from_utf8(bytes.get(start..)?).ok()?;
    let (status, fields) = head.split_once("\r\n")?;
    let sentence = match status.get(9..12)? {
        "400" => "the request is not HTTP/1.1: its head or the framing of its body cannot be read",
        "408" => "the request's head took too long to arrive",
        "431" => "the request's head is too large",
        _ => return None,
    };
    let is = |field: &str, name: &str| {
        field.split_once(':').is_some_and(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    let mut fields = fields.split("\r\n").filter(|field| !field.is_empty());
    let is_empty = fields.clone().any(|field| is(field, "content-length") && field.ends_with(" 0"));
    if !is_empty {
        return None;
    }
    let date = fields.find(|field| is(field, "date")).map(|date| format!("{date}\r\n")).unwrap_or_default();
    let id = request_id::fresh();
    let shown = id.to_str().unwrap_or_default();
    let body = serde_json::to_string(&ErrorBody::new(sentence, Code::MalformedRequest, shown)).ok()?;
    let refusal = format!(
        "{status}\r\ncontent-length: {}\r\nconnection: close\r\ncontent-type: application/json\r\n{}: {}\r\n\
         {date}\r\n{body}",
        body.len(),
        request_id::NAME,
        shown,
    );
    tracing::debug!(request.id = ?id, status, "a request could not be read");
    Some((start, refusal.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str =
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: now\r\n\r\n";

    #[test]
    fn only_a_refusal_without_a_body_is_replaced() {
        let (start, written) = refusal(EMPTY.as_bytes()).unwrap();
        let written = String::from_utf8(written.to_vec()).unwrap();
        assert_eq!(start, 0);
        let (head, body) = written.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n") && head.ends_with("date: now"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{written}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["code"], "malformed_request");
        for status in ["408 Request Timeout", "431 Request Header Fields Too Large"] {
            let (_, written) = refusal(EMPTY.replace("400 Bad Request", status).as_bytes()).unwrap();
            let written = String::from_utf8(written.to_vec()).unwrap();
            assert!(written.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{written}");
            assert!(written.contains("\"malformed_request\""), "{written}");
        }
        for other in [
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
        ] {
            assert_eq!(refusal(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn answers_before_a_refusal_are_written_unchanged() {
        let before = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}";
        let (start, _) = refusal(format!("{before}{EMPTY}").as_bytes()).unwrap();
        assert_eq!(start, before.len());
    }
}
