//! Quick replies and automatic answers over HTTP, and a quick reply that is filled in for a person.

use pombo::domain::content::Content;
use pombo::domain::phone::PhoneNumber;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{Answer, Company, Service};

const REPLIES: &str = "/api/v1/quick-replies";
const ANSWERS: &str = "/api/v1/automatic-answers";

async fn ask(service: &Service, company: &Company, method: Method, path: &str, body: &Value) -> Answer {
    let request = service.request(method, path).bearer_auth(&company.key).body(body.to_string());
    Answer::to(request).await
}

#[tokio::test]
async fn a_quick_reply_is_added_changed_and_deleted_by_its_company_alone() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let text = "Hi {{contact.first_name|friend}}!";
    let added = ask(&service, &acme, Method::POST, REPLIES, &json!({"word": "/Olá", "text": text})).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let added = added.json();
    assert_eq!((&added["word"], &added["file_id"]), (&json!("ola"), &Value::Null));
    let place = format!("{REPLIES}/{}", added["id"].as_str().unwrap());
    for (body, code, param) in [
        (json!({"word": "OLA", "text": "x"}), "quick_reply_word_taken", "word"),
        (json!({"word": "two words", "text": "x"}), "invalid_field", "word"),
        (json!({"word": "a"}), "invalid_field", "text"),
        (json!({"word": "a", "text": "{{contact.shoe_size}}"}), "invalid_field", "text"),
        (json!({"word": "a", "text": "x".repeat(4_097)}), "invalid_field", "text"),
        (json!({"word": "a", "file_id": "7"}), "invalid_field", "file_id"),
    ] {
        let refused = ask(&service, &acme, Method::POST, REPLIES, &body).await;
        assert_eq!(refused.code().as_deref(), Some(code), "{body}: {}", refused.body);
        assert_eq!(refused.json()["param"], param, "{}", refused.body);
    }
    let no_file = json!({"word": "a", "file_id": Uuid::nil()});
    let refused = ask(&service, &acme, Method::POST, REPLIES, &no_file).await;
    assert_eq!(refused.code().as_deref(), Some("media_not_found"));
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let stranger = ask(&service, &globex, method, &place, &json!({"word": "x"})).await;
        assert_eq!((stranger.status, stranger.code().as_deref()), (404, Some("quick_reply_not_found")));
    }
    let changed = ask(&service, &acme, Method::PATCH, &place, &json!({"word": "oi"})).await.json();
    assert_eq!((&changed["word"], &changed["text"]), (&json!("oi"), &json!(text)));
    let emptied = ask(&service, &acme, Method::PATCH, &place, &json!({"text": null})).await;
    assert_eq!(emptied.code().as_deref(), Some("invalid_field"), "it has no file");
    let listed = service.get(REPLIES, &acme.key).await.json();
    assert_eq!(listed, json!({ "data": [changed] }));
    assert_eq!(service.get(REPLIES, &globex.key).await.json(), json!({ "data": [] }));
    assert_eq!(ask(&service, &acme, Method::DELETE, &place, &json!("")).await.status, 204);
    assert_eq!(service.get(&place, &acme.key).await.status, 404);
}

#[tokio::test]
async fn a_quick_reply_is_filled_in_for_a_contact_and_goes_with_its_file() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let contacts = json!({"contacts": [{"first_name": "Ana", "phone_number": "5511988880001"}]});
    ask(&service, &acme, Method::POST, "/api/v1/contacts/batch", &contacts).await;
    let file = service.post("/api/v1/media?name=menu.txt", &acme.key, "soup").await.json();
    let reply = json!({
        "word": "menu", "text": "{{contact.first_name|friend}}, {{contact.email}}", "file_id": file["id"],
    });
    let added = ask(&service, &acme, Method::POST, REPLIES, &reply).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let id = Uuid::try_parse(added.json()["id"].as_str().unwrap()).unwrap();
    let replies = service.engine().conversations(acme.id).quick_replies();
    assert_eq!(replies.beginning_with("/ME").await.unwrap().len(), 1);
    assert!(replies.beginning_with("/x").await.unwrap().is_empty());
    // WhatsApp knows her by the older form of her number.
    let ana = PhoneNumber::parse("551188880001").unwrap();
    let rendered = replies.rendered(id, Some(ana), "en").await.unwrap();
    assert_eq!(
        (rendered.text.as_str(), &rendered.missing[..]),
        ("Ana, {{contact.email}}", &["email".to_owned()][..])
    );
    let link = file["link"].as_str().unwrap().to_owned();
    let (caption, filename) = (Some(rendered.text.clone()), Some("menu.txt".to_owned()));
    assert_eq!(rendered.contents(), [Content::Document { link, caption, filename }]);
    let gone = format!("/api/v1/media/{}", file["id"].as_str().unwrap());
    assert_eq!(ask(&service, &acme, Method::DELETE, &gone, &json!("")).await.status, 204);
    let rendered = replies.rendered(id, None, "en").await.unwrap();
    assert!(rendered.is_file_gone && rendered.text.starts_with("friend, "), "{rendered:?}");
}

#[tokio::test]
async fn what_is_answered_automatically_is_set_as_a_whole_and_recorded() {
    let service = Service::start().await;
    let (acme, operator) = (service.company("acme").await, service.operator("ana", None).await);
    let set = json!({
        "read_marks": false, "stop_text": " Bye. ", "time_zone": "Europe/Madrid", "opening_hours": {"monday": "9:00-14:00,16:00-20:00"},
    });
    let answer = ask(&service, &acme, Method::PUT, ANSWERS, &set).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let shown = answer.json();
    assert_eq!((&shown["stop_text"], &shown["away_text"]), (&json!("Bye."), &Value::Null));
    assert_eq!(shown["opening_hours"]["monday"], "09:00-14:00, 16:00-20:00");
    assert_eq!(shown["read_marks"], false);
    assert_eq!(service.get(ANSWERS, &acme.key).await.json(), shown);
    for (body, param) in [
        (json!({"stop_text": "stop"}), "stop_text"),
        (json!({"away_text": "x".repeat(1_001)}), "away_text"),
        (json!({"time_zone": "Madrid"}), "time_zone"),
        (json!({"read_marks": "no"}), "read_marks"),
        (json!({"opening_hours": {"monday": "9-14"}}), "opening_hours"),
        (json!({"opening_hours": {"lunes": ""}}), "opening_hours"),
        (json!({"opening_hours": "always"}), "opening_hours"),
    ] {
        let refused = ask(&service, &acme, Method::PUT, ANSWERS, &body).await;
        assert_eq!(refused.code().as_deref(), Some("invalid_field"), "{body}: {}", refused.body);
        assert_eq!(refused.json()["param"], param, "{}", refused.body);
    }
    assert_eq!(service.get(ANSWERS, &acme.key).await.json(), shown, "nothing of them was set");
    let changes = service.get("/operator/v1/changes?what=company", &operator).await.json();
    assert_eq!(changes["data"][0]["after"]["automatic_answers"]["stop_text"], "Bye.", "{changes}");
    assert_eq!(changes["data"][0]["after"]["automatic_answers"]["read_marks"], false);
    let cleared = ask(&service, &acme, Method::PUT, ANSWERS, &json!({})).await.json();
    assert_eq!((&cleared["stop_text"], &cleared["time_zone"]), (&Value::Null, &json!("UTC")));
    assert_eq!(cleared["read_marks"], true);
}
