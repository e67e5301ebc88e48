//! A company's own suppressions, and checks of numbers.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::{Answer, Company};

const OWN: &str = "/api/v1/suppressions";
const CHECK: &str = "/api/v1/numbers/check";

async fn add(world: &World, company: &Company, body: Value) -> Answer {
    world.service.post(OWN, &company.key, body.to_string()).await
}

async fn lift(world: &World, company: &Company, number: &str) -> Answer {
    let request = world.service.request(Method::DELETE, &format!("{OWN}/{number}"));
    Answer::to(request.bearer_auth(&company.key)).await
}

async fn get(world: &World, company: &Company, path: &str) -> Value {
    let answer = world.service.get(&format!("{OWN}{path}"), &company.key).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

/// How many recipients a dry run of a text to this number has.
async fn reached(world: &World, number: &str) -> Answer {
    let body = json!({"type": "text", "message": "x", "phone_number": number}).to_string();
    world.service.post(&format!("{}?dry_run=true", World::send(world.connected)), &world.acme.key, body).await
}

#[tokio::test]
async fn a_company_suppresses_checks_and_lifts_its_own_recipients() {
    let world = World::new().await;
    let acme = &world.acme;
    let first =
        add(&world, acme, json!({"phone_number": "+55 11 98888-0001", "left_out_of": "everything"})).await;
    assert_eq!(first.status, 201, "{}", first.body);
    assert_eq!(
        (&first.json()["phone_number"], &first.json()["is_suppressed"]),
        (&json!("+5511988880001"), &json!(true))
    );
    let again =
        add(&world, acme, json!({"phone_number": "5511988880001", "left_out_of": "everything"})).await;
    assert_eq!((again.status, again.json()), (200, first.json()));
    assert_eq!(add(&world, acme, json!({"phone_number": "5511988880002"})).await.status, 201);

    // The next send follows at once.
    let skipped = reached(&world, "5511988880001").await;
    assert_eq!(skipped.code().as_deref(), Some("no_valid_recipients"), "{}", skipped.body);
    assert_eq!(skipped.json()["skipped"][0]["code"], "suppressed");
    assert_eq!(reached(&world, "5511988880002").await.status, 200, "a text is no marketing");

    let list = get(&world, acme, "?limit=1&page=2").await;
    assert_eq!(
        (&list["totalRecords"], &list["data"][0]["phone_number"]),
        (&json!(2), &json!("+5511988880002"))
    );
    assert_eq!(list["data"][0]["left_out_of"], "marketing");
    // The older form of the same person's number finds it too.
    for (search, found) in
        [("%2B55%2011%2098888-0001", 1), ("551188880001", 1), ("5511988880009", 0), ("ana", 0)]
    {
        assert_eq!(get(&world, acme, &format!("?search={search}")).await["totalRecords"], found, "{search}");
    }
    for (number, is_suppressed) in
        [("%2B5511988880001", true), ("+551188880001", true), ("5511988880009", false)]
    {
        let checked = get(&world, acme, &format!("/{number}")).await;
        assert_eq!(checked["is_suppressed"], is_suppressed, "{number}");
        assert_eq!(checked["suppressions"].as_array().unwrap().len(), usize::from(is_suppressed), "{number}");
    }
    // Another company's are its own.
    assert_eq!(get(&world, &world.globex, "").await["totalRecords"], 0);
    assert_eq!(get(&world, &world.globex, "/5511988880001").await["is_suppressed"], false);
    let foreign = lift(&world, &world.globex, "5511988880001").await;
    assert_eq!((foreign.status, foreign.code().as_deref()), (404, Some("suppression_not_found")));

    assert_eq!(lift(&world, acme, "%2B551188880001").await.status, 204);
    assert_eq!(lift(&world, acme, "5511988880001").await.status, 404);
    assert_eq!(reached(&world, "5511988880001").await.status, 200);
    assert_eq!(get(&world, acme, "").await["totalRecords"], 1);
}

#[tokio::test]
async fn the_record_of_changes_names_the_key_that_suppressed_and_lifted() {
    let world = World::new().await;
    assert_eq!(add(&world, &world.acme, json!({"phone_number": "5511988880001"})).await.status, 201);
    assert_eq!(lift(&world, &world.acme, "5511988880001").await.status, 204);
    let path = "/operator/v1/changes?subject=%2B5511988880001";
    let changes = world.service.get(path, &world.operator).await.json();
    let told: Vec<_> = changes["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["who"].as_str().unwrap(), change["after"]["left_out_of"].clone()))
        .collect();
    assert_eq!(told, [("key:pombo_acme", json!([])), ("key:pombo_acme", json!(["marketing"]))]);
}

#[tokio::test]
async fn what_is_no_suppression_is_refused() {
    let world = World::new().await;
    for (body, code) in [
        (json!({"phone_number": "12"}), "invalid_phone_number"),
        (json!({}), "invalid_field"),
        (json!({"phone_number": "5511988880001", "left_out_of": "nothing"}), "invalid_field"),
    ] {
        let refused = add(&world, &world.acme, body).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some(code)), "{}", refused.body);
    }
    let unread = world.service.get(&format!("{OWN}/12"), &world.acme.key).await;
    assert_eq!((unread.status, unread.code().as_deref()), (400, Some("invalid_phone_number")));
}

