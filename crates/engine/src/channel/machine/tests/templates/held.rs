//! Templates that the provider does not let through.

use super::*;

#[test]
fn a_template_that_the_provider_does_not_let_through_holds_only_its_own_sends() {
    let mut world = World::ready(1);
    world.accept_template(10, 7);
    world.flush();
    world.accept_template(11, 7);
    world.accept_template(12, 8);
    world.accept(13);
    let now = world.at.wall;
    assert!(world.answer(refused(Disposition::HoldTemplate)).contains(&"pause template"));
    world.go_on();
    assert_eq!((world.under_way(), world.count("pause template 7")), (vec![12, 13], 1));
    let mut rows = world.writes.iter().flat_map(|write| &write.outcomes);
    let row = rows.rfind(|of| of.send_id.as_u128() == 10).unwrap().outcome.clone();
    assert_eq!((row.state, row.attempts, row.retry_at), (State::Queued, 0, Some(now)));
    assert_eq!(world.limits().active_sends, 2);
    assert_eq!(world.mark(11).progress.high_water, 0, "it is not marked as attempted");
    // Until the store has the mark, no send of the template is begun.
    world.store_is_empty();
    world.store_is_empty();
    world.accept_template(14, 7);
    let mut stored = world.stored(15);
    stored.send.template = Some(marketing(7));
    world.found(Size::Direct, vec![stored]);
    assert_eq!(world.limits().active_sends, 2);
    let marked = |result| Input::TemplateMarked { template_id: 7, result };
    world.feed(marked(Err(Failed::Temporarily)));
    world.pass(SECOND - MILLI);
    assert_eq!(world.count("pause template"), 1);
    world.pass(MILLI);
    assert_eq!(world.count("pause template"), 2);
    world.feed(marked(Ok(())));
    world.accept_template(16, 7);
    assert_eq!(world.limits().active_sends, 3);
}

#[test]
fn a_template_that_the_provider_refused_is_listed_a_minute_later() {
    let mut world = World::ready(1);
    let common = Arc::clone(&world.machine.common);
    let lists = |world: &World| {
        common.accounts.feed("2", account::Input::Timer, world.at);
        let effects = common.accounts.take_effects();
        effects.iter().any(|(_, effect)| matches!(effect, account::Effect::ListTemplates { .. }))
    };
    lists(&world);
    world.feed(Input::TemplateMarked { template_id: 7, result: Ok(()) });
    world.pass(MINUTE - MILLI);
    assert!(!lists(&world));
    world.pass(MILLI);
    assert!(lists(&world));
}

#[test]
fn a_change_of_templates_holds_their_sends_or_causes_a_read_of_the_store() {
    let mut world = World::ready(1);
    world.accept_bulk(20, of_template(7), &[1, 2]);
    world.accept_bulk(21, of_template(8), &[3, 4]);
    world.flush();
    let looks = world.fetches.len();
    world.feed(Input::TemplatesChanged(vec![(7, false), (9, false)]));
    assert_eq!(world.fetches.len(), looks);
    world.flush();
    assert!(world.machine.backlog().bulk <= 2, "{:?}", world.machine.backlog());
    world.attempts.clear();
    world.go_on();
    assert!(world.attempts.iter().all(|attempt| attempt.ticket.send_id.as_u128() == 21));
    assert_eq!(world.mark(20).state, send::State::Active);
    world.store_is_empty();
    world.store_is_empty();
    assert!(world.feed(Input::TemplatesChanged(vec![(8, false), (7, true)])).contains(&"fetch"));
}
