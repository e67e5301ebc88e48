//! Descriptions of numbers as the provider gives them.

use super::*;

/// The result of a description with these fields beside its id.
fn read(fields: &str) -> Health {
    let comma = if fields.is_empty() { "" } else { "," };
    to_health(format!(r#"{{"id":1065{comma}{fields}}}"#).as_bytes())
}

fn healthy(fields: &str) -> Number {
    match read(fields) {
        Health::Healthy(number) => number,
        other => panic!("{other:?}"),
    }
}

fn blocked_by(entities: &str) -> (Disposition, Failure) {
    let health = format!(r#""health_status":{{"can_send_message":"BLOCKED","entities":[{entities}]}}"#);
    match read(&format!(r#""status":"CONNECTED",{health}"#)) {
        Health::Refused(disposition, failure) => (disposition, failure),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_full_description_is_read() {
    let number = healthy(
        r#""display_phone_number":"+1 555-078-3881","verified_name":"Padaria","status":"CONNECTED",
            "quality_rating":"GREEN","throughput":{"level":"HIGH"},"platform_type":"CLOUD_API","is_on_biz_app":false,
            "whatsapp_business_manager_messaging_limit":"TIER_2K","health_status":{"can_send_message":"AVAILABLE",
            "entities":[{"entity_type":"PHONE_NUMBER","id":1065,"can_send_message":"AVAILABLE"}]}"#,
    );
    let expected = Number {
        phone_number: Some("+1 555-078-3881".to_owned()),
        verified_name: Some("Padaria".to_owned()),
        quality_rating: Some("GREEN".to_owned()),
        status: Some("CONNECTED".to_owned()),
        level: Some(Level::High),
        messaging_limit: Some(Quota::AtMost(2_000)),
    };
    assert_eq!(number, expected);
}

#[test]
fn fields_that_are_left_out_or_of_another_form_are_unknown() {
    assert_eq!(healthy(""), Number::default());
    let odd = healthy(r#""throughput":"HIGH","health_status":[],"quality_rating":{},"verified_name":null"#);
    assert_eq!(odd, Number::default());
    for other in ["<html>", "[]", "{}", "null"] {
        assert!(matches!(to_health(other.as_bytes()), Health::Unknown(_)), "{other}");
    }
}

#[test]
fn a_number_in_the_provider_s_app_is_slow_whatever_its_level_says() {
    let level = |fields: &str| healthy(&format!(r#""throughput":{{"level":"HIGH"}},{fields}"#)).level;
    assert_eq!(level(r#""is_on_biz_app":true,"platform_type":"CLOUD_API""#), Some(Level::Coexistence));
    assert_eq!(level(r#""is_on_biz_app":"true","platform_type":"CLOUD_API""#), Some(Level::Coexistence));
    assert_eq!(level(r#""is_on_biz_app":true,"platform_type":"NOT_APPLICABLE""#), Some(Level::High));
    assert_eq!(healthy(r#""throughput":{"level":"STANDARD"}"#).level, Some(Level::Standard));
    assert_eq!(healthy(r#""throughput":{"level":"NOT_APPLICABLE"}"#).level, Some(Level::NotApplicable));
}

#[test]
fn each_word_of_a_messaging_limit_is_known() {
    for (word, limit) in [
        ("TIER_50", Some(Quota::AtMost(50))),
        ("TIER_250", Some(Quota::AtMost(250))),
        ("TIER_1K", Some(Quota::AtMost(1_000))),
        ("TIER_2K", Some(Quota::AtMost(2_000))),
        ("TIER_10K", Some(Quota::AtMost(10_000))),
        ("TIER_100K", Some(Quota::AtMost(100_000))),
        ("TIER_UNLIMITED", Some(Quota::Unlimited)),
        ("2000", Some(Quota::AtMost(2_000))),
        ("-1", Some(Quota::Unlimited)),
        ("TIER_NOT_SET", None),
        ("TIER_99999999K", None),
        ("0", None),
        ("", None),
    ] {
        assert_eq!(messaging_limit(word), limit, "{word}");
    }
}

#[test]
fn only_a_number_that_is_gone_or_restricted_is_refused() {
    for (status, expected) in [
        ("DISCONNECTED", Some(Disposition::Disconnect)),
        ("MIGRATED", Some(Disposition::Disconnect)),
        ("BANNED", Some(Disposition::Block)),
        ("CONNECTED", None),
        ("FLAGGED", None),
        ("SOMETHING_NEW", None),
    ] {
        match (read(&format!(r#""status":"{status}""#)), expected) {
            (Health::Refused(disposition, _), Some(expected)) => {
                assert_eq!(disposition, expected, "{status}");
            }
            (Health::Healthy(_), None) => {}
            (other, _) => panic!("{status}: {other:?}"),
        }
    }
}

#[test]
fn the_error_of_a_blocked_number_decides_the_disposition() {
    let entity = |code: &str| {
        format!(
            r#"{{"entity_type":"WABA","can_send_message":"BLOCKED","errors":[{{"error_code":{code},
            "error_description":"There is an error.","possible_solution":"Pay the bill."}}]}}"#
        )
    };
    let (disposition, failure) = blocked_by(&entity("141002"));
    assert_eq!((disposition, failure.code), (Disposition::Block, Some(141_002)));
    assert_eq!(
        failure.sentence,
        "the provider says that the waba cannot send: There is an error. Pay the bill."
    );
    for (code, expected) in [
        ("\"133010\"", Disposition::Disconnect),
        ("131042", Disposition::Block),
        ("131057", Disposition::Maintenance),
        ("131026", Disposition::Block),
        ("null", Disposition::Block),
    ] {
        assert_eq!(blocked_by(&entity(code)).0, expected, "{code}");
    }
    let both = format!("{},{}", entity("131042"), entity("190"));
    assert_eq!(
        blocked_by(&both).0,
        Disposition::Disconnect,
        "an error that a new token remedies comes first"
    );
}

#[test]
fn a_block_without_errors_is_a_block_and_a_limited_number_is_healthy() {
    assert_eq!(blocked_by("").0, Disposition::Block);
    let (disposition, failure) = blocked_by(
        r#"{"entity_type":"PHONE_NUMBER","can_send_message":"BLOCKED","additional_info":["Name not approved."]},
           {"entity_type":"APP","can_send_message":"AVAILABLE"}"#,
    );
    assert_eq!(disposition, Disposition::Block);
    assert_eq!(failure.sentence, "the provider says that the phone_number cannot send: Name not approved.");
    let limited = r#""health_status":{"can_send_message":"LIMITED","entities":[{"entity_type":"PHONE_NUMBER",
        "can_send_message":"LIMITED","errors":[{"error_code":131042}]}]}"#;
    assert_eq!(healthy(limited), Number::default());
}
