//! A channel that the provider refuses: what is saved, and the canary that opens it again.

use super::number::{healthy, is_about, saved};
use super::*;
use domain::outlook::Reason;

#[test]
fn a_refusal_is_published_saved_and_keeps_the_queue() {
    for (disposition, status, reason, first) in [
        (Disposition::Disconnect, Status::Disconnected, Reason::Disconnected, MINUTE),
        (Disposition::Block, Status::Blocked, Reason::Blocked, MINUTE),
        (Disposition::Restrict, Status::Blocked, Reason::Blocked, 120 * MINUTE),
    ] {
        let world = World::refused_with(disposition);
        assert_eq!(world.status(), status);
        let save = world.saves.last().unwrap();
        assert_eq!((save.from.status, save.to.status), (Status::Connected, status));
        assert_eq!((save.to.since, world.saves.len()), (world.at.wall, 1));
        let trial = save.trial.unwrap();
        assert!(trial.wait == first && is_about(trial.due.from_now(world.at.wall), first), "{trial:?}");
        assert!(world.figures.contains(&Figure::Changed(status)));
        let waiting = world.limits().waiting.unwrap();
        assert_eq!((waiting.reason, waiting.until), (reason, None));
        assert_eq!((world.attempts.len(), world.limits().active_sends), (0, 2), "the queue is kept");
    }
}

#[test]
fn a_healthy_answer_lets_one_message_go_once_it_is_due_and_its_success_opens_the_channel() {
    let mut world = World::refused_with(Disposition::Block);
    let wait = world.until_asked();
    assert!(is_about(wait, MINUTE), "{wait:?}");
    assert!(world.probed(healthy()).contains(&"save"), "the trial is saved for the next process");
    world.feed(saved(3));
    world.flush();
    assert_eq!((world.attempts.len(), world.status()), (1, Status::Blocked));
    world.pass(SECOND);
    world.accept(12);
    world.flush();
    assert_eq!(world.attempts.len(), 1, "no second one before the answer");
    assert_eq!(world.limits().waiting.unwrap().reason, Reason::Blocked);
    assert!(world.answer(accepted()).contains(&"save"));
    let save = world.saves.last().unwrap();
    assert_eq!((save.to.status, save.trial, save.to.reason.clone()), (Status::Connected, None, None));
    world.feed(saved(4));
    world.flush();
    for _ in 0..3 {
        world.pass(SECOND);
        world.flush();
    }
    assert_eq!((world.status(), world.attempts.len()), (Status::Connected, 2), "the queue goes on");
    assert!(is_about(world.asks_in() + 3 * SECOND, 60 * MINUTE), "{:?}", world.asks_in());
}

#[test]
fn each_message_that_is_refused_again_doubles_the_wait_for_the_next() {
    let mut world = World::refused_with(Disposition::Disconnect);
    for (wait, revision) in [(2, 3), (4, 5), (8, 7)] {
        world.until_asked();
        world.probed(healthy());
        world.feed(saved(revision));
        world.flush();
        world.answer(refused(Disposition::Disconnect));
        let trial = world.saves.last().unwrap().trial.unwrap();
        assert_eq!(trial.wait, wait * MINUTE);
        assert!(is_about(trial.due.from_now(world.at.wall), wait * MINUTE), "{trial:?}");
        assert!(is_about(world.asks_in(), wait * MINUTE), "the probe comes when the canary is due");
        world.feed(saved(revision + 1));
        world.flush();
        assert_eq!((world.attempts.len(), world.status()), (0, Status::Disconnected));
    }
}

#[test]
fn an_answer_to_an_earlier_message_says_nothing_new_of_a_refused_channel() {
    let mut world = World::ready(1);
    world.start(10);
    world.pass(SECOND);
    world.start(11);
    world.answer(refused(Disposition::Block));
    let trial = world.saves.last().unwrap().trial;
    world.pass(SECOND);
    world.answer(refused(Disposition::Block));
    assert_eq!((world.saves.len(), world.saves.last().unwrap().trial), (1, trial));
}

#[test]
fn an_answer_to_an_earlier_token_disconnects_no_channel() {
    let mut world = World::ready(1);
    world.start(10);
    world.attempts[0].generation = 0;
    world.answer(refused(Disposition::Disconnect));
    assert_eq!((world.status(), world.outcome().state), (Status::Connected, State::Sending));
}

