//! Deleting contacts.
//!
//! A deleted contact leaves its ordinal free ([`super::gap`]) and is stale in the search index until its segment is
//! rebuilt. A call is one transaction: callers keep the number of contacts small.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, QueryResult};
use uuid::Uuid;

use super::totals::ContactTotals;
use crate::changes::ContactRecord;
use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, Contacts};
use crate::{Result, Transaction, run};

const ID: &[(&str, Type)] = &[("id", Type::Uuid)];

impl Contacts<'_> {
    /// Deletes these contacts of `company`, and returns how many there were.
    ///
    /// # Errors
    ///
    /// Fails when the database does; then none is deleted.
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
        let (wanted, values) = self.store.contacts().id_rows(ids).select(2);
        let select = format!(
            "SELECT DISTINCT contact.id, contact.ordinal FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.id = wanted.id AND contact.company_id = $1"
        );
        let statement = self.store.statement(select, std::iter::once(self.company.into()).chain(values));
        let rows = transaction.query_all_raw(statement).await?;
        let found = rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)));
        let found: Vec<(Uuid, i64)> = found.collect::<Result<_>>()?;
        if found.is_empty() {
            return Ok(0);
        }
        let ids: Vec<Uuid> = found.iter().map(|(id, _)| *id).collect();
        let (gone, values) = self.store.contacts().id_rows(&ids).select(1);
        let select = format!(
            "SELECT contact_tag.tag_id, count(*) FROM {gone} AS gone CROSS JOIN contact_tag
             WHERE contact_tag.contact_id = gone.id GROUP BY contact_tag.tag_id"
        );
        let mut counts = Vec::new();
        for row in transaction.query_all_raw(self.store.statement(select, values)).await? {
            counts.push((row.try_get_by_index(0)?, row.try_get_by_index::<i64>(1)?));
        }
        for delete in ["contact_tag WHERE contact_id", "contact WHERE id"] {
            let (gone, values) = self.store.contacts().id_rows(&ids).select(1);
            let delete = format!("DELETE FROM {delete} IN (SELECT id FROM {gone} AS gone)");
            run(transaction, self.store.statement(delete, values)).await?;
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
        let rows = self.store.rows(select, values).await?;
        let count = |row: &QueryResult| {
            let tags: i64 = row.try_get_by_index(1)?;
            Ok((row.try_get_by_index(0)?, usize::try_from(tags).unwrap_or(0)))
        };
        rows.iter().map(count).collect()
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
        run(transaction, self.store.statement(update, values)).await?;
        Ok(())
    }

    pub(crate) fn id_rows(self, ids: &[Uuid]) -> Rows {
        let mut rows = Rows::new(self.store.backend, ID);
        ids.iter().for_each(|id| rows.push([(*id).into()]));
        rows
    }
}
