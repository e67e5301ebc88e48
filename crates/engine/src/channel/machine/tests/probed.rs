//! Probes of the number: when they happen, and what their answers change.

use super::number::{healthy, is_about, saved};
use super::*;
use connectors::Health;
use domain::channel::{Number, Trial};
use domain::outlook::Reason;

const MILLI: Duration = Duration::from_millis(1);

#[test]
fn a_number_that_is_reported_as_refused_is_probed_less_and_less_often() {
    let mut world = World::ready(1);
    let blocked = || Health::Refused(Disposition::Block, failure());
    world.probed(blocked());
    assert_eq!((world.status(), world.saves.last().unwrap().trial), (Status::Blocked, None));
    for minutes in [2, 4, 8, 16, 30, 30] {
        let wait = world.until_asked();
        assert!(is_about(wait, minutes * MINUTE), "{minutes}: {wait:?}");
        world.probed(blocked());
    }
    world.until_asked();
    assert!(world.probed(healthy()).contains(&"keep number"));
    assert_eq!(world.status(), Status::Connected);
    world.feed(saved(2));
    world.probed(blocked());
    assert!(is_about(world.asks_in(), 2 * MINUTE), "a healthy answer resets the back-off");
}

#[test]
fn an_answer_without_a_verdict_changes_nothing_and_an_earlier_connector_s_is_ignored() {
    let mut world = World::ready(1);
    for health in [Health::Unknown(failure()), Health::Refused(Disposition::Retry, failure())] {
        world.probed(health);
        assert_eq!((world.status(), world.saves.len()), (Status::Connected, 0));
    }
    let earlier = Health::Refused(Disposition::Block, failure());
    world.feed(Input::Probed { generation: 0, health: earlier });
    assert_eq!(world.status(), Status::Connected);
}

#[test]
fn a_channel_that_connects_is_connected_with_its_first_accepted_message() {
    let connecting = |channel: &mut Channel| channel.connection.status = Status::Connecting;
    let mut world = World::with(1, |_| (), connecting).begun();
    assert_eq!(world.count("probe"), 1, "it is probed at once");
    world.start(10);
    world.answer(refused(Disposition::Fail));
    assert_eq!(world.status(), Status::Connecting);
    world.flush();
    world.pass(SECOND);
    world.start(11);
    world.answer(accepted());
    assert_eq!((world.status(), world.saves.len()), (Status::Connected, 1));
}

#[test]
fn a_new_channel_waits_for_the_provider_s_first_answer_for_ten_seconds_at_most() {
    let unknown = |channel: &mut Channel| channel.level = None;
    let begun = || {
        let mut world = World::with(1, |_| (), unknown);
        world.connected();
        world.store_is_empty();
        world.accept(10);
        world.flush();
        world.pass(SECOND);
        world.flush();
        assert!(world.attempts.is_empty());
        world
    };
    let mut world = begun();
    let waiting = world.limits().waiting.unwrap();
    assert_eq!(
        (waiting.reason, waiting.until),
        (Reason::ProviderPause, Some(world.at.wall.plus(9 * SECOND)))
    );
    assert_eq!(
        waiting.sentence,
        "the channel waits for the provider's first answer: whether it accepts messages, and how fast"
    );
    world.pass(9 * SECOND - MILLI);
    assert!(world.attempts.is_empty());
    world.pass(MILLI);
    assert_eq!(world.under_way(), [10]);
    let limit = world.limit("provider_level");
    let lowest = domain::limit::Origin::Level { level: Level::Standard, is_known: false };
    assert_eq!(limit.set_by, lowest, "the standard level is assumed");
    let coexistence = Health::Healthy(Number { level: Some(Level::Coexistence), ..Number::default() });
    for (health, rate) in [(coexistence, 20.0), (Health::Unknown(failure()), 80.0)] {
        let mut world = begun();
        world.probed(health);
        assert_eq!(world.under_way(), [10], "an answer ends the wait, whatever it says");
        assert_eq!(world.limits().rate, Some(rate));
    }
}

