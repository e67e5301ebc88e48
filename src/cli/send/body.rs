//! What is asked of the service: the send, and its recipients as JSON or, if there are many, as a file.

use std::fmt::Write as _;

use actix_web::web::Bytes;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::arguments::{Arguments, Composed, Skipping};
use super::recipients::{Recipient, Recipients};
use super::service::SendTemplate;
use crate::cli::failure::{Misused, OtherEnd};

/// The most recipients of a request without a file.
const MOST_AS_JSON: usize = 10_000;
/// The largest file of recipients that the service takes, in bytes.
const LARGEST_FILE: usize = 64 * 1024 * 1024;

/// The body of a request.
pub(super) struct SendBody {
    pub(super) media_type: String,
    pub(super) bytes: Bytes,
    /// A request that is made again with this key is carried out once.
    pub(super) idempotency_key: String,
    /// The line of the file on which each recipient is.
    pub(super) lines: Vec<u64>,
    /// The columns of the file that nothing is read from.
    pub(super) ignored: Vec<String>,
}

impl SendBody {
    /// Reads the whole file.
    pub(super) fn new(
        arguments: &Arguments,
        content: &Composed,
        template: Option<&SendTemplate>,
        recipients: &Recipients,
    ) -> anyhow::Result<Self> {
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        recipients.read(&mut |Recipient { line, entry, cells: _ }| {
            serde_json::to_writer(&mut rows, &entry)?;
            rows.push(b'\n');
            lines.push(line);
            if rows.len() > LARGEST_FILE {
                let sentence =
                    "the file is too long: a send takes 64 MiB of recipients with their values; split it";
                return Err(Misused(sentence.to_owned()).into());
            }
            Ok(())
        })?;
        if lines.is_empty() {
            return Err(Misused("the file has no rows with recipients".to_owned()).into());
        }
        let send = Value::Object(fields(arguments, content, template)).to_string();
        let (media_type, bytes) =
            if lines.len() > MOST_AS_JSON { as_form(&send, &rows) } else { as_json(&send, &rows) };
        let idempotency_key = arguments.idempotency_key.clone();
        Ok(Self {
            media_type,
            bytes: bytes.into(),
            idempotency_key: idempotency_key.unwrap_or_else(|| format!("pombo-send-{}", Uuid::now_v7())),
            lines,
            ignored: recipients.ignored().to_vec(),
        })
    }

    /// What a person is told who ended the command before the answer.
    pub(super) fn interrupted(&self, is_dry_run: bool) -> anyhow::Error {
        let said = if is_dry_run {
            "interrupted; nothing was sent".to_owned()
        } else {
            format!(
                "interrupted before the answer, so the send may have been accepted; with `--idempotency-key {}` the \
                 same command carries it out only once",
                self.idempotency_key
            )
        };
        OtherEnd { code: OtherEnd::INTERRUPTED, said }.into()
    }

    /// Where a recipient is: its line in the file, or its place among the numbers.
    pub(super) fn line(&self, index: &Value) -> Option<u64> {
        let index = usize::try_from(index.as_u64()?).ok()?;
        self.lines.get(index).copied()
    }
}

/// The fields of the send, without its recipients.
fn fields(arguments: &Arguments, content: &Composed, template: Option<&SendTemplate>) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    let mut of_template = Map::new();
    if let Some(template) = template {
        of_template.insert("template_id".to_owned(), template.id.into());
        if !arguments.parameters.is_empty() {
            of_template.insert("parameters".to_owned(), json!(arguments.parameters));
        }
    }
    match content {
        Composed::Text(text, instead) => {
            put("type", "text".into());
            put("message", text.as_str().into());
            if instead.is_some() {
                put("template_instead", Value::Object(of_template));
            }
        }
        Composed::Template(_) => {
            put("type", "template".into());
            of_template.into_iter().for_each(|(name, value)| put(&name, value));
        }
    }
    let values = arguments.values.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    put("values", Value::Object(values.collect()));
    if arguments.clean {
        put("clean", true.into());
    }
    if arguments.on_skipped == Skipping::Refuse {
        put("on_skipped", "refuse".into());
    }
    let times = [("send_at", arguments.at), ("expires_at", arguments.until)];
    for (name, time) in times.into_iter().filter_map(|(name, time)| Some((name, time?))) {
        put(name, time.to_string().into());
    }
    let words = [("name", &arguments.name), ("reference", &arguments.reference)];
    for (name, text) in words.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
        put(name, text.as_str().into());
    }
    fields
}

/// The send with its recipients as one of its fields.
fn as_json(send: &str, rows: &[u8]) -> (String, Vec<u8>) {
    let mut body = Vec::with_capacity(send.len() + rows.len() + 32);
    // The send has fields: its last character closes the object.
    body.extend_from_slice(&send.as_bytes()[..send.len() - 1]);
    body.extend_from_slice(b",\"recipients\":[");
    for (index, row) in rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()).enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(row);
    }
    body.extend_from_slice(b"]}");
    ("application/json".to_owned(), body)
}

/// A form with the send and a file of recipients.
fn as_form(send: &str, rows: &[u8]) -> (String, Vec<u8>) {
    let boundary = format!("pombo-{}", Uuid::now_v7().simple());
    let mut head = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        head,
        "--{boundary}\r\nContent-Disposition: form-data; name=\"send\"\r\nContent-Type: application/json\r\n\r\n{send}\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"recipients\"; filename=\"recipients.ndjson\"\r\n\
         Content-Type: application/x-ndjson\r\n\r\n"
    );
    let mut body = Vec::with_capacity(head.len() + rows.len() + 64);
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(rows);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_a_field_or_a_file() {
        let rows = b"{\"phone_number\":\"1\"}\n{\"phone_number\":\"2\"}\n";
        let (media_type, body) = as_json(r#"{"type":"text"}"#, rows);
        assert_eq!(media_type, "application/json");
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            body,
            json!({ "type": "text", "recipients": [{ "phone_number": "1" }, { "phone_number": "2" }] })
        );

        let (media_type, body) = as_form(r#"{"type":"text"}"#, rows);
        let boundary = media_type.split_once("boundary=").unwrap().1;
        let body = String::from_utf8(body).unwrap();
        let parts: Vec<_> = body.split(&format!("--{boundary}")).collect();
        assert_eq!(parts.len(), 4, "{body}");
        assert!(
            parts[1].contains("name=\"send\"") && parts[1].ends_with("\r\n\r\n{\"type\":\"text\"}\r\n"),
            "{body}"
        );
        assert!(parts[2].contains("name=\"recipients\"") && parts[2].ends_with("\"2\"}\n\r\n"), "{body}");
        assert_eq!(parts[3], "--\r\n");
    }
}