#[test]
fn a_lost_answer_to_the_canary_waits_and_its_receipt_opens_the_channel() {
    let mut world = World::refused_with(Disposition::Block);
    world.until_asked();
    world.probed(healthy());
    world.feed(saved(3));
    world.flush();
    let key = world.attempts[0].ticket.key();
    world.answer(Reply::Uncertain(failure()));
    let trial = world.saves.last().unwrap().trial.unwrap();
    assert_eq!((trial.wait, trial.due), (MINUTE, world.at.wall.plus(MINUTE)));
    assert!(is_about(world.asks_in(), MINUTE), "{:?}", world.asks_in());
    world.feed(saved(4));
    world.flush();
    world.pass(SECOND);
    world.flush();
    assert!(world.attempts.is_empty() && world.status() == Status::Blocked);
    let other = Key { send_id: Uuid::from_u128(77), ordinal: 0 };
    world.feed(Input::Heard(vec![(other, State::Delivered)]));
    world.feed(Input::Heard(vec![(key, State::Failed)]));
    assert_eq!(world.status(), Status::Blocked, "it proves nothing");
    let mut world = world;
    world.feed(Input::Heard(vec![(key, State::Sent)]));
    assert_eq!(world.status(), Status::Connected);
}

#[test]
fn a_refusal_by_webhook_of_an_accepted_message_needs_a_trial_and_one_of_the_account_does_not() {
    for (disposition, is_of_message, owes) in [
        (Disposition::Block, true, true),
        (Disposition::Block, false, false),
        (Disposition::Disconnect, false, false),
        (Disposition::Restrict, false, true),
    ] {
        let mut world = World::ready(1);
        world.troubled(disposition, is_of_message);
        let save = world.saves.last().unwrap().clone();
        assert!(save.to.status != Status::Connected && save.to.reason.is_some());
        assert_eq!(save.trial.is_some(), owes, "{disposition:?} {is_of_message}");
        world.feed(saved(2));
        let saves = world.saves.len();
        world.troubled(Disposition::Restrict, true);
        assert_eq!(world.saves.len(), saves, "a refused channel is not refused again");
        if !owes {
            assert!(is_about(world.asks_in(), MINUTE), "{:?}", world.asks_in());
            world.until_asked();
            world.probed(healthy());
            assert_eq!(world.status(), Status::Connected, "a healthy probe is enough");
        }
    }
}

#[test]
fn trouble_with_the_pace_or_number_slows_or_pauses_and_trouble_of_one_message_does_nothing() {
    let told = |disposition| {
        let mut world = World::ready(1);
        world.troubled(disposition, true);
        world.accept(10);
        world.flush();
        let limits = world.limits();
        (world.attempts.len(), limits.rate, limits.waiting.map(|waiting| waiting.reason))
    };
    let full = Some(80.0);
    assert_eq!(told(Disposition::SlowNumber), (1, Some(40.0), None));
    assert_eq!(told(Disposition::SlowAccount), (0, full, Some(Reason::AccountThrottled)));
    assert_eq!(told(Disposition::SlowApp), (0, full, Some(Reason::AppThrottled)));
    assert_eq!(told(Disposition::Maintenance), (0, full, Some(Reason::ProviderPause)));
    for disposition in [
        Disposition::Fail,
        Disposition::Retry,
        Disposition::Wait,
        Disposition::Pair,
        Disposition::HoldTemplate,
        Disposition::HoldRecipient,
    ] {
        assert_eq!(told(disposition), (1, full, None), "{disposition:?}");
    }
}

#[test]
fn a_webhook_brings_the_canary_forward_but_no_sooner_than_a_minute_after_the_last() {
    let mut world = World::refused_with(Disposition::Block);
    world.pass(5 * SECOND);
    assert!(world.feed(Input::Recheck).contains(&"probe"));
    world.probed(healthy());
    world.feed(saved(3));
    world.flush();
    assert_eq!(world.attempts.len(), 1, "a webhook brings the canary forward");
    world.answer(refused(Disposition::Block));
    world.feed(saved(4));
    world.flush();
    world.pass(59 * SECOND);
    world.feed(Input::Recheck);
    world.probed(healthy());
    world.flush();
    assert!(world.attempts.is_empty());
    world.pass(2 * SECOND);
    world.feed(Input::Recheck);
    world.probed(healthy());
    world.flush();
    assert_eq!(world.attempts.len(), 1, "{:?}", world.log);
}

#[test]
fn a_half_open_channel_without_work_accepts_sends_and_the_next_one_decides() {
    let mut world = World::ready(1);
    world.troubled(Disposition::Block, true);
    world.feed(saved(2));
    world.until_asked();
    world.probed(healthy());
    assert_eq!(world.status(), Status::Connecting);
    assert!(world.saves.last().unwrap().trial.is_some());
    world.feed(saved(3));
    world.feed(saved(4));
    world.start(10);
    assert_eq!(world.status(), Status::Connecting);
    world.answer(accepted());
    assert_eq!((world.status(), world.saves.last().unwrap().trial), (Status::Connected, None));
}
