use uuid::Uuid;

use super::*;
use domain::alert::AlertKind;
use domain::channel::Status;
use domain::limit::Name;

const MINUTE: Duration = Duration::from_secs(60);

/// A channel's thread in virtual time.
struct World {
    thread: AlertThread,
    now: Timestamp,
    /// When mails went, and how many facts each has.
    mails: Vec<(u64, u64)>,
    minutes: u64,
}

impl World {
    fn new() -> Self {
        let thread = AlertThread::new(Uuid::from_u128(1), AlertKind::Channel, Uuid::from_u128(2));
        Self { thread, now: Timestamp::from_millis(1_700_000_000_000), mails: Vec::new(), minutes: 0 }
    }

    fn hear(&mut self, status: Status) -> bool {
        let fact = Fact::of_channel(self.thread.subject, status, None, self.now);
        let (_, turn) = fact.alert().unwrap();
        let is_told = hear(&mut self.thread, fact, turn, self.now);
        self.tell();
        is_told
    }

    fn tell(&mut self) {
        if self.thread.due_at.is_some_and(|due| due <= self.now) {
            self.mails.push((self.minutes, self.thread.item().unwrap().count));
            told(&mut self.thread, self.now);
        }
    }

    /// Lets time pass, minute by minute.
    fn pass(&mut self, minutes: u64) {
        for _ in 0..minutes {
            self.now = self.now.plus(MINUTE);
            self.minutes += 1;
            self.tell();
        }
    }
}

#[test]
fn trouble_and_its_end_are_told_at_once() {
    let mut world = World::new();
    assert!(!world.hear(Status::Connected), "nobody knew of any trouble");
    world.hear(Status::Disconnected);
    world.pass(3);
    world.hear(Status::Connected);
    world.pass(180);
    assert_eq!(world.mails, [(0, 1), (3, 1)]);
}

#[test]
fn a_channel_that_comes_and_goes_has_two_mails_an_hour_with_everything_in_them() {
    let mut world = World::new();
    let mut changes = 0;
    for _ in 0..5 * 60 {
        world.hear(Status::Disconnected);
        world.hear(Status::Connected);
        changes += 2;
        world.pass(1);
    }
    world.pass(120);
    for (at, _) in &world.mails {
        let within = world.mails.iter().filter(|(other, _)| (*at..at + 60).contains(other)).count();
        assert!(within <= 2, "{:?}", world.mails);
    }
    assert_eq!(world.mails.iter().map(|(_, count)| count).sum::<u64>(), changes, "nothing is lost");
    assert!(world.mails.len() <= 12, "{:?}", world.mails);
    assert_eq!(world.thread.due_at, None);
}

#[test]
fn a_mail_shows_the_last_facts_and_counts_all() {
    let mut world = World::new();
    world.hear(Status::Disconnected);
    for _ in 0..9 {
        world.hear(Status::Blocked);
    }
    let item = world.thread.item().unwrap();
    assert_eq!((item.count, item.facts.len(), item.since), (9, MOST_SHOWN, world.now));
    world.pass(60);
    assert_eq!((world.mails[1], world.thread.facts.len()), ((60, 9), 0));
}

#[test]
fn what_has_no_end_is_no_lasting_trouble() {
    let now = Timestamp::from_millis(1_700_000_000_000);
    let mut thread = AlertThread::new(Uuid::from_u128(1), AlertKind::Quota, Uuid::from_u128(2));
    let fact = Fact::of_quota(thread.subject, Name::TemplateQuota, (0, 9), now);
    assert!(hear(&mut thread, fact, AlertTurn::Worse, now) && thread.due_at == Some(now));
    assert!(!thread.is_troubled);
}

#[test]
fn the_mails_of_a_company_have_a_gap_which_ends_when_the_clock_is_set_back() {
    let now = Timestamp::from_millis(1_700_000_000_000);
    assert!(may_tell(None, now) && !may_tell(Some(now), now));
    let moment = Duration::from_millis(1);
    assert!(!may_tell(Some(now.minus(GAP).plus(moment)), now) && may_tell(Some(now.minus(GAP)), now));
    assert!(may_tell(Some(now.plus(MINUTE)), now));
}

#[test]
fn a_mail_is_tried_for_a_day_ever_more_seldom() {
    let made_at = Timestamp::from_millis(0);
    let (mut now, mut failures, mut pauses) = (made_at, 0, Vec::new());
    loop {
        failures += 1;
        let Some(next) = retry_at(failures, made_at, now) else { break };
        pauses.push(next.from_now(now));
        now = next;
    }
    assert_eq!(pauses[..3], [MINUTE, MINUTE * 5, MINUTE * 15]);
    assert!(pauses.is_sorted() && (12..30).contains(&pauses.len()), "{pauses:?}");
    let age = now.from_now(made_at);
    assert!(age < GIVES_UP_AFTER && age + MINUTE * 120 >= GIVES_UP_AFTER, "{age:?}");
}
