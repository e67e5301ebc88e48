//! Receipts in the ledger: for any receipts in any order, each message ends in its right state.

mod any_order;
mod billing;

use std::collections::BTreeMap;

use entity::{event, message, suppression};
use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Failure, Key, Outcome, Position, State};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{self, Block, Mark, Progress, Recipients, Schedule};
use pombo::domain::suppression::Suppression;
use pombo::store::Lease;
use pombo::store::conversations::ConversationFilter;
use pombo::store::ledger::{BlockOf, Ignored, NewSend, OutcomeOf, PendingWrites, Receipt};
use pombo::store::sends::StoredLabel;
use pombo::store::suppressions::{Says, Word};
use sea_orm::{ColumnTrait as _, Database, DatabaseConnection, EntityTrait as _, QueryFilter as _, Set};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::wrote;

stores!(
    a_receipt_that_comes_first_makes_the_row_and_the_outcome_completes_it,
    a_receipt_of_an_unattempted_or_foreign_message_is_ignored,
    a_receipt_ends_the_wait_of_a_message_and_proof_of_arrival_clears_its_error,
    an_inbound_message_that_comes_twice_is_kept_once,
    a_recipient_who_opts_out_stays_out_until_they_opt_in,
    a_receipt_wins_over_the_end_of_its_send,
);

/// Recipients of the bulk send, in two blocks.
const RECIPIENTS: u64 = 6;
const BLOCK: u64 = 4;

/// A store with a lease, and another connection to its database.
struct Ledger<'a> {
    universe: &'a Universe,
    lease: Lease,
    rows: DatabaseConnection,
    company: Uuid,
}

impl<'a> Ledger<'a> {
    async fn new(universe: &'a Universe) -> Self {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        let rows = Database::connect(&universe.url).await.unwrap();
        Self { universe, lease, rows, company: Uuid::now_v7() }
    }

    async fn commit(&self, batch: &PendingWrites) -> Ignored {
        self.universe.store.ledger().commit(&self.lease, batch, Timestamp::now()).await.unwrap().ignored
    }

    /// A bulk send, all of whose recipients up to `high_water` may have been attempted.
    async fn send(&self, high_water: u64) -> Uuid {
        let id = Uuid::now_v7();
        let blocks = (0..RECIPIENTS).step_by(usize::try_from(BLOCK).unwrap()).map(|first| {
            let numbers: Vec<_> = (first..RECIPIENTS.min(first + BLOCK)).map(number).collect();
            BlockOf {
                send_id: id,
                block: Block {
                    first_ordinal: first,
                    recipients: numbers.len() as u64,
                    packed: pack(&numbers),
                },
            }
        });
        let send = self.new_send(id, Recipients::Blocks(RECIPIENTS));
        self.commit(&PendingWrites {
            sends: vec![send],
            blocks: blocks.collect(),
            ..PendingWrites::default()
        })
        .await;
        self.mark(id, high_water).await;
        id
    }

    async fn mark(&self, send_id: Uuid, high_water: u64) {
        let progress = Progress { high_water, settled: 0 };
        let mark = Mark { send_id, progress, state: send::State::Active, due_at: None };
        self.commit(&PendingWrites { marks: vec![mark], ..PendingWrites::default() }).await;
    }

    fn new_send(&self, id: Uuid, recipients: Recipients) -> NewSend {
        NewSend {
            id,
            company_id: self.company,
            channel_id: Uuid::nil(),
            state: send::State::Active,
            content: "{}".to_owned(),
            template_id: None,
            recipients,
            skipped: 0,
            schedule: Schedule::default(),
            label: StoredLabel::default(),
        }
    }

    fn receipt(&self, send_id: Uuid, ordinal: u64, state: State) -> Receipt {
        let error = (state == State::Failed)
            .then(|| Failure { code: Some(131_026), sentence: "not \"there\" {}".to_owned() });
        Receipt {
            key: Key { send_id, ordinal },
            company_id: self.company,
            state,
            provider_message_id: Some(format!("wamid.{ordinal}")),
            error,
            at: Timestamp::now(),
            charge: None,
        }
    }

