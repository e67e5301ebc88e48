//! Templates: the recipients that the quota lets through, and the messages that wait for it.

mod held;

use super::*;
use crate::account::{self, AccountUpdate};
use domain::limit::Allows;
use domain::outlook::Reason;
use domain::tier::Quota;

const MILLI: Duration = Duration::from_millis(1);

impl World {
    /// A channel with this quota, whose account wrote to these people an hour ago.
    fn with_quota(most: u32, people: &[u64]) -> Self {
        let mut world = Self::with_tier(1, |tier| tier.template_quota = Quota::AtMost(most)).begun();
        world.account_knows(people);
        world.store_is_empty();
        world.store_is_empty();
        world
    }

    fn left(&self) -> Option<u64> {
        self.limit("template_quota").left
    }

    /// The messages under way, by send and ordinal.
    fn started_messages(&mut self) -> Vec<(u128, u64)> {
        let started = self.attempts.drain(..).map(|attempt| attempt.ticket);
        started.map(|ticket| (ticket.send_id.as_u128(), ticket.ordinal)).collect()
    }

    /// Lets a second pass: every write is durable, and messages go at the limiter's pace.
    fn go_on(&mut self) {
        for _ in 0..20 {
            self.flush();
            self.pass(50 * MILLI);
        }
        self.flush();
    }
}

fn of_template(id: i64) -> Order {
    Order { template: Some(marketing(id)), ..order() }
}

#[test]
fn templates_wait_until_the_earlier_recipients_are_known_and_texts_do_not() {
    let mut world = World::with_tier(1, |tier| tier.template_quota = Quota::AtMost(5)).begun();
    assert!(world.fetches.iter().all(|look| !look.ready.templates && look.counted.is_none()));
    world.accept_template(10, 7);
    world.accept(11);
    world.flush();
    assert_eq!((world.under_way(), world.limits().active_sends), (vec![11], 1));
    assert!(world.account_knows(&[]).contains(&"fetch"));
    assert!(world.fetches.last().unwrap().ready.templates);
    let mut stored = world.stored(10);
    stored.send.template = Some(marketing(7));
    world.found(Size::Direct, vec![stored]);
    world.go_on();
    assert_eq!(world.under_way(), [11, 10]);
}

#[test]
fn as_many_new_people_get_templates_as_the_quota_has_slots_and_the_next_when_one_is_free() {
    let mut world = World::with_quota(2, &[]);
    let begun = world.at.wall;
    assert_eq!(world.left(), Some(2));
    for id in 10..13 {
        world.accept_template(id, 7);
        world.go_on();
    }
    assert_eq!((world.under_way(), world.left()), (vec![10, 11], Some(0)));
    let limit = world.limit("template_quota");
    assert_eq!((limit.is_binding, limit.allows), (true, Allows::People(Quota::AtMost(2))));
    let opens = limit.next_slot.unwrap();
    assert!(opens >= begun.plus(DAY) && opens <= begun.plus(DAY + SECOND), "{opens}");
    // The third send is not in memory, and nothing of it was written.
    assert_eq!(world.limits().active_sends, 2);
    assert!(world.writes.iter().flat_map(|write| &write.marks).all(|mark| mark.send_id.as_u128() != 12));
    let viewed = |has_template| Viewed { id: Uuid::from_u128(12), has_template };
    let outlook = world.machine.look_ahead(vec![viewed(true)], world.at);
    let waiting = outlook[&Uuid::from_u128(12)].waiting.clone().unwrap();
    assert_eq!((waiting.reason, waiting.until), (Reason::TemplateQuota, Some(opens)));
    assert!(waiting.sentence.contains("templates to 2 people in 24 hours"), "{}", waiting.sentence);
    assert!(world.machine.look_ahead(vec![viewed(false)], world.at).is_empty());
    // A text goes, a template to a person who counts goes, and one to another new person does not.
    world.accept(20);
    world.accept_order(21, of_template(8), Recipients::One(person(10)));
    world.accept_template(22, 7);
    world.go_on();
    assert_eq!(world.under_way(), [10, 11, 20, 21]);
    for _ in 0..4 {
        world.answer(accepted());
    }
    world.settle();
    while world.at.wall < opens.minus(MILLI) {
        let left = opens.minus(MILLI).from_now(world.at.wall);
        world.pass(world.wakes_in().min(left));
        world.settle();
    }
    assert!(world.fetches.iter().rev().take(2).all(|look| !look.ready.templates));
    assert!(world.pass(2 * MILLI).contains(&"fetch"), "{:?}", world.log.last());
    assert!(world.fetches.last().unwrap().ready.templates);
    world.store_is_empty();
    world.store_is_empty();
    world.pass(world.wakes_in());
    assert!(world.wakes_in() > SECOND, "it is woken once for that");
    assert_eq!(world.outlook_of_template(12), None);
}

