//! A business's settings at its number.

use reqwest::Method;

use super::*;

impl Universe {
    async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let url = self.url(&format!("/v26.0/{NUMBER}/{path}"));
        let answer = self.client.request(method, url).bearer_auth(TOKEN).json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

#[actix_web::test]
async fn a_profile_is_set_and_shown() {
    let universe = universe().await;
    let path = "whatsapp_business_profile";
    let new = json!({
        "messaging_product": "whatsapp", "about": "Pigeons", "email": "a@example.com", "vertical": "RETAIL",
        "websites": ["https://example.com"],
    });
    let (_, usual) = universe.ask(Method::GET, path, &Value::Null).await;
    assert_eq!(usual, json!({ "data": [{ "messaging_product": "whatsapp", "vertical": "UNDEFINED" }] }));
    assert_eq!(universe.ask(Method::POST, path, &new).await, (200, json!({ "success": true })));
    let (_, shown) = universe.ask(Method::GET, path, &Value::Null).await;
    assert_eq!(shown, json!({ "data": [new] }));
    let asked = format!("{path}?fields=about,address,profile_picture_url");
    let (_, shown) = universe.ask(Method::GET, &asked, &Value::Null).await;
    assert_eq!(shown, json!({ "data": [{ "about": "Pigeons" }] }));
    for wrong in [
        json!({ "about": "x" }),
        json!({ "messaging_product": "whatsapp", "about": "" }),
        json!({ "messaging_product": "whatsapp", "description": "x".repeat(513) }),
        json!({ "messaging_product": "whatsapp", "websites": ["example.com"] }),
    ] {
        assert_eq!(universe.ask(Method::POST, path, &wrong).await.0, 400, "{wrong}");
    }
}

#[actix_web::test]
async fn a_blocked_person_gets_no_message_until_unblocked() {
    let universe = universe().await;
    let users = json!({
        "messaging_product": "whatsapp",
        "block_users": [{ "user": "+55 11 99999-0001" }, { "user": "nobody" }],
    });
    let (status, told) = universe.ask(Method::POST, "block_users", &users).await;
    assert_eq!(status, 200, "{told}");
    let (added, failed) = (&told["block_users"]["added_users"], &told["block_users"]["failed_users"]);
    assert_eq!(
        (&added[0]["input"], &added[0]["wa_id"]),
        (&json!("+55 11 99999-0001"), &json!("5511999990001"))
    );
    assert_eq!((added.as_array().unwrap().len(), &failed[0]["input"]), (1, &json!("nobody")));
    let (_, list) = universe.ask(Method::GET, "block_users?limit=1", &Value::Null).await;
    assert_eq!(list["data"][0]["wa_id"], "5511999990001");
    let after = list["paging"]["cursors"]["after"].as_str().unwrap();
    let rest = universe.ask(Method::GET, &format!("block_users?after={after}"), &Value::Null).await;
    assert_eq!(rest.1, json!({ "data": [] }));

    assert_eq!(universe.code(&text("+5511999990001")).await, (400, 130_403));
    let by_id = json!({
        "messaging_product": "whatsapp", "recipient": added[0]["user_id"], "type": "text", "text": { "body": "hi" },
    });
    assert_eq!(universe.code(&by_id).await, (400, 130_403), "it is the same person");
    assert_eq!(universe.code(&text("+5511999990002")).await, (200, 0));
    let (_, told) = universe.ask(Method::DELETE, "block_users", &users).await;
    assert_eq!(told["block_users"]["removed_users"][0]["wa_id"], "5511999990001");
    assert_eq!(universe.code(&text("+5511999990001")).await, (200, 0));
}

#[actix_web::test]
async fn the_greeting_of_a_number_is_one_of_its_fields() {
    let universe = universe().await;
    let field = format!("/v26.0/{NUMBER}?fields=conversational_automation");
    assert_eq!(universe.get(&field).await, (200, json!({ "id": NUMBER })));
    let path = "conversational_automation";
    let commands = json!([{ "command_name": "menu", "command_description": "What there is" }]);
    let greeting = json!({ "enable_welcome_message": true, "prompts": ["Hello?"], "commands": commands });
    assert_eq!(universe.ask(Method::POST, path, &greeting).await, (200, json!({ "success": true })));
    let as_text = json!({ "commands": commands.to_string() });
    assert_eq!(universe.ask(Method::POST, path, &as_text).await.0, 200);
    let mut shown = greeting.clone();
    shown["id"] = NUMBER.into();
    assert_eq!(universe.get(&field).await.1["conversational_automation"], shown);
    for wrong in [json!({ "prompts": ["1", "2", "3", "4", "5"] }), json!({ "commands": [{}] })] {
        assert_eq!(universe.ask(Method::POST, path, &wrong).await.0, 400, "{wrong}");
    }
}

#[actix_web::test]
async fn every_field_of_the_provider_can_be_requested() {
    let universe = universe().await;
    let (_, list) = universe.get(&format!("/v26.0/{WABA}/message_templates?limit=1")).await;
    let template = list["data"][0]["id"].as_str().unwrap().to_owned();
    for (id, fields) in [
        (
            NUMBER,
            "id,verified_name,conversational_automation,quality_score,webhook_configuration,new_name_status,\
             is_official_business_account,is_pin_enabled,is_preverified_number,search_visibility,certificate,\
             eligibility_for_api_business_global_search,new_certificate,last_onboarded_time,country_code,\
             country_dial_code,whatsapp_business_manager_messaging_limit",
        ),
        (
            WABA,
            "id,status,business_verification_status,is_enabled_for_insights,marketing_messages_lite_api_status,\
             marketing_messages_onboarding_status,on_behalf_of_business_info,ownership_type,country,subscribed_apps,\
             owner_business_info,account_review_status,disable_marketing_messages_on_cloud_api",
        ),
        (
            &template,
            "id,message_send_ttl_seconds,correct_category,previous_category,library_template_name,sub_category,\
             cta_url_link_tracking_opted_out,degrees_of_freedom_spec,quality_score,rejected_reason",
        ),
    ] {
        let (status, node) = universe.get(&format!("/v26.0/{id}?fields={fields}")).await;
        assert_eq!((status, &node["id"]), (200, &json!(id)), "{node}");
    }
}
