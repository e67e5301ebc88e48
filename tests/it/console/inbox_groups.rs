//! Groups in the inbox: what was said on both sides, and the answer, which a linked phone alone can send.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::message::State as At;
use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, ConnectionTrait as _, Database, Statement, Value};
use uuid::Uuid;

use super::world::World;

const GROUP: &str = "120363025246125016";

/// A conversation of the company with the group on this channel.
async fn conversation(world: &World, channel: Uuid) -> Uuid {
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    let (id, now) = (Uuid::now_v7(), Timestamp::now().millis());
    let values: [Value; 7] = [
        id.into(),
        world.acme.id.into(),
        channel.into(),
        format!("g:{GROUP}").into(),
        "Friends".into(),
        now.into(),
        Vec::<u8>::new().into(),
    ];
    let sql = "INSERT INTO conversation (id, company_id, channel_id, kind, peer, name, last_at, last_id, last_line, created_at) \
               VALUES ($1, $2, $3, 1, $4, $5, $6, $1, $7, $6)";
    let statement = Statement::from_sql_and_values(database.get_database_backend(), sql, values);
    database.execute_raw(statement).await.unwrap();
    database.close().await.unwrap();
    id
}

/// A text that the company sent to a group on this channel.
async fn sent(world: &World, channel: Uuid, group: &str, text: &str) {
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    let (id, now) = (Uuid::now_v7(), Timestamp::now().millis());
    let send = entity::send::ActiveModel {
        id: Set(id),
        company_id: Set(world.acme.id),
        channel_id: Set(channel),
        state: Set(2),
        content: Set(format!(r#"{{"type":"text","body":"{text}","group":"{group}"}}"#)),
        recipients: Set(1),
        recipient: Set(Some(0)),
        high_water: Set(1),
        settled: Set(1),
        created_at: Set(now),
        finished_at: Set(Some(now)),
        ..Default::default()
    };
    send.insert(&database).await.unwrap();
    let message = entity::message::ActiveModel {
        send_id: Set(id),
        ordinal: Set(0),
        company_id: Set(world.acme.id),
        recipient: Set(0),
        state: Set(At::Delivered.as_i16()),
        attempts: Set(1),
        updated_at: Set(now),
        taken_at: Set(Some(now)),
        ..Default::default()
    };
    message.insert(&database).await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_group_of_a_linked_phone_shows_both_sides_and_is_answered() {
    let world = World::new().await;
    let agent = world.signed_in(Role::Agent).await;
    let (service, acme) = (&world.service, &world.acme);
    let phone = service.channel(acme, Kind::WebSession, "phone", Status::Disconnected).await.id;
    let second = service.channel(acme, Kind::WebSession, "second", Status::Disconnected).await.id;
    let account = service.channel(acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    sent(&world, phone, GROUP, "Hello, group").await;
    // A text cannot pass for the group of its content.
    let like_it = format!(r#"\"group\":\"{GROUP}\""#);
    sent(&world, phone, "120363000000000009", &like_it).await;
    sent(&world, second, GROUP, "Elsewhere").await;
    let place = format!("/console/inbox/{}", conversation(&world, phone).await);
    let page = agent.page(&place).await;
    assert_eq!(page.matches("class=\"spoken own\"").count(), 1, "{page}");
    assert!(page.contains(">Hello, group<") && !page.contains("Elsewhere"), "{page}");
    assert!(page.contains("name=\"message\"") && page.contains("this is a linked phone"), "{page}");
    // It was accepted by the form, and the phone is not there.
    let refused = agent.post(&format!("{place}/answer"), &[("message", "Thanks, all")]).await;
    assert!(refused.status >= 400 && refused.body.contains("Thanks, all"), "{}", refused.body);

    let place = format!("/console/inbox/{}", conversation(&world, account).await);
    let page = agent.page(&place).await;
    assert!(!page.contains("name=\"message\"") && page.contains("a group of a business account"), "{page}");
}
