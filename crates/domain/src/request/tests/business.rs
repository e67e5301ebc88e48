//! Sends through a business account.

use serde_json::{Value, json};

use super::super::*;
use super::code;
use crate::content::Content;
use crate::error::Code;
use crate::send::Schedule;
use crate::template::Component;
use clock::Timestamp;

fn parse(body: &Value) -> Result<BusinessRequest, crate::error::Refusal> {
    BusinessRequest::parse(body.to_string().as_bytes(), &Limits::default())
}

/// A body to a valid number, with these fields laid over it.
fn to_one(fields: &Value) -> Value {
    let mut body = json!({"phone_number": "+55 11 98888-7777"});
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields.clone());
    }
    body
}

fn audience(phone_number: &Value, contact_tag_id: &Value) -> Option<Audience> {
    let body = json!({
        "type": "text", "message": "x", "phone_number": phone_number, "contact_tag_id": contact_tag_id,
    });
    parse(&body).ok().map(|request| request.audience)
}

#[test]
fn each_wrong_body_has_its_code() {
    let long = |chars: usize| "ç".repeat(chars);
    let link = format!("https://h/{}", "x".repeat(2048));
    let image = "https://h/a.jpg";
    for (fields, expected) in [
        (json!({}), Code::MissingType),
        (json!({"type": null}), Code::MissingType),
        (json!({"type": " "}), Code::MissingType),
        (json!({"type": []}), Code::MissingType),
        (json!({"type": 5}), Code::InvalidType),
        (json!({"type": true}), Code::InvalidType),
        (json!({"type": ["text"]}), Code::InvalidType),
        (json!({"type": "Text"}), Code::InvalidType),
        (json!({"type": "poll"}), Code::InvalidType),
        (json!({"type": "text", "phone_number": null}), Code::MissingRecipient),
        (json!({"type": "text", "phone_number": "  "}), Code::MissingRecipient),
        (json!({"type": "text", "phone_number": [], "contact_tag_id": ""}), Code::MissingRecipient),
        (
            json!({"type": "text", "phone_number": [null, "", " "], "contact_tag_id": [null]}),
            Code::MissingRecipient,
        ),
        (json!({"type": "text", "phone_number": true}), Code::InvalidField),
        (json!({"type": "text", "phone_number": {}}), Code::InvalidField),
        (json!({"type": "text", "phone_number": ["5511988887777", ["5511988887777"]]}), Code::InvalidField),
        (json!({"type": "text", "phone_number": ["5511988887777", false]}), Code::InvalidField),
        (json!({"type": "text", "contact_tag_id": 7}), Code::InvalidField),
        (json!({"type": "text", "contact_tag_id": [{}]}), Code::InvalidField),
        (json!({"type": "text"}), Code::MissingMessage),
        (json!({"type": "text", "message": "\n "}), Code::MissingMessage),
        (json!({"type": "text", "message": []}), Code::MissingMessage),
        (json!({"type": "text", "message": 5}), Code::InvalidField),
        (json!({"type": "text", "message": {"body": "x"}}), Code::InvalidField),
        (json!({"type": "text", "message": long(4097)}), Code::TextTooLong),
        (json!({"type": "image"}), Code::MissingLink),
        (json!({"type": "video", "link": ""}), Code::MissingLink),
        (json!({"type": "audio", "link": null}), Code::MissingLink),
        (json!({"type": "document", "link": 5}), Code::InvalidField),
        (json!({"type": "image", "link": "h/a.jpg"}), Code::InvalidLink),
        (json!({"type": "audio", "link": "ftp://h/a.ogg"}), Code::InvalidLink),
        (json!({"type": "image", "link": link}), Code::LinkTooLong),
        (json!({"type": "audio", "link": link}), Code::LinkTooLong),
        (json!({"type": "image", "link": image, "caption": 5}), Code::InvalidField),
        (json!({"type": "image", "link": image, "caption": long(1025)}), Code::CaptionTooLong),
        (json!({"type": "template"}), Code::MissingTemplateId),
        (json!({"type": "template", "template_id": ""}), Code::MissingTemplateId),
        (json!({"type": "template", "template_id": 1, "language": 5}), Code::InvalidField),
        (json!({"type": "template", "template_id": 1}), Code::MissingComponents),
        (json!({"type": "template", "template_id": 1, "components": " "}), Code::MissingComponents),
        (json!({"type": "template", "template_id": 1, "components": {}}), Code::InvalidField),
        (json!({"type": "template", "template_id": 1, "components": [5]}), Code::InvalidComponents),
        (json!({"type": "interactive"}), Code::MissingInteractive),
        (json!({"type": "interactive", "interactive": []}), Code::MissingInteractive),
        (json!({"type": "interactive", "interactive": "x"}), Code::InvalidField),
        (json!({"type": "interactive", "interactive": [1]}), Code::InvalidField),
        (json!({"type": "interactive", "interactive": {}}), Code::InvalidInteractive),
        (json!({"type": "sticker"}), Code::MissingLink),
        (json!({"type": "sticker", "link": "h/a.webp"}), Code::InvalidLink),
        (json!({"type": "sticker", "link": link}), Code::LinkTooLong),
        (json!({"type": "location"}), Code::MissingLocation),
        (json!({"type": "location", "location": " "}), Code::MissingLocation),
        (json!({"type": "location", "location": [1]}), Code::InvalidField),
        (json!({"type": "location", "location": {}}), Code::InvalidLocation),
        (json!({"type": "location", "location": {"latitude": 91, "longitude": 0}}), Code::InvalidLocation),
        (json!({"type": "contacts"}), Code::MissingContacts),
        (json!({"type": "contacts", "contacts": []}), Code::MissingContacts),
        (json!({"type": "contacts", "contacts": {}}), Code::InvalidField),
        (json!({"type": "contacts", "contacts": [{}]}), Code::InvalidContacts),
        (json!({"type": "reaction"}), Code::MissingReaction),
        (json!({"type": "reaction", "reaction": "👍"}), Code::InvalidField),
        (json!({"type": "reaction", "reaction": {"emoji": "👍"}}), Code::InvalidReaction),
        (json!({"type": "reaction", "reaction": {"message_id": "wamid.x"}}), Code::InvalidReaction),
        (json!({"type": "text", "message": "x", "send_at": 7}), Code::InvalidField),
        (json!({"type": "text", "message": "x", "expires_at": "soon"}), Code::InvalidField),
    ] {
        assert_eq!(code(parse(&to_one(&fields))), Some(expected), "{fields}");
    }
}

