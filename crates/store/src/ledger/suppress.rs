//! Statements of the provider and of recipients about suppressions.
//!
//! For each recipient the latest statement counts, in any order of arrival. Therefore a recipient who is no longer
//! suppressed keeps a row, with an end in the past: an older statement that arrives later is compared with it.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::PendingWrites;
use crate::Result;
use crate::dialect::{Bulk, Cell, Type};
use crate::nouns::Ledger;
use crate::suppressions::{Says, Word};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::suppression::{HOLD, Source, Suppression};

const WORD: &[(&str, Type)] = &[
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("scope", Type::Int),
    ("until", Type::Int),
    ("provider_code", Type::Int),
    ("said_at", Type::Int),
    ("source", Type::Int),
];
/// The number of the source in the statement of a recipient who wrote a word.
const MESSAGE: i16 = Source::Message.as_i16();

/// By primary key, which is also the order in which rows are locked.
type Words<'a> = BTreeMap<(Uuid, PhoneNumber, Suppression), &'a Word>;

/// The statements of a batch, because one SQL statement can change a row only once.
#[derive(Default)]
struct LastWords<'a> {
    /// Each recipient's latest one in WhatsApp's own settings, or of the provider.
    settings: Words<'a>,
    /// Each recipient's latest opt-out word, or word that takes one back. It does not outweigh a setting, so that both
    /// are written.
    texts: Words<'a>,
    /// Each recipient's longest hold.
    holds: Words<'a>,
}

impl<'a> LastWords<'a> {
    fn of(words: &'a [Word]) -> Self {
        let mut last = Self::default();
        for word in words {
            let is_hold = matches!(word.says, Says::Hold { .. });
            let kept = match word.says {
                Says::Hold { .. } => &mut last.holds,
                Says::StopWord | Says::StartWord => &mut last.texts,
                Says::Stop { .. } | Says::Resume => &mut last.settings,
            };
            let kept = kept.entry(word.subject()).or_insert(word);
            let counts = if is_hold { word.until() > kept.until() } else { word.said_at >= kept.said_at };
            if counts {
                *kept = word;
            }
        }
        last
    }
}

