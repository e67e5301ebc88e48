//! The course of a measurement: send, wait for the rest, close the account.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::answers::Answering;
use super::board::Board;
use super::changes::Changes;
use super::events::EventReceiver;
use super::meter::{Meter, Used, together};
use super::own::Own;
use super::raw::Request;
use super::receiver::{Figures, WebhookFigures};
use super::report::{Kept, Report};
use super::sample::{Sample, Share, mib, percentiles};
use super::schedule::Leg;
use super::stop::Stop;
use super::target::Tested;
use super::traffic::{Traffic, jobs};
use super::{Event, Live, Plan, Receiving, Target, account};
use clock::Timestamp;
use domain::rate::Rate;

/// The time between readiness and the first send.
const BREATH: Duration = Duration::from_millis(100);
/// The number of samples of a test of usual length, and the shortest and longest time between two of them.
const SAMPLES: u32 = 60;
const TICK: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(1));
/// The number of messages that may be on their way while no bulk send runs: if no more are missing, they are
/// single sends in flight.
const ON_THEIR_WAY: u64 = 64;

pub(super) async fn measure(
    plan: &Plan,
    own: Option<&mut Own>,
    stop: &Stop,
    hear: &mut impl FnMut(Event<'_>),
) -> anyhow::Result<(Report, Vec<Request>)> {
    hear(Event::Stage(match plan.target {
        Target::Other { receiving: Receiving::RealPeople { .. }, .. } => "finding the channel and its tags",
        _ => "sending one message to check that it arrives at the simulator",
    }));
    let mut tested = Tested::find(plan, own.as_deref()).await?;
    if let Some(batch) = plan.webhooks {
        hear(Event::Stage("adding an endpoint for the receiver of webhooks"));
        tested.events = Some(EventReceiver::open(batch, &tested.lanes).await?);
    }
    let measured = Box::pin(send(plan, own, &mut tested, stop, hear)).await;
    if let Some(receiver) = tested.events.take()
        && let Err(error) = receiver.close().await
        // A service of our own is removed with its endpoints.
        && !matches!(plan.target, Target::Own)
    {
        // The report of a long test is not lost by this.
        hear(Event::Warning(&format!("{error:#}")));
    }
    measured
}

/// Sends, and counts the results.
async fn send(
    plan: &Plan,
    mut own: Option<&mut Own>,
    tested: &mut Tested,
    stop: &Stop,
    hear: &mut impl FnMut(Event<'_>),
) -> anyhow::Result<(Report, Vec<Request>)> {
    let started_at = Timestamp::now();
    let begin = Instant::now() + BREATH;
    let end = begin + plan.duration;
    let board = Arc::new(Board::new(plan.keeps_requests));
    let traffic = traffic(plan, tested, begin);
    let bulk = traffic.bulk;
    let mut changes = Changes::new(&plan.changes);
    let mut watch = Watch::begin(tested, plan, begin).await;
    let answering = match (plan.answers, own.as_deref()) {
        (Some(rate), Some(own)) => Some(Answering::start(plan, own, rate, (begin, end)).await?),
        _ => None,
    };
    let sending = traffic.start(&board).context("cannot start a thread")?;

    // Sending, and then the last answers.
    while !sending.is_finished() {
        watch.next_tick(stop).await;
        if stop.is_asked() {
            board.end();
        }
        watch.look(tested, &board, hear).await?;
        changes.look(own.as_deref(), &tested.lanes, begin).await?;
        if let Some(fault) = own.as_mut().and_then(|own| own.fault()) {
            board.end();
            return Err(fault);
        }
        if stop.is_urgent() {
            break;
        }
    }
    let sent_s = begin.elapsed().min(end.saturating_duration_since(begin)).as_secs_f64();

    // The accepted messages are still arriving.
    watch.is_draining = true;
    let deadline = Instant::now() + plan.drain;
    while !stop.is_asked() && Instant::now() < deadline && !watch.is_drained(tested, &board).await? {
        watch.next_tick(stop).await;
        watch.look(tested, &board, hear).await?;
        changes.look(own.as_deref(), &tested.lanes, begin).await?;
        if let Some(fault) = own.as_mut().and_then(|own| own.fault()) {
            return Err(fault);
        }
    }
    let answers = match (answering, &tested.store) {
        (Some(answering), Some(store)) => {
            hear(Event::Stage("waiting for what people wrote to be in conversations"));
            Some(answering.finish().await?.settle(store, stop).await?)
        }
        _ => None,
    };
    hear(Event::Stage("counting the results"));
    let drained_s = begin.elapsed().as_secs_f64();
    let balance = account::close(tested, &board, stop).await?;
    watch.look(tested, &board, &mut |_| {}).await?;
    let events = match &tested.events {
        Some(receiver) => {
            let sends = account::ours(tested, &board, None).await?;
            let sends: Vec<_> = sends.into_iter().map(|(_, sent)| sent).collect();
            Some(receiver.settle(&sends, stop, hear).await?)
        }
        None => None,
    };
    let ended_early = stop.is_asked();
    let kept = Kept { started_at, sent_s, drained_s, ended_early, bulk, begin, changes, events, answers };
    let report = Report::new(plan, own.as_deref(), tested, &board, watch.into_taken(), balance, kept);
    let requests = board.tally().requests.take().unwrap_or_default();
    Ok((report, requests))
}

fn traffic(plan: &Plan, tested: &Tested, begin: Instant) -> Traffic {
    let steady = |rate: Rate| rate.period().map(|period| vec![Leg { first: 0, begin, period }]);
    let singles = match (plan.ramp, plan.single_rate) {
        _ if !tested.has_singles => None,
        (Some(ramp), _) => Some(ramp.legs(begin, plan.duration)),
        (None, rate) => rate.and_then(steady),
    };
    let jobs = jobs(&tested.lanes);
    Traffic {
        bulk: plan.bulk.unwrap_or_else(|| u32::try_from(jobs.len()).unwrap_or(u32::MAX)),
        jobs,
        lanes: tested.lanes.clone(),
        singles: singles.unwrap_or_default(),
        values: plan.values,
        singles_to: tested.singles_to.clone(),
        begin,
        end: begin + plan.duration,
    }
}

/// The readings of the processes over the whole test.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Readings {
    pub(super) first: Option<Used>,
    pub(super) last: Option<Used>,
    /// The most memory in bytes.
    pub(super) most: u64,
}

/// All samples.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) samples: Vec<Sample>,
    pub(super) figures: Option<Figures>,
    /// The counts of each channel.
    pub(super) each: Vec<Figures>,
    pub(super) webhooks: Option<WebhookFigures>,
    pub(super) service: Readings,
    pub(super) simulator: Readings,
    pub(super) loadtest: Readings,
    /// Bytes of the database at the beginning and now.
    pub(super) database: Option<(u64, u64)>,
}

