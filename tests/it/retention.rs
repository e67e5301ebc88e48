//! Retention in a running service: old sends are removed while new ones are accepted, and a crash leaves no
//! rows behind.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::user::Email;
use pombo::store::changes::Who;
use pombo::store::drafts::NewDraft;
use pombo::store::users::NewUser;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::running::{Running, until};
use crate::serving::Serving;

stores!(
    old_sends_are_removed_while_new_ones_are_accepted,
    a_crash_in_the_middle_of_retention_leaves_nothing_astray,
    the_record_of_changes_is_kept_for_a_year_and_a_month,
    a_form_that_the_console_keeps_is_removed_after_a_day_though_nobody_keeps_another,
    a_draft_is_removed_a_month_after_its_last_change,
);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const FIRST: u64 = 5_511_900_000_000;
/// Some twenty steps of retention.
const MANY: u64 = 10_000;

async fn count(rows: &DatabaseConnection, of: &str) -> i64 {
    let statement =
        sea_orm::Statement::from_string(rows.get_database_backend(), format!("SELECT COUNT(*) FROM {of}"));
    rows.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

/// An id of long ago, as the database writes it.
fn old_id(rows: &DatabaseConnection) -> &'static str {
    match rows.get_database_backend() {
        sea_orm::DbBackend::Sqlite => "x'00000000000000000000000000000010'",
        _ => "'00000000-0000-0000-0000-000000000010'",
    }
}

/// Moves the one finished send a week back.
async fn a_week_passes(rows: &DatabaseConnection) {
    let (ago, id) = (Timestamp::now().minus(7 * DAY).millis(), old_id(rows));
    let over = "(SELECT id FROM send WHERE finished_at IS NOT NULL)";
    for sql in [
        format!("UPDATE recipient_block SET send_id = {id} WHERE send_id = {over}"),
        format!("UPDATE message SET send_id = {id}, updated_at = {ago} WHERE send_id = {over}"),
        format!("UPDATE send SET id = {id}, finished_at = {ago} WHERE finished_at IS NOT NULL"),
    ] {
        rows.execute_unprepared(&sql).await.unwrap();
    }
}

async fn old_sends_are_removed_while_new_ones_are_accepted(universe: &Universe) {
    let running = Running::start(universe, |config| {
        config.retention.sends = Some(2 * DAY);
        config.retention.interval = Duration::from_millis(20);
    })
    .await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let tag = running.tag("everyone", FIRST, 40).await;
    running.send_to_tag(tag, 40).await;
    running.settled(40).await;
    let start = Timestamp::now().plus(DAY).to_string();
    let later = json!({ "type": "text", "message": "later", "contact_tag_id": tag, "send_at": start });
    assert_eq!(running.send(&later).await.0, 202);
    assert_eq!(count(&rows, "send").await, 2);

    a_week_passes(&rows).await;
    until("the old send removed", async || count(&rows, "message").await == 0).await;
    until("the removed send forgotten", async || count(&rows, "forgotten_send").await == 0).await;
    let listed = running.ask(Method::GET, "/api/v1/sends", &Value::Null).await.json();
    assert_eq!((&listed["totalRecords"], &listed["data"][0]["state"]), (&json!(1), &json!("scheduled")));
    assert_eq!(count(&rows, "recipient_block").await, 1, "only the unfinished send's block stays");

    running.send_to_tag(tag, 40).await;
    until("the new send over", async || count(&rows, "send WHERE state = 2").await == 1).await;
    assert_eq!((running.delivered().0, count(&rows, "message").await), (80, 40));
    running.end().await;
}

/// Adds a send that finished a week ago, with [`MANY`] messages.
async fn seed(rows: &DatabaseConnection) {
    let ago = Timestamp::now().minus(7 * DAY).millis();
    let is_sqlite = rows.get_database_backend() == sea_orm::DbBackend::Sqlite;
    let id = old_id(rows);
    let ordinals = if is_sqlite {
        format!(
            "WITH RECURSIVE all_ordinals (ordinal) AS (SELECT 0 UNION ALL SELECT ordinal + 1 FROM all_ordinals \
             WHERE ordinal < {MANY} - 1)"
        )
    } else {
        format!("WITH all_ordinals (ordinal) AS (SELECT * FROM generate_series(0, {MANY} - 1))")
    };
    for sql in [
        format!(
            "{ordinals} INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, updated_at) \
             SELECT {id}, ordinal, {id}, {FIRST} + ordinal, 2, 1, {ago} FROM all_ordinals"
        ),
        format!(
            "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, \
             created_at, finished_at) \
             VALUES ({id}, {id}, {id}, 2, '{{\"type\":\"text\",\"body\":\"x\"}}', {MANY}, {MANY}, {MANY}, {ago}, {ago})"
        ),
    ] {
        rows.execute_unprepared(&sql).await.unwrap();
    }
}

