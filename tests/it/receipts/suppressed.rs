//! Recipients who opted out of marketing still get all other messages; templates are held and released.

use pombo::clock::Timestamp;
use pombo::domain::channel::Status;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::domain::template::{self, Category, ListedTemplate, ParameterFormat};
use pombo::store::changes::Who;
use serde_json::{Value, json};

use super::FIRST;
use super::teller::{Teller, rows, status};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA, until};

stores!(
    a_recipient_who_opted_out_is_skipped_by_marketing_and_by_nothing_else,
    a_template_that_the_provider_withholds_is_not_approved_until_it_is_released,
    the_newest_report_about_a_recipient_wins_in_any_order,
    the_newest_report_about_a_template_wins_in_any_order,
    a_removal_of_the_account_before_its_last_connection_is_ignored,
);

/// Takes over the simulator's templates; those of marketing and utility.
pub(super) async fn templates(running: &Running) -> (i64, i64) {
    let listed: Vec<_> = simulator::default_templates().into_iter().map(listed).collect();
    running.store.of(running.company).templates().sync(WABA, &listed).await.unwrap();
    let id = async |name| {
        let found = running.store.of(running.company).templates().named(WABA, name, "en_US").await.unwrap();
        found.unwrap().id
    };
    (id("promo").await, id("hello_world").await)
}

fn listed(template: simulator::Template) -> ListedTemplate {
    ListedTemplate {
        provider_id: template.name.clone(),
        name: template.name,
        language: template.language,
        category: template.category.as_str().into(),
        status: template.status.as_str().into(),
        parameter_format: ParameterFormat::Positional,
        components: serde_json::value::to_raw_value(&template.components).unwrap(),
        rejected_reason: None,
        quality_score: None,
    }
}

pub(super) fn marketing(template: i64, numbers: &[u64]) -> Value {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    json!({ "type": "template", "template_id": template, "phone_number": numbers, "components": [
        { "type": "header", "parameters": [{ "type": "image", "link": "https://shop.example/spring.jpg" }] },
        { "type": "body", "parameters": text("Priya") },
        { "type": "button", "sub_type": "url", "index": "0", "parameters": text("spring") },
    ] })
}

fn utility(template: i64, numbers: &[u64]) -> Value {
    json!({ "type": "template", "template_id": template, "phone_number": numbers, "components": [] })
}

async fn a_recipient_who_opted_out_is_skipped_by_marketing_and_by_nothing_else(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, hello) = templates(&running).await;
    let (stays, leaves) = (FIRST + 1, FIRST + 2);
    let (code, answer) = running.send(&marketing(promo, &[stays, leaves])).await;
    assert_eq!((code, &answer["recipients_count"]), (202, &json!(2)), "{answer}");
    running.settled(2).await;
    let row = rows(universe).await.into_iter().find(|row| row.recipient.cast_unsigned() == leaves).unwrap();
    let teller = Teller::new(&running);
    let opted_out = json!({ "statuses": [status(&row, "failed", Some(131_050))] });
    assert_eq!(teller.tell(running.channel, NUMBER, &opted_out).await.status, 200);
    let failed = rows(universe).await.into_iter().find(|other| other.ordinal == row.ordinal).unwrap();
    assert_eq!((failed.error_code, failed.error.as_deref()), (Some(131_050), Some("refused")));

    let (code, answer) = running.send(&marketing(promo, &[stays, leaves])).await;
    assert_eq!((code, &answer["recipients_count"]), (202, &json!(1)), "{answer}");
    let skipped = json!([{ "input": format!("+{leaves}"), "reason": "does not want marketing messages",
        "code": "opted_out" }]);
    assert_eq!(answer["skipped"], skipped);
    let (code, answer) = running.send(&marketing(promo, &[leaves])).await;
    assert_eq!((code, &answer["code"]), (400, &json!("no_valid_recipients")));
    let reason = "nobody is left to send to: 1 entry: does not want marketing messages";
    assert_eq!(answer["error"], reason);
    let (code, answer) = running.send(&utility(hello, &[stays, leaves])).await;
    assert_eq!((code, &answer["recipients_count"]), (202, &json!(2)), "{answer}");

    // The recipient opts in again.
    let preference = |value: &str| {
        let at = pombo::clock::Timestamp::now().millis() / 1_000;
        json!({ "user_preferences": [{ "wa_id": leaves.to_string(), "category": "marketing_messages",
            "value": value, "timestamp": at }] })
    };
    for (value, count) in [("resume", 2), ("stop", 1), ("resume", 2)] {
        let told = teller.tell_field(running.channel, "user_preferences", &preference(value)).await;
        assert_eq!(told.status, 200);
        let (_, answer) = running.send(&marketing(promo, &[stays, leaves])).await;
        assert_eq!(answer["recipients_count"], json!(count), "{value}: {answer}");
    }
    running.end().await;
}

