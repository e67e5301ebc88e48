//! Nodes, template listing and creation, tokens.

use super::*;

#[actix_web::test]
async fn a_number_shows_the_fields_that_are_asked_for() {
    let universe = universe().await;
    let (_, usual) = universe.get(&format!("/v25.0/{NUMBER}")).await;
    assert_eq!(usual["display_phone_number"], "+1 555 000 2001");
    assert!(usual.get("status").is_none());
    let (_, asked) = universe.get(&format!("/v25.0/{NUMBER}?fields=status,throughput,is_on_biz_app")).await;
    assert_eq!(
        asked,
        json!({ "id": NUMBER, "status": "CONNECTED", "throughput": { "level": "NOT_APPLICABLE" }, "is_on_biz_app": false })
    );
    let (status, _) = universe.get(&format!("/v25.0/{NUMBER}?fields=shoe_size")).await;
    assert_eq!(status, 400);
}

#[actix_web::test]
async fn health_says_which_part_is_blocked() {
    let universe = universe().await;
    universe.script(&json!({ "account": { "waba_id": WABA, "restriction": 131_031 } }));
    let (_, node) = universe.get(&format!("/v25.0/{NUMBER}?fields=health_status")).await;
    let health = &node["health_status"];
    assert_eq!(health["can_send_message"], "BLOCKED");
    assert_eq!(health["entities"][0]["can_send_message"], "AVAILABLE");
    assert_eq!(health["entities"][1]["can_send_message"], "BLOCKED");
}

#[actix_web::test]
async fn an_account_lists_its_numbers_only() {
    let universe = universe().await;
    let (_, list) = universe.get(&format!("/v25.0/{WABA}/phone_numbers?fields=id")).await;
    assert_eq!(list, json!({ "data": [{ "id": NUMBER }, { "id": "2002" }] }));
    assert_eq!(universe.get("/v25.0/1002/phone_numbers").await.0, 400);
}

