//! Writes many contacts at once: the statements that imports consist of, and the addition of contacts as they are.
//!
//! Called by the import of drafts, and by the code that fills a database for a demonstration or a measurement.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, DbBackend};
use uuid::Uuid;

use super::matching::Slot;
use super::own::ValueChange;
use super::search::index::Care;
use super::totals::ContactTotals;
use crate::dialect::{Bulk, Cell, Rows, Type};
use crate::nouns::{AllContacts, Contacts};
use crate::tags::DELETED;
use crate::{Error, Result, Transaction, execute, fetch};
use clock::Timestamp;
use domain::contact::Person;
use domain::phone::PhoneNumber;

/// Rows of one transaction of [`Contacts::add`](crate::Contacts::add), contacts and their tags: the write lock is held for some ten
/// milliseconds, and sends are accepted in between.
const ADDED_AT_ONCE: usize = 4_000;

/// A process that waits for SQLite's write lock checks it after 1, 2, 5, 10, 15, 20 and then every 25 ms, until it has
/// waited for some 128 ms, and then so rarely that it misses pauses (`sqliteDefaultBusyCallback`). So a heavy writer
/// has to release the lock for this long.
const PAUSE: Duration = Duration::from_millis(26);
/// The time between two pauses: together with the last transaction, less than those 128 ms.
const PAUSE_EVERY: Duration = Duration::from_millis(70);
/// The time that a transaction may take.
const TRANSACTION: Duration = Duration::from_millis(40);
/// The same in a process that also sends: its sends wait for the only writing connection.
const GENTLE_TRANSACTION: Duration = Duration::from_millis(12);
/// Rows of a transaction, contacts and their tags: as many as fit into [`TRANSACTION`], which depends on how far the rows
/// are spread over the indexes.
const ROWS: std::ops::RangeInclusive<usize> = 100..=2_000;
/// Contacts of a transaction: the fixed cost of a statement does not matter for as many.
const CONTACTS: usize = 1_000;

/// Lets other processes write in between, for a heavy writer. PostgreSQL does not need this.
#[derive(Debug)]
pub struct Pace {
    is_needed: bool,
    paused: Instant,
    rows: usize,
    transaction: Duration,
}

impl Pace {
    /// How many rows the next transaction should write.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// How many of these contacts the next transaction should write, by the rows of each: at least one, and no more rows
    /// than [`Pace::rows`] unless one contact has more.
    pub fn fitting(&self, contacts: impl Iterator<Item = usize>) -> usize {
        let mut left = self.rows;
        let fits = |rows: &usize| left.checked_sub(*rows).map(|rest| left = rest).is_some();
        contacts.take(CONTACTS).take_while(fits).count().max(1)
    }

    /// Adapts the number of rows after a transaction of `rows` rows, by the time that it `took`. A transaction of few
    /// rows tells little about more.
    pub fn wrote(&mut self, rows: usize, took: Duration) {
        if self.is_needed && rows >= self.rows / 2 {
            let fitting = rows as f64 * self.transaction.as_secs_f64() / took.as_secs_f64().max(1e-6);
            // The number falls at once, and rises gradually.
            let next = fitting.min(self.rows as f64 * 1.25);
            self.rows = (next as usize).clamp(*ROWS.start(), *ROWS.end());
        }
    }

    /// To be called between two transactions.
    pub async fn pause(&mut self) {
        if self.is_needed && self.paused.elapsed() >= PAUSE_EVERY {
            tokio::time::sleep(PAUSE).await;
            self.paused = Instant::now();
        }
    }
}

const PERSON: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("first_name", Type::Text),
    ("last_name", Type::Text),
    ("email", Type::Text),
    ("phone_number", Type::Text),
    ("phone", Type::Int),
    ("phone_number_lid", Type::Text),
    ("profile_picture", Type::Text),
    ("search_text", Type::Text),
    ("tag_text", Type::Text),
    ("ordinal", Type::Int),
];

