//! A batch taken apart: which of its rows are written together, and which stand for themselves.

use std::collections::HashMap;

use uuid::Uuid;

use super::{Batch, Committed};

/// What stands in the place of words that the database does not take.
const WITHOUT_WORDS: &str = "the database refused the words of this error; the code is as it was told";

impl Batch {
    /// The rows of this batch in the order in which they may be written one after the other: what a send is made of
    /// together, everything else row by row, and marks last, because they speak of outcomes.
    #[must_use]
    pub fn apart(self) -> Vec<Self> {
        let Self {
            sends,
            sources,
            blocks,
            activations,
            answers,
            outcomes,
            marks,
            receipts,
            suppressions,
            events,
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
        for (send_id, source) in sources {
            let at = part_of(&mut parts, send_id);
            parts[at].sources.push((send_id, source));
        }
        for (send_id, block) in blocks {
            let at = part_of(&mut parts, send_id);
            parts[at].blocks.push((send_id, block));
        }
        for activation in activations {
            let at = part_of(&mut parts, activation.0);
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
        parts.extend(events.into_iter().map(|row| Self { events: vec![row], ..whole() }));
        parts.extend(marks.into_iter().map(|row| Self { marks: vec![row], ..whole() }));
        parts
    }

    /// All of these in one.
    pub fn together<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for part in parts {
            let Self {
                sends,
                sources,
                blocks,
                activations,
                answers,
                outcomes,
                marks,
                receipts,
                suppressions,
                events,
            } = part.clone();
            all.sends.extend(sends);
            all.sources.extend(sources);
            all.blocks.extend(blocks);
            all.activations.extend(activations);
            all.answers.extend(answers);
            all.outcomes.extend(outcomes);
            all.marks.extend(marks);
            all.receipts.extend(receipts);
            all.suppressions.extend(suppressions);
            all.events.extend(events);
        }
        all
    }

    /// The sends that this batch builds: new ones, and those with new blocks or an activation. One may come more than
    /// once.
    pub fn builds(&self) -> impl Iterator<Item = Uuid> {
        let sends = self.sends.iter().map(|send| send.id);
        let extended = self.blocks.iter().map(|(send_id, _)| *send_id);
        sends.chain(extended).chain(self.activations.iter().map(|(send_id, ..)| *send_id))
    }

    /// The same with fewer of the provider's texts, if it has any: first without the words of an error, then without
    /// the provider's id. Where a message is counts more than what was said about it.
    #[must_use]
    pub fn plainer(&self) -> Option<Self> {
        let mut plainer = self.clone();
        let outcomes = plainer.outcomes.iter_mut();
        let outcomes = outcomes.map(|(_, _, row)| (&mut row.error, &mut row.provider_message_id));
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
    /// Adds what another commit found.
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
    use crate::clock::Timestamp;
    use crate::domain::message::{Failure, Key, Outcome, Position, State};
    use crate::domain::send::{self, Block, Mark, Progress};
    use crate::store::ledger::Receipt;

    fn block(first_ordinal: u64) -> Block {
        Block { first_ordinal, recipients: 1, packed: Vec::new() }
    }

    fn outcome(ordinal: u64) -> (Uuid, Uuid, Outcome) {
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
        (Uuid::from_u128(1), Uuid::nil(), row)
    }

    #[test]
    fn what_a_send_is_made_of_stays_together_and_marks_come_last() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mark =
            Mark { send_id: one, progress: Progress::default(), state: send::State::Active, due_at: None };
        let batch = Batch {
            blocks: vec![(one, block(0)), (two, block(0)), (one, block(1))],
            activations: vec![(one, 2, 0)],
            outcomes: vec![outcome(0), outcome(1)],
            marks: vec![mark],
            ..Batch::default()
        };
        let parts = batch.apart();
        let shape: Vec<_> = parts
            .iter()
            .map(|part| (part.blocks.len(), part.activations.len(), part.outcomes.len(), part.marks.len()))
            .collect();
        assert_eq!(shape, [(2, 1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 0), (0, 0, 0, 1)]);
        let all = Batch::together(&parts);
        assert_eq!((all.blocks.len(), all.outcomes.len(), all.marks.len()), (3, 2, 1));
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
        };
        let outcome = Batch { outcomes: vec![outcome(0)], ..Batch::default() };
        let wordless = outcome.plainer().unwrap();
        let failure = wordless.outcomes[0].2.error.as_ref().unwrap();
        assert_eq!((failure.code, failure.sentence.as_str()), (Some(7), WITHOUT_WORDS));
        assert!(wordless.outcomes[0].2.provider_message_id.is_some());
        let bare = wordless.plainer().unwrap();
        assert_eq!(bare.outcomes[0].2.provider_message_id, None);
        assert!(bare.plainer().is_none());
        let receipt = Batch { receipts: vec![receipt], ..Batch::default() };
        assert!(receipt.plainer().unwrap().plainer().is_none());
        assert!(Batch { blocks: vec![(Uuid::nil(), block(0))], ..Batch::default() }.plainer().is_none());
    }
}
