//! Every check of a send, in the order of the checks.

use super::*;

#[actix_web::test]
async fn a_token_that_is_absent_or_unknown_is_refused_with_401() {
    let universe = universe().await;
    let path = format!("/v25.0/{NUMBER}/messages");
    let (status, answer) = universe.post(&path, "nonsense", &text("+5511999990001")).await;
    assert_eq!(status, 401);
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["type"]), (&json!(190), &json!("OAuthException")));
    assert!(error["message"].as_str().unwrap().starts_with("(#190) "));
    assert!(error["fbtrace_id"].as_str().unwrap().starts_with('A'));
    let absent =
        universe.client.post(universe.url(&path)).json(&text("+5511999990001")).send().await.unwrap();
    assert_eq!(absent.status(), 401);
    assert_eq!(universe.figures().arrivals, 0);
}

#[actix_web::test]
async fn a_number_of_another_account_does_not_exist_for_this_token() {
    let universe = universe().await;
    for id in ["2003", "9999", "abc"] {
        let (status, answer) =
            universe.post(&format!("/v25.0/{id}/messages"), TOKEN, &text("+5511999990001")).await;
        let error = &answer["error"];
        assert_eq!((status, &error["code"], &error["error_subcode"]), (400, &json!(100), &json!(33)), "{id}");
    }
}

#[actix_web::test]
async fn a_number_must_be_connected_its_account_free_and_not_in_maintenance() {
    let universe = universe().await;
    let number = |change: Value| {
        let mut switch = json!({ "number": { "phone_number_id": NUMBER } });
        switch["number"].as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        switch
    };
    // The later state is set first: the earlier one must win.
    universe.script(&number(json!({ "maintenance": true, "throttle": 0 })));
    assert_eq!(universe.code(&text("+5511999990001")).await, (500, 131_057));
    universe.script(&json!({ "account": { "waba_id": WABA, "restriction": 368 } }));
    assert_eq!(universe.code(&text("+5511999990001")).await, (403, 368));
    universe.script(&number(json!({ "status": "DISCONNECTED" })));
    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 133_010));
    universe.script(&json!([
        number(json!({ "status": "CONNECTED", "maintenance": false, "throttle": null })),
        { "account": { "waba_id": WABA, "restriction": null } },
    ]));
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn a_throttled_send_has_the_configured_status() {
    let throttle = |most: Value| json!({ "number": { "phone_number_id": NUMBER, "throttle": most } });
    for throttle_status in [400, 429] {
        let universe = universe_with(Options { throttle_status, ..Options::default() }).await;
        universe.script(&throttle(json!(0)));
        assert_eq!(universe.code(&text("+5511999990001")).await, (throttle_status, 130_429));
        universe.script(&throttle(Value::Null));
        assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
        let figures = universe.figures();
        assert_eq!((figures.messages, figures.refused), (1, 1));
    }
}

#[actix_web::test]
async fn a_pair_is_limited_to_its_burst_and_other_pairs_are_not() {
    let universe = universe_with(Options { pair_throttle: true, ..Options::default() }).await;
    for _ in 0..45 {
        assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
    }
    assert_eq!(universe.code(&text("5511999990001")).await, (400, 131_056));
    assert_eq!(universe.code(&text("+5511999990002")).await, (200, 0));
}

#[actix_web::test]
async fn a_body_that_breaks_the_schema_is_refused() {
    let universe = universe().await;
    let with = |name: &str, value: Value| {
        let mut body = text("+5511999990001");
        body[name] = value;
        body
    };
    let mut untyped = text("+5511999990001");
    untyped.as_object_mut().unwrap().remove("to");
    let cases = [
        (json!([1]), 100),
        (with("messaging_product", json!("sms")), 100),
        (untyped, 131_008),
        (with("to", json!("nobody")), 131_009),
        (with("to", json!("+123")), 131_009),
        (with("type", json!("smoke")), 100),
        (with("type", json!("image")), 131_008),
        (with("text", json!({})), 131_008),
        (with("text", json!({ "body": "x".repeat(4_097) })), 100),
        (with("biz_opaque_callback_data", json!("k".repeat(513))), 100),
        (
            json!({ "messaging_product": "whatsapp", "to": "+5511999990001", "type": "image", "image": {} }),
            131_008,
        ),
        (
            json!({
                "messaging_product": "whatsapp", "to": "+5511999990001", "type": "interactive",
                "interactive": { "type": "button", "body": { "text": "?" }, "action": { "buttons": [] } },
            }),
            131_009,
        ),
    ];
    for (body, code) in &cases {
        assert_eq!(universe.code(body).await, (400, *code), "{body}");
    }
    assert_eq!(universe.code(&with("text", json!({ "body": "é".repeat(4_096) }))).await, (200, 0));
    assert_eq!(universe.figures().refused, cases.len() as u64);
}

