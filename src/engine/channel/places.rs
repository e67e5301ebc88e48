//! The channel's places among the messages that the whole process may have in flight.
//!
//! Each channel bounds itself; this bounds all of them together, so that a thousand channels with a queue neither
//! use up the machine's connections nor make one commit of a million outcomes. Whoever finds no place stands in
//! line, and is given some when its turn comes: none that stands there is passed over. [`super::dispatch`] asks for one
//! before each message.

use std::sync::Arc;

use actix::prelude::*;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ChannelActor;

/// Places given to a channel when its turn comes: more would make the others wait longer, fewer would make
/// each message a turn of its own.
const TURN: u32 = 16;

/// See the module.
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// How many are given at once.
    turn: u32,
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
    pub(super) fn new(all: Arc<Semaphore>, most: usize) -> Self {
        let turn = u32::try_from(most).map_or(TURN, |most| most.min(TURN));
        Self { all, turn, taken: 0, granted: 0, wanted: false, waiting: false }
    }

    /// Whether there is a place for one message more than are in flight.
    pub(super) fn take(&mut self, in_flight: usize) -> bool {
        if self.taken > in_flight {
            return true;
        }
        // Whoever stands in line is served first: then none is free here.
        match self.all.try_acquire() {
            Ok(place) => {
                place.forget();
                self.taken += 1;
                true
            }
            Err(_) => {
                self.wanted = true;
                false
            }
        }
    }

    /// Gives back the places of messages that are done: whoever stands in line has them next, and not the channel
    /// that happens to have more to send.
    pub(super) fn release(&mut self, in_flight: usize) {
        self.give_back(self.taken.saturating_sub(in_flight + self.granted));
        self.granted = 0;
    }

    fn give_back(&mut self, unused: usize) {
        if unused > 0 {
            self.taken -= unused;
            self.all.add_permits(unused);
        }
    }

    /// Gives back what is not in use. Whether it is to stand in line now.
    pub(super) fn settle(&mut self, in_flight: usize) -> bool {
        self.give_back(self.taken.saturating_sub(in_flight));
        let stands = self.wanted && !self.waiting;
        self.waiting |= stands;
        self.wanted = false;
        stands
    }

    /// Stands in line.
    fn turn(&self) -> impl Future<Output = Option<OwnedSemaphorePermit>> + use<> {
        let (all, turn) = (Arc::clone(&self.all), self.turn);
        async move { all.acquire_many_owned(turn).await.ok() }
    }

    /// Its turn came.
    fn granted(&mut self, places: Option<OwnedSemaphorePermit>) {
        self.waiting = false;
        if let Some(places) = places {
            self.taken += places.num_permits();
            self.granted += places.num_permits();
            places.forget();
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.all.add_permits(self.taken);
    }
}

impl ChannelActor {
    /// Gives back places that are not in use; stands in line when one was wanted in vain.
    pub(super) fn settle_places(&mut self, ctx: &mut Context<Self>) {
        if !self.places.settle(self.in_flight) {
            return;
        }
        self.places
            .turn()
            .into_actor(self)
            .map(|places, actor, ctx| {
                actor.places.granted(places);
                actor.pump(ctx);
            })
            .spawn(ctx);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn all(places: usize) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(places))
    }

    #[test]
    fn a_place_is_taken_once_and_given_back_when_it_is_not_used() {
        let all = all(2);
        let mut places = Places::new(Arc::clone(&all), 2);
        assert!(places.take(0) && places.take(0));
        assert_eq!(all.available_permits(), 1, "the second time it was there already");
        assert!(places.take(1));
        assert!(!places.take(2), "there are two");
        assert!(places.settle(1), "it has to wait for another");
        assert_eq!(all.available_permits(), 1);
        drop(places);
        assert_eq!(all.available_permits(), 2, "what ends gives back what it had");
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
        const PLACES: usize = 3 * TURN as usize;
        let all = all(PLACES);
        let channel = || Channel { places: Places::new(Arc::clone(&all), PLACES), in_flight: 0, started: 0 };
        let mut channels: Vec<_> = (0..5).map(|_| channel()).collect();
        let mut task = Context::from_waker(Waker::noop());
        let mut line = VecDeque::new();
        let mut stand = |index: usize, channel: &Channel, line: &mut VecDeque<(usize, Pin<Box<_>>)>| {
            let mut turn = Box::pin(channel.places.turn());
            assert!(turn.as_mut().poll(&mut task).is_pending(), "none is free");
            line.push_back((index, turn));
        };
        for _ in 0..1_000 {
            for (index, channel) in channels.iter_mut().enumerate() {
                if channel.pump() {
                    stand(index, channel, &mut line);
                }
            }
            // Some of what is in flight is done, of one channel after the other: each has more to send at once.
            for channel in &mut channels {
                channel.in_flight -= channel.in_flight.div_ceil(2);
                assert!(!channel.pump(), "it stands in line already");
            }
            while let Some((index, mut turn)) = line.pop_front() {
                let Poll::Ready(granted) = turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                    line.push_front((index, turn));
                    break;
                };
                channels[index].places.granted(granted);
                if channels[index].pump() {
                    stand(index, &channels[index], &mut line);
                }
            }
        }
        let shares: Vec<_> = channels.iter().map(|channel| channel.started).collect();
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        assert!(*least as f64 >= 0.9 * *most as f64, "{shares:?}");
    }
}
