//! Web pacing: a web session sends at the pace of a person, not of a machine.
//!
//! A random time is added to the limiter's distance between two messages. A cap, lower in a session's first days,
//! bounds the messages of a day. A budget bounds those to strangers: people who never wrote to the session and were
//! never written to. The caller passes the time in. The counts are read from the store when the channel starts, so that
//! a restart does not reset them.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::handover::{Admitted, QueueSlots, Slot, Window};
use clock::Timestamp;
use domain::limit::{self, Spent};
use domain::outlook::Reason;
use domain::phone::PhoneNumber;
use domain::tier::{self, QUOTA_SPAN, Quota, Tier};

/// The shortest wait that a refused caller is told.
pub(super) const LEAST_WAIT: Duration = Duration::from_secs(1);

pub(super) struct WebPacing {
    /// When the phone was linked.
    linked_at: Option<Timestamp>,
    /// Messages of the last 24 hours, by their sends.
    attempts: Window<Uuid>,
    /// Strangers of the last 24 hours: people who had neither written to the session nor been written to.
    strangers: Window<PhoneNumber>,
    /// No message starts before this, because of the random time.
    rest_until: Option<Instant>,
    /// The limiter lets no message start before this.
    paced_until: Instant,
    /// WhatsApp refuses messages to strangers until then.
    restricted_until: Option<Timestamp>,
    queued: QueueSlots,
}

/// Why a message is not admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TooSoon {
    /// When to retry.
    pub(crate) retry_after: Duration,
    /// The reason, as a sentence for people.
    pub(crate) sentence: String,
    /// Which allowance is used up.
    pub(crate) spent: Spent,
}

/// A request for admission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asker {
    /// The recipient, if it never wrote to the session and was never written to.
    pub(super) stranger: Option<PhoneNumber>,
    /// How long the caller may wait.
    pub(super) patience: Duration,
}

impl WebPacing {
    /// The pacing of a session that was linked at `linked_at`, with its activity of the last 24 hours in the order of
    /// time. Its limiter begins with an empty bucket.
    pub(super) fn new(
        linked_at: Option<Timestamp>,
        attempts: Vec<(Timestamp, Uuid)>,
        strangers: Vec<(Timestamp, PhoneNumber)>,
        tier: &Tier,
        now: Instant,
    ) -> Self {
        Self {
            linked_at,
            attempts: Window::new(attempts),
            strangers: Window::new(strangers),
            rest_until: None,
            paced_until: now + interval(tier),
            restricted_until: None,
            queued: QueueSlots::default(),
        }
    }

    /// Takes over when the phone was linked. A restriction of another phone's account ends with that.
    pub(super) fn linked(&mut self, at: Option<Timestamp>) {
        if self.linked_at != at {
            self.linked_at = at;
            self.restricted_until = None;
        }
    }

    /// Admits a message that will go within the caller's patience.
    ///
    /// # Errors
    ///
    /// [`TooSoon`].
    pub(super) fn admit(
        &self,
        asker: Asker,
        tier: &Tier,
        now: Instant,
        wall: Timestamp,
    ) -> Result<Admitted, TooSoon> {
        self.restricts(asker.stranger.is_some(), wall)?;
        let queued = self.queued.taken();
        let cap = self.cap(tier, wall);
        if let Some(until) = self.attempts.full_until(cap, queued, wall) {
            let sentence = format!(
                "the channel has sent the {cap} messages that it may send in 24 hours (options daily_cap and warm_up)"
            );
            return Err(TooSoon::until(until, wall, sentence, in_a_day(limit::Name::DailyCap, cap)));
        }
        if let Some(stranger) = asker.stranger
            && !self.strangers.counts(stranger, wall)
            && let Some(until) = self.strangers.full_until(tier.cold_contacts, 0, wall)
        {
            let sentence = format!(
                "the channel has written to the {} people who never wrote to it that it may write to in 24 hours \
                 (option cold_contacts); people it knows can be written to",
                tier.cold_contacts
            );
            let spent = in_a_day(limit::Name::ColdContacts, tier.cold_contacts);
            return Err(TooSoon::until(until, wall, sentence, spent));
        }
        let paced = self.paced_until.saturating_duration_since(now);
        let begins = self.rest(now).max(paced)
            + mean_distance(tier).saturating_mul(u32::try_from(queued).unwrap_or(u32::MAX));
        if let Some(wait) = begins.checked_sub(asker.patience).filter(|wait| !wait.is_zero()) {
            let before = match queued {
                0 => "this message cannot go yet".to_owned(),
                1 => "1 message goes before this one".to_owned(),
                queued => format!("{queued} messages go before this one"),
            };
            let sentence = format!(
                "{before} at the channel's pace (options messages_per_second and jitter), and its turn comes \
                 later than a caller may wait (option web_session.patience)"
            );
            return Err(TooSoon { retry_after: wait.max(LEAST_WAIT), sentence, spent: at_the_pace(tier) });
        }
        let stranger = asker.stranger.map(|number| self.strangers.take(number));
        Ok(Admitted { queued: self.queued.take(), stranger, wait: begins })
    }

