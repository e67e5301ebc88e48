//! The schedule of requests: an open loop, which slow answers do not delay.
//!
//! A client that waits for each answer sends fewer requests while the service is slow, and its percentiles
//! omit the moments that matter (coordinated omission). Here each request has its time, set before the test
//! begins, and its latency counts from that time, whenever the request is really sent.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::board::Board;

/// The longest sleep of the schedule's thread, so that it notices soon when it has to end.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// The parts of a schedule, each with even distances between its requests.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    /// In their order; at least one.
    pub(super) legs: Vec<Leg>,
    pub(super) end: Instant,
}

/// A part of a schedule; it lasts until the next one begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    /// The place in the schedule of its first request.
    pub(super) first: u64,
    pub(super) begin: Instant,
    pub(super) period: Duration,
}

/// A request that is due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    /// Its place in the schedule, from 0.
    pub(super) number: u64,
    /// The moment that it was meant to start at.
    pub(super) intended: Instant,
    /// The part of the schedule that it belongs to.
    pub(super) leg: usize,
}

impl Schedule {
    /// The moment of a request and the part that it belongs to; `None` when the schedule is over by then.
    pub(super) fn moment(&self, number: u64) -> Option<(Instant, usize)> {
        let place = self.legs.partition_point(|leg| leg.first <= number).checked_sub(1)?;
        let leg = self.legs.get(place)?;
        let after = leg.period.as_nanos().checked_mul(u128::from(number - leg.first))?;
        let after = Duration::from_nanos(u64::try_from(after).ok()?);
        let moment = leg.begin.checked_add(after).filter(|moment| *moment < self.end)?;
        Some((moment, place))
    }

    /// Hands over each request when it is due, until the schedule is over, the board ends it, or the receiver
    /// is gone. It runs on a thread of its own, because the runtime's timers are a millisecond late.
    pub(super) fn keep(&self, board: &Board, due: &UnboundedSender<Due>) {
        for number in 0.. {
            let Some((intended, leg)) = self.moment(number) else { return };
            loop {
                if board.is_ended() {
                    return;
                }
                let left = intended.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(LONGEST_SLEEP));
            }
            if due.send(Due { number, intended, leg }).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::latency::Latencies;
    use super::*;

    /// Ten seconds at 100 per second through one connection to a server that answers in a millisecond, but
    /// stands still for a whole second in the middle. No real time passes here: the server is computed.
    #[test]
    fn a_stalled_server_is_seen_by_every_request_that_it_kept_waiting() {
        let begin = Instant::now();
        let at = |millis: u64| begin + Duration::from_millis(millis);
        let leg = Leg { first: 0, begin, period: Duration::from_millis(10) };
        let schedule = Schedule { legs: vec![leg], end: at(10_000) };
        let stall = at(5_000)..at(6_000);
        let (mut corrected, mut closed_loop) = (Latencies::new(), Latencies::new());
        let mut is_free_at = begin;
        for number in 0.. {
            let Some((intended, _)) = schedule.moment(number) else { break };
            let started = intended.max(is_free_at);
            let answers_from = if stall.contains(&started) { stall.end } else { started };
            is_free_at = answers_from + Duration::from_millis(1);
            corrected.record(is_free_at - intended);
            closed_loop.record(is_free_at - started);
        }
        let (corrected, closed_loop) = (corrected.summary(), closed_loop.summary());
        assert_eq!((corrected.count, closed_loop.count), (1_000, 1_000));
        // One request in a thousand was under way while it stood still; a hundred were due in that second.
        assert!((0.9..=1.1).contains(&closed_loop.p99), "{closed_loop:?}");
        assert!((850.0..=1_001.0).contains(&corrected.p99), "{corrected:?}");
        assert!((1.0..=110.0).contains(&corrected.p90), "{corrected:?}");
        assert!((1_000.0..=1_002.0).contains(&corrected.max), "{corrected:?}");
    }

    #[test]
    fn a_schedule_has_even_distances_and_an_end() {
        let begin = Instant::now();
        let leg = |first, after, period| Leg {
            first,
            begin: begin + Duration::from_millis(after),
            period: Duration::from_millis(period),
        };
        let schedule =
            Schedule { legs: vec![leg(0, 0, 400), leg(2, 800, 100)], end: begin + Duration::from_secs(1) };
        let after = |number| schedule.moment(number).map(|(moment, leg)| (moment - begin, leg));
        assert_eq!(after(1), Some((Duration::from_millis(400), 0)));
        assert_eq!(after(3), Some((Duration::from_millis(900), 1)));
        assert_eq!((after(4), after(u64::MAX)), (None, None));
    }
}
