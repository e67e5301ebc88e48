//! Webhooks in the provider's form, and invalid ones.

mod hostile;
mod management;

use super::*;
use crate::Disposition;
use crate::update::Receipt;
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;
use domain::price::{Billing, PriceCategory};
use domain::suppression::Suppression;

/// A body with these changes of the account 1022.
fn body(changes: &str) -> String {
    format!(r#"{{"object":"{OBJECT}","entry":[{{"id":"1022","changes":[{changes}]}}]}}"#)
}

/// A change of the field `messages` of the number 1065.
fn messages(fields: &str) -> String {
    let metadata = r#""metadata":{"display_phone_number":"15550783881","phone_number_id":"1065"}"#;
    format!(r#"{{"field":"messages","value":{{"messaging_product":"whatsapp",{metadata},{fields}}}}}"#)
}

fn updates(body: &str) -> Vec<Update> {
    parse(body.as_bytes()).unwrap().into_iter().map(|heard| heard.update).collect()
}

fn statuses(list: &str) -> Vec<Update> {
    updates(&body(&messages(&format!(r#""statuses":[{list}]"#))))
}

fn receipt(status: &str) -> Receipt {
    match statuses(status).remove(0) {
        Update::Receipt(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn unreadable(field: &str) -> Update {
    Update::Unreadable { field: field.to_owned() }
}

#[test]
fn only_the_secret_s_owner_signs_and_only_these_bytes() {
    let secret = Secret::new("key".to_owned());
    let body = b"The quick brown fox jumps over the lazy dog";
    let digits = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8";
    for header in [
        format!("sha256={digits}"),
        format!("sha256={}", digits.to_uppercase()),
        format!(" SHA256={digits} "),
    ] {
        assert!(verify(&secret, body, &header), "{header}");
    }
    for header in [
        String::new(),
        "sha256=".to_owned(),
        digits.to_owned(),
        format!("sha1={digits}"),
        format!("sha256={}", &digits[2..]),
        format!("sha256={digits}00"),
        format!("sha256={}", digits.replace('f', "e")),
        format!("sha256={}", "g".repeat(64)),
        "sha256é".to_owned(),
    ] {
        assert!(!verify(&secret, body, &header), "{header}");
    }
    let header = format!("sha256={digits}");
    assert!(!verify(&secret, b"the quick brown fox jumps over the lazy dog", &header));
    assert!(!verify(&Secret::new("Key".to_owned()), body, &header));
}

#[test]
fn a_receipt_names_its_message_its_number_and_its_account() {
    let key = Key { send_id: uuid::Uuid::from_u128(0xabc), ordinal: 41 };
    let status = format!(
        r#"{{"id":"wamid.A=","status":"delivered","timestamp":"1750030073","recipient_id":"16505551234",
            "recipient_user_id":"US.7","biz_opaque_callback_data":"{key}","conversation":{{"id":"72b1","expiration_timestamp":"1750116480"}},
            "pricing":{{"billable":true,"pricing_model":"PMP","type":"regular","category":"marketing"}}}}"#
    );
    let heard = parse(body(&messages(&format!(r#""statuses":[{status}]"#))).as_bytes()).unwrap();
    let receipt = Receipt {
        key: Some(key),
        provider_message_id: "wamid.A=".to_owned(),
        state: State::Delivered,
        at: at(1_750_030_073),
        recipient: PhoneNumber::parse("16505551234").ok(),
        user: Some("US.7".to_owned()),
        refusal: None,
        billing: Some(Billing { category: PriceCategory::Marketing, is_charged: true }),
    };
    let expected = Heard {
        account: Some("1022".to_owned()),
        number: Some("1065".to_owned()),
        at: heard[0].at,
        update: Update::Receipt(receipt),
    };
    assert_eq!(heard, [expected]);
}

#[test]
fn each_word_of_a_status_is_a_state() {
    for (word, state) in [
        ("sent", State::Sent),
        ("delivered", State::Delivered),
        ("read", State::Read),
        ("played", State::Read),
        ("failed", State::Failed),
    ] {
        assert_eq!(receipt(&format!(r#"{{"id":"a","status":"{word}"}}"#)).state, state, "{word}");
    }
    let new = statuses(r#"{"id":"a","status":"pondered"}"#);
    assert_eq!(new, [Update::Other { field: "messages.statuses".to_owned() }]);
}

#[test]
fn a_receipt_says_how_its_message_is_billed() {
    for (pricing, expected) in [
        (r#"{"billable":true,"type":"regular","category":"utility"}"#, Some((PriceCategory::Utility, true))),
        (r#"{"billable":false,"category":"service"}"#, Some((PriceCategory::Service, false))),
        (r#"{"type":"regular","category":"marketing_lite"}"#, Some((PriceCategory::Marketing, true))),
        (r#"{"type":"free_entry_point","category":"marketing"}"#, Some((PriceCategory::Marketing, false))),
        (
            r#"{"billable":"true","category":"authentication-international"}"#,
            Some((PriceCategory::AuthenticationInternational, true)),
        ),
        (r#"{"billable":true,"category":"group_marketing"}"#, Some((PriceCategory::Other, true))),
        (r#"{"billable":true}"#, None),
        (r#"{"category":{}}"#, None),
        (r#""free""#, None),
        ("null", None),
    ] {
        let heard = receipt(&format!(r#"{{"id":"a","status":"delivered","pricing":{pricing}}}"#));
        let billing = heard.billing.map(|billing| (billing.category, billing.is_charged));
        assert_eq!(billing, expected, "{pricing}");
    }
}

#[test]
fn missing_and_unusual_fields_of_a_receipt_do_no_harm() {
    let bare =
        receipt(r#"{"id":77,"status":"read","timestamp":1750030073,"biz_opaque_callback_data":"theirs"}"#);
    assert_eq!((bare.key, bare.recipient, bare.at), (None, None, at(1_750_030_073)));
    assert_eq!(bare.provider_message_id, "77");
    let named = receipt(r#"{"id":"a","status":"read","recipient_id":"US.13491208655302741918"}"#);
    assert_eq!(named.recipient, None, "a name of the provider's own is no number");
    let before = Timestamp::now();
    assert!(receipt(r#"{"id":"a","status":"read","timestamp":"soon"}"#).at >= before);
}

#[test]
fn a_failure_says_why_and_what_it_means() {
    let failed = |errors: &str| {
        receipt(&format!(r#"{{"id":"a","status":"failed","timestamp":"1","errors":{errors}}}"#)).refusal
    };
    let error = r#"[{"code":131049,"title":"Healthy","message":"Healthy","error_data":{"details":"Later."},"href":"/x"}]"#;
    let failure = Failure { code: Some(131_049), sentence: "Healthy: Later.".to_owned() };
    assert_eq!(failed(error), Some((Disposition::HoldRecipient, failure)));
    let code = |code: &str| failed(&format!(r#"[{{"code":{code}}}]"#)).unwrap().0;
    assert_eq!(code("131050"), Disposition::Suppress(Suppression::Marketing));
    assert_eq!(code("\"132015\""), Disposition::HoldTemplate);
    assert_eq!(code("131026"), Disposition::Fail);
    assert_eq!(code("999999"), Disposition::Fail);
    let title = Failure { code: None, sentence: "only a title".to_owned() };
    assert_eq!(failed(r#"[null,{"title":"only a title"}]"#), Some((Disposition::Fail, title)));
    for none in ["[]", "null", "{}", "[[]]"] {
        assert_eq!(failed(none), None, "{none}");
    }
}

#[test]
fn a_message_from_a_person_keeps_its_json_and_the_contact_of_its_sender() {
    let contacts = r#""contacts":[{"profile":{"name":"Ana"},"wa_id":"999"},{"profile":{"name":"\u00c9"},"wa_id":"16505551234"}]"#;
    let message = r#"{"from":"16505551234","id":"wamid.B=","timestamp":"1749416383","type":"text","text":{"body":"\ud83d hi"}}"#;
    let heard = updates(&body(&messages(&format!(r#"{contacts},"messages":[{message}]"#))));
    let expected = Update::Inbound {
        id: "wamid.B=".to_owned(),
        from: PhoneNumber::parse("16505551234").ok(),
        user: None,
        // Half of a character: no text, and the message stays readable.
        text: None,
        at: at(1_749_416_383),
        payload: format!(
            r#"{{"message":{message},"contacts":[{{"profile":{{"name":"\u00c9"}},"wa_id":"16505551234"}}]}}"#
        ),
    };
    assert_eq!(heard, [expected]);
}

#[test]
fn a_short_text_and_the_ids_of_its_sender_are_read() {
    let contacts = r#""contacts":[{"wa_id":"16505551234","user_id":"US.7"}]"#;
    let inbound = |message: &str| {
        let heard = updates(&body(&messages(&format!(r#"{contacts},"messages":[{message}]"#))));
        match &heard[..] {
            [Update::Inbound { user, text, .. }] => (user.clone(), text.clone()),
            other => panic!("{other:?}"),
        }
    };
    let text = |text: &str| {
        inbound(&format!(r#"{{"from":"16505551234","id":"a","type":"text","text":{{"body":"{text}"}}}}"#))
    };
    assert_eq!(text("Stop"), (Some("US.7".to_owned()), Some("Stop".to_owned())));
    assert_eq!(text(&"x".repeat(161)).1, None, "no word is so long");
    let button = r#"{"from":"1","from_user_id":"US.8","id":"a","type":"button","button":{"text":"Stop"}}"#;
    assert_eq!(inbound(button), (Some("US.8".to_owned()), None), "a button is not a person's own word");
}

#[test]
fn a_message_without_contacts_or_number_is_heard() {
    let system = r#"{"from_user_id":"US.1","id":"wamid.C=","timestamp":"1","type":"system"}"#;
    let heard = updates(&body(&messages(&format!(r#""messages":[{system},{{"type":"text"}}]"#))));
    let expected = Update::Inbound {
        id: "wamid.C=".to_owned(),
        from: None,
        user: Some("US.1".to_owned()),
        text: None,
        at: at(1),
        payload: format!(r#"{{"message":{system},"contacts":[]}}"#),
    };
    assert_eq!(heard, [expected, unreadable("messages.messages")]);
}

#[test]
fn an_error_of_the_number_is_heard_as_trouble() {
    let heard = updates(&body(&messages(r#""errors":[{"code":130429,"title":"Rate limit hit"}]"#)));
    let failure = Failure { code: Some(130_429), sentence: "Rate limit hit".to_owned() };
    assert_eq!(heard, [Update::Trouble(Disposition::SlowNumber, failure)]);
}

#[test]
fn marketing_is_stopped_and_resumed() {
    let change = r#"{"field":"user_preferences","value":{"metadata":{"phone_number_id":1065},"user_preferences":[
        {"wa_id":"16505551234","detail":"x","category":"marketing_messages","value":"stop","timestamp":1731705721},
        {"wa_id":"16505551234","category":"marketing_messages","value":"resume","timestamp":"1731705722"},
        {"user_id":"US.1","category":"marketing_messages","value":"stop","timestamp":1},
        {"category":"marketing_messages","value":"stop","timestamp":1}]}}"#;
    let heard = parse(body(change).as_bytes()).unwrap();
    assert!(heard.iter().all(|heard| heard.number.as_deref() == Some("1065")));
    let recipient = PhoneNumber::parse("16505551234").ok();
    let updates: Vec<_> = heard.into_iter().map(|heard| heard.update).collect();
    let expected = [
        Update::Preference { recipient, user: None, stops: true, at: at(1_731_705_721) },
        Update::Preference { recipient, user: None, stops: false, at: at(1_731_705_722) },
        Update::Preference { recipient: None, user: Some("US.1".to_owned()), stops: true, at: at(1) },
        unreadable("user_preferences"),
    ];
    assert_eq!(updates, expected);
}

#[test]
fn a_webhook_with_more_updates_than_any_is_refused_and_its_rest_is_not_kept() {
    let webhook = |parts: usize| {
        let statuses = vec![r#"{"id":"x","status":"sent","timestamp":"1"}"#; parts].join(",");
        let change = format!(r#"{{"field":"messages","value":{{"statuses":[{statuses}]}}}}"#);
        parse(format!(r#"{{"object":"{OBJECT}","entry":[{{"id":"1","changes":[{change}]}}]}}"#).as_bytes())
    };
    assert_eq!(webhook(MOST_UPDATES).map(|heard| heard.len()), Ok(MOST_UPDATES));
    assert_eq!(webhook(MOST_UPDATES + 1), Err(NotAWebhook::TooMany));
    let nested = format!(
        r#"{{"object":"{OBJECT}","entry":[{}0]}}"#,
        r#"{"changes":[0,0,0]},"#.repeat(MOST_UPDATES / 2)
    );
    assert_eq!(parse(nested.as_bytes()), Err(NotAWebhook::TooMany));
}
