//! Updates about templates, accounts and numbers.

use super::*;
use crate::update::{AccountChange, TemplateChange};
use domain::template::Category;
use domain::tier::Quota;

fn heard(field: &str, value: &str) -> Heard {
    let change = format!(r#"{{"field":"{field}","value":{value}}}"#);
    parse(body(&change).as_bytes()).unwrap().remove(0)
}

fn template(field: &str, fields: &str) -> Update {
    let value = format!(
        r#"{{"message_template_id":1689556908129832,"message_template_name":"promo",
            "message_template_language":"en-US",{fields}}}"#
    );
    heard(field, &value).update
}

fn account(value: &str) -> AccountChange {
    match heard("account_update", value).update {
        Update::Account(change) => change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_event_of_a_template_is_a_status() {
    for (event, expected) in [
        ("APPROVED", "APPROVED"),
        ("REINSTATED", "APPROVED"),
        ("UNARCHIVED", "APPROVED"),
        ("UNPAUSE", "APPROVED"),
        ("FLAGGED", "APPROVED"),
        ("PAUSED", "PAUSED"),
        ("DISABLED", "DISABLED"),
        ("REJECTED", "REJECTED"),
        ("PENDING_DELETION", "PENDING_DELETION"),
        ("ARCHIVED", "ARCHIVED"),
        ("something_new", "SOMETHING_NEW"),
    ] {
        let update = template("message_template_status_update", &format!(r#""event":"{event}""#));
        let Update::Template { provider_id, name, language, change } = update else { panic!("{update:?}") };
        assert_eq!((&*provider_id, &*name, &*language), ("1689556908129832", "promo", "en_US"));
        let TemplateChange::Status { status, .. } = change else { panic!("{change:?}") };
        assert_eq!(status.as_str(), expected, "{event}");
    }
}

#[test]
fn a_template_s_status_is_explained() {
    let title = |fields: &str| match template("message_template_status_update", fields) {
        Update::Template { change: TemplateChange::Status { title, .. }, .. } => title,
        other => panic!("{other:?}"),
    };
    let pause = r#""event":"PAUSED","reason":"NONE","other_info":{"title":"FIRST_PAUSE","description":"x"}"#;
    assert_eq!(title(pause).as_deref(), Some("FIRST_PAUSE"));
    assert_eq!(title(r#""event":"REJECTED","reason":"INVALID_FORMAT""#).as_deref(), Some("INVALID_FORMAT"));
    assert_eq!(title(r#""event":"FLAGGED","reason":null"#).as_deref(), Some("FLAGGED"));
    assert_eq!(title(r#""event":"APPROVED","reason":"NONE","other_info":7"#), None);
}

#[test]
fn a_template_s_rating_and_category_are_heard() {
    let change = |field, fields: &str| match template(field, fields) {
        Update::Template { change, .. } => change,
        other => panic!("{other:?}"),
    };
    let rated = r#""previous_quality_score":"GREEN","new_quality_score":"YELLOW""#;
    let quality = change("message_template_quality_update", rated);
    assert_eq!(quality, TemplateChange::Quality("YELLOW".to_owned()));
    let announced =
        r#""correct_category":"MARKETING","new_category":"UTILITY","category_update_timestamp":1"#;
    let category = change("template_category_update", announced);
    assert_eq!(category, TemplateChange::Category(Category::Utility));
    assert_eq!(
        template("message_template_status_update", r#""event":null"#),
        unreadable("message_template_status_update")
    );
}

#[test]
fn an_account_that_is_gone_disconnects() {
    for event in ["ACCOUNT_DELETED", "PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED", "ACCOUNT_OFFBOARDED"] {
        let change = account(&format!(r#"{{"event":"{event}"}}"#));
        assert!(matches!(change, AccountChange::Disconnected(_)), "{event}: {change:?}");
    }
    let removed = heard(
        "account_update",
        r#"{"event":"PARTNER_REMOVED","waba_info":{"waba_id":4711},"disconnection_info":{"reason":"PRIMARY_INACTIVITY"}}"#,
    );
    assert_eq!(removed.account.as_deref(), Some("4711"), "the update is under the partner's id");
    let Update::Account(AccountChange::Disconnected(failure)) = removed.update else { panic!() };
    assert_eq!(failure.sentence, "the access to the business account was taken away (PRIMARY_INACTIVITY)");
}

#[test]
fn an_account_is_blocked_by_a_ban_and_by_restrictions_of_sending() {
    let ban = |state: &str| {
        account(&format!(r#"{{"event":"DISABLED_UPDATE","ban_info":{{"waba_ban_state":"{state}"}}}}"#))
    };
    assert!(matches!(ban("DISABLE"), AccountChange::Blocked(_)));
    assert_eq!(ban("REINSTATE"), AccountChange::Restored);
    assert_eq!(ban("SCHEDULE_FOR_DISABLE"), AccountChange::Other("DISABLED_UPDATE".to_owned()));

    let restricted =
        |list: &str| account(&format!(r#"{{"event":"ACCOUNT_RESTRICTION","restriction_info":{list}}}"#));
    let sending = r#"[{"restriction_type":"RESTRICTED_ADD_PHONE_NUMBER_ACTION"},{"restriction_type":
        "RESTRICTED_BIZ_INITIATED_MESSAGING","expiration":1700000000,"remediation":"Wait."}]"#;
    let AccountChange::Blocked(failure) = restricted(sending) else { panic!("it may not send") };
    assert_eq!(
        failure.sentence,
        "the business account may not begin conversations until 2023-11-14T22:13:20.000Z: Wait."
    );
    let adding = r#"[{"restriction_type":"RESTRICTED_ADD_PHONE_NUMBER_ACTION"}]"#;
    for list in [adding, "[]", "null", "7"] {
        assert_eq!(restricted(list), AccountChange::Other("ACCOUNT_RESTRICTION".to_owned()), "{list}");
    }
}

#[test]
fn other_events_of_an_account_are_named() {
    assert_eq!(account(r#"{"event":"ACCOUNT_RECONNECTED"}"#), AccountChange::Restored);
    let violation = r#"{"event":"ACCOUNT_VIOLATION","violation_info":{"violation_type":"SPAM"}}"#;
    assert_eq!(account(violation), AccountChange::Other("ACCOUNT_VIOLATION".to_owned()));
    assert_eq!(heard("account_update", "{}").update, unreadable("account_update"));
    let review = heard("account_review_update", r#"{"decision":"APPROVED"}"#).update;
    assert_eq!(review, Update::Account(AccountChange::Other("account_review_update".to_owned())));
}

#[test]
fn a_change_of_a_number_is_heard() {
    let value = r#"{"display_phone_number":"+1 555-078-3881","event":"THROUGHPUT_UPGRADE","max_daily_conversations_per_business":"TIER_UNLIMITED"}"#;
    let expected = Update::Number {
        phone_number: PhoneNumber::parse("15550783881").ok(),
        event: "THROUGHPUT_UPGRADE".to_owned(),
    };
    assert_eq!(heard("phone_number_quality_update", value).update, expected);
    let named = r#"{"display_phone_number":15550783881,"decision":"APPROVED"}"#;
    assert!(
        matches!(heard("phone_number_name_update", named).update, Update::Number { event, .. } if event == "APPROVED")
    );
}

#[test]
fn a_limit_is_a_number_or_a_word() {
    let limit = |value: &str| match heard("business_capability_update", value).update {
        Update::Limit { messaging_limit } => messaging_limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(r#"{"max_daily_conversations_per_business":2000}"#), Some(Quota::AtMost(2_000)));
    assert_eq!(limit(r#"{"max_daily_conversations_per_business":"TIER_2K"}"#), Some(Quota::AtMost(2_000)));
    assert_eq!(limit(r#"{"max_daily_conversations_per_business":-1}"#), Some(Quota::Unlimited));
    assert_eq!(limit(r#"{"max_daily_conversation_per_phone":250}"#), Some(Quota::AtMost(250)));
    assert_eq!(limit(r#"{"max_phone_numbers_per_business":25}"#), None);
}
