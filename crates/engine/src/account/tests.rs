//! Accounts as channels hold them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::*;
use crate::machine::Moment;
use clock::Timestamp;
use domain::channel::{Channel, Connection, Kind, Status};
use domain::phone::PhoneNumber;
use domain::tier::Quota;

const SECOND: Duration = Duration::from_secs(1);

fn channel(number: u128, kind: Kind, waba_id: &str) -> Channel {
    let wall = Timestamp::from_millis(0);
    Channel {
        id: Uuid::from_u128(number),
        company_id: Uuid::nil(),
        kind,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: None,
        waba_id: (kind == Kind::BusinessAccount).then(|| waba_id.to_owned()),
        tier: "standard".to_owned(),
        own_options: Default::default(),
        connection: Connection { status: Status::Connected, reason: None, since: wall },
        trial: None,
        quality_rating: None,
        level: None,
        messaging_limit: None,
        linked_at: None,
        revision: 1,
        created_at: wall,
        updated_at: wall,
    }
}

fn number(nth: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
}

struct World {
    accounts: Accounts,
    at: Moment,
}

impl World {
    fn new() -> Self {
        let wall = Timestamp::from_millis(1_700_000_000_000);
        Self { accounts: Accounts::default(), at: Moment { monotonic: Instant::now(), wall } }
    }

    fn member(&self, number: u128, waba_id: &str) -> Member {
        self.accounts.member(&channel(number, Kind::BusinessAccount, waba_id), self.at)
    }

    /// A member of an account that is known to have written to nobody.
    fn knowing(&self, number: u128, waba_id: &str) -> Member {
        let member = self.member(number, waba_id);
        if !member.want_people(self.at) {
            for (account, effect) in self.accounts.take_effects() {
                if let Effect::ReadPeople { span } = effect {
                    self.accounts.feed(&account, Input::PeopleRead { span, result: Ok(()) }, self.at);
                }
            }
        }
        assert!(member.knows_people());
        member
    }

    /// Carries out the effects that drop accounts. Returns how many accounts are in use then.
    fn in_use(&self) -> usize {
        for (account, effect) in self.accounts.take_effects() {
            if let Effect::End = effect {
                self.accounts.forget(&account);
            }
        }
        self.accounts.len()
    }
}

/// Asks for these people, and for nobody else. Returns how many are granted.
fn ask(member: &mut Member, quota: Quota, people: std::ops::Range<u64>, at: Moment) -> usize {
    let asked = people.clone().count();
    let promised: HashSet<_> = people.clone().map(number).collect();
    asked - member.ask(quota, &promised, people.map(number), at).refused.len()
}

#[test]
fn the_channels_of_one_account_share_its_quota_and_other_accounts_do_not() {
    let (world, quota) = (World::new(), Quota::AtMost(1));
    let at = world.at;
    let [mut one, mut same, mut other] =
        [(1, "1"), (2, "1"), (3, "2")].map(|(number, waba_id)| world.knowing(number, waba_id));
    assert_eq!(one.count(number(1), quota, at), Reserved::New { at: at.wall });
    assert!(matches!(same.count(number(2), quota, at), Reserved::Full { .. }));
    assert_eq!(other.count(number(2), quota, at), Reserved::New { at: at.wall });
    one.tell(quota, at);
    assert_eq!((same.used(at.wall), same.next_slot(quota, at.wall).is_some()), (1, true));
    assert!(one.take_arrivals() && !one.take_arrivals());
    one.release(number(1), at.wall, at);
    one.give_back_all(quota, at);
    assert_eq!((same.used(at.wall), same.next_slot(quota, at.wall)), (0, None));
}

#[test]
fn a_channel_sends_to_granted_people_and_returns_the_others() {
    let (world, quota) = (World::new(), Quota::AtMost(4));
    let at = world.at;
    let [mut one, mut same] = [1, 2].map(|number| world.knowing(number, "1"));
    assert_eq!(ask(&mut one, quota, 2..5, at), 3);
    assert_eq!(ask(&mut same, quota, 10..15, at), 1, "the channels share the quota");
    assert!(one.holds(number(2)) && !one.holds(number(10)) && one.counts(number(2), quota, at.wall));
    // A count that is taken back before the account is told of it never counted.
    one.count(number(2), quota, at);
    one.release(number(2), at.wall, at);
    one.count(number(3), quota, at);
    assert_eq!(ask(&mut one, quota, 4..5, at), 1);
    assert_eq!((one.used(at.wall), ask(&mut same, quota, 10..15, at)), (3, 2));
    drop(one);
    assert_eq!((same.used(at.wall), ask(&mut same, quota, 10..15, at)), (3, 3), "one was written to");
}

#[test]
fn a_channel_that_ends_has_reported_the_people_it_wrote_to() {
    let (world, quota) = (World::new(), Quota::AtMost(2));
    let at = world.at;
    let [mut one, mut same] = [1, 2].map(|number| world.knowing(number, "1"));
    one.count(number(1), quota, at);
    drop(one);
    assert_eq!((same.used(at.wall), ask(&mut same, quota, 2..9, at)), (1, 1));
}

