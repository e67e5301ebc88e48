//! Contents of one structure: what has no effect in them, and to whom they go.

use serde_json::{Value, json};

use super::super::*;
use super::code;
use crate::error::{Code, Refusal};

fn parse(body: &Value) -> Result<BusinessRequest, Refusal> {
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

#[test]
fn fields_that_a_structure_does_not_have_are_named_by_their_path() {
    let ignored = |fields: Value| parse(&to_one(&fields)).map(|request| request.ignored);
    let place = json!({"latitude": 1, "longitude": 2, "lat": 1, "name": null, "live": false});
    assert_eq!(
        ignored(json!({"type": "location", "location": place, "contacts": [{}]})),
        Ok(vec!["contacts".to_owned(), "location.lat".to_owned()])
    );
    let phone = json!({"phone": "190", "kind": "CELL"});
    let card = json!({"name": {"formatted_name": "A", "first_name": "A", "nick": "B"}, "phones": [phone], "note": 1});
    assert_eq!(
        ignored(json!({"type": "contacts", "contacts": [card]})),
        Ok(["contacts[0].name.nick", "contacts[0].note", "contacts[0].phones[0].kind"]
            .map(str::to_owned)
            .to_vec())
    );
    let reaction = json!({"message_id": "wamid.x", "emoji": "", "from_me": true});
    let body = to_one(&json!({"type": "reaction", "reaction": reaction}));
    assert_eq!(parse(&body).map(|request| request.ignored), Ok(vec!["reaction.from_me".to_owned()]));
}

#[test]
fn a_reaction_goes_to_one_number() {
    let one = "5511988887777";
    let tag = "0192f0c1-2222-7000-8000-000000000001";
    let to = |phone_number: Value, contact_tag_id: Value| {
        let body = json!({
            "type": "reaction", "reaction": {"message_id": "wamid.x", "emoji": "👍"},
            "phone_number": phone_number, "contact_tag_id": contact_tag_id,
        });
        code(parse(&body))
    };
    assert_eq!(to(json!(one), Value::Null), None);
    assert_eq!(to(json!([one, null]), json!([])), None);
    assert_eq!(to(json!("nobody"), Value::Null), None, "nobody is left, which is found later");
    for (numbers, tags) in [
        (json!([one, "5511988887778"]), Value::Null),
        (json!([one, one]), Value::Null),
        (json!([one, "nobody"]), Value::Null),
        (json!(one), json!(tag)),
        (Value::Null, json!(tag)),
    ] {
        assert_eq!(to(numbers, tags), Some(Code::TooManyRecipients));
    }
}

#[test]
fn a_web_session_names_what_has_no_effect_in_a_reaction_to_its_own_message() {
    let ignored = |recipient_type: &str, phone_number: &str, from_me: bool| {
        let body = json!({
            "type": "reaction", "recipient_type": recipient_type, "phone_number": phone_number,
            "reaction": {"message_id": "3EB0", "emoji": "👍", "from_me": from_me, "participant": "5511988887777"},
        });
        WebRequest::parse(body.to_string().as_bytes(), &Limits::default()).unwrap().ignored
    };
    assert_eq!(ignored("group", "120363025246125016", false), [""; 0]);
    assert_eq!(ignored("group", "120363025246125016", true), ["reaction.participant"]);
    assert_eq!(ignored("number", "5511988887777", false), ["reaction.participant"]);
}

#[test]
fn the_memory_of_each_structure_counts() {
    let cards = vec![json!({"name": {"formatted_name": "Ana", "first_name": "Ana"}}); 50];
    let body = json!({"type": "contacts", "contacts": cards}).to_string();
    for weight in [BusinessRequest::weight(body.as_bytes()), WebRequest::weight(body.as_bytes())] {
        assert!(weight > 10 * body.len(), "a tree of {} bytes takes {weight}", body.len());
    }
}
