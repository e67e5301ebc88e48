//! The background step of the search index: what no import keeps up with, because it was there before the index
//! was, or because the import that should have done it was interrupted.
//!
//! Started by the sentinel. One step at a time with a pause behind it, so that nobody else waits for the
//! database; a search is exact meanwhile, only slower.

use std::time::Duration;

use actix::prelude::*;

use super::sentinel::Sentinel;
use crate::store::{self, Care, Store};

/// How often is looked whether there is something to do.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);
/// Between two steps.
const PAUSE: Duration = Duration::from_millis(100);

/// Looks again and again, as long as the sentinel lives.
pub(super) fn keep(store: Store, ctx: &mut Context<Sentinel>) {
    let again = store.clone();
    actix::fut::wrap_future::<_, Sentinel>(async move { step(&store).await })
        .map(move |result, _, ctx| {
            let pause = match result {
                Ok(true) => PAUSE,
                Ok(false) => LOOK_INTERVAL,
                Err(error) => {
                    tracing::debug!(%error, "cannot index contacts");
                    LOOK_INTERVAL
                }
            };
            ctx.run_later(pause, move |_, ctx| keep(again, ctx));
        })
        .spawn(ctx);
}

/// Takes a step for each company that needs one; whether there was any.
async fn step(store: &Store) -> store::Result<bool> {
    let mut any = false;
    for company in store.badly_indexed().await? {
        any |= store.index_contacts(company, Care::Thorough).await?;
    }
    Ok(any)
}