async fn a_template_that_the_provider_withholds_is_not_approved_until_it_is_released(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let (promo, hello) = templates(&running).await;
    assert_eq!(running.send(&marketing(promo, &[FIRST, FIRST + 1])).await.0, 202);
    running.settled(2).await;
    let teller = Teller::new(&running);
    let statuses: Vec<_> =
        rows(universe).await.iter().map(|row| status(row, "failed", Some(132_015))).collect();
    assert_eq!(teller.tell(running.channel, NUMBER, &json!({ "statuses": statuses })).await.status, 200);
    let is_approved = async |id| {
        let template = running.store.of(running.company).templates().find(id).await.unwrap().unwrap();
        template.status == template::Status::Approved
    };
    assert!(!is_approved(promo).await && is_approved(hello).await);

    let said = |event: &str| {
        json!({ "event": event, "message_template_id": 1, "message_template_name": "promo",
            "message_template_language": "en-US", "reason": "NONE" })
    };
    for (event, approved) in [("APPROVED", true), ("PAUSED", false), ("APPROVED", true), ("DISABLED", false)]
    {
        let field = "message_template_status_update";
        assert_eq!(teller.tell_field(running.channel, field, &said(event)).await.status, 200);
        assert_eq!(is_approved(promo).await, approved, "{event}");
    }
    let quality = json!({ "previous_quality_score": "GREEN", "new_quality_score": "RED", "message_template_id": 1,
        "message_template_name": "hello_world", "message_template_language": "en_US" });
    assert_eq!(
        teller.tell_field(running.channel, "message_template_quality_update", &quality).await.status,
        200
    );
    let hello = running.store.of(running.company).templates().find(hello).await.unwrap().unwrap();
    assert_eq!((hello.quality_score.as_deref(), hello.status.as_str()), (Some("RED"), "APPROVED"));
    running.end().await;
}

async fn the_newest_report_about_a_recipient_wins_in_any_order(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let (promo, _) = templates(&running).await;
    let now = Timestamp::now().millis() / 1_000;
    let say = async |running: &Running, number: u64, value: &str, ago: i64| {
        let said = json!({ "user_preferences": [{ "wa_id": number.to_string(), "category": "marketing_messages",
            "value": value, "timestamp": now - ago }] });
        let told = Teller::new(running).tell_field(running.channel, "user_preferences", &said).await;
        assert_eq!(told.status, 200);
    };
    let hears = async |running: &Running, number: u64| {
        let (status, answer) = running.send(&marketing(promo, &[number])).await;
        assert!(status == 202 || answer["code"] == "no_valid_recipients", "{answer}");
        status == 202
    };
    let (stopped, resumed) = (FIRST + 1, FIRST + 2);
    say(&running, stopped, "stop", 100).await;
    say(&running, stopped, "resume", 200).await;
    assert!(!hears(&running, stopped).await, "an older resume lifts nothing");
    say(&running, resumed, "stop", 300).await;
    say(&running, resumed, "resume", 100).await;
    say(&running, resumed, "stop", 200).await;
    assert!(hears(&running, resumed).await, "an older stop suppresses nobody again");

    // Both keep their time over a restart, and so does a change by the command line.
    let (added, lifted) = (FIRST + 3, FIRST + 4);
    let number = |number| PhoneNumber::from_u64(number).unwrap();
    let ana = Who::CommandLine("ana".to_owned());
    say(&running, added, "stop", 300).await;
    say(&running, lifted, "stop", 300).await;
    let (store, company) = (&running.store, running.company);
    // Both recipients are opted out already. A person opts one out too, and lifts the other's suppression.
    store.of(company).suppressions().add(&ana, number(added), Suppression::Marketing).await.unwrap();
    assert_eq!(store.of(company).suppressions().lift(&ana, number(lifted)).await.unwrap().len(), 1);
    running.restart().await;
    say(&running, stopped, "resume", 150).await;
    say(&running, resumed, "stop", 150).await;
    say(&running, added, "resume", 100).await;
    say(&running, lifted, "stop", 100).await;
    let mut heard = Vec::new();
    for number in [stopped, resumed, added, lifted] {
        heard.push(hears(&running, number).await);
    }
    assert_eq!(heard, [false, true, false, true]);
    // The newest report counts.
    say(&running, stopped, "resume", 0).await;
    say(&running, resumed, "stop", 0).await;
    assert!(hears(&running, stopped).await && !hears(&running, resumed).await);
    // A recipient whose suppression was removed is in no list.
    let kept = running.store.of(running.company).suppressions().all(Timestamp::now()).await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|kept| kept.record.recipient).collect();
    assert_eq!(kept, [number(resumed), number(added)]);
    running.end().await;
}

