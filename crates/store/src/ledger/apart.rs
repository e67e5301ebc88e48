//! Takes a batch apart into rows that are written together and rows that are written alone.

use std::collections::HashMap;

use uuid::Uuid;

use super::{Activation, Committed, PendingWrites};
use domain::send::Source;

/// The text in place of words that the database refuses.
const WITHOUT_WORDS: &str = "the database refused the words of this error; the code is as it was told";

impl PendingWrites {
    /// The rows of this batch in an order in which they may be written one after the other: the rows of a send
    /// together, everything else row by row, and marks last, because they depend on outcomes.
    #[must_use]
    pub fn apart(self) -> Vec<Self> {
        let Self {
            sends,
            sources,
            blocks,
            personal,
            values,
            references,
            skipped,
            activations,
            answers,
            outcomes,
            marks,
            receipts,
            suppressions,
            inbound,
        } = self;
        let mut parts = Vec::new();
        let mut place = HashMap::<Uuid, usize>::new();
        let mut part_of = |parts: &mut Vec<Self>, send_id: Uuid| {
            *place.entry(send_id).or_insert_with(|| {
                parts.push(Self::default());
                parts.len() - 1
            })
        };
        for send in sends {
            let at = part_of(&mut parts, send.id);
            parts[at].sends.push(send);
        }
        for source in sources {
            // Such a send is activated together with the other one.
            let with = match source.source {
                Source::Closed(Some(other)) => other,
                _ => source.send_id,
            };
            let at = part_of(&mut parts, with);
            parts[at].sources.push(source);
        }
        for block in blocks {
            let at = part_of(&mut parts, block.send_id);
            parts[at].blocks.push(block);
        }
        for row in personal {
            let at = part_of(&mut parts, row.send_id);
            parts[at].personal.push(row);
        }
        for row in values {
            let at = part_of(&mut parts, row.send_id);
            parts[at].values.push(row);
        }
        for row in references {
            let at = part_of(&mut parts, row.send_id);
            parts[at].references.push(row);
        }
        for row in skipped {
            let at = part_of(&mut parts, row.send_id);
            parts[at].skipped.push(row);
        }
        for activation in activations {
            let at = part_of(&mut parts, activation.send_id);
            parts[at].activations.push(activation);
        }
        for answer in answers {
            let at = part_of(&mut parts, answer.send_id);
            parts[at].answers.push(answer);
        }
        let whole = Self::default;
        parts.extend(outcomes.into_iter().map(|row| Self { outcomes: vec![row], ..whole() }));
        parts.extend(receipts.into_iter().map(|row| Self { receipts: vec![row], ..whole() }));
        parts.extend(suppressions.into_iter().map(|row| Self { suppressions: vec![row], ..whole() }));
        parts.extend(inbound.into_iter().map(|row| Self { inbound: vec![row], ..whole() }));
        parts.extend(marks.into_iter().map(|row| Self { marks: vec![row], ..whole() }));
        parts
    }

    /// Joins these batches into one.
    pub fn together<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.add(part.clone()));
        all
    }

    /// Appends another batch.
    pub fn add(&mut self, other: Self) {
        let Self {
            sends,
            sources,
            blocks,
            personal,
            values,
            references,
            skipped,
            activations,
            answers,
            outcomes,
            marks,
            receipts,
            suppressions,
            inbound,
        } = other;
        self.sends.extend(sends);
        self.sources.extend(sources);
        self.blocks.extend(blocks);
        self.personal.extend(personal);
        self.values.extend(values);
        self.references.extend(references);
        self.skipped.extend(skipped);
        self.activations.extend(activations);
        self.answers.extend(answers);
        self.outcomes.extend(outcomes);
        self.marks.extend(marks);
        self.receipts.extend(receipts);
        self.suppressions.extend(suppressions);
        self.inbound.extend(inbound);
    }

    /// The sends that this batch builds: new ones, and those with new blocks or an activation. One may come more than
    /// once.
    pub fn builds(&self) -> impl Iterator<Item = Uuid> {
        let sends = self.sends.iter().map(|send| send.id);
        let extended = self.blocks.iter().map(|block| block.send_id);
        sends.chain(extended).chain(self.activations.iter().flat_map(Activation::sends))
    }

    /// This batch with fewer of the provider's texts, if it has any: first without the words of an error, then without
    /// the provider's id. A message's state matters more than the words about it.
    #[must_use]
    pub fn plainer(&self) -> Option<Self> {
        let mut plainer = self.clone();
        let outcomes = plainer.outcomes.iter_mut();
        let outcomes =
            outcomes.map(|row| &mut row.outcome).map(|row| (&mut row.error, &mut row.provider_message_id));
        let receipts = plainer.receipts.iter_mut().map(|row| (&mut row.error, &mut row.provider_message_id));
        let mut is_plainer = false;
        for (error, id) in outcomes.chain(receipts) {
            match error.as_mut().filter(|failure| failure.sentence != WITHOUT_WORDS) {
                Some(failure) => WITHOUT_WORDS.clone_into(&mut failure.sentence),
                None if id.is_some() => *id = None,
                None => continue,
            }
            is_plainer = true;
        }
        is_plainer.then_some(plainer)
    }
}

