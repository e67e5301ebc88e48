//! Whether numbers are on WhatsApp, asked before anything is sent.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{Account, World, text, tier};
use super::{JOAO, MARIA, OTHER};
use crate::harness::Answer;

const ANA: &str = "5531955554444";
const CHECK: &str = "/api/v1/numbers/check";

async fn check(world: &World, account: &Account, numbers: Value) -> Answer {
    let body = json!({ "phone_number": numbers, "channel_id": account.channel }).to_string();
    world.service.post(CHECK, &account.company.key, body).await
}

/// What is known of each number, and the questions to WhatsApp.
async fn checked(world: &World, account: &Account, numbers: Value) -> (Vec<Value>, Value) {
    let answer = check(world, account, numbers).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told = answer.json();
    let there = told["data"].as_array().unwrap().iter().map(|number| number["on_whatsapp"].clone());
    (there.collect(), told["whatsapp"].clone())
}

fn lookups(world: &World) -> [usize; 3] {
    [MARIA, JOAO, ANA].map(|number| world.whatsapp.lookups_of(number))
}

#[tokio::test]
async fn a_check_asks_whatsapp_once_about_each_number_and_sends_nothing() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let numbers = json!([MARIA, JOAO, format!("+{MARIA}"), "12"]);
    let (there, whatsapp) = checked(&world, &world.own, numbers.clone()).await;
    assert_eq!(there, [json!(true), json!(false), json!(true), Value::Null]);
    assert_eq!(whatsapp, json!({"asked": 2, "unanswered": 0, "retry_after": null, "reason": null}));
    let (again, whatsapp) = checked(&world, &world.own, numbers).await;
    assert_eq!((again, &whatsapp["asked"]), (there, &json!(0)));
    assert_eq!(lookups(&world), [1, 1, 0]);
    // A message uses what the check found out.
    world.arrives(&text(MARIA, "oi")).await;
    assert_eq!((lookups(&world), world.sends().await), ([1, 1, 0], 1));
}

#[tokio::test]
async fn a_session_that_is_not_there_or_not_linked_is_not_asked() {
    let world = World::unlinked().await;
    let mine = check(&world, &world.own, json!([MARIA])).await;
    assert_eq!((mine.status, mine.code().as_deref()), (409, Some("session_disconnected")));
    let theirs = world.service.company("globex").await;
    let stranger = Account { company: theirs, ..world.own.clone() };
    let foreign = check(&world, &stranger, json!([MARIA])).await;
    assert_eq!((foreign.status, foreign.code().as_deref()), (404, Some("channel_not_found")));
    // Without numbers nobody has to be asked.
    let (there, whatsapp) = checked(&world, &world.own, json!(["12"])).await;
    assert_eq!((there, &whatsapp["unanswered"]), (vec![Value::Null], &json!(0)));
}

/// An account of this tier whose callers wait for three seconds at most.
async fn account(options: Value) -> (World, Account) {
    let world = World::linked_with(|config| config.web_session.patience = Duration::from_secs(3)).await;
    tier(world.service.store(), "bounded", options).await;
    world.whatsapp.contact(MARIA);
    let account = world.account("globex", OTHER, "bounded").await;
    (world, account)
}

#[tokio::test]
async fn a_check_asks_about_as_many_strangers_as_the_tier_allows_also_after_a_restart() {
    let (mut world, account) = account(json!({"cold_contacts": 1})).await;
    let numbers = json!([MARIA, JOAO, ANA]);
    let (_, whatsapp) = checked(&world, &account, numbers.clone()).await;
    assert_eq!((&whatsapp["asked"], &whatsapp["unanswered"]), (&json!(1), &json!(2)), "{whatsapp}");
    assert!(whatsapp["retry_after"].as_u64().unwrap() > 80_000, "{whatsapp}");
    assert!(whatsapp["reason"].as_str().unwrap().contains("cold_contacts"), "{whatsapp}");
    let asked = lookups(&world);
    assert_eq!(asked.iter().sum::<usize>(), 1);
    let logins = account.phone.logins();
    world.restart().await;
    world.returns(&account, logins).await;
    let (_, whatsapp) = checked(&world, &account, numbers).await;
    assert_eq!((&whatsapp["asked"], &whatsapp["unanswered"]), (&json!(0), &json!(2)), "{whatsapp}");
    assert_eq!(lookups(&world), asked);
}

#[tokio::test]
async fn a_check_keeps_the_pace_of_messages_and_delays_none() {
    let (world, account) = account(json!({"messages_per_second": "2/h", "burst": 1})).await;
    let (_, whatsapp) = checked(&world, &account, json!([JOAO, MARIA])).await;
    assert_eq!((&whatsapp["asked"], &whatsapp["unanswered"]), (&json!(1), &json!(1)), "{whatsapp}");
    let wait = whatsapp["retry_after"].as_u64().unwrap();
    assert!((1_700..=1_800).contains(&wait), "{whatsapp}");
    let (_, whatsapp) = checked(&world, &account, json!([ANA])).await;
    assert_eq!(&whatsapp["asked"], &json!(0), "another request has no other pace: {whatsapp}");
    assert_eq!(lookups(&world).iter().sum::<usize>(), 1);
}
