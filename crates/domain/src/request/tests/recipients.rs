//! Requests with values for their recipients.

use serde_json::{Value, json};

use crate::content::Content;
use crate::error::Code;
use crate::request::{BusinessRequest, Limits, OnSkipped, RequestedContent, WebRequest};
use crate::template::ShortForm;
use crate::template::contact_field::Addressee;
use crate::values::Lookup as _;

fn read(body: &Value) -> Result<BusinessRequest, Code> {
    BusinessRequest::parse(body.to_string().as_bytes(), &Limits::default()).map_err(|refusal| refusal.code)
}

#[test]
fn each_recipient_has_values_before_those_of_all() {
    let request = read(&json!({
        "type": "text", "message": "{{value.name|friend}}: {{value.order}} {{contact.email|}x}}",
        "recipients": [{"phone_number": "5511988887777"}],
    }));
    assert_eq!(request.unwrap_err(), Code::InvalidField, "braces in the text behind the bar");
    let request = read(&json!({
        "type": "text", "message": "{{value.name|friend}}: {{value.order}}",
        "values": {"shop": "Acme"}, "on_skipped": "refuse",
        "recipients": [
            {"phone_number": "+55 11 98888-7777", "values": {"order": 1042, "paid": true, "name": null}, "reference": " crm-77 "},
            {"phone_number": 351_912_000_001_u64, "values": {"order": "A-1043"}},
            {"phone_number": "12"},
        ],
    }))
    .unwrap();
    assert!(request.ignored.is_empty(), "{:?}", request.ignored);
    let personal = request.audience.personal.unwrap();
    assert_eq!((personal.on_skipped, personal.shared.value("shop")), (OnSkipped::Refuse, Some("Acme")));
    let mut memory = Vec::new();
    let number = personal.rows.phone_numbers().last().unwrap();
    let (index, row) = personal.rows.find(number, &mut memory).unwrap().unwrap();
    assert_eq!(
        (index, row.reference, row.value("order"), row.value("paid")),
        (0, "crm-77", Some("1042"), Some("true"))
    );
    assert_eq!((row.value("name"), request.audience.skipped.first[0].index), (None, Some(2)));
}

#[test]
fn what_is_no_value_is_refused_before_anybody_is_sent_to() {
    let of = |entry: Value| json!({"type": "text", "message": "hi", "recipients": [entry]});
    let to = "5511988887777";
    for (body, code) in [
        (of(json!("5511988887777")), Code::InvalidField),
        (of(json!({"phone_number": to, "values": []})), Code::InvalidField),
        (of(json!({"phone_number": to, "values": {"a": {}}})), Code::InvalidValues),
        (of(json!({"phone_number": to, "values": {"a": []}})), Code::InvalidValues),
        (of(json!({"phone_number": to, "values": {"A": "x"}})), Code::InvalidValues),
        (of(json!({"phone_number": to, "reference": "r".repeat(129)})), Code::InvalidValues),
        (of(json!({"phone_number": to, "value": {"a": "x"}})), Code::UnknownField),
        (of(json!({"phone_number": [to]})), Code::InvalidField),
        (json!({"type": "text", "message": "hi", "recipients": {}}), Code::InvalidField),
        (json!({"type": "text", "message": "hi", "recipients": []}), Code::MissingRecipient),
        (
            json!({"type": "text", "message": "hi", "phone_number": to, "values": {"a b": 1}}),
            Code::InvalidValues,
        ),
        (
            json!({"type": "text", "message": "{{value.A}}", "phone_number": to, "values": {"a": 1}}),
            Code::InvalidField,
        ),
        (
            json!({"type": "image", "link": "{{contact.name}}", "phone_number": to, "values": {}}),
            Code::InvalidField,
        ),
        (
            json!({"type": "document", "link": "https://a.example/x.pdf", "filename": "{{value.a}}.pdf",
                "phone_number": to, "values": {}}),
            Code::InvalidField,
        ),
        (
            json!({"type": "location", "location": {"latitude": 1, "longitude": 1, "name": "{{value.a}}", "address": "x"},
                "phone_number": to, "values": {}}),
            Code::InvalidLocation,
        ),
        (
            json!({"type": "interactive", "phone_number": to, "values": {}, "interactive": {"type": "button",
                "body": {"text": "Dear {{contact.name}}"}, "action": {"buttons": [
                    {"type": "reply", "reply": {"id": "1", "title": "Yes"}}]}}}),
            Code::InvalidInteractive,
        ),
    ] {
        assert_eq!(read(&body).err(), Some(code), "{body}");
    }
}

#[test]
fn a_document_is_called_as_the_link_that_its_recipient_gets() {
    let body = json!({"type": "document", "link": "https://a.example/{{value.file}}.pdf", "phone_number": "5511988887777",
        "values": {"file": "A-1"}});
    let request = read(&body).unwrap();
    let RequestedContent::Ready(content) = request.content else { unreachable!() };
    let values = request.audience.personal.unwrap().shared;
    let filled = content.filled(Addressee { person: None, values: Some(&values) }).unwrap();
    let expected = Content::Document {
        link: "https://a.example/A-1.pdf".to_owned(),
        caption: None,
        filename: Some("A-1.pdf".to_owned()),
    };
    assert_eq!(filled, expected);
}

#[test]
fn without_values_braces_are_text_as_before() {
    let request =
        read(&json!({"type": "text", "message": "{{value.a}}", "phone_number": "5511988887777"})).unwrap();
    let expected = Content::Text { body: "{{value.a}}".to_owned(), preview_url: None };
    assert_eq!((request.content, request.audience.personal), (RequestedContent::Ready(expected), None));
    assert_eq!(request.ignored, ["message.{{value.a}}"], "and the answer names what is sent as it is");
}

#[test]
fn a_template_with_values_needs_no_components() {
    let of = |more: Value| {
        let mut body = json!({"type": "template", "template_id": 7, "values": {"name": "Ana"}, "phone_number": "5511988887777"});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        match read(&body)?.content {
            RequestedContent::Template(request) => Ok(request.short),
            RequestedContent::Ready(_) | RequestedContent::OrTemplate(..) => unreachable!(),
        }
    };
    assert_eq!(of(json!({})), Ok(Some(ShortForm::ByName)));
    let listed = ShortForm::Listed(vec!["name".to_owned(), "order".to_owned()]);
    assert_eq!(of(json!({"parameters": ["name", "order"]})), Ok(Some(listed)));
    assert_eq!(of(json!({"parameters": ["Name"]})), Err(Code::InvalidField));
    assert_eq!(of(json!({"components": []})), Ok(None));
}

#[test]
fn a_web_session_fills_the_values_in_before_it_sends() {
    let body = json!({"type": "text", "message": "{{value.order}} for {{contact.name|you}}", "values": {"order": "A {{1}}"},
        "phone_number": "5511988887777", "recipient_type": "number"});
    let limits = Limits::default();
    let request = WebRequest::parse(body.to_string().as_bytes(), &limits).unwrap();
    let filled = request.filled(None, &limits).unwrap();
    assert_eq!(filled.content, Content::Text { body: "A {{1}} for you".to_owned(), preview_url: None });
    assert_eq!((filled.values.is_none(), filled.check(&limits)), (true, Ok(())));
    let mut lacking = body;
    lacking["values"] = json!({});
    let lacking = WebRequest::parse(lacking.to_string().as_bytes(), &limits).unwrap();
    assert_eq!(lacking.filled(None, &limits).unwrap_err().code, Code::ValueNotAllowed);
}