#[actix_web::test]
async fn a_location_a_card_or_a_reaction_that_breaks_a_rule_is_refused() {
    let universe = universe().await;
    let body = |kind: &str, content: Value| json!({ "messaging_product": "whatsapp", "to": "+5511999990001", "type": kind, kind: content });
    let card = |fields: Value| {
        let mut card = json!({ "name": { "formatted_name": "Ann", "first_name": "Ann" } });
        card.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body("contacts", json!([card]))
    };
    let id = universe.send(&text("+5511999990001")).await.1["messages"][0]["id"].clone();
    let cases = [
        (body("location", json!({ "latitude": 1 })), 131_008),
        (body("location", json!({ "latitude": "north", "longitude": 1 })), 131_009),
        (body("location", json!({ "latitude": 90.5, "longitude": 1 })), 131_009),
        (body("location", json!({ "latitude": 1, "longitude": -181 })), 131_009),
        (body("location", json!({ "latitude": 1, "longitude": 1, "name": 7 })), 100),
        (body("contacts", json!([])), 131_008),
        (body("contacts", json!([{ "name": { "first_name": "Ann" } }])), 131_008),
        (body("contacts", json!([{ "name": { "formatted_name": "Ann" } }])), 131_009),
        (card(json!({ "phones": "1" })), 100),
        (card(json!({ "phones": [{ "phone": 1 }] })), 100),
        (card(json!({ "birthday": 1990 })), 100),
        (body("reaction", json!({ "emoji": "👍" })), 131_008),
        (body("reaction", json!({ "message_id": "m1", "emoji": "👍" })), 131_009),
        (body("reaction", json!({ "message_id": id })), 131_008),
        (body("reaction", json!({ "message_id": id, "emoji": "ok" })), 131_009),
        (body("sticker", json!({ "link": "https://example.com/s.webp", "caption": "x" })), 100),
    ];
    for (body, code) in &cases {
        assert_eq!(universe.code(body).await, (400, *code), "{body}");
    }
    for emoji in ["👍", "1️⃣", ""] {
        let reaction = body("reaction", json!({ "message_id": id, "emoji": emoji }));
        assert_eq!(universe.code(&reaction).await, (200, 0), "{emoji}");
    }
}

#[actix_web::test]
async fn a_number_cannot_write_to_itself() {
    let universe = universe().await;
    assert_eq!(universe.code(&text("+1 555 000 2001")).await, (400, 131_021));
}

#[actix_web::test]
async fn a_template_that_cannot_be_sent_is_refused_by_its_state() {
    let universe = universe().await;
    for (name, expected) in [
        ("no_such_template", (404, 132_001)),
        ("invoice_ready", (404, 132_001)),
        ("free_money", (404, 132_001)),
        ("weekly_deals", (400, 132_015)),
    ] {
        assert_eq!(universe.code(&template(name, json!([]))).await, expected, "{name}");
    }
    universe.script(&json!({ "template": {
        "waba_id": WABA, "name": "hello_world", "language": "en_US", "status": "DISABLED",
    } }));
    assert_eq!(universe.code(&template("hello_world", json!([]))).await, (400, 132_016));
}

#[actix_web::test]
async fn parameters_that_do_not_fit_their_template_are_refused() {
    let universe = universe().await;
    let word = |text: &str| json!({ "type": "text", "text": text });
    let body = |words: &[Value]| json!({ "type": "body", "parameters": words });
    let image = json!({ "type": "header", "parameters": [{ "type": "image", "image": { "id": "7" } }] });
    let cases = [
        (template("order_update", json!([body(&[word("one")])])), 132_000),
        (template("order_update", json!([])), 132_000),
        (template("hello_world", json!([body(&[word("one")])])), 132_000),
        (template("order_update", json!([body(&[word("a\nb"), word("c")])])), 132_012),
        (template("order_update", json!([body(&[word("a"), word(&"c".repeat(4_096))])])), 132_005),
        (template("promo", json!([body(&[word("Ann")])])), 132_012),
        (template("promo", json!([image, body(&[word("Ann")])])), 131_008),
    ];
    for (send, code) in &cases {
        assert_eq!(universe.code(send).await, (400, *code), "{send}");
    }
}

