//! Suppressions as requests change and check them.
//!
//! A change is written to the store, which all nodes follow; this node's sends follow it before the request is answered.

use std::collections::HashMap;

use uuid::Uuid;

use super::suppressions::{OF_EVERYTHING, OF_MARKETING};
use crate::contacts::Contacts;
use crate::records::CompanyRecords;
use crate::{Error, Who};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::request::SkipCode;
use domain::suppression::Suppression;
use store::suppressions::Kept;

/// Why a send skips a number: the kind, and the reason in words that continue "the number …".
pub type Skip = (SkipCode, &'static str);

/// Why sends skip the recipient with these suppressions: all sends, or those of marketing. A hold skips nothing.
pub fn skip_of(suppressions: &[Kept]) -> Option<Skip> {
    let holds =
        |scope| suppressions.iter().any(|kept| kept.record.scope == scope && kept.record.until.is_none());
    if holds(Suppression::Everything) {
        Some((SkipCode::Suppressed, OF_EVERYTHING))
    } else if holds(Suppression::Marketing) {
        Some((SkipCode::OptedOut, OF_MARKETING))
    } else {
        None
    }
}

impl Contacts<'_> {
    /// Makes a company's sends skip a recipient until the suppression is lifted. `false` when they did before.
    pub async fn suppress(
        &self,
        who: &Who,
        of: &CompanyRecords,
        recipient: PhoneNumber,
        scope: Suppression,
    ) -> Result<bool, Error> {
        let is_new = of.suppressions().add(who, recipient, scope).await?;
        self.follow(of.company_id(), recipient).await;
        Ok(is_new)
    }

    /// Lifts all suppressions of a recipient, and returns them.
    pub async fn lift_suppressions(
        &self,
        who: &Who,
        of: &CompanyRecords,
        recipient: PhoneNumber,
    ) -> Result<Vec<Kept>, Error> {
        let lifted = of.suppressions().lift(who, recipient).await?;
        self.follow(of.company_id(), recipient).await;
        Ok(lifted)
    }

    /// The suppressions that hold now, of each of these numbers that has one, whatever form the number has.
    pub async fn suppressions_of(
        &self,
        of: &CompanyRecords,
        numbers: &[PhoneNumber],
    ) -> Result<HashMap<PhoneNumber, Vec<Kept>>, Error> {
        let people = &self.engine.0.shared.people;
        let person = |number| people.person(of.company_id(), number);
        let forms = numbers.iter().flat_map(|number| people.forms(of.company_id(), *number));
        let mut forms: Vec<_> = forms.collect();
        forms.sort_unstable();
        forms.dedup();
        let mut of_people: HashMap<PhoneNumber, Vec<Kept>> = HashMap::new();
        for kept in of.suppressions().among(&forms, Timestamp::now()).await? {
            of_people.entry(person(kept.record.recipient)).or_default().push(kept);
        }
        let found =
            numbers.iter().filter_map(|number| Some((*number, of_people.get(&person(*number))?.clone())));
        Ok(found.collect())
    }

    /// Takes over the recipient's suppressions from the store. If that fails, they are read with all others, because
    /// each change raises the counter that the service watches.
    async fn follow(&self, company: Uuid, recipient: PhoneNumber) {
        let shared = &self.engine.0.shared;
        let subjects = Suppression::ALL.map(|scope| (company, recipient, scope));
        if let Err(error) = shared.suppressions.refresh(&shared.store, &subjects).await {
            tracing::debug!(company.id = %company, %error, "cannot read a changed suppression, it is read later");
        }
    }
}
