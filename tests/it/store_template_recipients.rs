//! The recipients of a business account's templates, from its messages, and the messages in doubt after a
//! crash.

use std::collections::BTreeMap;
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::message::{Outcome, Position, State as At};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Mark, Progress, Recipients, Schedule, State};
use pombo::store::Lease;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites};
use pombo::store::sends::StoredLabel;
use pombo::store::templates::recipients::WrittenTo;
use uuid::Uuid;

use crate::database::{Universe, stores};

stores!(
    every_recipient_that_a_template_may_have_reached_in_a_day_counts,
    only_messages_that_the_provider_may_have_are_put_off_after_a_crash,
    an_announcement_after_the_end_of_its_message_counts_nobody,
);

const WABA: &str = "102290129340398";
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOUR: Duration = Duration::from_secs(3_600);
const TEMPLATE: Option<i64> = Some(1);

struct Ledger<'a> {
    universe: &'a Universe,
    lease: Lease,
    company: Uuid,
}

impl Ledger<'_> {
    async fn of(universe: &Universe) -> Ledger<'_> {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        let company = universe.store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
        Ledger { universe, lease, company }
    }

    async fn channel(&self, waba_id: &str) -> Uuid {
        let id = Uuid::now_v7();
        let new = NewChannel {
            id,
            company_id: self.company,
            kind: Kind::BusinessAccount,
            name: "shop".to_owned(),
            phone_number: None,
            phone_number_id: Some(id.to_string()),
            waba_id: Some(waba_id.to_owned()),
            tier: "standard".to_owned(),
            secrets: Sealed { token: None, app_secret: None },
            status: Status::Connected,
        };
        self.universe.store.channels().add(&Who::Pombo, new).await.unwrap();
        id
    }

    /// A send to these people, some of whose messages have a row; the others below the mark have none.
    #[expect(clippy::too_many_arguments, reason = "each is one column of the cases below")]
    async fn send(
        &self,
        channel: Uuid,
        template_id: Option<i64>,
        people: std::ops::Range<u64>,
        rows: &[(u64, At, Option<Timestamp>)],
        high_water: u64,
        state: State,
        at: Timestamp,
    ) -> Uuid {
        let (id, numbers): (_, Vec<_>) = (Uuid::now_v7(), people.map(number).collect());
        let (recipients, blocks) = match numbers[..] {
            [one] => (Recipients::One(one), Vec::new()),
            _ => {
                let half = numbers.len() / 2;
                let block = |first: usize, numbers: &[PhoneNumber]| Block {
                    first_ordinal: first as u64,
                    recipients: numbers.len() as u64,
                    packed: pack(numbers),
                };
                let blocks = vec![
                    BlockOf { send_id: id, block: block(0, &numbers[..half]) },
                    BlockOf { send_id: id, block: block(half, &numbers[half..]) },
                ];
                (Recipients::Blocks(numbers.len() as u64), blocks)
            }
        };
        let new = NewSend {
            id,
            company_id: self.company,
            channel_id: channel,
            state: State::Active,
            content: r#"{"type":"text","body":"hi"}"#.to_owned(),
            template_id,
            recipients,
            skipped: 0,
            schedule: Schedule::default(),
            label: StoredLabel::default(),
        };
        let outcomes = rows.iter().map(|(ordinal, state, taken_at)| {
            let recipient = numbers[usize::try_from(*ordinal).unwrap()];
            self.outcome(id, (*ordinal, recipient), *state, *taken_at)
        });
        let outcomes = outcomes.collect();
        let marks =
            vec![Mark { send_id: id, progress: Progress { high_water, settled: 0 }, state, due_at: None }];
        let batch = PendingWrites { sends: vec![new], blocks, ..PendingWrites::default() };
        self.universe.store.ledger().commit(&self.lease, &batch, at).await.unwrap();
        let batch = PendingWrites { outcomes, marks, ..PendingWrites::default() };
        self.universe.store.ledger().commit(&self.lease, &batch, at).await.unwrap();
        id
    }

    fn outcome(
        &self,
        send_id: Uuid,
        (ordinal, recipient): (u64, PhoneNumber),
        state: At,
        taken_at: Option<Timestamp>,
    ) -> OutcomeOf {
        let outcome = Outcome {
            position: Position { ordinal, recipient: Some(recipient) },
            state,
            attempts: 1,
            provider_message_id: None,
            error: None,
            retry_at: state.is_open().then_some(NOW),
            taken_at,
        };
        OutcomeOf { send_id, company_id: self.company, outcome }
    }

    /// All counted recipients, in the order of [`number`]: the time, and whether it is certain.
    async fn counted(&self) -> BTreeMap<u64, (Timestamp, bool)> {
        let mut people = BTreeMap::new();
        let page = |page: Vec<WrittenTo>| {
            for WrittenTo { recipient, at, is_certain } in page {
                people.insert(recipient.as_u64() - number(0).as_u64(), (at, is_certain));
            }
        };
        let span = (NOW.minus(24 * HOUR), NOW);
        self.universe.store.templates().recipients(WABA, span, page).await.unwrap();
        people
    }
}

