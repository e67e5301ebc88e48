//! Bodies that nobody sends in good faith.

use proptest::prelude::*;
use serde_json::Value;

use super::super::*;
use super::code;
use crate::content::Content;
use crate::error::Code;
use crate::send::Schedule;

fn business(body: &[u8]) -> Result<BusinessRequest, crate::error::Refusal> {
    BusinessRequest::parse(body, &Limits::default())
}

#[test]
fn what_is_not_a_json_object_is_an_invalid_body() {
    let deep = "[".repeat(1_000_000);
    let unclosed = format!(r#"{{"unknown":{deep}"#);
    for body in [
        "",
        " ",
        "null",
        "5",
        "\"text\"",
        "[]",
        r#"["text","5511988887777"]"#,
        "{",
        r#"{"type":"text"} x"#,
        r#"{"type":"text",}"#,
        r#"{'type':'text'}"#,
        "type=text",
        &deep,
        &unclosed,
        r#"{"type":"text","type":"image"}"#,
    ] {
        assert_eq!(code(business(body.as_bytes())), Some(Code::InvalidBody), "{:.60}", body);
        assert_eq!(code(WebRequest::parse(body.as_bytes(), &Limits::default())), Some(Code::InvalidBody));
    }
    assert_eq!(code(business(b"{\"type\":\"\xff\"}")), Some(Code::InvalidBody));
}

#[test]
fn depth_and_size_of_a_structure_are_bounded() {
    let body = |components: &str| {
        format!(
            r#"{{"type":"template","phone_number":"5511988887777","template_id":1,"components":{components}}}"#
        )
    };
    let nested = |levels: usize| {
        let inner = levels.saturating_sub(2);
        body(&format!(r#"[{{"type":"order_status","of":{}{}}}]"#, "[".repeat(inner), "]".repeat(inner)))
    };
    assert_eq!(code(business(nested(32).as_bytes())), None);
    assert_eq!(code(business(nested(33).as_bytes())), Some(Code::InvalidComponents));
    assert_eq!(code(business(nested(500_000).as_bytes())), Some(Code::InvalidComponents));
    let wide = body(&format!("[{}1]", "1,".repeat(4_000_000)));
    assert_eq!(code(business(wide.as_bytes())), Some(Code::InvalidComponents));
    assert_eq!(code(business(body(r#"[{"type":"\ud800"}]"#).as_bytes())), Some(Code::InvalidComponents));
    assert_eq!(code(business(body(r#"[{"type":"x","n":1e999}]"#).as_bytes())), Some(Code::InvalidComponents));
}

#[test]
fn the_deepest_content_that_is_accepted_can_be_read_again() {
    let payload = format!(
        r#"{{"type":"product","action":{{"catalog_id":"1","product_retailer_id":"2"}},"x":{}{}}}"#,
        "[".repeat(31),
        "]".repeat(31)
    );
    let body = format!(r#"{{"type":"interactive","phone_number":"5511988887777","interactive":{payload}}}"#);
    let Ok(BusinessRequest { content: RequestedContent::Ready(content), .. }) = business(body.as_bytes())
    else {
        panic!("refused");
    };
    let stored = serde_json::to_string(&content).unwrap_or_default();
    assert_eq!(serde_json::from_str::<Content>(&stored).ok(), Some(content));
}

#[test]
fn a_list_of_millions_is_left_at_the_limit() {
    let body = format!(r#"{{"type":"text","message":"x","phone_number":[{}true]}}"#, "1,".repeat(4_000_000));
    let limits = Limits { phone_numbers: 10, ..Limits::default() };
    assert_eq!(code(BusinessRequest::parse(body.as_bytes(), &limits)), Some(Code::TooManyRecipients));
}

#[test]
fn broken_escapes_are_refused_where_they_are_read() {
    let body = |fields: &str| format!(r#"{{"phone_number":["5511988887777","\ud800"],{fields}}}"#);
    assert_eq!(code(business(body(r#""type":"\ud800""#).as_bytes())), Some(Code::InvalidType));
    assert_eq!(
        code(business(body(r#""type":"text","message":"\ud800""#).as_bytes())),
        Some(Code::InvalidField)
    );
    let accepted = business(body(r#""type":"text","message":"\ud83d\ude00","caption":"\ud800""#).as_bytes());
    let accepted = accepted.map(|request| (request.content, request.audience.skipped.count));
    let smile = RequestedContent::Ready(Content::Text { body: "😀".to_owned(), preview_url: None });
    assert_eq!(accepted, Ok((smile, 1)));
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(vec![
            "text",
            "image",
            "template",
            "interactive",
            "number",
            "group",
            "https://h/a",
            "1"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("type|body|action|text|[a-z]{1,3}", inner, 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let name = proptest::sample::select(vec![
        "type",
        "phone_number",
        "contact_tag_id",
        "recipient_type",
        "message",
        "link",
        "caption",
        "template_id",
        "language",
        "components",
        "interactive",
        "unknown",
    ]);
    proptest::collection::btree_map(name.prop_map(str::to_owned), json(), 0..10)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

proptest! {
    #[test]
    fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _either = business(&body);
        let _either = WebRequest::parse(&body, &Limits::default());
    }

    #[test]
    fn no_object_panics(body in object()) {
        let body = body.to_string();
        let _either = business(body.as_bytes());
        let _either = WebRequest::parse(body.as_bytes(), &Limits::default());
    }

    #[test]
    fn a_cut_body_is_never_accepted(body in object(), at in any::<proptest::sample::Index>()) {
        let body = body.to_string();
        let cut = at.index(body.len());
        prop_assert_eq!(code(business(&body.as_bytes()[..cut])), Some(Code::InvalidBody));
    }

    #[test]
    fn a_valid_request_survives_whatever_else_is_in_it(
        message in "[^ ].{0,60}",
        numbers in proptest::collection::vec(1_000_000_u64..=999_999_999_999_999, 1..20),
        extra in json(),
    ) {
        prop_assume!(!message.trim().is_empty());
        let body = serde_json::json!({
            "type": "text", "message": message, "phone_number": numbers, "unknown": extra, "link": extra,
            "components": extra, "interactive": extra, "recipient_type": extra,
        });
        let request = business(body.to_string().as_bytes());
        prop_assert!(request.is_ok(), "{:?}", request);
        let Ok(BusinessRequest { content, audience, schedule, .. }) = request else { return Ok(()) };
        prop_assert_eq!(content, RequestedContent::Ready(Content::Text { body: message, preview_url: None }));
        let parsed: Vec<u64> = audience.numbers.iter().map(|number| number.as_u64()).collect();
        prop_assert_eq!(parsed, numbers);
        prop_assert_eq!(audience.skipped.count, 0);
        prop_assert_eq!(schedule, Schedule::default());
    }
}
