//! The channel's places among the messages that the whole process may have in flight.
//!
//! Each channel bounds itself; this bounds all of them together, so that a thousand channels with a queue neither
//! use up the machine's connections nor make one commit of a million outcomes. A channel that finds no place stands in
//! line, and is given some when its turn comes: none that stands there is passed over. [`super::dispatch`] asks for one
//! before each message.

use std::sync::Arc;

use super::Machine;
use super::effect::Effect;
use super::moment::Step;
use crate::engine::fair_line::{FairLine, Grant, Share, Turn};
use crate::engine::planted::{Fault, is_planted};

/// Places given to a channel when its turn comes: more would make the others wait longer, fewer would make
/// each message a turn of its own.
const TURN: usize = 16;

/// What is under way.
pub(super) struct Flight {
    /// Requests to the provider whose answers are awaited.
    pub(super) requests: usize,
    /// Messages started whose outcome is not durable yet.
    pub(super) in_flight: usize,
    pub(super) places: Places,
}

impl Flight {
    /// Nothing yet. All channels share `all`, which are `most` when none is taken.
    pub(super) fn new(all: Arc<FairLine>, most: usize) -> Self {
        Self { requests: 0, in_flight: 0, places: Places::new(all, most) }
    }

    /// One more message starts.
    pub(super) const fn started(&mut self) {
        self.requests += 1;
        self.in_flight += 1;
    }

    /// Whether there is a place for one message more.
    pub(super) fn has_place(&mut self) -> bool {
        self.places.take(self.in_flight)
    }

    /// Gives back the places of messages that are done.
    pub(super) fn release(&mut self) {
        self.places.release(self.in_flight);
    }
}

pub(super) struct Places {
    all: Arc<FairLine>,
    /// What it had of them so far.
    share: Share,
    /// How many are given at once: as many as the last turn used, and twice as many after one that used all.
    turn: usize,
    most: usize,
    /// Brought by its turn since its messages were last started.
    offered: usize,
    /// Of messages in flight, and those that were just taken.
    taken: usize,
    /// Of these, those that its turn brought and that were not offered to its messages yet.
    granted: usize,
    /// One more was wanted and none was free.
    wanted: bool,
    /// The channel stands in line.
    waiting: bool,
}

impl Places {
    /// None taken yet of `all`, which are `most` when none is taken.
    pub(super) fn new(all: Arc<FairLine>, most: usize) -> Self {
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

    /// Whether there is a place for one message more than are in flight.
    pub(super) fn take(&mut self, in_flight: usize) -> bool {
        if self.taken > in_flight {
            return true;
        }
        let is_free = self.all.take(&mut self.share);
        self.taken += usize::from(is_free);
        self.wanted |= !is_free;
        is_free
    }

    /// Gives back the places of messages that are done: the channels in line have them next, and not the channel
    /// that happens to have more to send.
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

    /// Gives back what is not in use, which does not count as had: a channel that its rate holds keeps its place
    /// among those that use all they get. Whether it is to stand in line now.
    pub(super) fn settle(&mut self, in_flight: usize) -> bool {
        let unused = self.taken.saturating_sub(in_flight);
        match std::mem::take(&mut self.offered) {
            0 => {}
            offered if unused == 0 => self.turn = (2 * offered).min(self.most),
            offered => self.turn = offered.saturating_sub(unused).max(1),
        }
        // What is given back unused is not held against it in the line.
        self.share.refund(unused);
        self.give_back(unused);
        let stands = self.wanted && !self.waiting;
        self.waiting |= stands;
        self.wanted = false;
        stands
    }

    /// Stands in line.
    fn turn(&mut self) -> Turn {
        self.all.stand(&mut self.share, self.turn)
    }

    /// Its turn came.
    fn granted(&mut self, grant: Grant) {
        let places = grant.take();
        self.waiting = false;
        self.taken += places;
        self.granted += places;
        self.offered += places;
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.all.give_back(self.taken);
    }
}

impl Machine {
    /// Gives back places that are not in use; stands in line when none was free.
    pub(super) fn settle_places(&mut self, step: &mut Step<'_>) {
        let Flight { places, in_flight, .. } = &mut self.flight;
        if places.settle(*in_flight) {
            step.push(Effect::AwaitPermits(places.turn()));
        }
    }

