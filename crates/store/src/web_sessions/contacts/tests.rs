use super::*;
use crate::Options;
use crate::Store;
use crate::web_sessions::sends::{ATTEMPTS, OF_STAMP};

#[test]
fn a_number_is_cold_until_the_first_message_in_either_direction() {
    let cold =
        KnownNumber { jid: None, lid: None, checked_at: None, first_sent_at: None, first_heard_at: None };
    let some = Some(Timestamp::from_millis(1));
    assert!(cold.is_cold());
    assert!(KnownNumber { checked_at: some, ..cold.clone() }.is_cold());
    assert!(!KnownNumber { first_sent_at: some, ..cold.clone() }.is_cold());
    assert!(!KnownNumber { first_heard_at: some, ..cold }.is_cold());
}

#[tokio::test]
async fn queries_for_each_ack_and_each_start_use_an_index() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        url: format!("sqlite://{}", directory.path().join("plan.db").display()),
        connections: 1,
        acquire_timeout: std::time::Duration::from_secs(5),
        statement_timeout: std::time::Duration::ZERO,
        synchronous_full: false,
        migrate: true,
    };
    let store = Store::open(&options).await.unwrap();
    for (sql, step) in [
        (
            FIRST_SENT,
            "SEARCH web_session_contact USING INDEX web_session_contact_sent (channel_id=? AND first_sent_at>?)",
        ),
        (ATTEMPTS, "SEARCH send USING INDEX send_brief (channel_id=? AND id>?)"),
        (OF_STAMP, "SEARCH send USING PRIMARY KEY (id>? AND id<?)"),
    ] {
        let values = [Uuid::nil().into(), Uuid::nil().into(), Uuid::nil().into()];
        let rows = store.rows(format!("EXPLAIN QUERY PLAN {sql}"), values).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.try_get_by_index(3).unwrap()).collect();
        assert_eq!(plan[0], step);
        assert!(!plan.iter().any(|step| step.starts_with("SCAN")), "{plan:?}");
    }
}
