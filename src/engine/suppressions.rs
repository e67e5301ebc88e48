//! Suppressed recipients in memory, so that a send need not ask the database about each of its recipients.
//!
//! Some 50 bytes for each. The ledger writes them; whoever has it write one adds it here too.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::request::Skipped;
use crate::domain::suppression::Suppression;
use crate::store::suppression::Record;

/// What is known of one recipient.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    marketing: bool,
    everything: bool,
    /// Marketing templates wait until then.
    held_until: Option<Timestamp>,
}

type Recipients = BTreeMap<PhoneNumber, Entry>;

/// See the module.
#[derive(Default)]
pub(crate) struct Suppressions(RwLock<HashMap<Uuid, Recipients>>);

impl Suppressions {
    /// Takes over what the store has.
    pub(crate) fn replace(&self, records: impl IntoIterator<Item = Record>) {
        let mut companies = HashMap::new();
        for record in records {
            note(&mut companies, record);
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = companies;
    }

    /// Adds one.
    pub(crate) fn add(&self, record: Record) {
        note(&mut self.0.write().unwrap_or_else(PoisonError::into_inner), record);
    }

    /// Takes one back.
    pub(crate) fn lift(&self, company_id: Uuid, recipient: PhoneNumber, scope: Suppression) {
        let mut companies = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(recipients) = companies.get_mut(&company_id) else { return };
        let Some(entry) = recipients.get_mut(&recipient) else { return };
        match scope {
            Suppression::Marketing => (entry.marketing, entry.held_until) = (false, None),
            Suppression::Everything => entry.everything = false,
        }
        if !entry.marketing && !entry.everything && entry.held_until.is_none() {
            recipients.remove(&recipient);
        }
    }

    /// Removes from `numbers` those that a send leaves out, and counts them as skipped.
    pub(crate) fn leave_out(
        &self,
        company_id: Uuid,
        is_marketing: bool,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) {
        let companies = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let Some(recipients) = companies.get(&company_id) else { return };
        numbers.retain(|number| {
            let Some(entry) = recipients.get(number) else { return true };
            if entry.everything {
                skipped.add(&format!("+{number}"), &"is blocked by this business at the provider");
            } else if entry.marketing && is_marketing {
                skipped.add(&format!("+{number}"), &"does not want marketing messages");
            } else {
                return true;
            }
            false
        });
    }

    /// Until when marketing templates to this recipient wait.
    pub(crate) fn held_until(
        &self,
        company_id: Uuid,
        recipient: PhoneNumber,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let companies = self.0.read().unwrap_or_else(PoisonError::into_inner);
        companies.get(&company_id)?.get(&recipient)?.held_until.filter(|until| *until > now)
    }
}

fn note(companies: &mut HashMap<Uuid, Recipients>, record: Record) {
    let Record { company_id, recipient, scope, until, provider_code: _ } = record;
    let entry = companies.entry(company_id).or_default().entry(recipient).or_default();
    match (scope, until) {
        (Suppression::Marketing, None) => entry.marketing = true,
        (Suppression::Marketing, until) => entry.held_until = until,
        (Suppression::Everything, _) => entry.everything = true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u64) -> PhoneNumber {
        PhoneNumber::from_u64(5_511_900_000_000 + value).unwrap()
    }

    fn record(recipient: u64, scope: Suppression, until: Option<i64>) -> Record {
        Record {
            company_id: Uuid::from_u128(1),
            recipient: number(recipient),
            scope,
            until: until.map(Timestamp::from_millis),
            provider_code: None,
        }
    }

    fn left(suppressions: &Suppressions, company: u128, is_marketing: bool) -> (Vec<PhoneNumber>, u64) {
        let (mut numbers, mut skipped) = ((0..4).map(number).collect(), Skipped::default());
        suppressions.leave_out(Uuid::from_u128(company), is_marketing, &mut numbers, &mut skipped);
        (numbers, skipped.count)
    }

    #[test]
    fn who_opted_out_of_marketing_still_gets_other_messages_and_other_companies_are_not_concerned() {
        let suppressions = Suppressions::default();
        suppressions.add(record(1, Suppression::Marketing, None));
        suppressions.add(record(2, Suppression::Everything, None));
        assert_eq!(left(&suppressions, 1, true), (vec![number(0), number(3)], 2));
        assert_eq!(left(&suppressions, 1, false), (vec![number(0), number(1), number(3)], 1));
        assert_eq!(left(&suppressions, 2, true).1, 0);
        suppressions.lift(Uuid::from_u128(1), number(1), Suppression::Marketing);
        assert_eq!(left(&suppressions, 1, true), (vec![number(0), number(1), number(3)], 1));
    }

    #[test]
    fn a_hold_ends_by_itself_and_leaves_nobody_out() {
        let suppressions = Suppressions::default();
        suppressions.replace([record(1, Suppression::Marketing, Some(1_000))]);
        let held = |now| suppressions.held_until(Uuid::from_u128(1), number(1), Timestamp::from_millis(now));
        assert_eq!(held(999), Some(Timestamp::from_millis(1_000)));
        assert_eq!(held(1_000), None);
        assert_eq!(left(&suppressions, 1, true).1, 0);
    }
}
