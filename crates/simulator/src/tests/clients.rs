//! What clients of the provider's API ask for besides sends.

use reqwest::Method;

use super::receiver::{SECRET, receiver};
use super::*;

impl Universe {
    async fn request(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let url = self.url(&format!("/v26.0/{path}"));
        let answer = self.client.request(method, url).bearer_auth(TOKEN).json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

fn done() -> (u16, Value) {
    (200, json!({ "success": true }))
}

#[actix_web::test]
async fn a_number_has_qr_codes_that_are_listed_changed_and_deleted() {
    let universe = universe().await;
    let path = format!("{NUMBER}/message_qrdls");
    let new = json!({ "prefilled_message": "Hello", "generate_qr_image": "SVG" });
    let (status, made) = universe.request(Method::POST, &path, &new).await;
    let code = made["code"].as_str().unwrap().to_owned();
    assert_eq!((status, &made["prefilled_message"]), (200, &json!("Hello")));
    assert!(made["deep_link_url"].as_str().unwrap().ends_with(&code), "{made}");
    assert!(made["qr_image_url"].as_str().unwrap().ends_with(".svg"), "{made}");
    let changed = format!("{path}?code={code}&prefilled_message=Bye");
    assert_eq!(universe.request(Method::POST, &changed, &Value::Null).await.1["prefilled_message"], "Bye");
    for path in [path.clone(), format!("{path}/{code}")] {
        let (_, listed) = universe.request(Method::GET, &path, &Value::Null).await;
        assert_eq!((listed["data"].as_array().unwrap().len(), &listed["data"][0]["code"]), (1, &json!(code)));
    }
    assert_eq!(universe.request(Method::DELETE, &format!("{path}/{code}"), &Value::Null).await, done());
    let (status, gone) = universe.request(Method::GET, &format!("{path}/{code}"), &Value::Null).await;
    assert_eq!((status, &gone["error"]["code"]), (400, &json!(100)));
    for wrong in [
        json!({}),
        json!({ "prefilled_message": "x".repeat(141) }),
        json!({ "prefilled_message": "x", "code": "Y" }),
    ] {
        assert_eq!(universe.request(Method::POST, &path, &wrong).await.0, 400, "{wrong}");
    }
}

#[actix_web::test]
async fn commerce_settings_are_set_in_the_query_or_in_the_body() {
    let universe = universe().await;
    let path = format!("{NUMBER}/whatsapp_commerce_settings");
    let shown = async || {
        let (_, shown) = universe.request(Method::GET, &path, &Value::Null).await;
        (shown["data"][0]["is_catalog_visible"].clone(), shown["data"][0]["is_cart_enabled"].clone())
    };
    assert_eq!(shown().await, (json!(false), json!(true)));
    let query = format!("{path}?is_catalog_visible=true&is_cart_enabled=false");
    assert_eq!(universe.request(Method::POST, &query, &Value::Null).await, done());
    assert_eq!(shown().await, (json!(true), json!(false)));
    assert_eq!(universe.request(Method::POST, &path, &json!({ "is_cart_enabled": true })).await, done());
    assert_eq!(shown().await, (json!(true), json!(true)));
    assert_eq!(universe.request(Method::POST, &path, &json!({ "is_cart_enabled": "maybe" })).await.0, 400);
}

#[actix_web::test]
async fn a_number_that_is_deregistered_cannot_send_until_it_is_registered() {
    let universe = universe().await;
    assert_eq!(universe.request(Method::POST, &format!("{NUMBER}/deregister"), &Value::Null).await, done());
    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 133_010));
    let pin = json!({ "messaging_product": "whatsapp", "pin": "123456" });
    assert_eq!(universe.request(Method::POST, &format!("{NUMBER}/register"), &pin).await, done());
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn a_callback_of_a_number_s_own_gets_its_webhooks_until_it_is_removed() {
    let (mut app, mut own) = (receiver(0).await, receiver(0).await);
    let universe = universe().await;
    universe.simulator.aim_receipts(Some(app.options())).unwrap();
    let set = |url: &str| json!({ "webhook_configuration": { "override_callback_uri": url, "verify_token": "open sesame" } });
    // As some clients do, with a slash at the end.
    assert_eq!(universe.request(Method::POST, &format!("{NUMBER}/"), &set(&own.url)).await, done());
    let field = format!("{NUMBER}?fields=webhook_configuration");
    let (_, node) = universe.request(Method::GET, &field, &Value::Null).await;
    assert_eq!(node["webhook_configuration"]["phone_number"], json!(own.url));
    universe.send(&text("+5511999990001")).await;
    own.statuses(3).await;
    assert_eq!(universe.request(Method::POST, NUMBER, &set("")).await, done());
    universe.send(&text("+5511999990002")).await;
    app.statuses(3).await;
    assert!(own.heard.try_recv().is_err());
    for wrong in
        [json!({}), set("nowhere"), json!({ "webhook_configuration": { "override_callback_uri": own.url } })]
    {
        assert_eq!(universe.request(Method::POST, NUMBER, &wrong).await.0, 400, "{wrong}");
    }
    assert_eq!(SECRET, app.options().app_secret);
}

#[actix_web::test]
async fn an_account_shows_its_app_and_can_have_a_callback_of_its_own() {
    let (app, mut own) = (receiver(0).await, receiver(0).await);
    let universe = universe().await;
    universe.simulator.aim_receipts(Some(app.options())).unwrap();
    let path = format!("{WABA}/subscribed_apps");
    let callback = json!({ "override_callback_uri": own.url, "verify_token": "open sesame" });
    assert_eq!(universe.request(Method::POST, &path, &callback).await, done());
    universe.send(&text("+5511999990001")).await;
    own.statuses(3).await;
    let (_, listed) = universe.request(Method::GET, &path, &Value::Null).await;
    assert_eq!(listed["data"][0]["whatsapp_business_api_data"]["name"], "Simulator");
    assert_eq!(universe.request(Method::DELETE, &path, &Value::Null).await, done());
    let (_, listed) = universe.request(Method::GET, &path, &Value::Null).await;
    assert_eq!(listed["data"], json!([]), "it has no app any more");
}

#[actix_web::test]
async fn contacts_may_be_written_as_text_and_need_names() {
    let universe = universe().await;
    let people = json!([{ "name": { "formatted_name": "Ana", "first_name": "Ana" }, "phones": [{ "phone": "+1 555" }] }]);
    let of = |contacts: Value| json!({ "messaging_product": "whatsapp", "to": "+5511999990001", "type": "contacts", "contacts": contacts });
    for (contacts, code) in [
        (people.clone(), (200, 0)),
        (json!(people.to_string()), (200, 0)),
        (json!("[]"), (400, 131_008)),
        (json!("Ana"), (400, 131_008)),
        (json!([{ "phones": [] }]), (400, 131_008)),
    ] {
        assert_eq!(universe.code(&of(contacts.clone())).await, code, "{contacts}");
    }
}

#[actix_web::test]
async fn a_file_that_was_never_uploaded_can_be_neither_sent_nor_read() {
    let universe = universe_with(Options { accept_any: true, ..Options::default() }).await;
    let image = json!({
        "messaging_product": "whatsapp", "to": "+5511999990001", "type": "image", "image": { "id": "1100000000000777" },
    });
    let (status, refused) = universe.send(&image).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(100)));
    assert!(
        refused["error"]["error_data"]["details"].as_str().unwrap().contains("media attachment ID"),
        "{refused}"
    );
    for path in ["1100000000000777".to_owned(), format!("5?phone_number_id={NUMBER}")] {
        let (status, unknown) = universe.request(Method::GET, &path, &Value::Null).await;
        assert_eq!((status, &unknown["error"]["error_subcode"]), (400, &json!(33)), "{path}");
    }
    assert_eq!(universe.request(Method::GET, "777", &Value::Null).await.0, 200, "other ids are numbers");
}

