//! A company with many requests leaves room for others.

use std::time::Duration;

use reqwest::Method;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection};
use serde_json::json;
use tokio::time::timeout;
use uuid::Uuid;

use super::world::World;
use crate::harness::{Answer, Company};
use crate::running::until;

/// More sends than the service resolves at once.
const AUDIENCES: u64 = 24;

/// Blocks all other writes to the database until it is dropped.
async fn held(world: &World) -> DatabaseConnection {
    let mut options = ConnectOptions::new(&world.service.universe.url);
    options.max_connections(1);
    let connection = Database::connect(options).await.unwrap();
    let statements = match connection.get_database_backend() {
        sea_orm::DatabaseBackend::Sqlite => &["BEGIN IMMEDIATE"][..],
        _ => &["BEGIN", "LOCK TABLE send IN EXCLUSIVE MODE"],
    };
    for statement in statements {
        connection.execute_unprepared(statement).await.unwrap();
    }
    connection
}

/// A send to two numbers, whose audience has to be resolved.
fn request(world: &World, company: &Company, channel: Uuid, query: &str) -> reqwest::RequestBuilder {
    let numbers = ["5511988887777", "5511988887778"];
    let body = json!({"type": "text", "message": "x", "phone_number": numbers});
    let request = world.service.request(Method::POST, &format!("{}{query}", World::send(channel)));
    request.bearer_auth(&company.key).body(body.to_string())
}

#[tokio::test]
async fn audiences_of_one_company_that_wait_for_the_database_hold_up_no_other_company() {
    let world = World::new().await;
    let lock = held(&world).await;
    let many: Vec<_> = (0..AUDIENCES)
        .map(|_| tokio::spawn(Answer::to(request(&world, &world.acme, world.connected, ""))))
        .collect();
    let dry_run = async |company: &Company, channel: Uuid, patience: u64| {
        let request = request(&world, company, channel, "?dry_run=true");
        timeout(Duration::from_millis(patience), Answer::to(request)).await.ok()
    };
    until("the company's share to be used up", async || {
        dry_run(&world.acme, world.connected, 200).await.is_none()
    })
    .await;
    let other =
        dry_run(&world.globex, world.foreign, 5_000).await.expect("the request waits behind the others");
    assert_eq!((other.status, &other.json()["recipients_count"]), (200, &json!(2)), "{}", other.body);
    lock.execute_unprepared("ROLLBACK").await.unwrap();
    for answer in many {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status, 202, "{}", answer.body);
    }
}
