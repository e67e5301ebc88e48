//! The numbers of web sessions, their messages, and the facts that they add to contacts, on both databases.

mod sends;

use pombo::clock::Timestamp;
use pombo::domain::channel::{Connection, Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::web_session::{Change, Record};
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::web_sessions::contacts::KnownNumber;
use pombo::store::{Care, Store};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::{NOW, all, company, found, number, person};

const ONE: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);
const MARIA: u64 = 5_511_988_887_777;
const JOAO: u64 = 5_521_977_776_666;

stores! {
    a_number_is_known_as_whatsapp_answered_last,
    the_first_time_counts_and_a_number_that_was_heard_is_not_asked_for,
    strangers_are_counted_by_the_time_of_their_first_message,
    numbers_are_known_together_and_those_that_were_only_asked_about_are_counted,
    facts_about_a_number_are_in_its_contacts_and_found_at_once,
    a_picture_is_written_once,
    a_phone_is_linked_until_it_is_not_and_its_numbers_stay,
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.millis() + millis)
}

async fn known(store: &Store, channel: Uuid, digits: u64) -> Option<KnownNumber> {
    store.web_sessions().known_number(channel, number(digits)).await.unwrap()
}

async fn a_number_is_known_as_whatsapp_answered_last(universe: &Universe) {
    let store = &universe.store;
    assert_eq!(known(store, ONE, MARIA).await, None);
    let (jid, lid) = ("5511988887777@s.whatsapp.net", "200000000000001@lid");
    store.web_sessions().note_number_check(ONE, number(MARIA), Some(jid), Some(lid), at(1)).await.unwrap();
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

    // Another answer keeps the fields that it does not name, and newer reports.
    store.web_sessions().note_first_sent(ONE, number(MARIA), at(2)).await.unwrap();
    store.web_sessions().note_number_check(ONE, number(MARIA), None, None, at(3)).await.unwrap();
    let gone = KnownNumber { jid: None, checked_at: Some(at(3)), first_sent_at: Some(at(2)), ..answered };
    assert_eq!(known(store, ONE, MARIA).await, Some(gone.clone()));
    let odd = "'\"\\;{é} NULL";
    store.web_sessions().note_number_check(ONE, number(MARIA), Some(odd), Some(odd), at(4)).await.unwrap();
    let odd = Some(odd.to_owned());
    let back = KnownNumber { jid: odd.clone(), lid: odd, checked_at: Some(at(4)), ..gone };
    assert_eq!(known(store, ONE, MARIA).await, Some(back));
}

async fn the_first_time_counts_and_a_number_that_was_heard_is_not_asked_for(universe: &Universe) {
    let store = &universe.store;
    for moment in [at(5), at(3), at(9)] {
        store.web_sessions().note_first_heard(ONE, number(MARIA), moment).await.unwrap();
    }
    let heard = known(store, ONE, MARIA).await.unwrap();
    assert_eq!((heard.jid.as_deref(), heard.checked_at, heard.first_heard_at), (None, None, Some(at(5))));
    assert!(!heard.is_cold());
    for moment in [at(7), at(6), at(8)] {
        store.web_sessions().note_first_sent(ONE, number(MARIA), moment).await.unwrap();
    }
    store
        .web_sessions()
        .note_number_check(ONE, number(MARIA), Some("x@s.whatsapp.net"), None, at(9))
        .await
        .unwrap();
    let written = known(store, ONE, MARIA).await.unwrap();
    assert_eq!((written.first_sent_at, written.first_heard_at), (Some(at(7)), Some(at(5))));
    assert_eq!((written.jid.as_deref(), written.checked_at), (Some("x@s.whatsapp.net"), Some(at(9))));
    assert_eq!(known(store, OTHER, MARIA).await, None);
}

async fn strangers_are_counted_by_the_time_of_their_first_message(universe: &Universe) {
    let store = &universe.store;
    for (digits, sent) in [(1, 30), (2, 10), (3, 20), (4, 20), (5, 9)] {
        store.web_sessions().note_first_sent(ONE, number(1_000_000 + digits), at(sent)).await.unwrap();
    }
    store.web_sessions().note_first_sent(OTHER, number(MARIA), at(25)).await.unwrap();
    // One had written before, another answered.
    store.web_sessions().note_first_heard(ONE, number(1_000_004), at(19)).await.unwrap();
    store.web_sessions().note_first_heard(ONE, number(1_000_001), at(31)).await.unwrap();
    store.web_sessions().note_first_heard(ONE, number(1_000_009), at(15)).await.unwrap();
    let since =
        async |channel, millis| store.web_sessions().first_sent_since(channel, at(millis)).await.unwrap();
    let first = |millis, digits: u64| (at(millis), number(1_000_000 + digits));
    assert_eq!(since(ONE, 10).await, [first(10, 2), first(20, 3), first(30, 1)]);
    assert_eq!(since(ONE, 11).await, [first(20, 3), first(30, 1)]);
    assert_eq!(since(ONE, 31).await, []);
    assert_eq!(since(OTHER, 0).await, [(at(25), number(MARIA))]);
}