#[actix_web::test]
async fn templates_are_paged_by_following_next_until_it_is_absent() {
    let universe = universe().await;
    let mut url = universe.url(&format!("/v25.0/{WABA}/message_templates?fields=name,status&limit=4"));
    let mut names = Vec::new();
    let mut pages = 0;
    loop {
        let answer = universe.client.get(&url).bearer_auth(TOKEN).send().await.unwrap();
        let page: Value = answer.json().await.unwrap();
        names.extend(
            page["data"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        assert!(page["paging"]["cursors"]["after"].is_string());
        let Some(next) = page["paging"]["next"].as_str() else { break };
        next.clone_into(&mut url);
    }
    assert_eq!(pages, 2);
    let expected: Vec<_> = default_templates().into_iter().map(|template| template.name).collect();
    assert_eq!(names, expected);
}

#[actix_web::test]
async fn templates_are_filtered() {
    let universe = universe().await;
    let names = |query: &'static str| {
        let universe = &universe;
        async move {
            let (_, list) = universe.get(&format!("/v25.0/{WABA}/message_templates?{query}")).await;
            let nodes = list["data"].as_array().unwrap().iter();
            nodes.map(|node| node["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }
    };
    assert_eq!(names("status=PAUSED").await, ["weekly_deals"]);
    assert_eq!(names("name=promo&language=en_US").await, ["promo"]);
    assert!(names("language=pt_BR").await.is_empty());
    let path = format!("/v26.0/{WABA}/message_templates?status=APPROVED&limit=1&summary=total_count");
    let (_, list) = universe.get(&path).await;
    let summary = &list["summary"];
    assert_eq!((&summary["total_count"], &summary["message_template_count"]), (&json!(3), &json!(6)));
    assert_eq!(universe.get(&format!("/v25.0/{WABA}/message_templates?after=!!")).await.0, 400);
}

#[actix_web::test]
async fn a_created_template_is_pending_until_it_is_approved() {
    let universe = universe().await;
    let path = format!("/v25.0/{WABA}/message_templates");
    let new = json!({
        "name": "fresh", "language": "en_US", "category": "utility",
        "components": [{ "type": "BODY", "text": "Hi" }],
    });
    let (status, created) = universe.post(&path, TOKEN, &new).await;
    assert_eq!(
        (status, &created["status"], &created["category"]),
        (200, &json!("PENDING"), &json!("UTILITY"))
    );
    assert_eq!(universe.post(&path, TOKEN, &new).await.0, 400);
    assert_eq!(universe.code(&template("fresh", json!([]))).await, (404, 132_001));
    universe.script(&json!({ "template": {
        "waba_id": WABA, "name": "fresh", "language": "en_US", "status": "APPROVED",
    } }));
    assert_eq!(universe.code(&template("fresh", json!([]))).await, (200, 0));
    let id = created["id"].as_str().unwrap();
    let (_, node) = universe.get(&format!("/v25.0/{id}?fields=name,status")).await;
    assert_eq!(node, json!({ "id": id, "name": "fresh", "status": "APPROVED" }));
}

#[actix_web::test]
async fn a_template_is_edited_once_it_was_judged_and_deleted_by_its_name_or_its_id() {
    let universe = universe().await;
    let path = format!("/v25.0/{WABA}/message_templates");
    let mut ids = Vec::new();
    for language in ["en_US", "pt_BR"] {
        let new = json!({
            "name": "fresh", "language": language, "category": "UTILITY",
            "components": [{ "type": "BODY", "text": "Hi" }],
        });
        ids.push(universe.post(&path, TOKEN, &new).await.1["id"].as_str().unwrap().to_owned());
    }
    let change = json!({ "components": [{ "type": "BODY", "text": "Hello" }] });
    let place = format!("/v25.0/{}", ids[0]);
    assert_eq!(universe.post(&place, TOKEN, &change).await.0, 400, "it is being reviewed");
    let judged = json!({ "waba_id": WABA, "name": "fresh", "language": "en_US", "status": "APPROVED" });
    universe.script(&json!({ "template": judged }));
    let moved = json!({ "category": "MARKETING" });
    assert_eq!(universe.post(&place, TOKEN, &moved).await.0, 400, "an approved one keeps its category");
    assert_eq!(universe.post(&place, TOKEN, &change).await, (200, json!({ "success": true })));
    let (_, node) = universe.get(&format!("{place}?fields=status,components")).await;
    assert_eq!((&node["status"], &node["components"]), (&json!("PENDING"), &change["components"]));
    let delete = async |query: &str| {
        let url = universe.url(&format!("{path}?{query}"));
        universe.client.delete(url).bearer_auth(TOKEN).send().await.unwrap().status().as_u16()
    };
    assert_eq!(delete(&format!("name=fresh&hsm_id={}", ids[0])).await, 200);
    assert_eq!(universe.get(&place).await.0, 400);
    assert_eq!(universe.get(&format!("/v25.0/{}", ids[1])).await.0, 200);
    assert_eq!(delete("name=fresh").await, 200);
    assert_eq!(delete("name=fresh").await, 400);
}

#[actix_web::test]
async fn the_provider_s_rules_for_words_and_samples_hold() {
    let universe = universe().await;
    let create = async |components: Value| {
        let new = json!({
            "name": "ruled", "language": "en_US", "category": "UTILITY", "components": components,
        });
        universe.post(&format!("/v25.0/{WABA}/message_templates"), TOKEN, &new).await.0
    };
    let body = json!({ "type": "BODY", "text": "Hi there" });
    let picture = |handle: &str| json!({ "type": "HEADER", "format": "IMAGE", "example": { "header_handle": [handle] } });
    for wrong in [
        json!([]),
        json!([{ "type": "BODY", "text": "Hi {{1}}!" }]),
        json!([{ "type": "BODY", "text": "{{1}} is here", "example": { "body_text": [["Ana"]] } }]),
        json!([{ "type": "BODY", "text": "x".repeat(1_025) }]),
        json!([body, { "type": "FOOTER", "text": "x".repeat(61) }]),
        json!([body, { "type": "BUTTONS", "buttons": [{ "type": "QUICK_REPLY", "text": "x".repeat(26) }] }]),
        json!([picture("https://example.com/a.png"), body]),
    ] {
        assert_eq!(create(wrong.clone()).await, 400, "{wrong}");
    }
    let open = "/v25.0/1000000000/uploads?file_length=3&file_type=image/png";
    let (_, session) = universe.post(open, TOKEN, &json!({})).await;
    let url = universe.url(&format!("/v25.0/{}", session["id"].as_str().unwrap()));
    let upload = async |bytes: &'static str| {
        let request = universe.client.post(&url).header("Authorization", format!("OAuth {TOKEN}"));
        let answer = request.header("file_offset", "0").body(bytes).send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    assert_eq!(upload("four").await["error"]["code"], 100);
    let handle = upload("png").await["h"].as_str().unwrap().to_owned();
    assert_eq!(create(json!([picture(&handle), body])).await, 200);
}

#[actix_web::test]
async fn a_template_may_limit_how_long_delivery_is_attempted() {
    let universe = universe().await;
    let path = format!("/v26.0/{WABA}/message_templates");
    for (category, seconds, status) in [
        ("AUTHENTICATION", 900, 200),
        ("AUTHENTICATION", -1, 200),
        ("AUTHENTICATION", 901, 400),
        ("UTILITY", 30, 200),
        ("UTILITY", 29, 400),
        ("MARKETING", 43_200, 200),
        ("MARKETING", 60, 400),
    ] {
        let new = json!({
            "name": format!("{category}_{}", seconds + 1).to_lowercase(), "language": "en_US", "category": category,
            "components": [{ "type": "BODY", "text": "Hi" }], "message_send_ttl_seconds": seconds,
        });
        let (answered, created) = universe.post(&path, TOKEN, &new).await;
        assert_eq!(answered, status, "{category} {seconds}: {created}");
        let Some(id) = created["id"].as_str() else { continue };
        let (_, node) = universe.get(&format!("/v26.0/{id}?fields=message_send_ttl_seconds")).await;
        assert_eq!(node["message_send_ttl_seconds"], seconds);
    }
}

#[actix_web::test]
async fn a_paused_template_can_be_unpaused() {
    let universe = universe().await;
    let (_, list) = universe.get(&format!("/v25.0/{WABA}/message_templates?status=PAUSED")).await;
    let path = format!("/v25.0/{}/unpause", list["data"][0]["id"].as_str().unwrap());
    assert_eq!(universe.post(&path, TOKEN, &json!({})).await, (200, json!({ "success": true })));
    assert_eq!(universe.post(&path, TOKEN, &json!({})).await.0, 400);
    assert_eq!(universe.code(&template("weekly_deals", json!([]))).await, (200, 0));
}

#[actix_web::test]
async fn a_token_is_inspected() {
    let universe = universe().await;
    let (_, valid) = universe.get(&format!("/v25.0/debug_token?input_token={TOKEN}")).await;
    assert_eq!(valid["data"]["is_valid"], true);
    assert_eq!(valid["data"]["granular_scopes"][0]["target_ids"], json!([WABA]));
    let (_, unknown) = universe.get("/v25.0/debug_token?input_token=x").await;
    assert_eq!(
        (&unknown["data"]["is_valid"], &unknown["data"]["error"]["code"]),
        (&json!(false), &json!(190))
    );
}

#[actix_web::test]
async fn a_path_without_a_version_has_the_newest_version() {
    let universe = universe().await;
    assert_eq!(universe.post(&format!("/{NUMBER}/messages"), TOKEN, &text("+5511999990001")).await.0, 200);
    let (_, node) = universe.get(&format!("/{NUMBER}?fields=status")).await;
    assert_eq!(node, json!({ "id": NUMBER, "status": "CONNECTED" }));
    let (status, answer) = universe.get("/nothing/2").await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(2_500)));
}

#[actix_web::test]
async fn an_account_is_subscribed_and_an_unknown_path_is_refused() {
    let universe = universe().await;
    let subscribed = universe.post(&format!("/v25.0/{WABA}/subscribed_apps"), TOKEN, &json!({})).await;
    assert_eq!(subscribed, (200, json!({ "success": true })));
    let (status, answer) = universe.get("/v25.0/1001/2/3").await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(2_500)));
}

