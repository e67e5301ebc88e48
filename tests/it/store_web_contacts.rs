//! What web sessions know of numbers, what they sent by its time, and what is learnt of contacts, on both databases.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::channel::{Connection, Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::message::{self, Failure, Outcome, Position};
use pombo::domain::send::{Mark, Progress, Recipients, Schedule, State};
use pombo::store::change::Who;
use pombo::store::channel::{NewChannel, Sealed};
use pombo::store::ledger::{Answer, NewSend, OutcomeOf, PendingWrites};
use pombo::store::web_session::{Change, Row};
use pombo::store::web_session_contact::KnownNumber;
use pombo::store::web_session_send::FirstTry;
use pombo::store::{Care, Lease, Store};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, found, number, person};

const HOUR: Duration = Duration::from_secs(3_600);
const ONE: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);
const MARIA: u64 = 5_511_988_887_777;
const JOAO: u64 = 5_521_977_776_666;

stores! {
    a_number_is_known_as_whatsapp_answered_last,
    the_first_time_counts_and_a_number_that_was_heard_is_not_asked_for,
    strangers_are_counted_by_the_time_of_their_first_message,
    attempts_of_a_channel_are_told_by_the_time_in_their_ids,
    an_attempt_that_handed_nothing_over_does_not_count,
    how_far_the_first_try_of_a_request_got_is_told,
    a_send_is_found_by_the_stamp_of_its_message,
    what_is_learnt_of_a_number_is_in_its_contacts_and_found_at_once,
    a_picture_is_written_once,
    a_whole_answer_is_given_again_until_it_is_forgotten,
    a_phone_is_linked_until_it_is_not_and_its_numbers_stay,
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.millis() + millis)
}

async fn known(store: &Store, channel: Uuid, digits: u64) -> Option<KnownNumber> {
    store.known_number(channel, number(digits)).await.unwrap()
}

async fn a_number_is_known_as_whatsapp_answered_last(universe: &Universe) {
    let store = &universe.store;
    assert_eq!(known(store, ONE, MARIA).await, None);
    let (jid, lid) = ("5511988887777@s.whatsapp.net", "200000000000001@lid");
    store.note_number_check(ONE, number(MARIA), Some(jid), Some(lid), at(1)).await.unwrap();
    let answered = KnownNumber {
        jid: Some(jid.to_owned()),
        lid: Some(lid.to_owned()),
        checked_at: Some(at(1)),
        first_sent_at: None,
        first_heard_at: None,
    };
    assert!(answered.is_cold());
    assert_eq!(known(store, ONE, MARIA).await, Some(answered.clone()));
    assert_eq!((known(store, OTHER, MARIA).await, known(store, ONE, JOAO).await), (None, None));

    // Another answer leaves what it does not name, and what was said since.
    store.note_first_sent(ONE, number(MARIA), at(2)).await.unwrap();
    store.note_number_check(ONE, number(MARIA), None, None, at(3)).await.unwrap();
    let gone = KnownNumber { jid: None, checked_at: Some(at(3)), first_sent_at: Some(at(2)), ..answered };
    assert_eq!(known(store, ONE, MARIA).await, Some(gone.clone()));
    let odd = "'\"\\;{é} NULL";
    store.note_number_check(ONE, number(MARIA), Some(odd), Some(odd), at(4)).await.unwrap();
    let odd = Some(odd.to_owned());
    let back = KnownNumber { jid: odd.clone(), lid: odd, checked_at: Some(at(4)), ..gone };
    assert_eq!(known(store, ONE, MARIA).await, Some(back));
}

async fn the_first_time_counts_and_a_number_that_was_heard_is_not_asked_for(universe: &Universe) {
    let store = &universe.store;
    for moment in [at(5), at(3), at(9)] {
        store.note_first_heard(ONE, number(MARIA), moment).await.unwrap();
    }
    let heard = known(store, ONE, MARIA).await.unwrap();
    assert_eq!((heard.jid.as_deref(), heard.checked_at, heard.first_heard_at), (None, None, Some(at(5))));
    assert!(!heard.is_cold());
    for moment in [at(7), at(6), at(8)] {
        store.note_first_sent(ONE, number(MARIA), moment).await.unwrap();
    }
    store.note_number_check(ONE, number(MARIA), Some("x@s.whatsapp.net"), None, at(9)).await.unwrap();
    let written = known(store, ONE, MARIA).await.unwrap();
    assert_eq!((written.first_sent_at, written.first_heard_at), (Some(at(7)), Some(at(5))));
    assert_eq!((written.jid.as_deref(), written.checked_at), (Some("x@s.whatsapp.net"), Some(at(9))));
    assert_eq!(known(store, OTHER, MARIA).await, None);
}