async fn facts_about_a_number_are_in_its_contacts_and_found_at_once(universe: &Universe) {
    let (acme, globex) = (company(universe, "acme").await, company(universe, "globex").await);
    let store = &universe.store;
    let lid = "200000000000001@lid";
    assert!(
        !store.of(acme).contacts().learn_lid(number(MARIA), lid).await.unwrap(),
        "no contact has the number"
    );
    let named = |name: &str, digits: u64| (Uuid::now_v7(), person(name, "", "", &format!("+{digits}")));
    for of in [acme, globex] {
        let people =
            [named("Maria", MARIA), named("Joao", JOAO), named("Mary", MARIA), named("Ana", 1_234_567)];
        store.of(of).contacts().add(&people, &[], NOW).await.unwrap();
        while store.of(of).index().step_by(Care::Thorough, 2).await.unwrap() {}
    }
    assert!(store.of(acme).contacts().learn_lid(number(MARIA), lid).await.unwrap());
    assert!(
        !store.of(acme).contacts().learn_lid(number(MARIA), lid).await.unwrap(),
        "the address is known already"
    );
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
    assert!(store.of(acme).contacts().learn_lid(number(MARIA), "300@lid").await.unwrap());
    assert!(found(store, acme, lid).await.is_empty());
    assert_eq!(found(store, acme, "300@lid").await, ["Mary", "Maria"]);
}

async fn a_picture_is_written_once(universe: &Universe) {
    let (acme, globex) = (company(universe, "acme").await, company(universe, "globex").await);
    let store = &universe.store;
    let own =
        Person { profile_picture: "https://own".to_owned(), ..person("Maria", "", "", "5511988887777") };
    for of in [acme, globex] {
        store.of(of).contacts().add(&[(Uuid::now_v7(), own.clone())], &[], NOW).await.unwrap();
    }
    let url = "https://pps.whatsapp.net/v/t61?ccb=11-4&oh=01_Q&oe=6";
    let set = async |url| store.of(acme).contacts().set_profile_picture(number(MARIA), url).await.unwrap();
    assert_eq!([set("").await, set(url).await, set(url).await], [false, true, false]);
    let (ours, theirs) = (all(store, acme).await.remove(0), all(store, globex).await.remove(0));
    assert_eq!((ours.person.profile_picture.as_str(), theirs.person), (url, own));
    assert!(ours.updated_at > theirs.updated_at);
    assert!(!store.of(acme).contacts().set_profile_picture(number(JOAO), url).await.unwrap());
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
        assert_eq!(store.channels().add(&Who::Pombo, new).await.unwrap().linked_at, None);
    }
    let channel = async |id| store.channels().find(id).await.unwrap().unwrap();
    let before = channel(ONE).await;
    assert!(store.web_sessions().set_linked(ONE, number(MARIA), at(5)).await.unwrap());
    assert!(!store.web_sessions().set_linked(Uuid::from_u128(7), number(MARIA), at(5)).await.unwrap());
    let linked = channel(ONE).await;
    assert_eq!((linked.linked_at, linked.phone_number.as_deref()), (Some(at(5)), Some("+5511988887777")));
    assert!(linked.revision > before.revision);
    store.web_sessions().set_linked(OTHER, number(JOAO), at(6)).await.unwrap();

    store.web_sessions().note_first_sent(ONE, number(JOAO), at(7)).await.unwrap();
    let row = Record { key: "k".to_owned(), value: vec![1], mark: 0 };
    let key = Change::Put { namespace: "device".to_owned(), record: row };
    store.web_sessions().change(ONE, &[key]).await.unwrap();
    let to = Connection { status: Status::Disconnected, reason: None, since: at(8) };
    store.web_sessions().end(ONE, &to).await.unwrap();
    let ended = channel(ONE).await;
    assert_eq!((ended.linked_at, ended.connection), (None, to));
    assert!(!store.web_sessions().exists(ONE).await.unwrap());
    assert_eq!(known(store, ONE, JOAO).await.unwrap().first_sent_at, Some(at(7)));
    assert_eq!(channel(OTHER).await.linked_at, Some(at(6)));
}

async fn numbers_are_known_together_and_those_that_were_only_asked_about_are_counted(universe: &Universe) {
    let store = &universe.store;
    let sessions = store.web_sessions();
    sessions
        .note_number_check(ONE, number(MARIA), Some("5511988887777@s.whatsapp.net"), None, at(2))
        .await
        .unwrap();
    sessions.note_number_check(ONE, number(JOAO), None, None, at(1)).await.unwrap();
    sessions.note_number_check(OTHER, number(MARIA + 1), None, None, at(1)).await.unwrap();
    let known = sessions.known_numbers(ONE, &[number(JOAO), number(MARIA), number(MARIA + 1)]).await.unwrap();
    let mut shown: Vec<_> = known.iter().map(|(number, known)| (*number, known.jid.is_some())).collect();
    shown.sort_unstable();
    assert_eq!(shown, [(number(MARIA), true), (number(JOAO), false)]);
    assert_eq!(sessions.known_numbers(ONE, &[]).await.unwrap(), []);
    let both = [(at(1), number(JOAO)), (at(2), number(MARIA))];
    assert_eq!(sessions.asked_since(ONE, at(0)).await.unwrap(), both);
    assert_eq!(sessions.asked_since(ONE, at(2)).await.unwrap(), both[1..]);
    // A number that got a message was asked about for the message.
    sessions.note_first_sent(ONE, number(MARIA), at(3)).await.unwrap();
    assert_eq!(sessions.asked_since(ONE, at(0)).await.unwrap(), both[..1]);
}
