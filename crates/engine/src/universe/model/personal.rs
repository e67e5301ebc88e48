//! What is kept of a send whose recipients have values of their own, and the entries that its request skipped.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::Model;
use domain::message::Key;
use domain::values::{Unpacked, unpack};
use store::ledger::{BlockOf, PendingWrites, PersonalSend, ReferenceOf, SkippedOf};

/// The four tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PersonalRows {
    /// The company and the seal of each such send.
    pub(super) sends: BTreeMap<Uuid, (Uuid, Uuid)>,
    /// By send and first ordinal: how many recipients, and their values.
    pub(super) values: BTreeMap<(Uuid, u64), (u64, Vec<u8>)>,
    /// By send and ordinal: the company, and the caller's name for the message.
    pub(super) references: BTreeMap<(Uuid, u64), (Uuid, String)>,
    /// By send and place: how many entries, and the entries.
    pub(super) skipped: BTreeMap<(Uuid, u64), (u64, String)>,
}

impl PersonalRows {
    /// Removes what belongs to a send.
    pub(super) fn remove(&mut self, send_id: Uuid) {
        let Self { sends, values, references, skipped } = self;
        sends.remove(&send_id);
        values.retain(|(id, _), _| *id != send_id);
        references.retain(|(id, _), _| *id != send_id);
        skipped.retain(|(id, _), _| *id != send_id);
    }

    /// The sends that have a row in any of the tables.
    fn ids(&self) -> impl Iterator<Item = Uuid> {
        let Self { sends, values, references, skipped } = self;
        let of_parts = values.keys().chain(references.keys()).chain(skipped.keys());
        sends.keys().copied().chain(of_parts.map(|(id, _)| *id))
    }
}

impl Model {
    pub(super) fn insert_personal(&mut self, batch: &PendingWrites) {
        let PersonalRows { sends, values, references, skipped } = &mut self.personal;
        for PersonalSend { send_id, company_id, seal } in &batch.personal {
            sends.insert(*send_id, (*company_id, *seal));
        }
        for BlockOf { send_id, block } in &batch.values {
            values.insert((*send_id, block.first_ordinal), (block.recipients, block.packed.clone()));
        }
        for ReferenceOf { send_id, company_id, ordinal, reference } in &batch.references {
            references.insert((*send_id, *ordinal), (*company_id, reference.clone()));
        }
        for SkippedOf { send_id, place, entries, packed } in &batch.skipped {
            skipped.insert((*send_id, *place), (*entries, packed.clone()));
        }
    }

    /// Whether the recipients of a send have values of their own.
    pub(crate) fn has_values(&self, send_id: Uuid) -> bool {
        self.personal.sends.contains_key(&send_id)
    }

    /// The values of a message's recipient, if they are there.
    pub(crate) fn values_of(&self, key: Key) -> Option<Unpacked> {
        let before = self.personal.values.range((key.send_id, 0)..=(key.send_id, key.ordinal));
        let ((_, first), (_, packed)) = before.last()?;
        let place = usize::try_from(key.ordinal - first).ok()?;
        unpack(packed).ok()?.into_iter().nth(place)
    }

    /// A send that is not there, or was withdrawn, of which something is kept all the same.
    pub(crate) fn left_behind(&self) -> Option<Uuid> {
        self.personal.ids().find(|id| self.send(*id).is_none_or(|send| send.state.is_none()))
    }
}
