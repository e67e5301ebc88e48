//! Sends whose recipients come in a file: as a table or in lines, whole or not at all.

use std::fmt::Write as _;

use pombo::api::Options;
use pombo::domain::channel::{Kind, Status};
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::{Answer, Company, Service};

const FIRST: u64 = 5_511_900_000_000;
const TEXT: &str = r#"{"type": "text", "message": "{{value.name}}: {{value.order}}"}"#;
const TABLE: &str = "phone_number,name,order\n5511900000001,Ana,A-1\n";

async fn shop(options: Options) -> (Service, Company, String) {
    let service = Service::start_with(options).await;
    let acme = service.company("acme").await;
    let shop = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    (service, acme, World::send(shop))
}

const fn part<'a>(name: &'a str, content: &'a [u8]) -> (&'a str, &'a [u8]) {
    (name, content)
}

/// A form with these parts, which this boundary divides.
fn form(boundary: &str, parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, content) in parts {
        let file = if *name == "recipients" { "; filename=\"list\"" } else { "" };
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(content);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    form
}

async fn post(
    service: &Service,
    (key, path): (&str, &str),
    headers: &[(&str, &str)],
    (boundary, parts): (&str, &[(&str, &[u8])]),
) -> Answer {
    let kind = format!("multipart/form-data; boundary={boundary}");
    let mut request = service.request(Method::POST, path).bearer_auth(key).header("content-type", kind);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::to(request.body(form(boundary, parts))).await
}

async fn sends(service: &Service, company: &Company) -> Value {
    service.get("/api/v1/sends", &company.key).await.json()["totalRecords"].clone()
}

/// A thousand rows: 10 without a number, 20 without an order, and 4 that give a number again.
fn thousand() -> String {
    let mut table = String::from("Telefone;Name;Order;Reference;Comment\n");
    for of in 0..1_000_u64 {
        let number = if of % 100 == 7 { 12 } else { FIRST + of - u64::from(of % 250 == 1) };
        let order = if of % 50 == 3 { String::new() } else { format!("A-{of}") };
        writeln!(table, "{number};\"Ana; {of}\";{order};crm-{of};x").unwrap();
    }
    table
}

#[tokio::test]
async fn a_table_with_problems_is_tried_sent_once_and_its_problems_are_listed() {
    let (service, acme, path) = shop(Options::default()).await;
    let table = thousand();
    let parts = [part("send", TEXT.as_bytes()), part("recipients", table.as_bytes())];
    let dry = format!("{path}?dry_run=true");
    let counts = json!({"invalid_number": 10, "value_missing": 20, "duplicate_recipient": 4});
    let tried = post(&service, (&acme.key, &dry), &[], ("one", &parts)).await;
    let told = tried.json();
    assert_eq!(
        (tried.status, &told["recipients_count"], &told["skipped_counts"]),
        (200, &json!(966), &counts)
    );
    let examples = told["examples"].as_array().unwrap();
    let first =
        json!({"recipient": format!("+{FIRST}"), "content": {"type": "text", "message": "Ana; 0: A-0"}});
    assert_eq!((examples.len(), &examples[0]), (5, &first));
    assert_eq!(told["ignored"], json!(["values.comment"]));
    let problems = post(&service, (&acme.key, &dry), &[("accept", "text/csv")], ("one", &parts)).await;
    assert!(problems.header("content-type").starts_with("text/csv"));
    let lines: Vec<&str> = problems.body.lines().collect();
    assert_eq!((lines.len(), lines[0]), (35, "index,input,code,field,reason"));
    let missing = format!("3,'+{},value_missing,values.order,", FIRST + 3);
    for line in ["7,12,invalid_number,phone_number,", missing.as_str()] {
        assert!(lines.iter().any(|known| known.starts_with(line)), "{line}: {}", problems.body);
    }
    assert_eq!(sends(&service, &acme).await, 0);

    let once = [("idempotency-key", "k")];
    let sent = post(&service, (&acme.key, &path), &once, ("one", &parts)).await;
    assert_eq!((sent.status, &sent.json()["skipped_counts"]), (202, &counts), "{}", sent.body);
    // The parts in another order, divided by another boundary, are the same request.
    let again = [parts[1], parts[0]];
    let again = post(&service, (&acme.key, &path), &once, ("other", &again)).await;
    assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &sent.body));
    let other = [parts[0], part("recipients", TABLE.as_bytes())];
    let other = post(&service, (&acme.key, &path), &once, ("one", &other)).await;
    assert_eq!((other.status, other.code().as_deref()), (422, Some("idempotency_key_reused")));
    assert_eq!(sends(&service, &acme).await, 1);

    let skipped = format!("/api/v1/sends/{}/skipped", sent.json()["send_id"].as_str().unwrap());
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let part = service.get(&format!("{skipped}?limit=10{cursor}"), &acme.key).await.json();
        seen.extend(part["data"].as_array().unwrap().iter().map(|entry| entry["index"].as_u64().unwrap()));
        let Some(next) = part["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 34, "each is listed once: {seen:?}");
    for (kind, count) in [("application/x-ndjson", 34), ("text/csv", 35)] {
        let request = service.request(Method::GET, &skipped).bearer_auth(&acme.key).header("accept", kind);
        assert_eq!(Answer::to(request).await.body.lines().count(), count, "{kind}");
    }
}

