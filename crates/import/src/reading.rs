//! Reads a file of contacts in batches, on a thread of its own.
//!
//! Faults of the file are found before the first batch is handed out. This module writes rejected rows to
//! their file; the batch only counts them.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use super::contacts::Options;
use super::encoding::{self, Decoded, Invalid};
use super::header::Layout;
use super::inspection::{GUESSED, Inspection};
use super::records::{Found, Records};
use super::rejects::Rejects;
use super::{Error, Result, opening, row, sheet};
use domain::own_field::OwnField;
use domain::phone::Country;
use store::ContactDraft;

/// Rows of one batch: enough that the fixed cost of a statement does not matter, and few enough that the
/// database's write lock is held for only some tens of milliseconds, so that sends are accepted in between.
const BATCH: usize = 1_000;
/// Text of one batch, in bytes, with its last row: the memory of a batch is bounded whatever its rows hold.
const BATCH_BYTES: usize = 1024 * 1024;

/// Some parsed rows of the file.
pub(super) struct Batch {
    pub(super) drafts: Vec<ContactDraft>,
    pub(super) rejected: u64,
    /// The contacts whose e-mail address was none.
    pub(super) emails_left_out: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes_total: u64,
}

/// What a file was found to hold.
pub(super) struct Whole {
    /// Its rows, without the header.
    pub(super) rows: u64,
    /// Where the rejected rows are.
    pub(super) rejects: Option<PathBuf>,
    /// The columns that nothing was read from.
    pub(super) ignored_columns: Vec<String>,
}

/// Reads the whole file into batches, for a company with these own fields; ends early when the receiver is gone.
pub(super) fn read(
    path: &Path,
    options: &Options,
    own: &[OwnField],
    batches: &mpsc::Sender<Batch>,
) -> Result<Whole> {
    let (text, bytes_total, delimiter) = if is_workbook(path)? {
        let (text, length) = sheet::converted(path)?;
        (Decoded::new(text, encoding_rs::UTF_8, Invalid::Mark), length, Some(sheet::DELIMITER))
    } else {
        let (encoding, invalid) = encoding(path, options.encoding.as_deref(), options.country)?;
        let bytes_total = encoding::check(path, encoding, invalid)?;
        (encoding::open(path, encoding, invalid)?, bytes_total, None)
    };
    let mut reading = FileReading::open(path, (text, delimiter), options, own)?;
    while let Some(mut batch) = reading.batch()? {
        batch.bytes_total = bytes_total;
        if batches.blocking_send(batch).is_err() {
            break;
        }
    }
    let ignored_columns = reading.layout.ignored();
    Ok(Whole { rows: reading.read, rejects: reading.rejects.finish()?, ignored_columns })
}

/// Whether the file begins like a workbook.
pub(super) fn is_workbook(path: &Path) -> Result<bool> {
    let mut beginning = Vec::new();
    encoding::open_file(path)?.take(4).read_to_end(&mut beginning).map_err(Error::read(path))?;
    Ok(sheet::is_workbook(&beginning))
}

/// The encoding of a file, and what its wrong bytes become: with a guess, only their rows are rejected.
pub(super) fn encoding(
    path: &Path,
    label: Option<&str>,
    country: Option<Country>,
) -> Result<(&'static encoding_rs::Encoding, Invalid)> {
    /// Bytes in each read.
    const PIECE: usize = 64 * 1024;
    let named = encoding::named(label.filter(|label| *label != GUESSED))?;
    // A file of another format is refused by its first bytes, before it is taken for a bad CSV file.
    let mut inspection = Inspection::new(Some(GUESSED), country)?;
    let mut file = encoding::open_file(path)?;
    let mut piece = vec![0; PIECE];
    let mut length = file.read(&mut piece).map_err(Error::read(path))?;
    if label != Some(GUESSED) {
        let beginning = inspection.feed(&piece[..length]).and_then(|()| inspection.finish());
        return match beginning {
            Err(error @ Error::NotCsv(_)) => Err(error),
            Ok(_) | Err(_) => Ok((named, Invalid::Failure)),
        };
    }
    while length > 0 {
        inspection.feed(&piece[..length])?;
        length = file.read(&mut piece).map_err(Error::read(path))?;
    }
    Ok((encoding::named(Some(inspection.finish()?.encoding))?, Invalid::Mark))
}

struct FileReading<'a> {
    path: &'a Path,
    records: Records<BufReader<Decoded<File>>>,
    layout: Layout,
    options: &'a Options,
    rejects: Rejects,
    /// Rows that were read, whatever became of them.
    read: u64,
}

impl<'a> FileReading<'a> {
    /// Reads the header.
    fn open(
        path: &'a Path,
        (text, delimiter): (Decoded<File>, Option<u8>),
        options: &'a Options,
        own: &[OwnField],
    ) -> Result<Self> {
        let explain = |error| encoding::explain(path, error);
        let text = BufReader::with_capacity(64 * 1024, text);
        let mut records = Records::divided_by(delimiter, text).map_err(explain)?;
        let (names, line) = opening::header(&mut records, explain)?;
        let layout = Layout::lenient(names, line, (&options.mappings, &[]), own)?;
        layout.check(line)?;
        let rejects = Rejects::new(path, &layout.header);
        Ok(Self { path, records, layout, options, rejects, read: 0 })
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
            self.read += 1;
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
        let (mut drafts, mut emails_left_out) = (Vec::with_capacity(lines.len()), 0);
        split(&text, self.records.delimiter(), |start, fields| {
            match row::draft(&self.layout, fields, &self.options.tags, self.options.country) {
                Ok(row) => {
                    drafts.push(row.draft);
                    emails_left_out += u64::from(row.left_out.is_some());
                }
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
        let rejected = rejected as u64;
        Ok(Some(Batch { drafts, rejected, emails_left_out, bytes_read, bytes_total: 0 }))
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
