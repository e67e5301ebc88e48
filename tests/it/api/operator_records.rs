//! What operators add, change and remove: companies, keys, suppressions, users, invitations, channels.

use pombo::accounts::{Accept, Origin, SignedIn};
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::phone::PhoneNumber;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::{Answer, Service};
use crate::running::{NUMBER, TOKEN, WABA, until_soon};

impl World {
    async fn operate(&self, method: Method, path: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = self.service.request(method, &format!("/operator/v1{path}"));
        Answer::to(request.bearer_auth(&self.operator).body(body)).await
    }

    /// The answer to a request that must succeed with this status.
    async fn operated(&self, method: Method, path: &str, body: Value, status: u16) -> Value {
        let answer = self.operate(method, path, body).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        answer.json()
    }

    async fn listed(&self, path: &str) -> Vec<Value> {
        let list = self.operated(Method::GET, path, Value::Null, 200).await;
        list["data"].as_array().unwrap().clone()
    }

    /// The newest change of this subject: its author, its kind and the new value.
    async fn last_change(&self, subject: &str) -> [Value; 3] {
        let changes = self.listed(&format!("/changes?limit=1&subject={subject}")).await;
        ["who", "what", "after"].map(|field| changes[0][field].clone())
    }
}

#[tokio::test]
async fn a_company_is_added_and_changed_and_its_name_is_its_own() {
    let world = World::new().await;
    let made = world.operated(Method::POST, "/companies", json!({"name": " Padaria São João "}), 201).await;
    assert_eq!((&made["name"], &made["tier"]), (&json!("Padaria São João"), &json!("standard")));
    let path = format!("/companies/{}", made["id"].as_str().unwrap());
    assert_eq!(world.operated(Method::GET, &path, Value::Null, 200).await, made);
    let found = world.listed("/companies?search=sao%20joao").await;
    assert_eq!(found, std::slice::from_ref(&made));
    assert_eq!(world.listed("/companies?limit=2&page=2").await.len(), 2);

    let changed = world.operated(Method::PATCH, &path, json!({"tier": "high"}), 200).await;
    assert_eq!((&changed["name"], &changed["tier"]), (&made["name"], &json!("high")));
    let [who, what, after] = world.last_change(made["id"].as_str().unwrap()).await;
    assert_eq!((who, what, &after["tier"]), (json!("ana"), json!("company"), &json!("high")));
    let taken = world.operate(Method::PATCH, &path, json!({"name": "acme"})).await;
    assert_eq!(taken.code().as_deref(), Some("already_exists"));
}

#[tokio::test]
async fn a_company_s_new_tier_bounds_its_requests_soon() {
    let world = World::new().await;
    let path = format!("/companies/{}", world.globex.id);
    assert_eq!(world.service.get("/api/v1/contacts", &world.globex.key).await.header("ratelimit"), "");
    world.operated(Method::PATCH, &path, json!({"tier": crate::harness::SPARING}), 200).await;
    until_soon("the new tier in force", async || {
        let answer = world.service.get("/api/v1/contacts", &world.globex.key).await;
        answer.header("ratelimit-policy").contains("q=3")
    })
    .await;
}

#[tokio::test]
async fn a_key_is_shown_once_does_what_its_scopes_say_and_is_revoked() {
    let world = World::new().await;
    let path = format!("/companies/{}/keys", world.globex.id);
    let body = json!({"name": "website", "scopes": ["read"], "expires_at": "2100-01-01T00:00:00Z"});
    let made = world.operated(Method::POST, &path, body, 201).await;
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with(made["prefix"].as_str().unwrap()));
    assert_eq!((&made["scopes"], &made["is_valid"]), (&json!(["read"]), &json!(true)));
    assert_eq!(made["expires_at"], "2100-01-01T00:00:00.000Z");
    assert_eq!(world.service.get("/api/v1/chat", key).await.status, 200);
    let refused = world.service.get("/api/v1/contacts", key).await;
    assert_eq!((refused.status, refused.code().as_deref()), (403, Some("insufficient_scope")));
    until_soon("the last use written", async || {
        let listed = world.listed(&path).await;
        assert_eq!(listed[0].get("key"), None);
        listed[0]["last_used_at"].is_string()
    })
    .await;

    let all = world.operated(Method::POST, &path, json!({"name": "all", "scopes": []}), 201).await;
    assert_eq!(all["scopes"], json!(["send", "read", "contacts", "control", "events", "inbox", "graph"]));
    let own = format!("{path}/{}", made["id"].as_str().unwrap());
    let others = own.replace(&world.globex.id.to_string(), &world.acme.id.to_string());
    assert_eq!(
        world.operate(Method::DELETE, &others, Value::Null).await.code().as_deref(),
        Some("key_not_found")
    );
    world.operated(Method::DELETE, &own, Value::Null, 204).await;
    assert_eq!(world.operate(Method::DELETE, &own, Value::Null).await.status, 404, "once");
    until_soon("the key refused", async || world.service.get("/api/v1/chat", key).await.status == 401).await;
    let [who, what, after] = world.last_change(made["id"].as_str().unwrap()).await;
    assert_eq!([who, what, after], [json!("ana"), json!("key"), json!("revoked")]);
}

