//! The recipients of a planned send who lack a field of a contact.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::{FIELDS_WITHIN, WithoutFields};
use domain::contact::Person;
use domain::phone::PhoneNumber;
use domain::template::contact_field::ContactField;
use store::Store;

/// The check of an audience's contacts.
pub(super) struct Contacts {
    company_id: Uuid,
    needed: Vec<ContactField>,
    pub(super) found: Option<WithoutFields>,
    took: Duration,
}

impl Contacts {
    pub(super) fn of(company_id: Uuid, needed: Vec<ContactField>) -> Self {
        let found = (!needed.is_empty()).then(WithoutFields::default);
        Self { company_id, needed, found, took: Duration::ZERO }
    }

    pub(super) async fn look_at(&mut self, store: &Store, numbers: &[PhoneNumber]) -> store::Result<()> {
        let Some(found) = self.found.as_mut().filter(|_| self.took < FIELDS_WITHIN) else { return Ok(()) };
        let began = Instant::now();
        let people = store.of(self.company_id).contacts().people(numbers).await?;
        let has_all = |person: &Person| self.needed.iter().all(|field| field.of(person, "").is_some());
        let lacking = numbers.iter().filter(|number| !people.get(number).is_some_and(has_all));
        found.count += lacking.count() as u64;
        found.checked += numbers.len() as u64;
        self.took += began.elapsed();
        Ok(())
    }
}
