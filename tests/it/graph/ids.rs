//! Ids of numbers, accounts and apps: Meta's own where there are any, stable ones of ours elsewhere, and nobody else's.

use pombo::domain::channel::{Channel, Kind, Status};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{Program, read, refused};
use crate::harness::{Company, Service, WABA};

async fn start() -> Service {
    Service::start_changed(|config| config.graph.enabled = true).await
}

struct Shop {
    service: Service,
    acme: Company,
    business: Channel,
    session: Channel,
}

impl Shop {
    async fn open() -> Self {
        let service = start().await;
        let acme = service.company("acme").await;
        let business = service.channel(&acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
        let session = service.channel(&acme, Kind::WebSession, "Counter", Status::Connected).await;
        Self { service, acme, business, session }
    }

    fn program(&self) -> Program {
        Program::new(self.service.url(), &self.acme.key)
    }
}

/// The ids in a list.
fn ids((status, body): &(u16, Value)) -> Vec<String> {
    assert_eq!(*status, 200, "{body}");
    let data = body["data"].as_array().unwrap();
    data.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_business_account_has_its_own_ids_and_web_sessions_stable_ones_of_16_digits() {
    let shop = Shop::open().await;
    let program = shop.program();
    let accounts = ids(&program.get("/me/whatsapp_business_accounts").await);
    let [own, made] = &accounts[..] else { panic!("{accounts:?}") };
    assert_eq!(own, WABA);
    let numbers = ids(&program.get(&format!("/{WABA}/phone_numbers?fields=id&limit=100")).await);
    assert_eq!(numbers, [shop.business.phone_number_id.clone().unwrap()]);
    let sessions = ids(&program.get(&format!("/{made}/phone_numbers")).await);
    for id in [made, &sessions[0]] {
        assert!(id.len() == 16 && id.parse::<u64>().unwrap() < 1 << 53, "{id}");
    }
    assert_eq!(ids(&program.get(&format!("/{made}/phone_numbers")).await), sessions, "it never changes");
    let (status, number) = program.get(&format!("/{}", sessions[0])).await;
    assert_eq!((status, &number["verified_name"]), (200, &json!("Counter")), "{number}");
    for (field, value) in [("status", "CONNECTED"), ("platform_type", "CLOUD_API"), ("account_mode", "LIVE")]
    {
        assert_eq!(number[field], value);
    }
    let (_, some) =
        program.get(&format!("/{}?fields=display_phone_number,throughput{{level}}", sessions[0])).await;
    let mut names: Vec<_> = some.as_object().unwrap().keys().cloned().collect();
    names.sort();
    assert_eq!(names, ["display_phone_number", "id", "throughput"]);
    let (_, account) = program.get(&format!("/{made}?fields=id,name,currency,timezone_id")).await;
    assert_eq!(account["id"].as_str(), Some(made.as_str()));
}

#[tokio::test]
async fn paths_are_answered_under_every_version_and_none_and_shadow_no_others() {
    let shop = Shop::open().await;
    let (url, key, client) = (shop.service.url(), &shop.acme.key, Client::new());
    let accounts = ids(&shop.program().get("/me/whatsapp_business_accounts").await);
    let id = ids(&shop.program().get(&format!("/{}/phone_numbers", accounts[1])).await).remove(0);
    for path in [format!("/v12.0/{id}"), format!("/v99.0/{id}/"), format!("//v24.0//{id}"), format!("/{id}/")]
    {
        let answer = read(client.get(format!("{url}{path}")).bearer_auth(key)).await;
        assert_eq!((answer.0, &answer.1["id"]), (200, &json!(id)), "{path}");
    }
    for (path, status) in
        [("/healthz", 200), ("/api/v1/chat", 200), ("/api/v1/nothing", 404), ("/nothing", 404)]
    {
        let answer = client.get(format!("{url}{path}")).bearer_auth(key).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{path}");
        let body = answer.text().await.unwrap();
        assert!(!body.contains("fbtrace_id"), "{path}: {body}");
    }
    let unknown = read(client.get(format!("{url}/v23.0/{id}/nothing")).bearer_auth(key)).await;
    assert_eq!(refused(&unknown), (400, 100, Some(33)));
    let method = read(client.delete(format!("{url}/v23.0/{id}/messages")).bearer_auth(key)).await;
    assert_eq!(refused(&method), (400, 100, Some(33)));
}

#[tokio::test]
async fn an_id_of_another_company_is_answered_as_one_of_nobody() {
    let shop = Shop::open().await;
    let globex = shop.service.company("globex").await;
    let other = Program::new(shop.service.url(), &globex.key);
    let accounts = ids(&shop.program().get("/me/whatsapp_business_accounts").await);
    let sessions = ids(&shop.program().get(&format!("/{}/phone_numbers", accounts[1])).await);
    let number = shop.business.phone_number_id.clone().unwrap();
    let ids = [number.as_str(), &sessions[0], &accounts[0], &accounts[1], "17841400000000000", "x"];
    for id in ids {
        for (method, path, body) in [
            (Method::GET, format!("/{id}"), Value::Null),
            (Method::POST, format!("/{id}"), json!({ "webhook_configuration": {} })),
            (Method::GET, format!("/{id}/phone_numbers"), Value::Null),
            (Method::GET, format!("/{id}/message_templates"), Value::Null),
            (Method::GET, format!("/{id}/message_template_library"), Value::Null),
            (Method::POST, format!("/{id}/message_templates"), json!({ "name": "x" })),
            (Method::POST, format!("/{id}/message_templates"), json!({ "library_template_name": "x" })),
            (Method::DELETE, format!("/{id}/message_templates?name=x"), Value::Null),
            (Method::POST, format!("/{id}/uploads"), json!({ "file_length": 1, "file_type": "image/png" })),
            (Method::GET, format!("/{id}/whatsapp_business_profile"), Value::Null),
            (Method::GET, format!("/{id}/subscribed_apps"), Value::Null),
            (Method::POST, format!("/{id}/subscribed_apps"), json!({})),
            (Method::DELETE, format!("/{id}/subscribed_apps"), Value::Null),
            (Method::GET, format!("/{id}/subscriptions"), Value::Null),
            (Method::POST, format!("/{id}/subscriptions"), json!({})),
            (Method::DELETE, format!("/{id}/subscriptions"), Value::Null),
            (
                Method::POST,
                format!("/{id}/messages"),
                json!({ "to": "5511900000001", "text": { "body": "x" } }),
            ),
        ] {
            let answer = other.ask(method.clone(), &path, &body).await;
            assert_eq!(refused(&answer), (400, 100, Some(33)), "{method} {path}");
        }
    }
    // The session stays where it is.
    assert_eq!(shop.session.company_id, shop.acme.id);
}

#[tokio::test]
async fn what_a_wizard_asks_is_answered() {
    let shop = Shop::open().await;
    let program = shop.program();
    let (status, told) = program.get(&format!("/debug_token?input_token={}", shop.acme.key)).await;
    let data = &told["data"];
    assert_eq!((status, &data["is_valid"], &data["expires_at"]), (200, &json!(true), &json!(0)), "{told}");
    assert_eq!(data["scopes"], json!(["whatsapp_business_management", "whatsapp_business_messaging"]));
    assert!(data["granular_scopes"][0]["target_ids"].as_array().unwrap().contains(&json!(WABA)), "{told}");
    let globex = shop.service.company("globex").await;
    let (_, theirs) = program.get(&format!("/debug_token?input_token={}", globex.key)).await;
    let (_, nobodys) = program.get("/debug_token?input_token=pombo_none").await;
    assert_eq!((&theirs, &theirs["data"]["is_valid"]), (&nobodys, &json!(false)));
    let (_, app) = program.get("/app").await;
    assert_eq!(app["id"], data["app_id"]);
    let place = format!("/{}", app["id"].as_str().unwrap());
    assert_eq!(program.get(&place).await, (200, app.clone()), "it is found by its id, too");
    assert_eq!(
        refused(&Program::new(shop.service.url(), &globex.key).get(&place).await),
        (400, 100, Some(33))
    );
    let (_, apps) = program.get(&format!("/{WABA}/subscribed_apps")).await;
    assert_eq!(apps["data"][0]["whatsapp_business_api_data"]["id"], app["id"]);
    let subscribed = program.post(&format!("/{WABA}/subscribed_apps"), &json!({})).await;
    assert_eq!(subscribed, (200, json!({ "success": true })));
    let (_, permissions) = program.get("/me/permissions").await;
    assert_eq!(permissions["data"][0]["status"], "granted");
}
