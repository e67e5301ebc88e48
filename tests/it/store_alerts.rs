//! The tables of alerts: what is written for them, who is told, and what two processes do not do twice.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::alert::{AlertKind, AlertThread};
use pombo::domain::channel::Status;
use pombo::domain::event::log::{Fact, Sequence};
use pombo::domain::limit::Name;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::domain::user::{Email, Role};
use pombo::store::Store;
use pombo::store::alerts::{EventMark, NewMail};
use pombo::store::changes::Who;
use pombo::store::event_log::Reader;
use pombo::store::users::{NewUser, User};
use uuid::Uuid;

use crate::database::{Universe, stores};

stores! {
    a_company_without_other_readers_has_only_what_alerts_are_about_in_its_log,
    a_fact_is_taken_into_its_thread_by_one_process_only,
    a_mail_is_taken_by_one_process_and_comes_back_after_a_while,
    a_quota_is_told_once_until_it_recovers,
    people_are_told_what_they_chose_or_what_their_role_says,
}

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOLD: Duration = Duration::from_secs(900);

async fn company(store: &Store, name: &str) -> Uuid {
    store.companies().add(&Who::Pombo, name, "standard").await.unwrap().id
}

async fn user(store: &Store, email: &str, company: Uuid, role: Role) -> User {
    let email = Email::parse(email).unwrap();
    let new = NewUser {
        email: &email,
        name: "Ana",
        password: None,
        language: None,
        time_zone: None,
        is_operator: false,
        membership: Some((company, role)),
        vouched_by: None,
    };
    store.users().add(&Who::Pombo, new).await.unwrap()
}

fn quota(company_id: Uuid, level: i64) -> EventMark {
    let name = Name::TemplateQuota.as_str().to_owned();
    EventMark { company_id, subject: Uuid::from_u128(9), name, level }
}

fn low(left: u64) -> Fact {
    Fact::of_quota(Uuid::from_u128(9), Name::TemplateQuota, (left, 1_000), NOW)
}

/// The facts in the log after this place, and the place after them.
async fn facts(store: &Store, after: Sequence) -> (Vec<Fact>, Sequence) {
    let through = store.event_log().settle().await.unwrap().through;
    let page = store.alerts().facts((after, through)).await.unwrap();
    assert!(!page.more);
    (page.facts.into_iter().map(|(_, fact)| fact).collect(), page.next)
}

async fn a_company_without_other_readers_has_only_what_alerts_are_about_in_its_log(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let log = store.event_log();
    assert!(!log.is_heard().await.unwrap());
    let begin = log.register(Reader::Alerts, NOW).await.unwrap();
    assert_eq!(log.register(Reader::Alerts, NOW).await.unwrap(), begin);
    assert!(log.is_heard().await.unwrap());
    assert!(log.tell_quota(&quota(acme, 1), low(42), NOW).await.unwrap());
    // What no mail tells is not written: a person who opts out.
    let number = PhoneNumber::from_u64(5_511_988_887_777).unwrap();
    let suppressions = store.of(acme).suppressions();
    assert!(suppressions.add(&Who::Pombo, number, Suppression::Marketing).await.unwrap());
    let (told, next) = facts(store, begin).await;
    assert_eq!(told, [low(42)]);
    let kept = log.read_kept(Some(acme), (begin, next.block()), 10, |_| true).await.unwrap();
    assert_eq!(kept.told.len(), 1);
    log.forget(Reader::Alerts).await.unwrap();
    assert!(!log.is_heard().await.unwrap());
}

async fn a_fact_is_taken_into_its_thread_by_one_process_only(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let begin = store.event_log().register(Reader::Alerts, NOW).await.unwrap();
    let next = Sequence::end_of(begin.block() + 1);
    let fact = Fact::of_channel(Uuid::from_u128(1), Status::Disconnected, None, NOW);
    let key = (acme, AlertKind::Channel, Uuid::from_u128(1));
    let mut thread = AlertThread::new(key.0, key.1, key.2);
    (thread.untold, thread.since, thread.due_at) = (1, Some(NOW), Some(NOW));
    (thread.is_troubled, thread.facts) = (true, vec![fact]);
    let threads = [thread.clone()];
    let alerts = store.alerts();
    assert!(alerts.heard(begin, next, &threads).await.unwrap());
    assert!(!alerts.heard(begin, next, &threads).await.unwrap(), "another process was faster");
    let stored = alerts.threads(&[key]).await.unwrap().remove(0);
    assert_eq!(stored, AlertThread { revision: 1, ..thread });
    assert_eq!(alerts.due_companies(NOW).await.unwrap(), [(acme, None)]);
    assert_eq!(alerts.due(acme, NOW).await.unwrap(), std::slice::from_ref(&stored));
    assert!(alerts.due(acme, NOW.minus(HOLD)).await.unwrap().is_empty());

    // Written over another revision than the stored one: nothing is, the mail neither.
    let item = stored.item().unwrap();
    let mail = NewMail { user_id: Uuid::from_u128(7), company_id: acme, items: &[item], more: 2 };
    assert!(!alerts.tell(&threads, &[mail], NOW).await.unwrap());
    assert_eq!(alerts.waiting().await.unwrap(), (0, None));
    let told = AlertThread { due_at: None, untold: 0, is_troubled: false, told_at: Some(NOW), ..stored };
    assert!(alerts.tell(&[told], &[mail], NOW).await.unwrap());
    assert_eq!(alerts.waiting().await.unwrap(), (1, Some(NOW)));
    assert_eq!(alerts.forget(NOW).await.unwrap(), 0);
    assert_eq!(alerts.forget(NOW.plus(HOLD)).await.unwrap(), 1);
    store.event_log().forget(Reader::Alerts).await.unwrap();
}