/// Takes samples.
struct Watch {
    begin: Instant,
    duration: Duration,
    tick: Duration,
    next: Instant,
    is_draining: bool,
    on_their_way: u64,
    shares: [Share; 3],
    taken: Taken,
}

impl Watch {
    async fn begin(tested: &Tested, plan: &Plan, begin: Instant) -> Self {
        let (least, most) = TICK;
        let singles = plan.singles_per_second() / 2.0;
        let mut watch = Self {
            begin,
            duration: plan.duration,
            tick: (plan.duration / SAMPLES).clamp(least, most),
            next: begin,
            is_draining: false,
            on_their_way: ON_THEIR_WAY.max(singles as u64),
            shares: Default::default(),
            taken: Taken::default(),
        };
        watch.read(tested).await;
        watch
    }

    async fn next_tick(&mut self, stop: &Stop) {
        self.next = (self.next + self.tick).max(Instant::now());
        tokio::select! {
            () = tokio::time::sleep_until(self.next.into()) => {}
            () = stop.asked() => {}
        }
    }

    /// Reads the processes and the database; processor time in per cent since the reading before.
    async fn read(&mut self, tested: &Tested) -> [(Option<f64>, Option<f64>); 3] {
        let service = together(&tested.service_meters).await;
        let simulator = match &tested.simulator_meter {
            Some(meter) => meter.read().await,
            None => None,
        };
        let loadtest = Meter::Process(std::process::id()).read().await;
        let taken = &mut self.taken;
        let readings = [&mut taken.service, &mut taken.simulator, &mut taken.loadtest];
        let mut shown = [(None, None); 3];
        let all = [service, simulator, loadtest].into_iter().zip(readings).zip(&mut self.shares);
        for (place, ((used, readings), share)) in all.enumerate() {
            readings.first = readings.first.or(used);
            readings.last = used.or(readings.last);
            readings.most = readings.most.max(used.map_or(0, |used| used.resident));
            shown[place] = (share.of(Instant::now(), used), used.map(|used| mib(used.resident)));
        }
        if let Some(store) = &tested.store
            && let Ok(bytes) = store.size().await
        {
            let (first, _) = taken.database.unwrap_or((bytes, bytes));
            taken.database = Some((first, bytes));
        }
        shown
    }