#[test]
fn a_template_id_is_a_positive_whole_number_or_its_digits() {
    let id = |template_id: &str| {
        let body = format!(
            r#"{{"type":"template","phone_number":5511988887777,"components":[],"template_id":{template_id}}}"#
        );
        BusinessRequest::parse(body.as_bytes(), &Limits::default()).map(|request| match request.content {
            RequestedContent::Template(template) => template.template_id,
            RequestedContent::Ready(_) | RequestedContent::OrTemplate(..) => 0,
        })
    };
    for (given, expected) in
        [("7", 7), ("\"7\"", 7), ("\" 0042 \"", 42), ("9007199254740993", 9_007_199_254_740_993)]
    {
        assert_eq!(id(given), Ok(expected), "{given}");
    }
    // Whole numbers that no template has: the look-up finds nothing.
    for (given, expected) in [
        ("0", 0),
        ("-7", -7),
        ("\"-7\"", -7),
        ("99999999999999999999", i64::MAX),
        ("-99999999999999999999", -i64::MAX),
    ] {
        assert_eq!(id(given), Ok(expected), "{given}");
    }
    for given in [
        "-1.5",
        "\"-\"",
        "\"--7\"",
        "1.0",
        "1e3",
        "\"12x\"",
        "\"+7\"",
        "\"1.5\"",
        "true",
        "[7]",
        "{}",
        "\"٧\"",
        r#""\ud800""#,
    ] {
        assert_eq!(code(id(given)), Some(Code::InvalidTemplateIdFormat), "{given}");
    }
}

#[test]
fn the_first_failing_check_answers() {
    // Each step fixes the field that the previous step refused.
    let mut body = json!({
        "phone_number": [], "contact_tag_id": [], "link": "nowhere", "caption": 5, "message": 5, "template_id": "x",
        "send_at": "soon", "expires_at": [7],
    });
    let steps = [
        (None, Code::MissingType),
        (Some(("type", json!("sms"))), Code::InvalidType),
        (Some(("type", json!("image"))), Code::MissingRecipient),
        (Some(("phone_number", Value::from(vec![1; 100_001]))), Code::InvalidLink),
        (Some(("link", Value::from(format!("https://h/{}", "x".repeat(2048))))), Code::InvalidField),
        (Some(("caption", Value::from("x".repeat(1025)))), Code::LinkTooLong),
        (Some(("link", json!("https://h/x"))), Code::CaptionTooLong),
        (Some(("caption", Value::Null)), Code::TooManyRecipients),
        (Some(("contact_tag_id", Value::from(vec!["x"; 101]))), Code::TooManyRecipients),
        (Some(("phone_number", Value::from(vec![1; 100_000]))), Code::TooManyTags),
        (Some(("contact_tag_id", Value::Null)), Code::InvalidField),
        (Some(("type", json!("text"))), Code::InvalidField),
        (Some(("message", Value::from("x".repeat(4097)))), Code::TextTooLong),
        (Some(("type", json!("template"))), Code::InvalidTemplateIdFormat),
        (Some(("template_id", json!(1))), Code::MissingComponents),
    ];
    for (mend, expected) in steps {
        if let (Some((field, value)), Value::Object(fields)) = (mend, &mut body) {
            fields.insert(field.to_owned(), value);
        }
        assert_eq!(code(parse(&body)), Some(expected));
    }
}

