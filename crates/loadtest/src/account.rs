//! Closes the account at the end of the test: messages that have not started are canceled, messages in flight
//! end, and then every accepted message has arrived or is accounted for.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::balance::Balance;
use super::board::Board;
use super::client::Sent;
use super::stop::Stop;
use super::target::Tested;

/// How long messages in flight may take to end.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(50);

/// The outcome of all accepted messages.
pub(super) async fn close(tested: &Tested, board: &Board, stop: &Stop) -> anyhow::Result<Balance> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let active = active(tested, board).await?;
        if active.is_empty() || Instant::now() >= deadline || stop.is_urgent() {
            break;
        }
        if !is_all_there(tested, board).await? {
            for send in &active {
                tested.service.cancel(send.id).await?;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    let (promised, unclear) = {
        let tally = board.tally();
        (tally.promised, tally.unclear.values().sum())
    };
    let mut balance = Balance { promised, unclear, ..Balance::default() };
    if let Some(receiver) = &tested.receiver {
        let figures = receiver.figures().await?;
        balance.repeated = figures.repeated;
        balance.arrived = figures.messages.saturating_sub(figures.repeated);
    }
    // A hundred thousand sends are looked up only when messages are missing.
    if balance.arrived < promised {
        for send in ours(tested, board, None).await? {
            balance.failed += send.counts.failed;
            balance.canceled += send.counts.canceled;
            balance.unfinished += send.counts.unfinished;
            balance.unknown += send.counts.unknown;
        }
    }
    if tested.receiver.is_none() {
        // Without a receiver, there are only the service's own figures.
        let Balance { failed, canceled, unfinished, unknown, .. } = balance;
        balance.arrived = promised.saturating_sub(failed + canceled + unfinished + unknown);
    }
    Ok(balance.closed())
}

async fn is_all_there(tested: &Tested, board: &Board) -> anyhow::Result<bool> {
    let Some(receiver) = &tested.receiver else { return Ok(false) };
    let figures = receiver.figures().await?;
    Ok(figures.messages.saturating_sub(figures.repeated) >= board.tally().promised)
}

/// Sends of this test that may still have messages to send.
pub(super) async fn active(tested: &Tested, board: &Board) -> anyhow::Result<Vec<Sent>> {
    ours(tested, board, Some("active")).await
}

/// The sends of this test that the service lists.
async fn ours(tested: &Tested, board: &Board, state: Option<&str>) -> anyhow::Result<Vec<Sent>> {
    let mut wanted: HashSet<Uuid> = {
        let tally = board.tally();
        tally.bulk.iter().map(|bulk| bulk.send_id).chain(tally.single_ids.iter().copied()).collect()
    };
    let mut found = Vec::new();
    for page in 1.. {
        let (sends, pages) = tested.service.sends(tested.channel, state, page).await?;
        // A send that comes meanwhile shifts the pages, so sends are counted by id.
        found.extend(sends.into_iter().filter(|send| wanted.remove(&send.id)));
        if page >= pages || wanted.is_empty() {
            break;
        }
    }
    Ok(found)
}
