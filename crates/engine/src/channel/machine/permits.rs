//! The channel's permits among the messages that the whole process may have in flight.
//!
//! Each channel bounds itself; permits bound all channels together, so that a thousand channels with messages to send
//! neither use up the machine's connections nor make one commit of a million outcomes. A channel that finds no free
//! permit waits in the [fair queue](crate::fair_queue) and is granted some when its turn comes.
//! [`super::dispatch`] asks for one before each message.

use std::sync::Arc;

use super::Machine;
use super::effect::Effect;
use super::moment::Step;
use crate::fair_queue::{FairQueue, Grant, Share, Turn};
use crate::planted::{Fault, is_planted};

/// The most permits that a channel is granted in one turn: more would make the others wait longer, fewer would make
/// each message a turn of its own.
const TURN: usize = 16;

/// The channel's messages under way.
pub(super) struct Flight {
    /// Requests to the provider whose answers are awaited.
    pub(super) requests: usize,
    /// Messages started whose outcome is not durable yet.
    pub(super) in_flight: usize,
    pub(super) permits: Permits,
}

impl Flight {
    /// No messages under way yet. All channels share the permits of `all`, which has `most` of them.
    pub(super) fn new(all: Arc<FairQueue>, most: usize) -> Self {
        Self { requests: 0, in_flight: 0, permits: Permits::new(all, most) }
    }

    /// One more message starts.
    pub(super) const fn started(&mut self) {
        self.requests += 1;
        self.in_flight += 1;
    }

    /// Whether the channel has a permit for one more message.
    pub(super) fn has_permit(&mut self) -> bool {
        self.permits.take(self.in_flight)
    }

    /// Gives back the permits of messages that are done.
    pub(super) fn release(&mut self) {
        self.permits.release(self.in_flight);
    }
}

pub(super) struct Permits {
    all: Arc<FairQueue>,
    /// The channel's share of the permits granted so far.
    share: Share,
    /// How many permits a turn asks for: as many as the last turn used, and twice as many after a turn that used all.
    turn: usize,
    most: usize,
    /// Granted since messages were last started.
    offered: usize,
    /// Held: those of messages in flight, and those that were just taken.
    taken: usize,
    /// Of these, those of the last turn that were not offered to messages yet.
    granted: usize,
    /// A message found no free permit.
    wanted: bool,
    /// The channel waits in the queue.
    waiting: bool,
}

impl Permits {
    /// No permits taken yet from `all`, which has `most` permits.
    pub(super) fn new(all: Arc<FairQueue>, most: usize) -> Self {
        let turn = most.min(TURN);
        Self {
            all,
            share: Share::default(),
            turn,
            most: turn,
            offered: 0,
            taken: 0,
            granted: 0,
            wanted: false,
            waiting: false,
        }
    }

    /// Whether the channel has a permit for one message more than are in flight; takes a free one if not.
    pub(super) fn take(&mut self, in_flight: usize) -> bool {
        if self.taken > in_flight {
            return true;
        }
        let is_free = self.all.take(&mut self.share);
        self.taken += usize::from(is_free);
        self.wanted |= !is_free;
        is_free
    }

    /// Gives back the permits of messages that are done. They go to the channels in the queue, and not to this channel,
    /// even if it has more to send.
    pub(super) fn release(&mut self, in_flight: usize) {
        self.give_back(self.taken.saturating_sub(in_flight + self.granted));
        self.granted = 0;
    }

    fn give_back(&mut self, unused: usize) {
        if unused > 0 {
            self.taken -= unused;
            if !is_planted(Fault::PermitLeaked) {
                self.all.give_back(unused);
            }
        }
    }

    /// Gives back the permits that are not in use. They do not count for the channel's share, so that a channel that
    /// its rate holds back does not fall behind channels that use all they get. Returns whether the channel has to
    /// queue now.
    pub(super) fn settle(&mut self, in_flight: usize) -> bool {
        let unused = self.taken.saturating_sub(in_flight);
        match std::mem::take(&mut self.offered) {
            0 => {}
            offered if unused == 0 => self.turn = (2 * offered).min(self.most),
            offered => self.turn = offered.saturating_sub(unused).max(1),
        }
        self.share.refund(unused);
        self.give_back(unused);
        let queues = self.wanted && !self.waiting;
        self.waiting |= queues;
        self.wanted = false;
        queues
    }

    /// Queues for permits.
    fn turn(&mut self) -> Turn {
        self.all.enqueue(&mut self.share, self.turn)
    }