impl Committed {
    /// Adds the findings of another commit.
    pub fn add(&mut self, other: Self) {
        let Self { gone, overtaken, ignored } = other;
        self.gone.extend(gone);
        self.overtaken.extend(overtaken);
        self.ignored.unknown_send += ignored.unknown_send;
        self.ignored.never_attempted += ignored.never_attempted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{BlockOf, InsteadOf, OutcomeOf, Receipt, SourceOf};
    use clock::Timestamp;
    use domain::message::{Failure, Key, Outcome, Position, State};
    use domain::send::{self, Block, Mark, Progress};

    fn block(first_ordinal: u64) -> Block {
        Block { first_ordinal, recipients: 1, packed: Vec::new() }
    }

    fn outcome(ordinal: u64) -> OutcomeOf {
        let position = Position { ordinal, recipient: None };
        let error = Some(Failure { code: Some(7), sentence: "words".to_owned() });
        let id = Some("wamid".to_owned());
        let row = Outcome {
            position,
            state: State::Failed,
            attempts: 1,
            provider_message_id: id,
            error,
            retry_at: None,
            taken_at: None,
        };
        OutcomeOf { send_id: Uuid::from_u128(1), company_id: Uuid::nil(), outcome: row }
    }

    #[test]
    fn the_rows_of_a_send_stay_together_and_marks_come_last() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mark =
            Mark { send_id: one, progress: Progress::default(), state: send::State::Active, due_at: None };
        let batch = PendingWrites {
            blocks: vec![
                BlockOf { send_id: one, block: block(0) },
                BlockOf { send_id: two, block: block(0) },
                BlockOf { send_id: one, block: block(1) },
            ],
            activations: vec![Activation { send_id: one, recipients: 2, skipped: 0, instead: None }],
            outcomes: vec![outcome(0), outcome(1)],
            marks: vec![mark],
            ..PendingWrites::default()
        };
        let parts = batch.apart();
        let shape: Vec<_> = parts
            .iter()
            .map(|part| (part.blocks.len(), part.activations.len(), part.outcomes.len(), part.marks.len()))
            .collect();
        assert_eq!(shape, [(2, 1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 0), (0, 0, 0, 1)]);
        let all = PendingWrites::together(&parts);
        assert_eq!((all.blocks.len(), all.outcomes.len(), all.marks.len()), (3, 2, 1));
    }

    #[test]
    fn a_send_and_its_template_for_closed_windows_are_activated_together() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let instead = Some(InsteadOf { send_id: two, recipients: 3 });
        let batch = PendingWrites {
            sources: vec![SourceOf { send_id: two, source: Source::Closed(Some(one)) }],
            activations: vec![Activation { send_id: one, recipients: 2, skipped: 0, instead }],
            ..PendingWrites::default()
        };
        let parts = batch.apart();
        assert_eq!((parts.len(), parts[0].sources.len(), parts[0].activations.len()), (1, 1, 1));
        assert_eq!(parts[0].builds().collect::<Vec<_>>(), [one, two]);
    }

    #[test]
    fn a_row_gets_plainer_until_only_its_state_is_left() {
        let receipt = Receipt {
            key: Key { send_id: Uuid::nil(), ordinal: 0 },
            company_id: Uuid::nil(),
            state: State::Failed,
            provider_message_id: Some("wamid".to_owned()),
            error: None,
            at: Timestamp::from_millis(0),
            charge: None,
        };
        let outcome = PendingWrites { outcomes: vec![outcome(0)], ..PendingWrites::default() };
        let wordless = outcome.plainer().unwrap();
        let failure = wordless.outcomes[0].outcome.error.as_ref().unwrap();
        assert_eq!((failure.code, failure.sentence.as_str()), (Some(7), WITHOUT_WORDS));
        assert!(wordless.outcomes[0].outcome.provider_message_id.is_some());
        let bare = wordless.plainer().unwrap();
        assert_eq!(bare.outcomes[0].outcome.provider_message_id, None);
        assert!(bare.plainer().is_none());
        let receipt = PendingWrites { receipts: vec![receipt], ..PendingWrites::default() };
        assert!(receipt.plainer().unwrap().plainer().is_none());
        assert!(
            PendingWrites {
                blocks: vec![BlockOf { send_id: Uuid::nil(), block: block(0) }],
                ..PendingWrites::default()
            }
            .plainer()
            .is_none()
        );
    }
}
