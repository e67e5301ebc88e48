//! Maintains the search index, one segment at a time, for contacts that were added or changed.
//!
//! A segment is read and built while others write, and then written in one transaction. Contacts that are in no segment
//! yet, or changed since, are read one by one by a search, so that it misses nothing and finds nothing outdated; the
//! index only makes it fast. Called by imports and by the engine's background step.

use uuid::Uuid;

use super::segment::Builder;
use crate::contacts::totals::ContactTotals;
use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, ContactIndex};
use crate::one_row::delete_rows;
use crate::{Error, Result, Transaction, execute, fetch, fetch_one};

/// Contacts of one segment: few enough that a search reads the contacts behind the last segment in some milliseconds,
/// and that writing a segment does not delay accepted sends for long; enough that a search has few lists to fetch.
const SEGMENT: u32 = 8_192;

/// How thoroughly the index is maintained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// While more is being written: a segment is rebuilt once a quarter of it is outdated.
    Passing,
    /// When no more writes are expected: until little is outdated.
    Thorough,
}

/// The contacts to index in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Task {
    /// The segment that is rebuilt; `None` for contacts that are in no segment yet.
    replaced: Option<i64>,
    first: i64,
    contacts: i64,
}

/// A built segment that waits to be written.
#[derive(Debug)]
pub struct Prepared {
    company: Uuid,
    task: Task,
    /// The contacts that were stale when the texts were read, with their numbers of changes.
    stale: Vec<(i64, i64)>,
    lists: Vec<(i64, Vec<u8>)>,
}

impl ContactIndex<'_> {
    /// Takes one step of indexing the contacts of `company`, of some hundred milliseconds at most. Returns whether
    /// there was a step to take. Several callers may index one company at the same time.
    pub async fn step(self, care: Care) -> Result<bool> {
        self.step_by(care, SEGMENT).await
    }

    /// As [`ContactIndex::step`](crate::ContactIndex::step), in segments of `segment` contacts.
    pub async fn step_by(self, care: Care, segment: u32) -> Result<bool> {
        let Some(prepared) = self.prepare(care, segment).await? else { return Ok(false) };
        self.store.contacts().write_segment(prepared).await?;
        Ok(true)
    }

    /// The longer part of a step, during which others write; `None` when there is no step to take.
    pub async fn prepare_segment(self, care: Care) -> Result<Option<Prepared>> {
        self.prepare(care, SEGMENT).await
    }

    async fn prepare(self, care: Care, segment: u32) -> Result<Option<Prepared>> {
        let company = self.company;
        let Some(task) = self.task(care, i64::from(segment)).await? else {
            return Ok(None);
        };
        self.claim(task).await?;
        // The stale contacts are read first, then the texts: a change in between is read, and its contact stays stale.
        let stale = self.stale_in(task).await?;
        let lists = self.lists(task).await?;
        Ok(Some(Prepared { company, task, stale, lists }))
    }

    async fn task(self, care: Care, segment: i64) -> Result<Option<Task>> {
        let totals = self.store.of(self.company).contacts().totals(&self.store.read).await?;
        if totals.contacts - totals.indexed >= segment {
            return Ok(Some(Task { replaced: None, first: totals.indexed, contacts: segment }));
        }
        let bound = match care {
            Care::Passing => segment / 4,
            Care::Thorough => segment / 2,
        };
        let stale = "SELECT count(*) FROM contact_stale WHERE company_id = $1";
        if self.store.count(stale.to_owned(), vec![self.company.into()]).await?.cast_signed() < bound {
            return Ok(None);
        }
        let worst = "SELECT id, first, contacts, (
                SELECT count(*) FROM contact_stale WHERE contact_stale.company_id = $1
                AND ordinal >= first AND ordinal < first + contacts
             ) AS stale
             FROM contact_segment WHERE company_id = $1 ORDER BY stale DESC, first LIMIT 1";
        let row = fetch_one::<(i64, i64, i64, i64)>(&self.store.read, worst, [self.company.into()]).await?;
        let Some((id, first, contacts, stale)) = row else { return Ok(None) };
        if stale == 0 || (care == Care::Passing && stale < bound) {
            return Ok(None);
        }
        Ok(Some(Task { replaced: Some(id), first, contacts }))
    }

    /// From here on a change of the task's contacts marks them as stale.
    async fn claim(self, task: Task) -> Result<()> {
        let claim = "UPDATE contact_book SET claimed = $2 WHERE company_id = $1 AND claimed < $2";
        let values = [self.company.into(), (task.first + task.contacts).into()];
        execute(&self.store.write, claim, values).await?;
        Ok(())
    }

    async fn stale_in(self, task: Task) -> Result<Vec<(i64, i64)>> {
        let select = "SELECT ordinal, changes FROM contact_stale
             WHERE company_id = $1 AND ordinal >= $2 AND ordinal < $3";
        let values = [self.company.into(), task.first.into(), (task.first + task.contacts).into()];
        fetch(&self.store.read, select, values).await
    }

    /// The lists of the task's contacts.
    async fn lists(self, task: Task) -> Result<Vec<(i64, Vec<u8>)>> {
        let select = "SELECT ordinal, search_text, tag_text FROM contact
             WHERE company_id = $1 AND ordinal >= $2 AND ordinal < $3 ORDER BY ordinal";
        let values = [self.company.into(), task.first.into(), (task.first + task.contacts).into()];
        let texts = fetch::<(i64, String, String)>(&self.store.read, select, values).await?;
        let build = move || {
            let mut builder = Builder::default();
            let mut next = task.first;
            for (ordinal, search_text, tag_text) in &texts {
                // Deleted contacts keep their places in the segment, with empty texts.
                (next..*ordinal).for_each(|_| builder.add("", ""));
                builder.add(search_text, tag_text);
                next = ordinal + 1;
            }
            (next..task.first + task.contacts).for_each(|_| builder.add("", ""));
            builder.finish()
        };
        let built = tokio::task::spawn_blocking(build).await;
        built.map_err(|error| Error::Unavailable(format!("indexing was interrupted: {error}")))
    }

    async fn insert_segment(
        self,
        transaction: &Transaction,
        task: Task,
        lists: &[(i64, Vec<u8>)],
    ) -> Result<()> {
        let insert =
            "INSERT INTO contact_segment (company_id, first, contacts) VALUES ($1, $2, $3) RETURNING id";
        let values = [self.company.into(), task.first.into(), task.contacts.into()];
        let id: i64 = fetch_one(transaction, insert, values).await?.unwrap_or_default();
        // All lists are one value that the database cuts up: in JSON, each would be written as digits.
        let columns = &[("gram", Type::Int), ("start", Type::Int), ("length", Type::Int)];
        let mut rows = Rows::new(self.store.backend, columns);
        let mut all = Vec::new();
        for (gram, places) in lists {
            rows.push([(*gram).into(), (all.len() as i64 + 1).into(), (places.len() as i64).into()]);
            all.extend_from_slice(places);
        }
        let (rows, values) = rows.behind([id.into(), all.into()]);
        let insert = format!(
            "INSERT INTO contact_gram (segment_id, gram, places)
             SELECT $1, gram, substr($2, CAST(start AS INTEGER), CAST(length AS INTEGER)) FROM {rows} AS rows"
        );
        execute(transaction, insert, values).await?;
        Ok(())
    }

    /// Unmarks the stale contacts that did not change since they were read.
    async fn refresh(self, transaction: &Transaction, stale: &[(i64, i64)]) -> Result<()> {
        let mut rows = Rows::new(self.store.backend, &[("ordinal", Type::Int), ("changes", Type::Int)]);
        stale.iter().for_each(|(ordinal, changes)| rows.push([(*ordinal).into(), (*changes).into()]));
        if rows.is_empty() {
            return Ok(());
        }
        let (rows, values) = rows.behind([self.company.into()]);
        let remove = format!(
            "DELETE FROM contact_stale WHERE company_id = $1
             AND (ordinal, changes) IN (SELECT ordinal, changes FROM {rows} AS rows)"
        );
        execute(transaction, remove, values).await?;
        Ok(())
    }

    /// Marks these contacts, whose searched texts changed, as stale, if they are or may be indexed.
    pub(crate) async fn mark_stale(
        self,
        transaction: &Transaction,
        totals: ContactTotals,
        ordinals: impl Iterator<Item = i64>,
    ) -> Result<()> {
        let ordinals = ordinals.filter(|ordinal| *ordinal < totals.claimed);
        let rows = Rows::of_ordinals(self.store.backend, ordinals);
        if rows.is_empty() {
            return Ok(());
        }
        let (rows, values) = rows.behind([self.company.into()]);
        // `WHERE true` tells SQLite that `ON` belongs to the insert and not to a join.
        let insert = format!(
            "INSERT INTO contact_stale (company_id, ordinal, changes)
             SELECT $1, ordinal, 1 FROM {rows} AS rows WHERE true
             ON CONFLICT (company_id, ordinal) DO UPDATE SET changes = contact_stale.changes + 1"
        );
        execute(transaction, insert, values).await?;
        Ok(())
    }
}