#[test]
fn one_value_and_an_array_name_recipients_and_what_is_no_number_is_reported() {
    let numbers = |phone_number: Value| {
        audience(&phone_number, &Value::Null)
            .map(|audience| audience.numbers.iter().map(|number| number.as_u64()).collect::<Vec<_>>())
    };
    assert_eq!(numbers(json!("+55 (11) 98888-7777")), Some(vec![5_511_988_887_777]));
    assert_eq!(numbers(json!(5_511_988_887_777_u64)), Some(vec![5_511_988_887_777]));
    assert_eq!(
        numbers(json!([5_511_988_887_777_u64, null, "5511988887777"])),
        Some(vec![5_511_988_887_777; 2])
    );
    let long = format!("x{}", "9".repeat(80));
    let mixed =
        json!(["5511988887777", "n/a", 123, 1.5, -5_511_988_887_777_i64, 1e300, long, "0044 20 7946 0958"]);
    let skipped = audience(&mixed, &Value::Null).map(|audience| audience.skipped).unwrap_or_default();
    assert_eq!(skipped.count, 7);
    let shown: Vec<_> = skipped.first.iter().map(|it| (it.input.as_str(), it.reason.as_str())).collect();
    let cut = format!("x{}…", "9".repeat(63));
    assert_eq!(
        shown,
        [
            ("n/a", "has no digits"),
            ("123", "has fewer than 7 digits"),
            ("1.5", "is not a whole positive number"),
            ("-5511988887777", "is not a whole positive number"),
            ("1e+300", "is not a whole positive number"),
            (cut.as_str(), "has more than 15 digits"),
            ("0044 20 7946 0958", "begins with 0 instead of a country code"),
        ]
    );
}

#[test]
fn only_invalid_entries_are_not_an_error_yet_and_only_the_first_hundred_are_shown() {
    let many = audience(&Value::from(vec!["x"; 250]), &Value::Null).unwrap_or_default();
    assert_eq!((many.numbers.len(), many.skipped.count, many.skipped.shown().len()), (0, 250, 100));
    // One value is one number, whatever separates its digits.
    let joined = audience(&json!("5511988887777,5511988887778"), &Value::Null).unwrap_or_default();
    assert_eq!((joined.numbers.len(), joined.skipped.count), (0, 1));
}

#[test]
fn tags_are_kept_once_and_a_text_that_is_no_id_is_nobody() {
    let (one, two) = ("0192f0c1-2222-7000-8000-000000000001", "0192F0C1-2222-7000-8000-000000000002");
    let tags = |contact_tag_id: Value| audience(&Value::Null, &contact_tag_id).map(|audience| audience.tags);
    assert_eq!(tags(json!(one)).map(|tags| tags.len()), Some(1));
    assert_eq!(tags(json!([two, one, " ", one, "vip"])).map(|tags| tags.len()), Some(2));
    assert_eq!(tags(json!("vip")), Some(Vec::new()));
    let both = audience(&json!("5511988887777"), &json!([one])).unwrap_or_default();
    assert_eq!((both.numbers.len(), both.tags.len()), (1, 1));
}