    /// What a message from the store reserves that was admitted by an earlier process and keeps its turn, whatever the limits
    /// say.
    pub(super) fn keep(&self, stranger: Option<PhoneNumber>) -> Admitted {
        let stranger = stranger.map(|number| self.strangers.take(number));
        Admitted { queued: self.queued.take(), stranger, wait: Duration::ZERO }
    }

    /// Refuses strangers while the account is restricted to people who wrote to it.
    ///
    /// # Errors
    ///
    /// [`TooSoon`].
    pub(super) fn restricts(&self, is_stranger: bool, wall: Timestamp) -> Result<(), TooSoon> {
        let Some(until) = self.restricted_until.filter(|until| is_stranger && *until > wall) else {
            return Ok(());
        };
        let sentence =
            "WhatsApp restricted the account to people who wrote to it before: strangers may be written to \
                        again after the seconds of Retry-After"
                .to_owned();
        let spent = Spent { name: limit::Name::ColdContacts, allows: 0, window: until.from_now(wall) };
        Err(TooSoon::until(until, wall, sentence, spent))
    }

    /// Why no message may start, and until when.
    pub(super) fn holds(&self, tier: &Tier, now: Instant, wall: Timestamp) -> Option<(Reason, Instant)> {
        if let Some(until) = self.attempts.full_until(self.cap(tier, wall), 0, wall) {
            return Some((Reason::DailyCap, now + until.from_now(wall)));
        }
        let rest = self.rest(now);
        (!rest.is_zero()).then(|| (Reason::Rate, now + rest))
    }

    /// The message of this send starts; `chance` is from 0 to 1. The message counts while its slot exists, and for a
    /// day if the slot is kept.
    pub(super) fn started(&mut self, send_id: Uuid, tier: &Tier, now: Instant, chance: f64) -> Slot<Uuid> {
        self.paced_until = self.paced_until.max(now) + interval(tier);
        if !tier.jitter.is_zero() {
            self.rest_until = Some(now + interval(tier) + tier.jitter.mul_f64(chance.clamp(0.0, 1.0)));
        }
        self.attempts.take(send_id)
    }

    /// WhatsApp refuses messages to strangers, presumably until `until`.
    pub(super) fn restrict(&mut self, until: Timestamp) {
        self.restricted_until = self.restricted_until.max(Some(until));
    }

    /// Today's cap, how many messages are left of it, and when the next one may go if none is.
    pub(super) fn day(&self, tier: &Tier, wall: Timestamp) -> (Quota, Option<u64>, Option<Timestamp>) {
        let cap = self.cap(tier, wall);
        let next = self.attempts.full_until(cap, 0, wall);
        (cap, self.attempts.left(cap, wall), next)
    }

    /// How many more strangers may be written to, and when the next one if none may.
    pub(super) fn strangers(&self, tier: &Tier, wall: Timestamp) -> (Option<u64>, Option<Timestamp>) {
        let next = self.strangers.full_until(tier.cold_contacts, 0, wall);
        (self.strangers.left(tier.cold_contacts, wall), next)
    }

    /// The day of the session, counted from 0.
    pub(super) fn age_in_days(&self, wall: Timestamp) -> u32 {
        self.linked_at.map_or(0, |linked| tier::day(linked, wall))
    }

    /// The most messages of this day.
    pub(super) fn cap(&self, tier: &Tier, wall: Timestamp) -> Quota {
        tier.daily_cap_on(self.age_in_days(wall))
    }

    fn rest(&self, now: Instant) -> Duration {
        self.rest_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }
}

impl TooSoon {
    pub(super) fn until(until: Timestamp, wall: Timestamp, sentence: String, spent: Spent) -> Self {
        Self { retry_after: until.from_now(wall).max(LEAST_WAIT), sentence, spent }
    }
}

/// The quota of a day, used up.
pub(super) const fn in_a_day(name: limit::Name, quota: Quota) -> Spent {
    let allows = match quota {
        Quota::AtMost(most) => most,
        // It is never used up.
        Quota::Unlimited => u32::MAX,
    };
    Spent { name, allows, window: QUOTA_SPAN }
}

/// The pace, used up. Where only the random time separates messages, one message may go in the mean distance.
pub(super) fn at_the_pace(tier: &Tier) -> Spent {
    let (allows, window) = tier.messages_per_second.allowance().unwrap_or((1, mean_distance(tier)));
    Spent { name: limit::Name::MessagesPerSecond, allows, window }
}

/// The time between two messages, without the random time.
pub(super) fn interval(tier: &Tier) -> Duration {
    Duration::try_from_secs_f64(1.0 / tier.messages_per_second.per_second()).unwrap_or(Duration::ZERO)
}

/// The mean time between two messages.
fn mean_distance(tier: &Tier) -> Duration {
    interval(tier) + tier.jitter / 2
}

#[cfg(test)]
mod tests;