#[test]
fn a_channel_without_a_quota_counts_once_another_of_the_account_has_one() {
    let world = World::new();
    let at = world.at;
    let mut free = world.member(1, "1");
    assert_eq!(free.count(number(1), Quota::Unlimited, at), Reserved::Uncounted);
    let mut bound = world.knowing(2, "1");
    assert_eq!(free.count(number(2), Quota::Unlimited, at), Reserved::New { at: at.wall });
    assert!(bound.counts(number(2), Quota::AtMost(1), at.wall));
    assert!(!bound.people().counts(number(1), Quota::AtMost(1), at.wall));
    assert_eq!(ask(&mut bound, Quota::AtMost(2), 2..9, at), 2);
}

#[test]
fn two_forms_of_one_person_s_number_take_one_slot() {
    let world = World::new();
    let (at, quota) = (world.at, Quota::AtMost(1));
    let [long, short, other] = [5_564_988_887_777, 556_488_887_777, 5_564_988_887_778]
        .map(|value| PhoneNumber::from_u64(value).unwrap());
    let [mut one, mut same] = [1, 2].map(|number| world.knowing(number, "1"));
    assert_eq!(one.count(short, quota, at), Reserved::New { at: at.wall });
    assert!(one.counts(long, quota, at.wall) && one.holds(long));
    let granted = one.ask(quota, &[long].into(), [long, other], at);
    assert_eq!(granted.refused, [other]);
    assert!(same.ask_for(long, quota, at) && same.people().counts(short, quota, at.wall));
    assert!(matches!(same.count(other, quota, at), Reserved::Full { .. }));
    assert_eq!(one.used(at.wall), 1);
}

#[test]
fn a_channel_asks_again_when_its_grants_became_void() {
    let world = World::new();
    let (at, quota) = (world.at, Quota::AtMost(2));
    let [mut bound, mut free] = [1, 2].map(|number| world.knowing(number, "1"));
    assert_eq!(ask(&mut bound, quota, 0..2, at), 2);
    assert_eq!(bound.count(number(0), quota, at), Reserved::New { at: at.wall });
    assert_eq!(free.count(number(10), Quota::Unlimited, at), Reserved::New { at: at.wall });
    assert!(
        matches!(bound.count(number(1), quota, at), Reserved::Full { .. }),
        "the other one was written to"
    );
    assert_eq!(bound.count(number(0), quota, at), Reserved::New { at: at.wall }, "the recipient counts");
    assert_eq!(bound.used(at.wall), 2);
}

#[test]
fn the_longest_pause_of_a_channel_holds_it_and_no_other_channel() {
    let world = World::new();
    let (at, now) = (world.at, world.at.monotonic);
    let speaking = |number, waba_id, secret: &[u8]| {
        let mut member = world.member(number, waba_id);
        member.speak_for(AppId::of(secret));
        member
    };
    let [both, app, account, none] = [(1, "7", b"a"), (2, "8", b"a"), (3, "7", b"b"), (4, "8", b"b")]
        .map(|(n, id, of)| speaking(n, id, of));
    assert_eq!(both.throttled(now), None);
    let short = both.refused(ScopeKind::App, None, at).unwrap();
    let long = both.refused(ScopeKind::Account, Some(10 * SECOND), at).unwrap();
    assert_eq!((short, long), (now + SECOND, now + 10 * SECOND));
    let held = [&both, &app, &account, &none].map(|member| member.throttled(now));
    let (by_app, by_account) = ((ScopeKind::App, short), (ScopeKind::Account, long));
    assert_eq!(held, [Some(by_account), Some(by_app), Some(by_account), None]);
    let later = Moment { monotonic: long, ..at };
    assert_eq!(account.throttled(long), None);
    account.accepted(later);
    assert_eq!(account.refused(ScopeKind::Account, None, later), Some(long + SECOND), "a first one again");
}

#[test]
fn a_web_session_has_no_account() {
    let world = World::new();
    let mut member = world.accounts.member(&channel(1, Kind::WebSession, ""), world.at);
    member.follow_templates(true, world.at);
    assert_eq!(member.count(number(1), Quota::AtMost(1), world.at), Reserved::Uncounted);
    assert_eq!(member.refused(ScopeKind::Account, None, world.at), None);
    assert!(member.want_question(world.at) && member.want_people(world.at) && world.in_use() == 0);
}

#[test]
fn an_account_is_dropped_with_its_last_channel_unless_a_listing_is_requested() {
    let world = World::new();
    let [one, other] = [1, 2].map(|number| world.member(number, "1"));
    drop(one);
    assert_eq!(world.in_use(), 1);
    drop(other);
    let again = world.member(1, "1");
    assert_eq!(world.in_use(), 1, "a channel joined before the account was dropped");
    drop(again);
    assert_eq!(world.in_use(), 0);
    world.accounts.want_templates(&channel(1, Kind::BusinessAccount, "1"), Duration::ZERO, world.at);
    assert_eq!(world.in_use(), 1);
    let member = world.member(1, "1");
    member.follow_templates(true, world.at);
    let listed = world.accounts.take_effects();
    assert!(listed.iter().any(|(_, effect)| matches!(effect, Effect::ListTemplates { .. })), "{listed:?}");
}
