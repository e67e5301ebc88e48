//! Two companies with everything that a refusal can be about.

use pombo::api::Options;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::request::Limits;
use serde_json::json;
use uuid::Uuid;

use crate::harness::{Company, Service};

pub(crate) const REVOKED_KEY: &str = "pombo_revoked";
pub(crate) const EXPIRED_KEY: &str = "pombo_expired";

pub(crate) struct World {
    pub(crate) service: Service,
    /// Who asks.
    pub(crate) acme: Company,
    /// Who must never be seen.
    pub(crate) globex: Company,
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
}

impl World {
    /// With bounds so small that a test can reach them.
    pub(crate) async fn new() -> Self {
        let send = Limits { phone_numbers: 3, tags: 2, ..Limits::default() };
        let service =
            Service::start_with(Options { send, body_bytes: 16 * 1024, ..Options::default() }).await;
        let acme = service.company("acme").await;
        let globex = service.company("globex").await;
        let revoked = service.add_key(acme.id, REVOKED_KEY, None).await;
        assert!(service.store().revoke_api_key(revoked).await.unwrap());
        service.add_key(acme.id, EXPIRED_KEY, Some(Timestamp::from_millis(1))).await;
        let business =
            async |company, status| service.channel(company, Kind::BusinessAccount, "shop", status).await.id;
        let web =
            async |company| service.channel(company, Kind::WebSession, "phone", Status::Pairing).await.id;
        service.templates(&acme, &[("shipped", "pt_BR", "APPROVED"), ("refused", "pt_BR", "REJECTED")]).await;
        service.templates(&globex, &[("theirs", "pt_BR", "APPROVED")]).await;
        let foreign = business(&globex, Status::Connected).await;
        let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
        let sent = service.post(&Self::send(foreign), &globex.key, body).await.json();
        Self {
            connected: business(&acme, Status::Connected).await,
            disconnected: business(&acme, Status::Disconnected).await,
            foreign,
            foreign_send: sent["send_id"].as_str().unwrap().parse().unwrap(),
            web: web(&acme).await,
            foreign_web: web(&globex).await,
            approved: service.template_id(&acme, "shipped", "pt_BR").await,
            rejected: service.template_id(&acme, "refused", "pt_BR").await,
            foreign_template: service.template_id(&globex, "theirs", "pt_BR").await,
            service,
            acme,
            globex,
        }
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
