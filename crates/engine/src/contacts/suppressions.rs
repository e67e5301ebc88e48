//! Suppressed recipients in memory, so that a send need not ask the database about each of its recipients.
//!
//! Each takes some 50 bytes. The ledger writes the statements about recipients, and the store knows the latest one:
//! once a statement is durable, its recipients are read from there. (A channel's actor adds what its own answers say
//! before that.) Changes by people outside the service are read from the store, and statements that arrive during such
//! a read are not lost. Recipients are known by the number of their person, whichever form of it a message goes to.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;
use uuid::Uuid;

use super::people::{Pairs, People};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::request::{SkipCode, Skipped};
use domain::suppression::Suppression;
use store::Store;
use store::persons::OtherNumber;
use store::suppressions::{Record, Subject, Word};

/// Why a recipient is skipped, in words that continue "the number …".
pub(super) const OF_EVERYTHING: &str = "is on the company's suppression list";
pub(super) const OF_MARKETING: &str = "does not want marketing messages";
/// The same for a message whose recipient opted out after its send was accepted.
const SUPPRESSED_OF_EVERYTHING: &str = "the recipient is on the company's suppression list";
const SUPPRESSED_OF_MARKETING: &str = "the recipient opted out of marketing messages";

/// The statements of a webhook whose recipients are read at once. Sends wait while the result is taken over.
const LOOKED_UP_AT_ONCE: usize = 128;

/// The reason not to send a message to its recipient now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// The recipient opted out, as this sentence says.
    OptedOut(&'static str),
    /// The provider holds the message back until then.
    Held(Timestamp),
}

/// The numbers of recipients that a send skips, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SuppressedCounts {
    of_everything: u64,
    of_marketing: u64,
}

impl SuppressedCounts {
    /// Adds those of another part of the audience.
    pub(crate) const fn add(&mut self, other: Self) {
        self.of_everything += other.of_everything;
        self.of_marketing += other.of_marketing;
    }

    /// The counts by reason, in the words of a skipped entry.
    pub(crate) fn by_reason(self) -> BTreeMap<&'static str, u64> {
        let all = [(OF_EVERYTHING, self.of_everything), (OF_MARKETING, self.of_marketing)];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

/// The suppression of one recipient.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    marketing: bool,
    everything: bool,
    /// Marketing templates wait until then.
    held_until: Option<Timestamp>,
}

type Recipients = BTreeMap<PhoneNumber, Entry>;

/// An update of one recipient.
#[derive(Debug, Clone, Copy)]
enum Update {
    Added(Record),
    Lifted(Subject),
}

#[derive(Default)]
struct KnownRecipients {
    companies: HashMap<Uuid, Recipients>,
    /// The updates since a read of the store began, while one is under way.
    meanwhile: Option<Vec<Update>>,
}

#[derive(Default)]
pub(crate) struct Suppressions {
    known: RwLock<KnownRecipients>,
    /// The recipients of webhooks are read in turns, so that the last read decides.
    turns: tokio::sync::Mutex<()>,
    /// So are the reads of all recipients, so that an older one never replaces a newer one.
    loads: tokio::sync::Mutex<()>,
    people: Arc<People>,
}

/// A read of the store that is under way. Only one at a time.
#[must_use = "what was read is taken over by `finish`"]
pub(crate) struct Loading<'a> {
    suppressions: &'a Suppressions,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

impl Suppressions {
    /// No suppressions yet, of people with these numbers.
    pub(crate) fn of(people: Arc<People>) -> Self {
        Self { people, ..Self::default() }
    }