    async fn messages(&self, send_id: Uuid) -> BTreeMap<u64, message::Model> {
        let found = message::Entity::find().filter(message::Column::SendId.eq(send_id));
        let found = found.all(&self.rows).await.unwrap();
        found.into_iter().map(|message| (message.ordinal.cast_unsigned(), message)).collect()
    }

    async fn end(self) {
        self.rows.close().await.unwrap();
    }
}

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

fn outcome(ordinal: u64, state: State, attempts: u16) -> Outcome {
    Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state,
        attempts,
        provider_message_id: (state == State::Sent).then(|| format!("wamid.{ordinal}")),
        error: (state != State::Sent).then(|| Failure { code: Some(1), sentence: "no answer".to_owned() }),
        retry_at: (state == State::Queued).then(|| Timestamp::from_millis(9_000_000_000_000)),
        taken_at: (state != State::Queued).then(|| Timestamp::from_millis(1_000)),
    }
}

async fn a_receipt_that_comes_first_makes_the_row_and_the_outcome_completes_it(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let send_id = ledger.send(RECIPIENTS).await;
    let (single, group) = (Uuid::now_v7(), Uuid::now_v7());
    for (id, recipients) in [(single, Recipients::One(number(77))), (group, Recipients::Group)] {
        let sends = vec![ledger.new_send(id, recipients)];
        ledger.commit(&PendingWrites { sends, ..PendingWrites::default() }).await;
        ledger.mark(id, 1).await;
    }
    // Receipts of both blocks, and of sends without blocks.
    let receipts = [(send_id, 5), (send_id, 0), (single, 0), (group, 0), (send_id, 3), (send_id, 4)]
        .map(|(send_id, ordinal)| ledger.receipt(send_id, ordinal, State::Delivered));
    let batch = PendingWrites { receipts: receipts.to_vec(), ..PendingWrites::default() };
    assert_eq!(ledger.commit(&batch).await, Ignored::default());
    let messages = ledger.messages(send_id).await;
    let seen: Vec<_> =
        messages.values().map(|message| (message.recipient, message.state, message.attempts)).collect();
    let delivered = State::Delivered.as_i16();
    assert_eq!(seen, [0, 3, 4, 5].map(|ordinal| (number(ordinal).as_i64(), delivered, 1)));
    let of_single = ledger.messages(single).await.remove(&0).unwrap();
    assert_eq!((of_single.recipient, of_single.company_id), (number(77).as_i64(), ledger.company));
    assert_eq!(ledger.messages(group).await.remove(&0).unwrap().recipient, 0);

    let late = OutcomeOf { send_id, company_id: ledger.company, outcome: outcome(3, State::Sent, 2) };
    ledger.commit(&PendingWrites { outcomes: vec![late], ..PendingWrites::default() }).await;
    let message = ledger.messages(send_id).await.remove(&3).unwrap();
    assert_eq!((message.state, message.attempts), (delivered, 2));
    assert_eq!(message.provider_message_id.as_deref(), Some("wamid.3"));
    // After a crash these messages count as done.
    let progress = Progress { high_water: RECIPIENTS, settled: 0 };
    assert_eq!(universe.store.sends().recorded(send_id, progress).await.unwrap(), [0, 3, 4, 5]);
    ledger.end().await;
}