#[tokio::test]
async fn numbers_are_checked_in_bulk_with_the_reasons_of_a_send() {
    let world = World::new().await;
    add(&world, &world.acme, json!({"phone_number": "5511988880001", "left_out_of": "everything"})).await;
    add(&world, &world.acme, json!({"phone_number": "5511988880002"})).await;
    let body = json!({"phone_number": [
        "+55 (11) 98888-0001", "551188880002", 5_511_988_880_003_u64, "12", "+1 415 555 0132", "abc",
    ]});
    let answer = world.service.post(CHECK, &world.acme.key, body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told = answer.json();
    let fields = |name: &str| -> Vec<Value> {
        told["data"].as_array().unwrap().iter().map(|number| number[name].clone()).collect()
    };
    assert_eq!(fields("is_valid"), [true, true, true, false, true, false].map(|is| json!(is)));
    assert_eq!(
        fields("code"),
        [
            json!("suppressed"),
            json!("opted_out"),
            Value::Null,
            json!("invalid_number"),
            Value::Null,
            json!("invalid_number")
        ]
    );
    assert_eq!(fields("phone_number")[1], "+551188880002");
    assert_eq!(fields("suppressions")[1][0]["phone_number"], "+5511988880002");
    assert_eq!(fields("suppressions")[0][0]["source"], "operator");
    assert_eq!(
        fields("country"),
        [json!("BR"), json!("BR"), json!("BR"), Value::Null, json!("US"), Value::Null]
    );
    assert_eq!(fields("reason")[3], "has fewer than 7 digits");
    assert_eq!(fields("on_whatsapp"), vec![Value::Null; 6]);
    let counts = ["valid_count", "invalid_count", "suppressed_count"].map(|name| told[name].clone());
    assert_eq!((counts, &told["whatsapp"]), ([json!(4), json!(2), json!(2)], &Value::Null));

    // A send gives the same reasons.
    let send = json!({"type": "text", "message": "x", "phone_number": ["12", "5511988880001"]}).to_string();
    let refused = world.service.post(&World::send(world.connected), &world.acme.key, send).await.json();
    for entry in refused["skipped"].as_array().unwrap() {
        let same =
            told["data"].as_array().unwrap().iter().find(|number| number["code"] == entry["code"]).unwrap();
        assert_eq!(same["reason"], entry["reason"]);
    }

    let at_home = json!({"phone_number": "(11) 98888-0001", "country": "BR"}).to_string();
    let read = world.service.post(CHECK, &world.acme.key, at_home).await.json();
    assert_eq!(read["data"][0]["phone_number"], "+5511988880001");
}
