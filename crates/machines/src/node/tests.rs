use super::*;

mod lease;
mod random;
mod shards;

fn node(id: u128) -> Uuid {
    Uuid::from_u128(id)
}

fn seen(id: u128, standing: Standing) -> Seen {
    Seen { member: Member { id: node(id), cores: 2 }, standing }
}

/// The machine of a node, at a time that the test sets.
struct Stage {
    machine: Machine,
    now: Instant,
    effects: Vec<Effect>,
}

impl Stage {
    fn new() -> Self {
        let now = Instant::now();
        Self { machine: Machine::new(node(1), now), now, effects: Vec::new() }
    }

    fn tell(&mut self, input: Input) -> Vec<Effect> {
        self.machine.handle(input, self.now, &mut self.effects);
        std::mem::take(&mut self.effects)
    }

    fn renewed(&mut self, seen: Vec<Seen>) -> Vec<Effect> {
        self.tell(Input::Renewed { began: self.now, seen })
    }

    fn later(&mut self, by: Duration) {
        self.now += by;
    }

    /// Claims and owns those of these shards for which the node is proposed.
    fn own(&mut self, shards: impl Iterator<Item = u128>, stays: bool) -> Vec<Uuid> {
        let wanted = shards.map(|shard| Wanted { shard: node(shard), stays }).collect();
        let claimed = self.tell(Input::Wanted(wanted)).into_iter().find_map(|effect| match effect {
            Effect::Claim(shards) => Some(shards),
            _ => None,
        });
        let claimed = claimed.unwrap_or_default();
        assert!(self.tell(Input::Claimed(claimed.clone())).contains(&Effect::Own(claimed.clone())));
        claimed
    }
}

fn given_up(effects: &[Effect]) -> Vec<Uuid> {
    let given = effects.iter().filter_map(|effect| match effect {
        Effect::GiveUp(shards) => Some(shards.clone()),
        _ => None,
    });
    given.flatten().collect()
}

const ME: Seen = Seen { member: Member { id: Uuid::from_u128(1), cores: 2 }, standing: Standing::Serving };

#[test]
fn the_lease_is_renewed_each_second_and_trusted_from_the_start_of_the_renewal() {
    let mut stage = Stage::new();
    assert!(stage.tell(Input::Timer).contains(&Effect::Renew));
    assert!(!stage.tell(Input::Timer).contains(&Effect::Renew), "one is under way");
    let began = stage.now;
    stage.later(Duration::from_millis(800));
    assert!(!stage.machine.trusts(stage.now), "not before it is renewed");
    let effects = stage.tell(Input::Renewed { began, seen: vec![ME] });
    assert_eq!(effects.last(), Some(&Effect::WakeAt(began + RENEWAL)));
    stage.later(TRUST - Duration::from_millis(801));
    assert!(stage.machine.trusts(stage.now));
    stage.later(Duration::from_millis(1));
    assert!(!stage.machine.trusts(stage.now));
    assert!(stage.tell(Input::Timer).contains(&Effect::Distrust));
    let effects = stage.renewed(vec![ME]);
    assert!(effects.contains(&Effect::Trust(stage.now + TRUST)), "trust returns: {effects:?}");
}

#[test]
fn a_renewal_that_took_too_long_gives_no_trust() {
    let mut stage = Stage::new();
    let began = stage.now;
    stage.later(TRUST);
    let effects = stage.tell(Input::Renewed { began, seen: vec![ME] });
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Trust(_))), "{effects:?}");
}

#[test]
fn only_shards_for_which_the_node_is_proposed_are_claimed_and_only_once() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME, seen(2, Standing::Serving)]);
    let claimed = stage.own(100..200, false);
    assert!(claimed.len() > 20 && claimed.len() < 80, "{}", claimed.len());
    assert!(claimed.iter().all(|shard| proposed(&stage.machine.members, *shard) == Some(node(1))));
    let again = claimed.iter().map(|shard| Wanted { shard: *shard, stays: false }).collect();
    assert!(!stage.tell(Input::Wanted(again)).iter().any(|effect| matches!(effect, Effect::Claim(_))));
}

#[test]
fn nothing_is_claimed_without_trust() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    stage.later(TRUST);
    let wanted = vec![Wanted { shard: node(7), stays: false }];
    assert!(!stage.tell(Input::Wanted(wanted)).iter().any(|effect| matches!(effect, Effect::Claim(_))));
}

