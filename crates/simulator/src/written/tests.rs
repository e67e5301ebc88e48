use serde_json::{Value, json};

use super::*;
use clock::Timestamp;
use domain::inbound::{Direction, InboundContent};

fn read(mut message: Value) -> Result<PersonMessage, String> {
    message["from"] = "+999 900 000 001".into();
    let read: PersonMessage = serde_json::from_value(message).map_err(|error| error.to_string())?;
    read.fault().map_or(Ok(read), Err)
}

#[test]
fn every_kind_reaches_a_session_as_what_it_is() {
    for (content, kind) in [
        (json!({ "text": "hi" }), "text"),
        (json!({ "image": { "caption": "look" } }), "image"),
        (json!({ "video": {} }), "video"),
        (json!({ "audio": {} }), "audio"),
        (json!({ "voice": {} }), "audio"),
        (json!({ "document": { "file_name": "a.pdf" } }), "document"),
        (json!({ "sticker": {} }), "sticker"),
        (json!({ "location": { "latitude": 1.5, "longitude": -2 } }), "location"),
        (json!({ "contacts": [{ "name": "Rui", "phones": ["+1"] }] }), "contacts"),
        (json!({ "reaction": { "message_id": "a", "emoji": "👍" } }), "reaction"),
        (json!({ "edit": { "message_id": "a", "text": "now" } }), "edit"),
        (json!({ "deletion": {}, "context": "a" }), "deletion"),
        (json!({ "button": { "text": "Yes" } }), "answer"),
        (json!({ "choice": { "id": "1", "title": "Yes" } }), "answer"),
        (json!({ "row": { "id": "1", "title": "Yes" } }), "answer"),
        (json!({ "flow": { "response": { "size": "M" } } }), "flow"),
        (json!({ "order": { "catalog_id": "c", "items": [] } }), "order"),
        (json!({ "call": {} }), "call"),
        (json!({ "moved": { "number": "999900000002" } }), "system"),
        (json!({ "unknown": { "kind": "poll" } }), "unsupported"),
    ] {
        let read = read(content.clone()).unwrap_or_else(|fault| panic!("{content}: {fault}"));
        let file = read.content.stored_file();
        let message = message(&read, "3A", Timestamp::from_millis(5), file.as_ref()).unwrap();
        assert_eq!(message.body.content.kind(), kind, "{content}");
        assert_eq!(message.peer.number.unwrap().to_string(), "999900000001");
        assert_eq!(message.body.content.media().is_some(), file.is_some(), "{content}");
        assert!(message.body.content.target().is_none_or(|target| target == "a"), "{content}");
    }
}

#[test]
fn an_echo_a_group_and_an_answer_say_what_they_are() {
    let told = |fields: Value| {
        let read = read(fields).unwrap();
        message(&read, "3A", Timestamp::from_millis(5), None).unwrap()
    };
    let echo = told(json!({ "text": "we", "echo": true, "name": "Ana" }));
    assert_eq!((echo.direction, echo.peer.group), (Direction::Echo, None));
    let group = told(json!({ "text": "all", "group": "120363000000000001" }));
    let author = group.body.author.unwrap();
    assert_eq!((group.peer.number, author.number.as_deref()), (None, Some("+999900000001")));
    let answer = told(json!({ "text": "yes", "context": "3EB0", "forwarded": true }));
    let context = answer.body.context.unwrap();
    assert_eq!((context.message_id.as_deref(), context.forwarded), (Some("3EB0"), true));
    assert_eq!(answer.body.content, InboundContent::Text { body: "yes".to_owned() });
}

#[test]
fn a_wrong_message_is_refused_with_its_fault() {
    for (message, words) in [
        (json!({}), "exactly one content, such as \"text\", and not none"),
        (json!({ "contxt": "b", "text": "a" }), "contxt, text"),
        (json!({ "gesture": {} }), "gesture"),
        (json!({ "image": { "colour": "red" } }), "colour"),
        (json!({ "image": { "data": "%" } }), "base64"),
        (json!({ "image": { "size": 99_999_999 } }), "at most"),
        (json!({ "reaction": { "emoji": "👍" } }), "needs a message_id"),
        (json!({ "location": { "latitude": 91.0, "longitude": 0.0 } }), "degrees"),
    ] {
        let fault = read(message.clone()).unwrap_err();
        assert!(fault.contains(words), "{message}: {fault}");
    }
}

#[test]
fn varied_answers_can_be_given_and_files_have_the_given_size() {
    assert_eq!(WrittenContent::varied().iter().find_map(WrittenContent::fault_as_answer), None);
    let padded = read(json!({ "image": { "data": "aGk=", "size": 9 } })).unwrap().content;
    assert_eq!(padded.stored_file().unwrap().bytes.as_ref(), b"hi\0\0\0\0\0\0\0");
}
