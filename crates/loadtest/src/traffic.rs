//! The traffic: single sends by their schedule, bulk sends spread over the time. It runs on a thread of its
//! own, so that the other work of the load test does not delay it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::board::{Board, BulkSend, Phase, Single};
use super::client::{self, Answer};
use super::content;
use super::people;
use super::schedule::{Due, Leg, Schedule};
use super::target::Lane;

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
    /// The numbers of its people, if each gets values of their own.
    pub(super) numbers: Arc<[u64]>,
}

/// The traffic of a test.
#[derive(Debug)]
pub(super) struct Traffic {
    /// At least one.
    pub(super) lanes: Vec<Lane>,
    /// The lane and the tag of each bulk send, in turns.
    pub(super) jobs: Vec<(usize, Tag)>,
    pub(super) bulk: u32,
    /// The parts of the schedule of single sends; none for no single sends.
    pub(super) singles: Vec<Leg>,
    /// The values of each recipient.
    pub(super) values: u8,
    /// The numbers that single sends go to in turns; made-up ones, each once, when there are none.
    pub(super) singles_to: Vec<String>,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

/// The lane and the tag of each bulk send: one to each tag of each company, and at least one through each channel.
pub(super) fn jobs(lanes: &[Lane]) -> Vec<(usize, Tag)> {
    let mut companies: Vec<Vec<usize>> = Vec::new();
    for (place, lane) in lanes.iter().enumerate() {
        match companies
            .iter_mut()
            .find(|its| its.first().is_some_and(|first| lanes[*first].company == lane.company))
        {
            Some(its) => its.push(place),
            None => companies.push(vec![place]),
        }
    }
    let job = |its: &Vec<usize>, turn: usize| {
        let lane = its[turn % its.len()];
        let tags = &lanes[lane].tags;
        tags.get(turn % tags.len().max(1)).map(|tag| (lane, tag.clone()))
    };
    let of = |its: &Vec<usize>| its.len().max(its.first().map_or(0, |first| lanes[*first].tags.len()));
    let turns = companies.iter().map(of).max().unwrap_or_default();
    let each =
        |turn| companies.iter().filter(move |its| turn < of(its)).filter_map(move |its| job(its, turn));
    (0..turns).flat_map(each).collect()
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
        let keeper = if traffic.singles.is_empty() {
            // Nothing will be due: a sender that stayed would keep the receiver waiting.
            drop(due);
            None
        } else {
            let schedule = Schedule { legs: traffic.singles.clone(), end: traffic.end };
            let board = Arc::clone(board);
            let keep = move || schedule.keep(&board, &due);
            std::thread::Builder::new().name("pombo-pace".to_owned()).spawn(keep).ok()
        };
        traffic.single_sends(taken, board).await;
        // A panic has been reported already; the counts are on the board.
        drop(bulk.await);
        if let Some(keeper) = keeper {
            // A panic of this thread has been reported, too.
            drop(keeper.join());
        }
    }

    /// Every single send that is due, each in a task of its own.
    async fn single_sends(self: &Arc<Self>, mut due: mpsc::UnboundedReceiver<Due>, board: &Arc<Board>) {
        let lasting = self.end.saturating_duration_since(self.begin);
        let warm = self.begin + lasting.mul_f64(WARM_UP).min(LONGEST_WARM_UP);
        let connections = Arc::new(Semaphore::new(client::CONNECTIONS));
        let mut sending = JoinSet::new();
        while let Some(next) = due.recv().await {
            let phase = if next.intended < warm { Phase::WarmUp } else { board.phase() };
            board.tally().due(next.leg);
            let Ok(connection) = Arc::clone(&connections).acquire_owned().await else { break };
            let (traffic, board) = (Arc::clone(self), Arc::clone(board));
            sending.spawn(async move {
                let place = usize::try_from(next.number).unwrap_or_default() % traffic.lanes.len().max(1);
                if let Some(lane) = traffic.lanes.get(place) {
                    let body =
                        content::to_number(&lane.content, &traffic.recipient(next.number), traffic.values);
                    let answer = lane.service.send(lane.channel, body).await;
                    let due_s = next.intended.saturating_duration_since(traffic.begin).as_secs_f64();
                    let of = Single { phase, leg: next.leg, lane: place, due_s };
                    board.tally().single(of, next.intended.elapsed(), &answer);
                }
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
        let idle = if self.singles.is_empty() { 0.0 } else { IDLE };
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
            sending.spawn(async move { traffic.send_bulk(number, &board).await });
        }
        while sending.join_next().await.is_some() {}
    }

    async fn send_bulk(&self, number: u32, board: &Board) {
        let Some((place, tag)) = self.jobs.get(number as usize % self.jobs.len().max(1)) else { return };
        let Some(lane) = self.lanes.get(*place) else { return };
        // The body is ready before the time counts.
        let body = match self.values {
            0 => content::to_tag(&lane.content, tag.id),
            values => content::to_numbers(&lane.content, &tag.numbers, values),
        };
        board.begin_bulk();
        let started = Instant::now();
        let answer = lane.service.send(lane.channel, body).await;
        let latency = started.elapsed();
        let at_s = started.saturating_duration_since(self.begin).as_secs_f64();
        let mut tally = board.tally();
        tally.keep("bulk", Phase::Accepting, *place, at_s, latency, &answer);
        match answer {
            Answer::Accepted { send_id, recipients } => {
                tally.promised += recipients;
                tally.bulk_latencies.record(latency);
                tally.bulk.push(BulkSend {
                    send_id,
                    channel: lane.name.clone(),
                    tag: tag.name.clone(),
                    at_s,
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

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::client::Service;
    use domain::secret::Secret;

    fn lane(company: &str, name: &str, tags: &[&str]) -> Lane {
        let tag = |name: &&str| Tag {
            id: Uuid::nil(),
            name: (*name).to_owned(),
            expected: None,
            numbers: Arc::default(),
        };
        Lane {
            service: Service::new(&["http://127.0.0.1:1".to_owned()], Secret::new("k".to_owned())).unwrap(),
            company: company.to_owned(),
            channel: Uuid::nil(),
            name: name.to_owned(),
            tier: None,
            limit: None,
            tags: tags.iter().map(tag).collect(),
            content: Map::new(),
        }
    }

    #[test]
    fn every_tag_and_every_channel_of_each_company_gets_a_bulk_send() {
        // Another test may have installed it first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let named = |lanes: &[Lane]| -> Vec<String> {
            jobs(lanes).iter().map(|(lane, tag)| format!("{} {}", lanes[*lane].name, tag.name)).collect()
        };
        assert_eq!(named(&[lane("a", "1", &["x", "y", "z"])]), ["1 x", "1 y", "1 z"]);
        assert_eq!(named(&[lane("a", "1", &["x"]), lane("a", "2", &["x"])]), ["1 x", "2 x"]);
        let two = [lane("a", "1", &["x", "y"]), lane("a", "2", &["x", "y"]), lane("b", "3", &["x"])];
        assert_eq!(named(&two), ["1 x", "3 x", "2 y"]);
        assert_eq!(named(&[lane("a", "1", &[])]), Vec::<String>::new());
    }
}
