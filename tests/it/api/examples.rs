//! The examples of the reference: each is one that the service accepts, and each message reaches its recipient.

use std::collections::BTreeSet;
use std::time::Duration;

use pombo::clock::Timestamp;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::past_send::FIRST;
use super::shop::Shop;
use super::world::{NO_RECEIVER, World};
use crate::harness::{Answer, WABA, compile};
use crate::running::{NUMBER, TOKEN, until};

/// The examples of a body in JSON: method, path, and each by its name.
pub(crate) fn examples() -> Vec<(Method, String, Map<String, Value>)> {
    let document = pombo::api::document();
    let mut found = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let content = &operation["requestBody"]["content"]["application/json"];
            if content.is_null() {
                continue;
            }
            let examples = content["examples"].as_object().cloned().unwrap_or_default();
            let named = examples.into_iter().map(|(name, example)| (name, example["value"].clone()));
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            found.push((method, path.clone(), named.collect()));
        }
    }
    found
}

/// The examples of one operation.
pub(crate) fn of(path: &str) -> Map<String, Value> {
    let (.., examples) = examples().into_iter().find(|(_, known, _)| known == path).unwrap();
    examples
}

#[test]
fn every_body_has_an_example_that_fits_it_and_sends_have_one_of_each_type() {
    let document = pombo::api::document();
    for (method, path, examples) in examples() {
        assert!(!examples.is_empty(), "{method} {path} has no example of its body");
        let operation = &document["paths"][&path][method.as_str().to_lowercase()];
        let schema = operation["requestBody"]["content"]["application/json"]["schema"].clone();
        let validator = compile(schema, &document["components"], true);
        for (name, body) in &examples {
            let faults: Vec<_> = validator.iter_errors(body).map(|fault| fault.to_string()).collect();
            assert_eq!(faults, [""; 0], "{method} {path} {name}");
        }
    }
    for (path, words) in
        [("/api/v1/chat/{id}/messages", "MessageType"), ("/api/v1/web-chat/{id}/messages", "WebMessageType")]
    {
        let examples = of(path);
        let shown: BTreeSet<_> = examples.values().map(|body| body["type"].as_str().unwrap()).collect();
        let words = document["components"]["schemas"][words]["enum"].as_array().unwrap();
        assert_eq!(shown, words.iter().map(|word| word.as_str().unwrap()).collect(), "{path}");
    }
}

#[tokio::test]
async fn every_example_of_a_business_send_is_accepted_and_reaches_the_provider() {
    let greeting = json!([{
        "type": "BODY", "text": "Hello {{1}}, order {{2}} left.", "example": {"body_text": [["Ana", "A-1"]]},
    }]);
    let shop = Shop::open(vec![("greeting", greeting)]).await;
    let template = shop.template("greeting", &json!([])).await["template_id"].clone();
    let tags = json!({"tags": [{"name": "vip"}]}).to_string();
    let made = shop.service.post("/api/v1/contacts/tags/batch", &shop.acme.key, tags).await.json();
    let examples = of("/api/v1/chat/{id}/messages");
    for (place, (name, mut body)) in examples.into_iter().enumerate() {
        if body.get("template_id").is_some() {
            body["template_id"] = template.clone();
        }
        if let Some(instead) = body.get_mut("template_instead") {
            instead["template_id"] = template.clone();
        }
        if body.get("contact_tag_id").is_some() {
            body["contact_tag_id"] = made["results"][0]["id"].clone();
        }
        // Each goes to a recipient of its own, so that none waits for another.
        let message = shop.sent(&body, FIRST + place as u64).await;
        assert_eq!(message["type"], body["type"], "{name}: {message}");
    }
}

/// The method, the path with these ids, and the example of this name.
fn example(method: &Method, path: &str, name: &str) -> Value {
    let mut all = examples().into_iter();
    let found = all.find(|(known, place, _)| known == method && place == path);
    found.unwrap_or_else(|| panic!("{method} {path}")).2[name].clone()
}