async fn strangers_are_counted_by_the_time_of_their_first_message(universe: &Universe) {
    let store = &universe.store;
    for (digits, sent) in [(1, 30), (2, 10), (3, 20), (4, 20), (5, 9)] {
        store.note_first_sent(ONE, number(1_000_000 + digits), at(sent)).await.unwrap();
    }
    store.note_first_sent(OTHER, number(MARIA), at(25)).await.unwrap();
    // One had written before, another answered.
    store.note_first_heard(ONE, number(1_000_004), at(19)).await.unwrap();
    store.note_first_heard(ONE, number(1_000_001), at(31)).await.unwrap();
    store.note_first_heard(ONE, number(1_000_009), at(15)).await.unwrap();
    let since = async |channel, millis| store.first_sent_since(channel, at(millis)).await.unwrap();
    let first = |millis, digits: u64| (at(millis), number(1_000_000 + digits));
    assert_eq!(since(ONE, 10).await, [first(10, 2), first(20, 3), first(30, 1)]);
    assert_eq!(since(ONE, 11).await, [first(20, 3), first(30, 1)]);
    assert_eq!(since(ONE, 31).await, []);
    assert_eq!(since(OTHER, 0).await, [(at(25), number(MARIA))]);
}

/// An id of version 7 with this time and these last bytes.
fn id(millis: i64, tail: u32) -> Uuid {
    let millis = at(millis).millis().cast_unsigned();
    Uuid::from_u128((u128::from(millis) << 80) | (7 << 76) | (2 << 62) | u128::from(tail))
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.acquire_lease(&universe.options(), "test").await.unwrap()
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
    }
}

async fn attempts_of_a_channel_are_told_by_the_time_in_their_ids(universe: &Universe) {
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
    store.commit(&lease, &PendingWrites { sends, ..PendingWrites::default() }, NOW).await.unwrap();
    store.commit(&lease, &PendingWrites { marks, ..PendingWrites::default() }, NOW).await.unwrap();
    let since = async |channel, since| store.web_attempts_since(channel, since).await.unwrap();
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
        (message::State::Sent, None, true),
        (message::State::Unknown, None, true),
        (message::State::Sending, None, true),
        (message::State::Failed, Some(refused(Some(463))), true),
        (message::State::Failed, Some(refused(None)), false),
        (message::State::Queued, None, false),
        (message::State::Expired, None, false),
        (message::State::Canceled, None, false),
    ];
    let (mut batch, mut counted) = (PendingWrites::default(), Vec::new());
    for (tail, (state, error, counts)) in (1_u32..).zip(ends) {
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
            taken_at: None,
        };
        batch.outcomes.push(OutcomeOf { send_id: send.id, company_id: send.company_id, outcome });
        counted.extend(counts.then_some((at(10), send.id)));
        batch.sends.push(send);
    }
    store.commit(&lease, &batch, NOW).await.unwrap();
    assert_eq!(store.web_attempts_since(ONE, at(10)).await.unwrap(), counted);
}

async fn how_far_the_first_try_of_a_request_got_is_told(universe: &Universe) {
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
    store.commit(&lease, &batch, NOW).await.unwrap();
    let first_try = async |id| store.first_try(id).await.unwrap();
    let state = Some(message::State::Sent);
    for (id, expected) in [
        (id(1, 1), Some(FirstTry { is_over: false, was_attempted: false, state: None })),
        (id(2, 2), Some(FirstTry { is_over: false, was_attempted: true, state: None })),
        (id(3, 3), Some(FirstTry { is_over: true, was_attempted: true, state })),
        (id(4, 4), None),
    ] {
        assert_eq!(first_try(id).await, expected, "{id}");
    }
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
    store.commit(&lease, &PendingWrites { sends, ..PendingWrites::default() }, NOW).await.unwrap();
    let find = async |channel, millis: i64, tail| {
        let millis = at(millis).millis().cast_unsigned();
        store.send_of_stamp(channel, millis, tail).await.unwrap()
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
        assert_eq!(store.send_of_stamp(ONE, beyond, [1, 2, 3]).await.unwrap(), None);
    }
}

async fn what_is_learnt_of_a_number_is_in_its_contacts_and_found_at_once(universe: &Universe) {
    let (acme, globex) = (company(universe, "acme").await, company(universe, "globex").await);
    let store = &universe.store;
    let lid = "200000000000001@lid";
    assert!(!store.learn_lid(acme, number(MARIA), lid).await.unwrap(), "there is nobody");
    let named = |name: &str, digits: u64| (Uuid::now_v7(), person(name, "", "", &format!("+{digits}")));
    for of in [acme, globex] {
        let people =
            [named("Maria", MARIA), named("Joao", JOAO), named("Mary", MARIA), named("Ana", 1_234_567)];
        store.add_contacts(of, &people, &[], NOW).await.unwrap();
        while store.index_contacts_by(of, Care::Thorough, 2).await.unwrap() {}
    }
    assert!(store.learn_lid(acme, number(MARIA), lid).await.unwrap());
    assert!(!store.learn_lid(acme, number(MARIA), lid).await.unwrap(), "it is known");
    assert_eq!(found(store, acme, lid).await, ["Mary", "Maria"]);
    assert_eq!(found(store, globex, lid).await, Vec::<String>::new());
    for contact in all(store, acme).await {
        let is_maria = contact.person.first_name.starts_with("Mar");
        assert_eq!(contact.person.phone_number_lid.as_deref(), is_maria.then_some(lid));
        assert_eq!(contact.updated_at > NOW, is_maria, "{}", contact.person.first_name);
        assert_eq!(contact.created_at, NOW);
    }
    // The number itself stays as it was written, and another id takes the place of the first.
    assert_eq!(found(store, acme, "+5511988887777").await, ["Mary", "Maria"]);
    assert!(store.learn_lid(acme, number(MARIA), "300@lid").await.unwrap());
    assert!(found(store, acme, lid).await.is_empty());
    assert_eq!(found(store, acme, "300@lid").await, ["Mary", "Maria"]);
}

