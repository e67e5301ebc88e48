//! Optional fields of a send, the fields that have no effect, and what a refusal for want of recipients says.

use pombo::domain::channel::{Kind, Status};
use serde_json::{Value, json};

use super::past_send::FIRST;
use crate::harness::{Answer, Company, Service};

async fn shop(service: &Service, company: &Company) -> String {
    let shop = service.channel(company, Kind::BusinessAccount, "shop", Status::Connected).await;
    format!("/api/v1/chat/{}/messages", shop.id)
}

async fn send(service: &Service, company: &Company, path: &str, fields: &Value) -> Answer {
    let mut body = json!({"type": "text", "message": "hi", "phone_number": FIRST.to_string()});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    service.post(path, &company.key, body.to_string()).await
}

#[tokio::test]
async fn fields_without_effect_are_named_and_others_are_not() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let path = shop(&service, &acme).await;
    let link = "https://a.example/x";
    for (fields, ignored) in [
        (json!({}), json!(null)),
        (json!({"preview_url": false, "caption": null, "link": " ", "contact_fields": false}), json!(null)),
        (
            json!({"caption": "c", "filename": "a.pdf", "colour": true}),
            json!(["caption", "filename", "colour"]),
        ),
        (json!({"recipient_type": "individual"}), json!(["recipient_type"])),
        (json!({"type": "document", "link": link, "filename": "a.pdf", "message": null}), json!(null)),
        (json!({"type": "document", "link": link, "subject": "a.pdf", "message": null}), json!(["subject"])),
        (json!({"type": "audio", "link": link, "voice": true, "message": null}), json!(null)),
        (json!({"type": "image", "link": link, "voice": true, "message": null}), json!(["voice"])),
        (json!({"x".repeat(80): 1}), json!([format!("{}…", "x".repeat(64))])),
    ] {
        for path in [path.clone(), format!("{path}?dry_run=true")] {
            let answer = send(&service, &acme, &path, &fields).await;
            assert!(matches!(answer.status, 200 | 202), "{fields}: {}", answer.body);
            assert_eq!(answer.json()["ignored"], ignored, "{fields}");
        }
    }
    for wrong in [
        json!({"preview_url": "yes"}),
        json!({"type": "audio", "link": link, "voice": 1}),
        json!({"type": "document", "link": link, "filename": "a\nb.pdf"}),
        json!({"type": "document", "link": link, "filename": "x".repeat(241)}),
    ] {
        let answer = send(&service, &acme, &path, &wrong).await;
        assert_eq!(answer.code().as_deref(), Some("invalid_field"), "{wrong}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_repeated_answer_names_the_same_fields() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let path = shop(&service, &acme).await;
    let body = json!({"type": "text", "message": "hi", "phone_number": FIRST.to_string(), "colour": "red"});
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request = service.request(reqwest::Method::POST, &path).bearer_auth(&acme.key);
        let request = request.header("idempotency-key", "once").body(body.to_string());
        answers.push(Answer::to(request).await);
    }
    assert_eq!(answers[0].json()["ignored"], json!(["colour"]));
    assert_eq!(answers[1].header("idempotency-replayed"), "true");
    assert_eq!(answers[0].body, answers[1].body);
}

#[tokio::test]
async fn when_nobody_is_left_the_refusal_lists_the_skipped_entries() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let path = shop(&service, &acme).await;
    for path in [path.clone(), format!("{path}?dry_run=true")] {
        let refused = send(&service, &acme, &path, &json!({"phone_number": ["nonsense", "12"]})).await;
        assert_eq!(refused.code().as_deref(), Some("no_valid_recipients"), "{}", refused.body);
        let body = refused.json();
        assert_eq!(body["skipped_count"], 2, "{body}");
        assert_eq!(
            body["skipped"],
            json!([
                {"input": "nonsense", "reason": "has no digits", "code": "invalid_number"},
                {"input": "12", "reason": "has fewer than 7 digits", "code": "invalid_number"},
            ])
        );
    }
}