    /// The channel's turn came.
    fn granted(&mut self, grant: Grant) {
        let permits = grant.take();
        self.waiting = false;
        self.taken += permits;
        self.granted += permits;
        self.offered += permits;
    }
}

impl Drop for Permits {
    fn drop(&mut self) {
        self.all.give_back(self.taken);
    }
}

impl Machine {
    /// Gives back permits that are not in use, and queues when a message found no free one.
    pub(super) fn settle_permits(&mut self, step: &mut Step<'_>) {
        let Flight { permits, in_flight, .. } = &mut self.flight;
        if permits.settle(*in_flight) {
            step.push(Effect::AwaitPermits(permits.turn()));
        }
    }

    /// The channel's turn came. Without a grant the queue is gone, which does not happen while a channel waits in it.
    pub(super) fn permits_granted(&mut self, grant: Option<Grant>, step: &mut Step<'_>) {
        if let Some(grant) = grant {
            self.flight.permits.granted(grant);
        }
        self.pump(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_is_taken_once_and_given_back_when_it_is_not_used() {
        let all = FairQueue::new(2);
        let mut permits = Permits::new(Arc::clone(&all), 2);
        assert!(permits.take(0) && permits.take(0));
        assert_eq!(all.free(), 1, "the second call takes the same permit");
        assert!(permits.take(1));
        assert!(!permits.take(2), "there are only two");
        assert!(permits.settle(1), "the channel has to queue for another one");
        assert_eq!(all.free(), 1);
        drop(permits);
        assert_eq!(all.free(), 2, "a channel that ends gives back its permits");
    }

    #[test]
    fn permits_that_a_turn_leaves_unused_are_not_held_against_the_channel() {
        let all = FairQueue::new(TURN);
        let permits = || Permits::new(Arc::clone(&all), TURN);
        let (mut slow, mut fast) = (permits(), permits());
        let (mut turns, mut started) = ([slow.turn(), fast.turn()], [0, 0]);
        for _ in 0..2_000 {
            // The pace of the slow one lets one message go at a time.
            for (which, (permits, most)) in [(&mut slow, 1), (&mut fast, TURN)].into_iter().enumerate() {
                let Some(grant) = turns[which].try_take() else { continue };
                permits.granted(grant);
                permits.release(0);
                let in_flight = (0..most).take_while(|in_flight| permits.take(*in_flight)).count();
                started[which] += in_flight;
                permits.settle(in_flight);
                turns[which] = permits.turn();
                // All messages that it started are done at once.
                permits.release(0);
            }
        }
        let [slow, fast] = started;
        assert!(slow * 10 >= fast * 9 && fast * 10 >= slow * 9, "{started:?}");
    }

    /// A channel that always has more to start.
    struct Channel {
        permits: Permits,
        in_flight: usize,
        started: usize,
    }

    impl Channel {
        /// Starts as many messages as it can. Returns whether it has to queue.
        fn pump(&mut self) -> bool {
            self.permits.release(self.in_flight);
            while self.permits.take(self.in_flight) {
                self.in_flight += 1;
                self.started += 1;
            }
            self.permits.settle(self.in_flight)
        }
    }

    #[test]
    fn channels_take_turns_once_all_permits_are_taken() {
        const PERMITS: usize = 3 * TURN;
        let all = FairQueue::new(PERMITS);
        let channel =
            || Channel { permits: Permits::new(Arc::clone(&all), PERMITS), in_flight: 0, started: 0 };
        let mut channels: Vec<_> = (0..5).map(|_| channel()).collect();
        let mut turns: Vec<_> = (0..5).map(|_| None).collect();
        for round in 0..1_000 {
            for (index, (channel, turn)) in channels.iter_mut().zip(&mut turns).enumerate() {
                // The last two channels check for their turn only every other round.
                if index >= 3 && round % 2 == 0 {
                    continue;
                }
                if let Some(grant) = turn.as_mut().and_then(|turn: &mut Turn| turn.try_take()) {
                    channel.permits.granted(grant);
                }
                // Half of the messages in flight are done.
                channel.in_flight /= 2;
                if channel.pump() {
                    *turn = Some(channel.permits.turn());
                }
            }
        }
        let shares: Vec<_> = channels.iter().map(|channel| channel.started).collect();
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        assert!(*least as f64 >= 0.9 * *most as f64, "{shares:?}");
    }
}
