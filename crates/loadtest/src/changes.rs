//! Changes of the tiers while the test runs, as an operator makes them, and when the service followed.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::limit::Limit;
use super::own::{self, Own};
use super::target::Lane;
use domain::rate::Rate;

/// Messages that were on their way when a change took effect may arrive this much later.
const SETTLING_S: f64 = 1.5;
/// Tenths of a second in a second.
const SECOND: usize = 10;

/// A rate that the tiers of the test get at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierChange {
    /// When, after the beginning.
    pub at: Duration,
    /// The rate of every tier of the test from then on.
    pub rate: Rate,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// When it was made, in seconds since the test began.
    pub at_s: f64,
    /// When every channel had the new rate; null when the test ended before.
    pub followed_at_s: Option<f64>,
    /// The new rate.
    pub rate: String,
    /// The new limit of each channel; null when there is none.
    pub limit: Option<Limit>,
    /// The most that arrived from one channel within any one second while this limit was in force, to a tenth of a
    /// second; null when nothing was counted.
    pub most_in_a_second: Option<u64>,
}

/// The changes of a test, those to come first.
#[derive(Debug, Default)]
pub(super) struct Changes {
    to_come: Vec<TierChange>,
    pub(super) made: Vec<Changed>,
}

impl Changes {
    pub(super) fn new(changes: &[TierChange]) -> Self {
        let mut to_come = changes.to_vec();
        to_come.sort_by_key(|change| std::cmp::Reverse(change.at));
        Self { to_come, made: Vec::new() }
    }

    /// Makes the changes that are due, and looks whether the service has followed the newest.
    pub(super) async fn look(
        &mut self,
        own: Option<&Own>,
        lanes: &[Lane],
        begin: Instant,
    ) -> anyhow::Result<()> {
        let passed = || Instant::now().saturating_duration_since(begin);
        while let Some(own) = own
            && let Some(change) = self.to_come.pop_if(|change| change.at <= passed())
        {
            own::change_tiers(&own.store, &own.tiers, change.rate).await?;
            self.made.push(Changed {
                at_s: passed().as_secs_f64(),
                followed_at_s: None,
                rate: change.rate.to_string(),
                limit: None,
                most_in_a_second: None,
            });
        }
        let Some(newest) = self.made.last_mut().filter(|made| made.followed_at_s.is_none()) else {
            return Ok(());
        };
        for lane in lanes {
            let limits: Value = lane.service.limits(lane.channel).await?;
            let rate =
                newest.rate.parse::<Rate>().ok().and_then(|rate| rate.period().map(|_| rate.per_second()));
            let is_new = match (limits["rate_per_second"].as_f64(), rate) {
                (Some(now), Some(new)) => (now - new).abs() < new * 1e-3,
                (now, new) => now.is_none() && new.is_none(),
            };
            if !is_new {
                return Ok(());
            }
            newest.limit = Limit::read(&limits);
        }
        newest.followed_at_s = Some(passed().as_secs_f64());
        Ok(())
    }

    /// The changes with what arrived after each, from the tenths of each channel.
    pub(super) fn closed(self, by_tenth: &[Vec<u32>]) -> Vec<Changed> {
        let mut made = self.made;
        for place in 0..made.len() {
            let until = made.get(place + 1).map(|next| next.at_s);
            let Some(from) = made[place].followed_at_s.map(|followed| followed + SETTLING_S) else {
                continue;
            };
            let most = by_tenth.iter().map(|tenths| most_between(tenths, from, until));
            made[place].most_in_a_second = most.max();
        }
        made
    }
}

/// The most within any one second that lies between two moments.
pub(super) fn most_between(by_tenth: &[u32], from_s: f64, until_s: Option<f64>) -> u64 {
    let place = |seconds: f64| (seconds.max(0.0) * SECOND as f64).ceil() as usize;
    let until = until_s.map_or(by_tenth.len(), place).min(by_tenth.len());
    let between = by_tenth.get(place(from_s)..until).unwrap_or_default();
    let sum = |second: &[u32]| second.iter().map(|count| u64::from(*count)).sum();
    between.windows(SECOND.min(between.len().max(1))).map(sum).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_after_a_change_is_held_to_the_new_limit() {
        // Eighty a second for four seconds, then twenty.
        let tenths: Vec<u32> = (0..100).map(|tenth| if tenth < 40 { 8 } else { 2 }).collect();
        assert_eq!(most_between(&tenths, 0.0, Some(4.0)), 80);
        assert_eq!(most_between(&tenths, 5.5, None), 20);
        assert_eq!(most_between(&tenths, 20.0, None), 0);
        let made = |at_s, followed_at_s| Changed {
            at_s,
            followed_at_s,
            rate: "20/s".to_owned(),
            limit: Some(Limit::new(20.0, 1)),
            most_in_a_second: None,
        };
        let changes = Changes { to_come: Vec::new(), made: vec![made(3.5, Some(4.0)), made(9.0, None)] };
        let closed = changes.closed(&[tenths, vec![0; 100]]);
        assert_eq!((closed[0].most_in_a_second, closed[1].most_in_a_second), (Some(20), None));
    }
}
