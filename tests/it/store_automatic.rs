//! Automatic answers in the store: due with their message, once in twelve hours, and taken up by one alone.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::automatic::{AnswerKind, AutomaticTexts, ONCE_IN, OpeningHours};
use pombo::domain::inbound::PeerKey;
use pombo::domain::phone::PhoneNumber;
use pombo::store::Lease;
use pombo::store::changes::Who;
use pombo::store::conversations::Inbound;
use pombo::store::ledger::PendingWrites;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::{ana, erasure, wrote, wrote_by};

stores!(
    an_answer_is_due_with_its_message_once_in_twelve_hours,
    an_answer_is_taken_up_by_one_and_again_until_it_is_over,
    what_a_company_answers_is_set_read_and_recorded,
);

const ACME: Uuid = Uuid::from_u128(1);
const CHANNEL: Uuid = Uuid::from_u128(2);
const MINUTE: Duration = Duration::from_secs(60);

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

async fn take_in(universe: &Universe, lease: &Lease, inbound: Vec<Inbound>) {
    let batch = PendingWrites { inbound, ..PendingWrites::default() };
    universe.store.ledger().commit(lease, &batch, Timestamp::now()).await.unwrap();
}

/// A message that gets an answer of this kind.
fn answered(id: &str, at: Timestamp, kind: AnswerKind) -> Inbound {
    Inbound { answer: Some(kind), ..wrote((ACME, CHANNEL), id, at) }
}

/// The kinds that are due at this moment; they are due again in a minute.
async fn due(universe: &Universe, now: Timestamp) -> Vec<(PhoneNumber, AnswerKind)> {
    let claimed = universe.store.automatic().claim(now, now.plus(MINUTE), 10).await.unwrap();
    let mut kinds: Vec<_> = claimed.iter().map(|answer| (answer.recipient, answer.kind)).collect();
    kinds.sort_unstable();
    kinds
}

async fn an_answer_is_due_with_its_message_once_in_twelve_hours(universe: &Universe) {
    let lease = lease(universe).await;
    let now = Timestamp::now();
    let (early, later) = (now.minus(ONCE_IN), now.plus(MINUTE));
    let bo = PhoneNumber::parse("5511988880008").unwrap();
    let all = || {
        let his = Inbound { answer: Some(AnswerKind::Stop), ..wrote_by(bo, (ACME, CHANNEL), "c", now) };
        let unknown =
            Inbound { peer: PeerKey::of_user("US.1"), number: None, ..answered("d", now, AnswerKind::Stop) };
        let twice = ["a", "b"].map(|id| answered(id, now, AnswerKind::Stop));
        twice.into_iter().chain([his, unknown, wrote((ACME, CHANNEL), "e", now)]).collect()
    };
    take_in(universe, &lease, all()).await;
    assert_eq!(due(universe, later).await, [(ana(), AnswerKind::Stop), (bo, AnswerKind::Stop)]);
    // The provider repeats them, and she writes the word again.
    take_in(universe, &lease, all()).await;
    take_in(universe, &lease, vec![answered("f", now.plus(MINUTE), AnswerKind::Stop)]).await;
    assert!(due(universe, later).await.is_empty());
    // Other kinds have a time of their own, and an earlier message that comes late changes nothing.
    take_in(universe, &lease, vec![answered("g", now, AnswerKind::Away)]).await;
    take_in(universe, &lease, vec![answered("h", early, AnswerKind::Stop)]).await;
    assert_eq!(due(universe, later).await, [(ana(), AnswerKind::Away)]);
    take_in(universe, &lease, vec![answered("i", now.plus(ONCE_IN), AnswerKind::Stop)]).await;
    assert_eq!(due(universe, later).await, [(ana(), AnswerKind::Stop)]);
    // They go with the person.
    let of = universe.store.of(ACME).conversations();
    of.erase(&mut erasure(ACME), &[PeerKey::of_number(ana())]).await.unwrap();
    assert_eq!(due(universe, later.plus(MINUTE)).await, [(bo, AnswerKind::Stop)]);
}

async fn an_answer_is_taken_up_by_one_and_again_until_it_is_over(universe: &Universe) {
    let lease = lease(universe).await;
    let now = Timestamp::now();
    take_in(universe, &lease, vec![answered("a", now, AnswerKind::Away)]).await;
    let answers = universe.store.automatic();
    assert!(answers.claim(now, now, 10).await.unwrap().is_empty(), "a text of closed hours waits a moment");
    let later = now.plus(MINUTE);
    let claimed = answers.claim(later, later.plus(MINUTE), 10).await.unwrap();
    let [answer] = claimed[..] else { panic!("{claimed:?}") };
    assert_eq!((answer.recipient, answer.channel_id, answer.at), (ana(), CHANNEL, now));
    assert!(answers.claim(later, later, 10).await.unwrap().is_empty());
    answers.try_again(&answer, later).await.unwrap();
    assert_eq!(answers.claim(later, later, 10).await.unwrap(), [answer]);
    answers.end(&answer).await.unwrap();
    answers.try_again(&answer, later).await.unwrap();
    let end = now.plus(ONCE_IN).plus(MINUTE);
    assert!(answers.claim(end, end, 10).await.unwrap().is_empty(), "what is over is not tried again");
    assert_eq!(answers.remove_old(now, 10).await.unwrap().others, 0);
    assert_eq!(answers.remove_old(end, 10).await.unwrap().others, 1);
}

async fn what_a_company_answers_is_set_read_and_recorded(universe: &Universe) {
    let store = &universe.store;
    let acme = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let answers = store.of(acme).automatic();
    assert_eq!(answers.texts().await.unwrap(), AutomaticTexts::default());
    assert_eq!(answers.rules().await.unwrap().texts, AutomaticTexts::default());
    let hours = OpeningHours::parse("America/Sao_Paulo", ["", "09:00-12:00, 13:00-24:00"]).unwrap();
    let texts = AutomaticTexts::new(Some("Bye."), None, Some("Closed."), hours).unwrap();
    let who = Who::CommandLine("ana".to_owned());
    assert!(answers.set_texts(&who, &texts).await.unwrap());
    assert_eq!(answers.texts().await.unwrap(), texts);
    let rules = answers.rules().await.unwrap();
    assert_eq!(
        (rules.texts, rules.words),
        (texts.clone(), store.of(acme).suppressions().words().await.unwrap())
    );
    assert!(!answers.set_texts(&who, &texts).await.unwrap(), "nothing changes");
    assert!(answers.set_texts(&who, &AutomaticTexts::default()).await.unwrap());
    assert_eq!(store.of(ACME).automatic().texts().await.unwrap(), AutomaticTexts::default());
}
