//! Messages that go later, and questions that are asked later: slots of pairs, probes, reads of the store.

use super::*;
use connectors::Health;
use domain::channel::{Number, Trial};
use domain::tier::UnknownOutcome;

impl World {
    /// Lets this time pass in short steps. Every write is durable at once, and the provider accepts every message.
    /// Returns when messages went, counted from `start`.
    fn run(&mut self, time: Duration, start: Instant) -> Vec<Duration> {
        let (end, mut went) = (self.at.monotonic + time, Vec::new());
        while self.at.monotonic < end {
            self.pass(SECOND / 50);
            loop {
                let effects = self.written();
                went.extend(self.attempts.iter().map(|_| self.at.monotonic - start));
                let answered = self.attempts.len();
                for _ in 0..answered {
                    self.answer(accepted());
                }
                if answered == 0 && !effects.contains(&"write") {
                    break;
                }
            }
        }
        went
    }

    /// How often the number is probed in an hour, when each probe gets this answer.
    fn asked_in_an_hour(&mut self, health: &Health) -> usize {
        let (end, mut asked) = (self.at.monotonic + 60 * MINUTE, 0);
        while self.at.monotonic < end {
            let is_asked = self.log.iter().filter(|line| line.starts_with("probe")).count() > asked;
            if is_asked {
                asked += 1;
                let generation = self.machine.link.generation();
                self.feed(Input::Probed { generation, health: health.clone() });
            }
            for size in [Size::Direct, Size::Bulk] {
                self.feed(Input::Fetched { size, result: Ok(nothing()) });
            }
            self.pass(SECOND);
        }
        asked
    }
}

#[test]
fn messages_to_one_person_that_a_stall_held_up_keep_their_distance_all_the_same() {
    let mut world = World::with_tier(1, |tier| tier.pair_burst = 1).begun();
    let start = world.at.monotonic;
    for id in 10..14 {
        world.accept_for(id, 7);
    }
    assert_eq!(world.run(SECOND, start).len(), 1, "{:?}", world.log);
    // The machine stands still: the slots of all three pass.
    world.at.monotonic += 30 * SECOND;
    world.at.wall = world.at.wall.plus(30 * SECOND);
    let went = world.run(MINUTE, start);
    assert_eq!(went.len(), 3, "{went:?}");
    assert!(went.windows(2).all(|pair| pair[1] - pair[0] >= 6 * SECOND), "{went:?}");
    assert!(went[2] - went[0] <= 13 * SECOND, "{went:?}");
}

#[test]
fn a_retried_message_takes_another_slot_of_its_pair() {
    let mut world = World::with_tier(1, |tier| tier.pair_burst = 1).begun();
    let start = world.at.monotonic;
    world.accept_for(10, 7);
    world.written();
    // It waits a second for the provider, and five more for the pair.
    world.answer(Reply::NotSent(failure()));
    let went = world.run(MINUTE, start);
    assert!(went.len() == 1 && went[0] >= 6 * SECOND && went[0] <= 7 * SECOND, "{went:?}");
}

#[test]
fn a_reconnected_channel_without_work_is_probed_less_and_less_often() {
    let asked = |health: &Health| {
        let mut world = World::new(1).begun();
        let mut channel = (**world.machine.channel()).clone();
        channel.connection = Connection { status: Status::Connecting, reason: None, since: world.at.wall };
        channel.trial = Some(Trial { wait: MINUTE, due: world.at.wall });
        channel.revision += 1;
        world.feed(Input::Refreshed(Arc::new(channel)));
        world.feed(Input::Connected { generation: 2, result: Ok(Connected { app: AppId::of(b"app") }) });
        (world.asked_in_an_hour(health), world.machine.link.status())
    };
    let healthy = Health::Healthy(Number { level: Some(Level::Standard), ..Number::default() });
    let (often, status) = asked(&healthy);
    assert!(often <= 2 && status == Status::Connecting, "once, and again after the usual interval: {often}");
    let (often, _) = asked(&Health::Unknown(failure()));
    assert!((6..=9).contains(&often), "half a minute, a minute, two: {often}");
}

#[test]
fn an_unknown_outcome_is_final_at_once_where_the_tier_holds_it() {
    for (policy, waiting) in [(UnknownOutcome::Hold, 0), (UnknownOutcome::Resend, 1)] {
        let mut world = World::with_tier(1, |tier| tier.unknown_outcome = policy).begun();
        world.accept(10);
        world.written();
        world.answer(Reply::Uncertain(failure()));
        assert_eq!(world.machine.backlog().retry, waiting, "{policy:?}: {:?}", world.log);
    }
}

#[test]
fn waiting_messages_of_a_send_that_is_gone_from_the_store_are_dropped() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    world.answer(Reply::NotSent(failure()));
    assert_eq!(world.machine.backlog().retry, 1);
    let found = Written { gone: vec![Uuid::from_u128(10)], overtaken: Vec::new() };
    world.feed(Input::Written(Ok(found)));
    assert_eq!(world.machine.backlog().retry, 0, "{:?}", world.log);
    world.pass(MINUTE);
    assert!(world.attempts.is_empty());
}

#[test]
fn a_webhook_about_the_number_causes_a_probe_at_once_but_not_twice_in_a_second() {
    let mut world = World::ready(1);
    // The first probe of a channel whose state and level are known.
    world.pass(60 * MINUTE);
    let generation = world.machine.link.generation();
    let answer = || Input::Probed { generation, health: Health::Unknown(failure()) };
    world.feed(answer());
    let before = world.count("probe");
    assert!(world.feed(Input::Recheck).contains(&"wake"), "the last probe is less than a second old");
    world.pass(SECOND);
    assert_eq!(world.count("probe"), before + 1);
    // A webhook during a probe causes another probe after it.
    world.feed(Input::Recheck);
    assert_eq!(world.count("probe"), before + 1);
    world.feed(answer());
    world.pass(SECOND);
    assert_eq!(world.count("probe"), before + 2, "{:?}", world.log);
    world.feed(answer());
    world.pass(10 * SECOND);
    assert!(world.feed(Input::Recheck).contains(&"probe"), "{:?}", world.log);
}

#[test]
fn a_report_of_sends_in_memory_causes_no_read_of_the_store() {
    let mut world = World::ready(1);
    world.accept(10);
    let told = |direct: u128| Input::Overlooked { direct: Some(Uuid::from_u128(direct)), bulk: None };
    for _ in 0..3 {
        assert!(!world.feed(told(10)).contains(&"fetch"));
    }
    // An unknown send that is reported a second time is not one that has just ended.
    assert!(!world.feed(told(11)).contains(&"fetch"));
    assert!(world.feed(told(11)).contains(&"fetch"), "{:?}", world.log);
    assert!(!world.feed(told(11)).contains(&"fetch"), "a read is under way");
}

#[test]
fn the_mark_of_a_message_to_one_person_is_not_left_to_a_later_commit() {
    let mut world = World::ready(1);
    world.accept_to(20, Recipients::Blocks(1_000));
    world.written();
    assert_eq!(world.accept(10), ["write"]);
    let last = world.log.last().unwrap();
    assert!(last.starts_with("write awaited"), "{last}");
}
