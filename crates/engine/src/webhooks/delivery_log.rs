//! Writes the log of deliveries, which people read: many rows at once, and none twice.
//!
//! The log is no part of what is delivered: a crash loses the rows of the last moment.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use uuid::Uuid;

use super::context::DeliveryContext;
use store::webhooks::Delivery;

/// How long rows are gathered before they are written.
const GATHERED_FOR: Duration = Duration::from_millis(200);
/// The most rows that are gathered.
const MOST: usize = 4_096;
/// The most accepted deliveries of an endpoint among the gathered ones that are logged, and the most failed ones. Of an
/// endpoint with more, the log, which has a bounded number of rows, would go back a few seconds only.
const MOST_OF_ENDPOINT: usize = 100;
/// Delay before a failed write is repeated.
const PAUSE: Duration = Duration::from_secs(1);

/// The rows that wait to be written.
pub(super) struct DeliveryLog {
    context: Arc<DeliveryContext>,
    deliveries: mpsc::Receiver<Delivery>,
    gathered: Vec<Delivery>,
    /// Whether it was logged that nothing can be written.
    is_failing: bool,
}

impl DeliveryLog {
    pub(super) fn new(context: Arc<DeliveryContext>, deliveries: mpsc::Receiver<Delivery>) -> Self {
        Self { context, deliveries, gathered: Vec::new(), is_failing: false }
    }

    /// Waits for rows, and writes them. Returns the pause before the next round.
    pub(super) async fn round(&mut self) -> Duration {
        if self.gathered.is_empty() {
            match self.deliveries.recv().await {
                Some(delivery) => self.gathered.push(delivery),
                None => return PAUSE,
            }
            sleep(GATHERED_FOR).await;
        }
        while self.gathered.len() < MOST
            && let Ok(delivery) = self.deliveries.try_recv()
        {
            self.gathered.push(delivery);
        }
        thin(&mut self.gathered);
        let written = {
            // Of no company.
            let _turn = self.context.turn(Uuid::nil()).await;
            self.context.store.webhooks().log(&self.gathered).await
        };
        match written {
            Ok(()) => {
                self.gathered.clear();
                self.is_failing = false;
                Duration::ZERO
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(%error, "deliveries of webhooks cannot be logged, the write is repeated");
                }
                PAUSE
            }
        }
    }
}

/// Leaves the newest accepted deliveries of each endpoint, and its newest failed ones.
fn thin(deliveries: &mut Vec<Delivery>) {
    let mut counts = HashMap::new();
    deliveries.reverse();
    deliveries.retain(|delivery| {
        let is_accepted = delivery.status.is_some_and(|status| (200..300).contains(&status));
        let count: &mut usize = counts.entry((delivery.endpoint_id, is_accepted)).or_default();
        *count += 1;
        *count <= MOST_OF_ENDPOINT
    });
    deliveries.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Timestamp;
    use domain::webhook::SentHeaders;

    fn delivery(endpoint: u128, nth: u128, status: Option<u16>) -> Delivery {
        Delivery {
            id: Uuid::from_u128(nth),
            endpoint_id: Uuid::from_u128(endpoint),
            at: Timestamp::from_millis(0),
            event_id: "event".to_owned(),
            r#type: "message.sent".to_owned(),
            sequence: None,
            events: 1,
            attempt: 1,
            status,
            took: Duration::ZERO,
            answer: None,
            fault: None,
            fault_kind: None,
            sent: SentHeaders::default(),
        }
    }

    #[test]
    fn of_a_busy_endpoint_the_newest_deliveries_and_the_newest_failures_are_logged() {
        let most = MOST_OF_ENDPOINT as u128;
        let mut deliveries: Vec<_> = (0..2 * most).map(|nth| delivery(1, nth, Some(200))).collect();
        deliveries.insert(0, delivery(1, 9_001, Some(500)));
        deliveries.insert(1, delivery(1, 9_002, None));
        deliveries.push(delivery(2, 9_003, Some(204)));
        thin(&mut deliveries);
        let ids: Vec<_> = deliveries.iter().map(|delivery| delivery.id.as_u128()).collect();
        let expected: Vec<_> = [9_001, 9_002].into_iter().chain(most..2 * most).chain([9_003]).collect();
        assert_eq!(ids, expected);
    }
}
