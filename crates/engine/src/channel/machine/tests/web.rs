//! Web sessions: which messages are admitted, and at which pace they go.

use super::*;
use crate::handover::Admitted;
use domain::channel::{Reason as Because, ReasonCode};
use domain::limit::{Name, Spent};
use domain::outlook::Reason;
use domain::tier::Quota;
use driver::RESTRICTED;

const MILLI: Duration = Duration::from_millis(1);
/// A caller that waits half a minute for a message to a person whom the session knows.
pub(super) const PATIENT: Admit = Admit { stranger: None, patience: Duration::from_secs(30), tried: None };

impl World {
    /// A session past its warm-up that did nothing in the last day, and whose first message may go.
    pub(super) fn web() -> Self {
        Self::web_with(|_| ())
    }

    pub(super) fn web_with(change: impl Fn(&mut Tier)) -> Self {
        let alter = |channel: &mut Channel| {
            channel.kind = Kind::WebSession;
            channel.tier = "web-new".to_owned();
            channel.linked_at = Some(channel.created_at.minus(10 * DAY));
        };
        let mut world = Self::with(1, change, alter);
        world.store_is_empty();
        world.feed(Input::WebActivityRead(Ok(WebActivity::default())));
        world.pass(10 * SECOND);
        world
    }

    pub(super) fn admit(&mut self, admit: Admit) -> Result<Admitted, TooSoon> {
        self.feed(Input::Admit { admit, caller: Caller(7) });
        match self.replies.pop() {
            Some((Caller(7), Answer::Admission(admission))) => admission,
            other => panic!("{other:?}"),
        }
    }

