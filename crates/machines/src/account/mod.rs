//! The machine of a business account: decides what its channels share, in one place.
//!
//! ```text
//! handle(&mut self, input: Input, at: Moment, effects: &mut Effects)
//! ```
//!
//! Each component owns its state: [`listings`] decides when the account's templates are listed and through which
//! channel, [`questions`] which channel probes its number next, [`throttle`] how long the provider accepts no messages,
//! and [`quota`] to whom the channels may send templates. There is one timer. Channels bring most inputs, and some are
//! answered at once; where the account and the channel are in different processes, both can be messages.

mod effect;
mod input;
mod listings;
mod questions;
mod quota;
mod schedule;
#[cfg(test)]
mod tests;
mod throttle;
mod updates;
mod window;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub use self::effect::{AccountUpdate, Answer, Effect, Effects, Granted, Published};
pub use self::input::{Ask, Input, Unread};
use self::listings::Listings;
use self::questions::Questions;
use self::quota::Slots;
pub use self::throttle::{Pause, Throttle};
pub use self::window::{Reserved, Window};
use crate::Moment;
use clock::Timestamp;

/// A business account of which some channels are in use.
pub struct Machine {
    /// Channels that use the account.
    channels: usize,
    listings: Listings,
    questions: Questions,
    throttle: Throttle,
    /// `None` while people are not counted: most accounts have no quota.
    slots: Option<Box<Slots>>,
    /// The last published state.
    published: Published,
    /// The last requested time to wake the machine.
    wakes_at: Option<Instant>,
}

impl Machine {
    /// An account without channels yet. Its templates are listed once in each `interval`; when that is zero, only on
    /// request.
    pub fn new(interval: Duration) -> Self {
        Self {
            channels: 0,
            listings: Listings::new(interval),
            questions: Questions::default(),
            throttle: Throttle::default(),
            slots: None,
            published: Published::default(),
            wakes_at: None,
        }
    }

    /// Handles one input, and adds its effects to `effects`.
    pub fn handle(&mut self, input: Input, at: Moment, effects: &mut Effects) {
        self.take_up(input, at, effects);
        self.listings.begin(at.monotonic, |company, through| {
            effects.push(Effect::ListTemplates { company, through });
        });
        while let Some(channel) = self.questions.next(at.monotonic) {
            effects.push(Effect::Tell { channel, update: AccountUpdate::MayAsk });
        }
        if let Some(slots) = &mut self.slots {
            slots.go_on(at, effects);
        }
        self.publish(effects);
        self.set_timer(at.monotonic, effects);
        if !self.is_used(at.monotonic) {
            effects.push(Effect::End);
        }
    }

    fn take_up(&mut self, input: Input, at: Moment, effects: &mut Effects) {
        let now = at.monotonic;
        match input {
            Input::Timer => self.wakes_at = None,
            Input::Joined => self.channels += 1,
            Input::Left { channel } => {
                self.channels = self.channels.saturating_sub(1);
                self.listings.leave(channel);
                self.questions.end(channel);
                if self.channels == 0 {
                    // The channels may run on another node next, and write to people there.
                    self.slots = None;
                } else if let Some(slots) = &mut self.slots {
                    slots.leave(channel, at.wall);
                }
            }
            Input::Followed { company, channel, is_connected } => {
                self.listings.follow(company, channel, is_connected, now);
            }
            Input::TemplatesWanted { company, after } => self.listings.want(company, after, now),
            Input::TemplatesListed { company, is_success } => self.listings.end(company, is_success, now),
            Input::QuestionWanted { channel } => {
                let may_ask = self.questions.want(channel, now);
                effects.push(Effect::Answer(Answer::MayAsk(may_ask)));
            }
            Input::QuestionEnded { channel } => self.questions.end(channel),
            Input::Refused { hint } => {
                let until = self.throttle.refused(hint, now);
                effects.push(Effect::Answer(Answer::Until(until)));
            }
            Input::Accepted => self.throttle.accepted(now),
            Input::PeopleWanted { channel } => {
                let is_known = self.slots().learn(channel, at, effects);
                effects.push(Effect::Answer(Answer::IsKnown(is_known)));
            }
            Input::PeopleFound(people) => self.slots().found(people),
            Input::PeopleRead { span, result } => self.slots().was_read(span, result, now, effects),
            Input::Asked(ask) => self.slots().ask(ask, at, effects),
            Input::Counted { recipient } => {
                let counted = self.slots().count(recipient, at.wall);
                effects.push(Effect::Answer(Answer::Counted(counted)));
            }
            Input::Released { recipient, at } => self.slots().release(recipient, at),
            Input::ClockWentBack => self.slots().clock_went_back(at.wall),
        }
    }

    fn slots(&mut self) -> &mut Slots {
        self.slots.get_or_insert_default()
    }

    fn publish(&mut self, effects: &mut Effects) {
        let published = Published {
            is_throttled: self.throttle.is_known(),
            is_counting: self.slots.as_ref().is_some_and(|slots| slots.is_counting()),
            voids: self.slots.as_ref().map_or(0, |slots| slots.voids()),
        };
        if published != self.published {
            self.published = published;
            effects.push(Effect::Publish(published));
        }
    }

    /// The only place that computes when the machine has to be woken.
    fn set_timer(&mut self, now: Instant, effects: &mut Effects) {
        // An unused account is kept while it is throttled.
        let throttled = self.throttle.until(now).filter(|_| self.channels == 0);
        let reading = self.slots.as_ref().and_then(|slots| slots.next_at());
        let next = [self.listings.next_at(), self.questions.next_at(), reading, throttled];
        let next = next.into_iter().flatten().min();
        if next != self.wakes_at {
            self.wakes_at = next;
            if let Some(next) = next {
                effects.push(Effect::WakeAt(next));
            }
        }
    }

    /// Whether a channel uses the account, or its state is still needed.
    pub fn is_used(&self, now: Instant) -> bool {
        self.channels > 0 || self.listings.is_busy() || self.throttle.until(now).is_some()
    }

    /// Until when the provider accepts no messages of the account.
    pub fn throttled_until(&self, now: Instant) -> Option<Instant> {
        self.throttle.until(now)
    }

    /// The people who were written to.
    pub fn window(&self) -> &Window {
        static NOBODY: LazyLock<Window> = LazyLock::new(Window::default);
        self.slots.as_ref().map_or(&NOBODY, |slots| slots.window())
    }

    /// The slots of the quota that are taken, by people who were written to and by granted people.
    pub fn used(&self, wall: Timestamp) -> u64 {
        self.slots.as_ref().map_or(0, |slots| slots.used(wall))
    }
}
