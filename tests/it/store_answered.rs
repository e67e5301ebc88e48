//! Which messages of sends count as answered: those whose recipients wrote in the same channel, in time, each once.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::inbound::{ANSWER, ConversationKind, Direction, PeerKey};
use pombo::domain::message::{Key, Outcome, Position, State};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{self, Block, Mark, Progress, Recipients, Schedule};
use pombo::store::Lease;
use pombo::store::conversations::Inbound;
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites, Receipt};
use pombo::store::nodes::NewNode;
use pombo::store::sends::StoredLabel;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::{ana, erasure, wrote};

stores!(
    a_message_is_answered_once_by_what_its_recipient_wrote_in_its_channel_in_time,
    what_is_no_answer_marks_nothing,
    a_send_that_began_or_lasted_long_after_it_was_accepted_is_answered_too,
    a_message_in_doubt_counts_as_answered_once_it_is_known_to_have_arrived,
    what_is_removed_of_a_conversation_stays_counted,
);

const ACME: Uuid = Uuid::from_u128(1);
const CHANNEL: Uuid = Uuid::from_u128(2);
const OTHER_CHANNEL: Uuid = Uuid::from_u128(3);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A store with a lease.
struct Desk<'a> {
    universe: &'a Universe,
    lease: Lease,
    now: Timestamp,
}

impl<'a> Desk<'a> {
    async fn new(universe: &'a Universe) -> Self {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        Self { universe, lease, now: Timestamp::now() }
    }

    async fn commit(&self, batch: &PendingWrites, at: Timestamp) {
        self.universe.store.ledger().commit(&self.lease, batch, at).await.unwrap();
    }

    async fn hears(&self, inbound: Vec<Inbound>) {
        self.commit(&PendingWrites { inbound, ..PendingWrites::default() }, self.now).await;
    }

    /// A direct send that was accepted when the provider took it.
    async fn sent(&self, channel: Uuid, to: PhoneNumber, at: Timestamp) -> Uuid {
        self.direct(channel, (to, State::Sent), at).await
    }

    async fn direct(&self, channel: Uuid, (to, state): (PhoneNumber, State), at: Timestamp) -> Uuid {
        let id = id_at(at);
        self.commit(&with(new_send(id, channel, Recipients::One(to))), at).await;
        self.took(id, &[(to, state)], at, true).await;
        id
    }

    /// A send to many that was accepted at one time, and whose messages the provider took at another.
    async fn bulk(&self, to: &[PhoneNumber], accepted: Timestamp, taken: Timestamp, is_over: bool) -> Uuid {
        let id = id_at(accepted);
        let block = Block { first_ordinal: 0, recipients: to.len() as u64, packed: pack(to) };
        let send = new_send(id, CHANNEL, Recipients::Blocks(to.len() as u64));
        let batch = PendingWrites { blocks: vec![BlockOf { send_id: id, block }], ..with(send) };
        self.commit(&batch, accepted).await;
        let took: Vec<_> = to.iter().map(|number| (*number, State::Sent)).collect();
        self.took(id, &took, taken, is_over).await;
        id
    }

    async fn took(&self, send_id: Uuid, messages: &[(PhoneNumber, State)], at: Timestamp, is_over: bool) {
        let outcomes = (0..).zip(messages).map(|(ordinal, (number, state))| {
            let position = Position { ordinal, recipient: Some(*number) };
            let outcome = Outcome {
                position,
                state: *state,
                attempts: 1,
                provider_message_id: None,
                error: None,
                retry_at: None,
                taken_at: Some(at),
            };
            OutcomeOf { send_id, company_id: ACME, outcome }
        });
        let all = messages.len() as u64;
        let state = if is_over { send::State::Finished } else { send::State::Active };
        let progress = Progress { high_water: all, settled: if is_over { all } else { 0 } };
        let marks = vec![Mark { send_id, progress, state, due_at: None }];
        let batch = PendingWrites { outcomes: outcomes.collect(), marks, ..PendingWrites::default() };
        self.commit(&batch, at).await;
    }

    /// How many messages of each of these sends count as answered.
    async fn answered<const N: usize>(&self, sends: [Uuid; N]) -> [u64; N] {
        let counted = self.universe.store.of(ACME).sends().count_each(&sends).await.unwrap();
        sends.map(|id| counted[&id].answered())
    }
}

fn id_at(at: Timestamp) -> Uuid {
    let (seconds, millis) = (at.millis().cast_unsigned() / 1_000, at.millis().cast_unsigned() % 1_000);
    let at = uuid::Timestamp::from_unix(uuid::NoContext, seconds, millis as u32 * 1_000_000);
    Uuid::new_v7(at)
}

fn with(send: NewSend) -> PendingWrites {
    PendingWrites { sends: vec![send], ..PendingWrites::default() }
}

fn new_send(id: Uuid, channel_id: Uuid, recipients: Recipients) -> NewSend {
    NewSend {
        id,
        company_id: ACME,
        channel_id,
        state: send::State::Active,
        content: "{}".to_owned(),
        template_id: None,
        recipients,
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    }
}

fn hers(id: &str, at: Timestamp) -> Inbound {
    wrote((ACME, CHANNEL), id, at)
}

/// The receipt for the only message of a send, which was read.
fn read(send_id: Uuid, at: Timestamp) -> Receipt {
    Receipt {
        key: Key { send_id, ordinal: 0 },
        company_id: ACME,
        state: State::Read,
        provider_message_id: None,
        error: None,
        at,
        charge: None,
    }
}

