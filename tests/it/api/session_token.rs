//! The token of a session in the console: it reads the contacts and tags of its company, and opens nothing else.

use std::collections::BTreeSet;

use pombo::accounts::{Accounts, Create, NewSession, Origin, Role, SignIn, SignedIn};
use pombo::api::{Access, ROUTES};
use pombo::store::changes::Who;
use reqwest::Method;
use uuid::Uuid;

use super::world::World;
use crate::harness::Answer;

const PASSWORD: &str = "correct horse battery";
const EMAIL: &str = "ana@example.com";

fn origin() -> Origin {
    Origin::new("192.0.2.7".parse().unwrap(), "Firefox")
}

/// Somebody who signed in, as a viewer of this company.
async fn viewer(accounts: &Accounts, company: Uuid) -> NewSession {
    let company = Some((company, Role::Viewer));
    let create = Create { email: EMAIL, name: "Ana", password: Some(PASSWORD), company, is_operator: false };
    accounts.create(&Who::Pombo, create).await.unwrap();
    let attempt = SignIn { email: EMAIL, password: PASSWORD, code: None, origin: &origin() };
    match accounts.sign_in(attempt).await.unwrap() {
        SignedIn::Session(session) => *session,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_s_token_reads_the_contacts_of_its_company_and_nothing_else() {
    let world = World::new().await;
    let accounts = world.service.accounts();
    let session = viewer(accounts, world.globex.id).await;
    let token = accounts.new_api_token(&session.session, &origin()).await.unwrap();
    let token = token.expose();
    let mut opened = BTreeSet::new();
    for route in ROUTES.iter().filter(|route| route.access != Access::Open) {
        let path = route.path.replace("{id}", &world.foreign.to_string()).replace("{name}", "standard");
        let method = Method::from_bytes(route.method.as_bytes()).unwrap();
        let request = world.service.request(method, &path).bearer_auth(token).body("{}");
        let answer = Answer::to(request).await;
        if answer.status == 200 {
            opened.insert((route.method, route.path));
        } else {
            assert_eq!(
                (answer.status, answer.code().as_deref()),
                (401, Some("invalid_api_key")),
                "{route:?}"
            );
        }
    }
    assert_eq!(opened, BTreeSet::from([("GET", "/api/v1/contacts"), ("GET", "/api/v1/contacts/tags")]));
    for path in ["/api/v1/contacts", "/api/v1/contacts/tags"] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let request = world.service.request(method.clone(), path).bearer_auth(token);
            assert_eq!(Answer::to(request).await.status, 405, "{method} {path}");
        }
        let head = world.service.request(Method::HEAD, path).bearer_auth(token);
        assert_eq!(Answer::to(head).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_session_s_token_shows_the_contacts_of_its_company_until_the_session_ends() {
    let world = World::new().await;
    let accounts = world.service.accounts();
    world.service.store().of(world.acme.id).tags().ensure("vip", None).await.unwrap();
    world.service.store().of(world.globex.id).tags().ensure("theirs", None).await.unwrap();
    let session = viewer(accounts, world.acme.id).await;
    let token = accounts.new_api_token(&session.session, &origin()).await.unwrap();
    let tags = async || world.service.get("/api/v1/contacts/tags", token.expose()).await;
    let found = tags().await;
    assert_eq!((&found.json()["totalRecords"], &found.json()["data"][0]["name"]), (&1.into(), &"vip".into()));
    let with_cookie = world.service.get("/api/v1/contacts/tags", session.token.expose()).await;
    assert_eq!(with_cookie.code().as_deref(), Some("invalid_api_key"));
    accounts.sign_out(&session.session, &origin()).await.unwrap();
    assert_eq!(tags().await.code().as_deref(), Some("invalid_api_key"));
}

/// All requests of a company's programs share one limit, with a key or a token.
#[tokio::test]
async fn a_session_s_token_counts_against_its_company_s_requests() {
    let world = World::new().await;
    let accounts = world.service.accounts();
    let session = viewer(accounts, world.exhausted.id).await;
    let token = accounts.new_api_token(&session.session, &origin()).await.unwrap();
    let refused = world.service.get("/api/v1/contacts", token.expose()).await;
    assert_eq!((refused.status, refused.code().as_deref()), (429, Some("rate_limited")));
}