async fn a_crash_in_the_middle_of_retention_leaves_nothing_astray(universe: &Universe) {
    let options = [("POMBO__RETENTION__SENDS", "2d"), ("POMBO__RETENTION__INTERVAL", "50ms")];
    let mut serving = Serving::new_with(universe, 10, "unlimited", &options).await;
    let rows = Database::connect(&universe.url).await.unwrap();
    seed(&rows).await;
    let (mut child, _) = serving.serve().await;
    until("the removal begun", async || count(&rows, "forgotten_send WHERE next_ordinal > 0").await == 1)
        .await;
    child.crash();
    let left = count(&rows, "message").await;
    assert!(left > 0 && left < MANY.cast_signed(), "{left} are left");
    assert_eq!((count(&rows, "send").await, count(&rows, "forgotten_send").await), (0, 1));

    let (mut child, url) = serving.serve().await;
    assert_eq!(serving.send(&url).await.status, 202, "sends are taken meanwhile");
    until("the removed send forgotten", async || count(&rows, "forgotten_send").await == 0).await;
    until("the new send over", async || count(&rows, "send WHERE state = 2").await == 1).await;
    assert_eq!(count(&rows, "message").await, 10);
    child.crash();
    serving.simulator.stop().await;
}

async fn the_record_of_changes_is_kept_for_a_year_and_a_month(universe: &Universe) {
    let running =
        Running::start(universe, |config| config.retention.interval = Duration::from_millis(20)).await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let is_sqlite = rows.get_database_backend() == sea_orm::DbBackend::Sqlite;
    for days in [399, 401, 800] {
        let at = Timestamp::now().minus(days * DAY).millis();
        let id = format!("{at:012x}00000000000000000000");
        let id = if is_sqlite { format!("x'{id}'") } else { format!("'{id}'") };
        let insert = format!(
            "INSERT INTO change (id, at, who, what, subject, after) VALUES ({id}, {at}, 'ana', 'tier', '{days}', '1')"
        );
        rows.execute_unprepared(&insert).await.unwrap();
    }
    until("the old ones removed", async || count(&rows, "change WHERE who = 'ana'").await == 1).await;
    assert_eq!(count(&rows, "change WHERE subject = '399'").await, 1);
    running.end().await;
}

async fn a_form_that_the_console_keeps_is_removed_after_a_day_though_nobody_keeps_another(
    universe: &Universe,
) {
    let running =
        Running::start(universe, |config| config.retention.interval = Duration::from_millis(20)).await;
    let rows = Database::connect(&universe.url).await.unwrap();
    for content in ["numbers=5511900000001", "numbers=5511900000002"] {
        universe.store.sessions().keep_form(Uuid::now_v7(), content, Timestamp::now()).await.unwrap();
    }
    let old = "kept_form WHERE content LIKE '%1'";
    let (ago, id) = (Timestamp::now().minus(DAY).millis(), old_id(&rows));
    let update = format!("UPDATE kept_form SET id = {id}, kept_at = {ago} WHERE content LIKE '%1'");
    rows.execute_unprepared(&update).await.unwrap();
    until("the old form removed", async || count(&rows, old).await == 0).await;
    assert_eq!(count(&rows, "kept_form").await, 1);
    running.end().await;
}

async fn a_draft_is_removed_a_month_after_its_last_change(universe: &Universe) {
    let running =
        Running::start(universe, |config| config.retention.interval = Duration::from_millis(20)).await;
    let rows = Database::connect(&universe.url).await.unwrap();
    let company = running.company;
    let email = Email::parse("ana@example.com").unwrap();
    let new = NewUser {
        email: &email,
        name: "Ana",
        password: None,
        language: None,
        time_zone: None,
        is_operator: false,
        membership: None,
        vouched_by: None,
    };
    let ana = universe.store.users().add(&Who::Pombo, new).await.unwrap().id;
    for (content, age) in [("message=1", 29), ("message=2", 31)] {
        let draft = NewDraft { id: None, name: "", channel_id: None, kind: "text", content, is_saved: true };
        let drafts = universe.store.of(company).drafts();
        let id = drafts.keep(ana, draft, Timestamp::now().minus(age * DAY)).await.unwrap().unwrap();
        let found = drafts.content(ana, id, Timestamp::now()).await.unwrap();
        assert_eq!(found.as_deref(), Some(content).filter(|_| age < 30));
    }
    // Ids rise with time: this one is as old as its draft.
    let update = format!("UPDATE draft SET id = {} WHERE content = 'message=2'", old_id(&rows));
    rows.execute_unprepared(&update).await.unwrap();
    until("the old draft removed", async || count(&rows, "draft").await == 1).await;
    assert_eq!(count(&rows, "draft WHERE content = 'message=1'").await, 1);
    running.end().await;
}
