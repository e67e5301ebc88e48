use super::*;
use crate::{Options, Store};

#[tokio::test]
async fn each_list_is_walked_in_an_index_in_its_own_order() {
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
    let all = ConversationFilter::default;
    let place = ConversationCursor { last_at: Timestamp::from_millis(1), id: Uuid::nil() };
    for (filter, index) in [
        (all(), "conversation_listed"),
        (ConversationFilter { unread: true, ..all() }, "conversation_unread"),
        (ConversationFilter { channel_id: Some(Uuid::nil()), ..all() }, "conversation_of_channel"),
        (ConversationFilter { assigned: Some(AssignedTo::Nobody), ..all() }, "conversation_unassigned"),
        (
            ConversationFilter { assigned: Some(AssignedTo::User(Uuid::nil())), ..all() },
            "conversation_assigned",
        ),
    ] {
        for after in [None, Some(place)] {
            let conversations = store.of(Uuid::nil()).conversations();
            let (sql, values) =
                conversations.statement(&filter, &[], None, (after, Some(ConversationState::Open)), 30);
            let rows = store.rows(format!("EXPLAIN QUERY PLAN {sql}"), values).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.try_get_by_index(3).unwrap()).collect();
            let wanted = format!("SEARCH conversation USING INDEX {index} (");
            assert!(plan.len() == 1 && plan[0].starts_with(&wanted), "{index}: {plan:#?}");
        }
    }
}
