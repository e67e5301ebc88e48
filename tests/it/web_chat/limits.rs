//! The limits of a session: each with a tier of the test's own, and the answer to a caller that exceeds it.

use std::time::Duration;

use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};

use super::world::{Account, Sent, World, text, tier};
use super::{GROUP, JOAO, MARIA, OTHER};
use crate::harness::Answer;

const ANA: &str = "5531955554444";
const DAY: u64 = 24 * 60 * 60;

/// A world in which an account has this tier, and everybody is on WhatsApp.
async fn account(options: Value) -> (World, Account) {
    let world = World::linked_with(|config| config.web_session.patience = Duration::from_secs(3)).await;
    tier(world.service.store(), "bounded", options).await;
    for number in [MARIA, JOAO, ANA] {
        world.whatsapp.contact(number);
    }
    let account = world.account("globex", OTHER, "bounded").await;
    (world, account)
}

/// Sends beyond this limit, and returns the seconds after which to retry. Checks that the answer shows an
/// empty limit.
fn too_soon(answer: &Answer, limit: &str, policy: &str) -> u64 {
    assert_eq!((answer.status, answer.code().as_deref()), (429, Some("rate_limited")), "{}", answer.body);
    let sentence = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(sentence.len() > 20 && !sentence.starts_with("0 "), "{sentence}");
    let wait = answer.header("retry-after").parse().unwrap();
    assert_eq!(answer.header("ratelimit"), format!(r#""{limit}";r=0;t={wait}"#));
    assert_eq!(answer.header("ratelimit-policy"), format!(r#""{limit}";{policy}"#));
    wait
}

/// How many messages with this text came to WhatsApp.
fn came(world: &World, words: &str) -> usize {
    world.whatsapp.messages().iter().filter(|message| message.text() == Some(words)).count()
}

/// How many sends the account's company has.
async fn sends(world: &World, account: &Account) -> Value {
    world.service.get("/api/v1/sends", &account.company.key).await.json()["totalRecords"].clone()
}

#[tokio::test]
async fn a_channel_keeps_to_a_tier_that_was_added_just_before_it() {
    let world = World::linked_with(|config| {
        config.engine.watch_interval = Duration::from_secs(3_600);
        config.web_session.patience = Duration::from_secs(3);
    })
    .await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "paced", json!({"messages_per_second": "2/h", "burst": 1})).await;
    let account = world.account("globex", OTHER, "paced").await;
    too_soon(&world.post_by(&account, &text(MARIA, "oi")).await, "messages_per_second", "q=2;w=3600");
}

#[tokio::test]
async fn a_message_that_would_wait_longer_than_its_caller_may_is_refused_and_never_sent() {
    let (world, account) = account(json!({"messages_per_second": "30/min", "burst": 1})).await;
    let bodies: Vec<_> = (0..4).map(|number| text(MARIA, &format!("número {number}"))).collect();
    let answers = join_all(bodies.iter().map(|body| world.post_by(&account, body))).await;
    let mut sent = 0;
    for (number, answer) in answers.iter().enumerate() {
        let words = format!("número {number}");
        if answer.status == 200 {
            world.whatsapp.expect_message(&Sent::new(answer.json()).id).await;
            sent += 1;
        } else {
            assert!((1..=10).contains(&too_soon(answer, "messages_per_second", "q=30;w=60")));
            assert_eq!(came(&world, &words), 0);
        }
    }
    assert!((1..=2).contains(&sent), "{answers:?}");
    assert_eq!(sends(&world, &account).await, json!(sent), "what was refused is no send: {answers:?}");
    let later = world.send_by(&account, &text(MARIA, "depois")).await;
    world.whatsapp.expect_message(&later.id).await;
    assert_eq!(world.whatsapp.messages().len(), sent + 1);
}

#[tokio::test]
async fn a_message_that_waits_less_than_that_is_sent() {
    let (world, account) = account(json!({"messages_per_second": "4/s", "burst": 1})).await;
    let bodies: Vec<_> = (0..5).map(|number| text(MARIA, &format!("número {number}"))).collect();
    let sent = join_all(bodies.iter().map(|body| world.send_by(&account, body))).await;
    for sent in &sent {
        world.whatsapp.expect_message(&sent.id).await;
    }
    assert_eq!(world.whatsapp.messages().len(), 5);
}

#[tokio::test]
async fn a_first_message_beyond_the_pace_is_refused_for_the_pace_alone() {
    let (world, account) = account(json!({"messages_per_second": "2/h", "burst": 1})).await;
    let answer = world.post_by(&account, &text(MARIA, "um")).await;
    let wait = too_soon(&answer, "messages_per_second", "q=2;w=3600");
    assert!((1..=30 * 60).contains(&wait), "{wait}");
    assert!(answer.body.contains("messages_per_second"), "{}", answer.body);
}

#[tokio::test]
async fn beyond_the_daily_cap_nothing_goes_and_a_new_process_knows_it() {
    let (mut world, account) = account(json!({"daily_cap": 2})).await;
    for words in ["um", "dois"] {
        let sent = world.send_by(&account, &text(MARIA, words)).await;
        world.whatsapp.expect_message(&sent.id).await;
    }
    let full = |answer: &Answer| too_soon(answer, "daily_cap", "q=2;w=86400");
    let wait = full(&world.post_by(&account, &text(MARIA, "três")).await);
    assert!((DAY - 120..=DAY).contains(&wait), "{wait}");
    let logins = account.phone.logins();
    world.restart().await;
    world.returns(&account, logins).await;
    full(&world.post_by(&account, &text(MARIA, "três")).await);
    assert_eq!((came(&world, "três"), sends(&world, &account).await), (0, json!(2)));
    // Messages to other recipients go on.
    world.arrives(&text(MARIA, "de outra")).await;
}

#[tokio::test]
async fn a_new_session_sends_less_in_its_first_days() {
    let (mut world, account) = account(json!({"daily_cap": 10, "warm_up": [1, 2, 3]})).await;
    world.send_by(&account, &text(MARIA, "um")).await;
    let answer = world.post_by(&account, &text(MARIA, "dois")).await;
    let wait = too_soon(&answer, "daily_cap", "q=1;w=86400");
    assert!((1..=DAY).contains(&wait), "{wait}");

    let database = Database::connect(&world.service.universe.url).await.unwrap();
    let a_day_ago = format!("UPDATE channel SET linked_at = linked_at - {DAY}500");
    database.execute_unprepared(&a_day_ago).await.unwrap();
    database.close().await.unwrap();
    let logins = account.phone.logins();
    world.restart().await;
    world.returns(&account, logins).await;
    let sent = world.send_by(&account, &text(MARIA, "dois")).await;
    world.whatsapp.expect_message(&sent.id).await;
    let answer = world.post_by(&account, &text(MARIA, "três")).await;
    too_soon(&answer, "daily_cap", "q=2;w=86400");
}

#[tokio::test]
async fn only_so_many_strangers_are_written_to_in_a_day() {
    let (world, account) = account(json!({"cold_contacts": 1})).await;
    let joao = world.whatsapp.contact(JOAO);
    world.send_by(&account, &text(MARIA, "um")).await;
    let full = |answer: &Answer| too_soon(answer, "cold_contacts", "q=1;w=86400");
    let wait = full(&world.post_by(&account, &text(JOAO, "oi, João")).await);
    assert!((DAY - 120..=DAY).contains(&wait), "{wait}");
    world.send_by(&account, &text(MARIA, "dois")).await;
    let maria = world.whatsapp.contact(MARIA);
    world.whatsapp.group(GROUP, &[&maria]);
    let group = json!({"phone_number": GROUP, "recipient_type": "group", "type": "text", "message": "oi"});
    world.send_by(&account, &group).await;
    assert_eq!(came(&world, "oi, João"), 0);

    // A person who writes first is no stranger.
    joao.writes(&account.phone, "bom dia").await;
    crate::running::until("the answer to João to go", async || {
        match world.post_by(&account, &text(JOAO, "bom dia, João")).await {
            answer if answer.status == 200 => true,
            answer => {
                full(&answer);
                false
            }
        }
    })
    .await;
    full(&world.post_by(&account, &text(ANA, "oi, Ana")).await);
    assert_eq!(came(&world, "oi, Ana"), 0);
}

#[tokio::test]
async fn the_limits_of_a_session_are_explained() {
    let (world, account) = account(json!({"messages_per_second": "4/s", "daily_cap": 2})).await;
    world.send_by(&account, &text(MARIA, "um")).await;
    let path = format!("/api/v1/web-chat/{}/limits", account.channel);
    let answer = world.service.get(&path, &account.company.key).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.contains("daily_cap") && answer.body.contains("bounded"), "{}", answer.body);
}
