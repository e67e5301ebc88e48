//! `GET /api/v1/chat/:id/limits`: each limit in force, its source, and the rest of it.

use reqwest::Method;
use serde_json::{Value, json};
use simulator::Level;

use super::stage::{OTHER_NUMBER, limit, limits, listen, other_channel, other_number, put_tier, run_under};
use crate::database::{Universe, stores};
use crate::running::{Running, until};

stores!(
    the_tier_says_how_fast_and_is_named_with_its_options,
    the_provider_s_level_binds_below_the_tier_and_follows_an_upgrade,
    the_rest_of_the_company_s_requests_is_shown,
);

async fn the_tier_says_how_fast_and_is_named_with_its_options(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let options = json!({
        "messages_per_second": "40/s", "burst": 3, "pair_interval": "2s", "pair_burst": 5, "template_quota": 50,
    });
    run_under(&running, "modest", options).await;
    let mut told = Value::Null;
    until("the provider's description known", async || {
        told = limits(&running, running.channel).await;
        limit(&told, "provider_messaging_limit") != Value::Null
    })
    .await;
    assert_eq!(told["channel_id"], running.channel.to_string());
    assert_eq!((&told["rate_per_second"], &told["waiting"]), (&json!(40.0), &Value::Null));
    assert_eq!((&told["active_sends"], &told["in_flight"]), (&json!(0), &json!(0)));
    let expected = [
        json!({
            "limit": "messages_per_second", "value": "40/s, burst 3", "in_force": true, "left": null,
            "set_by": "tier `modest`, options messages_per_second and burst", "next_slot_at": null,
        }),
        json!({
            "limit": "pair", "value": "one in 2s to the same recipient, 5 at once", "in_force": false,
            "set_by": "tier `modest`, options pair_interval and pair_burst", "left": null, "next_slot_at": null,
        }),
        json!({
            "limit": "template_quota", "value": "50 people in 24 hours", "in_force": false, "left": 50,
            "set_by": "tier `modest`, option template_quota", "next_slot_at": null,
        }),
        json!({
            "limit": "provider_messaging_limit", "value": "unlimited", "in_force": false, "left": null,
            "set_by": "the provider, for all numbers of this business together; shown, not enforced here",
            "next_slot_at": null,
        }),
        json!({
            "limit": "api_requests", "value": "unlimited", "in_force": false, "left": null,
            "set_by": "the company's tier, option api_requests", "next_slot_at": null,
        }),
    ];
    assert_eq!(told["limits"], json!(expected));
    running.end().await;
}

async fn the_provider_s_level_binds_below_the_tier_and_follows_an_upgrade(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let channel = other_channel(&running, other_number().at_level(Level::Standard), "high").await;
    let mut told = Value::Null;
    until("the provider's level known", async || {
        told = limits(&running, channel).await;
        let set_by = limit(&told, "provider_level")["set_by"].to_string();
        set_by.contains("the number's level is")
    })
    .await;
    let level = limit(&told, "provider_level");
    assert_eq!((&level["value"], &level["in_force"]), (&json!("80/s"), &json!(true)));
    assert_eq!(level["set_by"], "the provider: the number's level is standard");
    assert_eq!(told["rate_per_second"], 80.0);
    let of_tier = limit(&told, "messages_per_second");
    assert_eq!((&of_tier["value"], &of_tier["in_force"]), (&json!("1000/s, burst 10"), &json!(false)));

    // The provider raises the level by itself, and reports it.
    listen(&running);
    let upgrade = json!([{ "number": {
        "phone_number_id": OTHER_NUMBER, "upgrade_for": "100ms",
        "fields": { "whatsapp_business_manager_messaging_limit": "TIER_100K" },
    } }]);
    running.simulator.script(&upgrade).unwrap();
    until("the provider's new level known", async || {
        told = limits(&running, channel).await;
        // The level is in force at once; the rest of the description comes by way of the store.
        told["rate_per_second"] == 1_000.0 && limit(&told, "provider_messaging_limit")["value"] == "100000"
    })
    .await;
    let level = limit(&told, "provider_level");
    assert_eq!((&level["value"], &level["in_force"]), (&json!("1000/s"), &json!(false)));
    assert_eq!(limit(&told, "messages_per_second")["in_force"], true);
    running.end().await;
}

async fn the_rest_of_the_company_s_requests_is_shown(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let of_requests = async || limit(&limits(&running, running.channel).await, "api_requests");
    assert_eq!(of_requests().await["value"], "unlimited");
    put_tier(&running, "standard", json!({ "messages_per_second": "80/s", "api_requests": "100/h" })).await;
    until("the tier in force", async || of_requests().await["value"] == "100 in 3600 s").await;
    let before = of_requests().await["left"].as_u64().unwrap();
    for _ in 0..5 {
        assert_eq!(running.ask(Method::GET, "/api/v1/contacts", &Value::Null).await.status, 200);
    }
    let told = of_requests().await;
    // One request may have become free meanwhile: one does every 36 seconds.
    assert!((before - 6..before - 4).contains(&told["left"].as_u64().unwrap()), "{before} before, {told}");
    assert_eq!(told["in_force"], false);
    assert_eq!(told["set_by"], "the company's tier, option api_requests");
    running.end().await;
}