impl AllContacts<'_> {
    /// The second part of a step: writes the segment, unless another process was faster.
    pub async fn write_segment(self, prepared: Prepared) -> Result<()> {
        let Prepared { company, task, stale, lists } = prepared;
        let transaction = self.store.begin().await?;
        let mut totals = self.store.of(company).contacts().lock_totals(&transaction).await?;
        let overtaken = match task.replaced {
            None => totals.indexed != task.first,
            Some(id) => !self.remove_segment(&transaction, id).await?,
        };
        if overtaken {
            return Ok(transaction.rollback().await?);
        }
        self.store.of(company).index().insert_segment(&transaction, task, &lists).await?;
        self.store.of(company).index().refresh(&transaction, &stale).await?;
        if task.replaced.is_none() {
            totals.indexed = task.first + task.contacts;
            self.store.of(company).contacts().write_totals(&transaction, totals).await?;
        }
        transaction.commit().await.map_err(Error::while_committing)
    }

    /// The companies whose index is far behind: it was never built, or its upkeep was interrupted.
    pub async fn badly_indexed(self) -> Result<Vec<Uuid>> {
        // A company with an import under way stays below these bounds: the import indexes its contacts.
        let select = "SELECT company_id FROM contact_book WHERE contacts - indexed >= $1
             UNION SELECT company_id FROM contact_stale GROUP BY company_id HAVING count(*) >= $2";
        let values = [i64::from(4 * SEGMENT).into(), i64::from(SEGMENT / 2).into()];
        fetch(&self.store.read, select, values).await
    }

    /// Returns whether the segment existed.
    async fn remove_segment(self, transaction: &Transaction, id: i64) -> Result<bool> {
        let there = delete_rows(transaction, "contact_segment", [("id", id.into())]).await? > 0;
        delete_rows(transaction, "contact_gram", [("segment_id", id.into())]).await?;
        Ok(there)
    }
}
