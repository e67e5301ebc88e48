//! Two companies with all the records that a refusal needs.

use pombo::api::Options;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::request::Limits;
use pombo::domain::tier;
use pombo::store::changes::Who;
use pombo::surface::body::Budget;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::harness::{Answer, Company, SPARING, SPARING_REQUESTS, Service, sign};

pub(crate) const REVOKED_KEY: &str = "pombo_revoked";
pub(crate) const EXPIRED_KEY: &str = "pombo_expired";
pub(crate) const REVOKED_OPERATOR: &str = "pombo_op_gone";
pub(crate) const EXPIRED_OPERATOR: &str = "pombo_op_late";

/// The address of a receiver on which nothing listens.
pub(crate) const NO_RECEIVER: &str = "http://127.0.0.1:1/hook";

pub(crate) struct World {
    pub(crate) service: Service,
    /// The memory for bodies.
    pub(crate) bodies: Budget,
    /// The company that makes the requests.
    pub(crate) acme: Company,
    /// The company that must stay invisible.
    pub(crate) globex: Company,
    /// The key of the operator `ana`.
    pub(crate) operator: String,
    /// The company that has used up its requests.
    pub(crate) exhausted: Company,
    pub(crate) connected: Uuid,
    pub(crate) disconnected: Uuid,
    pub(crate) foreign: Uuid,
    pub(crate) web: Uuid,
    pub(crate) foreign_web: Uuid,
    pub(crate) approved: i64,
    pub(crate) rejected: i64,
    pub(crate) foreign_template: i64,
    /// Accepted, of the other company.
    pub(crate) foreign_send: Uuid,
    /// A contact of the other company, its tag, and an import that is ready.
    pub(crate) foreign_contact: Uuid,
    pub(crate) foreign_tag: Uuid,
    pub(crate) foreign_import: Uuid,
    /// A webhook endpoint of the other company, if there is one.
    pub(crate) foreign_webhook: Uuid,
    /// A conversation of the other company, if there is one.
    pub(crate) foreign_conversation: Uuid,
}

impl World {
    /// With limits so small that a test can reach them.
    pub(crate) async fn new() -> Self {
        let send = Limits { phone_numbers: 3, tags: 2, ..Limits::default() };
        let small = 16 * 1024;
        let options = Options { send, body_bytes: small, values_body_bytes: small, ..Options::default() };
        let bodies = options.bodies.clone();
        let service = Service::start_with(options).await;
        let acme = service.company("acme").await;
        let globex = service.company("globex").await;
        let exhausted = service.company_of("initech", SPARING).await;
        for _ in 0..SPARING_REQUESTS {
            assert_eq!(service.get("/api/v1/contacts", &exhausted.key).await.status, 200);
        }
        let revoked = service.add_key(acme.id, REVOKED_KEY, None).await;
        assert!(service.store().keys().revoke(&Who::Pombo, revoked).await.unwrap());
        service.add_key(acme.id, EXPIRED_KEY, Some(Timestamp::from_millis(1))).await;
        service.operator("gone", None).await;
        assert!(service.store().operators().revoke(&Who::Pombo, "gone").await.unwrap());
        service.operator("late", Some(Timestamp::from_millis(1))).await;
        give_tiers(&service).await;
        let business =
            async |company, status| service.channel(company, Kind::BusinessAccount, "shop", status).await.id;
        let web =
            async |company| service.channel(company, Kind::WebSession, "phone", Status::Pairing).await.id;
        service.templates(&acme, &[("shipped", "pt_BR", "APPROVED"), ("refused", "pt_BR", "REJECTED")]).await;
        service.templates(&globex, &[("theirs", "pt_BR", "APPROVED")]).await;
        let foreign = business(&globex, Status::Connected).await;
        let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
        let sent = service.post(&Self::send(foreign), &globex.key, body).await.json();
        let id = |value: &serde_json::Value| value.as_str().unwrap().parse().unwrap();
        let contact =
            json!({"contacts": [{"email": "theirs@globex.example", "tags": ["theirs"]}]}).to_string();
        let written = service.post("/api/v1/contacts/batch", &globex.key, contact).await.json();
        let tags = service.get("/api/v1/contacts/tags", &globex.key).await.json();
        let import =
            service.post("/api/v1/contacts/imports", &globex.key, "phone\n5511988887777\n").await.json();
        Self {
            connected: business(&acme, Status::Connected).await,
            disconnected: business(&acme, Status::Disconnected).await,
            foreign,
            foreign_send: id(&sent["send_id"]),
            foreign_contact: id(&written["results"][0]["id"]),
            foreign_tag: id(&tags["data"][0]["id"]),
            foreign_import: id(&import["id"]),
            foreign_webhook: Uuid::nil(),
            foreign_conversation: Uuid::nil(),
            web: web(&acme).await,
            foreign_web: web(&globex).await,
            approved: service.template_id(&acme, "shipped", "pt_BR").await,
            rejected: service.template_id(&acme, "refused", "pt_BR").await,
            foreign_template: service.template_id(&globex, "theirs", "pt_BR").await,
            operator: service.operator("ana", None).await,
            service,
            bodies,
            acme,
            globex,
            exhausted,
        }
    }

