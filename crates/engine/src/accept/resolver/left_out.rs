//! People whom a send leaves out, because their contact has a tag that the send names for that.

use std::collections::HashSet;

use uuid::Uuid;

use crate::contacts::people::People;
use domain::phone::PhoneNumber;
use domain::request::{SkipCode, Skipped};
use store::Store;

/// The reason, in words that continue "the number …".
const REASON: &str = "has a tag that the send leaves out";

/// The tags that leave people out.
#[derive(Debug)]
pub(crate) struct LeftOut(Vec<Uuid>);

impl LeftOut {
    pub(crate) const fn new(tags: Vec<Uuid>) -> Self {
        Self(tags)
    }

    /// Removes from `numbers`, which are a part of the audience, those of people with one of the tags, under any of their
    /// numbers, and counts them as skipped. One query for the whole part.
    ///
    /// # Errors
    ///
    /// Those of reading the tags.
    pub(crate) async fn skip(
        &self,
        store: &Store,
        people: &People,
        company: Uuid,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> store::Result<()> {
        if self.0.is_empty() || numbers.is_empty() {
            return Ok(());
        }
        let forms: Vec<_> = numbers.iter().flat_map(|number| people.forms(company, *number)).collect();
        let tagged = store.of(company).tags().having_any(&self.0, &forms).await?;
        if tagged.is_empty() {
            return Ok(());
        }
        let tagged: HashSet<_> = tagged.into_iter().map(|number| people.person(company, number)).collect();
        numbers.retain(|number| {
            let is_left = !tagged.contains(&people.person(company, *number));
            if !is_left {
                skipped.add_as(SkipCode::LeftOut, &format!("+{number}"), &REASON);
            }
            is_left
        });
        Ok(())
    }
}