#[test]
fn a_known_channel_is_probed_after_the_usual_interval_and_an_unconfirmed_one_soon() {
    let world = World::ready(1);
    assert!(is_about(world.asks_in() + SECOND, 60 * MINUTE));
    let connecting = |channel: &mut Channel| channel.connection.status = Status::Connecting;
    let mut world = World::with(1, |_| (), connecting).begun();
    for seconds in [30, 60, 120, 240] {
        world.probed(Health::Unknown(failure()));
        assert!(is_about(world.asks_in(), seconds * SECOND), "{seconds}: {:?}", world.asks_in());
        world.until_asked();
    }
}

#[test]
fn channels_of_an_account_probe_one_after_the_other() {
    let mut world = World::ready(1);
    let common = Arc::clone(&world.machine.common);
    let mut other = (**world.machine.channel()).clone();
    other.id = Uuid::from_u128(9);
    let member = common.accounts.member(&other, world.at);
    assert!(member.want_question(world.at));
    assert!(!world.feed(Input::Recheck).contains(&"probe"), "the other one asks");
    member.end_question(world.at);
    assert!(world.hear_account().contains(&"probe"));
    assert!(!member.want_question(world.at), "now this one does");
    world.probed(Health::Unknown(failure()));
    world.hear_account();
    assert!(!world.feed(Input::Account(crate::account::AccountUpdate::MayAsk)).contains(&"probe"));
}

#[test]
fn a_trial_that_the_store_knows_is_kept_by_the_next_process() {
    let half_a_minute = 30 * SECOND;
    // When the canary is due, and when the number is probed: not at once.
    for (due, asked) in [(180, 3 * MINUTE), (31, 31 * SECOND), (10, half_a_minute), (1, half_a_minute)] {
        let owed = move |channel: &mut Channel| {
            channel.connection.status = Status::Blocked;
            let due = channel.created_at.plus(Duration::from_secs(due));
            channel.trial = Some(Trial { wait: 4 * MINUTE, due });
        };
        let mut world = World::with(1, |_| (), owed);
        world.connected();
        world.store_is_empty();
        world.accept(10);
        world.flush();
        assert_eq!(world.asks_in(), asked);
        world.until_asked();
        world.probed(healthy());
        world.feed(saved(2));
        world.flush();
        assert_eq!(world.under_way(), [10]);
    }
}

#[test]
fn a_canary_that_is_due_when_the_process_starts_causes_a_probe_at_once() {
    for (due, asks) in [(0, true), (1, false)] {
        let owed = move |channel: &mut Channel| {
            channel.connection.status = Status::Blocked;
            channel.trial = Some(Trial { wait: 4 * MINUTE, due: channel.created_at.plus(due * SECOND) });
        };
        let mut world = World::with(1, |_| (), owed);
        assert_eq!(world.connected().contains(&"probe"), asks);
    }
}

#[test]
fn a_reconnected_channel_with_a_trial_is_probed_when_its_canary_is_due() {
    let owed = |channel: &mut Channel| {
        channel.connection.status = Status::Connecting;
        channel.trial = Some(Trial { wait: 4 * MINUTE, due: channel.created_at.plus(4 * MINUTE) });
    };
    let begun = || {
        let mut world = World::with(1, |_| (), owed);
        assert!(world.connected().contains(&"probe"), "it is probed at once");
        world
    };
    let mut world = begun();
    world.probed(Health::Unknown(failure()));
    assert!(is_about(world.asks_in(), 30 * SECOND), "{:?}", world.asks_in());
    let mut world = begun();
    world.probed(healthy());
    assert_eq!(world.asks_in(), 4 * MINUTE);
    world.store_is_empty();
    world.accept(10);
    world.flush();
    assert!(world.attempts.is_empty(), "it is not due yet");
    world.until_asked();
    world.probed(healthy());
    world.flush();
    assert_eq!(world.under_way(), [10]);
}
