//! A channel that the provider refuses: what is saved, when it is asked again, and the one message that opens it.

use super::*;
use crate::connector::Health;
use crate::domain::channel::{Number, Trial};
use crate::domain::outlook::Reason;

const MILLI: Duration = Duration::from_millis(1);

fn healthy() -> Health {
    Health::Healthy(Number { level: Some(Level::Standard), ..Number::default() })
}

fn saved(revision: i64) -> Input {
    Input::ConnectionSaved(Saved::Done { revision })
}

impl World {
    /// The provider refused the channel in its answer to message 10; message 11 waits.
    fn refused_with(disposition: Disposition) -> Self {
        let mut world = Self::ready(1);
        world.start(10);
        world.accept(11);
        world.flush();
        world.attempts.truncate(1);
        world.answer(refused(disposition));
        world.flush();
        world.feed(saved(2));
        world
    }

    fn status(&self) -> Status {
        self.machine.link.status()
    }

    /// The provider says how the number is.
    fn probed(&mut self, health: Health) -> Vec<&'static str> {
        let generation = self.machine.link.generation();
        self.feed(Input::Probed { generation, health })
    }

    /// How long until the provider is asked next.
    fn asks_in(&self) -> Duration {
        self.machine.link.probe_at().unwrap().saturating_duration_since(self.at.monotonic)
    }

    /// Time passes until the provider is asked.
    fn until_asked(&mut self) -> Duration {
        let asked = self.count("probe");
        let wait = self.asks_in();
        self.pass(wait - MILLI);
        assert_eq!(self.count("probe"), asked, "not before");
        self.pass(MILLI);
        assert_eq!(self.count("probe"), asked + 1, "{:?}", self.log.last());
        wait
    }

    fn troubled(&mut self, disposition: Disposition, is_of_message: bool) {
        self.feed(Input::Troubled(Troubled { disposition, failure: failure(), is_of_message }));
    }
}

/// Whether a wait is `whole` or, so that channels do not ask together, up to a quarter less.
fn is_about(wait: Duration, whole: Duration) -> bool {
    wait <= whole + MILLI && wait + 2 * MILLI >= whole * 3 / 4
}

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
    assert!(world.probed(healthy()).contains(&"save"), "that it was tried survives the process");
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
        assert!(is_about(world.asks_in(), wait * MINUTE), "it is asked when it is due");
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
fn an_answer_to_an_earlier_token_disconnects_nobody() {
    let mut world = World::ready(1);
    world.start(10);
    world.attempts[0].generation = 0;
    world.answer(refused(Disposition::Disconnect));
    assert_eq!((world.status(), world.outcome().state), (Status::Connected, State::Queued));
}

#[test]
fn a_lost_answer_to_the_one_message_waits_and_its_receipt_opens_the_channel() {
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
fn a_refusal_that_is_told_of_an_accepted_message_owes_a_message_and_one_of_the_account_does_not() {
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
        assert_eq!(world.saves.len(), saves, "of one that is refused, that is no news");
        if !owes {
            assert!(is_about(world.asks_in(), MINUTE), "{:?}", world.asks_in());
            world.until_asked();
            world.probed(healthy());
            assert_eq!(world.status(), Status::Connected, "the provider's word is enough");
        }
    }
}

