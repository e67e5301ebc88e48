//! Pairs under a simulated clock.

use proptest::prelude::*;

use super::*;
use domain::tier::parse;

fn tier(interval: &str, burst: u32) -> Tier {
    let options =
        format!("messages_per_second = \"unlimited\"\npair_interval = \"{interval}\"\npair_burst = {burst}");
    parse(&format!("[tested]\nkind = \"business_account\"\n{options}")).unwrap().remove(0)
}

fn number(nth: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Asks for the first time, with the lowest random number.
fn take(pacing: &mut RecipientPacing, recipient: PhoneNumber, now: Instant) -> Result<(), Instant> {
    pacing.take(recipient, false, now, 0.0)
}

/// Asks again, after a wait.
fn take_again(pacing: &mut RecipientPacing, recipient: PhoneNumber, now: Instant) -> Result<(), Instant> {
    pacing.take(recipient, true, now, 0.0)
}

#[test]
fn a_burst_is_borrowed_from_the_intervals_after_it() {
    let (start, ana) = (Instant::now(), number(1));
    let mut pacing = RecipientPacing::new(&tier("6s", 3));
    for _ in 0..3 {
        assert_eq!(take(&mut pacing, ana, start), Ok(()));
    }
    assert_eq!(take(&mut pacing, ana, start), Err(start + seconds(6)));
    assert_eq!(take(&mut pacing, number(2), start), Ok(()), "another recipient is another pair");
    assert_eq!(take(&mut pacing, ana, start + seconds(7)), Err(start + seconds(12)));
    let rested = start + seconds(30);
    for _ in 0..3 {
        assert_eq!(take(&mut pacing, ana, rested), Ok(()));
    }
    assert_eq!(take(&mut pacing, ana, rested), Err(rested + seconds(6)));
}

#[test]
fn two_forms_of_one_person_s_number_are_one_pair() {
    let now = Instant::now();
    let [long, short] =
        [5_564_988_887_777, 556_488_887_777].map(|value| PhoneNumber::from_u64(value).unwrap());
    let mut pacing = RecipientPacing::new(&tier("6s", 1));
    assert_eq!(take(&mut pacing, long, now), Ok(()));
    assert_eq!(take(&mut pacing, short, now), Err(now + seconds(6)));
    let until = pacing.refused(short, now);
    assert_eq!(pacing.blocked(long, now), Some(until));
}

#[test]
fn messages_that_wait_for_one_recipient_get_a_slot_each_up_to_an_hour_ahead() {
    let (now, ana) = (Instant::now(), number(1));
    let mut pacing = RecipientPacing::new(&tier("6s", 1));
    assert_eq!(take(&mut pacing, ana, now), Ok(()));
    for nth in 1..=600 {
        assert_eq!(take(&mut pacing, ana, now), Err(now + seconds(6 * nth)));
    }
    for chance in [0.0, 0.5] {
        let slot = pacing.take(ana, false, now, chance).unwrap_err();
        assert_eq!(slot, now + seconds(3_606).mul_f64(1.0 + chance), "no slot is taken");
    }
}

#[test]
fn late_messages_go_one_by_one_and_no_new_message_takes_their_slots() {
    let (now, ana) = (Instant::now(), number(1));
    let mut pacing = RecipientPacing::new(&tier("6s", 1));
    assert_eq!(take(&mut pacing, ana, now), Ok(()));
    for nth in 1..=3 {
        assert_eq!(take(&mut pacing, ana, now), Err(now + seconds(6 * nth)));
    }
    // The channel paused for half a minute: all three come back at once.
    let late = now + seconds(30);
    assert_eq!(take_again(&mut pacing, ana, late), Ok(()));
    assert_eq!(take_again(&mut pacing, ana, late), Err(late + seconds(6)));
    assert_eq!(take_again(&mut pacing, ana, late), Err(late + seconds(12)));
    assert_eq!(take(&mut pacing, ana, late), Err(late + seconds(18)), "a new message is the last");
    assert_eq!(pacing.wait(ana, true, late + seconds(5)), seconds(1));
    assert_eq!(take(&mut pacing, ana, late + seconds(6)), Err(late + seconds(24)));
    assert_eq!(take_again(&mut pacing, ana, late + seconds(6)), Ok(()));
    // One more attempt takes one more slot.
    assert_eq!(take_again(&mut pacing, ana, late + seconds(12)), Ok(()));
    assert_eq!(take_again(&mut pacing, ana, late + seconds(13)), Err(late + seconds(30)));
}

#[test]
fn without_an_interval_nothing_is_paced_and_nothing_is_remembered() {
    let now = Instant::now();
    let mut pacing = RecipientPacing::new(&tier("0s", 1));
    for _ in 0..10_000 {
        assert_eq!(take(&mut pacing, number(1), now), Ok(()));
    }
    assert_eq!(pacing.pairs.capacity(), 0);
    // A pair that the provider refuses waits all the same.
    let until = pacing.refused(number(1), now);
    assert_eq!(take(&mut pacing, number(1), now), Err(until));
    assert_eq!(take(&mut pacing, number(2), now), Ok(()));
    assert_eq!(take(&mut pacing, number(1), until), Ok(()));
}

#[test]
fn a_refused_pair_waits_four_times_longer_each_time_and_holds_up_no_other() {
    let (mut now, ana) = (Instant::now(), number(1));
    let mut pacing = RecipientPacing::new(&tier("6s", 10));
    for wait in [1, 4, 16, 64, 256, 256] {
        let until = now + seconds(wait);
        assert_eq!(pacing.refused(ana, now), until);
        assert_eq!(pacing.refused(ana, until - seconds(1)), until, "an answer of the same storm");
        pacing.accepted(ana, until - seconds(1));
        assert_eq!(take(&mut pacing, ana, until - Duration::from_millis(1)), Err(until));
        assert_eq!(take(&mut pacing, number(2), now), Ok(()));
        now = until;
    }
    assert_eq!(take(&mut pacing, ana, now), Ok(()));
    pacing.accepted(ana, now);
    assert_eq!(pacing.refused(ana, now), now + seconds(1), "after a success the waits begin again");
    assert_eq!(
        pacing.refused(ana, now + seconds(256)),
        now + seconds(260),
        "the second refusal still counts"
    );
    let quiet = now + seconds(260 + 256);
    assert_eq!(pacing.refused(ana, quiet), quiet + seconds(1), "after a quiet time it does not");
}

#[test]
fn a_changed_tier_is_followed_and_what_is_owed_stays_owed() {
    let (now, ana) = (Instant::now(), number(1));
    let mut pacing = RecipientPacing::new(&tier("6s", 2));
    assert_eq!([take(&mut pacing, ana, now), take(&mut pacing, ana, now)], [Ok(()), Ok(())]);
    pacing.retune(&tier("6s", 1));
    assert_eq!(take(&mut pacing, ana, now), Err(now + seconds(12)));
    pacing.retune(&tier("0s", 1));
    assert_eq!(take(&mut pacing, ana, now), Ok(()));
}

#[test]
fn a_pair_that_owes_nothing_is_removed_and_its_memory_freed() {
    let start = Instant::now();
    let mut pacing = RecipientPacing::new(&tier("6s", 10));
    for nth in 0..5_000 {
        assert_eq!(take(&mut pacing, number(nth), start), Ok(()));
    }
    assert_eq!(pacing.pairs.len(), 5_000);
    for nth in 0..2_500 {
        assert_eq!(take(&mut pacing, number(0), start + seconds(6 + 6 * nth)), Ok(()));
    }
    assert!(pacing.pairs.len() <= 1, "{}", pacing.pairs.len());
    assert_eq!(take(&mut pacing, number(0), start + seconds(30_000)), Ok(()));
    assert!(pacing.pairs.capacity() <= KEPT, "{}", pacing.pairs.capacity());
}

#[test]
fn beyond_the_bound_the_pairs_with_the_shortest_wait_are_removed_first() {
    let (now, ana) = (Instant::now(), number(0));
    let mut pacing = RecipientPacing::bounded(&tier("6s", 5), 10);
    for _ in 0..5 {
        assert_eq!(take(&mut pacing, ana, now), Ok(()));
    }
    for nth in 1..1000 {
        assert_eq!(take(&mut pacing, number(nth), now + Duration::from_millis(nth)), Ok(()));
        assert!(pacing.pairs.len() <= 10 && pacing.order.len() == pacing.pairs.len());
    }
    assert!(take(&mut pacing, ana, now + seconds(1)).is_err(), "the one that owes most is still known");
}

proptest! {
    #[test]
    fn no_pair_ever_gets_more_than_its_burst_and_its_intervals(
        burst in 1_u32..12,
        steps in proptest::collection::vec((0_u64..5_000, 0_u64..4, 0_u64..20_000), 1..200),
    ) {
        let mut pacing = RecipientPacing::new(&tier("6s", burst));
        let start = Instant::now();
        let mut went = HashMap::<u64, Vec<Instant>>::new();
        // The requests: when, the number of the message, whether it has waited, for whom, and how late it comes back.
        let mut asks = BinaryHeap::new();
        let mut at = start;
        for (nth, (millis, who, late)) in steps.iter().enumerate() {
            at += Duration::from_millis(*millis);
            asks.push(Reverse((at, nth, false, *who, *late)));
        }
        let (mut times, count) = (0, steps.len());
        while let Some(Reverse((now, nth, has_waited, who, late))) = asks.pop() {
            times += 1;
            prop_assert!(times < 50 * count, "a message asks forever");
            match pacing.take(number(who), has_waited, now, 0.0) {
                Ok(()) => went.entry(who).or_default().push(now),
                Err(slot) => {
                    prop_assert!(slot > now);
                    asks.push(Reverse((slot + Duration::from_millis(late), nth, true, who, late / 2)));
                }
            }
        }
        prop_assert_eq!(went.values().map(Vec::len).sum::<usize>(), count);
        for moments in went.values() {
            prop_assert!(moments.is_sorted());
            for (first, start) in moments.iter().enumerate() {
                for intervals in 1..20_u32 {
                    let end = *start + seconds(6) * intervals;
                    let counted = moments[first..].partition_point(|moment| *moment < end);
                    prop_assert!(counted <= (burst + intervals - 1) as usize, "{counted} in {intervals} intervals");
                }
            }
        }
    }

    #[test]
    fn memory_is_bounded_whatever_is_asked_and_one_entry_stands_for_each_pair(
        capacity in 1_usize..50,
        steps in proptest::collection::vec((0_u64..1_000, 0_u64..200, 0_u8..4), 1..600),
    ) {
        let mut pacing = RecipientPacing::bounded(&tier("6s", 3), capacity);
        let mut now = Instant::now();
        for (millis, nth, event) in steps {
            now += Duration::from_millis(millis);
            match event {
                0 => { pacing.refused(number(nth), now); }
                1 => pacing.accepted(number(nth), now),
                _ => { let _ = take(&mut pacing, number(nth), now); }
            }
            prop_assert!(pacing.pairs.len() <= capacity);
            prop_assert_eq!(pacing.pairs.len(), pacing.order.len());
        }
    }
}
