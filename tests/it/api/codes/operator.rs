//! The refusals of an operator's routes.

use pombo::error::Code;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::world::World;
use super::{Cases, NUMBER};

pub(super) fn cases(world: &World, cases: &mut Cases) {
    let tier = "/operator/v1/tiers/standard";
    let channel = |action: &str| format!("/operator/v1/channels/{}/{action}", world.connected);
    let mut put = |code, path: &str, body: Value| cases.add(code, Method::PUT, path, body);
    put(Code::InvalidBody, tier, json!([]));
    put(Code::InvalidTier, tier, json!({"burst": 0, "burts": 1}));
    put(Code::InvalidField, &format!("{tier}?dry_run=maybe"), json!({}));
    put(Code::TierKindChanged, tier, json!({"kind": "web_session", "messages_per_second": "1/s"}));
    put(Code::InvalidField, &channel("tier"), json!({}));
    put(Code::InvalidTier, &channel("tier"), json!({"tier": "web-new"}));
    put(Code::TierNotFound, &channel("tier"), json!({"tier": "gone"}));
    put(Code::ChannelNotFound, "/operator/v1/channels/7/tier", json!({"tier": "high"}));
    let web = format!("/operator/v1/channels/{}/reconnect", world.web);
    cases.post(Code::ChannelNotFound, &web, json!({}));
    cases.post(Code::InvalidField, &channel("reconnect"), json!({"token": "two words"}));
    cases.post(Code::InvalidBody, &channel("reconnect"), json!("token"));
    cases.get(Code::TierNotFound, "/operator/v1/tiers/gone");
    let company = format!("/operator/v1/companies/{}", world.acme.id);
    let mut delete = |code, path: &str| cases.add(code, Method::DELETE, path, json!(""));
    delete(Code::TierInUse, tier);
    delete(Code::TierNotFound, "/operator/v1/tiers/gone");
    delete(Code::RateCardNotFound, "/operator/v1/rate-cards/2026-10-01");
    delete(Code::KeyNotFound, &format!("{company}/keys/{}", Uuid::nil()));
    delete(Code::SuppressionNotFound, &format!("{company}/suppressions/+{NUMBER}"));
    delete(Code::InvitationNotFound, "/operator/v1/invitations/7");
    delete(Code::ChannelInUse, &format!("/operator/v1/channels/{}", world.foreign));
    delete(Code::ChannelNotFound, &format!("/operator/v1/channels/{}", Uuid::nil()));
    cases.add(Code::InvalidTier, Method::PATCH, tier, json!({"burst": 0, "burts": 1}));
    cases.add(Code::TierNotFound, Method::PATCH, "/operator/v1/tiers/gone", json!({"burst": 1}));
    cases.post(Code::AlreadyExists, &format!("{tier}/rename"), json!({"name": "high"}));
    cases.post(Code::InvalidField, &format!("{tier}/rename"), json!({"name": "High"}));
    cases.post(Code::TierNotFound, "/operator/v1/tiers/gone/rename", json!({"name": "new"}));
    cases.post(Code::ChangeNotFound, &format!("{tier}/rollback"), json!({"change_id": Uuid::nil()}));
    cases.post(Code::InvalidField, &format!("{tier}/rollback"), json!({"change_id": "7"}));
    cases.post(Code::InvalidTier, "/operator/v1/plan", json!({"burts": 1}));
    cases.get(Code::CompanyNotFound, format!("/operator/v1/companies/{}", Uuid::nil()));
    cases.get(Code::UserNotFound, "/operator/v1/users/7");
    cases.post(Code::NodeNotFound, "/operator/v1/nodes/7/drain", json!(""));
    cases.post(Code::NodeNotFound, "/operator/v1/nodes/7/undrain", json!(""));
    cases.post(Code::AlreadyExists, "/operator/v1/companies", json!({"name": "acme"}));
    cases.post(Code::InvalidField, "/operator/v1/companies", json!({"name": " "}));
    cases.add(Code::TierNotFound, Method::PATCH, company.as_str(), json!({"tier": "gone"}));
    cases.post(Code::InvalidField, &format!("{company}/keys"), json!({"name": "x", "scopes": ["write"]}));
    cases.post(Code::InvalidField, &format!("{company}/keys"), json!({"name": "x", "expires_at": "soon"}));
    cases.post(Code::InvalidPhoneNumber, &format!("{company}/suppressions"), json!({"phone_number": "12"}));
    cases.post(
        Code::InvalidField,
        "/operator/v1/users",
        json!({"email": "ana", "name": "A", "is_operator": true}),
    );
    cases.post(Code::InvalidField, "/operator/v1/invitations", json!({"email": "ana@example.com"}));
    let role = json!({"email": "a@b", "company_id": world.acme.id, "role": "admin"});
    cases.post(Code::InvalidField, "/operator/v1/invitations", role);
    cases.post(
        Code::InvalidField,
        "/operator/v1/channels",
        json!({"company_id": world.acme.id, "kind": "fax"}),
    );
    let unknown = json!({
        "company_id": world.acme.id, "kind": "business_account", "name": "Sales", "phone_number_id": "1", "waba_id": "2",
        "token": "EAAG",
    });
    cases.post(Code::ProviderUnavailable, "/operator/v1/channels", unknown);
    cases.get(Code::InvalidPagination, "/operator/v1/changes?limit=1001");
}
