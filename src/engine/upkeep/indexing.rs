//! The background step of the search index: what no import keeps up with, because it was there before the index
//! was, or because the import that should have done it was interrupted.
//!
//! The sentinel calls. One step at a time with a pause behind it, so that nobody else waits for the
//! database; a search is exact meanwhile, only slower.

use std::time::Duration;

use crate::store::{self, Care, Store};

/// How often is looked whether there is something to do.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// Between two steps.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes a step; the pause until the next one.
pub(in crate::engine) async fn round(store: &Store) -> Duration {
    match step(store).await {
        Ok(true) => PAUSE,
        Ok(false) => LOOK_INTERVAL,
        Err(error) => {
            tracing::debug!(%error, "cannot index contacts");
            LOOK_INTERVAL
        }
    }
}

/// Takes a step for each company that needs one; whether there was any.
async fn step(store: &Store) -> store::Result<bool> {
    let mut any = false;
    for company in store.badly_indexed().await? {
        any |= store.index_contacts(company, Care::Thorough).await?;
    }
    Ok(any)
}
