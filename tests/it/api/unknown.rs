//! Keys and channels that do not exist: each is looked up once, so that guesses cost no queries.

use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use uuid::Uuid;

use crate::harness::{Answer, Service};
use crate::running::until;

/// Executes this statement directly on the service's database.
async fn execute(service: &Service, statement: &str) {
    let database = Database::connect(&service.universe.url).await.unwrap();
    database.execute_unprepared(statement).await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test]
async fn an_unknown_key_is_looked_up_once_and_opens_when_it_is_added_later() {
    // Nothing changes before the lookups, so the service does not read the keys again in between.
    let service = Service::start().await;
    let ask = async |key: &str| service.get("/api/v1/contacts", key).await.status;
    assert_eq!(ask("pombo_guess").await, 401);
    execute(&service, "ALTER TABLE api_key RENAME TO lost").await;
    assert_eq!((ask("pombo_guess").await, ask("pombo_another").await), (401, 500));
    execute(&service, "ALTER TABLE lost RENAME TO api_key").await;
    let acme = service.company("acme").await;
    service.add_key(acme.id, "pombo_guess", None).await;
    until("the key that was added", async || ask("pombo_guess").await == 200).await;
}

#[tokio::test]
async fn an_unknown_channel_is_looked_up_once_for_webhooks() {
    let service = Service::start().await;
    let ask = async |method: Method, channel: Uuid| {
        let request = service.request(method, &format!("/hooks/meta/{channel}")).body("{}");
        Answer::to(request).await.status
    };
    let (told, asked) = (Uuid::now_v7(), Uuid::now_v7());
    assert_eq!(ask(Method::POST, told).await, 404);
    assert_eq!(ask(Method::GET, asked).await, 404);
    execute(&service, "ALTER TABLE channel RENAME TO lost").await;
    for known in [told, asked] {
        assert_eq!((ask(Method::POST, known).await, ask(Method::GET, known).await), (404, 404));
    }
    assert_eq!(ask(Method::POST, Uuid::now_v7()).await, 500);
}
