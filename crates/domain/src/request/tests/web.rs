//! Sends through a web session.

use serde_json::{Value, json};

use super::super::*;
use super::code;
use crate::content::Content;
use crate::error::Code;
use crate::phone::PhoneNumber;
use crate::send::Label;

fn parse(body: &Value) -> Result<WebRequest, crate::error::Refusal> {
    WebRequest::parse(body.to_string().as_bytes(), &Limits::default())
}

#[test]
fn the_first_failing_check_answers() {
    // Each step fixes the field that the previous step refused.
    let mut body = json!({"message": 5, "link": 5});
    let steps = [
        (None, Code::MissingType),
        (Some(("type", json!("template"))), Code::InvalidType),
        (Some(("type", json!("text"))), Code::MissingPhoneNumber),
        (Some(("phone_number", json!([]))), Code::MissingPhoneNumber),
        (Some(("phone_number", json!(5_511_988_887_777_u64))), Code::InvalidField),
        (Some(("phone_number", json!("123"))), Code::MissingRecipientType),
        (Some(("recipient_type", json!(1))), Code::InvalidField),
        (Some(("recipient_type", json!("person"))), Code::InvalidRecipientType),
        (Some(("recipient_type", json!("number"))), Code::InvalidPhoneNumber),
        (Some(("phone_number", json!("+55 11 98888-7777"))), Code::InvalidField),
        (Some(("message", Value::Null)), Code::MissingMessage),
        (Some(("message", Value::from("x".repeat(4097)))), Code::TextTooLong),
        (Some(("type", json!("audio"))), Code::InvalidField),
        (Some(("link", json!(" "))), Code::MissingLink),
        (Some(("link", json!("x"))), Code::InvalidLink),
        (Some(("type", json!("sticker"))), Code::InvalidLink),
        (Some(("type", json!("location"))), Code::MissingLocation),
        (Some(("location", json!({"latitude": 0}))), Code::InvalidLocation),
        (Some(("type", json!("contacts"))), Code::MissingContacts),
        (Some(("contacts", json!([{"name": {}}]))), Code::InvalidContacts),
        (Some(("type", json!("reaction"))), Code::MissingReaction),
        (Some(("reaction", json!({"message_id": "wamid.a=", "emoji": "👍"}))), Code::InvalidReaction),
    ];
    for (mend, expected) in steps {
        if let (Some((field, value)), Value::Object(fields)) = (mend, &mut body) {
            fields.insert(field.to_owned(), value);
        }
        assert_eq!(code(parse(&body)), Some(expected), "{body}");
    }
}

#[test]
fn a_number_and_a_group_are_recipients() {
    let recipient = |recipient_type: &str, phone_number: &str| {
        let body = json!({
            "type": "text", "message": "x", "recipient_type": recipient_type, "phone_number": phone_number,
        });
        parse(&body).map(|request| request.recipient)
    };
    let number = PhoneNumber::from_u64(5_511_988_887_777).map(WebRecipient::Number);
    assert_eq!(recipient("number", "+55 11 98888-7777").ok(), number);
    for (given, kept) in [
        ("120363025246125016@g.us", "120363025246125016"),
        (" 120363025246125016 ", "120363025246125016"),
        ("5511988887777-1426263026@g.us", "5511988887777-1426263026"),
    ] {
        assert_eq!(recipient("group", given), Ok(WebRecipient::Group(kept.to_owned())));
    }
    for given in
        ["@g.us", "-", "1-", "-1", "1-2-3", "12a", "12@s.whatsapp.net", "1@g.us@g.us", &"1".repeat(41)]
    {
        assert_eq!(code(recipient("group", given)), Some(Code::InvalidPhoneNumber), "{given}");
    }
}

#[test]
fn a_file_becomes_its_content() {
    let body = json!({
        "type": "document", "link": "https://h/a.pdf", "caption": "c",
        "recipient_type": "number", "phone_number": "5511988887777",
    });
    let named = |filename: Option<&str>| {
        let (link, caption) = ("https://h/a.pdf".to_owned(), Some("c".to_owned()));
        Ok(Content::Document { link, caption, filename: filename.map(str::to_owned) })
    };
    // Without a name, the file's own is taken when it is fetched.
    assert_eq!(parse(&body).map(|request| request.content), named(None));
    let mut body = body;
    body["filename"] = json!(" report.pdf ");
    assert_eq!(parse(&body).map(|request| request.content), named(Some("report.pdf")));
}

#[test]
fn what_a_body_asked_for_passes_the_check_and_nothing_else_does() {
    let link = "https://files.example/report.pdf?x=%C3%A9";
    let bodies = [
        json!({"type": "text", "message": " <b>olá</b>\n\u{1f54a} "}),
        json!({"type": "image", "link": link}),
        json!({"type": "image", "link": link, "caption": "below"}),
        json!({"type": "video", "link": link, "caption": "below"}),
        json!({"type": "audio", "link": link}),
        json!({"type": "document", "link": link, "caption": "below"}),
        json!({"type": "document", "link": "https://files.example/"}),
        json!({"type": "sticker", "link": link}),
        json!({"type": "location", "location": {"latitude": "-23.56134999", "longitude": 46.6, "name": "Sol", "x": 1}}),
        json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "Ana", "first_name": "Ana"}}]}),
        json!({"type": "reaction", "reaction": {"message_id": "3EB0A1", "emoji": "👍"}}),
        json!({"type": "reaction", "reaction": {
            "message_id": "3EB0A1", "emoji": "", "from_me": false, "participant": "+55 11 98888-7777",
        }}),
    ];
    for mut body in bodies {
        for (kind, to) in
            [("number", "+55 11 98888-7777"), ("group", "120363025246125016@g.us"), ("group", "55-14")]
        {
            body["recipient_type"] = json!(kind);
            body["phone_number"] = json!(to);
            let asked = parse(&body).unwrap();
            assert_eq!(asked.check(&Limits::default()), Ok(()), "{body}");
            // As another node passes it on.
            let passed_on = serde_json::to_string(&asked).unwrap();
            assert_eq!(serde_json::from_str::<WebRequest>(&passed_on).unwrap(), asked);
        }
    }
    let number = PhoneNumber::from_u64(5_511_988_887_777).map(WebRecipient::Number).unwrap();
    let text = Content::Text { body: "hi".to_owned(), preview_url: None };
    let wrong = |recipient: &WebRecipient, content: &Content| {
        let request = WebRequest {
            quotes: None,
            recipient: recipient.clone(),
            content: content.clone(),
            label: Label::default(),
            values: None,
            ignored: Vec::new(),
        };
        request.check(&Limits::default()).unwrap_err().code
    };
    let group = WebRecipient::Group("1@evil".to_owned());
    assert_eq!(wrong(&group, &text), Code::InvalidPhoneNumber);
    assert_eq!(wrong(&WebRecipient::Group(" 55-14".to_owned()), &text), Code::InvalidBody);
    let renamed = Content::Document {
        link: link.to_owned(),
        caption: None,
        filename: Some("../../etc/passwd".to_owned()),
    };
    assert_eq!(wrong(&number, &renamed), Code::InvalidField);
    let interactive = Content::Interactive { interactive: json!({}) };
    assert_eq!(wrong(&number, &interactive), Code::InvalidType);
    assert_eq!(
        wrong(&number, &Content::Text { body: "x".repeat(4_097), preview_url: None }),
        Code::TextTooLong
    );
}
