//! The totals of a company's contacts: how many there are, and how many are indexed.
//!
//! Writers of a company's contacts lock its totals first, so that they take turns: otherwise two batches would create
//! the same contact, or give two contacts the same ordinal. Called by the writers of contacts.

use entity::contact::{Column, Entity};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::nouns::Contacts;
use crate::one_row::{find_row, update_rows};
use crate::{Error, Result, Transaction, fetch_one};

/// A company's totals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ContactTotals {
    /// The next contact's ordinal: the number of contacts, deleted ones included.
    pub(crate) contacts: i64,
    /// Contacts of lower ordinals are in a segment of the search index.
    pub(crate) indexed: i64,
    /// Contacts of lower ordinals are indexed, or may be right now: a change of one has to mark it as stale.
    pub(crate) claimed: i64,
}

/// The newest contact's position in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) created_at: i64,
    pub(crate) id: Uuid,
}

impl Newest {
    /// The creation time of contacts that come after this one in the list, by time and then by id, if the clock says
    /// `now` and `lowest` is the lowest of their ids. A clock that jumped back is not followed.
    pub(crate) fn next(self, now: i64, lowest: Uuid) -> i64 {
        let soonest = if lowest > self.id { self.created_at } else { self.created_at + 1 };
        now.max(soonest)
    }
}

const COLUMNS: &str = "contacts, indexed, claimed";

impl Contacts<'_> {
    /// Whether the company has contacts.
    pub async fn exist(self) -> Result<bool> {
        let ids = Entity::find().filter(Column::CompanyId.eq(self.company)).select_only().column(Column::Id);
        Ok(ids.into_tuple::<Uuid>().one(&self.store.read).await?.is_some())
    }

    /// The totals of a company; zeros when it has no contacts.
    pub(crate) async fn totals(self, connection: &impl ConnectionTrait) -> Result<ContactTotals> {
        let of = [("company_id", self.company.into())];
        let found = find_row(connection, ("contact_book", COLUMNS), of).await?;
        Ok(found.map(totals).unwrap_or_default())
    }

    /// Locks the totals until the transaction ends, and creates them when there are none. The database refuses an
    /// unknown company.
    pub(crate) async fn lock_totals(self, transaction: &Transaction) -> Result<ContactTotals> {
        let company = self.company;
        let lock = format!(
            "INSERT INTO contact_book (company_id, contacts, indexed, claimed) VALUES ($1, 0, 0, 0)
             ON CONFLICT (company_id) DO UPDATE SET contacts = contact_book.contacts RETURNING {COLUMNS}"
        );
        let row = fetch_one(transaction, lock, [company.into()]).await?;
        row.map(totals).ok_or_else(|| Error::Impossible(format!("no contact totals of company {company}")))
    }

    /// Writes the totals, which the transaction has locked.
    pub(crate) async fn write_totals(self, transaction: &Transaction, totals: ContactTotals) -> Result<()> {
        let ContactTotals { contacts, indexed, claimed } = totals;
        let set = [("contacts", contacts.into()), ("indexed", indexed.into()), ("claimed", claimed.into())];
        update_rows(transaction, "contact_book", set, [("company_id", self.company.into())]).await?;
        Ok(())
    }

    /// The contact of the highest ordinal.
    pub(crate) async fn newest(
        self,
        transaction: &Transaction,
        totals: ContactTotals,
    ) -> Result<Option<Newest>> {
        if totals.contacts == 0 {
            return Ok(None);
        }
        // The last ordinal may be free: its contact was deleted.
        let before = Entity::find().filter(Column::CompanyId.eq(self.company));
        let last = before.filter(Column::Ordinal.lt(totals.contacts)).order_by_desc(Column::Ordinal);
        let last = last.select_only().columns([Column::CreatedAt, Column::Id]).into_tuple::<(i64, Uuid)>();
        Ok(last.one(transaction).await?.map(|(created_at, id)| Newest { created_at, id }))
    }
}

/// One row of [`COLUMNS`].
const fn totals((contacts, indexed, claimed): (i64, i64, i64)) -> ContactTotals {
    ContactTotals { contacts, indexed, claimed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_contacts_come_after_the_newest_even_when_the_clock_jumped_back() {
        let (low, high) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(Newest { created_at: 10, id: low }.next(12, high), 12);
        assert_eq!(Newest { created_at: 10, id: low }.next(10, high), 10);
        assert_eq!(Newest { created_at: 10, id: high }.next(10, low), 11);
        assert_eq!(Newest { created_at: 10, id: low }.next(3, high), 10);
        assert_eq!(Newest { created_at: 10, id: high }.next(3, high), 11);
    }
}