impl Contacts<'_> {
    /// Adds contacts as they are, without looking for known ones, each with all of `tags`. The rows go in
    /// some thousands at a time, each lot in a transaction of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] when an id is in use, [`Error::Impossible`] when a tag is another company's; otherwise fails
    /// when the database does. The lots before the failed one stay.
    pub async fn add(self, contacts: &[(Uuid, Person)], tags: &[Uuid], now: Timestamp) -> Result<()> {
        let company = self.company;
        let at_once = (ADDED_AT_ONCE / (1 + tags.len())).max(1);
        for lot in contacts.chunks(at_once) {
            let transaction = self.store.begin().await?;
            let mut totals = self.lock_totals(&transaction).await?;
            let names = self.folded_names(&transaction, tags).await?;
            if names.len() != tags.len() {
                return Err(Error::Impossible(format!("tags that company {company} does not have")));
            }
            let tag_text = names.join("\n");
            let slot = |(id, person): &(Uuid, Person)| Slot {
                tag_text: tag_text.clone(),
                ..Slot::new(*id, person.clone(), person.phone())
            };
            let slots: Vec<Slot> = lot.iter().map(slot).collect();
            self.insert(&transaction, &mut totals, slots.iter().collect(), now).await?;
            let pairs = tags.iter().flat_map(|tag| slots.iter().map(|slot| (*tag, slot.id, slot.phone)));
            self.insert_pairs(&transaction, pairs).await?;
            transaction.commit().await?;
            while self.index().step(Care::Passing).await? {}
        }
        if contacts.len() > at_once {
            self.store.contacts().grew().await?;
        }
        Ok(())
    }

    /// Adds new contacts after those in the locked `totals`, in the order of their ids.
    pub(crate) async fn insert(
        self,
        transaction: &Transaction,
        totals: &mut ContactTotals,
        mut contacts: Vec<&Slot>,
        now: Timestamp,
    ) -> Result<()> {
        let company = self.company;
        contacts.sort_unstable_by_key(|slot| slot.id);
        let Some(lowest) = contacts.first().map(|slot| slot.id) else { return Ok(()) };
        let newest = self.newest(transaction, *totals).await?;
        let now = newest.map_or(now.millis(), |newest| newest.next(now.millis(), lowest));
        let placed = (totals.contacts..).zip(contacts.iter().copied());
        let own = placed.clone().flat_map(|(ordinal, slot)| ValueChange::of_new(ordinal, slot)).collect();
        let rows = self.person_rows(placed);
        let inserted =
            self.store.write(transaction, rows, vec![company.into(), now.into()], |rows, company| {
                let now = company + 1;
                format!(
                    "INSERT INTO contact (id, company_id, first_name, last_name, email, phone_number, phone,
                    phone_number_lid, profile_picture, search_text, tag_text, ordinal, created_at, updated_at)
                 SELECT id, ${company}, first_name, last_name, email, phone_number, phone, phone_number_lid,
                    profile_picture, search_text, tag_text, ordinal, ${now}, ${now} FROM {rows} AS rows"
                )
            });
        totals.contacts += inserted.await?.cast_signed();
        self.store.of(company).fields().write_values(transaction, own).await?;
        self.write_totals(transaction, *totals).await
    }

    /// Writes the changed slots; the number in the contact's tags follows its own. The slots are known to be the
    /// company's: with a condition on the company, SQLite would begin with all of its contacts.
    pub(crate) async fn update(
        self,
        transaction: &Transaction,
        totals: ContactTotals,
        slots: &[Slot],
        now: Timestamp,
    ) -> Result<()> {
        let changed = slots.iter().filter(|slot| slot.is_changed);
        let rows = self.person_rows(changed.map(|slot| (slot.ordinal, slot)));
        let updated = self.store.write(transaction, rows, vec![now.millis().into()], |rows, now| {
            format!(
                "UPDATE contact SET first_name = rows.first_name, last_name = rows.last_name,
                    email = rows.email, phone_number = rows.phone_number, phone = rows.phone,
                    phone_number_lid = rows.phone_number_lid, profile_picture = rows.profile_picture,
                    search_text = rows.search_text, tag_text = rows.tag_text, updated_at = ${now}
                 FROM {rows} AS rows WHERE contact.id = rows.id"
            )
        });
        if updated.await? == 0 {
            return Ok(());
        }
        let own = slots.iter().filter(|slot| slot.is_changed).flat_map(ValueChange::of_known).collect();
        self.store.of(self.company).fields().write_values(transaction, own).await?;
        let stale = slots.iter().filter(|slot| slot.is_stale).map(|slot| slot.ordinal);
        self.index().mark_stale(transaction, totals, stale).await?;

        let mut renumbered = Rows::new(self.store.backend, &[("id", Type::Uuid), ("phone", Type::Int)]);
        for slot in slots.iter().filter(|slot| slot.is_renumbered) {
            renumbered.push([slot.id.into(), Cell::Int(slot.phone.map(PhoneNumber::as_i64))]);
        }
        if renumbered.is_empty() {
            return Ok(());
        }
        let (rows, values) = renumbered.select(1);
        let update = format!(
            "UPDATE contact_tag SET phone = rows.phone FROM {rows} AS rows
             WHERE contact_tag.contact_id = rows.id"
        );
        execute(transaction, update, values).await?;
        Ok(())
    }

    /// [`PERSON`] rows, each slot with its ordinal.
    fn person_rows<'a>(self, contacts: impl Iterator<Item = (i64, &'a Slot)>) -> Bulk {
        let mut rows = Bulk::new(self.store.backend, PERSON);
        for (ordinal, Slot { id, person, phone, tag_text, .. }) in contacts {
            rows.push([
                (*id).into(),
                person.first_name.as_str().into(),
                person.last_name.as_str().into(),
                person.email.as_str().into(),
                person.phone_number.as_str().into(),
                Cell::Int(phone.map(PhoneNumber::as_i64)),
                Cell::Text(person.phone_number_lid.as_deref()),
                person.profile_picture.as_str().into(),
                person.search_text().as_str().into(),
                tag_text.as_str().into(),
                ordinal.into(),
            ]);
        }
        rows
    }

    /// Gives contacts tags that they do not have yet; the tags' counts follow. Both are known to be the company's: with
    /// a condition on the company, SQLite would read all pairs for each of its tags.
    pub(crate) async fn insert_pairs(
        self,
        transaction: &Transaction,
        pairs: impl Iterator<Item = (Uuid, Uuid, Option<PhoneNumber>)>,
    ) -> Result<()> {
        let company = self.company;
        let columns = &[("tag_id", Type::Uuid), ("contact_id", Type::Uuid), ("phone", Type::Int)];
        let mut rows = Bulk::new(self.store.backend, columns);
        let mut added: HashMap<Uuid, i64> = HashMap::new();
        for (tag, contact, phone) in pairs {
            *added.entry(tag).or_default() += 1;
            rows.push([tag.into(), contact.into(), Cell::Int(phone.map(PhoneNumber::as_i64))]);
        }
        if added.is_empty() {
            return Ok(());
        }
        let inserted = self.store.write(transaction, rows, vec![company.into()], |rows, company| {
            format!(
                "INSERT INTO contact_tag (tag_id, contact_id, company_id, phone)
                 SELECT tag_id, contact_id, ${company}, phone FROM {rows} AS rows"
            )
        });
        inserted.await?;

        let mut counts = Rows::new(self.store.backend, &[("id", Type::Uuid), ("contacts", Type::Int)]);
        added.into_iter().for_each(|(tag, contacts)| counts.push([tag.into(), contacts.into()]));
        let (counts, values) = counts.select(1);
        let update = format!(
            "UPDATE tag SET contacts = tag.contacts + added.contacts FROM {counts} AS added
             WHERE tag.id = added.id"
        );
        execute(transaction, update, values).await?;
        Ok(())
    }

    /// The folded names of the company's tags among these.
    async fn folded_names(self, transaction: &Transaction, tags: &[Uuid]) -> Result<Vec<String>> {
        let wanted = Rows::of_ids(self.store.backend, tags);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.behind([self.company.into()]);
        let select = format!(
            "SELECT tag.name_folded FROM {wanted} AS wanted CROSS JOIN tag
             WHERE tag.id = wanted.id AND tag.company_id = $1 AND tag.upkeep <> {DELETED}"
        );
        fetch(transaction, select, values).await
    }
}

