//! What each answer of the provider means for the message: its row, and when it is retried.

use super::*;
use domain::outlook::Reason;
use domain::suppression::Suppression;
use domain::tier::UnknownOutcome;
use store::suppressions::Says;

const HALF: Duration = Duration::from_millis(500);

impl World {
    /// A message is under way, and its mark is durable.
    pub(super) fn started() -> Self {
        let mut world = Self::ready(1);
        world.start(10);
        world
    }

    pub(super) fn start(&mut self, id: u128) {
        self.accept(id);
        self.flush();
        assert!(!self.attempts.is_empty(), "{:?}", self.log);
    }

    /// How long the message waits from now, by the row of its last outcome.
    fn row_waits(&self) -> Option<Duration> {
        self.outcome().retry_at.map(|at| at.from_now(self.at.wall))
    }
}

#[test]
fn each_answer_has_its_row_and_its_wait() {
    let (uncertain, not_sent) = (Reply::Uncertain(failure()), Reply::NotSent(failure()));
    let wait = |least: Duration, most: Duration| Some((least, most));
    let exactly = |time: Duration| Some((time, time));
    let (queued, failed) = (State::Queued, State::Failed);
    // The state, attempts that count, whether the provider may have it, and the least and longest wait.
    let table = [
        (accepted(), State::Sent, 1, true, None),
        (refused(Disposition::Fail), failed, 1, false, None),
        (refused(Disposition::Retry), queued, 1, true, wait(HALF, SECOND)),
        (refused(Disposition::Wait), queued, 0, true, wait(HALF, SECOND)),
        (refused_for(Disposition::Wait, 30 * SECOND), queued, 0, true, exactly(30 * SECOND)),
        (refused(Disposition::Maintenance), queued, 0, false, wait(5 * HALF, 5 * SECOND)),
        (refused(Disposition::SlowNumber), queued, 0, false, wait(SECOND, 2 * SECOND)),
        (refused_for(Disposition::SlowNumber, 9 * SECOND), queued, 0, false, exactly(9 * SECOND)),
        (refused_for(Disposition::SlowNumber, HALF / 5), queued, 0, false, wait(SECOND, 2 * SECOND)),
        (refused(Disposition::SlowAccount), queued, 0, false, exactly(SECOND)),
        (refused_for(Disposition::SlowAccount, 30 * SECOND), queued, 0, false, exactly(30 * SECOND)),
        (refused(Disposition::SlowApp), queued, 0, false, exactly(SECOND)),
        (refused_for(Disposition::SlowApp, 30 * SECOND), queued, 0, false, exactly(30 * SECOND)),
        (refused(Disposition::Pair), queued, 0, false, exactly(SECOND)),
        (refused(Disposition::HoldTemplate), failed, 1, false, None),
        (refused(Disposition::HoldRecipient), failed, 1, false, None),
        (refused(Disposition::Suppress(Suppression::Marketing)), failed, 1, false, None),
        (refused(Disposition::Disconnect), queued, 0, false, exactly(Duration::ZERO)),
        (refused(Disposition::Block), queued, 0, false, exactly(Duration::ZERO)),
        (refused(Disposition::Restrict), queued, 0, false, exactly(Duration::ZERO)),
        (not_sent, queued, 0, false, wait(HALF, SECOND)),
        (Reply::NoSocket(failure()), queued, 0, false, wait(HALF / 2, HALF)),
        (Reply::Unsendable(failure()), failed, 0, false, None),
        (uncertain, State::Unknown, 1, true, exactly(2 * MINUTE)),
    ];
    for (reply, state, attempts, may_have_it, wait) in table {
        let (mut world, said) = (World::started(), format!("{reply:?}"));
        let is_accepted = matches!(reply, Reply::Accepted { .. });
        world.answer(reply);
        let outcome = world.outcome();
        assert_eq!((outcome.state, outcome.attempts), (state, attempts), "{said}");
        assert_eq!(outcome.taken_at, may_have_it.then_some(world.at.wall), "{said}");
        assert_eq!(outcome.provider_message_id.is_some(), is_accepted, "{said}");
        assert_eq!(outcome.error, (!is_accepted).then(failure), "{said}");
        // Rows have whole milliseconds.
        let milli = Duration::from_millis(1);
        let within = |(least, most): (Duration, Duration)| {
            world.row_waits().is_some_and(|waits| waits + milli >= least && waits <= most)
        };
        assert_eq!(wait.is_some(), world.row_waits().is_some(), "{said}");
        assert!(wait.is_none_or(within), "{said}: {:?}", world.row_waits());
        let over = if wait.is_some() { send::State::Active } else { send::State::Finished };
        assert_eq!(world.mark(10).state, over, "{said}");
        let backlog = world.machine.backlog();
        assert_eq!((backlog.retry, backlog.in_flight), (u64::from(wait.is_some()), 1), "{said}");
        world.flush();
        assert_eq!(world.machine.backlog().in_flight, 0, "{said}");
    }
}