#[tokio::test]
async fn a_suppression_is_added_and_lifted() {
    let world = World::new().await;
    let path = format!("/companies/{}/suppressions", world.acme.id);
    for body in [
        json!({"phone_number": "+55 11 90000-0002", "left_out_of": "everything"}),
        json!({"phone_number": "5511900000001"}),
        json!({"phone_number": "5511900000001"}),
    ] {
        world.operated(Method::POST, &path, body, 204).await;
    }
    let listed = world.listed(&path).await;
    let told: Vec<_> = listed.iter().map(|left| (&left["phone_number"], &left["left_out_of"])).collect();
    assert_eq!(
        told,
        [(&json!("+5511900000001"), &json!("marketing")), (&json!("+5511900000002"), &json!("everything"))]
    );
    assert_eq!(world.listed(&format!("{path}?limit=1&page=2")).await, [listed[1].clone()]);
    assert_eq!(
        world.listed(&path.replace(&world.acme.id.to_string(), &world.globex.id.to_string())).await,
        [Value::Null; 0]
    );
    for number in ["+5511900000001", "5511900000002"] {
        world.operated(Method::DELETE, &format!("{path}/{number}"), Value::Null, 204).await;
    }
    assert_eq!(world.listed(&path).await, [Value::Null; 0]);
    let [who, what, _] = world.last_change("%2B5511900000002").await;
    assert_eq!([who, what], [json!("ana"), json!("suppression")]);
}

#[tokio::test]
async fn opt_out_words_are_set_and_shown() {
    let world = World::new().await;
    let path = format!("/companies/{}/opt-out-words", world.acme.id);
    let usual = json!({"left_out_of": "everything", "stop_words": [], "start_words": []});
    assert_eq!(world.operated(Method::GET, &path, Value::Null, 200).await, usual);
    let own =
        json!({"left_out_of": "marketing", "stop_words": [" Chega ", "chega"], "start_words": ["volta"]});
    let set = json!({"left_out_of": "marketing", "stop_words": ["Chega"], "start_words": ["volta"]});
    assert_eq!(world.operated(Method::PUT, &path, own, 200).await, set);
    assert_eq!(world.operated(Method::GET, &path, Value::Null, 200).await, set);
    let [who, what, after] = world.last_change(&world.acme.id.to_string()).await;
    assert_eq!([who, what, after], [json!("ana"), json!("company"), json!({ "opt_out_words": set })]);
    for (wrong, sentence) in [
        (json!({"left_out_of": "all"}), "`left_out_of` must be one of nothing, marketing, everything"),
        (json!({"stop_words": "stop"}), "`stop_words` must be a list of texts"),
        (
            json!({"stop_words": ["start"]}),
            "`stop_words` has a word that would both stop messages and start them: start",
        ),
        (json!({"start_words": ["x".repeat(41)]}), "`start_words` has a word with more than 40 characters"),
    ] {
        let refused = world.operate(Method::PUT, &path, wrong).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")));
        assert!(refused.body.contains(sentence), "{}", refused.body);
    }
    let off = json!({"left_out_of": "nothing", "stop_words": [], "start_words": []});
    assert_eq!(world.operated(Method::PUT, &path, json!({"left_out_of": "nothing"}), 200).await, off);
    assert_eq!(world.operated(Method::PUT, &path, json!({}), 200).await, usual);
}

