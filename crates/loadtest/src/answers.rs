//! People who write to the channels at a rate while the test sends, and the proof that each of their messages is in a
//! conversation once: the ids that the simulator gave are compared with those in the service's database.

mod proof;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use self::proof::AnswerProof;
use super::Plan;
use super::own::Own;
use super::people;
use super::receiver::Simulator;
use domain::rate::Rate;

/// How often messages that are due are written.
const TICK: Duration = Duration::from_millis(20);
/// The most messages in one request to the simulator.
const AT_ONCE: u64 = 500;
/// One in this many comes twice, as a provider may repeat it.
const REPEATED: u64 = 10;

/// The people, while they write.
#[derive(Debug)]
pub(super) struct Answering {
    is_ended: Arc<AtomicBool>,
    writing: JoinHandle<anyhow::Result<AnswersWritten>>,
}

/// What they wrote.
#[derive(Debug, Default)]
pub(super) struct AnswersWritten {
    /// The ids of the messages.
    ids: Vec<String>,
    /// The channels that were written to.
    channels: Vec<Uuid>,
    /// How many of the messages came twice.
    repeated: u64,
    /// How long people wrote.
    lasted: Duration,
}

/// Writes the messages.
struct Writers {
    simulator: Simulator,
    /// The channels, each with the simulator's id of its number.
    channels: Vec<(Uuid, String)>,
    contacts: u32,
    rate: Rate,
    begin: Instant,
    end: Instant,
    is_ended: Arc<AtomicBool>,
}

impl Answering {
    /// Lets the contacts of a service of our own write from `begin` to `end`, in turns to all of its channels.
    pub(super) async fn start(
        plan: &Plan,
        own: &Own,
        rate: Rate,
        (begin, end): (Instant, Instant),
    ) -> anyhow::Result<Self> {
        let is_ended = Arc::<AtomicBool>::default();
        let channels = own.companies.iter().flat_map(|company| &company.channels);
        let writers = Writers {
            simulator: Simulator::find(&own.simulator.base_url).await?,
            channels: channels.map(|channel| (channel.id, channel.number.clone())).collect(),
            contacts: plan.contacts,
            rate,
            begin,
            end,
            is_ended: Arc::clone(&is_ended),
        };
        Ok(Self { is_ended, writing: tokio::spawn(writers.write()) })
    }

    /// What was written; writing ends now.
    ///
    /// # Errors
    ///
    /// When the simulator did not take a message.
    pub(super) async fn finish(self) -> anyhow::Result<AnswersWritten> {
        self.is_ended.store(true, Ordering::Relaxed);
        self.writing.await.context("the people of the load test cannot write")?
    }
}

impl Writers {
    async fn write(self) -> anyhow::Result<AnswersWritten> {
        let mut written = AnswersWritten {
            channels: self.channels.iter().map(|(channel, _)| *channel).collect(),
            ..AnswersWritten::default()
        };
        tokio::time::sleep_until(self.begin.into()).await;
        while Instant::now() < self.end && !self.is_ended.load(Ordering::Relaxed) {
            let due = (self.begin.elapsed().as_secs_f64() * self.rate.per_second()) as u64;
            let mut next = written.ids.len() as u64;
            while next < due {
                let last = due.min(next + AT_ONCE);
                let lot: Vec<_> = (next..last).map(|number| self.message(number)).collect();
                written.ids.extend(self.simulator.write(&lot.into()).await?);
                written.repeated += (next..last).filter(|number| is_repeated(*number)).count() as u64;
                next = last;
            }
            tokio::time::sleep(TICK).await;
        }
        written.lasted = self.begin.elapsed();
        Ok(written)
    }

    fn message(&self, number: u64) -> Value {
        let place = usize::try_from(number).unwrap_or_default() % self.channels.len().max(1);
        let to = self.channels.get(place).map(|(_, number)| number.as_str());
        json!({
            "to": to,
            "from": people::writer(number, self.contacts),
            "copies": if is_repeated(number) { 2 } else { 1 },
            "text": format!("This is answer {number} of a load test, and about as long as those of people are."),
        })
    }
}

const fn is_repeated(number: u64) -> bool {
    number.is_multiple_of(REPEATED)
}
