//! What is removed from the log, and what readers learn of it.

use pombo::store::event_log::LogBounds;

use super::*;

stores! {
    a_log_without_room_loses_the_oldest_and_says_how_many,
    old_events_go_and_the_log_of_a_company_says_where_it_begins,
    a_reader_s_place_never_goes_back,
}

const ROOMY: u64 = 1 << 40;

async fn a_log_without_room_loses_the_oldest_and_says_how_many(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let (other, log) = (Uuid::from_u128(2), store.event_log());
    let foreign = NewSend { company_id: other, ..send(11, Recipients::Blocks(2)) };
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(40)), foreign])).await;
    commit(&store, &lease, mark(10, 40, State::Active)).await;
    commit(&store, &lease, outcomes(vec![OutcomeOf { company_id: other, ..outcome(11, 0, At::Sent) }])).await;
    for from in [0, 10, 20] {
        let ten = (from..from + 10).map(|at| outcome(10, at, At::Sent)).collect();
        commit(&store, &lease, outcomes(ten)).await;
    }
    let bounds = |bytes| LogBounds { before: None, bytes };
    assert_eq!(log.trim(bounds(ROOMY)).await.unwrap(), 0);
    let all = log.bytes().await.unwrap();
    // Each company has room for two blocks of the four.
    assert_eq!(log.trim(bounds(all / 2 + 20)).await.unwrap(), 10);
    assert_eq!(log.trim(bounds(all / 2 + 20)).await.unwrap(), 0);
    let events = pending(&store).await;
    let lost =
        |event: &Event| (event.r#type == Type::OutboxLost).then_some((event.company_id, event.data.clone()));
    let losses: Vec<_> = events.iter().filter_map(lost).collect();
    assert_eq!(losses, [(ACME, Data::Lost(LostData { count: 10, since: NOW }))]);
    // The loss is told where the events were: after the first one of the other company.
    assert_eq!((events[0].company_id, events[1].r#type), (other, Type::OutboxLost));
    let kept = types(&(10..30).map(|ordinal| ("message.sent", ordinal)).collect::<Vec<_>>());
    assert_eq!(told(&store).await[2..], kept);
    // What the stream outside has is no loss.
    log.advance(Reader::Nats, Sequence::end_of(log.settle().await.unwrap().through)).await.unwrap();
    assert_eq!(log.trim(bounds(1)).await.unwrap(), 0);
    assert_eq!(log.bytes().await.unwrap(), 0);
}

async fn old_events_go_and_the_log_of_a_company_says_where_it_begins(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let log = store.event_log();
    let reader = Reader::Company(ACME);
    let begun = log.register(reader, NOW).await.unwrap();
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(9))])).await;
    commit(&store, &lease, mark(10, 9, State::Active)).await;
    let write = async |ordinal, at| {
        store.ledger().commit(&lease, &outcomes(vec![outcome(10, ordinal, At::Sent)]), at).await.unwrap();
        log.settle().await.unwrap().through
    };
    let old = write(0, NOW).await;
    let later = NOW.plus(Duration::from_secs(60));
    let new = write(1, later).await;
    assert_eq!(log.place_of(reader, NOW).await.unwrap(), Some(begun));
    assert_eq!(log.trim(LogBounds { before: Some(NOW), bytes: ROOMY }).await.unwrap(), 0);
    log.trim(LogBounds { before: Some(later), bytes: ROOMY }).await.unwrap();
    assert_eq!(log.place_of(reader, NOW).await.unwrap(), None, "it did not read for so long");
    let again = log.register(reader, later).await.unwrap();
    assert!(again > Sequence::end_of(new), "a program that comes back learns that it missed something");
    let newest = write(2, later).await;
    log.trim(LogBounds { before: None, bytes: 1 }).await.unwrap();
    assert_eq!(
        log.place_of(reader, later).await.unwrap(),
        Some(Sequence::new(newest, 0)),
        "who has the last event has missed nothing"
    );
    let page = log.read(Some(ACME), (again, newest), 9, |_| true).await.unwrap();
    assert_eq!((page.begins_after, page.told), (Some(Sequence::new(newest, 0)), vec![]));
    assert!(
        old < new && new < newest && newest < write(3, later).await,
        "a block's number is never used again"
    );
}

async fn a_reader_s_place_never_goes_back(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let log = store.event_log();
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(5))])).await;
    commit(&store, &lease, mark(10, 5, State::Active)).await;
    commit(&store, &lease, outcomes((0..5).map(|at| outcome(10, at, At::Sent)).collect())).await;
    // Those who wait are told, also when they were not waiting.
    tokio::time::timeout(Duration::from_secs(30), log.written()).await.unwrap();
    let sequences: Vec<_> = pending(&store).await.iter().map(|event| event.sequence).collect();
    for place in [sequences[1], sequences[0]] {
        log.advance(Reader::Nats, place).await.unwrap();
        assert_eq!(log.place_of(Reader::Nats, NOW).await.unwrap(), Some(sequences[1]));
    }
    let behind = log.behind(sequences[1]).await.unwrap();
    assert_eq!((behind.events, behind.oldest), (5, Some(NOW)), "the block was read in part");
    let end = Sequence::end_of(sequences[4].block());
    assert_eq!(log.behind(end).await.unwrap().events, 0);
}
