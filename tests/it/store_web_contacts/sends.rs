//! Sends of web sessions: attempts by their time, sends by the stamp of their message, and answers that are kept whole.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::message::{self, Failure, Outcome, Position};
use pombo::domain::send::{Mark, Progress, Recipients, Schedule, State};
use pombo::store::Lease;
use pombo::store::ledger::{Answer, NewSend, OutcomeOf, PendingWrites};
use pombo::store::sends::StoredLabel;
use pombo::store::web_sessions::sends::FirstTry;
use uuid::Uuid;

use super::{MARIA, ONE, OTHER, at};
use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, number};

const JOAO: u64 = 5_521_977_776_666;
const HOUR: Duration = Duration::from_secs(3_600);

stores! {
    attempts_of_a_channel_are_found_by_the_time_in_their_ids,
    an_attempt_that_handed_nothing_over_does_not_count,
    the_progress_of_a_request_s_first_try_is_known,
    messages_that_keep_their_turn_are_found_with_strangers_until_they_expire,
    a_send_is_found_by_the_stamp_of_its_message,
    a_whole_answer_is_given_again_until_it_is_removed,
}

/// An id of version 7 with this time and these last bytes.
fn id(millis: i64, tail: u32) -> Uuid {
    let millis = at(millis).millis().cast_unsigned();
    Uuid::from_u128((u128::from(millis) << 80) | (7 << 76) | (2 << 62) | u128::from(tail))
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

fn new_send(id: Uuid, channel_id: Uuid) -> NewSend {
    NewSend {
        id,
        company_id: Uuid::from_u128(9),
        channel_id,
        state: State::Active,
        content: r#"{"type":"text","body":"oi"}"#.to_owned(),
        template_id: None,
        recipients: Recipients::One(number(MARIA)),
        skipped: 0,
        schedule: Schedule { send_at: None, expires_at: Some(at(1_000_000)) },
        label: StoredLabel::default(),
    }
}

async fn attempts_of_a_channel_are_found_by_the_time_in_their_ids(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let group = NewSend { recipients: Recipients::Group, ..new_send(id(30, 4), ONE) };
    let waits = new_send(id(25, 3), ONE);
    let bulk = NewSend { recipients: Recipients::Blocks(2), ..new_send(id(26, 6), ONE) };
    let of_business = NewSend { schedule: Schedule::default(), ..new_send(id(27, 7), ONE) };
    let mut sends = vec![new_send(id(10, 1), ONE), new_send(id(20, 2), ONE), waits, group];
    sends.extend([bulk, of_business, new_send(id(20, 8), OTHER)]);
    let attempted = sends.iter().map(|send| send.id).filter(|send| *send != id(25, 3));
    let mark = |send_id| Mark {
        send_id,
        progress: Progress { high_water: 1, settled: 1 },
        state: if send_id == id(10, 1) { State::Active } else { State::Finished },
        due_at: None,
    };
    let marks = attempted.map(mark).collect();
    store.ledger().commit(&lease, &PendingWrites { sends, ..PendingWrites::default() }, NOW).await.unwrap();
    store.ledger().commit(&lease, &PendingWrites { marks, ..PendingWrites::default() }, NOW).await.unwrap();
    let since = async |channel, since| store.web_sessions().web_attempts_since(channel, since).await.unwrap();
    let told = |millis, tail| (at(millis), id(millis, tail));
    assert_eq!(since(ONE, at(10)).await, [told(10, 1), told(20, 2), told(30, 4)]);
    assert_eq!(since(ONE, at(11)).await, [told(20, 2), told(30, 4)]);
    assert_eq!(since(ONE, at(31)).await, []);
    assert_eq!(since(OTHER, Timestamp::from_millis(-1)).await, [told(20, 8)]);
}

async fn an_attempt_that_handed_nothing_over_does_not_count(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let refused = |code| Failure { code, sentence: "no".to_owned() };
    let ends = [
        (message::State::Sent, None, None, true),
        (message::State::Unknown, None, None, true),
        (message::State::Sending, None, None, true),
        (message::State::Failed, Some(refused(Some(463))), None, true),
        (message::State::Failed, Some(refused(None)), None, false),
        (message::State::Queued, None, None, false),
        (message::State::Expired, None, None, false),
        (message::State::Canceled, None, None, false),
        // An attempt before the last one may have handed it over.
        (message::State::Failed, Some(refused(None)), Some(at(11)), true),
        (message::State::Queued, None, Some(at(11)), true),
        (message::State::Expired, None, Some(at(11)), true),
        (message::State::Canceled, None, Some(at(11)), true),
    ];
    let (mut batch, mut counted) = (PendingWrites::default(), Vec::new());
    for (tail, (state, error, taken_at, counts)) in (1_u32..).zip(ends) {
        let send = new_send(id(10, tail), ONE);
        batch.marks.push(Mark {
            send_id: send.id,
            progress: Progress { high_water: 1, settled: 1 },
            state: State::Finished,
            due_at: None,
        });
        let outcome = Outcome {
            position: Position { ordinal: 0, recipient: Some(number(MARIA)) },
            state,
            attempts: 1,
            provider_message_id: None,
            error,
            retry_at: None,
            taken_at,
        };
        batch.outcomes.push(OutcomeOf { send_id: send.id, company_id: send.company_id, outcome });
        counted.extend(counts.then_some((taken_at.unwrap_or(at(10)), send.id)));
        batch.sends.push(send);
    }
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    counted.sort_unstable();
    assert_eq!(store.web_sessions().web_attempts_since(ONE, at(10)).await.unwrap(), counted);
    // A message that waited for its turn counts when it was taken.
    counted.retain(|(taken, _)| *taken > at(10));
    assert_eq!(store.web_sessions().web_attempts_since(ONE, at(11)).await.unwrap(), counted);
}

async fn the_progress_of_a_request_s_first_try_is_known(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let (new, marked, sent) = (new_send(id(1, 1), ONE), new_send(id(2, 2), ONE), new_send(id(3, 3), ONE));
    let mark = |send: &NewSend, state| Mark {
        send_id: send.id,
        progress: Progress { high_water: 1, settled: u64::from(state == State::Finished) },
        state,
        due_at: None,
    };
    let outcome = Outcome {
        position: Position { ordinal: 0, recipient: Some(number(MARIA)) },
        state: message::State::Sent,
        attempts: 1,
        provider_message_id: None,
        error: None,
        retry_at: None,
        taken_at: None,
    };
    let batch = PendingWrites {
        marks: vec![mark(&marked, State::Active), mark(&sent, State::Finished)],
        outcomes: vec![OutcomeOf { send_id: sent.id, company_id: sent.company_id, outcome }],
        sends: vec![new, marked, sent],
        ..PendingWrites::default()
    };
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    let first_try = async |id| store.web_sessions().first_try(id).await.unwrap();
    let state = Some(message::State::Sent);
    for (id, expected) in [
        (id(1, 1), Some(FirstTry { is_over: false, was_attempted: false, state: None, keeps_turn: false })),
        (id(2, 2), Some(FirstTry { is_over: false, was_attempted: true, state: None, keeps_turn: false })),
        (id(3, 3), Some(FirstTry { is_over: true, was_attempted: true, state, keeps_turn: false })),
        (id(4, 4), None),
    ] {
        assert_eq!(first_try(id).await, expected, "{id}");
    }
}

async fn messages_that_keep_their_turn_are_found_with_strangers_until_they_expire(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let kept =
        |send| NewSend { content: r#"{"type":"text","body":"oi","keeps_turn":true}"#.to_owned(), ..send };
    let to = |recipients, send| NewSend { recipients, ..send };
    let over = kept(new_send(id(6, 6), ONE));
    let mark = Mark {
        send_id: over.id,
        progress: Progress { high_water: 1, settled: 1 },
        state: State::Finished,
        due_at: None,
    };
    let sends = vec![
        kept(new_send(id(1, 1), ONE)),
        kept(to(Recipients::One(number(JOAO)), new_send(id(2, 2), ONE))),
        kept(to(Recipients::Group, new_send(id(3, 3), ONE))),
        // Its words do not count.
        NewSend {
            content: r#"{"type":"text","body":"\"keeps_turn\":true"}"#.to_owned(),
            ..new_send(id(4, 4), ONE)
        },
        kept(new_send(id(5, 5), OTHER)),
        over,
    ];
    store.ledger().commit(&lease, &PendingWrites { sends, ..PendingWrites::default() }, NOW).await.unwrap();
    let marks = vec![mark];
    store.ledger().commit(&lease, &PendingWrites { marks, ..PendingWrites::default() }, NOW).await.unwrap();
    store.web_sessions().note_first_heard(ONE, number(JOAO), at(1)).await.unwrap();
    let found = async |channel, now| store.web_sessions().kept_turns(channel, now).await.unwrap();
    let expected = [(id(1, 1), Some(number(MARIA))), (id(2, 2), None), (id(3, 3), None)];
    assert_eq!(found(ONE, at(999_999)).await, expected);
    assert_eq!(found(ONE, at(1_000_000)).await, []);
    assert_eq!(found(OTHER, at(0)).await, [(id(5, 5), Some(number(MARIA)))]);
}

async fn a_send_is_found_by_the_stamp_of_its_message(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let highest = Uuid::from_u128(id(10, 0).as_u128() | ((1 << 80) - 1));
    let sends = vec![
        new_send(id(9, 0xff_ff_ff), ONE),
        new_send(id(10, 0x01_02_03), ONE),
        new_send(id(10, 0x05_01_02_04), ONE),
        new_send(id(10, 0x09_01_02_04), ONE),
        new_send(id(10, 0x07_07_07), OTHER),
        new_send(highest, ONE),
        new_send(id(11, 0x01_02_05), ONE),
    ];
    store.ledger().commit(&lease, &PendingWrites { sends, ..PendingWrites::default() }, NOW).await.unwrap();
    let find = async |channel, millis: i64, tail| {
        let millis = at(millis).millis().cast_unsigned();
        store.web_sessions().send_of_stamp(channel, millis, tail).await.unwrap()
    };
    assert_eq!(find(ONE, 10, [1, 2, 3]).await, Some(id(10, 0x01_02_03)));
    assert_eq!(find(ONE, 10, [0xff; 3]).await, Some(highest));
    assert_eq!(find(ONE, 9, [0xff; 3]).await, Some(id(9, 0xff_ff_ff)));
    assert_eq!(find(ONE, 11, [1, 2, 5]).await, Some(id(11, 0x01_02_05)));
    assert_eq!(find(ONE, 10, [1, 2, 4]).await, None, "one of two");
    assert_eq!(find(ONE, 10, [1, 2, 5]).await, None, "a moment later");
    assert_eq!(find(ONE, 10, [7; 3]).await, None, "another channel's");
    assert_eq!(find(OTHER, 10, [7; 3]).await, Some(id(10, 0x07_07_07)));
    for beyond in [1 << 48, u64::MAX] {
        assert_eq!(store.web_sessions().send_of_stamp(ONE, beyond, [1, 2, 3]).await.unwrap(), None);
    }
}

async fn a_whole_answer_is_given_again_until_it_is_removed(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let (acme, globex) = (Uuid::from_u128(9), Uuid::from_u128(8));
    let accept = async |company_id, tail: u32| {
        let send = NewSend { company_id, ..new_send(id(0, tail), ONE) };
        let answer = Answer {
            company_id,
            key: "k".to_owned(),
            fingerprint: [7; 32],
            send_id: send.id,
            recipients: 1,
            skipped: 0,
            skipped_first: "[]".to_owned(),
        };
        let batch = PendingWrites { sends: vec![send], answers: vec![answer], ..PendingWrites::default() };
        store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    };
    let kept = async |company| {
        let kept = store.of(company).answers().find("k", NOW.minus(HOUR)).await.unwrap();
        kept.map(|kept| (kept.send_id, kept.result))
    };
    let keep = async |key: &str, send, result: &str| {
        store.of(acme).answers().keep_web_result(key, send, result).await.unwrap()
    };
    let has = async |send| store.of(acme).answers().has_web_result("k", send).await.unwrap();
    assert!(!keep("k", id(0, 1), "{}").await);
    assert_eq!(kept(acme).await, None, "nothing was accepted under it");
    accept(acme, 1).await;
    accept(globex, 2).await;
    assert_eq!(kept(acme).await, Some((id(0, 1), None)));
    let result = r#"{"data":[{"index":0,"result":{"text":"olá '\" \\ "}}]}"#;
    assert!(!has(id(0, 1)).await);
    assert!(keep("k", id(0, 1), result).await && !keep("other", id(0, 1), "{}").await);
    assert!(!keep("k", id(0, 9), "{}").await, "the key is another send's");
    assert_eq!(kept(acme).await, Some((id(0, 1), Some(result.to_owned()))));
    assert!(has(id(0, 1)).await && !has(id(0, 9)).await);
    store.of(acme).answers().drop_web_result("k", id(0, 9)).await.unwrap();
    assert!(has(id(0, 1)).await);
    store.of(acme).answers().drop_web_result("k", id(0, 1)).await.unwrap();
    assert_eq!(kept(acme).await, Some((id(0, 1), None)));
    assert!(keep("k", id(0, 1), result).await);
    assert_eq!(kept(globex).await, Some((id(0, 2), None)));
    // An answer about another send is not the same.
    accept(acme, 3).await;
    assert_eq!(kept(acme).await, Some((id(0, 3), None)));
    store.of(acme).answers().remove("k").await.unwrap();
    store.of(acme).answers().remove("k").await.unwrap();
    assert_eq!((kept(acme).await, kept(globex).await), (None, Some((id(0, 2), None))));
    assert!(store.of(acme).sends().find(id(0, 3), NOW).await.unwrap().is_some(), "the send stays");
}
