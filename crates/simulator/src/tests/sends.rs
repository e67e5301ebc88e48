//! Accepted sends, and their counts.

use super::*;

#[actix_web::test]
async fn an_accepted_send_answers_as_the_provider_does() {
    let universe = universe().await;
    let mut body = text("+55 (11) 99999-0001");
    body["biz_opaque_callback_data"] = json!("key-1");
    let (status, answer) = universe.send(&body).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["messaging_product"], "whatsapp");
    assert_eq!(answer["contacts"], json!([{ "input": "+55 (11) 99999-0001", "wa_id": "5511999990001" }]));
    assert_eq!(answer["messages"][0]["message_status"], "accepted");
    let logged = universe.simulator.messages(0, 10);
    assert_eq!(answer["messages"][0]["id"], logged[0].id);
    assert_eq!((logged[0].key.as_deref(), logged[0].to.as_str()), (Some("key-1"), "5511999990001"));
    assert_eq!(logged[0].body.as_ref(), Some(&body));
}

#[actix_web::test]
async fn usage_headers_are_on_every_answer_and_retry_after_on_none() {
    let universe = universe().await;
    for to in ["+5511999990001", "nobody"] {
        let path = universe.url(&format!("/v25.0/{NUMBER}/messages"));
        let answer = universe.client.post(path).bearer_auth(TOKEN).json(&text(to)).send().await.unwrap();
        let headers = answer.headers();
        assert!(headers.contains_key("x-app-usage"));
        let usage = headers["x-business-use-case-usage"].to_str().unwrap();
        assert!(usage.starts_with(r#"{"1001":[{"#), "{usage}");
        assert!(!headers.contains_key("retry-after"));
    }
}

#[actix_web::test]
async fn every_message_type_is_accepted() {
    let universe = universe().await;
    let link = json!({ "link": "https://example.com/a" });
    let bodies = [
        ("image", link.clone()),
        ("video", link.clone()),
        ("audio", link.clone()),
        ("document", json!({ "link": "https://example.com/a", "filename": "a.pdf", "caption": "the bill" })),
        ("sticker", link),
        ("location", json!({ "latitude": "1", "longitude": 2 })),
        ("contacts", json!([{ "name": { "formatted_name": "Ann", "first_name": "Ann" } }])),
        ("reaction", json!({ "message_id": "wamid.x", "emoji": "👍" })),
        (
            "interactive",
            json!({
                "type": "button", "body": { "text": "?" },
                "action": { "buttons": [{ "type": "reply", "reply": { "id": "1", "title": "Yes" } }] },
            }),
        ),
    ];
    for (kind, content) in bodies {
        let body = json!({
            "messaging_product": "whatsapp", "to": "+5511999990001", "type": kind, kind: content,
        });
        assert_eq!(universe.code(&body).await, (200, 0), "{kind}");
    }
    let kinds: Vec<_> = universe.simulator.messages(0, 100).iter().map(|message| message.kind).collect();
    assert_eq!(kinds.len(), 9);
}

#[actix_web::test]
async fn a_template_is_accepted_with_the_parameters_that_it_asks_for() {
    let universe = universe().await;
    let word = |text: &str| json!({ "type": "text", "text": text });
    let promo = json!([
        { "type": "header", "parameters": [{ "type": "image", "image": { "link": "https://example.com/i.jpg" } }] },
        { "type": "body", "parameters": [word("Ann")] },
        { "type": "button", "sub_type": "url", "index": "0", "parameters": [word("spring")] },
    ]);
    let order = json!([{ "type": "body", "parameters": [word("Ann"), word("A-1")] }]);
    assert_eq!(universe.code(&template("promo", promo)).await, (200, 0));
    assert_eq!(universe.code(&template("order_update", order)).await, (200, 0));
    assert_eq!(universe.code(&template("hello_world", json!([]))).await, (200, 0));
}

#[actix_web::test]
async fn figures_distinguish_messages_and_recipients() {
    let universe = universe().await;
    for to in ["+5511999990001", "+5511999990002", "5511999990001"] {
        universe.send(&text(to)).await;
    }
    universe
        .send(&json!({ "messaging_product": "whatsapp", "recipient": "US.13", "text": { "body": "x" } }))
        .await;
    universe.send(&text("nobody")).await;
    let figures = universe.figures();
    assert_eq!((figures.messages, figures.unique_recipients), (4, 3));
    assert_eq!((figures.arrivals, figures.refused), (5, 1));
    assert!((1..=5).contains(&figures.max_per_second));
    assert!(figures.first_at.is_some() && figures.first_at <= figures.last_at);
    assert_eq!(universe.simulator.number("2002").unwrap().messages, 0);
}

#[actix_web::test]
async fn marking_as_read_is_no_message() {
    let universe = universe().await;
    let read = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": "wamid.x" });
    assert_eq!(universe.send(&read).await, (200, json!({ "success": true })));
    let typing = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": "wamid.y",
        "typing_indicator": { "type": "text" } });
    assert_eq!(universe.send(&typing).await.0, 200);
    let wrong = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": "wamid.z",
        "typing_indicator": { "type": "voice" } });
    assert_eq!(universe.send(&wrong).await.0, 400);
    let signs = universe.simulator.signs().into_iter().map(|sign| (sign.kind, sign.messages.concat()));
    let told = ["read", "read", "typing"].into_iter().zip(["wamid.x", "wamid.y", "wamid.y"]);
    assert_eq!(signs.collect::<Vec<_>>(), told.map(|(kind, id)| (kind, id.to_owned())).collect::<Vec<_>>());
    assert_eq!(universe.figures().arrivals, 0);
}

#[actix_web::test]
async fn latency_delays_the_answer() {
    let latency = std::time::Duration::from_millis(60);
    let universe = universe_with(Options { latency: latency.into(), ..Options::default() }).await;
    let begun = std::time::Instant::now();
    universe.send(&text("+5511999990001")).await;
    assert!(begun.elapsed() >= latency);
}

#[actix_web::test]
async fn any_id_and_token_work_when_every_id_is_accepted() {
    let options = Options { accept_any: true, ..Options::default() };
    let client = client();
    let universe = Universe { simulator: start(options, Seed::default()).await.unwrap(), client };
    let send = |token: &'static str| {
        let body = template("hello_world", json!([]));
        let universe = &universe;
        async move { universe.post("/v19.0/777/messages", token, &body).await.0 }
    };
    assert_eq!(send("whatever").await, 200);
    assert_eq!(send("EXPIRED-1").await, 401);
    assert_eq!(universe.simulator.number("777").unwrap().messages, 1);
    let (_, numbers) = universe.get("/v25.0/4242/phone_numbers").await;
    assert_eq!(numbers["data"][0]["id"], "42421");
    assert_eq!(
        numbers["data"][1]["id"], "777",
        "a number that was made on first use is one of every account"
    );
    let (_, templates) = universe.get("/v25.0/4242/message_templates?status=APPROVED").await;
    assert_eq!(templates["data"].as_array().unwrap().len(), 3);
    universe.script(&json!({ "token": { "value": "whatever", "valid": false } }));
    assert_eq!(send("whatever").await, 401);
}
