//! What a node claims, owns, and gives away.

use super::*;

const MOMENT: Duration = Duration::from_millis(1);

impl Stage {
    /// A node that trusts its lease, with these others that serve.
    fn among(others: &[u128]) -> Self {
        let mut stage = Self::new();
        stage.renewed(serving(others));
        stage
    }

    /// The shards that are claimed when these have work.
    fn wants(&mut self, shards: impl IntoIterator<Item = Uuid>) -> Vec<Uuid> {
        let wanted = shards.into_iter().map(|shard| Wanted { shard, stays: false }).collect();
        claimed(&self.tell(Input::Wanted(wanted)))
    }
}

fn serving(others: &[u128]) -> Vec<Seen> {
    let others = others.iter().map(|id| seen(*id, Standing::Serving));
    [ME].into_iter().chain(others).collect()
}

fn claimed(effects: &[Effect]) -> Vec<Uuid> {
    let claimed = effects.iter().find_map(|effect| match effect {
        Effect::Claim(shards) => Some(shards.clone()),
        _ => None,
    });
    claimed.unwrap_or_default()
}

fn owns_now(effects: &[Effect]) -> Option<Vec<Uuid>> {
    effects.iter().find_map(|effect| match effect {
        Effect::Own(shards) => Some(shards.clone()),
        _ => None,
    })
}

#[test]
fn one_claim_is_under_way_at_a_time() {
    let mut stage = Stage::among(&[]);
    assert_eq!(stage.wants([node(7)]), [node(7)]);
    assert!(stage.wants([node(8)]).is_empty(), "it is wanted again in the next round");
    stage.tell(Input::Claimed(vec![node(7)]));
    assert_eq!(stage.wants([node(7), node(8)]), [node(8)]);
}

#[test]
fn a_claim_has_a_bounded_number_of_shards() {
    let mut stage = Stage::among(&[]);
    let all: Vec<_> = (0..1_500).map(node).collect();
    let first = stage.wants(all.iter().copied());
    assert_eq!(first.len(), CLAIMED);
    stage.tell(Input::Claimed(first));
    let second = stage.wants(all.iter().copied());
    assert_eq!(second.len(), 500);
    stage.tell(Input::Claimed(second));
    assert!(all.iter().all(|shard| stage.machine.owns(*shard)));
}

#[test]
fn a_node_owns_the_shards_that_it_won_and_none_that_it_did_not_claim() {
    let mut stage = Stage::among(&[]);
    stage.wants([node(7), node(8)]);
    let effects = stage.tell(Input::Claimed(vec![node(8), node(9)]));
    assert_eq!(owns_now(&effects), Some(vec![node(8)]));
    assert!(stage.machine.owns(node(8)) && !stage.machine.owns(node(7)) && !stage.machine.owns(node(9)));
    assert_eq!(stage.wants([node(7)]), [node(7)], "it may be free the next time");
    assert_eq!(owns_now(&stage.tell(Input::Claimed(Vec::new()))), None, "another node was faster");
}

#[test]
fn a_node_claims_only_shards_for_which_it_is_proposed() {
    let mut stage = Stage::among(&[2]);
    let members = [1, 2].map(|id| seen(id, Standing::Serving).member);
    let all: Vec<_> = (100..200).map(node).collect();
    let ours = all.iter().copied().filter(|shard| proposed(&members, *shard) == Some(node(1)));
    assert_eq!(stage.wants(all.iter().copied()), ours.collect::<Vec<_>>());
}

#[test]
fn a_shard_that_is_given_away_is_not_claimed_until_it_is_released() {
    let mut stage = Stage::among(&[]);
    let all = stage.own(100..140, false);
    stage.renewed(serving(&[2]));
    stage.later(SETTLED);
    let given = given_up(&stage.renewed(serving(&[2])));
    assert!(given.len() > 1 && given.iter().all(|shard| all.contains(shard) && !stage.machine.owns(*shard)));
    // The other node is gone again before all of it has stopped here.
    stage.renewed(serving(&[]));
    assert!(stage.wants(given.iter().copied()).is_empty());
    stage.tell(Input::Released(vec![given[0]]));
    assert_eq!(stage.wants(given.iter().copied()), [given[0]]);
}

#[test]
fn channels_move_only_once_the_members_are_the_same_for_three_seconds() {
    let mut stage = Stage::among(&[]);
    stage.own(100..140, false);
    stage.renewed(serving(&[2]));
    stage.later(SETTLED - MOMENT);
    assert!(given_up(&stage.renewed(serving(&[2]))).is_empty());
    stage.renewed(serving(&[2, 3]));
    stage.later(SETTLED - MOMENT);
    assert!(given_up(&stage.renewed(serving(&[2, 3]))).is_empty(), "they changed meanwhile");
    stage.later(MOMENT);
    assert!(!given_up(&stage.renewed(serving(&[2, 3]))).is_empty());
    assert!(given_up(&stage.renewed(serving(&[2, 3]))).is_empty(), "all of it has moved");
}

#[test]
fn shards_that_were_to_move_to_a_node_that_is_gone_stay() {
    let mut stage = Stage::among(&[]);
    let owned = stage.own(100..500, false);
    stage.renewed(serving(&[2]));
    stage.later(SETTLED);
    assert_eq!(given_up(&stage.renewed(serving(&[2]))).len(), MOVES, "some at a time");
    assert!(given_up(&stage.renewed(serving(&[]))).is_empty());
    let kept = owned.iter().filter(|shard| stage.machine.owns(**shard)).count();
    assert_eq!(kept, owned.len() - MOVES);
}

#[test]
fn shards_that_were_claimed_before_a_node_came_move_there() {
    let mut stage = Stage::among(&[]);
    let claimed = stage.wants((100..140).map(node));
    stage.renewed(serving(&[2]));
    stage.later(SETTLED);
    assert!(given_up(&stage.renewed(serving(&[2]))).is_empty(), "nothing is owned yet");
    stage.tell(Input::Claimed(claimed.clone()));
    let given = given_up(&stage.renewed(serving(&[2])));
    let members = stage.machine.members.clone();
    let theirs = claimed.iter().copied().filter(|shard| proposed(&members, *shard) == Some(node(2)));
    assert_eq!(given, theirs.collect::<Vec<_>>());
}

#[test]
fn web_sessions_move_only_from_a_node_that_drains() {
    let mut stage = Stage::among(&[]);
    let sessions = stage.own(100..120, true);
    stage.renewed(serving(&[2]));
    stage.later(SETTLED);
    assert!(given_up(&stage.renewed(serving(&[2]))).is_empty());
    let draining = vec![Seen { standing: Standing::Draining, ..ME }, seen(2, Standing::Serving)];
    assert_eq!(given_up(&stage.renewed(draining)), sessions);
}

#[test]
fn a_draining_node_without_trust_still_gives_its_shards_away() {
    let mut stage = Stage::among(&[]);
    let owned = stage.own(100..103, false);
    stage.later(TRUST);
    stage.tell(Input::Timer);
    assert!(stage.wants([node(7)]).is_empty());
    let began = stage.now - TRUST;
    let draining = vec![Seen { standing: Standing::Draining, ..ME }];
    assert_eq!(given_up(&stage.tell(Input::Renewed { began, seen: draining })), owned);
}