#[test]
fn channels_move_to_a_new_node_some_at_a_time_and_web_sessions_stay() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    stage.own(100..500, false);
    stage.own(500..600, true);
    let both = || vec![ME, seen(2, Standing::Serving)];
    assert!(given_up(&stage.renewed(both())).is_empty(), "the members are not settled");
    stage.later(SETTLED);
    let mut moved = Vec::new();
    loop {
        let given = given_up(&stage.renewed(both()));
        assert!(given.len() <= MOVES);
        if given.is_empty() {
            break;
        }
        stage.tell(Input::Released(given.clone()));
        moved.extend(given);
    }
    assert!(moved.len() > 150 && moved.len() < 250, "{}", moved.len());
    assert!(moved.iter().all(|shard| shard.as_u128() < 500));
    let members = stage.machine.members.clone();
    assert!(moved.iter().all(|shard| proposed(&members, *shard) == Some(node(2))));
}

#[test]
fn a_node_that_drains_gives_everything_away_and_claims_nothing() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    let owned = stage.own(100..700, true);
    let draining = || vec![Seen { standing: Standing::Draining, ..ME }, seen(2, Standing::Serving)];
    let effects = stage.renewed(draining());
    assert!(effects.contains(&Effect::Drain));
    let mut given = given_up(&effects);
    assert_eq!(given.len(), DRAINED);
    given.extend(given_up(&stage.renewed(draining())));
    assert_eq!(given, owned);
    let wanted = (0..9).map(|shard| Wanted { shard: node(shard), stays: false }).collect();
    assert!(!stage.tell(Input::Wanted(wanted)).iter().any(|effect| matches!(effect, Effect::Claim(_))));
}

#[test]
fn a_node_that_lacks_a_key_gives_everything_away_until_it_has_the_key() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    let owned = stage.own(100..300, true);
    let lacking = || vec![Seen { standing: Standing::LacksKey, ..ME }, seen(2, Standing::Serving)];
    let effects = stage.renewed(lacking());
    assert!(!effects.contains(&Effect::Drain), "it does not leave");
    assert_eq!(given_up(&effects), owned);
    stage.tell(Input::Released(owned.clone()));
    let wanted = || Input::Wanted(owned.iter().map(|shard| Wanted { shard: *shard, stays: true }).collect());
    assert!(!stage.tell(wanted()).iter().any(|effect| matches!(effect, Effect::Claim(_))));
    stage.renewed(vec![ME, seen(2, Standing::Serving)]);
    let claims = |effects: &[Effect]| {
        let claims = effects.iter().filter_map(|effect| match effect {
            Effect::Claim(shards) => Some(shards.len()),
            _ => None,
        });
        claims.sum::<usize>()
    };
    let claimed = claims(&stage.tell(wanted()));
    assert!(claimed > 0 && claimed < owned.len(), "{claimed}");
}

#[test]
fn no_channel_is_proposed_to_a_node_that_lacks_a_key() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME, seen(2, Standing::LacksKey)]);
    assert_eq!(stage.own(100..300, false).len(), 200);
}

#[test]
fn the_fence_of_a_lapsed_node_is_closed_and_one_node_clears_up_after_it() {
    let mut stage = Stage::new();
    let lapsed = || vec![ME, seen(2, Standing::Lapsed), seen(3, Standing::Serving)];
    assert!(stage.renewed(lapsed()).contains(&Effect::CloseFence(node(2))));
    assert!(!stage.renewed(lapsed()).contains(&Effect::CloseFence(node(2))), "it is being tried");
    stage.tell(Input::Tried(node(2)));
    assert!(stage.renewed(lapsed()).contains(&Effect::CloseFence(node(2))), "it is tried again");
    let clears = |own: u128, other: u128| {
        let mut machine = Machine::new(node(own), stage.now);
        let mut effects = Vec::new();
        let seen = [own, other].map(|id| seen(id, Standing::Serving)).into_iter();
        let seen = seen.chain([self::seen(2, Standing::Fenced)]).collect();
        machine.handle(Input::Renewed { began: stage.now, seen }, stage.now, &mut effects);
        effects.contains(&Effect::ClearUp(node(2)))
    };
    assert!(clears(1, 3) != clears(3, 1));
}

#[test]
fn a_fenced_node_ends() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    let effects = stage.tell(Input::Fenced);
    assert_eq!(effects, [Effect::Distrust, Effect::End]);
    assert!(stage.renewed(vec![ME]).is_empty());
}
