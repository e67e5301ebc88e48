//! Indexes contacts that no import indexed: they were there before the index, or their import was interrupted. Folds the
//! stored texts of companies again after an update that changed how texts are folded.
//!
//! The sentinel runs the rounds: one step at a time, with a pause after it, so that nothing else waits for the
//! database. While contacts are indexed a search is exact, only slower. A text that is not folded again yet is found as
//! before the update.

use std::time::Duration;

use store::{Care, Store};

/// How often the index is checked.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// The pause between two steps.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes a step. Returns the pause until the next one.
pub(crate) async fn round(store: &Store) -> Duration {
    match step(store).await {
        Ok(true) => PAUSE,
        Ok(false) => LOOK_INTERVAL,
        Err(error) => {
            tracing::debug!(%error, "cannot index contacts");
            LOOK_INTERVAL
        }
    }
}

/// Takes a step for each company that needs one. Returns whether there was any.
async fn step(store: &Store) -> store::Result<bool> {
    let mut any = false;
    for company in store.contacts().badly_indexed().await? {
        any |= store.of(company).index().step(Care::Thorough).await?;
    }
    if any {
        return Ok(true);
    }
    // Only while the index is in order: contacts whose texts changed are read one by one until they are indexed again.
    for company in store.contacts().unfolded().await? {
        store.of(company).contacts().refold().await?;
        any = true;
    }
    Ok(any)
}
