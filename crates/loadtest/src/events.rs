//! A receiver of webhooks: it takes the events of the test's sends, and proves that each came.
//!
//! Each company of the test gets an endpoint for it by the API that every client can use, and loses it again at the end.
//! What must have come is read from the service: the log of events, and the counts of each send.

mod arrivals;
mod expected;
mod listener;
mod set;
mod signature;
mod tally;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;
use uuid::Uuid;

pub use self::arrivals::EventArrivals;
use self::expected::ExpectedEvents;
use self::listener::EventListener;
use super::Event;
use super::client::{EVENT_TYPES, Sent, Service};
use super::stop::Stop;
use super::target::Lane;

/// The most requests to an endpoint at once that the service makes.
const IN_FLIGHT: u8 = 4;
/// How soon all nodes of a service write the log of a company that has a new endpoint, and a little more.
const SETTLING: Duration = Duration::from_millis(1_200);
/// How long missing events are waited for while none arrives: the first retry of a request that failed comes after some
/// five seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an event that the service counted may be absent from the log: another node may write it a moment later.
const LOG_PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two looks at missing events.
const PAUSE: Duration = Duration::from_millis(100);

/// A receiver with its endpoints. End it with [`EventReceiver::close`], which deletes them.
#[derive(Debug)]
pub(super) struct EventReceiver {
    listener: EventListener,
    endpoints: Vec<TestEndpoint>,
}

/// The endpoint of one company.
#[derive(Debug)]
struct TestEndpoint {
    company: String,
    /// The service with a key of the company.
    service: Service,
    id: Uuid,
    /// Where the company's log of events was when the endpoint was added.
    begin: String,
}

impl EventReceiver {
    /// Starts the receiver, and adds an endpoint for each company with up to `batch` events in a request.
    pub(super) async fn open(batch: u8, lanes: &[Lane]) -> anyhow::Result<Self> {
        let listener = EventListener::start(batch > 1)?;
        let mut receiver = Self { listener, endpoints: Vec::new() };
        match receiver.add_endpoints(batch, lanes).await {
            Ok(()) => Ok(receiver),
            Err(error) => {
                // The first error says what is wrong.
                let _ = receiver.close().await;
                Err(error)
            }
        }
    }

    async fn add_endpoints(&mut self, batch: u8, lanes: &[Lane]) -> anyhow::Result<()> {
        for lane in lanes {
            if self.endpoints.iter().any(|endpoint| endpoint.company == lane.company) {
                continue;
            }
            let of_company = lanes.iter().filter(|other| other.company == lane.company);
            let channels: Vec<_> = of_company.map(|other| other.channel).collect();
            let (number, service) = (self.endpoints.len(), lane.service.clone());
            let settings = json!({
                "url": self.listener.url(number),
                "types": EVENT_TYPES,
                "channel_ids": channels,
                "max_in_flight": IN_FLIGHT,
                "batch": batch,
            });
            let begin = service.end_of_events().await?;
            let (id, secret) = service.add_webhook(&settings).await?;
            let endpoint = TestEndpoint { company: lane.company.clone(), service, id, begin };
            self.endpoints.push(endpoint);
            self.listener.expect(number, &secret)?;
            lane.service.test_webhook(id).await?;
        }
        tokio::time::sleep(SETTLING).await;
        Ok(())
    }

    /// How many different events arrived so far.
    pub(super) fn events(&self) -> u64 {
        self.listener.tally().figures.events
    }

    /// Waits until the events of these sends have arrived, as long as more of them come, and counts them.
    pub(super) async fn settle(
        &self,
        sends: &[Sent],
        stop: &Stop,
        hear: &mut impl FnMut(Event<'_>),
    ) -> anyhow::Result<EventArrivals> {
        let (mut expected, begin) = (ExpectedEvents::new(&self.endpoints), Instant::now());
        loop {
            expected.read_on(&self.endpoints, sends).await?;
            if expected.untold == 0 || begin.elapsed() >= LOG_PATIENCE || stop.is_urgent() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        let total = expected.logged.len();
        let missing = || expected.logged.missing_in(&self.listener.tally().seen);
        let (mut left, mut moved_at) = (missing(), Instant::now());
        while left > 0 && moved_at.elapsed() < PATIENCE && !stop.is_urgent() {
            hear(Event::Events { arrived: total - left, total });
            tokio::time::sleep(PAUSE).await;
            let now = missing();
            if now < left {
                moved_at = Instant::now();
            }
            left = now;
        }
        Ok(EventArrivals::new(&expected, &self.listener.tally(), stop.is_urgent()))
    }

    /// Deletes the endpoints and stops the receiver.
    ///
    /// # Errors
    ///
    /// A sentence when an endpoint could not be deleted.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        let mut deleted = Ok(());
        for TestEndpoint { service, id, .. } in &self.endpoints {
            let result = service.delete_webhook(*id).await;
            deleted = deleted.and(result.with_context(|| {
                format!("the webhook endpoint {id} of the load test could not be deleted: delete it")
            }));
        }
        self.listener.stop().await;
        deleted
    }
}