#[tokio::test]
async fn a_user_is_added_chooses_a_password_is_disabled_and_reset() {
    let world = World::new().await;
    let body =
        json!({"email": "Bea@Example.com", "name": "Bea", "company_id": world.acme.id, "role": "owner"});
    let made = world.operated(Method::POST, "/users", body.clone(), 201).await;
    let user = &made["user"];
    assert_eq!((&user["email"], &user["has_password"]), (&json!("bea@example.com"), &json!(false)));
    let again = world.operate(Method::POST, "/users", body).await;
    assert_eq!((again.status, again.code().as_deref()), (409, Some("already_exists")));

    let origin = Origin::new("192.0.2.7".parse().unwrap(), "");
    let accounts = world.service.accounts();
    let token = made["link"]["path"].as_str().unwrap().rsplit('/').next().unwrap();
    let accept =
        Accept { token, name: "", password: "correct horse battery", language: None, origin: &origin };
    let SignedIn::Session(session) = accounts.accept(accept).await.unwrap() else { panic!() };
    let company = session.session.company.clone().unwrap();
    assert_eq!((company.company_id, company.role.as_str()), (world.acme.id, "owner"));

    let path = format!("/users/{}", user["id"].as_str().unwrap());
    assert_eq!(world.operated(Method::GET, &path, Value::Null, 200).await["has_password"], true);
    let disabled = world.operated(Method::POST, &format!("{path}/disable"), Value::Null, 200).await;
    assert!(disabled["disabled_at"].is_string());
    assert!(accounts.session(session.token.expose()).await.unwrap().is_none());
    let enabled = world.operated(Method::POST, &format!("{path}/enable"), Value::Null, 200).await;
    assert_eq!(enabled["disabled_at"], Value::Null);
    for body in [Value::Null, json!({"totp": true})] {
        let reset = world.operated(Method::POST, &format!("{path}/reset"), body, 201).await;
        let token = reset["link"]["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        assert!(accounts.link(&token).await.unwrap().is_some());
    }
    let found = world.listed("/users?search=BEA").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["id"], user["id"]);
    let changes = world.operated(Method::GET, "/changes?subject=bea@example.com", Value::Null, 200).await;
    let signed_in =
        changes["data"].as_array().unwrap().iter().find(|change| change["what"] == "sign_in").unwrap();
    assert_eq!(
        (&signed_in["who"], &signed_in["address"]),
        (&json!("user:bea@example.com"), &json!("192.0.2.7"))
    );
    assert!(!changes.to_string().contains(token), "{changes}");
}

#[tokio::test]
async fn an_invitation_is_listed_without_its_link_and_withdrawn() {
    let world = World::new().await;
    let body = json!({"email": "carl@example.com", "company_id": world.acme.id, "role": "viewer"});
    let link = world.operated(Method::POST, "/invitations", body, 201).await;
    let token = link["path"].as_str().unwrap().rsplit('/').next().unwrap();
    world
        .operated(Method::POST, "/invitations", json!({"email": "d@example.com", "is_operator": true}), 201)
        .await;
    let listed = world.listed("/invitations").await;
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[1]["email"], &listed[1]["role"]), (&json!("carl@example.com"), &json!("viewer")));
    assert_eq!((&listed[0]["company_id"], &listed[0]["is_operator"]), (&Value::Null, &json!(true)));
    assert!(!format!("{listed:?}").contains(token), "the link is shown once");
    assert_eq!(world.listed("/invitations?limit=1&page=2").await, [listed[1].clone()]);
    let path = format!("/invitations/{}", listed[1]["id"].as_str().unwrap());
    world.operated(Method::DELETE, &path, Value::Null, 204).await;
    assert_eq!(world.operate(Method::DELETE, &path, Value::Null).await.status, 404);
    assert_eq!(world.service.accounts().link(token).await.unwrap(), None);
}