fn bea() -> PhoneNumber {
    PhoneNumber::parse("5511900000008").unwrap()
}

async fn a_message_is_answered_once_by_what_its_recipient_wrote_in_its_channel_in_time(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let answer = desk.now.minus(HOUR);
    // Providers' times are whole seconds: it went in the second of the answer.
    let just = desk.sent(CHANNEL, ana(), answer.plus(Duration::from_millis(900))).await;
    let first = desk.sent(CHANNEL, ana(), answer.minus(ANSWER)).await;
    let without_nine = desk.sent(CHANNEL, ana().other_form().unwrap(), answer.minus(HOUR)).await;
    let too_old = desk.sent(CHANNEL, ana(), answer.minus(ANSWER + SECOND)).await;
    let later = desk.sent(CHANNEL, ana(), answer.plus(SECOND)).await;
    let elsewhere = desk.sent(OTHER_CHANNEL, ana(), answer.minus(HOUR)).await;
    let of_bea = desk.sent(CHANNEL, bea(), answer.minus(HOUR)).await;
    let all = [just, first, without_nine, too_old, later, elsewhere, of_bea];
    for _ in 0..3 {
        desk.hears(vec![hers("a", answer), hers("b", answer), hers("a", answer)]).await;
        assert_eq!(desk.answered(all).await, [1, 1, 1, 0, 0, 0, 0]);
    }
}

/// A node writes what people wrote in a transaction of its own, beside receipts and outcomes of the same batch.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_of_a_cluster_marks_answered_messages_beside_everything_else() {
    let universe = Universe::postgres().await;
    let new = NewNode {
        cluster: "test",
        name: "one",
        address: "http://127.0.0.1:1",
        version: "0.1.0",
        cores: 1,
        ..NewNode::default()
    };
    let lease = universe.store.nodes().join(&universe.options(), &new, HOUR).await.unwrap();
    let desk = Desk { universe: &universe, lease, now: Timestamp::now() };
    let at = desk.now.minus(HOUR);
    let [one, two] = [desk.sent(CHANNEL, ana(), at.minus(HOUR)).await, id_at(at)];
    let batch = PendingWrites {
        inbound: vec![hers("a", at)],
        receipts: vec![read(one, at)],
        ..with(new_send(two, CHANNEL, Recipients::One(bea())))
    };
    desk.commit(&batch, desk.now).await;
    assert_eq!(desk.answered([one]).await, [1]);
    assert_eq!(universe.store.sends().unfinished_among(&[two]).await.unwrap().len(), 1);
    drop(desk);
    universe.end().await;
}

async fn what_is_no_answer_marks_nothing(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let at = desk.now.minus(HOUR);
    let sent = desk.sent(CHANNEL, ana(), at.minus(HOUR)).await;
    let reaction = Inbound { kind: "reaction", is_to_be_read: false, ..hers("a", at) };
    let echo = Inbound { direction: Direction::Echo, ..hers("b", at) };
    let past = Inbound { is_past: true, ..hers("c", at) };
    let in_group =
        Inbound { with: ConversationKind::Group, peer: PeerKey::of_group("1203630001"), ..hers("d", at) };
    let hidden = Inbound { peer: PeerKey::of_user("BR.1"), number: None, ..hers("e", at) };
    let of_other = wrote((Uuid::from_u128(9), CHANNEL), "f", at);
    desk.hears(vec![reaction, echo, past, in_group, hidden, of_other]).await;
    assert_eq!(desk.answered([sent]).await, [0]);
    desk.hears(vec![hers("g", at)]).await;
    assert_eq!(desk.answered([sent]).await, [1]);
}

async fn a_send_that_began_or_lasted_long_after_it_was_accepted_is_answered_too(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let (accepted, taken) = (desk.now.minus(30 * DAY), desk.now.minus(2 * HOUR));
    let both = [ana(), bea()];
    let over = desk.bulk(&both, accepted, taken, true).await;
    let runs = desk.bulk(&both, accepted.plus(DAY), taken, false).await;
    let long_ago = desk.bulk(&both, accepted, accepted.plus(HOUR), true).await;
    desk.hears(vec![hers("a", desk.now.minus(HOUR))]).await;
    assert_eq!(desk.answered([over, runs, long_ago]).await, [1, 1, 0]);
}

async fn a_message_in_doubt_counts_as_answered_once_it_is_known_to_have_arrived(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let at = desk.now.minus(HOUR);
    let sent = desk.direct(CHANNEL, (ana(), State::Unknown), at.minus(HOUR)).await;
    desk.hears(vec![hers("a", at)]).await;
    assert_eq!(desk.answered([sent]).await, [0]);
    desk.commit(&PendingWrites { receipts: vec![read(sent, at)], ..PendingWrites::default() }, desk.now)
        .await;
    assert_eq!(desk.answered([sent]).await, [1]);
}

async fn what_is_removed_of_a_conversation_stays_counted(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let at = desk.now.minus(HOUR);
    let sent = desk.sent(CHANNEL, ana(), at.minus(HOUR)).await;
    desk.hears(vec![hers("a", at)]).await;
    let of_acme = universe.store.of(ACME).conversations();
    let (_, messages) = of_acme.erase(&mut erasure(ACME), &[PeerKey::of_number(ana())]).await.unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(desk.answered([sent]).await, [1]);
}