#[test]
fn a_message_is_tried_as_often_as_configured_with_growing_waits() {
    let mut world = World::configured(1, |_| (), |_| (), |_, retry| retry.attempts = 4).begun();
    world.start(10);
    for (attempts, least) in [(1, HALF), (2, SECOND), (3, 2 * SECOND)] {
        world.answer(refused(Disposition::Retry));
        assert_eq!((world.outcome().state, world.outcome().attempts), (State::Queued, attempts));
        let waited = world.until_attempt();
        let milli = Duration::from_millis(1);
        assert!(waited + milli >= least && waited <= 2 * least + 100 * milli, "{attempts}: {waited:?}");
    }
    world.answer(refused(Disposition::Retry));
    assert_eq!((world.outcome().state, world.outcome().attempts), (State::Failed, 4));
    assert_eq!(world.mark(10).state, send::State::Finished);
}

#[test]
fn a_lost_answer_to_the_last_attempt_leaves_the_message_unknown() {
    for (attempts, policy, stays) in [
        (2, UnknownOutcome::Resend, true),
        (1, UnknownOutcome::Resend, false),
        (2, UnknownOutcome::Hold, false),
    ] {
        let tier = move |tier: &mut Tier| tier.unknown_outcome = policy;
        let mut world = World::configured(1, tier, |_| (), |_, retry| retry.attempts = attempts).begun();
        world.start(10);
        world.figures.clear();
        world.answer(Reply::Uncertain(failure()));
        let outcome = world.outcome();
        assert_eq!((outcome.state, outcome.attempts), (State::Unknown, 1));
        assert_eq!(outcome.retry_at.is_some(), stays, "{attempts} {policy:?}");
        assert_eq!(world.figures.contains(&Figure::Unknown), !stays, "{attempts} {policy:?}");
        assert_eq!(world.mark(10).state == send::State::Finished, !stays);
    }
}

#[test]
fn pauses_grow_from_one_to_the_next_until_a_message_gets_through_or_fails_by_itself() {
    for (between, grows) in [
        (None, true),
        (Some(accepted()), false),
        (Some(refused(Disposition::Fail)), false),
        (Some(refused(Disposition::Pair)), true),
    ] {
        let (mut world, said) = (World::started(), format!("{between:?}"));
        world.answer(Reply::NotSent(failure()));
        world.until_attempt();
        if let Some(between) = between {
            world.answer(between);
            world.pass(30 * SECOND);
            world.settle();
            world.attempts.clear();
            world.pass(SECOND);
            world.start(11);
        }
        world.answer(Reply::NotSent(failure()));
        assert_eq!(world.row_waits().unwrap() >= SECOND, grows, "{said}: {:?}", world.outcome());
    }
}

#[test]
fn a_failure_within_a_pause_waits_for_its_end_and_does_not_lengthen_it() {
    let mut world = World::started();
    world.pass(SECOND);
    world.start(11);
    world.answer(Reply::NotSent(failure()));
    let until = world.limits().waiting.unwrap().until;
    world.flush();
    world.pass(HALF / 5);
    world.answer(Reply::NotSent(failure()));
    assert_eq!(world.limits().waiting.unwrap().until, until);
    assert_eq!(world.outcome().retry_at, until);
}

#[test]
fn a_wait_of_two_minutes_is_spent_here_and_a_longer_one_in_the_store() {
    for (wait, here) in [(120 * SECOND, 1), (121 * SECOND, 0)] {
        let mut world = World::started();
        world.answer(refused_for(Disposition::Wait, wait));
        assert_eq!(world.machine.backlog().retry, here, "{wait:?}");
        let due_at = (here == 0).then(|| world.at.wall.plus(wait));
        assert_eq!((world.mark(10).due_at, world.mark(10).state), (due_at, send::State::Active));
        world.flush();
        assert_eq!(world.limits().active_sends, here);
    }
}

