//! The requests that a company may make by its tier.

use pombo::api::ROUTES;
use pombo::store::changes::Who;
use reqwest::Method;
use uuid::Uuid;

use super::world::{REVOKED_KEY, World};
use crate::harness::{Answer, SPARING, Service, tier};
use crate::running::until;

const CONTACTS: &str = "/api/v1/contacts";

/// The company's allowance by an answer's headers: the policy, and the rest.
fn fields(answer: &Answer) -> (&str, &str) {
    (answer.header("ratelimit-policy"), answer.header("ratelimit"))
}

#[tokio::test]
async fn every_answer_to_a_limited_company_states_the_rest_of_its_requests() {
    let service = Service::start().await;
    let company = service.company_of("acme", SPARING).await;
    let policy = r#""api";q=3;w=3600"#;
    let list = service.get(CONTACTS, &company.key).await;
    assert_eq!((list.status, fields(&list)), (200, (policy, r#""api";r=2;t=1200"#)));
    let wrong = service.get("/api/v1/contacts?page=0", &company.key).await;
    assert_eq!((wrong.status, fields(&wrong)), (400, (policy, r#""api";r=1;t=2400"#)));
    let unknown = service.post(&World::send(Uuid::nil()), &company.key, "{").await;
    assert_eq!((unknown.status, fields(&unknown)), (404, (policy, r#""api";r=0;t=3600"#)));
    for _ in 0..3 {
        let refused = service.get(CONTACTS, &company.key).await;
        assert_eq!((refused.status, refused.code().as_deref()), (429, Some("rate_limited")));
        assert_eq!(fields(&refused), (policy, r#""api";r=0;t=3600"#));
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=1200).contains(&wait), "{wait}");
    }
}

#[tokio::test]
async fn all_keys_of_a_company_share_its_allowance_and_other_companies_have_their_own() {
    let world = World::new().await;
    let service = &world.service;
    service.add_key(world.exhausted.id, "pombo_second", None).await;
    assert_eq!(service.get(CONTACTS, "pombo_second").await.status, 429);
    let other = service.company_of("hooli", SPARING).await;
    assert_eq!(service.get(CONTACTS, &other.key).await.status, 200);
    let unlimited = service.get(CONTACTS, &world.acme.key).await;
    assert_eq!((unlimited.status, fields(&unlimited)), (200, ("", "")));
}

#[tokio::test]
async fn an_exhausted_company_is_refused_before_anything_but_its_key_is_looked_at() {
    let world = World::new().await;
    let ask = async |method: &str, path: &str, key: &str| {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = world.service.request(method, path).bearer_auth(key).body("{");
        Answer::to(request).await
    };
    for route in ROUTES.iter().filter(|route| route.access.scope().is_some()) {
        let path = route.path.replace("{id}", "not-an-id");
        let refused = ask(route.method, &path, &world.exhausted.key).await;
        assert_eq!((refused.status, refused.code().as_deref()), (429, Some("rate_limited")), "{route:?}");
        let stranger = ask(route.method, &path, "pombo_nobody").await;
        assert_eq!((stranger.status, fields(&stranger)), (401, ("", "")), "{route:?}");
    }
    assert_eq!(ask("DELETE", CONTACTS, &world.exhausted.key).await.status, 405);
    assert_eq!(ask("GET", "/api/v1/nothing", &world.exhausted.key).await.status, 404);
    assert_eq!(ask("GET", "/healthz", &world.exhausted.key).await.status, 200);
}

#[tokio::test]
async fn a_revoked_key_uses_up_no_requests() {
    let service = Service::start().await;
    let company = service.company_of("acme", SPARING).await;
    let revoked = service.add_key(company.id, REVOKED_KEY, None).await;
    assert!(service.store().keys().revoke(&Who::Pombo, revoked).await.unwrap());
    for _ in 0..10 {
        assert_eq!(service.get(CONTACTS, REVOKED_KEY).await.status, 401);
    }
    assert_eq!(service.get(CONTACTS, &company.key).await.header("ratelimit"), r#""api";r=2;t=1200"#);
}

#[tokio::test]
async fn a_tier_that_is_changed_is_in_force_in_the_running_service() {
    let world = World::new().await;
    let ask = async || world.service.get(CONTACTS, &world.exhausted.key).await;
    tier(world.service.store(), "unlimited").await;
    until("the company is free", async || ask().await.status == 200).await;
    assert_eq!(fields(&ask().await), ("", ""));
    tier(world.service.store(), "2/min").await;
    until("the company is bound again", async || ask().await.status == 429).await;
    assert_eq!(ask().await.header("ratelimit-policy"), r#""api";q=2;w=60"#);
}
