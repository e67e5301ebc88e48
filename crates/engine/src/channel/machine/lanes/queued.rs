//! The number of messages in the lanes, read after each input. Each send in the order of the direct lane has one; those
//! of bulk sends are counted as they come and go.

use super::Lanes;
use crate::channel::machine::work::Work;

/// Messages of bulk sends that were not handed out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Queued(u64);

impl Queued {
    /// A send arrived: its messages count from here on.
    pub(super) const fn count(&mut self, work: &Work) {
        if !work.is_direct() {
            self.0 += work.queued();
        }
    }

    /// A send leaves, or none of its messages is handed out any more: they no longer count.
    pub(super) const fn discount(&mut self, work: &Work) {
        if !work.is_direct() {
            self.less(work.queued());
        }
    }

    /// This many messages were handed out or passed over.
    pub(super) const fn less(&mut self, messages: u64) {
        self.0 = self.0.saturating_sub(messages);
    }
}

impl Lanes {
    /// Messages that were not handed out, of the direct and of the bulk lane.
    pub(in crate::channel::machine) fn queued(&self) -> (u64, u64) {
        (self.direct.order.len() as u64, self.queued.0)
    }

    /// Messages that wait for a retry.
    pub(in crate::channel::machine) fn to_be_retried(&self) -> usize {
        self.both().map(|lane| lane.waiting.len() + lane.again.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rand::rngs::SmallRng;
    use rand::{RngExt as _, SeedableRng as _};
    use uuid::Uuid;

    use super::super::tests::{BOUNDS, work, write_marks};
    use super::*;
    use crate::channel::machine::lanes::Lanes;
    use crate::channel::machine::work::Leave;
    use clock::Timestamp;
    use domain::send::{State, TemplateUse};

    fn counted_one_by_one(lanes: &Lanes) -> (u64, u64) {
        let queued =
            |is_direct| lanes.works().filter(|work| work.is_direct() == is_direct).map(Work::queued).sum();
        (queued(true), queued(false))
    }

    #[test]
    fn the_counts_match_the_lanes_after_every_step() {
        let (mut lanes, mut rng) = (Lanes::new(BOUNDS), SmallRng::seed_from_u64(7));
        let (mut most, at) = ((0, 0), (Instant::now(), Timestamp::from_millis(1_000)));
        for id in 1..3_000_u128 {
            let other = Uuid::from_u128(rng.random_range(1..=id));
            match rng.random_range(0..10) {
                0 => lanes.add(work(id, 1)),
                1 => lanes.add(work(id, rng.random_range(2..30))),
                2 => {
                    let mut template = work(id, rng.random_range(2..30));
                    template.template = Some(TemplateUse { id: 1, is_marketing: false });
                    lanes.add(template);
                }
                3 => lanes.forget(&[other]),
                4 => {
                    let over = if rng.random() { Leave::Held } else { Leave::Over(State::Canceled) };
                    lanes.leave(over, at, |work| work.id == other);
                }
                5 => {
                    let passed = lanes.reserve_ahead(false, |number| number.as_u64() % 3 == 0);
                    lanes.send_back(&passed.sends);
                }
                6 => {
                    write_marks(&mut lanes);
                }
                _ => {
                    if let Some(ticket) = lanes.take() {
                        lanes.settle(ticket, true);
                    }
                }
            }
            let queued = lanes.queued();
            assert_eq!(queued, counted_one_by_one(&lanes), "after step {id}");
            most = (most.0.max(queued.0), most.1.max(queued.1));
        }
        assert!(most.0 > 1 && most.1 > 30, "there was little to count: {most:?}");
    }
}
