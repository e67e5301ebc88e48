//! When the lease is renewed, when trust in it ends, and which node clears up after nodes that are gone.

use super::*;

const MOMENT: Duration = Duration::from_millis(1);

impl Stage {
    /// A node that began to renew its lease, and has no result yet.
    fn renewing() -> Self {
        let mut stage = Self::new();
        assert!(stage.tell(Input::Timer).contains(&Effect::Renew));
        stage
    }

    fn renewed_since(&mut self, began: Instant, seen: Vec<Seen>) -> Vec<Effect> {
        self.tell(Input::Renewed { began, seen })
    }
}

fn trusts(effects: &[Effect]) -> Option<Instant> {
    effects.iter().find_map(|effect| match effect {
        Effect::Trust(until) => Some(*until),
        _ => None,
    })
}

fn wakes(effects: &[Effect]) -> Option<Instant> {
    effects.iter().find_map(|effect| match effect {
        Effect::WakeAt(at) => Some(*at),
        _ => None,
    })
}

fn standing(id: u128, standing: Standing) -> Vec<Seen> {
    vec![ME, seen(id, standing)]
}

#[test]
fn a_renewal_that_failed_is_tried_again_a_quarter_of_a_second_later() {
    let mut stage = Stage::renewing();
    stage.later(Duration::from_millis(300));
    let effects = stage.tell(Input::NotRenewed);
    assert_eq!(effects, [Effect::WakeAt(stage.now + AGAIN)]);
    stage.later(AGAIN - MOMENT);
    assert!(!stage.tell(Input::Timer).contains(&Effect::Renew));
    stage.later(MOMENT);
    assert!(stage.tell(Input::Timer).contains(&Effect::Renew));
}

#[test]
fn the_lease_is_renewed_a_second_after_the_last_renewal_began_and_at_once_if_that_took_longer() {
    let mut stage = Stage::renewing();
    let began = stage.now;
    stage.later(RENEWAL - MOMENT);
    let effects = stage.renewed_since(began, vec![ME]);
    assert!(!effects.contains(&Effect::Renew));
    stage.later(MOMENT);
    assert!(stage.tell(Input::Timer).contains(&Effect::Renew));
    stage.later(2 * RENEWAL);
    let began = stage.now - 2 * RENEWAL;
    assert!(stage.renewed_since(began, vec![ME]).contains(&Effect::Renew));
}

#[test]
fn each_renewal_prolongs_the_trust_and_none_shortens_it() {
    let mut stage = Stage::new();
    let first = stage.now;
    assert_eq!(trusts(&stage.renewed(vec![ME])), Some(first + TRUST));
    stage.later(RENEWAL);
    let second = stage.now;
    assert_eq!(trusts(&stage.renewed(vec![ME])), Some(second + TRUST));
    assert_eq!(trusts(&stage.renewed_since(second, vec![ME])), None, "it is trusted as long already");
    assert_eq!(trusts(&stage.renewed_since(first, vec![ME])), None, "an answer that comes late");
    stage.later(TRUST - MOMENT);
    assert!(stage.machine.trusts(stage.now) && !stage.tell(Input::Timer).contains(&Effect::Distrust));
    stage.later(MOMENT);
    assert!(!stage.machine.trusts(stage.now) && stage.tell(Input::Timer).contains(&Effect::Distrust));
    assert!(!stage.tell(Input::Timer).contains(&Effect::Distrust), "that is told once");
}

#[test]
fn a_node_whose_renewal_hangs_is_woken_when_its_trust_ends() {
    let mut stage = Stage::new();
    let began = stage.now;
    stage.renewed(vec![ME]);
    stage.later(RENEWAL);
    let effects = stage.tell(Input::Timer);
    assert!(effects.contains(&Effect::Renew));
    assert_eq!(wakes(&effects), Some(began + TRUST));
}

#[test]
fn a_late_renewal_gives_only_the_rest_of_its_trust() {
    let mut stage = Stage::new();
    let began = stage.now;
    stage.later(TRUST - MOMENT);
    assert_eq!(trusts(&stage.renewed_since(began, vec![ME])), Some(stage.now + MOMENT));
}

#[test]
fn a_node_drains_when_its_own_row_says_so_and_is_told_once() {
    let mut stage = Stage::new();
    assert!(!stage.renewed(standing(2, Standing::Draining)).contains(&Effect::Drain), "another one drains");
    let drains = || vec![Seen { standing: Standing::Draining, ..ME }];
    assert!(stage.renewed(drains()).contains(&Effect::Drain));
    assert!(!stage.renewed(drains()).contains(&Effect::Drain));
}

