//! Closes the account at the end of the test: messages that have not started are canceled, messages in flight
//! end, and then every accepted message has arrived or is accounted for.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::balance::Balance;
use super::board::Board;
use super::client::{Sent, Service};
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
            for (service, send) in &active {
                service.cancel(send.id).await?;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    let (promised, unclear) = {
        let tally = board.tally();
        (tally.promised, tally.unclear.values().sum())
    };
    let mut balance = Balance { promised, unclear, ..Balance::default() };
    if let Some(receivers) = &tested.receivers {
        let figures = receivers.figures().await?;
        balance.repeated = figures.repeated;
        balance.arrived = figures.messages.saturating_sub(figures.repeated);
    }
    if let Some(webhooks) = &tested.webhooks {
        let mut figures = webhooks.figures().await?;
        // Reports of failures must not arrive between this figure and the service's.
        while figures.failures_delivered > 0
            && figures.messages_waiting > 0
            && Instant::now() < deadline
            && !stop.is_urgent()
        {
            tokio::time::sleep(PAUSE).await;
            figures = webhooks.figures().await?;
        }
        balance.reported_failed = figures.failures_delivered;
    }
    // A hundred thousand sends are looked up only when messages are missing.
    if balance.arrived < promised {
        for (_, send) in ours(tested, board, None).await? {
            balance.failed += send.counts.failed;
            balance.canceled += send.counts.canceled;
            balance.unfinished += send.counts.unfinished;
            balance.unknown += send.counts.unknown;
        }
    }
    // A message whose failure was reported later has arrived before.
    balance.failed = balance.failed.saturating_sub(balance.reported_failed);
    if tested.receivers.is_none() {
        // Without a receiver, there are only the service's own figures.
        let Balance { failed, canceled, unfinished, unknown, .. } = balance;
        balance.arrived = promised.saturating_sub(failed + canceled + unfinished + unknown);
    }
    Ok(balance.closed())
}

async fn is_all_there(tested: &Tested, board: &Board) -> anyhow::Result<bool> {
    let Some(receivers) = &tested.receivers else { return Ok(false) };
    let figures = receivers.figures().await?;
    Ok(figures.messages.saturating_sub(figures.repeated) >= board.tally().promised)
}

/// Sends of this test that may still have messages to send, each with the service that cancels it.
pub(super) async fn active(tested: &Tested, board: &Board) -> anyhow::Result<Vec<(Service, Sent)>> {
    ours(tested, board, Some("active")).await
}

/// The sends of this test that the service lists.
pub(super) async fn ours(
    tested: &Tested,
    board: &Board,
    state: Option<&str>,
) -> anyhow::Result<Vec<(Service, Sent)>> {
    let mut wanted: HashSet<Uuid> = {
        let tally = board.tally();
        tally.bulk.iter().map(|bulk| bulk.send_id).chain(tally.single_ids.iter().copied()).collect()
    };
    let mut found = Vec::new();
    for lane in &tested.lanes {
        for page in 1.. {
            let (sends, pages) = lane.service.sends(lane.channel, state, page).await?;
            // A send that comes meanwhile shifts the pages, so sends are counted by id.
            let ours = sends.into_iter().filter(|send| wanted.remove(&send.id));
            found.extend(ours.map(|send| (lane.service.clone(), send)));
            if page >= pages || wanted.is_empty() {
                break;
            }
        }
    }
    Ok(found)
}
