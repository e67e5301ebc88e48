//! The import of a file of contacts.
//!
//! A thread reads and parses the file while the previous batch is written. Each batch is committed by itself, or in
//! parts small enough that other writers do not wait long. An interrupted import is finished by running it again.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::encoding;
use super::header::Mapping;
use super::indexing::Indexing;
use super::inspection::GUESSED;
use super::reading::{self, Batch, Whole};
use super::{Error, Result};
use clock::Timestamp;
use domain::contact::MOST_TAGS;
use domain::phone::Country;
use store::changes::{ContactRecord, Who};
use store::imports::Counts;
use store::{ContactDraft, Names, Store};

/// Batches that may wait to be written.
const AHEAD: usize = 2;

/// The number of contacts after which the database first updates its statistics; then again whenever their number has
/// grown fourfold.
const FIRST_COUNT: u64 = 4_096;
const COUNTED_AGAIN: u64 = 4;

/// The caller's options for a file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The file's encoding, by a label of the web's encoding standard, if it has no byte-order mark and is
    /// not UTF-8; `auto` guesses.
    pub encoding: Option<String>,
    /// The fields of columns whose names are unknown.
    pub mappings: Vec<Mapping>,
    /// Names of tags that every contact of the file gets in addition to the tags in its row; with them, at most
    /// [`MOST_TAGS`].
    pub tags: Vec<String>,
    /// The country by whose rules numbers without a plus sign are read; without one, they are international.
    pub country: Option<Country>,
    /// Whether a name that looks wrongly decoded replaces a good one.
    pub replaces_names: bool,
}

/// The progress of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that are read.
    pub bytes_read: u64,
    /// Bytes of the file.
    pub bytes_total: u64,
    /// Rows read, without the header.
    pub rows: u64,
    /// Their outcomes.
    pub counts: Counts,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The outcomes of the rows.
    #[serde(flatten)]
    pub counts: Counts,
    /// Where the rejected rows are; `None` when there are none.
    pub rejects_file: Option<PathBuf>,
    /// The columns that nothing was read from, because no field is known for their names.
    pub ignored_columns: Vec<String>,
}

/// Imports the contacts in the file at `path` into `company`, and calls `progress` after each batch.
///
/// Contacts are matched as [`Contacts::upsert`](store::Contacts::upsert) describes; running the same import again changes
/// nothing. The record of changes has the author and the numbers of created and updated contacts.
///
/// # Errors
///
/// When the file cannot be read, decoded or parsed, nothing is imported. When the database fails, the earlier
/// batches stay.
pub async fn contacts(
    store: &Store,
    who: &Who,
    company: Uuid,
    path: &Path,
    options: &Options,
    mut progress: impl FnMut(&Progress),
) -> Result<Summary> {
    if options.tags.len() > MOST_TAGS {
        return Err(Error::TooManyTags { found: options.tags.len() });
    }
    // A mistyped label is told before the file is looked at.
    encoding::named(options.encoding.as_deref().filter(|label| *label != GUESSED))?;
    let (batches, mut arriving) = mpsc::channel(AHEAD);
    let own = store.of(company).fields().all().await?;
    let (file, given) = (path.to_owned(), options.clone());
    let reading = tokio::task::spawn_blocking(move || reading::read(&file, &given, &own, &batches));
    let names = if options.replaces_names { Names::Replace } else { Names::KeepGood };
    let (mut so_far, mut record) = (Progress::default(), ContactRecord::new(who, company));
    let mut indexing = Indexing::new(store, company, store.contacts().pace());
    // Query plans that were made for a small table read the whole table for each batch.
    let mut next_count = FIRST_COUNT;
    while let Some(batch) = arriving.recv().await {
        let Batch { mut drafts, rejected, emails_left_out, bytes_read, bytes_total } = batch;
        so_far.counts.emails_left_out += emails_left_out;
        let mut left = drafts.as_mut_slice();
        while !left.is_empty() {
            let tags = options.tags.len();
            let fitting = indexing.pace().fitting(left.iter().map(|draft| draft.rows() + tags));
            let (lot, rest) = std::mem::take(&mut left).split_at_mut(fitting);
            lot.iter_mut().for_each(|draft| draft.tags.extend_from_slice(&options.tags));
            let started = Instant::now();
            let (results, kept) =
                store.of(company).contacts().import_drafts(&mut record, lot, names, Timestamp::now()).await?;
            so_far.counts.names_kept += kept;
            let rows = lot.iter().map(ContactDraft::rows).sum();
            indexing.written(rows, started.elapsed()).await?;
            // Only the rows that are being written hold the tags of the whole import.
            lot.iter_mut().for_each(|draft| draft.tags.clear());
            results.iter().for_each(|(_, result)| so_far.counts.add(*result));
            left = rest;
        }
        let without_number = drafts.iter().filter(|draft| draft.person.phone().is_none()).count();
        so_far.counts.without_number += without_number as u64;
        so_far.counts.rejected += rejected;
        so_far.rows += drafts.len() as u64 + rejected;
        (so_far.bytes_read, so_far.bytes_total) = (bytes_read, bytes_total);
        if so_far.counts.created >= next_count {
            store.contacts().grew().await?;
            next_count = so_far.counts.created.saturating_mul(COUNTED_AGAIN);
        }
        progress(&so_far);
    }
    indexing.finish().await?;
    if so_far.counts.created > 0 {
        store.contacts().grew().await?;
    }
    let Whole { rows, rejects, ignored_columns } = reading.await.map_err(|_| Error::Stopped)??;
    let counts = so_far.counts;
    let written = counts.rows();
    if written != rows {
        return Err(Error::Miscounted { rows, written });
    }
    Ok(Summary { counts, rejects_file: rejects, ignored_columns })
}
