//! Tiers that operators change in part, rename, delete, and set back.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::Answer;

const TIER: &str = "/operator/v1/tiers/high";

async fn ask(world: &World, method: Method, path: &str, body: Value) -> Answer {
    let request = world.service.request(method, path).bearer_auth(&world.operator).body(body.to_string());
    Answer::to(request).await
}

async fn show(world: &World, name: &str) -> Value {
    let mut tier = world.service.get(&format!("/operator/v1/tiers/{name}"), &world.operator).await.json();
    tier.as_object_mut().unwrap().remove("updated_at");
    tier
}

async fn history(world: &World, name: &str) -> Vec<Value> {
    let path = format!("/operator/v1/changes?what=tier&subject={name}");
    world.service.get(&path, &world.operator).await.json()["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_part_of_a_tier_is_changed_and_the_rest_stays() {
    let world = World::new().await;
    let mut expected = show(&world, "high").await;
    let tried = ask(&world, Method::PATCH, &format!("{TIER}?dry_run=true"), json!({"burst": 5})).await;
    assert_eq!((tried.status, &tried.json()["sends"]), (200, &json!([])), "{}", tried.body);
    assert_eq!(show(&world, "high").await, expected);
    let changed =
        ask(&world, Method::PATCH, TIER, json!({"burst": 5, "template_quota": 900, "name": "high"})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert!(changed.json().get("sends").is_none(), "only a dry run predicts: {}", changed.body);
    expected["burst"] = json!(5);
    expected["template_quota"] = json!(900);
    assert_eq!(show(&world, "high").await, expected);
    let back = ask(&world, Method::PATCH, TIER, json!({"burst": null})).await.json();
    assert_eq!(back["difference"], json!([{"option": "burst", "old": 5, "new": null}]));
    for body in [json!({"kind": "web_session"}), json!({"name": "other"}), json!({"burts": 1, "burst": 0})] {
        let refused = ask(&world, Method::PATCH, TIER, body).await;
        assert_eq!(
            (refused.status, refused.code().as_deref()),
            (400, Some("invalid_tier")),
            "{}",
            refused.body
        );
    }
}

#[tokio::test]
async fn a_tier_in_use_stays_and_the_refusal_names_its_users() {
    let world = World::new().await;
    let refused = ask(&world, Method::DELETE, "/operator/v1/tiers/standard", json!({})).await;
    assert_eq!((refused.status, refused.code().as_deref()), (409, Some("tier_in_use")), "{}", refused.body);
    assert!(refused.body.contains("5 channels") && refused.body.contains("acme"), "{}", refused.body);
    assert_eq!(ask(&world, Method::DELETE, TIER, json!({})).await.status, 204);
    assert_eq!(world.service.get(TIER, &world.operator).await.status, 404);
    let newest = &history(&world, "high").await[0];
    assert_eq!((&newest["after"], &newest["who"]), (&json!("removed"), &json!("ana")));
}

#[tokio::test]
async fn a_renamed_tier_takes_its_channels_and_companies_with_it() {
    let world = World::new().await;
    let mut expected = show(&world, "standard").await;
    let path = "/operator/v1/tiers/standard/rename";
    let renamed = ask(&world, Method::POST, path, json!({"name": "usual"})).await;
    assert_eq!(renamed.status, 200, "{}", renamed.body);
    expected["name"] = json!("usual");
    assert_eq!(show(&world, "usual").await, expected);
    let channels = world.service.get("/operator/v1/channels", &world.operator).await.json();
    assert!(
        channels["data"].as_array().unwrap().iter().all(|channel| channel["tier"] == "usual"),
        "{channels}"
    );
    let companies = world.service.get("/operator/v1/companies?search=o", &world.operator).await.json();
    assert_eq!(
        (&companies["data"][0]["name"], &companies["data"][0]["tier"]),
        (&json!("globex"), &json!("usual"))
    );
    assert_eq!(world.service.get("/operator/v1/tiers/standard", &world.operator).await.status, 404);
    for name in ["standard", "usual"] {
        let newest = &history(&world, name).await[0];
        assert_eq!(
            (&newest["before"]["name"], &newest["after"]["name"]),
            (&json!("standard"), &json!("usual"))
        );
    }
}

#[tokio::test]
async fn a_tier_goes_back_to_an_entry_of_its_history_even_when_it_was_deleted() {
    let world = World::new().await;
    let first = show(&world, "high").await;
    for burst in [3, 4] {
        ask(&world, Method::PATCH, TIER, json!({ "burst": burst })).await;
    }
    let entries = history(&world, "high").await;
    let path = format!("{TIER}/rollback");
    let body = json!({ "change_id": entries[1]["id"] });
    let tried = ask(&world, Method::POST, &format!("{path}?dry_run=true"), body.clone()).await;
    assert_eq!((tried.status, &tried.json()["after"]["burst"]), (200, &json!(3)), "{}", tried.body);
    assert_eq!(show(&world, "high").await["burst"], 4);
    assert_eq!(ask(&world, Method::POST, &path, body).await.status, 200);
    assert_eq!(show(&world, "high").await["burst"], 3);
    let oldest = json!({ "change_id": entries[2]["id"] });
    assert_eq!(ask(&world, Method::POST, &path, oldest).await.status, 200);
    assert_eq!(show(&world, "high").await, first);

    assert_eq!(ask(&world, Method::DELETE, TIER, json!({})).await.status, 204);
    let gone = json!({ "change_id": history(&world, "high").await[0]["id"] });
    let refused = ask(&world, Method::POST, &path, gone).await;
    assert_eq!(
        (refused.status, refused.code().as_deref()),
        (404, Some("change_not_found")),
        "{}",
        refused.body
    );
    // Without an entry, the newest change is undone: here the deletion.
    assert_eq!(ask(&world, Method::POST, &path, json!({})).await.status, 201);
    assert_eq!(show(&world, "high").await, first);
}
