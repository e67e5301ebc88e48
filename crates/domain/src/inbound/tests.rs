use serde_json::json;

use super::*;
use crate::phone::PhoneNumber;

fn text(body: &str) -> InboundContent {
    InboundContent::Text { body: body.to_owned() }
}

#[test]
fn a_body_is_read_as_it_was_written_and_told_without_the_keys_of_its_file() {
    let keys = MediaKeys {
        direct_path: "/v/1".to_owned(),
        media_key: "a2V5".to_owned(),
        sealed_sha256: "c2hh".to_owned(),
    };
    let media = InboundMedia {
        mime_type: Some("image/jpeg".to_owned()),
        caption: Some("the door".to_owned()),
        keys: Some(keys),
        ..InboundMedia::default()
    };
    let body = InboundBody::of(InboundContent::Image { media });
    assert_eq!(InboundBody::from_json(&body.to_json()), Some(body.clone()));
    let told = serde_json::to_value(body.clone().public()).unwrap();
    assert_eq!(
        (&told["content"]["type"], &told["content"]["media"]["caption"]),
        (&json!("image"), &json!("the door"))
    );
    assert!(told["content"]["media"].get("keys").is_none(), "{told}");
    assert!(!format!("{body:?}").contains("a2V5"), "keys are in no log");
}

#[test]
fn a_line_is_short_and_an_edit_replaces_text_or_caption() {
    let mut content = text(&format!("  one\n two {}", "x".repeat(500)));
    assert!(content.line().starts_with("one two x") && content.line().chars().count() == 160);
    content.edit(Some("three"));
    assert_eq!(content, text("three"));
    let mut media = InboundContent::Document { media: InboundMedia::default() };
    media.edit(Some("caption"));
    assert_eq!(media.line(), "caption");
}

#[test]
fn only_what_a_person_does_anew_opens_a_window() {
    let message = |content, direction, is_past| InboundMessage {
        id: "1".to_owned(),
        direction,
        peer: Peer::default(),
        at: Timestamp::from_millis(0),
        is_past,
        by_admin: false,
        body: InboundBody::of(content),
    };
    let of = |id: &str| id.to_owned();
    assert!(message(text("hi"), Direction::In, false).opens_window());
    assert!(message(InboundContent::Call { event: of("connect") }, Direction::In, false).opens_window());
    assert!(!message(InboundContent::Deletion { message_id: of("1") }, Direction::In, false).opens_window());
    assert!(!message(text("hi"), Direction::Echo, false).opens_window());
    assert!(!message(text("hi"), Direction::In, true).opens_window());
    assert_eq!(message(text("STOP"), Direction::In, true).text(), None, "an old word stops nothing now");
}

#[test]
fn a_window_is_enforced_once_inbound_was_recorded_for_a_day() {
    let now = Timestamp::from_millis(1_900_000_000_000);
    let day_ago = Some(now.minus(SERVICE_WINDOW));
    for (rule, recorded_since, expected) in [
        (WindowRule::Auto, None, false),
        (WindowRule::Auto, Some(now), false),
        (WindowRule::Auto, day_ago, true),
        (WindowRule::Enforce, None, true),
        (WindowRule::Provider, day_ago, false),
    ] {
        assert_eq!(Windows { rule, recorded_since }.are_enforced(now), expected, "{rule} {recorded_since:?}");
        assert_eq!(WindowRule::from_i16(rule.as_i16()), Some(rule));
    }
}

#[test]
fn a_key_leads_back_to_its_person_or_group() {
    let number = PhoneNumber::parse("5511988887777").unwrap();
    assert_eq!(PeerKey::of_number(number).number(), Some(number));
    let user = PeerKey::of_user("BR.123");
    assert_eq!((user.user_id(), user.number(), user.group()), (Some("BR.123"), None, None));
    let group = PeerKey::of_group("120363000000000001");
    assert_eq!((group.group(), group.number()), (Some("120363000000000001"), None));
}

#[test]
fn texts_and_objects_are_bounded() {
    assert_eq!(bounded("a\0b"), "ab");
    assert!(bounded(&"é".repeat(40_000)).len() <= 64 * 1024);
    assert_eq!(bounded_raw(r#"{"a":1}"#), json!({ "a": 1 }));
    assert!(bounded_raw(&format!("[{}1]", "1,".repeat(10_000))).as_str().unwrap().len() <= 16 * 1024);
}
