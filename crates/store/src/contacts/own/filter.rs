//! Lists of contacts that conditions on own fields narrow.
//!
//! A condition is a range of one index, which has the ordinals of the contacts: no contact is read. What several conditions
//! have in common is found in memory, four bytes for each contact, as for a search.

use std::collections::HashMap;

use uuid::Uuid;

use super::super::filter::descending;
use super::super::reached::retain;
use super::super::search::{ORDINALS, listed};
use super::values::sorted;
use crate::Result;
use crate::nouns::OwnFields;
use domain::own_field::{FieldCondition, FieldTest};

/// The values of a field from the first to the second.
type Span = (i64, i64);

const EVERY: Span = (i64::MIN, i64::MAX);

impl OwnFields<'_> {
    /// Those of these ordinals, or of all contacts of the company, whose contacts meet all conditions. Ordinals are
    /// descending. A field that the company does not have is one that no contact has a value of.
    pub(crate) async fn narrow(
        self,
        among: Option<Vec<u32>>,
        conditions: &[FieldCondition],
    ) -> Result<Vec<u32>> {
        let ids: HashMap<_, _> = match conditions {
            [] => HashMap::new(),
            _ => self.all().await?.into_iter().map(|field| (field.key, field.id)).collect(),
        };
        // A contact has one value of a field, so that what all conditions on the field allow is one span.
        let (mut within, mut without) = (HashMap::<Uuid, Span>::new(), Vec::new());
        for FieldCondition { key, test } in conditions {
            let (span, is_wanted) = match test {
                FieldTest::Is(value) => ((sorted(value), sorted(value)), true),
                FieldTest::AtLeast(value) => ((sorted(value), i64::MAX), true),
                FieldTest::AtMost(value) => ((i64::MIN, sorted(value)), true),
                FieldTest::Known => (EVERY, true),
                FieldTest::IsNot(value) => ((sorted(value), sorted(value)), false),
                FieldTest::Unknown => (EVERY, false),
            };
            match (ids.get(key), is_wanted) {
                (Some(field), true) => {
                    let (from, to) = within.entry(*field).or_insert(EVERY);
                    (*from, *to) = ((*from).max(span.0), (*to).min(span.1));
                }
                (Some(field), false) => without.push((*field, span)),
                (None, true) => return Ok(Vec::new()),
                (None, false) => {}
            }
        }
        let mut found = among;
        for (field, span) in within {
            let these = self.having(field, span).await?;
            match &mut found {
                Some(found) => retain(found, &these, true),
                None => found = Some(these),
            }
        }
        let mut found = match found {
            Some(found) => found,
            None => self.everybody().await?,
        };
        for (field, span) in without {
            retain(&mut found, &self.having(field, span).await?, false);
        }
        Ok(found)
    }

    /// The ordinals of the contacts with a value in the span, descending.
    async fn having(self, field: Uuid, (from, to): Span) -> Result<Vec<u32>> {
        if from > to {
            return Ok(Vec::new());
        }
        let select = "SELECT string_agg(CAST(ordinal AS TEXT), ',') FROM contact_value
             WHERE field_id = $1 AND sorted >= $2 AND sorted <= $3";
        descending(listed(&self.store.read, select, [field.into(), from.into(), to.into()]).await?)
    }

    /// The ordinals of all contacts, descending.
    async fn everybody(self) -> Result<Vec<u32>> {
        let select = format!("{ORDINALS} contact WHERE company_id = $1");
        descending(listed(&self.store.read, select, [self.company.into()]).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lists_have_in_common_is_found_by_their_order() {
        let common = |found: &[u32], others: &[u32], keeps| {
            let mut found = found.to_vec();
            retain(&mut found, others, keeps);
            found
        };
        assert_eq!(common(&[9, 7, 4, 1], &[8, 7, 1, 0], true), [7, 1]);
        assert_eq!(common(&[9, 7, 4, 1], &[8, 7, 1, 0], false), [9, 4]);
        assert_eq!(common(&[3], &[], false), [3]);
        assert!(common(&[3], &[], true).is_empty() && common(&[], &[3], true).is_empty());
    }
}
