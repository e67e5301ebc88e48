//! The simulator's own surface, and its start and end.

use super::*;

#[actix_web::test]
async fn the_figures_of_a_number_are_shown_in_times_of_rfc_3339() {
    let universe = universe().await;
    let (_, fresh) = universe.get(&format!("/_sim/numbers/{NUMBER}")).await;
    assert_eq!((&fresh["messages"], &fresh["first_at"]), (&json!(0), &Value::Null));
    universe.send(&text("+5511999990001")).await;
    let (_, figures) = universe.get(&format!("/_sim/numbers/{NUMBER}")).await;
    assert_eq!((&figures["messages"], &figures["unique_recipients"]), (&json!(1), &json!(1)));
    assert!(figures["first_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(universe.get("/_sim/numbers/9999").await.0, 404);
    let (_, all) = universe.get("/_sim/numbers").await;
    assert_eq!(all["data"].as_array().unwrap().len(), 3);
}

#[actix_web::test]
async fn the_log_is_read_in_pages_and_by_recipient() {
    let universe = universe().await;
    for tail in 1..=5 {
        universe.send(&text(&format!("+551199999000{tail}"))).await;
    }
    let (_, first) = universe.get(&format!("/_sim/messages?phone_number_id={NUMBER}&limit=3")).await;
    assert_eq!((first["data"].as_array().unwrap().len(), &first["next"]), (3, &json!(3)));
    let (_, second) = universe.get("/_sim/messages?after=3&limit=3").await;
    assert_eq!((second["data"].as_array().unwrap().len(), &second["next"]), (2, &Value::Null));
    let (_, one) = universe.get("/_sim/messages?to=5511999990004").await;
    assert_eq!(one["data"][0]["sequence"], 4);
    assert_eq!(universe.get("/_sim/messages?limit=many").await.0, 400);
}

#[actix_web::test]
async fn accounts_are_added_while_it_runs() {
    let universe = universe().await;
    let added = json!({ "accounts": [{
        "waba_id": "1009", "tokens": ["T-9"],
        "numbers": [{ "phone_number_id": "2009", "display_phone_number": "+1 555 000 2009", "throughput": 80 }],
        "templates": [{ "name": "hi", "language": "en", "components": [{ "type": "BODY", "text": "Hi" }] }],
    }] });
    assert_eq!(universe.post("/_sim/accounts", "", &added).await.0, 200);
    assert_eq!(universe.post("/v25.0/2009/messages", "T-9", &text("+5511999990001")).await.0, 200);
    let (status, answer) = universe.post("/_sim/accounts", "", &added).await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("2009"));
}

#[actix_web::test]
async fn a_reset_goes_back_to_the_seed() {
    let universe = universe().await;
    universe.script(&json!([{ "latency": "1ms" }, { "token": { "value": TOKEN, "valid": false } }]));
    universe.simulator.reset().unwrap();
    let before = universe.send(&text("+5511999990001")).await.1;
    let reset = universe.post("/_sim/reset", "", &json!({})).await;
    assert_eq!((reset.0, universe.figures().messages), (200, 0));
    let after = universe.send(&text("+5511999990001")).await.1;
    assert_eq!(universe.simulator.messages(0, 10).len(), 1);
    assert_ne!(before["messages"][0]["id"], after["messages"][0]["id"]);
}

#[actix_web::test]
async fn a_seed_that_names_a_number_twice_does_not_start() {
    let mut seed = seed();
    seed.accounts[1].numbers.push(Number::new(NUMBER, "+1"));
    let refused = start(Options::default(), seed).await.unwrap_err();
    assert!(refused.to_string().contains(NUMBER));
}

#[actix_web::test]
async fn a_stopped_simulator_answers_no_more() {
    let universe = universe().await;
    universe.send(&text("+5511999990001")).await;
    let url = universe.url("/_sim/numbers");
    universe.simulator.stop().await;
    assert!(universe.client.get(url).send().await.is_err());
}

#[actix_web::test]
async fn two_workers_count_as_exactly_as_one() {
    let universe = universe_with(Options { workers: 2, ..Options::default() }).await;
    let senders = (0..8).map(|sender| {
        let universe = &universe;
        async move {
            for message in 0..25 {
                universe.send(&text(&format!("+551190{:04}", sender * 25 + message))).await;
            }
        }
    });
    futures_util::future::join_all(senders).await;
    let figures = universe.figures();
    assert_eq!((figures.messages, figures.unique_recipients), (200, 200));
}

#[actix_web::test]
async fn a_repeated_key_or_recipient_is_counted_and_found() {
    let universe = universe().await;
    let keyed = |to: &str, key: &str| {
        let mut body = text(to);
        body["biz_opaque_callback_data"] = key.into();
        body
    };
    for (to, key) in [("+5511999990001", "a"), ("+5511999990002", "b"), ("+5511999990001", "a")] {
        universe.send(&keyed(to, key)).await;
    }
    universe.send(&text("+5511999990003")).await;
    universe.send(&text("+5511999990003")).await;
    let figures = universe.figures();
    assert_eq!((figures.messages, figures.unique_recipients, figures.repeated), (5, 3, 1));
    assert_eq!(figures.most_per_recipient, 2);
    let twice = universe.simulator.recipients(NUMBER, 1);
    assert_eq!(
        twice.into_iter().collect::<Vec<_>>(),
        [("5511999990001".to_owned(), 2), ("5511999990003".to_owned(), 2)]
    );
    let (_, all) = universe.get(&format!("/_sim/numbers/{NUMBER}/recipients?limit=1")).await;
    assert_eq!(all, json!({ "total": 3, "data": { "5511999990001": 2 } }));
    let timeline = universe.simulator.timeline(NUMBER).unwrap();
    assert_eq!(timeline.accepted.iter().sum::<u32>(), 5);
    let (_, shown) = universe.get(&format!("/_sim/numbers/{NUMBER}/timeline")).await;
    assert_eq!((&shown["step_ms"], &shown["accepted"]), (&json!(100), &json!(timeline.accepted)));
}