async fn a_receipt_wins_over_the_end_of_its_send(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    for end in [send::State::Canceled, send::State::Expired] {
        let send_id = ledger.send(5).await;
        // All messages that were refused once wait for a retry, 3 and 4 have no row, and 5 was never handed
        // out.
        let waiting = (0..3).map(|ordinal| OutcomeOf {
            send_id,
            company_id: ledger.company,
            outcome: outcome(ordinal, State::Queued, 1),
        });
        ledger.commit(&PendingWrites { outcomes: waiting.collect(), ..PendingWrites::default() }).await;
        if end == send::State::Canceled {
            universe
                .store
                .of(ledger.company)
                .sends()
                .cancel(send_id, Timestamp::now(), None, None)
                .await
                .unwrap();
        } else {
            // As the send's channel does when the send expires.
            let progress = Progress { high_water: 5, settled: 3 };
            let mark = Mark { send_id, progress, state: end, due_at: None };
            ledger.commit(&PendingWrites { marks: vec![mark], ..PendingWrites::default() }).await;
        }
        let ended = if end == send::State::Canceled { State::Canceled } else { State::Expired };
        let states = async || {
            let snapshot =
                universe.store.of(ledger.company).sends().snapshot(send_id).await.unwrap().unwrap();
            let all = universe.store.messages().from(&snapshot, None, 0, 100).await.unwrap();
            all.into_iter().map(|message| message.outcome.state).collect::<Vec<_>>()
        };
        assert_eq!(states().await, [ended, ended, ended, State::Unknown, State::Unknown, ended]);

        let heard = [(0, State::Sent), (1, State::Delivered), (2, State::Failed), (3, State::Read)];
        let heard = heard.map(|(ordinal, state)| ledger.receipt(send_id, ordinal, state));
        ledger.commit(&PendingWrites { receipts: heard.to_vec(), ..PendingWrites::default() }).await;
        let said = [State::Sent, State::Delivered, State::Failed, State::Read, State::Unknown, ended];
        assert_eq!(states().await, said);
        // A later outcome by the service itself changes nothing.
        let late = (0..4).map(|ordinal| OutcomeOf {
            send_id,
            company_id: ledger.company,
            outcome: outcome(ordinal, ended, 1),
        });
        ledger.commit(&PendingWrites { outcomes: late.collect(), ..PendingWrites::default() }).await;
        assert_eq!(states().await, said);
    }
    ledger.end().await;
}

async fn a_receipt_of_an_unattempted_or_foreign_message_is_ignored(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let send_id = ledger.send(2).await;
    let own = OutcomeOf { send_id, company_id: ledger.company, outcome: outcome(0, State::Sent, 1) };
    ledger.commit(&PendingWrites { outcomes: vec![own], ..PendingWrites::default() }).await;
    let of = |ordinal| ledger.receipt(send_id, ordinal, State::Read);
    let foreign = |ordinal| Receipt { company_id: Uuid::now_v7(), ..of(ordinal) };
    let unknown = ledger.receipt(Uuid::now_v7(), 0, State::Read);
    let receipts =
        vec![of(2), of(RECIPIENTS), of(u64::MAX), of(1 << 63), foreign(0), foreign(1), foreign(2), unknown];
    let ignored = ledger.commit(&PendingWrites { receipts, ..PendingWrites::default() }).await;
    assert_eq!(ignored, Ignored { unknown_send: 4, never_attempted: 4 });
    let messages = ledger.messages(send_id).await;
    assert_eq!(messages.values().map(|message| message.state).collect::<Vec<_>>(), [State::Sent.as_i16()]);

    // The same key from both companies in one batch: each change is for its own company.
    let receipts = vec![foreign(0), Receipt { state: State::Delivered, ..of(0) }];
    let ignored = ledger.commit(&PendingWrites { receipts, ..PendingWrites::default() }).await;
    assert_eq!(ignored, Ignored { unknown_send: 1, never_attempted: 0 });
    assert_eq!(ledger.messages(send_id).await[&0].state, State::Delivered.as_i16());
    ledger.end().await;
}

async fn a_receipt_ends_the_wait_of_a_message_and_proof_of_arrival_clears_its_error(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let send_id = ledger.send(RECIPIENTS).await;
    let waits = OutcomeOf { send_id, company_id: ledger.company, outcome: outcome(1, State::Queued, 1) };
    ledger.commit(&PendingWrites { outcomes: vec![waits], ..PendingWrites::default() }).await;
    let message = async |state| {
        let receipts = vec![ledger.receipt(send_id, 1, state)];
        ledger.commit(&PendingWrites { receipts, ..PendingWrites::default() }).await;
        ledger.messages(send_id).await.remove(&1).unwrap()
    };
    let failed = message(State::Failed).await;
    assert_eq!((failed.state, failed.retry_at, failed.attempts), (State::Failed.as_i16(), None, 1));
    assert_eq!((failed.error_code, failed.error.as_deref()), (Some(131_026), Some("not \"there\" {}")));
    let delivered = message(State::Delivered).await;
    assert_eq!(
        (delivered.state, delivered.error_code, delivered.error),
        (State::Delivered.as_i16(), None, None)
    );
    assert!(delivered.updated_at >= failed.updated_at);
    assert_eq!(message(State::Failed).await.error, None, "proof of arrival stays");

    // A late receipt does not set an earlier time.
    let old = Receipt { at: Timestamp::from_millis(1), ..ledger.receipt(send_id, 1, State::Read) };
    ledger.commit(&PendingWrites { receipts: vec![old], ..PendingWrites::default() }).await;
    let read = ledger.messages(send_id).await.remove(&1).unwrap();
    assert_eq!((read.state, read.updated_at), (State::Read.as_i16(), delivered.updated_at));
    ledger.end().await;
}

