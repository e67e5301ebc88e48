//! The traffic: single sends by their schedule, bulk sends spread over the time. It runs on a thread of its
//! own, so that the other work of the load test does not delay it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::board::{Board, BulkSend, Phase};
use super::client::{self, Answer, Service};
use super::people;
use super::schedule::{Due, Schedule};

/// The share of the time before the first bulk send, in which there are only single sends.
pub(super) const IDLE: f64 = 0.25;

/// The share of the time that counts as warm-up, and its maximum.
const WARM_UP: f64 = 0.08;
const LONGEST_WARM_UP: Duration = Duration::from_secs(2);
/// How often the traffic checks whether the test has ended.
const LISTENING: Duration = Duration::from_millis(50);

/// A tag, and how many recipients a send to it must have, if that is known.
#[derive(Debug, Clone)]
pub(super) struct Tag {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) expected: Option<u64>,
}

/// The traffic of a test.
#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) service: Service,
    pub(super) channel: Uuid,
    /// Bulk sends go to them in turns.
    pub(super) tags: Vec<Tag>,
    pub(super) bulk: u32,
    /// The time between two single sends; `None` for no single sends.
    pub(super) single_period: Option<Duration>,
    /// The numbers that single sends go to in turns; made-up ones, each once, when there are none.
    pub(super) singles_to: Vec<String>,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

impl Traffic {
    /// Sends until the end of the time, or until the board ends it, and then waits for the last answers.
    pub(super) fn start(self, board: &Arc<Board>) -> std::io::Result<JoinHandle<()>> {
        let board = Arc::clone(board);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let begin = move || runtime.block_on(self.run(&board));
        std::thread::Builder::new().name("pombo-load".to_owned()).spawn(begin)
    }

    async fn run(self, board: &Arc<Board>) {
        let traffic = Arc::new(self);
        let bulk = {
            let (traffic, board) = (Arc::clone(&traffic), Arc::clone(board));
            tokio::spawn(async move { traffic.bulk_sends(&board).await })
        };
        let (due, taken) = mpsc::unbounded_channel();
        let keeper = traffic.single_period.and_then(|period| {
            let schedule = Schedule { begin: traffic.begin, end: traffic.end, period };
            let board = Arc::clone(board);
            let keep = move || schedule.keep(&board, &due);
            std::thread::Builder::new().name("pombo-pace".to_owned()).spawn(keep).ok()
        });
        traffic.singles(taken, board).await;
        // A panic has been reported already; the counts are on the board.
        drop(bulk.await);
        if let Some(keeper) = keeper {
            // A panic of this thread has been reported, too.
            drop(keeper.join());
        }
    }

    /// Every single send that is due, each in a task of its own.
    async fn singles(self: &Arc<Self>, mut due: mpsc::UnboundedReceiver<Due>, board: &Arc<Board>) {
        let lasting = self.end.saturating_duration_since(self.begin);
        let warm = self.begin + lasting.mul_f64(WARM_UP).min(LONGEST_WARM_UP);
        let connections = Arc::new(Semaphore::new(client::CONNECTIONS));
        let mut sending = JoinSet::new();
        while let Some(Due { number, intended }) = due.recv().await {
            let phase = if intended < warm { Phase::WarmUp } else { board.phase() };
            board.tally().due += 1;
            let Ok(connection) = Arc::clone(&connections).acquire_owned().await else { break };
            let (traffic, board) = (Arc::clone(self), Arc::clone(board));
            sending.spawn(async move {
                let body = client::to_number(&traffic.recipient(number));
                let answer = traffic.service.send(traffic.channel, &body).await;
                board.tally().single(phase, intended.elapsed(), &answer);
                drop(connection);
            });
            while sending.try_join_next().is_some() {}
        }
        while sending.join_next().await.is_some() {}
    }

    fn recipient(&self, number: u64) -> String {
        let given = usize::try_from(number).unwrap_or_default().checked_rem(self.singles_to.len());
        given.and_then(|place| self.singles_to.get(place).cloned()).unwrap_or_else(|| people::single(number))
    }

    /// When a bulk send is due: evenly over what remains after the quiet beginning.
    fn moment(&self, number: u32) -> Instant {
        let lasting = self.end.saturating_duration_since(self.begin);
        let idle = if self.single_period.is_some() { IDLE } else { 0.0 };
        let share = f64::from(number) / f64::from(self.bulk.max(1));
        self.begin + lasting.mul_f64(idle + (1.0 - idle) * share)
    }

    /// Every bulk send when it is due, whether or not those before it were answered.
    async fn bulk_sends(self: &Arc<Self>, board: &Arc<Board>) {
        let mut sending = JoinSet::new();
        'due: for number in 0..self.bulk {
            let moment = self.moment(number);
            while Instant::now() < moment {
                if board.is_ended() {
                    break 'due;
                }
                let left = moment.saturating_duration_since(Instant::now());
                tokio::time::sleep(left.min(LISTENING)).await;
            }
            let (traffic, board) = (Arc::clone(self), Arc::clone(board));
            sending.spawn(async move { traffic.bulk(number, &board).await });
        }
        while sending.join_next().await.is_some() {}
    }

    async fn bulk(&self, number: u32, board: &Board) {
        let Some(tag) = self.tags.get(number as usize % self.tags.len().max(1)) else { return };
        board.begin_bulk();
        let started = Instant::now();
        let answer = self.service.send(self.channel, &client::to_tag(tag.id)).await;
        let latency = started.elapsed();
        let mut tally = board.tally();
        match answer {
            Answer::Accepted { send_id, recipients } => {
                tally.promised += recipients;
                tally.bulk_latencies.record(latency);
                tally.bulk.push(BulkSend {
                    send_id,
                    tag: tag.name.clone(),
                    at_s: started.saturating_duration_since(self.begin).as_secs_f64(),
                    accept_ms: latency.as_secs_f64() * 1_000.0,
                    recipients,
                    expected: tag.expected,
                });
            }
            other => tally.failed(&other),
        }
        drop(tally);
        board.end_bulk();
    }
}