#[actix_web::test]
async fn the_library_is_searched_in_parts_and_its_templates_are_copied_with_what_they_ask_for() {
    let universe = universe().await;
    let found = async |query: &str| {
        let (status, list) = universe.get(&format!("/v25.0/message_template_library?{query}")).await;
        assert_eq!(status, 200, "{list}");
        let templates = list["data"].as_array().unwrap().iter();
        let shown = templates
            .map(|one| format!("{} {}", one["name"].as_str().unwrap(), one["language"].as_str().unwrap()));
        (shown.collect::<Vec<_>>(), list["paging"].clone())
    };
    assert_eq!(found("search=VENCERAM").await.0, ["payment_overdue_1 pt_BR"]);
    assert_eq!(found("topic=ORDER_MANAGEMENT&language=es").await.0, ["delivery_update_1 es"]);
    assert_eq!(found("usecase=ORDER_PICK_UP").await.0, ["order_pick_up_1 en_US"]);
    let (first, paging) = found("name=delivery_update_1&industry=E_COMMERCE&limit=2").await;
    assert_eq!(first, ["delivery_update_1 en_US", "delivery_update_1 es"]);
    assert!(paging["next"].as_str().unwrap().contains("name=delivery_update_1"), "{paging}");
    let (rest, paging) = found("name=delivery_update_1&limit=2&after=2").await;
    assert_eq!(
        (rest.as_slice(), &paging["next"]),
        (&["delivery_update_1 pt_BR".to_owned()][..], &Value::Null)
    );

    let path = format!("/v25.0/{WABA}/message_templates");
    let copy = |inputs: Value| {
        let mut body = json!({
            "name": "my_update", "language": "en_US", "category": "UTILITY",
            "library_template_name": "delivery_update_1",
        });
        body["library_template_button_inputs"] = inputs;
        body
    };
    let address =
        json!({ "base_url": "https://shop.example/{{1}}", "url_suffix_example": "https://shop.example/7" });
    let whole = json!([{ "type": "URL", "url": address }]);
    for wrong in [Value::Null, json!("no JSON"), json!([{ "type": "URL" }])] {
        assert_eq!(universe.post(&path, TOKEN, &copy(wrong)).await.0, 400);
    }
    let (status, created) = universe.post(&path, TOKEN, &copy(whole.to_string().into())).await;
    assert_eq!((status, &created["status"]), (200, &json!("APPROVED")), "{created}");
    let fields = "fields=library_template_name,components";
    let (_, node) = universe.get(&format!("/v25.0/{}?{fields}", created["id"].as_str().unwrap())).await;
    assert_eq!(node["library_template_name"], "delivery_update_1");
    assert_eq!(node["components"][1]["buttons"][0]["url"], "https://shop.example/{{1}}");
}