    /// How long a lookup waits for its turn, or which limit refuses it.
    fn look_up(&mut self, lookup: AdmitLookup) -> Result<Duration, Name> {
        self.feed(Input::AdmitLookup { lookup, caller: Caller(8) });
        match self.replies.pop() {
            Some((Caller(8), Answer::Lookup(admission))) => {
                admission.map(|lookup| lookup.wait).map_err(|refused| refused.spent.name)
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn callers_are_answered_and_messages_begun_once_the_session_s_activity_is_known() {
    let mut world = World::of_web(10 * DAY);
    let since = world.at.wall.minus(DAY);
    assert_eq!(world.count(&format!("read activity {since}")), 1);
    world.feed(Input::Admit { admit: PATIENT, caller: Caller(3) });
    world.accept(10);
    world.flush();
    world.pass(20 * SECOND);
    assert_eq!((world.replies.len(), world.attempts.len()), (0, 0));
    assert_eq!(world.limits().waiting.unwrap().reason, Reason::Turn);
    world.feed(Input::WebActivityRead(Err(Failed::Temporarily)));
    world.pass(SECOND - MILLI);
    assert_eq!(world.count("read activity"), 1);
    world.pass(MILLI);
    assert_eq!((world.count("read activity"), world.replies.len()), (2, 0));
    world.feed(Input::WebActivityRead(Ok(WebActivity::default())));
    assert_eq!((world.replies.len(), world.under_way()), (1, vec![10]));
    assert_eq!(world.replies[0].0, Caller(3));
}

#[test]
fn a_session_that_is_opened_again_is_not_read_twice() {
    let mut world = World::of_web(10 * DAY);
    for revision in [5, 6] {
        let mut record = (**world.machine.channel()).clone();
        record.revision = revision;
        record.connection.since = world.at.wall.plus(MINUTE * u32::try_from(revision).unwrap());
        assert!(world.feed(Input::Refreshed(Arc::new(record))).contains(&"connect"));
        assert_eq!(world.count("read activity"), 1);
        world.feed(Input::WebActivityRead(Ok(WebActivity::default())));
    }
    let business = World::ready(1);
    assert_eq!(business.count("read activity"), 0);
}

#[test]
fn messages_keep_the_distance_of_a_person() {
    let mut world = World::web();
    for id in 10..13 {
        world.accept(id);
        world.flush();
    }
    for _ in 0..2 {
        assert_eq!(world.attempts.len(), 1);
        let waiting = world.limits().waiting.unwrap();
        assert_eq!(waiting.reason, Reason::Rate);
        world.answer(accepted());
        let waited = world.until_attempt();
        assert!(waited >= 10 * SECOND && waited <= 14 * SECOND, "{waited:?}");
    }
}

#[test]
fn a_day_s_messages_wait_until_the_oldest_is_a_day_old() {
    let mut world = World::of_web(10 * DAY);
    let (wall, half) = (world.at.wall, DAY / 2);
    let attempts = (0..200).map(|nth| (wall.minus(half), Uuid::from_u128(1_000 + nth))).collect();
    world.feed(Input::WebActivityRead(Ok(WebActivity { attempts, ..WebActivity::default() })));
    world.pass(10 * SECOND);
    world.accept(10);
    world.flush();
    assert!(world.attempts.is_empty());
    let waiting = world.limits().waiting.unwrap();
    assert_eq!((waiting.reason, waiting.until), (Reason::DailyCap, Some(wall.plus(half))));
    assert!(waiting.sentence.contains("`web-new`") && waiting.sentence.contains("daily_cap"));
    let refused = world.admit(PATIENT).unwrap_err();
    assert_eq!(refused.retry_after, half - 10 * SECOND);
    assert_eq!(refused.spent, Spent { name: Name::DailyCap, allows: 200, window: DAY });
    let waited = world.until_attempt();
    assert!(waited >= half - 10 * SECOND && waited < half - 9 * SECOND, "{waited:?}");
}

#[test]
fn no_message_is_admitted_during_a_pause_that_outlasts_its_caller_s_patience() {
    let mut world = World::web();
    world.accept(10);
    world.flush();
    world.answer(Reply::NotSent(failure()));
    world.flush();
    let until = world.limits().waiting.unwrap().until.unwrap().from_now(world.at.wall);
    let asks = |patience| Admit { patience, ..PATIENT };
    let refused = world.admit(asks(until - 2 * MILLI)).unwrap_err();
    assert!(refused.retry_after >= until && refused.retry_after <= until + MILLI);
    assert_eq!(refused.spent, Spent::pause(refused.retry_after));
    assert_eq!(refused.sentence, "the provider accepts no messages just now; the service retries by itself");
    assert!(world.admit(PATIENT).is_ok());
}

#[test]
fn a_dry_run_meets_the_distance_to_its_recipient_too() {
    let mut world = World::web_with(|tier| {
        (tier.pair_interval, tier.pair_burst) = (MINUTE, 1);
    });
    world.accept(10);
    world.flush();
    world.pass(20 * SECOND);
    world.answer(accepted());
    world.flush();
    let tried = |who, patience| Admit { tried: Some(person(who)), patience, ..PATIENT };
    let refused = world.admit(tried(10, 40 * SECOND - MILLI)).unwrap_err();
    assert_eq!((refused.retry_after, refused.sentence.as_str()), (40 * SECOND, PAIR_SENTENCE));
    assert_eq!(refused.spent, Spent::pause(40 * SECOND));
    assert_eq!(world.admit(tried(10, 40 * SECOND)).unwrap().wait, 40 * SECOND);
    assert_eq!(world.admit(tried(11, SECOND)).unwrap().wait, Duration::ZERO);
    assert_eq!(world.admit(Admit { patience: SECOND, ..PATIENT }).unwrap().wait, Duration::ZERO);
}

#[test]
fn strangers_are_refused_for_a_day_after_the_session_was_restricted() {
    let stranger = Admit { stranger: Some(person(9)), ..PATIENT };
    for (code, is_refused) in [(Some(RESTRICTED), true), (Some(500), false), (None, false)] {
        let mut world = World::web();
        world.accept(10);
        world.flush();
        let failure = Failure { code, ..failure() };
        let disposition = Disposition::Fail;
        world.answer(Reply::Refused { disposition, failure, retry_after: None });
        world.flush();
        let admission = world.admit(stranger);
        assert_eq!(admission.is_err(), is_refused, "{code:?}");
        if let Err(refused) = admission {
            assert_eq!((refused.retry_after, refused.spent.name), (DAY, Name::ColdContacts));
            assert!(world.admit(PATIENT).is_ok(), "others may be written to");
            world.pass(DAY);
            assert!(world.admit(stranger).is_ok());
        }
    }
}

#[test]
fn a_restriction_in_the_session_s_state_counts_and_another_phone_s_does_not() {
    let stranger = Admit { stranger: Some(person(9)), ..PATIENT };
    let restricted = |world: &mut World, hours: u32, revision: i64| {
        let mut record = (**world.machine.channel()).clone();
        record.revision = revision;
        let code = ReasonCode::Restricted.into();
        record.connection.reason = Some(Because { code, sentence: "463".to_owned(), provider_code: None });
        record.connection.since = world.at.wall.minus(hours * 60 * MINUTE);
        world.feed(Input::Refreshed(Arc::new(record)));
    };
    let mut world = World::web();
    restricted(&mut world, 24, 5);
    assert!(world.admit(stranger).is_ok());
    restricted(&mut world, 23, 6);
    assert_eq!(world.admit(stranger).unwrap_err().retry_after, 60 * MINUTE);
    let mut record = (**world.machine.channel()).clone();
    record.revision = 7;
    record.connection.reason = None;
    record.linked_at = Some(world.at.wall);
    world.feed(Input::Refreshed(Arc::new(record)));
    assert!(world.admit(stranger).is_ok());
}

#[test]
fn a_session_sends_only_while_it_is_connected() {
    for status in [Status::Connecting, Status::Disconnected, Status::Pairing, Status::Blocked] {
        let mut world = World::web();
        let mut record = (**world.machine.channel()).clone();
        record.revision = 5;
        record.connection = Connection { status, reason: None, since: world.at.wall };
        world.feed(Input::Refreshed(Arc::new(record)));
        world.accept(10);
        world.flush();
        assert!(world.attempts.is_empty(), "{status}");
        let reason = match status {
            Status::Connecting => Reason::ProviderPause,
            Status::Blocked => Reason::Blocked,
            _ => Reason::Disconnected,
        };
        assert_eq!(world.limits().waiting.unwrap().reason, reason);
        assert_eq!(world.count("probe"), 0, "a session reports its state by itself");
        let mut record = (**world.machine.channel()).clone();
        record.revision = 6;
        record.connection.status = Status::Connected;
        world.feed(Input::Refreshed(Arc::new(record)));
        world.flush();
        assert_eq!(world.under_way(), [10]);
        world.answer(accepted());
        assert_eq!(world.saves.len(), 0, "its supervisor saves the state");
    }
}

#[test]
fn suppressions_apply_neither_to_web_sessions_nor_to_what_confirms_them() {
    let record = store::suppressions::Record {
        company_id: Uuid::from_u128(2),
        recipient: person(10),
        scope: domain::suppression::Suppression::Everything,
        until: None,
        provider_code: None,
    };
    let mut web = World::web();
    web.machine.common.suppressions.add(record);
    web.accept(10);
    web.flush();
    assert_eq!(web.under_way(), [10]);
    let mut business = World::ready(1);
    business.machine.common.suppressions.add(record);
    business.accept(10);
    business.flush();
    assert_eq!((business.attempts.len(), business.outcome().state), (0, State::Suppressed));
    let mut confirming = World::ready(1);
    confirming.machine.common.suppressions.add(record);
    confirming.accept_order(10, Order { confirms: true, ..order() }, Recipients::One(person(10)));
    confirming.flush();
    assert_eq!(confirming.under_way(), [10]);
}

#[test]
fn a_message_counts_in_the_day_once_it_was_handed_over() {
    let mut world = World::web_with(|tier| tier.daily_cap = Quota::AtMost(2));
    let left = |world: &World| world.limit("daily_cap").left;
    world.accept(10);
    world.flush();
    assert_eq!(left(&world), Some(1), "while it is under way");
    let wall = world.at.wall;
    let web = world.attempts[0].web.take().unwrap();
    assert!(web.pending_reply.is_none());
    web.slot.keep(wall);
    world.answer(accepted());
    assert_eq!(left(&world), Some(1));
    world.accept(11);
    world.until_attempt();
    assert_eq!(left(&world), Some(0));
    world.answer(Reply::NotSent(failure()));
    assert_eq!(left(&world), Some(1), "it was not handed over");
}

#[test]
fn a_message_that_the_session_failed_to_prepare_was_certainly_not_handed_over() {
    let mut world = World::web();
    world.accept(10);
    world.flush();
    world.answer(refused(Disposition::Retry));
    let outcome = world.outcome();
    assert_eq!((outcome.state, outcome.attempts, outcome.taken_at), (State::Queued, 1, None));
}

#[test]
fn a_session_that_has_just_begun_owes_the_distance_before_its_first_message() {
    let mut world = World::of_web(10 * DAY);
    world.feed(Input::WebActivityRead(Ok(WebActivity::default())));
    let refused = world.admit(Admit { patience: 3 * SECOND, ..PATIENT }).unwrap_err();
    assert_eq!(refused.retry_after, 7 * SECOND);
    assert_eq!(refused.spent, Spent { name: Name::MessagesPerSecond, allows: 6, window: MINUTE });
    assert!(refused.sentence.starts_with("this message cannot go yet"), "{}", refused.sentence);
    let first = world.admit(PATIENT).unwrap();
    assert_eq!(first.wait, 10 * SECOND);
    let refused = world.admit(Admit { patience: 22 * SECOND - MILLI, ..PATIENT }).unwrap_err();
    assert!(refused.sentence.starts_with("1 message goes before this one"), "{}", refused.sentence);
    assert_eq!(refused.retry_after, SECOND, "a second at least");
    let _second = world.admit(PATIENT).unwrap();
    let refused = world.admit(Admit { patience: 12 * SECOND, ..PATIENT }).unwrap_err();
    assert!(refused.sentence.starts_with("2 messages go before this one"), "{}", refused.sentence);
}

#[test]
fn a_lookup_is_admitted_once_the_activity_is_known_and_not_of_strangers_while_the_account_is_restricted() {
    let lookup = |who, is_stranger| AdmitLookup { number: person(who), is_stranger, patience: 30 * SECOND };
    let mut world = World::of_web(10 * DAY);
    world.feed(Input::AdmitLookup { lookup: lookup(9, true), caller: Caller(3) });
    assert!(world.replies.is_empty());
    world.feed(Input::WebActivityRead(Ok(WebActivity::default())));
    assert!(matches!(world.replies.pop(), Some((Caller(3), Answer::Lookup(Ok(_))))));

    // The tier lets a message go every 10 seconds, and up to 4 later.
    let wait = world.look_up(lookup(8, false)).unwrap();
    assert!((10 * SECOND..=14 * SECOND).contains(&wait), "{wait:?}");
    let mut record = (**world.machine.channel()).clone();
    record.revision = 6;
    let code = ReasonCode::Restricted.into();
    record.connection.reason = Some(Because { code, sentence: "463".to_owned(), provider_code: None });
    record.connection.since = world.at.wall;
    world.feed(Input::Refreshed(Arc::new(record)));
    world.pass(MINUTE);
    assert_eq!(world.look_up(lookup(7, true)), Err(Name::ColdContacts));
    assert_eq!(world.look_up(lookup(7, false)), Ok(Duration::ZERO));
}
