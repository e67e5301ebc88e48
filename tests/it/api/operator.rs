//! The operators' views and changes.

use pombo::domain::channel::{Kind, Status};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::World;
use crate::harness::Answer;

const TIER: &str = "/operator/v1/tiers/standard";

async fn get(world: &World, path: &str) -> Value {
    let answer = world.service.get(path, &world.operator).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

async fn put(world: &World, path: &str, body: &Value) -> Answer {
    world.service.put(path, &world.operator, body.to_string()).await
}

/// The changes of one subject, newest first, without ids and times.
async fn changes(world: &World, subject: &str) -> Vec<Value> {
    let mut changes = get(world, &format!("/operator/v1/changes?subject={subject}")).await;
    for change in changes["data"].as_array_mut().unwrap() {
        let fields = change.as_object_mut().unwrap();
        assert!(fields.remove("id").is_some() && fields.remove("at").is_some());
        assert_eq!(fields.remove("subject").unwrap(), subject);
        assert_eq!(fields.remove("address"), Some(Value::Null), "keys tell no address");
    }
    changes["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_tier_can_be_read_changed_and_put_back_and_the_difference_is_shown() {
    let world = World::new().await;
    let mut tier = get(&world, TIER).await;
    let before = world.service.store().revisions().await.unwrap();
    tier["messages_per_second"] = json!("40/s");
    tier["burst"] = json!(2);

    let answer = put(&world, TIER, &tier).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told = answer.json();
    assert_eq!((&told["name"], &told["dry_run"]), (&json!("standard"), &json!(false)));
    assert_eq!(told["before"]["messages_per_second"], "80/s");
    assert_eq!(told["after"]["messages_per_second"], "40/s");
    let difference = json!([
        {"option": "messages_per_second", "old": "80/s", "new": "40/s"},
        {"option": "burst", "old": null, "new": 2},
    ]);
    assert_eq!(told["difference"], difference);
    assert_eq!(get(&world, TIER).await["burst"], 2);
    let after = world.service.store().revisions().await.unwrap();
    assert!(after.tier > before.tier, "the new revision is not published");

    let recorded = &changes(&world, "standard").await[0];
    let expected = json!({
        "who": "ana", "what": "tier", "before": told["before"], "after": told["after"],
    });
    assert_eq!(*recorded, expected);
    let again = put(&world, TIER, &tier).await.json();
    assert_eq!((&again["difference"], &again["before"]), (&json!([]), &again["after"]));
    assert_eq!(changes(&world, "standard").await.len(), 2, "the same again is no change");
}

#[tokio::test]
async fn a_new_tier_gets_the_usual_options_and_can_be_used_at_once() {
    let world = World::new().await;
    let body = json!({"kind": "business_account", "messages_per_second": "5/s", "burst": null});
    let tried = put(&world, "/operator/v1/tiers/slow?dry_run=true", &body).await;
    assert_eq!((tried.status, tried.json()["before"].is_null()), (200, true), "{}", tried.body);
    let created = put(&world, "/operator/v1/tiers/slow", &body).await;
    assert_eq!((created.status, &created.json()["after"]["pair_interval"]), (201, &json!("6s")));
    let listed = get(&world, "/operator/v1/tiers").await;
    let names: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|tier| tier["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"slow") && names.is_sorted(), "{names:?}");

    let path = format!("/operator/v1/channels/{}/tier", world.connected);
    let moved = put(&world, &path, &json!({"tier": "slow"})).await;
    assert_eq!((moved.status, &moved.json()["tier"]), (200, &json!("slow")), "{}", moved.body);
    let expected = json!({"who": "ana", "what": "channel.tier", "before": "standard", "after": "slow"});
    assert_eq!(changes(&world, &world.connected.to_string()).await[..1], [expected]);
}

#[tokio::test]
async fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let world = World::new().await;
    let store = world.service.store();
    let (before, revisions) = (get(&world, TIER).await, store.revisions().await.unwrap());
    let recorded = get(&world, "/operator/v1/changes").await["totalRecords"].clone();
    let body = json!({"kind": "business_account", "messages_per_second": "1/min"});
    let told = put(&world, &format!("{TIER}?dry_run=true"), &body).await;
    assert_eq!((told.status, &told.json()["dry_run"]), (200, &json!(true)));
    let pace = json!({"option": "messages_per_second", "old": "80/s", "new": "1/min"});
    assert!(told.json()["difference"].as_array().unwrap().contains(&pace), "{}", told.body);

    let other = json!({"kind": "web_session", "messages_per_second": "1/min"});
    for path in [TIER.to_owned(), format!("{TIER}?dry_run=true")] {
        let refused = put(&world, &path, &other).await;
        assert_eq!((refused.status, refused.code().as_deref()), (409, Some("tier_kind_changed")), "{path}");
    }
    for slip in ["dry_run=TRUE", "dry_run=1", "dry_run", "dry_run=%ff"] {
        let refused = put(&world, &format!("{TIER}?{slip}"), &body).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")), "{slip}");
    }
    assert_eq!(get(&world, TIER).await, before);
    assert_eq!(store.revisions().await.unwrap(), revisions);
    assert_eq!(get(&world, "/operator/v1/changes").await["totalRecords"], recorded);
}

#[tokio::test]
async fn every_fault_of_a_tier_is_reported_at_once() {
    let world = World::new().await;
    let body = json!({"messages_per_second": "fast", "burts": 1, "template_quota": 0, "name": "other"});
    let refused = put(&world, TIER, &body).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_tier")));
    for fault in ["`burts`; did you mean `burst`?", "`kind` is missing", "fast", "template_quota", "`name`"] {
        assert!(refused.body.contains(fault), "{fault}: {}", refused.body);
    }
    for name in ["Fast", "a%20b", "a%2Fb", "%00", "%ff", "💥", &"x".repeat(41)] {
        let sound = json!({"kind": "business_account", "messages_per_second": "1/s"});
        let path = format!("/operator/v1/tiers/{name}");
        let refused = put(&world, &path, &sound).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_tier")), "{name}");
        let unknown = world.service.get(&path, &world.operator).await;
        assert_eq!((unknown.status, unknown.code().as_deref()), (404, Some("tier_not_found")), "{name}");
    }
}

#[tokio::test]
async fn a_stored_tier_that_this_program_cannot_read_is_shown_and_can_be_repaired() {
    let world = World::new().await;
    let foreign = r#"{"kind":"business_account","messages_per_second":"80/s","colour":"red"}"#;
    for settings in [foreign, "broken"] {
        let given = [("standard".to_owned(), settings.to_owned())];
        world.service.store().tiers().apply(&pombo::store::changes::Who::Pombo, &given).await.unwrap();
        assert_eq!(get(&world, TIER).await["name"], "standard");
        let path = format!("/operator/v1/channels/{}/tier", world.connected);
        let refused = put(&world, &path, &json!({"tier": "standard"})).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_tier")), "{settings}");
        let sound = json!({"kind": "business_account", "messages_per_second": "80/s"});
        assert_eq!(put(&world, TIER, &sound).await.status, 200, "{settings}");
        assert_eq!(get(&world, TIER).await["pair_interval"], "6s");
    }
}

#[tokio::test]
async fn the_channels_of_all_companies_are_listed_with_their_companies() {
    let world = World::new().await;
    let all = get(&world, "/operator/v1/channels?limit=2").await;
    assert_eq!((&all["totalRecords"], &all["totalPages"]), (&json!(5), &json!(3)));
    assert_eq!(all["data"][0]["id"], json!(world.foreign_web));
    assert_eq!(all["data"][0]["company"], json!({"id": world.globex.id, "name": "globex"}));
    assert_eq!(
        (&all["data"][1]["tier"], &all["data"][1]["kind"]),
        (&json!("standard"), &json!("web_session"))
    );

    let found = async |search: &str| {
        let found = get(&world, &format!("/operator/v1/channels?search={search}")).await;
        found["totalRecords"].as_u64().unwrap()
    };
    assert_eq!(found("SHOP").await, 3);
    assert_eq!(found("55119").await, 5);
    assert_eq!(found("globex").await, 2);
    assert_eq!(found(&world.acme.id.to_string()).await, 3);
    assert_eq!(found("glob").await, 0);

    let own = world.service.get("/api/v1/chat", &world.globex.key).await.json();
    let seen = get(&world, "/operator/v1/channels?search=globex").await;
    let mut seen = seen["data"][1].clone();
    for of_operators in ["company", "own_options", "tier_end"] {
        assert!(seen.as_object_mut().unwrap().remove(of_operators).is_some(), "{of_operators}");
    }
    assert_eq!(seen, own["data"][0], "a company's own record, and what operators see beside it");
}

#[tokio::test]
async fn a_channel_is_connected_again_and_its_token_is_seen_nowhere() {
    let world = World::new().await;
    let path = format!("/operator/v1/channels/{}/reconnect", world.disconnected);
    let store = world.service.store();
    let before = store.channels().secrets(world.disconnected).await.unwrap().unwrap();
    let body = json!({"token": " EAAG-new-secret "}).to_string();
    let answer = world.service.post(&path, &world.operator, body).await;
    assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(world.disconnected)), "{}", answer.body);
    let after = store.channels().secrets(world.disconnected).await.unwrap().unwrap();
    assert_ne!(before.token, after.token);
    assert_eq!(before.app_secret, after.app_secret);

    let recorded = changes(&world, &world.disconnected.to_string()).await;
    let token = json!({"who": "ana", "what": "channel.token", "before": null, "after": "replaced"});
    let status = json!({
        "who": "ana", "what": "channel.status", "before": "disconnected", "after": "connecting",
    });
    assert_eq!(recorded[..2], [status, token]);
    assert_eq!((recorded.len(), &recorded[2]["what"]), (3, &json!("channel")), "when it was added");
    let everything = get(&world, "/operator/v1/changes?limit=1000").await.to_string();
    assert!(!everything.contains("EAAG") && !answer.body.contains("EAAG"));

    let long = json!({"token": "x".repeat(16 * 1024)}).to_string();
    for (body, status) in [
        (String::new(), 200),
        ("{}".to_owned(), 200),
        (r#"{"token":null}"#.to_owned(), 200),
        (r#"{"token":7}"#.to_owned(), 400),
        (r#"{"token":"a\u0000b"}"#.to_owned(), 400),
        (long, 413),
    ] {
        let answer = world.service.post(&path, &world.operator, body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
    }
    assert_eq!(store.channels().secrets(world.disconnected).await.unwrap().unwrap(), after);
}

#[tokio::test]
async fn changes_are_listed_newest_first_and_in_pages() {
    let world = World::new().await;
    for pace in ["10/s", "20/s", "30/s"] {
        let body = json!({"kind": "business_account", "messages_per_second": pace});
        assert_eq!(put(&world, TIER, &body).await.status, 200);
    }
    let page = get(&world, "/operator/v1/changes?subject=standard&limit=2").await;
    let paces: Vec<_> = page["data"].as_array().unwrap().iter().map(|change| &change["after"]).collect();
    assert_eq!(
        (&paces[0]["messages_per_second"], &paces[1]["messages_per_second"]),
        (&json!("30/s"), &json!("20/s"))
    );
    assert_eq!((&page["totalRecords"], &page["currentPage"]), (&json!(4), &json!(1)));
    let first = get(&world, "/operator/v1/changes?subject=standard&limit=2&page=2").await;
    assert_eq!((&first["data"][1]["who"], &first["data"][1]["before"]), (&json!("pombo"), &Value::Null));
    assert!(changes(&world, "nothing").await.is_empty());
    let gone = changes(&world, "gone").await;
    assert_eq!((&gone[0]["what"], &gone[0]["after"]), (&json!("operator"), &json!("revoked")));
}

#[tokio::test]
async fn hostile_requests_are_refused_and_never_a_failure() {
    let world = World::new().await;
    let deep = format!("{}{}", "[".repeat(4000), "]".repeat(4000));
    let nested = format!(r#"{{"kind":{deep}}}"#);
    let bodies = [
        "",
        "null",
        "7",
        "[{}]",
        "{",
        "{}{}",
        "\0",
        r#"{"tier":"a\u0000b"}"#,
        r#"{"tier":{}}"#,
        &deep,
        &nested,
        r#"{"kind":"business_account","messages_per_second":"1/s","warm_up":[99999999999]}"#,
        r#"{"tier":"standard","options":[]}"#,
        r#"{"tier":"standard","options":{"messages_per_second":"fast"}}"#,
        r#"{"tier":"standard","options":{"quiet_hours":"at night"}}"#,
    ];
    let tier_of = |id: Uuid| format!("/operator/v1/channels/{id}/tier");
    for path in [TIER.to_owned(), tier_of(world.connected), tier_of(world.web)] {
        for body in bodies {
            let answer = world.service.put(&path, &world.operator, body.to_owned()).await;
            assert!((400..405).contains(&answer.status), "{path} {body}: {}", answer.body);
            assert!(answer.code().is_some(), "{path} {body}: {}", answer.body);
        }
    }
    for id in ["x", "%00", "%ff", &Uuid::nil().to_string()] {
        let path = format!("/operator/v1/channels/{id}/tier");
        assert_eq!(put(&world, &path, &json!({})).await.code().as_deref(), Some("channel_not_found"), "{id}");
    }
    for name in ["%00", "%ff", "A", "standard%00"] {
        let path = format!("/operator/v1/tiers/{name}");
        let request = world.service.request(Method::DELETE, &path).bearer_auth(&world.operator);
        assert_eq!(Answer::to(request).await.code().as_deref(), Some("tier_not_found"), "{name}");
        for (action, code) in [("rename", "tier_not_found"), ("rollback", "change_not_found")] {
            let request = world.service.request(Method::POST, &format!("{path}/{action}"));
            let answer =
                Answer::to(request.bearer_auth(&world.operator).json(&json!({ "name": "new" }))).await;
            // The body of a rollback has no name.
            let answered =
                answer.code().is_some_and(|answered| answered == code || answered == "unknown_field");
            assert!(answered, "{name} {action}: {}", answer.body);
        }
    }
    for query in ["subject=%00", "subject=%ff"] {
        let answer = world.service.get(&format!("/operator/v1/changes?{query}"), &world.operator).await;
        assert_eq!(answer.code().as_deref(), Some("invalid_field"), "{query}");
    }
    let nul = r#"{"kind":"business_account","messages_per_second":"1/s","description":"a\u0000b"}"#;
    let kept = world.service.put(TIER, &world.operator, nul).await;
    assert_eq!((kept.status, &kept.json()["after"]["description"]), (200, &json!("a\0b")));
    assert_eq!(get(&world, TIER).await["description"], "a\0b");
}

#[tokio::test]
async fn an_operator_s_request_is_refused_before_its_body_is_read() {
    let world = World::new().await;
    let web = world.service.channel(&world.acme, Kind::WebSession, "line", Status::Pairing).await;
    let head = |path: &str, key: &str| {
        format!(
            "PUT {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n"
        )
    };
    let of_nobody = format!("/operator/v1/channels/{}/tier", Uuid::nil());
    let of_web = format!("/operator/v1/channels/{}/tier", web.id);
    for (path, key, status) in [(&of_web, &world.acme.key, 401), (&of_nobody, &world.operator, 404)] {
        let answer = world.service.raw(head(path, key).into_bytes()).await;
        assert_eq!(answer.status, status, "{path}");
    }
    let request = world.service.request(Method::PUT, TIER).bearer_auth(&world.operator);
    let large = request.body(" ".repeat(16 * 1024 + 1));
    assert_eq!(Answer::to(large).await.code().as_deref(), Some("body_too_large"));
}