async fn an_inbound_message_that_comes_twice_is_kept_once(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let message = |id: &str| wrote((ledger.company, Uuid::nil()), id, Timestamp::from_millis(1));
    // One that was kept before there were conversations.
    let former = event::ActiveModel {
        id: Set(Uuid::now_v7()),
        company_id: Set(ledger.company),
        channel_id: Set(Uuid::nil()),
        kind: Set("inbound_message".to_owned()),
        identity: Set("wamid.0".to_owned()),
        payload: Set("{}".to_owned()),
        created_at: Set(0),
    };
    event::Entity::insert(former).exec(&ledger.rows).await.unwrap();
    let first = vec![message("wamid.1"), message("wamid.1"), message("wamid.2"), message("wamid.0")];
    ledger.commit(&PendingWrites { inbound: first, ..PendingWrites::default() }).await;
    ledger.commit(&PendingWrites { inbound: vec![message("wamid.1")], ..PendingWrites::default() }).await;
    let conversations = ledger.universe.store.of(ledger.company).conversations();
    let (listed, _) = conversations.list(&ConversationFilter::default(), None, 9).await.unwrap();
    let kept = conversations.messages_before(listed[0].id, None, 9).await.unwrap();
    let mut kept: Vec<_> = kept.iter().map(|message| message.provider_id.as_str()).collect();
    kept.sort_unstable();
    assert_eq!((kept, listed.len(), listed[0].unread), (vec!["wamid.1", "wamid.2"], 1, 2));
    ledger.end().await;
}

async fn a_recipient_who_opts_out_stays_out_until_they_opt_in(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    const DAY: i64 = 86_400_000;
    let word = |said_at: i64, says| Word {
        company_id: ledger.company,
        recipient: number(1),
        scope: Suppression::Marketing,
        said_at: Timestamp::from_millis(said_at),
        says,
    };
    let stop = |said_at| word(said_at, Says::Stop { provider_code: Some(131_050) });
    let resume = |said_at| word(said_at, Says::Resume);
    let hold = |began: i64| {
        let until = Timestamp::from_millis(began + DAY);
        word(began, Says::Hold { until, provider_code: Some(131_049) })
    };
    // The end of the suppression, and the time of its report.
    let row = async |word| {
        ledger.commit(&PendingWrites { suppressions: vec![word], ..PendingWrites::default() }).await;
        let found = suppression::Entity::find().one(&ledger.rows).await.unwrap().unwrap();
        (found.until, found.said_at)
    };
    assert_eq!(row(hold(5)).await, (Some(5 + DAY), 0));
    assert_eq!(row(stop(7)).await, (None, 7));
    assert_eq!(row(hold(9)).await, (None, 7), "a hold lets nobody back in");
    assert_eq!(row(resume(6)).await, (None, 7), "an older resume lifts nothing");
    assert_eq!(row(resume(20)).await, (Some(20), 20));
    assert_eq!(row(stop(19)).await, (Some(20), 20), "an older stop changes nothing");
    assert_eq!(row(hold(18)).await, (Some(20), 20), "an older hold changes nothing");
    assert_eq!(row(hold(30)).await, (Some(30 + DAY), 20));
    assert_eq!(row(resume(25)).await, (Some(30 + DAY), 25), "the hold is younger");
    assert_eq!(row(resume(40)).await, (Some(40), 40));
    assert_eq!(row(stop(40)).await, (None, 40), "of one moment, what is heard later counts");
    // In one batch as well.
    let batch = vec![resume(60), stop(50), hold(70)];
    ledger.commit(&PendingWrites { suppressions: batch, ..PendingWrites::default() }).await;
    assert_eq!(row(stop(55)).await, (Some(70 + DAY), 60));
    ledger.end().await;
}