    /// With a webhook endpoint of the other company, to which no event is sent, and a conversation of that company. Its log is
    /// then written.
    pub(crate) async fn with_webhook() -> Self {
        let mut world = Self::new().await;
        let webhook = json!({"url": NO_RECEIVER, "types": ["channel.pairing"]}).to_string();
        let added = world.service.post("/api/v1/webhooks", &world.globex.key, webhook).await;
        assert_eq!(added.status, 201, "{}", added.body);
        world.foreign_webhook = added.json()["id"].as_str().unwrap().parse().unwrap();
        world.foreign_conversation = world.conversation(&world.globex, 3999).await;
        world
    }

    /// A person writes to another number of a company, which ends with these digits: the conversation.
    pub(crate) async fn conversation(&self, company: &Company, number: u32) -> Uuid {
        let (phone_number_id, waba_id) = (format!("10654035224{number}"), format!("10229012934{number}"));
        let channel = json!({
            "company_id": company.id, "kind": "business_account", "name": "Heard", "phone_number": format!("+1 555 078 {number}"),
            "phone_number_id": phone_number_id, "waba_id": waba_id, "token": format!("EAAG-{number}"),
            "app_secret": "hush", "verify": false,
        });
        let added = self.service.post("/operator/v1/channels", &self.operator, channel.to_string()).await;
        assert_eq!(added.status, 201, "{}", added.body);
        let hook = format!("/hooks/meta/{}", added.json()["id"].as_str().unwrap());
        let message = json!({
            "from": "5511900000001", "id": "wamid.1", "type": "text", "text": { "body": "hi" },
            "timestamp": (Timestamp::now().millis() / 1_000).to_string(),
        });
        let value = json!({
            "messaging_product": "whatsapp", "messages": [message],
            "metadata": { "display_phone_number": format!("1555078{number}"), "phone_number_id": phone_number_id },
        });
        let change = json!({ "field": "messages", "value": value });
        let entry = json!({ "id": waba_id, "changes": [change] });
        let body = json!({ "object": "whatsapp_business_account", "entry": [entry] }).to_string();
        let told =
            self.service.request(Method::POST, &hook).header("X-Hub-Signature-256", sign("hush", &body));
        let told = Answer::to(told.body(body)).await;
        assert_eq!(told.status, 200, "{}", told.body);
        let listed = self.service.get("/api/v1/conversations", &company.key).await.json();
        listed["data"][0]["id"].as_str().unwrap().parse().unwrap()
    }

    /// The path of a business-account send.
    pub(crate) fn send(channel: impl std::fmt::Display) -> String {
        format!("/api/v1/chat/{channel}/messages")
    }

    /// The path of a web-session send.
    pub(crate) fn web_send(channel: impl std::fmt::Display) -> String {
        format!("/api/v1/web-chat/{channel}/messages")
    }
}

/// The tiers that a new database begins with.
pub(crate) async fn give_tiers(service: &Service) {
    let tiers = tier::parse(tier::BUILT_IN).unwrap();
    let document = |tier: &tier::Tier| (tier.name.clone(), serde_json::to_string(tier).unwrap());
    let documents: Vec<_> = tiers.iter().map(document).collect();
    service.store().tiers().apply(&Who::Pombo, &documents).await.unwrap();
}
