//! The census: how many channels are in each state and how many messages wait, counted in the database for gauges.

use std::time::{Duration, Instant};

use crate::Engine;
use clock::Timestamp;

/// The shortest and the longest pause between two counts.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));
/// A count may take this part of the time: the pause is so many times as long as the count took.
const PAUSE_FACTOR: u32 = 50;

/// Counts once. Returns the pause until the next time.
pub(super) async fn round(engine: &Engine) -> Duration {
    let begun = Instant::now();
    if let Err(error) = count(engine).await {
        tracing::debug!(%error, "cannot count channels and waiting messages");
    }
    let (shortest, longest) = PAUSES;
    begun.elapsed().saturating_mul(PAUSE_FACTOR).clamp(shortest, longest)
}

async fn count(engine: &Engine) -> store::Result<()> {
    let store = engine.store();
    let channels = store.channels().states(None).await?;
    let unfinished = store.sends().census(Timestamp::now()).await?;
    engine.0.shared.census.set(channels, unfinished);
    Ok(())
}
