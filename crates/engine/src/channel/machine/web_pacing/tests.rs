use super::*;

const WALL: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const KNOWN: Asker = Asker { stranger: None, patience: Duration::from_secs(30) };

/// A person who never wrote to the session.
fn stranger(number: i64) -> Asker {
    Asker { stranger: PhoneNumber::from_i64(5_511_900_000_000 + number), ..KNOWN }
}

impl WebPacing {
    /// A message goes.
    fn goes(&mut self, now: Instant, wall: Timestamp, chance: f64) {
        self.started(Uuid::now_v7(), &tier(), now, chance).keep(wall);
    }
}

/// One message every ten seconds, and up to four seconds more at random.
fn tier() -> Tier {
    let text = "[human]\nkind = \"web_session\"\nmessages_per_second = \"6/min\"\nburst = 1\njitter = \"4s\"\n\
                daily_cap = 100\nwarm_up = [3, 5]\ncold_contacts = 2\n";
    domain::tier::parse(text).unwrap().remove(0)
}

fn web_pacing(linked_days_ago: u64) -> WebPacing {
    let linked_at = WALL.minus(QUOTA_SPAN * u32::try_from(linked_days_ago).unwrap());
    let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
    WebPacing::new(Some(linked_at), Vec::new(), Vec::new(), &tier(), long_ago)
}

#[test]
fn a_random_time_is_added_to_the_distance() {
    let (mut web_pacing, tier, now) = (web_pacing(9), tier(), Instant::now());
    assert_eq!(web_pacing.holds(&tier, now, WALL), None);
    web_pacing.goes(now, WALL, 0.5);
    assert_eq!(web_pacing.holds(&tier, now, WALL), Some((Reason::Rate, now + Duration::from_secs(12))));
    assert_eq!(web_pacing.holds(&tier, now + Duration::from_secs(12), WALL), None);
}

#[test]
fn the_first_days_have_caps_of_their_own() {
    let tier = tier();
    for (days, cap) in [(0, 3), (1, 5), (2, 100), (400, 100)] {
        assert_eq!(web_pacing(days).day(&tier, WALL).0, Quota::AtMost(cap), "{days}");
    }
}

#[test]
fn a_cap_holds_until_the_oldest_message_is_a_day_old() {
    let (mut web_pacing, tier, now) = (web_pacing(0), tier(), Instant::now());
    for hour in 0..3 {
        web_pacing.goes(now, WALL.plus(Duration::from_secs(3600 * hour)), 0.0);
    }
    let later = WALL.plus(Duration::from_secs(3 * 3600));
    let (reason, until) = web_pacing.holds(&tier, now, later).unwrap();
    assert_eq!((reason, until), (Reason::DailyCap, now + Duration::from_secs(21 * 3600)));
    let refused = web_pacing.admit(KNOWN, &tier, now, later).unwrap_err();
    assert_eq!(refused.retry_after, Duration::from_secs(21 * 3600));
    assert!(refused.sentence.contains("daily_cap"), "{}", refused.sentence);
    assert_eq!(web_pacing.day(&tier, later), (Quota::AtMost(3), Some(0), Some(WALL.plus(QUOTA_SPAN))));
}

#[test]
fn admitted_messages_count_before_they_go() {
    let (web_pacing, tier, now) = (web_pacing(0), tier(), Instant::now());
    let held: Vec<_> = (0..3).map(|_| web_pacing.admit(KNOWN, &tier, now, WALL).unwrap()).collect();
    assert!(web_pacing.admit(KNOWN, &tier, now, WALL).is_err(), "admitted messages use up the cap");
    drop(held);
    assert!(web_pacing.admit(KNOWN, &tier, now, WALL).is_ok(), "messages that are given up make room");
}

#[test]
fn a_message_that_would_wait_too_long_is_not_admitted() {
    let (web_pacing, tier, now) = (web_pacing(9), tier(), Instant::now());
    let held: Vec<_> = (0..3).map(|_| web_pacing.admit(KNOWN, &tier, now, WALL).unwrap()).collect();
    let refused = web_pacing.admit(KNOWN, &tier, now, WALL).unwrap_err();
    assert_eq!(
        refused.retry_after,
        Duration::from_secs(6),
        "three messages of twelve seconds, thirty of patience"
    );
    assert!(refused.sentence.contains("patience"), "{}", refused.sentence);
    drop(held);
}

