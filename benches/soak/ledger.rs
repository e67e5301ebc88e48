//! The service's own record of every message.

use std::collections::BTreeMap;

use pombo::domain::message::State;
use sea_orm::{ConnectionTrait as _, Database, Statement};

/// Messages by the word of their state, read from the database of a service that has stopped.
pub(crate) async fn states(url: &str) -> anyhow::Result<BTreeMap<String, u64>> {
    let database = Database::connect(url).await?;
    let count = "SELECT state, COUNT(*) AS messages FROM message GROUP BY state";
    let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), count)).await?;
    let mut states = BTreeMap::new();
    for row in rows {
        let state = State::from_i16(row.try_get("", "state")?);
        let state = state.map_or("other".to_owned(), |state| format!("{state:?}").to_lowercase());
        let messages: i64 = row.try_get("", "messages")?;
        states.insert(state, u64::try_from(messages)?);
    }
    database.close().await?;
    Ok(states)
}
