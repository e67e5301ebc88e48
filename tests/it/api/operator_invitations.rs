//! Invitations and links over the operator API: how they end, and who vouches for the people who come by them.

use pombo::accounts::{Accept, Error, Invite, Origin, Role, SignedIn};
use pombo::store::changes::Who;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::Answer;

const EMAIL: &str = "bea@example.com";

async fn asked(world: &World, key: &str, method: Method, path: &str, body: Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = world.service.request(method, &format!("/operator/v1{path}")).bearer_auth(key);
    let answer = Answer::to(request.body(body)).await;
    assert!(answer.status < 300, "{path}: {}", answer.body);
    answer.json()
}

fn token(link: &Value) -> &str {
    link["path"].as_str().unwrap().rsplit('/').next().unwrap()
}

async fn accept(world: &World, token: &str, password: &str) -> Result<SignedIn, Error> {
    let origin = Origin::new("192.0.2.7".parse().unwrap(), "");
    world
        .service
        .accounts()
        .accept(Accept { token, name: "Bea", password, language: None, origin: &origin })
        .await
}

#[tokio::test]
async fn links_of_an_operator_s_key_end_when_the_key_is_revoked() {
    let world = World::new().await;
    let key = world.service.operator("mallory", None).await;
    let rights = json!({"email": EMAIL, "company_id": world.acme.id, "role": "owner"});
    let kept = asked(&world, &world.operator, Method::POST, "/invitations", rights.clone()).await;
    let made = json!({"email": "carl@example.com", "name": "Carl", "company_id": world.acme.id});
    let reset = asked(&world, &key, Method::POST, "/users", made).await;
    let invited = json!({"email": "eve@example.com", "is_operator": true});
    let invitation = asked(&world, &key, Method::POST, "/invitations", invited).await;
    assert!(world.service.store().operators().revoke(&Who::Pombo, "mallory").await.unwrap());
    for ended in [token(&reset["link"]), token(&invitation)] {
        let used = accept(&world, ended, "correct horse battery").await;
        assert!(matches!(used, Err(Error::LinkGone)), "{used:?}");
    }
    let listed = asked(&world, &world.operator, Method::GET, "/invitations", Value::Null).await;
    assert_eq!((&listed["totalRecords"], &listed["data"][0]["email"]), (&json!(1), &json!(EMAIL)));
    accept(&world, token(&kept), "correct horse battery").await.unwrap();
}

#[tokio::test]
async fn a_new_link_of_an_operator_outlives_no_change_of_the_credentials() {
    let world = World::new().await;
    let made = json!({"email": EMAIL, "name": "Bea", "company_id": world.acme.id});
    let made = asked(&world, &world.operator, Method::POST, "/users", made).await;
    let path = format!("/users/{}/reset", made["user"]["id"].as_str().unwrap());
    accept(&world, token(&made["link"]), "correct horse battery").await.unwrap();
    let first = asked(&world, &world.operator, Method::POST, &path, Value::Null).await;
    let second = asked(&world, &world.operator, Method::POST, &path, json!({"totp": true})).await;
    let used = accept(&world, token(&first["link"]), "another password").await;
    assert!(matches!(used, Err(Error::LinkGone)), "{used:?}");
    let easy = accept(&world, token(&second["link"]), "bea12345").await;
    assert!(matches!(easy, Err(Error::CommonPassword)), "{easy:?}");
    accept(&world, token(&second["link"]), "another password").await.unwrap();
}

#[tokio::test]
async fn a_user_whom_an_owner_invited_is_shown_with_the_company_that_vouches() {
    let world = World::new().await;
    let accounts = world.service.accounts();
    let made =
        json!({"email": "owner@example.com", "name": "Owner", "company_id": world.acme.id, "role": "owner"});
    asked(&world, &world.operator, Method::POST, "/users", made).await;
    let by_owner = Who::User { email: "owner@example.com".to_owned(), address: [192, 0, 2, 7].into() };
    let invite =
        Invite { email: EMAIL, name: "", company: Some((world.acme.id, Role::Viewer)), is_operator: false };
    let link = accounts.invite(&by_owner, invite).await.unwrap();
    accept(&world, link.token.expose(), "correct horse battery").await.unwrap();
    let found = asked(&world, &world.operator, Method::GET, "/users?search=bea", Value::Null).await;
    assert_eq!(found["data"][0]["vouched_by_company_id"], json!(world.acme.id));

    // An operator's invitation takes the account's password, like everybody's.
    let rights = json!({"email": EMAIL, "company_id": world.globex.id, "is_operator": true});
    let more = asked(&world, &world.operator, Method::POST, "/invitations", rights).await;
    let wrong = accept(&world, token(&more), "bea's own password").await;
    assert!(matches!(wrong, Err(Error::Refused)), "{wrong:?}");
    let path = format!("/users/{}", found["data"][0]["id"].as_str().unwrap());
    assert_eq!(asked(&world, &world.operator, Method::GET, &path, Value::Null).await["is_operator"], false);
    let reset = asked(&world, &world.operator, Method::POST, &format!("{path}/reset"), Value::Null).await;
    accept(&world, token(&reset["link"]), "bea's own password").await.unwrap();
    accept(&world, token(&more), "bea's own password").await.unwrap();
    let user = asked(&world, &world.operator, Method::GET, &path, Value::Null).await;
    assert_eq!((&user["is_operator"], &user["vouched_by_company_id"]), (&json!(true), &Value::Null));
}
