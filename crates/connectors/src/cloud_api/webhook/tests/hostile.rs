//! Every body is parsed or refused, and its valid updates are returned.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const GOOD: &str = r#"{"id":"good","status":"sent","timestamp":"1"}"#;

/// JSON of every form, with objects that have the field names of webhooks.
fn json() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "object",
        "entry",
        "id",
        "time",
        "changes",
        "field",
        "value",
        "metadata",
        "phone_number_id",
        "contacts",
        "statuses",
        "status",
        "timestamp",
        "errors",
        "code",
        "error_data",
        "details",
        "messages",
        "from",
        "wa_id",
        "user_preferences",
        "category",
        "event",
        "message_template_id",
        "message_template_name",
        "message_template_language",
        "restriction_info",
        "ban_info",
        "new_category",
    ]);
    let words = prop::sample::select(vec![
        OBJECT,
        "messages",
        "account_update",
        "user_preferences",
        "message_template_status_update",
        "sent",
        "failed",
        "stop",
        "",
        "-1",
        "99999999999999999999",
        "\u{0}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(names.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn hears_the_good_one(updates: &[Update]) -> bool {
    updates.iter().any(|update| match update {
        Update::Receipt(receipt) => receipt.provider_message_id == "good" && receipt.state == State::Sent,
        _ => false,
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_json_makes_it_panic(value in json()) {
        let _ = parse(value.to_string().as_bytes());
        for field in ["messages", "user_preferences", "account_update", "message_template_status_update"] {
            let change = format!(r#"{{"field":"{field}","value":{value}}}"#);
            prop_assert!(parse(body(&change).as_bytes()).is_ok());
        }
    }

    #[test]
    fn a_receipt_is_heard_beside_any_other_json(before in json(), after in json()) {
        prop_assert!(hears_the_good_one(&statuses(&format!("{before},{GOOD},{after}"))), "among statuses");
        let change = messages(&format!(r#""statuses":[{GOOD}],"messages":{before},"errors":{after}"#));
        prop_assert!(hears_the_good_one(&updates(&body(&change))), "beside other lists");
        prop_assert!(hears_the_good_one(&updates(&body(&format!("{before},{change},{after}")))), "among changes");
        let entry = format!(r#"{{"id":"1022","changes":[{change}]}}"#);
        let entries = format!(r#"{{"object":"{OBJECT}","entry":[{before},{entry},{after}]}}"#);
        prop_assert!(hears_the_good_one(&updates(&entries)), "among entries");
    }

    #[test]
    fn a_body_that_is_cut_or_altered_is_read_or_refused(place in 0_usize..400, byte in any::<u8>()) {
        let whole = body(&messages(&format!(r#""statuses":[{GOOD},{GOOD}]"#)));
        let mut altered = whole.into_bytes();
        let place = place % altered.len();
        prop_assert!(parse(&altered[..place]).is_err());
        altered[place] = byte;
        let _ = parse(&altered);
    }
}

#[test]
fn a_body_that_is_not_about_a_business_account_is_refused() {
    let other = |json: &str| parse(json.as_bytes()).unwrap_err();
    assert_eq!(other(r#"{"object":"page","entry":[]}"#), NotAWebhook::OtherObject("page".to_owned()));
    assert_eq!(other(r#"{"entry":[]}"#), NotAWebhook::OtherObject(String::new()));
    for json in ["", "null", "7", r#""x""#, "{", r#"{"object":"whatsapp_business_account"} x"#] {
        assert!(matches!(other(json), NotAWebhook::Malformed(_)), "{json}");
    }
    assert!(matches!(parse(b"{\"object\":\"\xff\"}"), Err(NotAWebhook::Malformed(_))));
}

#[test]
fn a_webhook_with_nothing_in_it_says_nothing() {
    for rest in ["", r#","entry":[]"#, r#","entry":null"#, r#","entry":[{"id":"1"}]"#] {
        assert_eq!(updates(&format!(r#"{{"object":"{OBJECT}"{rest}}}"#)), [], "{rest}");
    }
    assert_eq!(updates(&body("")), []);
}

#[test]
fn an_unreadable_part_is_reported_with_its_field() {
    assert_eq!(updates(&format!(r#"{{"object":"{OBJECT}","entry":7}}"#)), [unreadable("entry")]);
    assert_eq!(updates(&format!(r#"{{"object":"{OBJECT}","entry":[7]}}"#)), [unreadable("entry")]);
    assert_eq!(updates(&body("{}")), [unreadable("changes")]);
    assert_eq!(updates(&body(r#"{"field":"messages","value":7}"#)), [unreadable("messages")]);
    assert_eq!(updates(&body(&messages(r#""statuses":{}"#))), [unreadable("messages.statuses")]);
    assert_eq!(statuses(r#"{"id":"a"}"#), [unreadable("messages.statuses")]);
    assert_eq!(updates(&body(r#"{"field":"calls","value":{"calls":[7]}}"#)), [unreadable("calls")]);
    let flows = r#"{"field":"flows","value":{}}"#;
    assert_eq!(updates(&body(flows)), [Update::Other { field: "flows".to_owned() }]);
}

#[test]
fn a_full_batch_is_heard_in_its_order_and_depth_does_no_harm() {
    let list: Vec<_> =
        (0..1_000).map(|n| format!(r#"{{"id":"m{n}","status":"sent","timestamp":"{n}"}}"#)).collect();
    let ids: Vec<_> = statuses(&list.join(","))
        .into_iter()
        .map(|update| match update {
            Update::Receipt(receipt) => receipt.provider_message_id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(ids.iter().enumerate().all(|(n, id)| *id == format!("m{n}")) && ids.len() == 1_000);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(hears_the_good_one(&statuses(&format!("{deep},{GOOD}"))));
}