#[tokio::test]
async fn the_examples_of_a_company_s_other_requests_are_accepted() {
    let world = World::new().await;
    let key = &world.acme.key;
    let ask = async |method: Method, path: &str, place: String, name: &str, change: &dyn Fn(&mut Value)| {
        let mut body = example(&method, path, name);
        change(&mut body);
        let request = world.service.request(method, &place).bearer_auth(key).body(body.to_string());
        let answer = Answer::to(request).await;
        assert!((200..300).contains(&answer.status), "{place} {name}: {}", answer.body);
        answer.json()
    };
    let post = Method::POST;
    let own = |path: &str| path.to_owned();
    let batch = "/api/v1/contacts/batch";
    let contact = ask(post.clone(), batch, own(batch), "contact", &|_| ()).await["results"][0]["id"].clone();
    let other = json!({"contacts": [{"email": "other@example.com"}]}).to_string();
    let other = world.service.post(batch, key, other).await.json()["results"][0]["id"].clone();
    let one = format!("/api/v1/contacts/{}", contact.as_str().unwrap());
    ask(Method::PATCH, "/api/v1/contacts/{id}", one.clone(), "name", &|_| ()).await;
    let merge = "/api/v1/contacts/{id}/merge";
    ask(post.clone(), merge, format!("{one}/merge"), "two", &|body| body["contact_ids"] = json!([other]))
        .await;
    let batch = "/api/v1/contacts/tags/batch";
    let tag = ask(post.clone(), batch, own(batch), "tag", &|_| ()).await["results"][0]["id"].clone();
    let tag = format!("/api/v1/contacts/tags/{}", tag.as_str().unwrap());
    ask(Method::PATCH, "/api/v1/contacts/tags/{id}", tag.clone(), "name", &|_| ()).await;
    let members = "/api/v1/contacts/tags/{id}/members";
    for name in ["numbers", "found"] {
        ask(post.clone(), members, format!("{tag}/members"), name, &|_| ()).await;
    }
    let segments = "/api/v1/contacts/segments";
    let segment = ask(post.clone(), segments, own(segments), "search", &|_| ()).await["id"].clone();
    let segment = format!("{segments}/{}", segment.as_str().unwrap());
    ask(Method::PATCH, "/api/v1/contacts/segments/{id}", segment, "name", &|_| ()).await;
    ask(post.clone(), "/api/v1/contacts/{id}/notes", format!("{one}/notes"), "note", &|_| ()).await;
    let fields = "/api/v1/contacts/fields";
    let field = ask(post.clone(), fields, own(fields), "date", &|_| ()).await["id"].clone();
    let field = format!("{fields}/{}", field.as_str().unwrap());
    ask(Method::PATCH, "/api/v1/contacts/fields/{id}", field, "name", &|_| ()).await;
    let file = world.service.post("/api/v1/contacts/imports", key, "phone\n5511988887777\n").await.json();
    let import = format!("/api/v1/contacts/imports/{}", file["id"].as_str().unwrap());
    for name in ["columns", "start"] {
        ask(post.clone(), "/api/v1/contacts/imports/{id}", import.clone(), name, &|_| ()).await;
    }
    let replies = "/api/v1/quick-replies";
    let reply = ask(post.clone(), replies, own(replies), "hours", &|_| ()).await["id"].clone();
    let reply = format!("{replies}/{}", reply.as_str().unwrap());
    ask(Method::PATCH, "/api/v1/quick-replies/{id}", reply, "text", &|_| ()).await;
    let templates = "/api/v1/web-chat/{id}/templates";
    let place = templates.replace("{id}", &world.web.to_string());
    let template = ask(post.clone(), templates, place.clone(), "text", &|_| ()).await["id"].clone();
    let one = "/api/v1/web-chat/{id}/templates/{template}";
    ask(Method::PATCH, one, format!("{place}/{template}"), "text", &|_| ()).await;
    let answers = "/api/v1/automatic-answers";
    ask(Method::PUT, answers, own(answers), "texts", &|_| ()).await;
    let suppressions = "/api/v1/suppressions";
    for name in ["marketing", "everything"] {
        ask(post.clone(), suppressions, own(suppressions), name, &|_| ()).await;
    }
    let webhooks = "/api/v1/webhooks";
    let mut webhook = Value::Null;
    for name in ["default", "receipts"] {
        let to_this_machine = |body: &mut Value| {
            body["url"] = json!(NO_RECEIVER);
            if name == "receipts" {
                body["channel_ids"] = json!([world.connected]);
            }
        };
        webhook = ask(post.clone(), webhooks, own(webhooks), name, &to_this_machine).await["id"].clone();
    }
    let webhook = format!("{webhooks}/{}", webhook.as_str().unwrap());
    ask(Method::PATCH, "/api/v1/webhooks/{id}", webhook.clone(), "types", &|_| ()).await;
    for (action, name) in [("rotate-secret", "at_once"), ("enable", "now"), ("test", "failed")] {
        let path = format!("/api/v1/webhooks/{{id}}/{action}");
        ask(post.clone(), &path, format!("{webhook}/{action}"), name, &|_| ()).await;
    }
    let in_an_hour = || Timestamp::now().plus(Duration::from_secs(3_600)).to_string();
    let scheduled = json!({
        "type": "text", "message": "x", "phone_number": "5511988880009", "send_at": in_an_hour(),
    });
    let send = world.service.post(&World::send(world.connected), key, scheduled.to_string()).await.json();
    let send = format!("/api/v1/sends/{}", send["send_id"].as_str().unwrap());
    let soon = |body: &mut Value| body["send_at"] = json!(in_an_hour());
    ask(Method::PATCH, "/api/v1/sends/{id}", send, "later", &soon).await;
    let check = "/api/v1/numbers/check";
    let checked = ask(post.clone(), check, own(check), "numbers", &|_| ()).await;
    assert_eq!((&checked["valid_count"], &checked["suppressed_count"]), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn the_examples_of_an_operator_s_requests_are_accepted() {
    let shop = Shop::open(vec![]).await;
    let key = shop.service.operator("bea", None).await;
    let (company, web) = (shop.acme.id, shop.service.company("globex").await.id);
    let ask = async |method: Method,
                     path: &str,
                     ids: &[(&str, String)],
                     name: &str,
                     change: &dyn Fn(&mut Value)| {
        let mut body = example(&method, path, name);
        if body.get("company_id").is_some() {
            body["company_id"] = json!(company);
        }
        change(&mut body);
        let place = ids.iter().fold(path.to_owned(), |path, (id, value)| path.replace(id, value));
        let request = shop.service.request(method, &place).bearer_auth(&key).body(body.to_string());
        let answer = Answer::to(request).await;
        assert!((200..300).contains(&answer.status), "{place} {name}: {}", answer.body);
        answer.json()
    };
    let (post, put, patch) = (Method::POST, Method::PUT, Method::PATCH);
    let of = |id: &Value| vec![("{id}", id.as_str().map_or_else(|| id.to_string(), str::to_owned))];
    let tiers = "/operator/v1/tiers/{name}";
    for (name, tier) in
        [("business_account", "standard"), ("business_account", "high"), ("web_session", "web-new")]
    {
        ask(put.clone(), tiers, &[("{name}", tier.to_owned())], name, &|_| ()).await;
    }
    let companies = "/operator/v1/companies";
    let made = ask(post.clone(), companies, &[], "company", &|_| ()).await;
    let own = of(&made["id"]);
    ask(patch.clone(), "/operator/v1/companies/{id}", &own, "tier", &|_| ()).await;
    ask(post.clone(), "/operator/v1/companies/{id}/keys", &own, "key", &|_| ()).await;
    ask(post.clone(), "/operator/v1/companies/{id}/suppressions", &own, "marketing", &|_| ()).await;
    ask(put.clone(), "/operator/v1/companies/{id}/opt-out-words", &own, "words", &|_| ()).await;
    ask(post.clone(), "/operator/v1/rate-cards", &[], "prices", &|_| ()).await;
    let user = ask(post.clone(), "/operator/v1/users", &[], "member", &|_| ()).await;
    ask(post.clone(), "/operator/v1/users/{id}/reset", &of(&user["user"]["id"]), "both", &|_| ()).await;
    ask(post.clone(), "/operator/v1/invitations", &[], "owner", &|_| ()).await;
    let channels = "/operator/v1/channels";
    ask(post.clone(), channels, &[], "web_session", &|body| body["company_id"] = json!(web)).await;
    let listed = shop.service.get(channels, &key).await.json();
    let shown =
        listed["data"].as_array().unwrap().iter().find(|channel| channel["kind"] == "business_account");
    let channel = of(&shown.unwrap()["id"]);
    ask(patch, "/operator/v1/channels/{id}", &channel, "name", &|_| ()).await;
    ask(put, "/operator/v1/channels/{id}/tier", &channel, "tier", &|_| ()).await;
    ask(post.clone(), "/operator/v1/channels/{id}/reconnect", &channel, "token", &|_| ()).await;
    // The account of the example is the simulator's, whose number is a channel already: without it, it is added.
    let removed =
        shop.service.request(Method::DELETE, &format!("{channels}/{}", channel[0].1)).bearer_auth(&key);
    assert_eq!(Answer::to(removed).await.status, 204);
    ask(post, channels, &[], "business_account", &|body| {
        assert_eq!(
            (&body["phone_number_id"], &body["waba_id"], &body["token"]),
            (&json!(NUMBER), &json!(WABA), &json!(TOKEN))
        );
    })
    .await;
    until("the new channel connected", async || {
        let listed = shop.service.get(channels, &key).await.json();
        listed["data"].as_array().unwrap().iter().any(|channel| channel["status"] == "connected")
    })
    .await;
}