    /// Begins a read of the store, once no other one is under way.
    pub(crate) async fn load(&self) -> Loading<'_> {
        let turn = self.loads.lock().await;
        self.known.write().meanwhile = Some(Vec::new());
        Loading { suppressions: self, _turn: turn }
    }

    /// Adds a suppression.
    pub(crate) fn add(&self, record: Record) {
        // People change only while this is locked.
        let mut known = self.known.write();
        known.hear(Update::Added(self.of_person(record)));
    }

    /// The record under the number by which its recipient is known.
    fn of_person(&self, record: Record) -> Record {
        Record { recipient: self.people.person(record.company_id, record.recipient), ..record }
    }

    /// The subjects under all numbers of their recipients: an older row may stand under another one.
    fn all_forms(&self, subjects: &[Subject]) -> Vec<Subject> {
        let forms = |(company, recipient, scope): &Subject| {
            let (company, scope) = (*company, *scope);
            self.people.forms(company, *recipient).into_iter().map(move |form| (company, form, scope))
        };
        subjects.iter().flat_map(forms).collect()
    }

    /// Takes over the stored suppressions of these recipients: the store knows the latest statement.
    ///
    /// # Errors
    ///
    /// When the store cannot be read: then the suppressions in the statements whose recipients were not read hold, and
    /// none of these statements lifts one.
    pub(crate) async fn look_up(&self, store: &Store, words: &[Word]) -> store::Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let _turn = self.turns.lock().await;
        for (nth, some) in words.chunks(LOOKED_UP_AT_ONCE).enumerate() {
            let subjects = self.all_forms(&some.iter().map(Word::subject).collect::<Vec<_>>());
            match store.suppressions().among(&subjects, Timestamp::now()).await {
                Ok(records) => self.replace(&subjects, records),
                Err(error) => {
                    let unread = words.iter().skip(nth * LOOKED_UP_AT_ONCE);
                    unread.filter_map(Word::record).for_each(|record| self.add(record));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Takes over the stored suppressions of these recipients, which another process changed.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(crate) async fn refresh(&self, store: &Store, subjects: &[Subject]) -> store::Result<()> {
        let subjects = self.all_forms(subjects);
        let _turn = self.turns.lock().await;
        let records = store.suppressions().among(&subjects, Timestamp::now()).await?;
        self.replace(&subjects, records);
        Ok(())
    }

    /// Replaces the suppressions of these subjects with these records.
    fn replace(&self, subjects: &[Subject], records: Vec<Record>) {
        let lifted = subjects.iter().map(|subject| Update::Lifted(*subject));
        let updates = lifted.chain(records.into_iter().map(Update::Added));
        let mut known = self.known.write();
        updates.for_each(|update| known.hear(self.update_of_person(update)));
    }

    /// The update under the number by which its recipient is known.
    fn update_of_person(&self, update: Update) -> Update {
        match update {
            Update::Added(record) => Update::Added(self.of_person(record)),
            Update::Lifted((company, recipient, scope)) => {
                Update::Lifted((company, self.people.person(company, recipient), scope))
            }
        }
    }

    /// Removes from `numbers` the recipients that a send skips, and counts them as skipped. Returns their numbers, by
    /// reason.
    pub(crate) fn skip_suppressed(
        &self,
        company_id: Uuid,
        is_marketing: bool,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> SuppressedCounts {
        let known = self.known.read();
        let mut suppressed = SuppressedCounts::default();
        let Some(recipients) = known.companies.get(&company_id) else { return suppressed };
        numbers.retain(|number| {
            let Some(entry) = recipients.get(&self.people.person(company_id, *number)) else { return true };
            if entry.everything {
                suppressed.of_everything += 1;
                skipped.add_as(SkipCode::Suppressed, &format!("+{number}"), &OF_EVERYTHING);
            } else if entry.marketing && is_marketing {
                suppressed.of_marketing += 1;
                skipped.add_as(SkipCode::OptedOut, &format!("+{number}"), &OF_MARKETING);
            } else {
                return true;
            }
            false
        });
        suppressed
    }

    /// The reason not to send a message to this recipient now, if there is one.
    pub(crate) fn barrier(
        &self,
        company_id: Uuid,
        recipient: PhoneNumber,
        is_marketing: bool,
        now: Timestamp,
    ) -> Option<Barrier> {
        let known = self.known.read();
        let entry = known.companies.get(&company_id)?.get(&self.people.person(company_id, recipient))?;
        if entry.everything {
            Some(Barrier::OptedOut(SUPPRESSED_OF_EVERYTHING))
        } else if !is_marketing {
            None
        } else if entry.marketing {
            Some(Barrier::OptedOut(SUPPRESSED_OF_MARKETING))
        } else {
            entry.held_until.filter(|until| *until > now).map(Barrier::Held)
        }
    }

    /// Until when marketing templates to this recipient are held.
    pub(crate) fn held_until(
        &self,
        company_id: Uuid,
        recipient: PhoneNumber,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let known = self.known.read();
        let recipient = self.people.person(company_id, recipient);
        known.companies.get(&company_id)?.get(&recipient)?.held_until.filter(|until| *until > now)
    }
}

impl Loading<'_> {
    /// Takes over the stored suppressions, the numbers of people that were read after them, and the updates since
    /// [`Suppressions::load`]. Returns whether there were no updates: otherwise the read may be older or newer than
    /// one, and should be repeated.
    ///
    /// Both are taken over at one moment: under which number a person is suppressed depends on the person's numbers.
    pub(crate) fn finish(
        self,
        records: impl IntoIterator<Item = Record>,
        numbers: impl IntoIterator<Item = OtherNumber>,
    ) -> bool {
        let suppressions = self.suppressions;
        let pairs = Pairs::of(numbers);
        // There may be millions, and sends wait while the lock is held.
        let mut known = KnownRecipients::default();
        records
            .into_iter()
            .for_each(|record| known.add(Record { recipient: pairs.person(&record), ..record }));
        let mut present = suppressions.known.write();
        suppressions.people.replace(pairs);
        let meanwhile = present.meanwhile.take().unwrap_or_default();
        let was_undisturbed = meanwhile.is_empty();
        meanwhile.into_iter().for_each(|update| known.hear(suppressions.update_of_person(update)));
        *present = known;
        was_undisturbed
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.suppressions.known.write().meanwhile = None;
    }
}

impl KnownRecipients {
    fn hear(&mut self, word: Update) {
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile.push(word);
        }
        match word {
            Update::Added(record) => self.add(record),
            Update::Lifted(subject) => self.lift(subject),
        }
    }

    fn add(&mut self, record: Record) {
        let Record { company_id, recipient, scope, until, provider_code: _ } = record;
        let entry = self.companies.entry(company_id).or_default().entry(recipient).or_default();
        match (scope, until) {
            (Suppression::Marketing, None) => entry.marketing = true,
            (Suppression::Marketing, until) => entry.held_until = until,
            (Suppression::Everything, _) => entry.everything = true,
        }
    }

    fn lift(&mut self, (company_id, recipient, scope): Subject) {
        let Some(recipients) = self.companies.get_mut(&company_id) else { return };
        let Some(entry) = recipients.get_mut(&recipient) else { return };
        match scope {
            Suppression::Marketing => (entry.marketing, entry.held_until) = (false, None),
            Suppression::Everything => entry.everything = false,
        }
        if !entry.marketing && !entry.everything && entry.held_until.is_none() {
            recipients.remove(&recipient);
        }
    }
}
