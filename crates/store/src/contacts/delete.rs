//! Deleting contacts.
//!
//! A deleted contact leaves its ordinal free ([`super::gap`]) and is stale in the search index until its segment is
//! rebuilt. A call is one transaction: callers keep the number of contacts small.

use std::collections::HashMap;

use uuid::Uuid;

use super::totals::ContactTotals;
use crate::changes::ContactRecord;
use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, Contacts};
use crate::{Result, Transaction, execute, fetch};

impl Contacts<'_> {
    /// Deletes these contacts of `company`, and returns how many there were.
    pub async fn delete(self, record: &mut ContactRecord, ids: &[Uuid]) -> Result<u64> {
        let transaction = self.store.begin().await?;
        let totals = self.lock_totals(&transaction).await?;
        let deleted = self.delete_in(&transaction, totals, ids).await?;
        record.count(&transaction, &[("deleted", deleted)]).await?;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// [`Contacts::delete`](crate::Contacts::delete) as a part of `transaction`, which has locked the totals.
    pub(crate) async fn delete_in(
        self,
        transaction: &Transaction,
        totals: ContactTotals,
        ids: &[Uuid],
    ) -> Result<u64> {
        let (wanted, values) = self.store.contacts().id_rows(ids).behind([self.company.into()]);
        let select = format!(
            "SELECT DISTINCT contact.id, contact.ordinal FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.id = wanted.id AND contact.company_id = $1"
        );
        let found = fetch::<(Uuid, i64)>(transaction, select, values).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let ids: Vec<Uuid> = found.iter().map(|(id, _)| *id).collect();
        let (gone, values) = self.store.contacts().id_rows(&ids).select(1);
        let select = format!(
            "SELECT contact_tag.tag_id, count(*) FROM {gone} AS gone CROSS JOIN contact_tag
             WHERE contact_tag.contact_id = gone.id GROUP BY contact_tag.tag_id"
        );
        let counts = fetch::<(Uuid, i64)>(transaction, select, values).await?;
        for (table, column) in [
            ("contact_tag", "contact_id"),
            ("contact_note", "contact_id"),
            ("contact_value", "contact_id"),
            ("contact", "id"),
        ] {
            self.store.delete_among(transaction, table, column, &ids).await?;
        }
        self.store.contacts().uncount(transaction, &counts).await?;
        self.index().add_gaps(transaction, found.iter().map(|(_, ordinal)| *ordinal)).await?;
        self.index().mark_stale(transaction, totals, found.iter().map(|(_, ordinal)| *ordinal)).await?;
        Ok(found.len() as u64)
    }
}

impl AllContacts<'_> {
    /// How many tags each of these contacts has; contacts without tags are left out.
    pub async fn count_tags_of(self, contacts: &[Uuid]) -> Result<HashMap<Uuid, usize>> {
        if contacts.is_empty() {
            return Ok(HashMap::new());
        }
        let (wanted, values) = self.id_rows(contacts).select(1);
        let select = format!(
            "SELECT contact_tag.contact_id, count(*) FROM {wanted} AS wanted CROSS JOIN contact_tag
             WHERE contact_tag.contact_id = wanted.id GROUP BY contact_tag.contact_id"
        );
        let rows = fetch::<(Uuid, i64)>(&self.store.read, select, values).await?;
        Ok(rows.into_iter().map(|(id, tags)| (id, usize::try_from(tags).unwrap_or(0))).collect())
    }

    /// Subtracts contacts from the counts of tags.
    pub(crate) async fn uncount(self, transaction: &Transaction, counts: &[(Uuid, i64)]) -> Result<()> {
        let mut rows = Rows::new(self.store.backend, &[("id", Type::Uuid), ("contacts", Type::Int)]);
        counts.iter().for_each(|(tag, contacts)| rows.push([(*tag).into(), (*contacts).into()]));
        if rows.is_empty() {
            return Ok(());
        }
        let (rows, values) = rows.select(1);
        let update = format!(
            "UPDATE tag SET contacts = tag.contacts - removed.contacts FROM {rows} AS removed
             WHERE tag.id = removed.id"
        );
        execute(transaction, update, values).await?;
        Ok(())
    }

    pub(crate) fn id_rows(self, ids: &[Uuid]) -> Rows {
        Rows::of_ids(self.store.backend, ids)
    }
}
