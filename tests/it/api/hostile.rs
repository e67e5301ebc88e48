//! For any bytes, the answer is a refusal and never a server error.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::world::World;

#[tokio::test]
async fn impossible_pages_are_invalid_pagination_on_every_list() {
    let world = World::new().await;
    let templates = format!("/api/v1/chat/{}/templates", world.connected);
    for list in ["/api/v1/chat", "/api/v1/web-chat", "/api/v1/contacts", "/api/v1/contacts/tags", &templates]
    {
        for query in [
            "page=0",
            "page=-1",
            "page=+1",
            "page=1.5",
            "page=1e3",
            "page=x",
            "page=%201",
            "page=%ff",
            "page=%zz",
            "page=%",
            "page=%00",
            "page=00",
            "limit=0",
            "limit=99999999999999999999",
            "limit=1001",
            "limit=-5",
            "limit=ten",
            "limit=%C3",
            "page=9999999999999999999999999999999999999999",
        ] {
            let answer = world.service.get(&format!("{list}?{query}"), &world.acme.key).await;
            let seen = (answer.status, answer.code());
            assert_eq!(seen, (400, Some("invalid_pagination".to_owned())), "{list}?{query}");
        }
        for query in ["search=%ff", "search=%", "search=%00", "search=a%00b"] {
            let answer = world.service.get(&format!("{list}?{query}"), &world.acme.key).await;
            assert_eq!(
                (answer.status, answer.code()),
                (400, Some("invalid_field".to_owned())),
                "{list}?{query}"
            );
        }
        for page in ["9223372036854775807", "9223372036854775808", "99999999999999999999"] {
            for query in [format!("page={page}"), format!("page={page}&limit=1000&search=a")] {
                let answer = world.service.get(&format!("{list}?{query}"), &world.acme.key).await;
                let json = answer.json();
                assert_eq!((answer.status, &json["data"]), (200, &json!([])), "{list}?{query}");
                let own = format!(r#""currentPage":{page},"#);
                assert!(answer.body.contains(&own), "{list}?{query}: {}", answer.body);
                assert!(json["totalRecords"].is_u64(), "{list}?{query}: {}", answer.body);
            }
        }
        for query in [
            "",
            "&&=&",
            "page=&limit=",
            "limit=1000&page=1000000000",
            "search=",
            "search=+++",
            "search=%25_%5C%27%22",
            "search=%0A%09",
            "search=%F0%9F%95%8A",
        ] {
            let answer = world.service.get(&format!("{list}?{query}"), &world.acme.key).await;
            assert_eq!(answer.status, 200, "{list}?{query}: {}", answer.body);
        }
    }
    for query in ["language=%ff", "category=%00"] {
        let answer = world.service.get(&format!("{templates}?{query}"), &world.acme.key).await;
        assert_eq!((answer.status, answer.code()), (400, Some("invalid_field".to_owned())), "{query}");
    }
    let long = format!("/api/v1/contacts?search={}", "x".repeat(201));
    assert_eq!(world.service.get(&long, &world.acme.key).await.code().as_deref(), Some("invalid_field"));
}

#[tokio::test]
async fn a_path_whose_id_is_no_id_names_no_channel() {
    let world = World::new().await;
    for id in ["x", "0", "-1", "%00", "%ff", "%2F", "..%2f..", "a%20b", "%7B%7D", "💥", &"9".repeat(2000)] {
        let business = world.service.post(&World::send(id), &world.acme.key, "{}").await;
        assert_eq!((business.status, business.code()), (404, Some("channel_not_found".to_owned())), "{id}");
        let templates = world.service.get(&format!("/api/v1/chat/{id}/templates"), &world.acme.key).await;
        assert_eq!((templates.status, templates.code()), (404, Some("channel_not_found".to_owned())), "{id}");
        let web = world.service.post(&World::web_send(id), &world.acme.key, "{}").await;
        assert_eq!((web.status, web.code()), (400, Some("invalid_id_param".to_owned())), "{id}");
    }
}

#[tokio::test]
async fn a_hostile_body_is_refused_and_never_a_failure() {
    let world = World::new().await;
    let deep = format!("{}{}", "[".repeat(8000), "]".repeat(8000));
    let bodies: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"null".to_vec(),
        b"\"text\"".to_vec(),
        b"7".to_vec(),
        b"[{}]".to_vec(),
        b"{\"type\":\"text\"".to_vec(),
        b"{\"type\":\"text\"}{}".to_vec(),
        b"{\"type\":\"text\",\"type\":\"text\"}".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"{\"type\":\"\xff\"}".to_vec(),
        b"\0".to_vec(),
        b"type=text&message=x".to_vec(),
        deep.clone().into_bytes(),
        format!(r#"{{"type":"interactive","phone_number":"5511988887777","interactive":{deep}}}"#)
            .into_bytes(),
        format!(r#"{{"type":"text","phone_number":{deep},"message":"x"}}"#).into_bytes(),
        br#"{"type":"text","phone_number":1e999,"message":"x"}"#.to_vec(),
        br#"{"type":"template","template_id":99999999999999999999,"phone_number":"5511988887777"}"#.to_vec(),
        br#"{"type":{"$gt":""},"phone_number":{}}"#.to_vec(),
        json!({"type": "text", "phone_number": [[["5511988887777"]]], "message": {}})
            .to_string()
            .into_bytes(),
    ];
    for path in [World::send(world.connected), World::web_send(world.web)] {
        for body in &bodies {
            let answer = world.service.post(&path, &world.acme.key, body.clone()).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(60)]);
            assert_eq!(answer.status, 400, "{path} {shown}: {}", answer.body);
            assert!(answer.code().is_some(), "{path} {shown}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_template_that_cannot_be_is_not_found_and_no_text_reaches_the_database_with_a_nul() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let body = |fields: &str| {
        format!(r#"{{"type":"template","phone_number":"5511988887777","components":[],{fields}}}"#)
    };
    for id in ["0", "-1", "\"-1\"", "9223372036854775807", "9223372036854775808", "-99999999999999999999"] {
        let answer =
            world.service.post(&path, &world.acme.key, body(&format!(r#""template_id":{id}"#))).await;
        assert_eq!((answer.status, answer.code()), (404, Some("template_not_found".to_owned())), "{id}");
    }
    for language in [r"pt\u0000", r"\u0000", r"p\u0000t"] {
        let fields = format!(r#""template_id":{},"language":"{language}""#, world.approved);
        let answer = world.service.post(&path, &world.acme.key, body(&fields)).await;
        assert_eq!((answer.status, answer.code()), (400, Some("invalid_field".to_owned())), "{language}");
    }
    for fields in [
        r#""type":"text","phone_number":"5511988887777","message":"a\u0000b""#,
        r#""type":"text","phone_number":["5511988887777","\u0000"],"message":"x""#,
        r#""type":"text","phone_number":"5511988887777","contact_tag_id":"\u0000","message":"x""#,
    ] {
        let answer = world.service.post(&path, &world.acme.key, format!("{{{fields}}}")).await;
        assert!(answer.status < 500, "{fields}: {}", answer.body);
    }
}

#[tokio::test]
async fn bytes_that_are_hardly_http_never_answer_500() {
    let world = World::new().await;
    let key = &world.acme.key;
    let path = World::send(world.connected);
    let head = |line: &str| format!("{line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n");
    let post = head(&format!("POST {path}"));
    let requests: Vec<Vec<u8>> = vec![
        [head("GET /api/v1/contacts?search=").trim_end().as_bytes(), b"\r\n\r\n"].concat(),
        b"GET /api/v1/contacts?search=\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"GET /api/v1/chat/\xc3\x28/templates HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        format!("{post}Content-Length: -1\r\n\r\n").into_bytes(),
        format!("{post}Content-Length: 99999999999999999999999\r\n\r\n").into_bytes(),
        format!("{post}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x01").into_bytes(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
    ];
    for request in requests {
        let shown = String::from_utf8_lossy(&request).into_owned();
        let answer = world.service.raw(request).await;
        assert!((200..500).contains(&answer.status), "{answer:?} to {shown}");
        assert!(answer.status < 400 || answer.code().is_some(), "{answer:?} to {shown}");
    }
    // The server closes a connection if it cannot tell the end of the body, whether it has answered or not.
    let broken = format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n");
    let answer = world.service.raw(broken.into_bytes()).await;
    assert!([0, 400].contains(&answer.status), "{answer:?}");
    assert_eq!(world.service.get("/healthz", "").await.status, 200);
}

/// All answers to these pieces, until the service closes the connection or sends nothing for this time. Each
/// piece is sent when the answer to the piece before has begun.
async fn conversation(world: &World, pieces: Vec<Vec<u8>>, patience: Duration) -> (String, bool) {
    let address = world.service.url().trim_start_matches("http://").to_owned();
    let talk = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(patience)).unwrap();
        let (mut answered, mut buffer) = (Vec::new(), [0; 4096]);
        let mut pieces = pieces.into_iter();
        loop {
            if let Some(piece) = pieces.next() {
                stream.write_all(&piece).unwrap();
            }
            let is_closed = match stream.read(&mut buffer) {
                Ok(0) => true,
                Ok(read) => {
                    answered.extend(&buffer[..read]);
                    continue;
                }
                Err(_) => false,
            };
            return (String::from_utf8(answered).unwrap(), is_closed);
        }
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[tokio::test]
async fn a_request_that_the_parser_refuses_is_answered_like_every_refusal() {
    let world = World::new().await;
    let long = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: {}", "x".repeat(140_000));
    for (request, status) in [
        ("GET /healthz HTTP/1.1\r\n\r\n", 400),
        ("GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}", 400),
        (&long, 431),
    ] {
        let answer = world.service.raw(request.as_bytes().to_vec()).await;
        let shown: String = request.chars().take(120).collect();
        assert_eq!(
            (answer.status, answer.code().as_deref()),
            (status, Some("malformed_request")),
            "{shown:?}"
        );
        assert_eq!(answer.header("content-type"), "application/json", "{shown:?}");
        assert_eq!(answer.header("connection"), "close", "{shown:?}");
        assert_eq!(answer.header("x-request-id").len(), 36, "{shown:?}");
        assert!(!answer.header("date").is_empty(), "{shown:?}");
    }
    // Requests before it have their answers.
    let both = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/9\r\n\r\n".to_vec();
    let (answered, is_closed) = conversation(&world, vec![both], Duration::from_secs(10)).await;
    assert!(is_closed && answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
    assert_eq!(answered.matches("HTTP/1.1 ").count(), 2, "{answered}");
    let (_, body) = answered.rsplit_once("\r\n\r\n").unwrap();
    assert_eq!(serde_json::from_str::<Value>(body).unwrap()["code"], "malformed_request");
}

#[tokio::test]
async fn a_refusal_before_the_body_was_read_says_whether_the_connection_closes() {
    let world = World::new().await;
    let (own, foreign) = (World::send(world.connected), World::send(world.foreign));
    let hook = format!("/hooks/meta/{}", world.connected);
    let (key, exhausted) = (world.acme.key.as_str(), world.exhausted.key.as_str());
    for (path, key, length, status) in [
        (own.as_str(), "pombo_nobody", 1000, 401),
        (own.as_str(), exhausted, 1000, 429),
        (foreign.as_str(), key, 1000, 403),
        (own.as_str(), key, 1_000_000, 413),
        (hook.as_str(), key, 1000, 403),
        ("/nowhere", key, 1000, 404),
        ("/healthz", key, 1000, 405),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n");
        let again = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        // A part of a body whose rest does not come, and a body whose rest can be skipped cheaply.
        let begun = format!("{head}Content-Length: {length}\r\n\r\n{{").into_bytes();
        let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n").into_bytes();
        let rest = [b"0\r\n\r\n".as_slice(), again].concat();
        for pieces in [vec![begun], vec![chunked, rest]] {
            if pieces.len() == 2 && status == 413 {
                continue;
            }
            let (answered, is_closed) = conversation(&world, pieces, Duration::from_secs(10)).await;
            let (first, later) = answered.split_once("\r\n\r\n").unwrap();
            assert!(first.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answered}");
            let says_so = first.contains("connection: close");
            assert!(is_closed, "{path}: {answered}");
            assert_eq!(says_so, !later.contains("HTTP/1.1 200 OK"), "{path}: {answered}");
        }
    }
}