impl Ledger<'_> {
    pub(super) async fn suppress(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<()> {
        let LastWords { settings, texts, holds } = LastWords::of(&batch.suppressions);
        let subjects: BTreeSet<_> = settings.keys().chain(texts.keys()).copied().collect();
        let mut opt_outs = self.opt_outs(to, &subjects, now).await?;
        let insert = |incoming: &str, now: usize| {
            format!(
                "INSERT INTO suppression (company_id, recipient, scope, until, provider_code, created_at, said_at, \
                 source) \
                 SELECT company_id, recipient, scope, until, provider_code, ${now}, said_at, source \
                 FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, recipient, scope) DO UPDATE SET"
            )
        };
        // A recipient who opts in again still waits for the end of a hold that began later.
        let is_held = format!(
            "excluded.until IS NOT NULL AND suppression.until > excluded.said_at + {}",
            HOLD.as_millis()
        );
        // A word repeats an opt-out that stands for another reason, and keeps that reason.
        let is_repeated = format!(
            "excluded.source = {MESSAGE} AND excluded.until IS NULL AND suppression.until IS NULL \
             AND COALESCE(suppression.source, 0) <> {MESSAGE}"
        );
        let is_kept = format!("({is_held} OR {is_repeated})");
        // A word takes back only what a word began.
        let is_of_others = format!(
            "excluded.source = {MESSAGE} AND excluded.until IS NOT NULL \
             AND (suppression.until IS NULL OR suppression.until > excluded.said_at) \
             AND COALESCE(suppression.source, 0) <> {MESSAGE}"
        );
        let said = |incoming: &str, now: usize| {
            format!(
                "{} until = CASE WHEN {is_held} THEN suppression.until ELSE excluded.until END, \
                 provider_code = CASE WHEN {is_kept} THEN suppression.provider_code ELSE excluded.provider_code END, \
                 source = CASE WHEN {is_kept} THEN suppression.source ELSE excluded.source END, \
                 created_at = CASE WHEN suppression.until IS NULL OR {is_held} THEN suppression.created_at \
                 ELSE excluded.created_at END, \
                 said_at = excluded.said_at WHERE suppression.said_at <= excluded.said_at AND NOT ({is_of_others})",
                insert(incoming, now)
            )
        };
        for statements in [settings, texts] {
            let rows = self.rows_of_words(&statements);
            if let Some(opt_outs) = &mut opt_outs {
                opt_outs.write(self.store, to, rows, now, &said).await?;
            } else {
                self.store.write(to, rows, vec![now.millis().into()], &said).await?;
            }
        }
        // A hold is not the recipient's decision: it neither ends an opt-out nor outlasts a later opt-in.
        let began = format!("excluded.until - {}", HOLD.as_millis());
        self.store
            .write(to, self.rows_of_words(&holds), vec![now.millis().into()], |incoming, now| {
                format!(
                    "{} until = excluded.until, provider_code = excluded.provider_code, \
                 created_at = excluded.created_at, source = excluded.source \
                 WHERE suppression.until < excluded.until AND suppression.said_at <= {began}",
                    insert(incoming, now)
                )
            })
            .await?;
        if let Some(opt_outs) = opt_outs {
            self.store.event_log().tell(to, opt_outs.told(), now).await?;
        }
        Ok(())
    }

    fn rows_of_words(self, words: &Words<'_>) -> Bulk {
        let mut rows = Bulk::new(self.store.backend, WORD);
        for word in words.values() {
            // A hold is no statement of the recipient: every statement counts as later.
            let said_at = if matches!(word.says, Says::Hold { .. }) { 0 } else { word.said_at.millis() };
            rows.push([
                word.company_id.into(),
                word.recipient.as_i64().into(),
                i64::from(word.scope.as_i16()).into(),
                Cell::Int(word.until().map(Timestamp::millis)),
                Cell::Int(word.provider_code()),
                said_at.into(),
                i64::from(word.source().as_i16()).into(),
            ]);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(said_at: i64, says: Says) -> Word {
        Word {
            company_id: Uuid::from_u128(1),
            recipient: PhoneNumber::from_u64(5_511_900_000_000).unwrap(),
            scope: Suppression::Marketing,
            said_at: Timestamp::from_millis(said_at),
            says,
        }
    }

    #[test]
    fn the_latest_statement_of_a_batch_counts_in_any_order_and_at_one_moment_the_last_one() {
        const STOP: Says = Says::Stop { provider_code: None };
        let last = |words: &[(i64, Says)]| {
            let words: Vec<_> = words.iter().map(|(said_at, says)| word(*said_at, *says)).collect();
            LastWords::of(&words).settings.into_values().next().map(|word| word.says)
        };
        assert_eq!(last(&[(2, Says::Resume), (1, STOP)]), Some(Says::Resume));
        assert_eq!(last(&[(1, STOP), (2, Says::Resume)]), Some(Says::Resume));
        assert_eq!(last(&[(2, STOP), (1, Says::Resume)]), Some(STOP));
        assert_eq!(last(&[(1, STOP), (1, Says::Resume)]), Some(Says::Resume));
        assert_eq!(last(&[(1, Says::Resume), (1, STOP)]), Some(STOP));
        // A text replaces no setting, not even a later text.
        assert_eq!(last(&[(1, STOP), (2, Says::StartWord)]), Some(STOP));
        assert_eq!(last(&[(1, STOP), (2, Says::StopWord)]), Some(STOP));
    }

    #[test]
    fn the_longest_hold_of_a_batch_counts_and_replaces_no_statement() {
        let hold = |until| Says::Hold { until: Timestamp::from_millis(until), provider_code: None };
        let words = [word(3, hold(30)), word(1, Says::Resume), word(2, hold(20))];
        let LastWords { settings, texts: _, holds } = LastWords::of(&words);
        let of = |words: Words<'_>| words.into_values().map(|word| word.says).collect::<Vec<_>>();
        assert_eq!((of(settings), of(holds)), (vec![Says::Resume], vec![hold(30)]));
    }
}
