//! Events that carry what they tell, and what an event tells of its send.

use pombo::domain::suppression::Suppression;
use pombo::domain::template::{ListedTemplate, ParameterFormat};
use pombo::store::suppressions::{Says, Word};
use pombo::store::templates::Said;

use super::*;

stores! {
    an_inbound_message_is_one_event_however_often_the_provider_reports_it,
    events_of_a_send_and_of_its_messages_have_the_caller_s_reference,
    a_person_s_opt_out_is_one_event_and_so_is_its_end,
    a_suppression_by_a_user_is_one_event_and_so_is_its_end,
    a_batch_of_many_opt_outs_tells_those_that_are_new,
    a_template_that_the_provider_changes_is_an_event_of_the_company_that_has_it,
    the_first_template_of_an_account_that_had_none_is_an_event,
}

async fn shown(store: &Store) -> Vec<Value> {
    pending(store).await.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

/// Type and data of each event.
async fn data(store: &Store) -> Vec<Value> {
    shown(store).await.into_iter().map(|event| json!([event["type"], event["data"]])).collect()
}

fn suppressions(suppressions: Vec<Word>) -> PendingWrites {
    PendingWrites { suppressions, ..PendingWrites::default() }
}

/// A statement about marketing messages, some seconds after the beginning.
fn word(ordinal: u64, says: Says, after: u64) -> Word {
    let said_at = NOW.plus(Duration::from_secs(after));
    Word { company_id: ACME, recipient: number(ordinal), scope: Suppression::Marketing, said_at, says }
}

fn contact(r#type: &str, ordinal: u64, scope: &str, source: &str) -> Value {
    let number = format!("+{}", number(ordinal));
    json!([r#type, { "number": number, "scope": scope, "source": source }])
}

async fn an_inbound_message_is_one_event_however_often_the_provider_reports_it(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let inbound = |identity: &str| wrote((ACME, CHANNEL), identity, NOW);
    for _ in 0..2 {
        let inbound = vec![inbound("wamid.a"), inbound("wamid.b"), inbound("wamid.a")];
        commit(&store, &lease, PendingWrites { inbound, ..PendingWrites::default() }).await;
    }
    let events = shown(&store).await;
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["conversation.opened", "message.received", "message.received"]);
    let conversation = &events[0]["data"]["conversation_id"];
    let expected = |id: &str| {
        json!({
            "provider_message_id": id, "from": "+5511988880007", "user_id": null, "name": "Ana", "group": null,
            "conversation_id": conversation, "message": null,
        })
    };
    assert_eq!([&events[1]["data"], &events[2]["data"]], [&expected("wamid.a"), &expected("wamid.b")]);
    assert!(events.iter().all(|event| event["at"] == NOW.to_string()));
}

async fn events_of_a_send_and_of_its_messages_have_the_caller_s_reference(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let label = StoredLabel { reference: Some("order-7".to_owned()), ..StoredLabel::default() };
    let one = Recipients::One(number(0));
    commit(&store, &lease, sends(vec![NewSend { label, ..send(10, one) }, send(11, one)])).await;
    for id in [10, 11] {
        commit(&store, &lease, mark(id, 1, State::Active)).await;
        commit(&store, &lease, outcomes(vec![outcome(id, 0, At::Sent)])).await;
        commit(&store, &lease, mark(id, 1, State::Finished)).await;
    }
    let references: Vec<_> = shown(&store)
        .await
        .into_iter()
        .map(|event| (event["type"].clone(), event["data"]["reference"].clone()))
        .collect();
    let expected = [
        (json!("message.sent"), json!("order-7")),
        (json!("send.finished"), json!("order-7")),
        (json!("message.sent"), Value::Null),
        (json!("send.finished"), Value::Null),
    ];
    assert_eq!(references, expected);
}

async fn a_person_s_opt_out_is_one_event_and_so_is_its_end(universe: &Universe) {
    const SETTING: Says = Says::Stop { provider_code: None };
    let (store, lease) = open(universe).await;
    let until = NOW.plus(Duration::from_secs(24 * 3_600));
    let hold = Says::Hold { until, provider_code: Some(131_049) };
    let refused = Says::Stop { provider_code: Some(131_050) };
    for batch in [
        vec![word(0, SETTING, 10), word(1, Says::StopWord, 10), word(2, hold, 10)],
        // A statement that is older than what is known.
        vec![word(0, Says::Resume, 9), word(1, Says::StartWord, 9)],
        // A word takes back no setting.
        vec![word(0, Says::StartWord, 11)],
        vec![word(0, Says::Resume, 12), word(1, Says::StartWord, 12)],
        // Both kinds in one batch are one change, and what takes itself back is none.
        vec![word(0, SETTING, 13), word(0, Says::StopWord, 13)],
        vec![word(1, Says::StopWord, 13), word(1, Says::StartWord, 14)],
        vec![word(2, refused, 15)],
    ] {
        for _ in 0..2 {
            commit(&store, &lease, suppressions(batch.clone())).await;
        }
    }
    let expected = [
        contact("contact.opted_out", 0, "marketing", "preference"),
        contact("contact.opted_out", 1, "marketing", "message"),
        contact("contact.opted_in", 0, "marketing", "preference"),
        contact("contact.opted_in", 1, "marketing", "message"),
        contact("contact.opted_out", 0, "marketing", "preference"),
        contact("contact.opted_out", 2, "marketing", "provider"),
    ];
    assert_eq!(data(&store).await, expected);
    let last = shown(&store).await.pop().unwrap();
    assert_eq!(last["at"], NOW.plus(Duration::from_secs(15)).to_string());
    assert_eq!((&last["company_id"], &last["channel_id"]), (&json!(ACME), &Value::Null));
    assert!(!last["id"].as_str().unwrap().contains("551190000"), "the id of {last} has the number");
}

async fn a_suppression_by_a_user_is_one_event_and_so_is_its_end(universe: &Universe) {
    let (store, _lease) = open(universe).await;
    let (person, of) = (number(5), store.of(ACME).suppressions());
    for scope in [Suppression::Marketing, Suppression::Everything] {
        for is_new in [true, false] {
            assert_eq!(of.add(&Who::Pombo, person, scope).await.unwrap(), is_new);
        }
    }
    for lifted in [2, 0] {
        assert_eq!(of.lift(&Who::Pombo, person).await.unwrap().len(), lifted);
    }
    let both = |r#type: &str| ["marketing", "everything"].map(|scope| contact(r#type, 5, scope, "operator"));
    let expected = [both("contact.opted_out"), both("contact.opted_in")].concat();
    assert_eq!(data(&store).await, expected);
}

async fn a_batch_of_many_opt_outs_tells_those_that_are_new(universe: &Universe) {
    const PEOPLE: u64 = 5_000;
    let (store, lease) = open(universe).await;
    let batch = |people: std::ops::Range<u64>| {
        suppressions(people.map(|ordinal| word(ordinal, Says::StopWord, 1)).collect())
    };
    commit(&store, &lease, batch(0..100)).await;
    commit(&store, &lease, batch(0..PEOPLE)).await;
    let told = data(&store).await;
    let expected: Vec<_> =
        (0..PEOPLE).map(|ordinal| contact("contact.opted_out", ordinal, "marketing", "message")).collect();
    assert!(told == expected, "{} events", told.len());
}

fn listed(name: &str, status: &str, reason: Option<&str>) -> ListedTemplate {
    ListedTemplate {
        provider_id: format!("p-{name}"),
        name: name.to_owned(),
        language: "en".to_owned(),
        category: "UTILITY".into(),
        status: status.into(),
        parameter_format: ParameterFormat::Positional,
        components: serde_json::value::to_raw_value(&["x"]).unwrap(),
        rejected_reason: reason.map(str::to_owned),
        quality_score: None,
    }
}

async fn a_template_that_the_provider_changes_is_an_event_of_the_company_that_has_it(universe: &Universe) {
    let (store, _lease) = open(universe).await;
    let mut companies = Vec::new();
    for name in ["Acme", "Globex"] {
        companies.push(store.companies().add(&Who::Pombo, name, "standard").await.unwrap().id);
    }
    for company in &companies {
        store.of(*company).templates().sync("waba", &[listed("a", "APPROVED", None)]).await.unwrap();
    }
    assert!(pending(&store).await.is_empty(), "an account that is listed for the first time");

    let templates = store.of(companies[0]).templates();
    let paused = Said { status: Some("PAUSED"), reason: Some("FIRST_PAUSE"), ..Said::default() };
    let rated = Said { category: Some("MARKETING"), quality_score: Some("RED"), ..Said::default() };
    for said in [paused, rated] {
        for is_new in [true, false] {
            let changing = templates.change("waba", "a", "en", said, Timestamp::now());
            assert_eq!(changing.await.unwrap(), is_new);
        }
    }
    let list =
        [listed("a", "APPROVED", None), listed("b", "REJECTED", Some("SCAM")), listed("c", "PENDING", None)];
    for _ in 0..2 {
        templates.sync("waba", &list).await.unwrap();
    }
    let id = templates.named("waba", "a", "en").await.unwrap().unwrap().id;
    for _ in 0..2 {
        store.templates().pause(id).await.unwrap();
    }

    let events = shown(&store).await;
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            let data = &event["data"];
            json!([event["type"], data["name"], data["old"], data["new"], data["reason"]])
        })
        .collect();
    let expected = [
        json!(["template.paused", "a", "APPROVED", "PAUSED", "FIRST_PAUSE"]),
        json!(["template.category_changed", "a", "UTILITY", "MARKETING", null]),
        json!(["template.quality_changed", "a", null, "RED", null]),
        json!(["template.approved", "a", "PAUSED", "APPROVED", null]),
        json!(["template.category_changed", "a", "MARKETING", "UTILITY", null]),
        json!(["template.rejected", "b", null, "REJECTED", "SCAM"]),
        json!(["template.paused", "a", "APPROVED", "PAUSED", null]),
    ];
    assert_eq!(told, expected);
    for event in &events {
        assert_eq!((&event["company_id"], &event["channel_id"]), (&json!(companies[0]), &Value::Null));
        assert_eq!((&event["data"]["waba_id"], &event["data"]["language"]), (&json!("waba"), &json!("en")));
    }
    assert_eq!(events[0]["data"]["template_id"], id);
}

async fn the_first_template_of_an_account_that_had_none_is_an_event(universe: &Universe) {
    let (store, _lease) = open(universe).await;
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let templates = store.of(company).templates();
    for waba in ["empty", "empty"] {
        templates.sync(waba, &[]).await.unwrap();
    }
    templates.sync("full", &[listed("a", "APPROVED", None)]).await.unwrap();
    assert!(pending(&store).await.is_empty(), "accounts that are listed for the first time");
    let first = [listed("b", "APPROVED", None)];
    // An account is new to each company.
    let other = store.companies().add(&Who::Pombo, "Globex", "standard").await.unwrap().id;
    store.of(other).templates().sync("empty", &first).await.unwrap();
    for _ in 0..2 {
        templates.sync("empty", &first).await.unwrap();
    }
    let events = shown(&store).await;
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            json!([event["type"], event["company_id"], event["data"]["waba_id"], event["data"]["name"]])
        })
        .collect();
    assert_eq!(told, [json!(["template.approved", company, "empty", "b"])]);
}