#[actix_web::test]
async fn call_buttons_are_sent_in_chats_and_in_templates() {
    let universe = universe().await;
    let call = |parameters: Value| {
        json!({
            "messaging_product": "whatsapp", "to": "+5511999990001", "type": "interactive", "interactive": {
                "type": "voice_call", "body": { "text": "Call us" },
                "action": { "name": "voice_call", "parameters": parameters },
            },
        })
    };
    for (parameters, code) in [
        (json!({ "display_text": "Call now", "ttl_minutes": 60, "payload": "order-1" }), (200, 0)),
        (json!({}), (200, 0)),
        (json!({ "display_text": "x".repeat(21) }), (400, 100)),
        (json!({ "ttl_minutes": 43_201 }), (400, 131_009)),
    ] {
        assert_eq!(universe.code(&call(parameters.clone())).await, code, "{parameters}");
    }
    universe
        .simulator
        .add(Seed {
            accounts: vec![Account {
                waba_id: WABA.to_owned(),
                templates: vec![Template::new(
                    "call_us",
                    "en_US",
                    json!([
                        { "type": "BODY", "text": "Call us" },
                        { "type": "BUTTONS", "buttons": [{ "type": "VOICE_CALL", "text": "Call now" }] },
                    ]),
                )],
                ..Account::default()
            }],
        })
        .unwrap();
    let button = |sub_type: &str| {
        json!([{ "type": "button", "sub_type": sub_type, "index": "0", "parameters": [
        { "type": "ttl_minutes", "ttl_minutes": 15 }, { "type": "payload", "payload": "order-1" },
    ] }])
    };
    assert_eq!(universe.code(&template("call_us", json!([]))).await, (200, 0));
    assert_eq!(universe.code(&template("call_us", button("voice_call"))).await, (200, 0));
    assert_eq!(universe.code(&template("call_us", button("quick_reply"))).await, (400, 132_012));
}

#[actix_web::test]
async fn a_token_is_taken_from_the_address_and_with_the_word_of_uploads_too() {
    let universe = universe().await;
    let path = universe.url(&format!("/v14.0/{WABA}/message_templates"));
    let ask = async |url: &str, header: Option<&str>| {
        let request = universe.client.get(url);
        let request =
            header.into_iter().fold(request, |request, value| request.header("authorization", value));
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask(&format!("{path}?limit=1&access_token={TOKEN}"), None).await, 200);
    assert_eq!(ask(&path, Some(&format!("OAuth {TOKEN}"))).await, 200);
    assert_eq!(ask(&path, None).await, 401);
    assert_eq!(ask(&format!("{path}?access_token=EXPIRED-1"), None).await, 401);
}