#[test]
fn a_message_that_the_provider_refused_gives_its_slot_back_and_one_that_it_may_have_taken_does_not() {
    for (reply, left) in [
        (accepted(), 0),
        (refused(Disposition::Retry), 0),
        (refused(Disposition::Wait), 0),
        (Reply::Uncertain(failure()), 0),
        (refused(Disposition::Fail), 1),
        (refused(Disposition::HoldRecipient), 1),
        (Reply::NotSent(failure()), 1),
        (Reply::NoSocket(failure()), 1),
        (Reply::Unsendable(failure()), 1),
    ] {
        let said = format!("{reply:?}");
        let mut world = World::with_quota(1, &[]);
        world.accept_template(10, 7);
        world.flush();
        world.answer(reply);
        world.flush();
        assert_eq!(world.left(), Some(left), "{said}");
        world.store_is_empty();
        world.accept_template(11, 7);
        world.flush();
        let is_paused = world.limits().waiting.is_some_and(|waiting| waiting.reason != Reason::Rate);
        world.pass(SECOND / 10);
        world.flush();
        let goes = left == 1 && !is_paused;
        assert_eq!(world.under_way().contains(&11), goes, "{said}: {:?}", world.log);
    }
}

#[test]
fn recipients_of_a_bulk_send_who_count_already_get_it_and_the_others_wait_with_a_row() {
    let mut world = World::with_quota(1, &[5]);
    let now = world.at.wall;
    world.accept_bulk(20, of_template(7), &[3, 4, 5, 6]);
    let rows: Vec<_> = world
        .writes
        .iter()
        .flat_map(|write| &write.outcomes)
        .map(|of| (of.outcome.position.ordinal, of.outcome.state, of.outcome.attempts, of.outcome.retry_at))
        .collect();
    assert_eq!(rows, [(0, State::Queued, 0, Some(now)), (1, State::Queued, 0, Some(now))]);
    world.go_on();
    assert_eq!(world.started_messages(), [(20, 2)]);
    assert_eq!(world.left(), Some(0));
}

#[test]
fn a_due_retry_that_finds_no_slot_waits_in_the_store() {
    let mut world = World::with_quota(1, &[5, 10]);
    let mut stored = world.waiting(10, State::Queued, world.at.wall);
    stored.send.template = Some(marketing(7));
    // A message to a new person, which certainly did not go, is not taken in while the quota is closed.
    world.accept_template(9, 7);
    world.go_on();
    let mut new = world.waiting(11, State::Queued, world.at.wall);
    new.send.template = Some(marketing(7));
    world.found(Size::Direct, vec![stored, new]);
    assert_eq!(world.limits().active_sends, 2);
    world.settle();
    world.go_on();
    assert_eq!(world.under_way(), [10], "{:?}", world.log);
    assert_eq!(world.limits().active_sends, 1);
    assert_eq!(world.mark(11).state, send::State::Active);
}

