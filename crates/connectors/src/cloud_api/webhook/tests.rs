//! Webhooks in the provider's form, and invalid ones.

mod hostile;
mod management;

use serde_json::json;

use super::*;
use crate::Disposition;
use crate::update::Receipt;
use domain::inbound::{AnswerSource, Direction, InboundContent, InboundMessage, Peer};
use domain::message::{Failure, Key, State};
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

fn inbound(fields: &str) -> Vec<InboundMessage> {
    let message = |update| match update {
        Update::Inbound(message) => *message,
        other => panic!("{other:?}"),
    };
    updates(&body(&messages(fields))).into_iter().map(message).collect()
}

/// The content of a message with these fields.
fn said(fields: &str) -> InboundContent {
    let message = format!(r#"{{"from":"16505551234","id":"wamid.B=","timestamp":"1749416383",{fields}}}"#);
    inbound(&format!(r#""messages":[{message}]"#)).remove(0).body.content
}

#[test]
fn a_message_names_its_person_and_what_it_answers() {
    let contacts = r#""contacts":[{"profile":{"name":"Ana"},"wa_id":"999"},{"profile":{"name":"\u00c9"},"wa_id":"16505551234","user_id":"US.7"}]"#;
    let message = r#"{"from":"16505551234","id":"wamid.B=","timestamp":"1749416383","type":"text","text":{"body":"hi"},
        "context":{"from":"1","id":"wamid.A=","frequently_forwarded":true,"referred_product":{"catalog_id":"c","product_retailer_id":"sku"}},
        "referral":{"source_type":"ad","source_id":"7","source_url":"https://fb.me/x","headline":"Sale","ctwa_clid":"k"}}"#;
    let heard = inbound(&format!(r#"{contacts},"messages":[{message}]"#)).remove(0);
    let person = Peer {
        number: PhoneNumber::parse("16505551234").ok(),
        user_id: Some("US.7".to_owned()),
        name: Some("É".to_owned()),
        group: None,
    };
    assert_eq!((heard.id.as_str(), heard.peer, heard.at), ("wamid.B=", person, at(1_749_416_383)));
    assert_eq!((heard.direction, heard.is_past), (Direction::In, false));
    let context = heard.body.context.unwrap();
    assert_eq!((context.message_id.as_deref(), context.forwarded), (Some("wamid.A="), true));
    assert_eq!(context.product.unwrap().product_retailer_id.as_deref(), Some("sku"));
    let referral = heard.body.referral.unwrap();
    assert_eq!((referral.source_id.as_deref(), referral.click_id.as_deref()), (Some("7"), Some("k")));
}

#[test]
fn each_type_of_message_is_read() {
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(said(r#""type":"text","text":{"body":"hi"}"#), InboundContent::Text { body: "hi".to_owned() });
    let image = said(
        r#""type":"image","image":{"id":17,"mime_type":"image/jpeg","sha256":"aGk=","caption":"the door"}"#,
    );
    let InboundContent::Image { media } = image else { panic!("{image:?}") };
    assert_eq!((media.id, media.caption, media.sha256), (text("17"), text("the door"), text("aGk=")));
    let audio = said(r#""type":"audio","audio":{"id":"18","voice":true}"#);
    assert!(matches!(&audio, InboundContent::Audio { media } if media.voice), "{audio:?}");
    let place =
        said(r#""type":"location","location":{"latitude":-23.5,"longitude":"-46.6","name":"Padaria"}"#);
    assert!(matches!(&place, InboundContent::Location { .. }) && place.line() == "Padaria", "{place:?}");
    let cards =
        r#""type":"contacts","contacts":[{"name":{"formatted_name":"Bo"},"phones":[{"phone":"+1 650"}]}]"#;
    let cards = said(cards);
    assert!(
        matches!(&cards, InboundContent::Contacts { contacts } if contacts[0].phones == ["+1 650"]),
        "{cards:?}"
    );
    let message_id = || "wamid.A=".to_owned();
    assert_eq!(
        said(r#""type":"reaction","reaction":{"message_id":"wamid.A=","emoji":""}"#),
        InboundContent::Reaction { message_id: message_id(), emoji: None }
    );
    assert_eq!(
        said(
            r#""type":"edit","edit":{"original_message_id":"wamid.A=","message":{"type":"text","text":{"body":"now"}}}"#
        ),
        InboundContent::Edit { message_id: message_id(), text: text("now") }
    );
    assert_eq!(
        said(r#""type":"revoke","revoke":{"original_message_id":"wamid.A="}"#),
        InboundContent::Deletion { message_id: message_id() }
    );
    for (fields, source, id) in [
        (r#""type":"button","button":{"payload":"YES","text":"Yes"}"#, AnswerSource::Template, "YES"),
        (
            r#""type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"b","title":"Yes"}}"#,
            AnswerSource::Button,
            "b",
        ),
        (
            r#""type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"r","title":"Yes"}}"#,
            AnswerSource::List,
            "r",
        ),
    ] {
        let (id, title) = (text(id), "Yes".to_owned());
        assert_eq!(said(fields), InboundContent::Answer { source, id, title, description: None });
    }
    let flow = said(
        r#""type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{\"a\":1}"}}"#,
    );
    assert!(matches!(&flow, InboundContent::Flow { response, .. } if response["a"] == 1), "{flow:?}");
    let order = said(
        r#""type":"order","order":{"catalog_id":"c","product_items":[{"product_retailer_id":"sku","quantity":"2","item_price":3.5,"currency":"EUR"}]}"#,
    );
    assert!(
        matches!(&order, InboundContent::Order { items, .. } if items[0].quantity == Some(2)),
        "{order:?}"
    );
    let system = said(r#""type":"system","system":{"type":"user_changed_number","wa_id":"16505550000"}"#);
    assert!(
        matches!(&system, InboundContent::System { new_number: Some(new), .. } if new == "+16505550000"),
        "{system:?}"
    );
}

#[test]
fn what_is_unknown_or_unreadable_is_kept_whole_and_stops_nothing() {
    let unknown = r#"{"from":"1650555123","id":"a","type":"unsupported","errors":[{"code":131051,"title":"Message type unknown"}]}"#;
    let broken = r#"{"from":"1650555123","id":"b","type":"image","image":7}"#;
    let fields = format!(r#""messages":[{unknown},{{"type":"text"}},{broken}]"#);
    let heard = updates(&body(&messages(&fields)));
    let [Update::Inbound(unknown), unread, Update::Inbound(broken)] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(unread, &unreadable("messages.messages"));
    let InboundContent::Unsupported { kind, reason, raw } = &unknown.body.content else { panic!() };
    assert_eq!((kind.as_deref(), reason.as_deref()), (Some("unsupported"), Some("Message type unknown")));
    assert_eq!(raw["id"], "a");
    assert!(matches!(&broken.body.content, InboundContent::Unsupported { raw, .. } if raw["image"] == 7));
}

#[test]
fn half_of_a_character_is_no_text_and_the_message_stays() {
    let half = said(r#""type":"text","text":{"body":"\ud83d hi"}"#);
    assert!(matches!(half, InboundContent::Unsupported { .. }), "{half:?}");
}

#[test]
fn echoes_calls_and_histories_are_read() {
    let change = |field: &str, fields: &str| {
        format!(r#"{{"field":"{field}","value":{{"metadata":{{"phone_number_id":"1065"}},{fields}}}}}"#)
    };
    let one = |field: &str, fields: &str| match &updates(&body(&change(field, fields)))[..] {
        [Update::Inbound(message)] => (**message).clone(),
        other => panic!("{other:?}"),
    };
    let echo = r#""message_echoes":[{"from":"15550783881","to":"16505551234","id":"e","timestamp":"1","type":"text","text":{"body":"hi"}}]"#;
    let echo = one("smb_message_echoes", echo);
    assert_eq!((echo.direction, echo.peer.number), (Direction::Echo, PhoneNumber::parse("16505551234").ok()));
    let call = r#""calls":[{"id":"c","from":"16505551234","event":"connect","direction":"USER_INITIATED","timestamp":"1"}]"#;
    assert!(one("calls", call).opens_window());
    let thread = |from: &str| {
        format!(
            r#""history":[{{"threads":[{{"id":"16505551234","messages":[{{"from":"{from}","id":"h","timestamp":"1","type":"text","text":{{"body":"old"}}}}]}}]}}]"#
        )
    };
    let old = one("history", &thread("16505551234"));
    assert_eq!((old.direction, old.is_past), (Direction::In, true));
    let own = one("history", &thread("15550783881"));
    assert_eq!((own.direction, own.peer.number), (Direction::Echo, PhoneNumber::parse("16505551234").ok()));
}

#[test]
fn a_message_of_a_person_without_a_number_is_heard() {
    let heard = inbound(
        r#""messages":[{"from_user_id":"US.1","id":"wamid.C=","timestamp":"1","type":"text","text":{"body":"hi"}}]"#,
    );
    assert_eq!((heard[0].peer.user_id.as_deref(), heard[0].peer.number), (Some("US.1"), None));
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
    let updates = heard.into_iter().map(|heard| heard.update);
    let (said, updates): (Vec<_>, Vec<_>) =
        updates.partition(|update| matches!(update, Update::Notice { .. }));
    let Some(Update::Notice { field, phone_number: None, value }) = said.first() else { panic!("{said:?}") };
    let first = json!({
        "contacts": [{ "profile": { "name": "16505551234" }, "wa_id": "16505551234" }],
        "user_preferences": [{ "wa_id": "16505551234", "detail": "x", "category": "marketing_messages",
            "value": "stop", "timestamp": 1_731_705_721 }],
    });
    let value: serde_json::Value = serde_json::from_str(value).unwrap();
    assert_eq!((said.len(), field.as_str(), value), (3, "user_preferences", first), "each person is told of");
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
