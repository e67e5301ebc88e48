//! Every route of the API that reads a body reads it in the one way: counted, in the sender's part of the memory.

use pombo::accounts::Create;
use pombo::api::{Access, ROUTES, Route};
use pombo::store::changes::Who;
use serde_json::json;

use super::world::World;
use crate::harness::unsent::{LENGTH, Unsent};

/// The changing routes that may answer without their body. All others have to read it in the one way.
const WITHOUT_BODY: [(&str, &str); 34] = [
    ("DELETE", "/api/v1/web-chat/{id}/pairing"),
    ("POST", "/api/v1/sends/{id}/pause"),
    ("POST", "/api/v1/sends/{id}/resume"),
    ("POST", "/api/v1/sends/{id}/cancel"),
    ("DELETE", "/api/v1/contacts/tags/{id}"),
    ("DELETE", "/api/v1/contacts/segments/{id}"),
    ("DELETE", "/api/v1/contacts/fields/{id}"),
    ("DELETE", "/api/v1/contacts/{id}/notes/{note}"),
    ("DELETE", "/api/v1/contacts/{id}/conversations"),
    ("DELETE", "/api/v1/contacts/{id}"),
    ("POST", "/api/v1/conversations/{id}/unread"),
    ("POST", "/api/v1/conversations/{id}/close"),
    ("POST", "/api/v1/conversations/{id}/reopen"),
    ("DELETE", "/api/v1/conversations/{id}/notes/{note}"),
    ("DELETE", "/api/v1/suppressions/{number}"),
    ("POST", "/api/v1/webhooks/{id}/disable"),
    ("DELETE", "/api/v1/webhooks/{id}/replay"),
    ("DELETE", "/api/v1/webhooks/{id}"),
    ("DELETE", "/api/v1/media/{id}"),
    ("DELETE", "/api/v1/quick-replies/{id}"),
    ("DELETE", "/api/v1/chat/{id}/templates/{template}"),
    ("DELETE", "/api/v1/web-chat/{id}/templates/{template}"),
    ("POST", "/operator/v1/companies/{id}/disable"),
    ("POST", "/operator/v1/companies/{id}/enable"),
    ("DELETE", "/operator/v1/companies/{id}/keys/{key}"),
    ("DELETE", "/operator/v1/companies/{id}/suppressions/{number}"),
    ("POST", "/operator/v1/users/{id}/disable"),
    ("POST", "/operator/v1/users/{id}/enable"),
    ("DELETE", "/operator/v1/invitations/{id}"),
    ("DELETE", "/operator/v1/channels/{id}"),
    ("DELETE", "/operator/v1/tiers/{name}"),
    ("DELETE", "/operator/v1/rate-cards/{date}"),
    ("POST", "/operator/v1/nodes/{id}/drain"),
    ("POST", "/operator/v1/nodes/{id}/undrain"),
];

fn may_answer(route: &Route) -> bool {
    WITHOUT_BODY.contains(&(route.method, route.path))
}

#[tokio::test]
async fn every_body_of_the_api_is_read_in_the_one_way() {
    let world = World::with_webhook().await;
    let service = &world.service;
    // A webhook is read when its channel has an app secret.
    let signed = json!({
        "company_id": world.globex.id, "kind": "business_account", "name": "Hooked", "phone_number": "+55 11 98888-7777",
        "phone_number_id": "106540352242922", "waba_id": "102290129340398", "token": "EAAG-secret", "app_secret": "hush", "verify": false,
    });
    let hooked = service.post("/operator/v1/channels", &world.operator, signed.to_string()).await;
    assert_eq!(hooked.status, 201, "{}", hooked.body);
    let hooked = hooked.json()["id"].as_str().unwrap().to_owned();
    let create =
        Create { email: "a@b.example", name: "a", password: None, company: None, is_operator: false };
    let user = service.accounts().create(&Who::Pombo, create).await.unwrap().id.to_string();
    let (others, read): (Vec<&Route>, Vec<&Route>) =
        ROUTES.iter().filter(|route| route.method != "GET").partition(|route| may_answer(route));
    assert_eq!(others.len(), WITHOUT_BODY.len(), "every route of the list is in the table");
    // Those that read no body come last: they remove what others are about.
    for route in read.into_iter().chain(others) {
        let id = match route.path {
            path if path.starts_with("/hooks") => hooked.clone(),
            path if path.contains("web-chat") => world.foreign_web.to_string(),
            path if path.contains("sends") => world.foreign_send.to_string(),
            path if path.contains("contacts/imports") => world.foreign_import.to_string(),
            path if path.contains("contacts/tags") => world.foreign_tag.to_string(),
            path if path.contains("contacts") => world.foreign_contact.to_string(),
            path if path.contains("conversations") => world.foreign_conversation.to_string(),
            path if path.contains("webhooks") => world.foreign_webhook.to_string(),
            path if path.contains("companies") => world.globex.id.to_string(),
            path if path.contains("users") => user.clone(),
            _ => world.foreign.to_string(),
        };
        let path = route.path.replace("{id}", &id).replace("{name}", "standard");
        let path = path.replace("{key}", &user).replace("{number}", "5511988887777");
        let headers = match route.access {
            Access::Open => "X-Hub-Signature-256: sha256=00\r\n".to_owned(),
            Access::Operator => format!("Authorization: Bearer {}\r\n", world.operator),
            _ => format!("Authorization: Bearer {}\r\n", world.globex.key),
        };
        let unsent = Unsent::begin(service, route.method, &path, &headers, LENGTH);
        match unsent.settled(&world.bodies).await {
            None => {}
            Some(status) => {
                assert!(
                    status > 0 && may_answer(route),
                    "{route:?} does not read its body in the one way: {status}"
                );
            }
        }
    }
}