#[test]
fn each_type_becomes_its_content() {
    let content = |fields: Value| match parse(&to_one(&fields)).map(|request| request.content) {
        Ok(RequestedContent::Ready(content)) => Some(content),
        _ => None,
    };
    let link = || "https://h/a%20b.pdf?x".to_owned();
    let caption = Some("c".to_owned());
    assert_eq!(
        content(json!({"type": "text", "message": " olá\n", "link": 5, "template_id": {}, "unknown": [1]})),
        Some(Content::Text { body: " olá\n".to_owned(), preview_url: None })
    );
    assert_eq!(
        content(json!({"type": "image", "link": link(), "caption": "c"})),
        Some(Content::Image { link: link(), caption: caption.clone() })
    );
    assert_eq!(
        content(json!({"type": "video", "link": link(), "caption": " "})),
        Some(Content::Video { link: link(), caption: None })
    );
    assert_eq!(
        content(json!({"type": "audio", "link": link(), "caption": 5})),
        Some(Content::Audio { link: link(), voice: None })
    );
    assert_eq!(
        content(json!({"type": "document", "link": link(), "caption": "c"})),
        Some(Content::Document { link: link(), caption, filename: Some("a b.pdf".to_owned()) })
    );
    let interactive = json!({"type": "product", "action": {"catalog_id": "1", "product_retailer_id": "2"}});
    assert_eq!(
        content(json!({"type": "interactive", "interactive": interactive})),
        Some(Content::Interactive { interactive })
    );
    assert_eq!(
        content(json!({"type": "sticker", "link": link(), "caption": "c"})),
        Some(Content::Sticker { link: link() })
    );
    for (kind, given) in [
        ("location", json!({"latitude": -23.5613, "longitude": 0.0, "name": "Sol"})),
        ("contacts", json!([{"name": {"formatted_name": "Ana", "last_name": "Souza"}}])),
        ("reaction", json!({"message_id": "wamid.x", "emoji": "👍"})),
    ] {
        let content = content(json!({"type": kind, kind: given}));
        assert_eq!(json!(content), json!({"type": kind, kind: given}));
    }
}

#[test]
fn a_schedule_is_read_whatever_its_offset_and_is_absent_like_any_other_field() {
    let schedule = |fields: Value| {
        let mut text = json!({"type": "text", "message": "x"});
        if let (Value::Object(text), Value::Object(fields)) = (&mut text, fields) {
            text.extend(fields);
        }
        parse(&to_one(&text)).map(|request| request.schedule)
    };
    let moment = Timestamp::from_millis(1_700_000_000_007);
    let fields =
        json!({"send_at": " 2023-11-14T22:13:20.007Z", "expires_at": "2023-11-15T03:43:20.007+05:30"});
    assert_eq!(schedule(fields), Ok(Schedule { send_at: Some(moment), expires_at: Some(moment) }));
    assert_eq!(schedule(json!({"send_at": null, "expires_at": " "})), Ok(Schedule::default()));
}

#[test]
fn a_template_request_keeps_its_language_and_values() {
    let components = json!([{"type": "body", "parameters": [{"type": "text", "text": "Ana"}]}]);
    let fields =
        json!({"type": "template", "template_id": "7", "language": " pt-BR ", "components": components});
    let parsed = parse(&to_one(&fields)).map(|request| request.content);
    let Ok(RequestedContent::Template(template)) = parsed else { panic!("{parsed:?}") };
    assert_eq!((template.template_id, template.language.as_deref()), (7, Some("pt_BR")));
    assert!(matches!(template.components[..], [Component::Body { .. }]));
}

#[test]
fn sentences_name_the_field_and_the_remedy() {
    let sentence =
        |fields: Value| parse(&to_one(&fields)).err().map(|refusal| refusal.sentence).unwrap_or_default();
    insta::assert_snapshot!(
        [
            json!({}),
            json!({"type": "sms"}),
            json!({"type": "text", "phone_number": ""}),
            json!({"type": "text", "phone_number": {}}),
            json!({"type": "text"}),
            json!({"type": "text", "message": 5}),
            json!({"type": "text", "message": "x".repeat(5000)}),
            json!({"type": "image", "link": "a.jpg"}),
            json!({"type": "image", "link": "https://"}),
            json!({"type": "template", "template_id": "x"}),
            json!({"type": "template", "template_id": 1}),
        ]
        .map(sentence)
        .join("\n"),
        @"
        `type` is missing: give one of text, image, video, audio, document, template, interactive, sticker, location, contacts, reaction
        `type` is not one that this channel sends: give one of text, image, video, audio, document, template, interactive, sticker, location, contacts, reaction
        `phone_number`, `contact_tag_id` and `segment_id` are all missing: give at least one of them
        `phone_number` must be a string, a number or an array of these
        `message` is missing: give the text to send
        `message` must be a string
        `message` is longer than 4096 characters
        `link` must begin with http:// or https://
        `link` is not a complete web address such as https://example.com/file.jpg
        `template_id` must be a whole number: the id that the channel's list of templates gives
        `components` is missing: give the values of the template's variables, or [] if it has none
        "
    );
}