fn number(nth: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
}

async fn every_recipient_that_a_template_may_have_reached_in_a_day_counts(universe: &Universe) {
    let ledger = Ledger::of(universe).await;
    let (one, same, other) =
        (ledger.channel(WABA).await, ledger.channel(WABA).await, ledger.channel("2").await);
    let (early, late, active) = (NOW.minus(25 * HOUR), NOW.minus(HOUR), State::Active);
    let rows = [
        (0, At::Sent, Some(late)),
        (1, At::Failed, Some(late)),
        (2, At::Failed, None),
        (3, At::Queued, None),
        (4, At::Queued, Some(late)),
        (5, At::Sending, Some(late)),
        (6, At::Read, Some(early)),
        (8, At::Unknown, Some(late)),
    ];
    // Of eleven people, two were never marked, and one was marked and has no row.
    ledger.send(one, TEMPLATE, 0..11, &rows, 9, active, late).await;
    // Sends of another channel: two messages in flight, in two blocks; and ended sends.
    ledger
        .send(
            same,
            TEMPLATE,
            20..24,
            &[(0, At::Sent, Some(late)), (3, At::Sent, Some(late))],
            4,
            active,
            late,
        )
        .await;
    ledger.send(same, TEMPLATE, 30..32, &[(0, At::Delivered, Some(late))], 2, State::Canceled, late).await;
    ledger.send(same, TEMPLATE, 40..41, &[(0, At::Sent, Some(late))], 1, State::Finished, late).await;
    ledger.send(same, TEMPLATE, 41..42, &[], 1, active, late).await;
    ledger.send(same, TEMPLATE, 42..43, &[], 0, active, late).await;
    // Too long ago, without a template, or of another account.
    ledger.send(one, TEMPLATE, 50..52, &[(0, At::Sent, Some(early))], 2, State::Finished, early).await;
    ledger.send(one, None, 60..62, &[(0, At::Sent, Some(late))], 2, active, late).await;
    ledger.send(other, TEMPLATE, 70..72, &[(0, At::Sent, Some(late))], 2, active, late).await;
    let expected = [
        (0, (late, true)),
        (1, (late, true)),
        (4, (late, false)),
        (5, (late, false)),
        (7, (NOW, false)),
        (8, (late, false)),
        (20, (late, true)),
        (21, (NOW, false)),
        (22, (NOW, false)),
        (23, (late, true)),
        (30, (late, true)),
        (31, (NOW, false)),
        (40, (late, true)),
        (41, (NOW, false)),
    ];
    assert_eq!(ledger.counted().await, BTreeMap::from(expected));
}

async fn only_messages_that_the_provider_may_have_are_put_off_after_a_crash(universe: &Universe) {
    let ledger = Ledger::of(universe).await;
    let channel = ledger.channel(WABA).await;
    let (taken, later) = (Some(NOW.minus(HOUR)), NOW.plus(HOUR));
    let rows = [
        (0, At::Queued, None),
        (1, At::Queued, taken),
        (2, At::Sending, taken),
        (3, At::Unknown, taken),
        (4, At::Sent, taken),
    ];
    let send = ledger.send(channel, None, 0..5, &rows, 5, State::Active, NOW).await;
    let over = ledger.send(channel, None, 10..12, &[(0, At::Queued, taken)], 2, State::Active, NOW).await;
    universe.store.of(ledger.company).sends().cancel(over, NOW, None, None).await.unwrap();
    assert_eq!(universe.store.sends().put_off_unknown(later).await.unwrap(), 3);
    let waiting = universe.store.sends().waiting(send, later.plus(HOUR), 10).await.unwrap();
    let waiting: Vec<_> =
        waiting.soon.iter().map(|it| (it.position.ordinal, it.retry_at, it.taken_at)).collect();
    assert_eq!(waiting, [(0, NOW, None), (1, later, taken), (2, later, taken), (3, later, taken)]);
}

async fn an_announcement_after_the_end_of_its_message_counts_nobody(universe: &Universe) {
    let ledger = Ledger::of(universe).await;
    let channel = ledger.channel(WABA).await;
    let late = NOW.minus(HOUR);
    let rows = [(0, At::Queued, None), (1, At::Queued, Some(late))];
    let send = ledger.send(channel, TEMPLATE, 0..2, &rows, 2, State::Active, late).await;
    universe.store.of(ledger.company).sends().cancel(send, NOW, None, None).await.unwrap();
    let announced = |ordinal| ledger.outcome(send, (ordinal, number(ordinal)), At::Sending, Some(NOW));
    let batch = PendingWrites { outcomes: (0..2).map(announced).collect(), ..PendingWrites::default() };
    universe.store.ledger().commit(&ledger.lease, &batch, NOW).await.unwrap();
    assert_eq!(ledger.counted().await, BTreeMap::from([(1, (late, true))]));
}
