//! The recipients of one content, counted for a plan.

use std::collections::HashSet;

use uuid::Uuid;

use super::Example;
use super::contacts::Contacts;
use crate::accept::resolver::OwnValues;
use crate::contacts::people::People;
use crate::contacts::suppressions::{SuppressedCounts, Suppressions};
use clock::Timestamp;
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::plan::Written;
use domain::price::ByCountry;
use domain::request::{Personal, Skipped};
use domain::template::contact_field::{Addressee, ContactField};
use store::Store;

/// Those who get the same content.
pub(super) struct PlannedPart {
    company: Uuid,
    /// As in [`super::Planned`].
    pub(super) is_marketing: Option<bool>,
    /// The values of its recipients, with the content in which they stand.
    own: Option<(OwnValues, Content)>,
    pub(super) recipients: u64,
    pub(super) countries: ByCountry,
    pub(super) contacts: Contacts,
    /// The people among them whom the business account wrote to lately.
    known: HashSet<PhoneNumber>,
}

impl PlannedPart {
    pub(super) fn of(
        company: Uuid,
        is_marketing: Option<bool>,
        needed_fields: Vec<ContactField>,
        own: Option<(Content, Personal)>,
    ) -> Self {
        let own = own
            .map(|(content, personal)| (OwnValues::given(company, Uuid::nil(), &content, personal), content));
        Self {
            company,
            is_marketing,
            own,
            recipients: 0,
            countries: ByCountry::default(),
            contacts: Contacts::of(company, needed_fields),
            known: HashSet::new(),
        }
    }

    /// Removes the numbers of people who opted out of it.
    pub(super) fn skip_suppressed(
        &self,
        suppressions: &Suppressions,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> SuppressedCounts {
        let is_marketing = self.is_marketing.unwrap_or_default();
        suppressions.skip_suppressed(self.company, is_marketing, numbers, skipped)
    }

    /// Removes the numbers of recipients who lack a value.
    pub(super) fn skip_lacking(
        &mut self,
        people: &People,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> store::Result<()> {
        let Some((own, _)) = &mut self.own else { return Ok(()) };
        own.skip_other_forms(people, numbers, skipped);
        own.skip_lacking(numbers, skipped).map_err(|error| store::Error::Unavailable(error.to_string()))
    }

    /// Says of skipped recipients which of the request's they were.
    pub(super) fn place(&mut self, skipped: &mut Skipped) {
        if let Some((own, _)) = &mut self.own {
            own.place(skipped);
        }
    }

    /// The messages of these recipients, of a content with values.
    pub(super) async fn filled(
        &mut self,
        store: &Store,
        numbers: &[PhoneNumber],
    ) -> store::Result<Vec<Example>> {
        let Some((own, content)) = self.own.as_mut().filter(|_| !numbers.is_empty()) else {
            return Ok(Vec::new());
        };
        let people = store.of(self.company).contacts().people(numbers).await?;
        let example = |number: &PhoneNumber| {
            let values = own.example(*number);
            let to = Addressee { person: people.get(number), values: Some(&values) };
            Example { number: *number, content: content.filled(to).ok() }
        };
        Ok(numbers.iter().map(example).collect())
    }

    /// Adds recipients; `lately` are the people whom the business account wrote to.
    pub(super) async fn count(
        &mut self,
        store: &Store,
        (people, lately): (&People, &HashSet<PhoneNumber>),
        numbers: &[PhoneNumber],
    ) -> store::Result<()> {
        self.recipients += numbers.len() as u64;
        self.countries.count(numbers);
        let persons = numbers.iter().map(|number| people.person(self.company, *number));
        self.known.extend(persons.filter(|person| lately.contains(person)));
        self.contacts.look_at(store, numbers).await
    }

    /// What is known of the people whom the business account wrote to, each with the time.
    pub(super) fn written(&self, written: &[(PhoneNumber, Timestamp)], now: Timestamp) -> Written {
        let ages = written.iter().filter(|(number, _)| !self.known.contains(number));
        let mut others: Vec<_> = ages.map(|(_, at)| now.from_now(*at)).collect();
        others.sort_unstable_by(|one, other| other.cmp(one));
        Written { known: self.known.len() as u64, others }
    }
}