#[actix_web::test]
async fn named_parameters_need_their_names() {
    let universe = universe().await;
    let components = json!([{ "type": "BODY", "text": "Hi {{first_name}}" }]);
    let named =
        Template { parameter_format: "NAMED".into(), ..Template::new("greeting", "en_US", components) };
    let account = Account { waba_id: WABA.into(), templates: vec![named], ..Account::default() };
    universe.simulator.add(Seed { accounts: vec![account] }).unwrap();
    let greeting =
        |parameter: Value| template("greeting", json!([{ "type": "body", "parameters": [parameter] }]));
    let right = json!({ "type": "text", "parameter_name": "first_name", "text": "Ann" });
    assert_eq!(universe.code(&greeting(right)).await, (200, 0));
    assert_eq!(universe.code(&greeting(json!({ "type": "text", "text": "Ann" }))).await, (400, 132_012));
}

#[actix_web::test]
async fn a_named_parameter_is_given_once_and_a_button_as_its_kind() {
    let universe = universe().await;
    let components = json!([
        { "type": "BODY", "text": "Hi {{first_name}}, pay {{amount}}" },
        { "type": "BUTTONS", "buttons": [
            { "type": "QUICK_REPLY", "text": "Stop" },
            { "type": "URL", "text": "Shop", "url": "https://a.example/" },
        ] },
    ]);
    let named = Template { parameter_format: "NAMED".into(), ..Template::new("bill", "en_US", components) };
    let account = Account { waba_id: WABA.into(), templates: vec![named], ..Account::default() };
    universe.simulator.add(Seed { accounts: vec![account] }).unwrap();
    let word = |name: &str| json!({ "type": "text", "parameter_name": name, "text": "x" });
    let money = |name: Value| json!({ "type": "currency", "parameter_name": name, "currency": {} });
    let body = |words: Value| json!({ "type": "body", "parameters": words });
    let right = || body(json!([word("first_name"), word("amount")]));
    let button = |sub_type: &str, index: u8, parameters: Value| {
        let button =
            json!({ "type": "button", "sub_type": sub_type, "index": index, "parameters": parameters });
        json!([right(), button])
    };
    let payload = json!([{ "type": "payload", "payload": "stop" }]);
    for (components, code) in [
        (json!([right()]), 0),
        (json!([body(json!([word("first_name"), word("first_name")]))]), 132_012),
        (json!([body(json!([word("first_name"), money(json!("amount"))]))]), 0),
        (json!([body(json!([word("first_name"), money(json!(null))]))]), 132_012),
        (button("quick_reply", 0, payload.clone()), 0),
        (button("QUICK_REPLY", 0, payload.clone()), 0),
        (button("url", 0, payload.clone()), 132_012),
        (button("link", 0, payload.clone()), 131_009),
        (button("url", 1, json!([{ "type": "text", "text": "x" }])), 132_000),
        (button("url", 2, json!([])), 132_000),
    ] {
        let status = if code == 0 { 200 } else { 400 };
        assert_eq!(
            universe.code(&template("bill", components.clone())).await,
            (status, code),
            "{components}"
        );
    }
}

#[actix_web::test]
async fn only_templates_go_to_people_who_did_not_write_within_a_day() {
    let universe = universe().await;
    let person = "+5511999990001";
    assert_eq!(universe.code(&text(person)).await, (200, 0), "nobody asked for the rule");
    universe.script(&json!({ "service_window": true }));
    assert_eq!(universe.code(&text(person)).await, (400, 131_047));
    assert_eq!(universe.code(&template("hello_world", json!([]))).await, (200, 0), "a template goes");
    let wrote = json!({ "webhook": { "inbound": {
        "phone_number_id": NUMBER, "from": "5511999990001", "text": "Oi" } } });
    universe.script(&wrote);
    assert_eq!(universe.code(&text(person)).await, (200, 0));
    assert_eq!(universe.code(&text("+5511999990002")).await, (400, 131_047));
    // A person who wrote is the same person in the other form of the number.
    for (from, to) in [("556488887777", "+5564988887777"), ("525512345678", "+5215512345678")] {
        assert_eq!(universe.code(&text(to)).await, (400, 131_047), "{to}");
        universe.script(&json!({ "webhook": { "inbound": {
            "phone_number_id": NUMBER, "from": from, "text": "Oi" } } }));
        assert_eq!(universe.code(&text(to)).await, (200, 0), "{from} {to}");
        assert_eq!(universe.code(&text(&format!("+{from}"))).await, (200, 0), "{from}");
    }
    universe.script(&json!({ "service_window": false }));
    assert_eq!(universe.code(&text("+5511999990002")).await, (200, 0));
}