#[test]
fn strangers_have_a_budget_of_their_own() {
    let (web_pacing, tier, now) = (web_pacing(9), tier(), Instant::now());
    let written_to: Vec<_> =
        [1, 2].map(|number| web_pacing.admit(stranger(number), &tier, now, WALL).unwrap()).into();
    for Admitted { queued: _, stranger, wait: _ } in written_to {
        stranger.unwrap().keep(WALL);
    }
    let refused = web_pacing.admit(stranger(3), &tier, now, WALL).unwrap_err();
    assert_eq!(refused.retry_after, QUOTA_SPAN);
    assert!(refused.sentence.contains("cold_contacts"), "{}", refused.sentence);
    assert!(web_pacing.admit(KNOWN, &tier, now, WALL).is_ok());
    assert!(web_pacing.admit(stranger(2), &tier, now, WALL).is_ok(), "this stranger is one of the two");
    assert!(web_pacing.admit(stranger(3), &tier, now, WALL.plus(QUOTA_SPAN)).is_ok());
}

#[test]
fn a_stranger_to_whom_nothing_was_sent_makes_room_for_another() {
    let (web_pacing, tier, now) = (web_pacing(9), tier(), Instant::now());
    let held: Vec<_> =
        [1, 2].map(|number| web_pacing.admit(stranger(number), &tier, now, WALL).unwrap()).into();
    assert!(web_pacing.admit(stranger(3), &tier, now, WALL).is_err(), "admitted messages use up the budget");
    drop(held);
    assert!(web_pacing.admit(stranger(3), &tier, now, WALL).is_ok());
}

#[test]
fn a_message_that_was_not_handed_over_makes_room_for_another() {
    let (mut web_pacing, tier, now) = (web_pacing(0), tier(), Instant::now());
    let (first, second) = (Uuid::from_u128(1), Uuid::from_u128(2));
    web_pacing.started(first, &tier, now, 0.0).keep(WALL);
    let under_way = web_pacing.started(second, &tier, now, 0.0);
    assert_eq!(web_pacing.day(&tier, WALL).1, Some(1));
    drop(under_way);
    assert_eq!(web_pacing.day(&tier, WALL).1, Some(2));
    web_pacing.started(first, &tier, now, 0.0).keep(WALL);
    assert_eq!(web_pacing.day(&tier, WALL).1, Some(2), "it is the same message");
}

#[test]
fn the_limiter_s_next_slot_counts_when_nothing_is_added_at_random() {
    let tier = Tier { jitter: Duration::ZERO, ..tier() };
    let (mut web_pacing, now) = (web_pacing(9), Instant::now());
    let asker = Asker { patience: Duration::from_secs(3), ..KNOWN };
    drop(web_pacing.admit(asker, &tier, now, WALL).unwrap());
    web_pacing.started(Uuid::nil(), &tier, now, 0.5).keep(WALL);
    assert_eq!(web_pacing.holds(&tier, now, WALL), None, "the limiter holds");
    let refused = web_pacing.admit(asker, &tier, now, WALL).unwrap_err();
    assert_eq!(refused.retry_after, Duration::from_secs(7));
}

#[test]
fn strangers_are_refused_while_the_account_is_restricted_and_others_are_not() {
    let (mut web_pacing, tier, now) = (web_pacing(9), tier(), Instant::now());
    web_pacing.restrict(WALL.plus(Duration::from_secs(60)));
    web_pacing.restrict(WALL.plus(Duration::from_secs(30)));
    let refused = web_pacing.admit(stranger(1), &tier, now, WALL).unwrap_err();
    assert_eq!(refused.retry_after, Duration::from_secs(60));
    assert!(web_pacing.admit(KNOWN, &tier, now, WALL).is_ok());
    assert!(web_pacing.admit(stranger(1), &tier, now, WALL.plus(Duration::from_secs(60))).is_ok());
}

#[test]
fn a_restriction_ends_when_another_phone_is_linked() {
    let (mut web_pacing, tier, now) = (web_pacing(9), tier(), Instant::now());
    let linked_at = web_pacing.linked_at;
    web_pacing.restrict(WALL.plus(Duration::from_secs(60)));
    web_pacing.linked(linked_at);
    assert!(web_pacing.admit(stranger(1), &tier, now, WALL).is_err(), "it is the same phone");
    web_pacing.linked(Some(WALL));
    assert!(web_pacing.admit(stranger(1), &tier, now, WALL).is_ok());
}