    /// Takes a sample and reports it.
    async fn look(
        &mut self,
        tested: &mut Tested,
        board: &Board,
        hear: &mut impl FnMut(Event<'_>),
    ) -> anyhow::Result<()> {
        let [service, simulator, loadtest] = self.read(tested).await;
        // The board is read before the receiver, so that sends that are accepted meanwhile do not count as
        // outstanding.
        let (promised, mut lately, errors) = {
            let mut tally = board.tally();
            (tally.promised, std::mem::take(&mut tally.lately), tally.errors())
        };
        let mut per_second = None;
        if let Some(receivers) = &mut tested.receivers {
            self.taken.each = receivers.each().await?;
            let figures = Figures::sum(&self.taken.each);
            receivers.look().await?;
            let outstanding = promised.saturating_sub(figures.messages);
            board.set_running(outstanding > self.on_their_way);
            self.taken.figures = Some(figures);
            let arrivals = receivers.by_tenth(self.begin);
            per_second = Some(arrivals.iter().rev().take(10).map(|count| u64::from(*count)).sum());
        }
        if let Some(webhooks) = &tested.webhooks {
            self.taken.webhooks = Some(webhooks.figures().await?);
        }
        let (single_p50_ms, single_p99_ms) = percentiles(&mut lately);
        let sample = Sample {
            at_s: self.begin.elapsed().as_secs_f64(),
            promised,
            arrived: self.taken.figures.map(|figures| figures.messages),
            receipts: self.taken.webhooks.map(|webhooks| webhooks.statuses_delivered),
            singles: lately.len() as u64,
            single_p50_ms,
            single_p99_ms,
            service_cpu_percent: service.0,
            service_mib: service.1,
            simulator_cpu_percent: simulator.0,
            simulator_mib: simulator.1,
            loadtest_cpu_percent: loadtest.0,
            database_mib: self.taken.database.map(|(_, bytes)| mib(bytes)),
            events: tested.events.as_ref().map(EventReceiver::events),
        };
        hear(Event::Live(&Live {
            passed: self.begin.elapsed(),
            duration: self.duration,
            is_draining: self.is_draining,
            sample: sample.clone(),
            per_second,
            errors,
        }));
        self.taken.samples.push(sample);
        Ok(())
    }

    /// Whether all accepted messages have arrived, by the newest sample, and the service has their receipts; or, without
    /// a receiver, whether the service has nothing left to send.
    async fn is_drained(&self, tested: &Tested, board: &Board) -> anyhow::Result<bool> {
        match self.taken.figures {
            Some(figures) => {
                let arrived = figures.messages - figures.repeated.min(figures.messages);
                // Messages that failed for good never arrive.
                let is_quiet = arrived >= board.tally().promised
                    || figures.refused > 0 && account::active(tested, board).await?.is_empty();
                let outstanding = self.taken.webhooks.map_or(0, |webhooks| webhooks.messages_waiting);
                Ok(is_quiet && outstanding == 0)
            }
            None => Ok(account::active(tested, board).await?.is_empty()),
        }
    }

    fn into_taken(self) -> Taken {
        self.taken
    }
}