#[test]
fn people_go_back_to_the_account_while_the_channel_cannot_write_to_them() {
    let mut world = World::with_quota(9, &[]);
    world.accept_bulk(20, of_template(7), &[1, 2, 3, 4]);
    world.flush();
    assert_eq!(world.left(), Some(9 - 4), "people with marked messages have slots");
    // While it can send, it keeps them though another channel waits.
    world.feed(Input::Account(AccountUpdate::Recalled));
    assert_eq!((world.left(), world.mark(20).progress.high_water), (Some(5), 4));
    world.answer(refused(Disposition::Maintenance));
    world.flush();
    world.accept(10);
    world.flush();
    assert_eq!(world.left(), Some(6), "the first is not written to after all");
    world.feed(Input::Account(AccountUpdate::Recalled));
    world.flush();
    assert_eq!((world.left(), world.mark(20).progress.high_water), (Some(9), 1));
    let waited = world.until_attempt();
    assert!(waited <= 5 * SECOND);
    world.go_on();
    assert_eq!(world.mark(20).progress.high_water, 4, "and they are asked for again");
}

#[test]
fn a_slot_that_another_channel_gave_back_opens_templates_again() {
    let mut world = World::with_quota(1, &[5]);
    world.accept_template(10, 7);
    world.go_on();
    world.store_is_empty();
    world.store_is_empty();
    assert!(world.outlook_of_template(10).is_some());
    assert!(world.feed(Input::Account(AccountUpdate::HasRoom)).contains(&"fetch"));
    assert!(world.outlook_of_template(10).is_none());
    world.store_is_empty();
    world.store_is_empty();
    assert!(!world.feed(Input::Account(AccountUpdate::HasRoom)).contains(&"fetch"), "they may go already");
}

impl World {
    /// Why a template send in the store waits.
    fn outlook_of_template(&self, id: u128) -> Option<Reason> {
        let id = Uuid::from_u128(id);
        let viewed = Viewed { id, has_template: true };
        let outlook = self.machine.look_ahead(vec![viewed], self.at).remove(&id)?;
        outlook.waiting.map(|waiting| waiting.reason)
    }
}

#[test]
fn while_the_quota_is_closed_searches_for_people_who_count_take_a_twentieth_of_the_time() {
    let mut world = World::with_quota(1, &[5]);
    world.accept_template(10, 7);
    world.go_on();
    world.store_is_empty();
    world.store_is_empty();
    let look = |world: &mut World, took| {
        world.feed(Input::Look);
        let look = world.fetches.last().unwrap();
        assert!(look.size == Size::Direct && !look.ready.templates);
        let is_counted = look.counted.as_ref().is_some_and(|counting| {
            assert!(counting.counts(person(5)) && !counting.counts(person(6)));
            true
        });
        let found = Fetched { took: is_counted.then_some(took), ..nothing() };
        world.feed(Input::Fetched { size: Size::Direct, result: Ok(found) });
        world.store_is_empty();
        is_counted
    };
    assert!(look(&mut world, 5 * MILLI));
    assert!(look(&mut world, 100 * MILLI), "a quick one is repeated at once");
    assert!(!look(&mut world, MILLI));
    world.pass(2 * SECOND - MILLI);
    assert!(!look(&mut world, MILLI));
    assert!(world.wakes_in() <= MILLI, "{:?}", world.log.last());
    world.pass(MILLI);
    world.store_is_empty();
    world.store_is_empty();
    assert!(look(&mut world, 100 * MILLI));
    assert!(!look(&mut world, MILLI));
    world.feed(Input::ClockWasSet);
    assert!(world.fetches.last().unwrap().ready.templates, "whether the quota is used up is checked again");
}

#[test]
fn a_due_retry_of_a_template_takes_a_slot_only_while_there_is_one() {
    let mut world = World::with_quota(1, &[]);
    world.accept_template(10, 7);
    world.flush();
    world.answer(Reply::NotSent(failure()));
    world.flush();
    // While it waits, another channel takes the slot.
    let mut other = (**world.machine.channel()).clone();
    other.id = Uuid::from_u128(9);
    let common = Arc::clone(&world.machine.common);
    let mut member = common.accounts.member(&other, world.at);
    assert!(member.ask_for(person(99), Quota::AtMost(1), world.at));
    world.pass(SECOND);
    world.settle();
    assert_eq!((world.attempts.len(), world.machine.backlog().retry), (0, 0), "{:?}", world.log);
    assert_eq!(world.limits().active_sends, 0);
    assert_eq!(world.outlook_of_template(10), Some(Reason::TemplateQuota));
}

