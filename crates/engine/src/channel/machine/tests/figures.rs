//! What is counted of each message: its answer, its outcome, and why it is held.

use super::*;
use domain::outlook::Reason;

#[test]
fn each_answer_is_counted_once_and_so_is_its_effect() {
    let table = [
        (accepted(), vec![Figure::Sent]),
        (refused(Disposition::Fail), vec![Figure::Failed]),
        (refused(Disposition::Retry), vec![Figure::Retried, Figure::Held(Reason::Retry)]),
        (refused(Disposition::Wait), vec![Figure::Retried, Figure::Held(Reason::ProviderPause)]),
        (refused(Disposition::Maintenance), vec![Figure::Retried, Figure::Held(Reason::ProviderPause)]),
        (refused(Disposition::SlowNumber), vec![Figure::Retried, Figure::Held(Reason::BackOff)]),
        (refused(Disposition::SlowAccount), vec![Figure::Retried, Figure::Held(Reason::AccountThrottled)]),
        (refused(Disposition::SlowApp), vec![Figure::Retried, Figure::Held(Reason::AppThrottled)]),
        (refused(Disposition::Pair), vec![Figure::Retried, Figure::Held(Reason::Pair)]),
        (Reply::NotSent(failure()), vec![Figure::Retried, Figure::Held(Reason::ProviderPause)]),
        (Reply::NoSocket(failure()), vec![Figure::Retried, Figure::Held(Reason::NoSocket)]),
        (Reply::Unsendable(failure()), vec![Figure::Failed]),
        (Reply::Uncertain(failure()), vec![Figure::Retried, Figure::Held(Reason::UnknownOutcome)]),
    ];
    for (reply, figures) in table {
        let (mut world, said) = (World::started(), format!("{reply:?}"));
        world.pass(3 * SECOND / 2);
        world.figures.clear();
        world.answer(reply);
        let all = [vec![Figure::Answered(3 * SECOND / 2)], figures].concat();
        assert_eq!(world.figures, all, "{said}");
    }
}

#[test]
fn a_message_is_counted_as_held_for_a_reason_of_its_own_and_not_when_its_send_leaves() {
    let held = |world: &World| {
        let held = world.figures.iter().filter(|figure| matches!(figure, Figure::Held(_)));
        held.copied().collect::<Vec<_>>()
    };
    let mut world = World::with_tier(1, |tier| tier.pair_burst = 1).begun();
    world.accept_for(10, 7);
    world.accept_for(11, 7);
    world.flush();
    world.pass(SECOND);
    world.flush();
    assert_eq!(held(&world), [Figure::Held(Reason::Pair)]);

    let mut world = World::ready(1);
    world.accept_bulk(20, order(), &[1, 2, 3]);
    world.feed(Input::Released { send_id: Uuid::from_u128(20), over: None, caller: Caller(1) });
    world.flush();
    assert_eq!(held(&world), []);

    for (disposition, reason) in
        [(Disposition::Disconnect, Reason::Disconnected), (Disposition::Block, Reason::Blocked)]
    {
        let mut world = World::started();
        world.answer(refused(disposition));
        assert_eq!(held(&world), [Figure::Held(reason)]);
    }
}