#[test]
fn a_message_with_an_unknown_outcome_waits_in_memory_where_receipts_find_it() {
    let grace = 10 * MINUTE;
    let mut world = World::configured(1, |_| (), |_| (), |_, retry| retry.unknown_grace = grace).begun();
    world.start(10);
    world.answer(Reply::Uncertain(failure()));
    assert_eq!((world.machine.backlog().retry, world.row_waits()), (1, Some(grace)));
}

#[test]
fn trouble_that_others_would_meet_stops_new_messages_and_other_trouble_does_not() {
    for (reply, stops) in [
        (refused(Disposition::Retry), true),
        (refused(Disposition::SlowNumber), true),
        (refused(Disposition::Pair), false),
        (Reply::Uncertain(failure()), false),
    ] {
        let said = format!("{reply:?}");
        let mut world = World::configured(1, |_| (), |_| (), |engine, _| engine.deferred = 1).begun();
        world.start(10);
        world.answer(reply);
        world.flush();
        world.pass(HALF / 5);
        world.accept(11);
        world.flush();
        assert_eq!(world.attempts.is_empty(), stops, "{said}: {:?}", world.log);
        let waiting = world.limits().waiting;
        let reason = waiting.as_ref().map(|waiting| waiting.reason);
        assert_eq!(reason, stops.then_some(Reason::Retry), "{said}");
        assert_eq!(waiting.is_some_and(|waiting| waiting.until.is_some()), stops, "{said}");
    }
}

#[test]
fn a_recipient_who_opted_out_gets_nothing_more_and_that_is_written_before_others_go_on() {
    for scope in Suppression::ALL {
        let mut world = World::started();
        world.answer(refused(Disposition::Suppress(scope)));
        let said = &world.writes.last().unwrap().suppressions;
        assert_eq!((said.len(), said[0].recipient, said[0].scope), (1, person(10), scope));
        assert_eq!((said[0].says, said[0].said_at), (Says::Stop { provider_code: None }, world.at.wall));
        assert!(world.is_awaited(), "{:?}", world.log);
        assert!(world.written().contains(&"look up"), "the store is asked once the opt-out is durable");
        world.pass(SECOND);
        world.accept_for(11, 10);
        world.flush();
        let skips = scope == Suppression::Everything;
        assert_eq!(world.attempts.is_empty(), skips, "a text is not marketing: {scope:?}");
        if skips {
            let outcome = world.outcome();
            assert_eq!((outcome.state, outcome.attempts), (State::Suppressed, 0));
            assert!(world.figures.contains(&Figure::Suppressed) && outcome.error.is_some());
            assert_eq!(world.mark(11).state, send::State::Finished);
        }
    }
}

#[test]
fn marketing_that_the_provider_holds_back_from_a_person_waits_a_day_in_the_store() {
    let mut world = World::ready(1);
    world.accept_template(10, 7);
    world.flush();
    world.answer(refused(Disposition::HoldRecipient));
    let until = world.at.wall.plus(DAY);
    assert_eq!((world.outcome().state, world.outcome().retry_at), (State::Queued, Some(until)));
    assert_eq!(world.mark(10).due_at, Some(until));
    let said = world.writes.last().unwrap().suppressions[0];
    let hold = Says::Hold { until, provider_code: None };
    assert_eq!((said.scope, said.says), (Suppression::Marketing, hold));
    world.settle();
    world.pass(SECOND);
    // Another template to the same person waits as long, a text to them goes.
    let template = Order { template: Some(marketing(8)), ..order() };
    world.accept_order(11, template, Recipients::One(person(10)));
    world.flush();
    assert!(world.attempts.is_empty(), "{:?}", world.log);
    assert_eq!((world.mark(11).due_at, world.outcome().attempts), (Some(until), 0));
    world.settle();
    world.pass(SECOND);
    world.accept_for(12, 10);
    world.flush();
    assert_eq!(world.under_way(), [12]);
}

