//! Reads a file of contacts in batches, on a thread of its own.
//!
//! Faults of the file are found before the first batch is handed out. This module writes rejected rows to
//! their file; the batch only counts them.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use super::contacts::Options;
use super::encoding::{self, Decoded};
use super::header::{self, Layout};
use super::records::{Found, Records};
use super::rejects::Rejects;
use super::{Error, Result, row};
use crate::store::ContactDraft;

/// Rows of one batch: enough that the fixed cost of a statement does not matter, and few enough that the
/// database's write lock is held for only some tens of milliseconds, so that sends are accepted in between.
const BATCH: usize = 1_000;
/// Text of one batch, in bytes, with its last row: the memory of a batch is bounded whatever its rows hold.
const BATCH_BYTES: usize = 1024 * 1024;

/// Some parsed rows of the file.
pub(super) struct Batch {
    pub(super) drafts: Vec<ContactDraft>,
    pub(super) rejected: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes_total: u64,
}

/// Reads the whole file into batches; ends early when the receiver is gone.
pub(super) fn read(path: &Path, options: &Options, batches: &mpsc::Sender<Batch>) -> Result<Option<PathBuf>> {
    let encoding = encoding::named(options.encoding.as_deref())?;
    let mut reading = Reading::open(path, encoding::open(path, encoding)?, options)?;
    let bytes_total = encoding::check(path, encoding)?;
    while let Some(mut batch) = reading.batch()? {
        batch.bytes_total = bytes_total;
        if batches.blocking_send(batch).is_err() {
            break;
        }
    }
    reading.rejects.finish()
}

struct Reading<'a> {
    path: &'a Path,
    records: Records<BufReader<Decoded<File>>>,
    layout: Layout,
    /// The tags that every contact gets.
    tags: &'a [String],
    rejects: Rejects,
}

impl<'a> Reading<'a> {
    /// Reads the header.
    fn open(path: &'a Path, text: Decoded<File>, options: &'a Options) -> Result<Self> {
        let explain = |error| encoding::explain(path, error);
        let mut records = Records::new(BufReader::with_capacity(64 * 1024, text)).map_err(explain)?;
        let mut header = Vec::new();
        let Found { line, broken } = records.next(&mut header).map_err(explain)?.ok_or(Error::Empty)?;
        let fault = if header.contains(&0) {
            Some("it holds NUL characters; if it is UTF-16, say so with --encoding utf-16le".to_owned())
        } else {
            broken.map(|broken| broken.to_string())
        };
        if let Some(fault) = fault {
            return Err(Error::Header { line, fault });
        }
        header::check_length(&header, line)?;
        let mut names = Vec::new();
        split(&header, records.delimiter(), |_, fields| {
            names = fields.iter().map(|name| (*name).to_owned()).collect();
            Ok(())
        })?;
        let layout = Layout::new(names, line, &options.mappings)?;
        let rejects = Rejects::new(path, &layout.header);
        Ok(Self { path, records, layout, tags: &options.tags, rejects })
    }

    /// The next rows, at most [`BATCH`]; `None` at the end of the file.
    fn batch(&mut self) -> Result<Option<Batch>> {
        let mut text = Vec::new();
        let mut lines = Vec::new();
        let mut rejected = 0;
        while lines.len() + rejected < BATCH && text.len() < BATCH_BYTES {
            let start = text.len();
            let next = self.records.next(&mut text).map_err(|error| encoding::explain(self.path, error))?;
            let Some(Found { line, broken }) = next else { break };
            match broken {
                None => lines.push((start, line)),
                Some(broken) => {
                    let raw = String::from_utf8_lossy(&text[start..]);
                    let raw = raw.trim_end_matches(['\r', '\n']);
                    self.rejects.add(line, &broken.to_string(), &[raw])?;
                    rejected += 1;
                    text.truncate(start);
                }
            }
        }
        if lines.is_empty() && rejected == 0 {
            return Ok(None);
        }
        let mut drafts = Vec::with_capacity(lines.len());
        split(&text, self.records.delimiter(), |start, fields| {
            match row::draft(&self.layout, fields, self.tags) {
                Ok(draft) => drafts.push(draft),
                Err(refused) => {
                    let line = lines.partition_point(|(begins, _)| *begins <= start);
                    let line = lines.get(line.saturating_sub(1)).map_or(0, |(_, line)| *line);
                    self.rejects.add(line, &refused.to_string(), fields)?;
                    rejected += 1;
                }
            }
            Ok(())
        })?;
        let bytes_read = self.records.source().get_ref().consumed();
        Ok(Some(Batch { drafts, rejected: rejected as u64, bytes_read, bytes_total: 0 }))
    }
}

/// Calls `each` with the position and the fields of each record of `text`.
pub(super) fn split(
    text: &[u8],
    delimiter: u8,
    mut each: impl FnMut(usize, &[&str]) -> Result<()>,
) -> Result<()> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text);
    for record in reader.records() {
        // Only a failed read or bytes that are not UTF-8 fail, and `text` is decoded text in memory.
        let Ok(record) = record else { return Err(Error::Stopped) };
        let start = record.position().map_or(0, csv::Position::byte);
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        // The crate counts the second half of a line end as part of the next record.
        let ends = text.get(start..).unwrap_or_default().iter();
        let start = start + ends.take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let fields: Vec<&str> = record.iter().collect();
        each(start, &fields)?;
    }
    Ok(())
}
