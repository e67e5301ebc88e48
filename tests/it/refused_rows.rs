//! Rows that the database refuses permanently: they are set aside, and all other rows are written.

use std::collections::BTreeMap;

use entity::message;
use futures_util::future::join_all;
use pombo::domain::message::State;
use sea_orm::{ConnectionTrait as _, Database, DbBackend, EntityTrait as _};
use serde_json::json;

use crate::database::{Universe, stores};
use crate::outage::{once, single};
use crate::running::Running;

stores!(
    a_send_that_the_database_refuses_fails_alone,
    an_outcome_whose_text_the_database_refuses_is_written_without_it,
);

const FIRST: u64 = 5_511_900_000_000;

/// From now on, the database refuses rows of the table whose column matches this pattern.
pub(crate) async fn refuse(universe: &Universe, table: &str, column: &str, pattern: &str) {
    let database = Database::connect(&universe.url).await.unwrap();
    let statements = match database.get_database_backend() {
        DbBackend::Postgres => vec![format!(
            "ALTER TABLE {table} ADD CONSTRAINT refused CHECK (CAST({column} AS TEXT) NOT LIKE '{pattern}')"
        )],
        _ => ["INSERT", "UPDATE"]
            .map(|writing| {
                format!(
                    "CREATE TRIGGER refused_{table}_{writing} BEFORE {writing} ON {table} \
             WHEN NEW.{column} LIKE '{pattern}' BEGIN SELECT RAISE(ABORT, 'refused'); END"
                )
            })
            .to_vec(),
    };
    for sql in statements {
        database.execute_unprepared(&sql).await.unwrap();
    }
    database.close().await.unwrap();
}

async fn a_send_that_the_database_refuses_fails_alone(universe: &Universe) {
    const SINGLES: u64 = 16;
    let running = Running::start(universe, |_| {}).await;
    let guilty = FIRST + 7;
    refuse(universe, "send", "recipient", &guilty.to_string()).await;
    let service = &running;
    let answers = join_all((FIRST..FIRST + SINGLES).map(|number| async move {
        // With a key and without: the rows that belong to a send are written or refused with it.
        let answer =
            if number % 2 == 0 { single(service, number).await } else { once(service, number).await };
        (number, answer.status)
    }));
    let mut answered = BTreeMap::new();
    for (number, status) in answers.await {
        answered.entry(status).or_insert_with(Vec::new).push(number);
    }
    assert_eq!(answered.get(&500), Some(&vec![guilty]), "{answered:?}");
    assert_eq!(answered[&202].len() as u64, SINGLES - 1, "{answered:?}");
    running.settled(SINGLES - 1).await;
    assert_eq!(running.delivered(), (SINGLES - 1, SINGLES - 1));
    assert_eq!(once(&running, guilty).await.status, 500, "and again under its key");
    running.end().await;
}

async fn an_outcome_whose_text_the_database_refuses_is_written_without_it(universe: &Universe) {
    const RECIPIENTS: u64 = 60;
    let running = Running::start(universe, |_| {}).await;
    refuse(universe, "message", "error", "%poison%").await;
    let error = json!({ "code": 131_026, "message": "poison" });
    let script = json!([{ "match": { "to_suffix": "7" }, "times": 6, "outcome": { "error": error } }]);
    running.simulator.script(&script).unwrap();
    let tag = running.tag("everyone", FIRST, RECIPIENTS).await;
    running.send_to_tag(tag, RECIPIENTS).await;
    running.settled(RECIPIENTS - 6).await;
    let database = Database::connect(&universe.url).await.unwrap();
    let rows = message::Entity::find().all(&database).await.unwrap();
    let (failed, sent): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.recipient % 10 == 7);
    assert_eq!((failed.len(), sent.len()), (6, 54));
    assert!(sent.iter().all(|row| row.state == State::Sent.as_i16()));
    for row in failed {
        assert_eq!((row.state, row.error_code), (State::Failed.as_i16(), Some(131_026)));
        assert!(row.error.as_ref().is_some_and(|words| !words.contains("poison")), "{:?}", row.error);
    }
    database.close().await.unwrap();
    running.end().await;
}