impl AllContacts<'_> {
    /// The pace of a caller that writes repeatedly.
    pub fn pace(self) -> Pace {
        Pace {
            is_needed: self.store.backend == DbBackend::Sqlite,
            paused: Instant::now(),
            rows: *ROWS.end(),
            transaction: TRANSACTION,
        }
    }

    /// For background work in the process that sends: sends wait for one of its transactions at most.
    pub fn gentle_pace(self) -> Pace {
        let is_needed = self.store.backend == DbBackend::Sqlite;
        let rows = if is_needed { *ROWS.start() } else { *ROWS.end() };
        Pace { is_needed, paused: Instant::now(), rows, transaction: GENTLE_TRANSACTION }
    }

    /// To be called after many contacts were written: PostgreSQL updates the statistics that its plans use. By itself
    /// it would do so after a minute or more, and take the tables for small until then.
    pub async fn grew(self) -> Result<()> {
        if self.store.backend == DbBackend::Postgres {
            self.store.write.execute_unprepared("ANALYZE contact, contact_tag, contact_value, tag").await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_gets_as_many_rows_as_it_has_time_for() {
        let pace = |is_needed| Pace {
            is_needed,
            paused: Instant::now(),
            rows: *ROWS.end(),
            transaction: TRANSACTION,
        };
        let mut slow = pace(true);
        slow.wrote(slow.rows(), 2 * TRANSACTION);
        assert_eq!(slow.rows(), 1_000);
        slow.wrote(slow.rows(), TRANSACTION / 10);
        assert_eq!(slow.rows(), 1_250, "it rises gradually");
        slow.wrote(10, Duration::from_secs(60));
        assert_eq!(slow.rows(), 1_250, "a few rows tell nothing");
        slow.wrote(slow.rows(), Duration::from_secs(60));
        assert_eq!(slow.rows(), *ROWS.start());
        for _ in 0..20 {
            slow.wrote(slow.rows(), Duration::ZERO);
        }
        assert_eq!(slow.rows(), *ROWS.end());
        let mut free = pace(false);
        free.wrote(free.rows(), Duration::from_secs(60));
        assert_eq!(free.rows(), *ROWS.end(), "nobody waits for it");
    }

    #[test]
    fn a_transaction_is_filled_by_rows_and_not_by_contacts() {
        let pace =
            Pace { is_needed: true, paused: Instant::now(), rows: *ROWS.end(), transaction: TRANSACTION };
        let fitting = |rows: usize| pace.fitting(std::iter::repeat_n(rows, 5_000));
        assert_eq!((fitting(1), fitting(2), fitting(101)), (CONTACTS, 1_000, 19));
        assert_eq!(fitting(1_000_000), 1, "a contact is never divided");
        assert_eq!(pace.fitting([1_500, 400, 200, 1].into_iter()), 2);
        let small = Pace { rows: *ROWS.start(), ..pace };
        assert_eq!(small.fitting(std::iter::repeat_n(101, 9)), 1);
    }
}