#[test]
fn a_node_that_no_longer_drains_is_told_once_and_claims_again() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    assert!(!stage.renewed(vec![ME]).contains(&Effect::Undrain), "it did not drain");
    stage.renewed(vec![Seen { standing: Standing::Draining, ..ME }]);
    let lapsed = stage.renewed(vec![Seen { standing: Standing::Lapsed, ..ME }]);
    assert!(!lapsed.contains(&Effect::Undrain), "a lapsed lease says nothing of it");
    assert!(stage.renewed(vec![ME]).contains(&Effect::Undrain));
    assert!(!stage.renewed(vec![ME]).contains(&Effect::Undrain));
    let wanted = vec![Wanted { shard: node(100), stays: false }];
    assert!(stage.tell(Input::Wanted(wanted)).contains(&Effect::Claim(vec![node(100)])));
}

#[test]
fn the_members_are_those_that_serve_in_the_order_of_their_ids_and_told_when_they_change() {
    let mut stage = Stage::new();
    let members =
        |ids: &[u128]| Effect::Members(ids.iter().map(|id| seen(*id, ME.standing).member).collect());
    let all = || {
        let others = [(5, Standing::Serving), (3, Standing::Serving), (4, Standing::Draining)];
        let gone = [(6, Standing::Lapsed), (7, Standing::Fenced)];
        let others = others.into_iter().chain(gone).map(|(id, standing)| seen(id, standing));
        [ME].into_iter().chain(others).collect::<Vec<_>>()
    };
    assert!(stage.renewed(all()).contains(&members(&[1, 3, 5])));
    let told = |effects: Vec<Effect>| effects.iter().any(|effect| matches!(effect, Effect::Members(_)));
    assert!(!told(stage.renewed(all())), "they are the same");
    assert!(stage.renewed(standing(3, Standing::Serving)).contains(&members(&[1, 3])));
}

#[test]
fn a_node_closes_no_fence_of_its_own_or_of_nodes_that_have_their_lease() {
    let mut stage = Stage::new();
    let mut seen_all = vec![Seen { standing: Standing::Lapsed, ..ME }];
    seen_all.extend([seen(2, Standing::Serving), seen(3, Standing::Draining)]);
    let effects = stage.renewed(seen_all);
    let cares = |effect: &Effect| matches!(effect, Effect::CloseFence(_) | Effect::ClearUp(_));
    assert!(!effects.iter().any(cares), "{effects:?}");
}

#[test]
fn the_last_node_clears_up_after_a_fenced_one_until_that_is_done() {
    let mut stage = Stage::new();
    let fenced = || standing(2, Standing::Fenced);
    assert!(stage.renewed(fenced()).contains(&Effect::ClearUp(node(2))));
    assert!(!stage.renewed(fenced()).contains(&Effect::ClearUp(node(2))), "it is under way");
    stage.tell(Input::Tried(node(3)));
    assert!(!stage.renewed(fenced()).contains(&Effect::ClearUp(node(2))), "that was another one");
    stage.tell(Input::Tried(node(2)));
    assert!(stage.renewed(fenced()).contains(&Effect::ClearUp(node(2))), "it failed, and is tried again");
    stage.tell(Input::Tried(node(2)));
    assert!(!stage.renewed(vec![ME]).contains(&Effect::ClearUp(node(2))), "nothing is left of it");
}

#[test]
fn the_node_that_is_proposed_for_a_fenced_one_clears_up_after_it_even_while_it_drains() {
    for dead in 10..30 {
        for own_standing in [Standing::Serving, Standing::Draining] {
            let own = Seen { standing: own_standing, ..ME };
            let mut stage = Stage::new();
            let effects = stage.renewed(vec![own, seen(2, Standing::Serving), seen(dead, Standing::Fenced)]);
            let members = [1, 2].map(|id| seen(id, Standing::Serving).member);
            let is_ours = proposed(&members, node(dead)) == Some(node(1));
            assert_eq!(effects.contains(&Effect::ClearUp(node(dead))), is_ours);
        }
    }
}

#[test]
fn a_node_that_never_had_trust_ends_without_losing_it() {
    let mut stage = Stage::renewing();
    assert_eq!(stage.tell(Input::Fenced), [Effect::End]);
    assert!(stage.tell(Input::Timer).is_empty(), "it renews nothing any more");
}

#[test]
fn a_node_that_ended_owns_and_trusts_nothing() {
    let mut stage = Stage::new();
    stage.renewed(vec![ME]);
    let owned = stage.own(100..102, false);
    assert!(owned.iter().all(|shard| stage.machine.owns(*shard)));
    stage.tell(Input::Fenced);
    assert!(!owned.iter().any(|shard| stage.machine.owns(*shard)));
    assert!(!stage.machine.trusts(stage.now));
}
