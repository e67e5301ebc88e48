//! Templates that programs write through the API: those of business accounts at the provider, and those of web sessions here.

use pombo::domain::channel::{Kind, Status};
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::harness::{Answer, Service};
use crate::running::{Running, WABA};

stores!(
    a_program_writes_templates_of_a_business_account,
    a_program_searches_the_provider_s_library_and_copies_a_template_of_it,
);

async fn a_program_writes_templates_of_a_business_account(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let list = format!("/api/v1/chat/{}/templates", running.channel);
    let example = json!({ "body_text": [["Ana"]] });
    let parts = json!([{ "type": "BODY", "text": "Hi {{1}}, come in.", "example": example }]);
    let new = json!({ "name": "fresh", "language": "en", "category": "UTILITY", "components": parts });
    let created = running.ask(Method::POST, &list, &new).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let created = created.json();
    assert_eq!((&created["status"], &created["archived"]), (&json!("PENDING"), &json!(false)));
    let place = format!("{list}/{}", created["id"]);
    let approved = running.ask(Method::GET, &list, &Value::Null).await.json();
    assert!(!approved.to_string().contains("fresh"), "only approved ones are listed");
    for (method, path, body) in
        [(Method::POST, &list, &new), (Method::PATCH, &place, &json!({ "components": parts }))]
    {
        let refused = running.ask(method, path, body).await;
        let told = (refused.status, refused.code());
        assert_eq!(told, (422, Some("provider_refused".to_owned())), "{}", refused.body);
    }
    let judged = json!({ "waba_id": WABA, "name": "fresh", "language": "en", "status": "REJECTED" });
    running.simulator.script(&json!({ "template": judged })).unwrap();
    let other = json!({ "category": "MARKETING", "archived": true });
    let changed = running.ask(Method::PATCH, &place, &other).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let changed = changed.json();
    assert_eq!((&changed["category"], &changed["archived"]), (&json!("MARKETING"), &json!(true)));
    assert_eq!(running.ask(Method::DELETE, &place, &Value::Null).await.status, 204);
    let gone = running.ask(Method::GET, &place, &Value::Null).await;
    assert_eq!(gone.code().as_deref(), Some("template_not_found"));
    running.end().await;
}

async fn a_program_searches_the_provider_s_library_and_copies_a_template_of_it(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let library = format!("/api/v1/chat/{}/template-library", running.channel);
    let search = async |query: &str| {
        let found = running.ask(Method::GET, &format!("{library}?{query}"), &Value::Null).await;
        assert_eq!(found.status, 200, "{}", found.body);
        found.json()
    };
    let found = search("search=venceram").await;
    let [overdue] = &found["data"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&overdue["name"], &overdue["language"]), (&json!("payment_overdue_1"), &json!("pt_BR")));
    assert_eq!(
        (&overdue["topic"], &overdue["industries"]),
        (&json!("PAYMENTS"), &json!(["FINANCIAL_SERVICES"]))
    );
    let kinds: Vec<_> = overdue["components"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["HEADER", "BODY", "FOOTER", "BUTTONS"]);
    assert!(found.get("next_cursor").is_none(), "{found}");
    assert_eq!(search("topic=PAYMENTS&language=es").await["data"], json!([]));

    let list = format!("/api/v1/chat/{}/templates", running.channel);
    let address =
        json!({ "base_url": "https://shop.example/{{1}}", "url_suffix_example": "https://shop.example/7" });
    let copy = json!({
        "name": "on_its_way", "language": "es", "category": "UTILITY", "library_template_name": "delivery_update_1",
        "library_template_button_inputs": [{ "type": "URL", "url": address }],
    });
    let created = running.ask(Method::POST, &list, &copy).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let created = created.json();
    assert_eq!((&created["status"], &created["language"]), (&json!("APPROVED"), &json!("es")));
    assert_eq!(created["components"][1]["buttons"][0]["url"], "https://shop.example/{{1}}");
    let approved = running.ask(Method::GET, &list, &Value::Null).await.json();
    assert!(approved.to_string().contains("on_its_way"), "it can be sent at once: {approved}");
    for (field, value, code) in [
        ("library_template_name", json!("nothing"), "provider_refused"),
        ("library_template_button_inputs", json!([]), "provider_refused"),
        ("components", json!([{ "type": "BODY", "text": "Hi" }]), "invalid_template"),
        ("name", json!("On its way"), "invalid_template"),
    ] {
        let mut wrong = copy.clone();
        wrong[field] = value;
        let refused = running.ask(Method::POST, &list, &wrong).await;
        assert_eq!(refused.code().as_deref(), Some(code), "{field}: {}", refused.body);
    }
    running.end().await;
}

#[tokio::test]
async fn the_templates_of_web_sessions_belong_to_all_of_them_and_to_no_other_company() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let mut lists = Vec::new();
    for company in [&acme, &acme, &globex] {
        let channel = service.channel(company, Kind::WebSession, "Phone", Status::Connected).await;
        lists.push(format!("/api/v1/web-chat/{}/templates", channel.id));
    }
    let ask = async |key: &str, method: Method, path: &str, body: &Value| {
        Answer::to(service.request(method, path).bearer_auth(key).body(body.to_string())).await
    };
    let parts = json!([{ "type": "BODY", "text": "{{1}}, oi" }]);
    let new = json!({ "name": "ready", "language": "pt-BR", "category": "utility", "components": parts });
    let created = ask(&acme.key, Method::POST, &lists[0], &new).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let created = created.json();
    assert_eq!((&created["status"], &created["language"]), (&json!("APPROVED"), &json!("pt_BR")));
    let listed = service.get(&lists[1], &acme.key).await.json();
    assert_eq!(listed["data"], json!([created]));
    let copy =
        json!({ "name": "mine", "language": "en", "category": "utility", "library_template_name": "a" });
    let refused = ask(&acme.key, Method::POST, &lists[0], &copy).await;
    assert_eq!(refused.code().as_deref(), Some("invalid_template"), "{}", refused.body);
    assert_eq!(refused.json()["param"], "library_template_name", "they have no library");
    assert_eq!(service.get(&lists[2], &globex.key).await.json()["totalRecords"], 0);
    let theirs = format!("{}/{}", lists[2], created["id"]);
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let answer = ask(&globex.key, method, &theirs, &json!({ "archived": true })).await;
        assert_eq!(answer.code().as_deref(), Some("template_not_found"), "{}", answer.body);
    }
    let place = format!("{}/{}", lists[0], created["id"]);
    for (change, param) in [
        (json!({ "components": [{ "type": "BODY", "text": "Hi {{2}}" }] }), "components[0]"),
        (json!({ "category": "OTP" }), "category"),
    ] {
        let refused = ask(&acme.key, Method::PATCH, &place, &change).await;
        assert_eq!(refused.code().as_deref(), Some("invalid_template"), "{}", refused.body);
        assert_eq!(refused.json()["param"], param);
    }
    // Who deletes twice, or still has the number, does not meet the next template.
    assert_eq!(ask(&acme.key, Method::DELETE, &place, &Value::Null).await.status, 204);
    let next = json!({ "name": "other", "language": "en", "category": "utility", "components": parts });
    let next = ask(&acme.key, Method::POST, &lists[0], &next).await.json();
    assert!(next["id"].as_i64() > created["id"].as_i64(), "{next}");
    let again = ask(&acme.key, Method::DELETE, &place, &Value::Null).await;
    assert_eq!(again.code().as_deref(), Some("template_not_found"), "{}", again.body);
}