async fn a_picture_is_written_once(universe: &Universe) {
    let (acme, globex) = (company(universe, "acme").await, company(universe, "globex").await);
    let store = &universe.store;
    let own =
        Person { profile_picture: "https://own".to_owned(), ..person("Maria", "", "", "5511988887777") };
    for of in [acme, globex] {
        store.add_contacts(of, &[(Uuid::now_v7(), own.clone())], &[], NOW).await.unwrap();
    }
    let url = "https://pps.whatsapp.net/v/t61?ccb=11-4&oh=01_Q&oe=6";
    let set = async |url| store.set_profile_picture(acme, number(MARIA), url).await.unwrap();
    assert_eq!([set("").await, set(url).await, set(url).await], [false, true, false]);
    let (ours, theirs) = (all(store, acme).await.remove(0), all(store, globex).await.remove(0));
    assert_eq!((ours.person.profile_picture.as_str(), theirs.person), (url, own));
    assert!(ours.updated_at > theirs.updated_at);
    assert!(!store.set_profile_picture(acme, number(JOAO), url).await.unwrap());
}

async fn a_whole_answer_is_given_again_until_it_is_forgotten(universe: &Universe) {
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
        store.commit(&lease, &batch, NOW).await.unwrap();
    };
    let kept = async |company| {
        let kept = store.kept_answer(company, "k", NOW.minus(HOUR)).await.unwrap();
        kept.map(|kept| (kept.send_id, kept.result))
    };
    let keep =
        async |key: &str, send, result: &str| store.keep_web_result(acme, key, send, result).await.unwrap();
    let has = async |send| store.has_web_result(acme, "k", send).await.unwrap();
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
    store.drop_web_result(acme, "k", id(0, 9)).await.unwrap();
    assert!(has(id(0, 1)).await);
    store.drop_web_result(acme, "k", id(0, 1)).await.unwrap();
    assert_eq!(kept(acme).await, Some((id(0, 1), None)));
    assert!(keep("k", id(0, 1), result).await);
    assert_eq!(kept(globex).await, Some((id(0, 2), None)));
    // An answer about another send is not the same.
    accept(acme, 3).await;
    assert_eq!(kept(acme).await, Some((id(0, 3), None)));
    store.forget_answer(acme, "k").await.unwrap();
    store.forget_answer(acme, "k").await.unwrap();
    assert_eq!((kept(acme).await, kept(globex).await), (None, Some((id(0, 2), None))));
    assert!(store.find_send(acme, id(0, 3), NOW).await.unwrap().is_some(), "the send stays");
}

async fn a_phone_is_linked_until_it_is_not_and_its_numbers_stay(universe: &Universe) {
    let (store, company) = (&universe.store, company(universe, "acme").await);
    for id in [ONE, OTHER] {
        let new = NewChannel {
            id,
            company_id: company,
            kind: Kind::WebSession,
            name: "phone".to_owned(),
            phone_number: None,
            phone_number_id: None,
            waba_id: None,
            tier: "web-new".to_owned(),
            secrets: Sealed::default(),
            status: Status::Pairing,
        };
        assert_eq!(store.add_channel(&Who::Pombo, new).await.unwrap().linked_at, None);
    }
    let channel = async |id| store.find_channel(id).await.unwrap().unwrap();
    let before = channel(ONE).await;
    assert!(store.set_linked(ONE, number(MARIA), at(5)).await.unwrap());
    assert!(!store.set_linked(Uuid::from_u128(7), number(MARIA), at(5)).await.unwrap());
    let linked = channel(ONE).await;
    assert_eq!((linked.linked_at, linked.phone_number.as_deref()), (Some(at(5)), Some("+5511988887777")));
    assert!(linked.revision > before.revision);
    store.set_linked(OTHER, number(JOAO), at(6)).await.unwrap();

    store.note_first_sent(ONE, number(JOAO), at(7)).await.unwrap();
    let row = Row { key: "k".to_owned(), value: vec![1], mark: 0 };
    let key = Change::Put { namespace: "device".to_owned(), row };
    store.change_web_session(ONE, &[key]).await.unwrap();
    let to = Connection { status: Status::Disconnected, reason: None, since: at(8) };
    store.end_web_session(ONE, &to).await.unwrap();
    let ended = channel(ONE).await;
    assert_eq!((ended.linked_at, ended.connection), (None, to));
    assert!(!store.has_web_session(ONE).await.unwrap());
    assert_eq!(known(store, ONE, JOAO).await.unwrap().first_sent_at, Some(at(7)));
    assert_eq!(channel(OTHER).await.linked_at, Some(at(6)));
}