async fn the_newest_report_about_a_template_wins_in_any_order(universe: &Universe) {
    let mut running = Running::start(universe, |config| {
        config.cloud_api.template_sync_interval = std::time::Duration::ZERO;
    })
    .await;
    let (promo, _) = templates(&running).await;
    let now = Timestamp::now().millis() / 1_000;
    let say = async |running: &Running, field: &str, mut value: Value, at: i64| {
        value["message_template_id"] = json!(1);
        value["message_template_name"] = json!("promo");
        value["message_template_language"] = json!("en_US");
        assert_eq!(Teller::new(running).tell_field_at(running.channel, field, &value, at).await.status, 200);
    };
    let status = async |running: &Running, event: &str, at: i64| {
        say(running, "message_template_status_update", json!({ "event": event, "reason": "NONE" }), at).await;
    };
    let is = async |running: &Running| {
        let template = running.store.of(running.company).templates().find(promo).await.unwrap().unwrap();
        (template.status, template.quality_score, template.category)
    };
    let before = is(&running).await;
    // The list was requested just now, so it includes earlier reports.
    status(&running, "PAUSED", now - 100).await;
    assert_eq!(is(&running).await.0, template::Status::Approved, "the list is newer");
    let later = now + 1;
    until("the next second", async || Timestamp::now().millis() / 1_000 > later).await;
    status(&running, "PAUSED", later).await;
    status(&running, "APPROVED", later - 60).await;
    assert_eq!(is(&running).await.0, template::Status::Paused, "an older approval lifts no pause");
    // Each has a time of its own.
    let quality = json!({ "previous_quality_score": "GREEN", "new_quality_score": "RED" });
    say(&running, "message_template_quality_update", quality, later).await;
    let category = json!({ "previous_category": "MARKETING", "new_category": "UTILITY" });
    say(&running, "template_category_update", category, later).await;
    running.restart().await;
    status(&running, "APPROVED", later - 50).await;
    let quality = json!({ "previous_quality_score": "RED", "new_quality_score": "GREEN" });
    say(&running, "message_template_quality_update", quality, later - 50).await;
    let category = json!({ "previous_category": "UTILITY", "new_category": "MARKETING" });
    say(&running, "template_category_update", category, later - 50).await;
    let held = (template::Status::Paused, Some("RED".to_owned()), Category::Utility);
    assert_eq!((is(&running).await, before.0), (held, template::Status::Approved));
    // A repeated report keeps its time as well.
    until("two seconds", async || Timestamp::now().millis() / 1_000 > later + 2).await;
    status(&running, "PAUSED", later + 2).await;
    status(&running, "APPROVED", later + 1).await;
    assert_eq!(is(&running).await.0, template::Status::Paused);
    status(&running, "APPROVED", later + 2).await;
    assert_eq!(is(&running).await.0, template::Status::Approved, "of one second, what is heard later counts");
    running.end().await;
}

async fn a_removal_of_the_account_before_its_last_connection_is_ignored(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    templates(&running).await;
    until("the channel connected", async || running.status(running.channel).await == Status::Connected).await;
    let now = Timestamp::now().millis() / 1_000;
    let teller = Teller::new(&running);
    let removed = json!({ "event": "PARTNER_REMOVED" });
    let told = teller.tell_field_at(running.channel, "account_update", &removed, now - 3_600).await;
    assert_eq!(told.status, 200);
    // The channel's actor handles its mailbox in order: once this message is sent, the report was handled.
    assert_eq!(running.send(&json!({ "type": "text", "message": "hi", "phone_number": FIRST })).await.0, 202);
    running.settled(1).await;
    assert_eq!(running.status(running.channel).await, Status::Connected);
    assert_eq!(teller.tell_field_at(running.channel, "account_update", &removed, now + 2).await.status, 200);
    until("the channel disconnected", async || running.status(running.channel).await == Status::Disconnected)
        .await;
    running.end().await;
}