async fn a_mail_is_taken_by_one_process_and_comes_back_after_a_while(universe: &Universe) {
    let store = &universe.store;
    let (acme, ana) = (company(store, "Acme").await, Uuid::from_u128(7));
    let alerts = store.alerts();
    let mail = NewMail { user_id: ana, company_id: acme, items: &[], more: 0 };
    alerts.tell(&[], &[mail], NOW).await.unwrap();
    let (one, other) = tokio::join!(alerts.take(NOW, HOLD), alerts.take(NOW, HOLD));
    let taken: Vec<_> = [one.unwrap(), other.unwrap()].into_iter().flatten().collect();
    assert_eq!((taken.len(), taken[0].user_id, taken[0].failures), (1, ana, 0));
    assert_eq!(alerts.take(NOW, HOLD).await.unwrap(), None);
    assert_eq!(alerts.give_up(NOW.plus(HOLD), NOW).await.unwrap(), 0, "it is being sent");
    let later = NOW.plus(HOLD);
    assert_eq!(alerts.take(later, HOLD).await.unwrap(), Some(taken[0].clone()), "its process ended");
    alerts.put_off(taken[0].id, 1, later).await.unwrap();
    assert_eq!(alerts.take(later, HOLD).await.unwrap().unwrap().failures, 1);
    alerts.remove(taken[0].id).await.unwrap();
    assert_eq!(alerts.waiting().await.unwrap(), (0, None));
}

async fn a_quota_is_told_once_until_it_recovers(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let log = store.event_log();
    let begin = log.register(Reader::Alerts, NOW).await.unwrap();
    let tell = async |level, left| log.tell_quota(&quota(acme, level), low(left), NOW).await.unwrap();
    assert_eq!(
        [tell(1, 99).await, tell(1, 98).await, tell(2, 0).await, tell(1, 50).await],
        [true, false, true, false]
    );
    assert_eq!(log.marked_quotas().await.unwrap(), [quota(acme, 2)]);
    log.unmark_quota(Uuid::from_u128(9), Name::TemplateQuota).await.unwrap();
    assert!(tell(1, 97).await);
    assert_eq!(facts(store, begin).await.0, [low(99), low(0), low(97)]);
    log.forget(Reader::Alerts).await.unwrap();
}

async fn people_are_told_what_they_chose_or_what_their_role_says(universe: &Universe) {
    let store = &universe.store;
    let (acme, globex) = (company(store, "Acme").await, company(store, "Globex").await);
    let ana = user(store, "ana@acme.example", acme, Role::Owner).await;
    let bea = user(store, "bea@acme.example", acme, Role::Viewer).await;
    let gus = user(store, "gus@globex.example", globex, Role::Owner).await;
    let alerts = store.of(acme).alerts();
    let kinds = async || -> Vec<usize> {
        alerts.listeners().await.unwrap().iter().map(|listener| listener.kinds.len()).collect()
    };
    assert_eq!(kinds().await, [AlertKind::ALL.len() - 1, 0]);
    assert!(alerts.choose(&Who::Pombo, &bea, &[AlertKind::Send, AlertKind::Key]).await.unwrap());
    assert!(alerts.choose(&Who::Pombo, &ana, &[]).await.unwrap());
    assert!(!alerts.choose(&Who::Pombo, &gus, &[AlertKind::Key]).await.unwrap(), "he is no member");
    assert_eq!(kinds().await, [0, 2]);
    let choices = store.alerts().choices(bea.id).await.unwrap();
    assert_eq!((choices[0].company_name.as_str(), choices.len()), ("Acme", 1));
    assert_eq!(choices[0].kinds, [AlertKind::Send, AlertKind::Key]);
    store.users().set_disabled(&Who::Pombo, &bea, true).await.unwrap();
    assert_eq!(kinds().await, [0], "who cannot sign in is told nothing");
    let company = store.companies().find(acme).await.unwrap().unwrap();
    assert!(store.companies().set_disabled(&Who::Pombo, &company, true).await.unwrap());
    assert!(kinds().await.is_empty(), "nobody of a disabled company can");
}
