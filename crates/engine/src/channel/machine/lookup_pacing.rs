//! Lookups that a client asks for: whether numbers are on WhatsApp.
//!
//! A program that asks about many numbers gets its account restricted, so lookups keep the bounds of messages, each with
//! a count and a clock of its own: they delay no message. There are as many in a day as the session may send messages,
//! and as many about strangers as it may write to; between two of them is the distance of two messages.

use std::time::{Duration, Instant};

use super::input::AdmitLookup;
use super::web_pacing::{LEAST_WAIT, TooSoon, at_the_pace, in_a_day, interval};
use crate::handover::{Slot, Window};
use clock::Timestamp;
use domain::limit;
use domain::phone::PhoneNumber;
use domain::tier::{Quota, Tier};

/// The least time between two lookups, whatever the tier says.
const LEAST_DISTANCE: Duration = Duration::from_millis(200);

/// A lookup that is admitted.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// How long until its turn.
    pub(crate) wait: Duration,
    /// Kept when WhatsApp is asked, given back on drop.
    pub(crate) slot: Slot<PhoneNumber>,
}

pub(super) struct LookupPacing {
    /// The numbers of the last 24 hours.
    asked: Window<PhoneNumber>,
    /// No lookup is made before this.
    next: Option<Instant>,
}

impl LookupPacing {
    /// The pacing of a session that asked about these numbers in the last 24 hours, in the order of time.
    pub(super) fn new(asked: Vec<(Timestamp, PhoneNumber)>) -> Self {
        Self { asked: Window::new(asked), next: None }
    }

    /// Admits a lookup whose turn comes within the caller's patience. `cap` bounds the messages of the day; `chance` is
    /// from 0 to 1.
    ///
    /// # Errors
    ///
    /// [`TooSoon`].
    pub(super) fn admit(
        &mut self,
        lookup: AdmitLookup,
        (tier, cap): (&Tier, Quota),
        (now, wall): (Instant, Timestamp),
        chance: f64,
    ) -> Result<Lookup, TooSoon> {
        let AdmitLookup { number, is_stranger, patience } = lookup;
        let of_strangers = if is_stranger { tier.cold_contacts } else { Quota::Unlimited };
        let quotas = [
            (limit::Name::DailyCap, cap, "daily_cap and warm_up"),
            (limit::Name::ColdContacts, of_strangers, "cold_contacts"),
        ];
        for (name, quota, options) in quotas.into_iter().filter(|_| !self.asked.counts(number, wall)) {
            if let Some(until) = self.asked.full_until(quota, 0, wall) {
                let sentence = format!(
                    "the channel asked about {quota} numbers in 24 hours, and may ask about no more (options {options})"
                );
                return Err(TooSoon::until(until, wall, sentence, in_a_day(name, quota)));
            }
        }
        let wait = self.next.map_or(Duration::ZERO, |next| next.saturating_duration_since(now));
        if wait > patience {
            let sentence = "the channel asks about numbers at its pace (options messages_per_second and jitter), and the \
                            next turn comes later than a caller may wait (option web_session.patience)"
                .to_owned();
            let spent = at_the_pace(tier);
            return Err(TooSoon { retry_after: wait.max(LEAST_WAIT), sentence, spent });
        }
        let distance = interval(tier) + tier.jitter.mul_f64(chance.clamp(0.0, 1.0));
        self.next = Some(now + wait + distance.max(LEAST_DISTANCE));
        Ok(Lookup { wait, slot: self.asked.take(number) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tier::QUOTA_SPAN;

    const WALL: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn number(last: u64) -> PhoneNumber {
        PhoneNumber::from_u64(5_511_900_000_000 + last).unwrap()
    }

    /// A tier for 6 messages a minute, and 3 strangers a day.
    fn tier() -> Tier {
        let built_in = domain::tier::parse(domain::tier::BUILT_IN).unwrap();
        let new = built_in.into_iter().find(|tier| tier.name == "web-new").unwrap();
        Tier { cold_contacts: Quota::AtMost(3), jitter: Duration::ZERO, ..new }
    }

    fn ask(
        pacing: &mut LookupPacing,
        tier: &Tier,
        (last, is_stranger): (u64, bool),
        at: (Instant, Timestamp),
    ) -> Result<Lookup, TooSoon> {
        let lookup = AdmitLookup { number: number(last), is_stranger, patience: MINUTE };
        pacing.admit(lookup, (tier, Quota::AtMost(5)), at, 0.5)
    }

    #[test]
    fn lookups_keep_the_distance_of_messages_and_wait_no_longer_than_their_caller() {
        let (mut pacing, tier, now) = (LookupPacing::new(Vec::new()), tier(), Instant::now());
        let tier = Tier { cold_contacts: Quota::Unlimited, ..tier };
        let mut ask = |last| {
            let lookup = AdmitLookup { number: number(last), is_stranger: true, patience: MINUTE };
            pacing.admit(lookup, (&tier, Quota::Unlimited), (now, WALL), 0.5)
        };
        let waits: Vec<_> = (0..7).map(|last| ask(last).unwrap().wait.as_secs()).collect();
        assert_eq!(waits, [0, 10, 20, 30, 40, 50, 60]);
        assert_eq!(ask(7).unwrap_err().retry_after, Duration::from_secs(70));
    }

    #[test]
    fn a_tier_without_a_pace_is_no_way_to_ask_about_everybody_at_once() {
        let fast = Tier { messages_per_second: "unlimited".parse().unwrap(), ..tier() };
        let (mut pacing, now) = (LookupPacing::new(Vec::new()), Instant::now());
        let waits = [0, 1, 2].map(|last| ask(&mut pacing, &fast, (last, false), (now, WALL)).unwrap().wait);
        assert_eq!(waits, [0, 200, 400].map(Duration::from_millis));
    }

    #[test]
    fn a_day_has_as_many_lookups_as_messages_and_as_many_of_strangers_as_the_tier_allows() {
        let (tier, now) = (tier(), Instant::now());
        let mut pacing = LookupPacing::new(vec![(WALL, number(90))]);
        for last in [0, 1] {
            ask(&mut pacing, &tier, (last, true), (now, WALL)).unwrap().slot.keep(WALL);
        }
        let refused = ask(&mut pacing, &tier, (2, true), (now, WALL)).unwrap_err();
        assert_eq!((refused.retry_after, refused.spent.name), (QUOTA_SPAN, limit::Name::ColdContacts));
        for last in [3, 4] {
            ask(&mut pacing, &tier, (last, false), (now, WALL)).unwrap().slot.keep(WALL);
        }
        let refused = ask(&mut pacing, &tier, (5, false), (now, WALL)).unwrap_err();
        assert_eq!(refused.spent.name, limit::Name::DailyCap);
        let tomorrow = (now + QUOTA_SPAN, WALL.plus(QUOTA_SPAN));
        drop(ask(&mut pacing, &tier, (5, true), tomorrow).unwrap());
        assert!(ask(&mut pacing, &tier, (6, true), tomorrow).is_ok(), "one that was not made is given back");
    }
}
