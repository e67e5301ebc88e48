use super::*;
use crate::inbound::InboundBody;

fn message(body: &InboundBody) -> HookMessage<'_> {
    HookMessage {
        id: "wamid.IN",
        from: Some("5511988887777"),
        from_user_id: None,
        to: None,
        to_user_id: None,
        group: None,
        at: Timestamp::from_millis(1_700_000_000_999),
        body,
    }
}

#[test]
fn a_text_is_made_as_meta_sends_it_and_nothing_more_is_kept() {
    let body = InboundBody::of(InboundContent::Text { body: "oi".to_owned() });
    let meta = json!({ "from": "5511988887777", "id": "wamid.IN", "timestamp": "1700000000", "type": "text",
        "text": { "body": "oi" } });
    assert_eq!(message(&body).object(), meta);
    assert_eq!(message(&body).beyond(&meta.to_string()), None);
}

#[test]
fn what_our_form_does_not_know_is_kept_as_a_change_and_comes_back() {
    let media = InboundMedia {
        id: Some("77".to_owned()),
        mime_type: Some("audio/ogg".to_owned()),
        voice: true,
        ..InboundMedia::default()
    };
    let context = MessageContext { message_id: Some("wamid.OUT".to_owned()), ..MessageContext::default() };
    let mut body = InboundBody { context: Some(context), ..InboundBody::of(InboundContent::Audio { media }) };
    let meta = json!({ "from": "5511988887777", "id": "wamid.IN", "timestamp": "1700000000", "type": "audio",
        "context": { "id": "wamid.OUT", "from": "15550783881" }, "new": { "of": [1, { "two": null }] },
        "audio": { "id": "77", "mime_type": "audio/ogg", "voice": true, "url": "https://lookaside", "seconds": 3 } });
    let beyond = message(&body).beyond(&meta.to_string()).unwrap();
    assert_eq!(
        beyond,
        json!({ "audio": { "seconds": 3 }, "context": { "from": "15550783881" },
            "new": { "of": [1, { "two": null }] } })
    );
    body.beyond = Some(beyond);
    let mut expected = meta;
    expected["audio"].as_object_mut().unwrap().remove("url");
    assert_eq!(message(&body).object(), expected);
    assert!(body.public().beyond.is_none(), "events and the API do not tell it");
}

#[test]
fn fields_that_meta_leaves_out_are_left_out() {
    let body = InboundBody::of(InboundContent::Answer {
        source: AnswerSource::List,
        id: None,
        title: "Grande".to_owned(),
        description: None,
    });
    let meta = json!({ "from": "5511988887777", "id": "wamid.IN", "timestamp": "1700000000",
        "type": "interactive", "interactive": { "type": "list_reply", "list_reply": { "title": "Grande" } } });
    let beyond = message(&body).beyond(&meta.to_string());
    let body = InboundBody { beyond, ..body };
    assert_eq!(message(&body).object(), meta);
}

#[test]
fn an_unknown_type_goes_as_it_came() {
    let raw = json!({ "from": "5511988887777", "id": "wamid.IN", "type": "poll", "poll": { "name": "x" } });
    let content = InboundContent::Unsupported { kind: None, reason: None, raw: raw.clone() };
    let body = InboundBody::of(content);
    assert_eq!(message(&body).beyond(&raw.to_string()), None, "it is kept whole already");
    let mut object = message(&body).object();
    assert_eq!(object, raw);
    make_unsupported(object.as_object_mut().unwrap());
    assert_eq!((&object["type"], &object["id"]), (&json!("unsupported"), &json!("wamid.IN")));
    assert!(object.get("poll").is_none() && object["errors"][0]["code"] == 131_051);
}

#[test]
fn a_reaction_becomes_a_text_that_answers() {
    let reaction = |emoji: Option<&str>| {
        let content =
            InboundContent::Reaction { message_id: "wamid.OUT".to_owned(), emoji: emoji.map(str::to_owned) };
        let mut object = message(&InboundBody::of(content)).object();
        make_text_of_reaction(object.as_object_mut().unwrap());
        object
    };
    let given = reaction(Some("👍"));
    assert_eq!((&given["type"], &given["text"]["body"]), (&json!("text"), &json!("👍")));
    assert_eq!(given["context"]["id"], "wamid.OUT");
    assert_eq!(reaction(None)["type"], "unsupported");
}

#[test]
fn text_outside_ascii_is_escaped_and_means_the_same() {
    let json = in_ascii("{\"key\":\"é 😀\"}".to_owned());
    assert_eq!(json, "{\"key\":\"\\u00e9 \\ud83d\\ude00\"}");
    let read: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["key"], "é 😀");
}