#[test]
fn a_message_whose_send_ended_meanwhile_ends_with_it_unless_its_outcome_is_unknown() {
    let (canceled, expired) = (send::State::Canceled, send::State::Expired);
    for (over, reply, state) in [
        (canceled, refused(Disposition::Retry), State::Canceled),
        (expired, refused(Disposition::Retry), State::Expired),
        (canceled, Reply::Uncertain(failure()), State::Unknown),
        (canceled, accepted(), State::Sent),
        (canceled, refused(Disposition::Fail), State::Failed),
    ] {
        let mut world = World::started();
        let released = Input::Released { send_id: Uuid::from_u128(10), over: Some(over), caller: Caller(5) };
        world.feed(released);
        world.flush();
        world.answer(reply);
        let outcome = world.outcome();
        assert_eq!((outcome.state, outcome.retry_at), (state, None), "{over:?}");
        assert_eq!(world.mark(10).state, over);
        world.flush();
        assert_eq!((world.limits().active_sends, world.machine.backlog().in_flight), (0, 0));
    }
}

#[test]
fn a_message_whose_send_was_paused_while_it_was_under_way_waits_in_the_store() {
    for (reply, state, wait) in [
        (refused(Disposition::Pair), State::Queued, SECOND),
        (Reply::Uncertain(failure()), State::Unknown, 2 * MINUTE),
    ] {
        let mut world = World::started();
        world.feed(Input::Released { send_id: Uuid::from_u128(10), over: None, caller: Caller(5) });
        assert_eq!(world.replies.len(), 1, "no message of the send starts any more");
        world.flush();
        world.answer(reply);
        assert_eq!((world.outcome().state, world.row_waits()), (state, Some(wait)));
        let mark = world.mark(10);
        assert_eq!((mark.state, mark.due_at), (send::State::Active, Some(world.at.wall.plus(wait))));
        assert_eq!(world.machine.backlog().retry, 0);
        world.flush();
        assert_eq!(world.limits().active_sends, 0);
    }
}

#[test]
fn an_answer_for_a_send_that_is_gone_from_the_store_is_not_written() {
    for reply in [accepted(), refused(Disposition::Retry), Reply::Uncertain(failure())] {
        let mut world = World::started();
        world.accept(11);
        let gone = Written { gone: vec![Uuid::from_u128(10)], overtaken: Vec::new() };
        world.feed(Input::Written(Ok(gone)));
        world.flush();
        let written = world.writes.len();
        world.answer_first(reply);
        world.flush();
        assert!(world.writes[written..].iter().all(|write| write.outcomes.is_empty()));
        assert_eq!(world.machine.backlog().in_flight, world.attempts.len() as u64);
    }
}

#[test]
fn a_receipt_that_came_during_a_further_attempt_outranks_whatever_is_answered() {
    let mut world = World::started();
    let key = world.attempts[0].ticket.key();
    world.answer(refused(Disposition::Retry));
    world.until_attempt();
    world.feed(Input::Heard(vec![(key, State::Delivered)]));
    let written = world.writes.len();
    world.figures.clear();
    world.answer(refused(Disposition::Fail));
    assert!(world.figures.is_empty(), "{:?}", world.figures);
    assert!(world.writes[written..].iter().all(|write| write.outcomes.is_empty()));
    assert_eq!(world.mark(10).state, send::State::Finished);
    world.flush();
    assert_eq!((world.machine.backlog().in_flight, world.limits().active_sends), (0, 0));
}

#[test]
fn messages_that_failed_together_do_not_come_back_together() {
    for (reply, least, most) in
        [(refused(Disposition::Retry), HALF, SECOND), (refused(Disposition::SlowNumber), SECOND, 2 * SECOND)]
    {
        let mut world = World::configured(1, |_| (), |_| (), |engine, _| engine.concurrency = 40).begun();
        for id in 10..40 {
            world.pass(SECOND / 20);
            world.start(id);
        }
        let mut waits: Vec<_> = (0..30)
            .map(|_| {
                world.answer(reply.clone());
                let wait = world.row_waits().unwrap();
                world.flush();
                wait
            })
            .collect();
        waits.sort();
        waits.dedup();
        assert!(waits.len() > 20, "{waits:?}");
        let part = (most - least) / 4;
        assert!(waits[0] < least + part && waits[waits.len() - 1] > most - part, "{waits:?}");
    }
}