#[test]
fn a_slot_that_no_update_reported_is_found_by_the_periodic_read() {
    let mut world = World::with_quota(1, &[5]);
    world.accept_template(10, 7);
    world.go_on();
    world.store_is_empty();
    world.store_is_empty();
    let hour_ago = world.fetches[0].ready.now.plus(SECOND).minus(60 * MINUTE);
    let released = account::Input::Released { recipient: person(5), at: hour_ago };
    Arc::clone(&world.machine.common).accounts.feed("2", released, world.at);
    assert_eq!(world.left(), Some(1));
    let begun = world.fetches.len();
    while world.fetches.len() == begun {
        world.pass(world.wakes_in());
    }
    assert!(world.fetches.last().unwrap().ready.templates, "{:?}", world.log.last());
}

#[test]
fn a_bulk_send_without_anybody_who_counts_goes_back_to_be_searched_and_a_single_one_does_not() {
    let mut world = World::with_quota(1, &[5]);
    let looks = world.fetches.len();
    world.accept_template(10, 7);
    world.feed(Input::Timer);
    assert_eq!((world.fetches.len(), world.limits().active_sends), (looks, 0), "its recipient is known");
    let mut world = World::with_quota(1, &[5]);
    let looks = world.fetches.len();
    world.accept_order(20, of_template(7), Recipients::Blocks(4));
    // Nothing is written, so that no other input would have it searched.
    world.read_people(20, 0, &[3, 4]);
    assert_eq!(world.limits().active_sends, 0);
    assert_eq!(world.fetches[looks..].iter().map(|it| it.size).collect::<Vec<_>>(), [Size::Bulk]);
    let looked = world.fetches.last().unwrap();
    assert!(!looked.ready.templates && looked.counted.is_some() && looked.held.is_empty());
    assert!(world.writes.iter().all(|write| write.marks.is_empty() && write.outcomes.is_empty()));
}

#[test]
fn recipients_before_the_first_one_who_counts_are_passed_over() {
    let mut world = World::with_quota(1, &[5]);
    world.accept_template(10, 7);
    world.go_on();
    let mut stored = world.stored(20);
    stored.send.template = Some(marketing(7));
    stored.send.recipients = Recipients::Blocks(6);
    let mut found = Found::new(stored).unwrap();
    found.counted_at = Some(4);
    world.feed(Input::Fetched { size: Size::Bulk, result: Ok(Fetched { found: vec![found], ..nothing() }) });
    world.read_people(20, 0, &[3, 4]);
    world.flush();
    assert_eq!(world.mark(20).progress, send::Progress { high_water: 2, settled: 2 });
    assert_eq!(world.count("read recipients 20 2"), 1);
    world.read_people(20, 2, &[6, 7, 5, 8]);
    world.go_on();
    assert_eq!(world.started_messages(), [(20, 4)]);
    assert_eq!(world.mark(20).progress, send::Progress { high_water: 5, settled: 4 });
}

#[test]
fn a_retried_text_takes_no_slot_of_the_quota() {
    for (people, left) in [(&[][..], 1), (&[5][..], 0)] {
        let mut world = World::with_quota(1, people);
        world.start(30);
        world.answer(refused(Disposition::Pair));
        world.flush();
        world.pass(SECOND);
        assert_eq!((world.outcome().state, world.left()), (State::Sending, Some(left)), "it is announced");
    }
}

#[test]
fn a_refused_channel_returns_the_people_of_its_marked_messages() {
    let mut world = World::with_quota(9, &[]);
    world.accept_bulk(20, of_template(7), &[1, 2, 3, 4]);
    world.flush();
    assert_eq!((world.left(), world.mark(20).progress.high_water), (Some(5), 4));
    world.answer(accepted());
    world.flush();
    world.feed(Input::Troubled(Troubled {
        disposition: Disposition::Disconnect,
        failure: failure(),
        is_of_message: false,
        taken_at: None,
    }));
    world.flush();
    assert_eq!((world.left(), world.mark(20).progress.high_water), (Some(8), 1));
}
