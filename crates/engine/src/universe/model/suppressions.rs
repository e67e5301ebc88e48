//! For each recipient the latest statement counts, in any order of arrival.

use std::collections::BTreeMap;

use super::{Model, SuppressionRow};
use clock::Timestamp;
use domain::suppression::{HOLD, Source};
use store::suppressions::{Record, Says, Subject, Word};

impl Model {
    pub(super) fn suppress(&mut self, words: &[Word], now: Timestamp) {
        let (mut settings, mut texts, mut holds) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for word in words {
            match word.says {
                Says::Hold { until, provider_code } => {
                    let kept = holds.entry(word.subject()).or_insert((until, provider_code));
                    if until > kept.0 {
                        *kept = (until, provider_code);
                    }
                }
                Says::Stop { .. } | Says::Resume | Says::StopWord | Says::StartWord => {
                    let is_text = matches!(word.says, Says::StopWord | Says::StartWord);
                    let last = if is_text { &mut texts } else { &mut settings };
                    let kept = last.entry(word.subject()).or_insert(word);
                    if word.said_at >= kept.said_at {
                        *kept = word;
                    }
                }
            }
        }
        for (subject, word) in settings.into_iter().chain(texts) {
            self.take_word(subject, word, now);
        }
        for (subject, (until, provider_code)) in holds {
            self.hold(subject, until, provider_code, now);
        }
    }

    fn take_word(&mut self, subject: Subject, word: &Word, now: Timestamp) {
        let said_at = word.said_at;
        let (until, provider_code) = match word.says {
            Says::Stop { provider_code } => (None, provider_code),
            Says::StopWord => (None, None),
            Says::Hold { .. } | Says::Resume | Says::StartWord => (Some(said_at), None),
        };
        let source = match word.says {
            Says::Hold { .. } | Says::Stop { provider_code: Some(_) } => Source::Provider,
            Says::Stop { provider_code: None } | Says::Resume => Source::Preference,
            Says::StopWord | Says::StartWord => Source::Message,
        };
        let new = SuppressionRow { until, provider_code, created_at: now, said_at, source: Some(source) };
        let Some(row) = self.suppressions.get_mut(&subject) else {
            self.suppressions.insert(subject, new);
            return;
        };
        if row.said_at > said_at {
            return;
        }
        let is_of_others = row.source != Some(Source::Message);
        // A word takes back only what a word began.
        let suppresses = row.until.is_none_or(|end| end > said_at);
        if word.says == Says::StartWord && is_of_others && suppresses {
            return;
        }
        // A word repeats an opt-out that stands for another reason, and keeps that reason.
        let is_repeated = word.says == Says::StopWord && is_of_others && row.until.is_none();
        row.said_at = said_at;
        // A recipient who opts in again still waits for the end of a hold that began later.
        let is_held = until.is_some() && row.until.is_some_and(|end| end > said_at.plus(HOLD));
        if row.until.is_some() && !is_held {
            row.created_at = now;
        }
        if !is_held {
            row.until = until;
            if !is_repeated {
                (row.provider_code, row.source) = (provider_code, Some(source));
            }
        }
    }

    /// A hold is not the recipient's decision: it neither ends an opt-out nor outlasts a later opt-in.
    fn hold(&mut self, subject: Subject, until: Timestamp, provider_code: Option<i64>, now: Timestamp) {
        let began = until.minus(HOLD);
        let said_at = Timestamp::from_millis(0);
        let source = Some(Source::Provider);
        let new = SuppressionRow { until: Some(until), provider_code, created_at: now, said_at, source };
        let Some(row) = self.suppressions.get_mut(&subject) else {
            self.suppressions.insert(subject, new);
            return;
        };
        if row.until.is_some_and(|end| end < until) && row.said_at <= began {
            *row = SuppressionRow { said_at: row.said_at, ..new };
        }
    }

    /// All suppressions that hold at `now`, by recipient.
    pub(crate) fn suppressions(&self, now: Timestamp) -> Vec<Record> {
        let holding = self.suppressions.iter().filter(|(_, row)| row.until.is_none_or(|end| end > now));
        holding.map(|(subject, row)| record(*subject, row)).collect()
    }

    /// The suppressions of these subjects that hold at `now`.
    pub(crate) fn suppressions_among(&self, subjects: &[Subject], now: Timestamp) -> Vec<Record> {
        let found = subjects.iter().filter_map(|subject| Some((*subject, self.suppressions.get(subject)?)));
        let holding = found.filter(|(_, row)| row.until.is_none_or(|end| end > now));
        holding.map(|(subject, row)| record(subject, row)).collect()
    }

    /// No hold lasts longer than `longest`, and statements with a future time count as made now. Returns how many rows
    /// moved.
    pub(super) fn suppressions_went_back(&mut self, now: Timestamp, longest: std::time::Duration) -> u64 {
        let end = now.plus(longest);
        let mut moved = 0;
        for row in self.suppressions.values_mut() {
            if row.said_at > now {
                row.said_at = now;
                moved += 1;
            }
            if row.until.is_some_and(|until| until > end) {
                row.until = Some(end);
                moved += 1;
            }
        }
        moved
    }
}

const fn record((company_id, recipient, scope): Subject, row: &SuppressionRow) -> Record {
    Record { company_id, recipient, scope, until: row.until, provider_code: row.provider_code }
}