#[tokio::test]
async fn lines_and_columns_are_read_as_the_form_says() {
    let (service, acme, path) = shop(Options::default()).await;
    let lines = "{\"phone_number\": \"(11) 98888-7777\", \"values\": {\"name\": \"Ana\", \"order\": 7}}\n";
    let windows = b"Fone;Nome;Pedido\n11988887777;Jo\xe3o;A-1\n";
    let columns = br##"{"Fone": "phone_number", "#2": "value.name", "Pedido": "value.order"}"##;
    let (send, brazil) = (part("send", TEXT.as_bytes()), part("country", b"BR"));
    let dry = format!("{path}?dry_run=true");
    for (parts, text) in [
        (vec![part("recipients", lines.as_bytes()), send, brazil], "Ana: 7"),
        (
            vec![
                send,
                brazil,
                part("encoding", b"auto"),
                part("columns", columns),
                part("recipients", windows),
            ],
            "João: A-1",
        ),
    ] {
        let tried = post(&service, (&acme.key, &dry), &[], ("one", &parts)).await;
        let expected = json!([{"recipient": "+5511988887777", "content": {"type": "text", "message": text}}]);
        assert_eq!((tried.status, &tried.json()["examples"]), (200, &expected), "{}", tried.body);
    }
}

#[tokio::test]
async fn a_form_that_is_none_sends_nothing_and_says_why() {
    let options = Options { upload_bytes: 4_096, ..Options::default() };
    let (service, acme, path) = shop(options).await;
    let globex = service.company("globex").await;
    let (send, table) = (part("send", TEXT.as_bytes()), part("recipients", TABLE.as_bytes()));
    let recipients = |file: &'static [u8]| vec![send, part("recipients", file)];
    let large = TABLE.repeat(100);
    for (parts, status, code, param) in [
        (vec![table], 400, "invalid_field", Some("send")),
        (vec![send], 400, "invalid_field", Some("recipients")),
        (vec![send, table, table], 400, "invalid_field", Some("recipients")),
        (vec![part("send", b"[]"), table], 400, "invalid_body", None),
        (vec![part("send", br#"{"type": "text"}"#), table], 400, "missing_message", Some("message")),
        (vec![send, table, part("columns", b"[]")], 400, "invalid_field", Some("columns")),
        (
            vec![send, table, part("columns", br#"{"name": "value.Name"}"#)],
            400,
            "invalid_field",
            Some("columns"),
        ),
        (vec![send, table, part("country", b"Brazil")], 400, "invalid_field", Some("country")),
        (vec![send, table, part("encoding", b"klingon")], 400, "invalid_field", Some("recipients")),
        (recipients(b""), 400, "invalid_field", Some("recipients")),
        (recipients(b"PK\x03\x04"), 400, "invalid_field", Some("recipients")),
        (recipients(b"name,order\nAna,1\n"), 400, "invalid_field", Some("recipients")),
        (recipients(b"phone_number;name\n5511900000001;Jo\xe3o\n"), 400, "invalid_field", Some("recipients")),
        (
            recipients(b"{\"phone_number\": \"5511900000001\"}\n{\"phone\": 1}\n"),
            400,
            "unknown_field",
            Some("recipients[1].phone"),
        ),
        (
            recipients(b"{\"phone_number\": \"5511900000001\", \"values\": {\"name\": []}}"),
            400,
            "invalid_values",
            Some("recipients[0].values.name"),
        ),
        (recipients(b"phone_number,name,order\n"), 400, "no_valid_recipients", None),
        (recipients(b"phone_number,name\n5511900000001,Ana\n"), 422, "recipients_skipped", None),
        (vec![send, part("recipients", large.as_bytes())], 413, "body_too_large", None),
    ] {
        let refused = post(&service, (&acme.key, &path), &[], ("one", &parts)).await;
        let told = (refused.status, refused.code());
        assert_eq!(told, (status, Some(code.to_owned())), "{}", refused.body);
        assert_eq!(refused.json()["param"].as_str(), param, "{}", refused.body);
    }
    let foreign = post(&service, (&globex.key, &path), &[], ("one", &[send, table])).await;
    assert_eq!((foreign.status, foreign.code().as_deref()), (403, Some("credential_resource_mismatch")));
    assert_eq!(sends(&service, &acme).await, 0);
}

#[tokio::test]
async fn half_a_form_sends_nothing() {
    let (service, acme, path) = shop(Options::default()).await;
    let whole = form("one", &[part("send", TEXT.as_bytes()), part("recipients", TABLE.as_bytes())]);
    let ask = |body: &[u8], length: usize| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {length}\r\n\
             Content-Type: multipart/form-data; boundary=one\r\n\r\n",
            acme.key
        );
        [head.as_bytes(), body].concat()
    };
    // The connection breaks, or the form ends without its end.
    let half = &whole[..whole.len() - 20];
    let broken = service.raw_and_close(ask(half, whole.len())).await;
    assert_eq!((broken.status, broken.code().as_deref()), (400, Some("invalid_body")), "{}", broken.body);
    let ended = service.raw(ask(half, half.len())).await;
    assert_eq!((ended.status, ended.code().as_deref()), (400, Some("invalid_body")), "{}", ended.body);
    assert_eq!(sends(&service, &acme).await, 0);
    let sent = service.raw(ask(&whole, whole.len())).await;
    assert_eq!((sent.status, &sent.json()["recipients_count"]), (202, &json!(1)), "{}", sent.body);
}