#[test]
fn what_is_told_of_the_pace_or_the_number_slows_or_pauses_and_what_is_of_one_message_does_nothing() {
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
fn a_number_that_is_described_as_refused_is_asked_about_ever_more_seldom() {
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
    assert!(is_about(world.asks_in(), 2 * MINUTE), "after a healthy answer it begins again");
}

#[test]
fn an_answer_that_says_nothing_changes_nothing_and_an_earlier_connector_s_is_not_heard() {
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
fn news_bring_the_one_message_forward_but_no_sooner_than_a_minute_after_the_last() {
    let mut world = World::refused_with(Disposition::Block);
    world.pass(5 * SECOND);
    assert!(world.feed(Input::Recheck).contains(&"probe"));
    world.probed(healthy());
    world.feed(saved(3));
    world.flush();
    assert_eq!(world.attempts.len(), 1, "the provider has news of the number");
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

#[test]
fn a_channel_that_connects_is_connected_with_its_first_accepted_message() {
    let connecting = |channel: &mut Channel| channel.connection.status = Status::Connecting;
    let mut world = World::with(1, |_| (), connecting).begun();
    assert_eq!(world.count("probe"), 1, "it was asked about at once");
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
        "the provider's first answer is awaited: whether it takes messages, and how fast"
    );
    world.pass(9 * SECOND - MILLI);
    assert!(world.attempts.is_empty());
    world.pass(MILLI);
    assert_eq!(world.under_way(), [10]);
    let limit = world.limit("provider_level");
    let lowest = crate::domain::limit::Origin::Level { level: Level::Standard, is_known: false };
    assert_eq!(limit.set_by, lowest, "the lowest usual level counts");
    let coexistence = Health::Healthy(Number { level: Some(Level::Coexistence), ..Number::default() });
    for (health, rate) in [(coexistence, 20.0), (Health::Unknown(failure()), 80.0)] {
        let mut world = begun();
        world.probed(health);
        assert_eq!(world.under_way(), [10], "an answer ends the wait, whatever it says");
        assert_eq!(world.limits().rate, Some(rate));
    }
}

#[test]
fn a_known_channel_is_asked_about_after_the_usual_interval_and_an_unconfirmed_one_soon() {
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
fn channels_of_an_account_ask_one_after_the_other() {
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
    assert!(!world.feed(Input::Account(crate::engine::account::AccountUpdate::MayAsk)).contains(&"probe"));
}

#[test]
fn a_channel_without_a_usable_token_is_disconnected_and_one_that_cannot_be_read_is_tried_again() {
    let mut world = World::new(1);
    let failed = || Input::Connected { generation: 1, result: Err(NotConnected::Failed) };
    world.feed(failed());
    assert_eq!((world.status(), world.count("connect")), (Status::Connected, 1));
    world.pass(SECOND - MILLI);
    assert_eq!(world.count("connect"), 1);
    world.pass(MILLI);
    assert_eq!((world.count("connect"), world.machine.link.generation()), (2, 2));
    let unusable = NotConnected::Unusable("the key is gone".to_owned());
    world.feed(Input::Connected { generation: 2, result: Err(unusable) });
    let save = world.saves.last().unwrap();
    let reason = save.to.reason.clone().unwrap();
    assert_eq!((save.to.status, reason.sentence.as_str()), (Status::Disconnected, "the key is gone"));
    assert_eq!(save.trial, None);
    world.feed(failed());
    world.pass(2 * SECOND);
    assert_eq!(world.count("connect"), 2, "what an earlier one says is out of date");
}

#[test]
fn a_state_that_could_not_be_saved_is_saved_a_second_later_as_it_is_then() {
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused(Disposition::Disconnect));
    world.feed(Input::ConnectionSaved(Saved::Failed));
    world.pass(SECOND - MILLI);
    assert_eq!(world.saves.len(), 1);
    world.pass(MILLI);
    let (first, second) = (world.saves[0].clone(), world.saves[1].clone());
    assert_eq!((first.from, first.to), (second.from, second.to));
}

#[test]
fn what_changed_while_a_state_was_saved_is_saved_after_it_over_what_was_saved() {
    let mut world = World::ready(1);
    world.troubled(Disposition::Disconnect, false);
    world.until_asked();
    world.probed(healthy());
    assert_eq!((world.status(), world.saves.len()), (Status::Connected, 1), "one at a time");
    world.feed(saved(2));
    assert_eq!(world.saves.len(), 2);
    let (first, second) = (world.saves[0].clone(), world.saves[1].clone());
    assert_eq!((second.from, second.to.status), (first.to, Status::Connected));
    world.feed(saved(3));
    assert_eq!(world.saves.len(), 2);
}

#[test]
fn a_person_who_reconnects_wins_over_what_the_channel_wanted_to_save() {
    for revision in [1, 5] {
        let mut world = World::ready(1);
        world.start(10);
        world.answer(refused(Disposition::Disconnect));
        let mut record = (**world.machine.channel()).clone();
        record.revision = revision;
        record.connection = Connection { status: Status::Connecting, reason: None, since: world.at.wall };
        record.name = "by a person".to_owned();
        let effects = world.feed(Input::ConnectionSaved(Saved::Overtaken(Some(Box::new(record)))));
        let is_newer = revision > 1;
        assert_eq!(world.machine.channel().name == "by a person", is_newer, "an older record is no news");
        assert!(effects.contains(&"connect"));
        let status = if is_newer { Status::Connecting } else { Status::Connected };
        assert_eq!((world.status(), world.saves.len()), (status, 1));
    }
    let mut world = World::ready(1);
    world.start(10);
    world.answer(refused(Disposition::Disconnect));
    assert_eq!(world.feed(Input::ConnectionSaved(Saved::Overtaken(None))), [""; 0], "it is gone");
}

#[test]
fn a_change_from_outside_waits_for_a_save_under_way_and_an_older_one_is_not_taken_up() {
    let mut world = World::ready(1);
    let record = |world: &World, revision, status| {
        let mut record = (**world.machine.channel()).clone();
        record.revision = revision;
        record.connection = Connection { status, reason: None, since: world.at.wall };
        Input::Refreshed(Arc::new(record))
    };
    let older = record(&world, 0, Status::Blocked);
    world.feed(older);
    assert_eq!((world.status(), world.machine.channel().revision), (Status::Connected, 1));
    let same = record(&world, 1, Status::Blocked);
    world.feed(same);
    assert_eq!(world.status(), Status::Connected, "its own state is not older");
    world.troubled(Disposition::Disconnect, false);
    let newer = record(&world, 5, Status::Connecting);
    world.feed(newer);
    assert_eq!(world.status(), Status::Disconnected, "its own is being saved");
    assert!(world.feed(saved(4)).contains(&"connect"));
    assert_eq!(world.status(), Status::Connecting);
    let paused = record(&world, 6, Status::Connecting);
    assert!(!world.feed(paused).contains(&"connect"), "the same state is none to take over");
}

#[test]
fn a_channel_that_is_connected_again_begins_without_the_pause_and_the_back_off_of_before() {
    let mut world = World::refused_with(Disposition::Block);
    world.probed(Health::Refused(Disposition::Block, failure()));
    world.feed(Input::Troubled(Troubled {
        disposition: Disposition::Maintenance,
        failure: failure(),
        is_of_message: false,
    }));
    let mut record = (**world.machine.channel()).clone();
    record.revision = 9;
    record.connection = Connection { status: Status::Connecting, reason: None, since: world.at.wall };
    record.trial = None;
    world.feed(Input::Refreshed(Arc::new(record)));
    assert!(world.attempts.is_empty(), "there is no connector yet");
    world.pass(SECOND);
    assert!(world.connected().contains(&"attempt"), "{:?}", world.log);
    world.probed(Health::Refused(Disposition::Block, failure()));
    assert!(is_about(world.asks_in(), 2 * MINUTE), "{:?}", world.asks_in());
}

#[test]
fn a_trial_that_the_store_knows_is_kept_by_the_next_process() {
    let owed = |channel: &mut Channel| {
        channel.connection.status = Status::Blocked;
        channel.trial = Some(Trial { wait: 4 * MINUTE, due: channel.created_at.plus(3 * MINUTE) });
    };
    let mut world = World::with(1, |_| (), owed).begun();
    world.accept(10);
    world.flush();
    let wait = world.asks_in() + SECOND;
    assert!(wait >= 3 * MINUTE && wait <= 3 * MINUTE + SECOND, "when it is due: {wait:?}");
    world.until_asked();
    world.probed(healthy());
    world.feed(saved(2));
    world.flush();
    assert_eq!(world.under_way(), [10]);
}