    /// The channel's turn came, unless the line is gone: it is there as long as a channel stands in it.
    pub(super) fn permits_granted(&mut self, grant: Option<Grant>, step: &mut Step<'_>) {
        if let Some(grant) = grant {
            self.flight.places.granted(grant);
        }
        self.pump(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_once_and_given_back_when_it_is_not_used() {
        let all = FairLine::new(2);
        let mut places = Places::new(Arc::clone(&all), 2);
        assert!(places.take(0) && places.take(0));
        assert_eq!(all.free(), 1, "the second time it was there already");
        assert!(places.take(1));
        assert!(!places.take(2), "there are two");
        assert!(places.settle(1), "it has to wait for another");
        assert_eq!(all.free(), 1);
        drop(places);
        assert_eq!(all.free(), 2, "what ends gives back what it had");
    }

    #[test]
    fn places_that_a_turn_leaves_unused_are_not_held_against_the_channel() {
        let all = FairLine::new(TURN);
        let places = || Places::new(Arc::clone(&all), TURN);
        let (mut slow, mut fast) = (places(), places());
        let (mut turns, mut started) = ([slow.turn(), fast.turn()], [0, 0]);
        for _ in 0..2_000 {
            // The pace of the slow one lets one message go at a time.
            for (which, (places, most)) in [(&mut slow, 1), (&mut fast, TURN)].into_iter().enumerate() {
                let Some(grant) = turns[which].try_take() else { continue };
                places.granted(grant);
                places.release(0);
                let in_flight = (0..most).take_while(|in_flight| places.take(*in_flight)).count();
                started[which] += in_flight;
                places.settle(in_flight);
                turns[which] = places.turn();
                // All that it started is done at once.
                places.release(0);
            }
        }
        let [slow, fast] = started;
        assert!(slow * 10 >= fast * 9 && fast * 10 >= slow * 9, "{started:?}");
    }

    /// A channel that has always more to start.
    struct Channel {
        places: Places,
        in_flight: usize,
        started: usize,
    }

    impl Channel {
        /// Starts what it can. Whether it stands in line then.
        fn pump(&mut self) -> bool {
            self.places.release(self.in_flight);
            while self.places.take(self.in_flight) {
                self.in_flight += 1;
                self.started += 1;
            }
            self.places.settle(self.in_flight)
        }
    }

    #[test]
    fn channels_take_turns_once_all_places_are_taken() {
        const PLACES: usize = 3 * TURN;
        let all = FairLine::new(PLACES);
        let channel = || Channel { places: Places::new(Arc::clone(&all), PLACES), in_flight: 0, started: 0 };
        let mut channels: Vec<_> = (0..5).map(|_| channel()).collect();
        let mut turns: Vec<_> = (0..5).map(|_| None).collect();
        for round in 0..1_000 {
            for (index, (channel, turn)) in channels.iter_mut().zip(&mut turns).enumerate() {
                // The last two look only now and then whether their turn came.
                if index >= 3 && round % 2 == 0 {
                    continue;
                }
                if let Some(grant) = turn.as_mut().and_then(|turn: &mut Turn| turn.try_take()) {
                    channel.places.granted(grant);
                }
                // Half of what is in flight is done.
                channel.in_flight /= 2;
                if channel.pump() {
                    *turn = Some(channel.places.turn());
                }
            }
        }
        let shares: Vec<_> = channels.iter().map(|channel| channel.started).collect();
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        assert!(*least as f64 >= 0.9 * *most as f64, "{shares:?}");
    }
}