#[tokio::test]
async fn a_business_account_is_saved_only_if_the_provider_knows_it_unless_told_otherwise() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let account = simulator::Account {
        waba_id: WABA.to_owned(),
        tokens: vec![TOKEN.to_owned()],
        numbers: vec![simulator::Number::new(NUMBER, "+1 555 078 3881")],
        templates: simulator::default_templates(),
    };
    let other = simulator::Account {
        waba_id: "102290129340399".to_owned(),
        tokens: vec![TOKEN.to_owned()],
        numbers: vec![simulator::Number::new("106540352242923", "+1 555 078 3882")],
        templates: Vec::new(),
    };
    let seed = simulator::Seed { accounts: vec![account, other] };
    let simulator = simulator::start(simulator::Options::default(), seed).await.unwrap();
    let (driver, base_url) = (simulator.web_sessions(), simulator.base_url());
    let service = Service::start_configured(driver, |config| config.cloud_api.base_url = base_url).await;
    let (acme, key) = (service.company("acme").await.id, service.operator("ana", None).await);
    let number = json!({
        "company_id": acme, "kind": "business_account", "name": "Sales", "phone_number_id": NUMBER, "waba_id": WABA,
        "token": TOKEN,
    });
    let post = async |more: Value| {
        let mut body = number.clone();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        service.post("/operator/v1/channels", &key, body.to_string()).await
    };
    for (more, word) in [
        (json!({"token": "EAAG-other"}), "refuses the token"),
        (json!({"phone_number_id": "999"}), "does not know the number"),
        (json!({"waba_id": "999"}), "does not know the business account"),
        (json!({"waba_id": "102290129340399"}), "not one of this business account's"),
    ] {
        let refused = post(more).await;
        assert_eq!(
            (refused.status, refused.code().as_deref()),
            (422, Some("provider_refused")),
            "{}",
            refused.body
        );
        assert!(refused.body.contains(word) && !refused.body.contains("EAAG-other"), "{}", refused.body);
    }
    let listed = service.get("/operator/v1/channels", &key).await.json();
    assert_eq!(listed["totalRecords"], 0, "nothing was saved: {listed}");
    let made = post(json!({"verify": true})).await;
    assert_eq!(
        (made.status, &made.json()["phone_number"]),
        (201, &json!("+1 555 078 3881")),
        "{}",
        made.body
    );
    let offline = json!({"phone_number_id": "999", "phone_number": "+55 11 98888-7777", "verify": false});
    assert_eq!(post(offline).await.status, 201);
}

#[tokio::test]
async fn a_channel_of_either_kind_is_added_renamed_and_removed() {
    let world = World::new().await;
    let number = json!({
        "company_id": world.acme.id, "kind": "business_account", "name": "Sales", "phone_number": "+55 11 98888-7777",
        "phone_number_id": "106540352242922", "waba_id": "102290129340398", "token": "EAAG-secret", "app_secret": "hush", "verify": false,
    });
    let made = world.operate(Method::POST, "/channels", number.clone()).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(!made.body.contains("secret") && !made.body.contains("hush"), "{}", made.body);
    let channel = made.json();
    assert_eq!((&channel["company"]["name"], &channel["tier"]), (&json!("acme"), &json!("standard")));
    let again = world.operate(Method::POST, "/channels", number.clone()).await;
    assert_eq!((again.status, again.code().as_deref()), (409, Some("already_exists")));
    for (field, value, code) in [
        ("token", Value::Null, "invalid_field"),
        ("token", json!("two words"), "invalid_field"),
        ("phone_number", json!("12"), "invalid_phone_number"),
        ("phone_number", Value::Null, "invalid_field"),
        ("verify", json!("no"), "invalid_field"),
        ("waba_id", json!("../x"), "invalid_field"),
        ("tier", json!("web-new"), "invalid_tier"),
        ("tier", json!("gone"), "tier_not_found"),
        ("company_id", json!(world.foreign), "company_not_found"),
        ("name", json!("\n"), "invalid_field"),
    ] {
        let mut body = number.clone();
        body[field] = value;
        let refused = world.operate(Method::POST, "/channels", body).await;
        assert_eq!(refused.code().as_deref(), Some(code), "{field}: {}", refused.body);
        assert!(!refused.body.contains("two words"), "{}", refused.body);
    }
    let web = json!({"company_id": world.acme.id, "kind": "web_session", "name": "Phone"});
    let web = world.operated(Method::POST, "/channels", web, 201).await;
    assert_eq!((&web["status"], &web["tier"]), (&json!("pairing"), &json!("web-new")));

    let (channel, list) = (channel["id"].as_str().unwrap(), "/api/v1/chat?search=Sales");
    let path = format!("/channels/{channel}");
    let renamed = world.operated(Method::PATCH, &path, json!({"name": "Sales 2"}), 200).await;
    assert_eq!(renamed["name"], "Sales 2");
    let [who, what, after] = world.last_change(channel).await;
    assert_eq!([who, what, after], [json!("ana"), json!("channel"), json!({"name": "Sales 2"})]);
    assert_eq!(world.service.get(list, &world.acme.key).await.json()["totalRecords"], 1);

    for id in [channel, web["id"].as_str().unwrap()] {
        world.operated(Method::DELETE, &format!("/channels/{id}"), Value::Null, 204).await;
        assert_eq!(world.operate(Method::DELETE, &format!("/channels/{id}"), Value::Null).await.status, 404);
    }
    assert_eq!(world.service.get(list, &world.acme.key).await.json()["totalRecords"], 0);
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
    let gone = world.service.post(&World::send(channel), &world.acme.key, body).await;
    assert_eq!((gone.status, gone.code().as_deref()), (404, Some("channel_not_found")));
    world.operated(Method::POST, "/channels", number, 201).await;
}

