//! Outcomes and receipts of messages in mixed runs, in any batches.

use pombo::domain::message::State;
use pombo::store::ledger::{Ignored, OutcomeOf, PendingWrites};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::{Ledger, RECIPIENTS, number, outcome};
use crate::database::{Universe, stores};

stores!(every_message_ends_in_the_state_that_its_reports_decide);

/// Mixed runs that are tried.
const CASES: usize = 40;

/// A report about a message.
#[derive(Debug, Clone, Copy)]
enum Said {
    /// The outcome of an attempt.
    Attempted(State),
    /// A receipt of the provider.
    Heard(State),
}

/// The reports about one message: attempts in their order, receipts anywhere between them, some twice.
fn said() -> impl Strategy<Value = Vec<Said>> {
    let attempts = (
        vec(select(vec![State::Unknown, State::Queued]), 0..3),
        proptest::option::of(select(vec![State::Sent, State::Failed])),
    );
    let heard = vec(
        (
            select(vec![State::Sent, State::Delivered, State::Read, State::Failed]),
            any::<prop::sample::Index>(),
        ),
        0..5,
    );
    (attempts, heard).prop_map(|((open, last), heard)| {
        let mut said: Vec<_> = open.into_iter().chain(last).map(Said::Attempted).collect();
        for (state, place) in heard {
            said.insert(place.index(said.len() + 1), Said::Heard(state));
        }
        said
    })
}

/// The reports about each message in batches: each report goes into the batch of the report before it or into
/// the next one.
fn run() -> impl Strategy<Value = Vec<Vec<(Said, bool)>>> {
    let message = said().prop_flat_map(|said| {
        let cuts = vec(any::<bool>(), said.len());
        (Just(said), cuts).prop_map(|(said, cuts)| said.into_iter().zip(cuts).collect())
    });
    vec(message, usize::try_from(RECIPIENTS).unwrap())
}

/// The final state of a message: the furthest of its reports, or without a decisive report that of its last
/// attempt.
fn end(said: &[(Said, bool)]) -> Option<State> {
    let decided = said.iter().map(|(said, _)| match said {
        Said::Attempted(state) | Said::Heard(state) => *state,
    });
    let last = said.iter().rev().find_map(|(said, _)| match said {
        Said::Attempted(state) => Some(*state),
        Said::Heard(_) => None,
    });
    decided.filter(|state| !state.is_open()).reduce(State::advanced_by).or(last)
}

async fn every_message_ends_in_the_state_that_its_reports_decide(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let mut runner = TestRunner::deterministic();
    for _ in 0..CASES {
        let run = run().new_tree(&mut runner).unwrap().current();
        let send_id = ledger.send(RECIPIENTS).await;
        let mut batches: Vec<PendingWrites> = Vec::new();
        for (ordinal, said) in (0..).zip(&run) {
            let (mut place, mut attempts, mut attempted_in) = (0, 0, None);
            for (said, next) in said {
                place += usize::from(*next);
                // A batch holds one outcome of a message at most.
                if matches!(said, Said::Attempted(_)) && attempted_in == Some(place) {
                    place += 1;
                }
                batches.resize_with(batches.len().max(place + 1), PendingWrites::default);
                match said {
                    Said::Attempted(state) => {
                        attempts += 1;
                        attempted_in = Some(place);
                        let outcome = outcome(ordinal, *state, attempts);
                        batches[place].outcomes.push(OutcomeOf {
                            send_id,
                            company_id: ledger.company,
                            outcome,
                        });
                    }
                    Said::Heard(state) => {
                        batches[place].receipts.push(ledger.receipt(send_id, ordinal, *state));
                    }
                }
            }
        }
        for batch in &batches {
            assert_eq!(ledger.commit(batch).await, Ignored::default());
        }
        let messages = ledger.messages(send_id).await;
        for (ordinal, said) in (0..).zip(&run) {
            let message = messages.get(&ordinal);
            let state = message.and_then(|message| State::from_i16(message.state));
            assert_eq!(state, end(said), "{said:?}");
            let Some(message) = message else { continue };
            assert_eq!(message.recipient, number(ordinal).as_i64());
            assert_eq!(message.retry_at.is_some(), state == Some(State::Queued), "{said:?}");
            let failed = matches!(state, Some(State::Failed | State::Queued | State::Unknown));
            assert_eq!(message.error.is_some(), failed, "{said:?}");
            let named =
                said.iter().any(|(said, _)| matches!(said, Said::Heard(_) | Said::Attempted(State::Sent)));
            assert!(named || message.provider_message_id.is_none(), "{said:?}");
        }
    }
    ledger.end().await;
}