#[tokio::test]
async fn a_channel_with_sends_or_a_phone_stays_and_goes_on() {
    let world = World::new().await;
    let path = format!("/channels/{}", world.foreign);
    let refused = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!((refused.status, refused.code().as_deref()), (409, Some("channel_in_use")));
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
    let sent = world.service.post(&World::send(world.foreign), &world.globex.key, body).await;
    assert_eq!(sent.status, 202, "the channel is found as before: {}", sent.body);
    for id in [world.foreign_send.to_string(), sent.json()["send_id"].as_str().unwrap().to_owned()] {
        let canceled = world.service.post(&format!("/api/v1/sends/{id}/cancel"), &world.globex.key, "").await;
        assert_eq!(canceled.status, 200, "{}", canceled.body);
    }
    world.operated(Method::DELETE, &path, Value::Null, 204).await;
    let kept = world.service.get(&format!("/api/v1/sends/{}", world.foreign_send), &world.globex.key).await;
    assert_eq!(kept.status, 200, "the channel's sends stay: {}", kept.body);

    let linked = world.service.channel(&world.acme, Kind::WebSession, "linked", Status::Connected).await;
    let number = PhoneNumber::parse("5511988887777").unwrap();
    assert!(
        world.service.store().web_sessions().set_linked(linked.id, number, Timestamp::now()).await.unwrap()
    );
    let refused = world.operate(Method::DELETE, &format!("/channels/{}", linked.id), Value::Null).await;
    assert_eq!(refused.code().as_deref(), Some("channel_in_use"));
}

#[tokio::test]
async fn changes_are_narrowed_by_kind_by_who_made_them_and_by_time() {
    let world = World::new().await;
    world.operated(Method::POST, "/companies", json!({"name": "Initech"}), 201).await;
    let count = async |query: &str| world.listed(&format!("/changes?limit=100&{query}")).await.len();
    let all = world.listed("/changes?limit=100").await;
    let of_ana = all.iter().filter(|change| change["who"] == "ana").count();
    assert_eq!((count("who=ana").await, of_ana), (1, 1), "{all:?}");
    assert_eq!(count("who=ana&what=company").await, 1);
    assert_eq!(count("who=ana&what=tier").await, 0);
    assert_eq!(count("who=an").await, 0, "a whole name");
    assert_eq!(count("from=2020-01-01T00:00:00Z&to=2999-01-01T00:00:00%2B02:00").await, all.len());
    assert_eq!(count("to=2020-01-01T00:00:00Z").await, 0);
    let at = all.iter().find(|change| change["who"] == "ana").unwrap()["at"].as_str().unwrap();
    assert_eq!(count(&format!("who=ana&to={at}")).await, 0, "the end is left out");
    for wrong in ["what=nothing", "from=yesterday", "to=2020-01-01"] {
        let refused = world.operate(Method::GET, &format!("/changes?{wrong}"), Value::Null).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")), "{wrong}");
    }
}
