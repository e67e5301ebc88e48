//! Reads an uploaded file from its pieces in the database, on a thread of its own.
//!
//! The writer of the rows sets the size of a lot. Each lot has the position at which reading can continue
//! after it.

use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

use super::encoding::{self, Decoded};
use super::header::Layout;
use super::reading::split;
use super::records::{Found, Records};
use super::reject_code::Coded;
use super::settings::Settings;
use super::{Error, Result, row};
use crate::store::imports::{Rejected, Step};

/// The longest header, in bytes.
pub const LONGEST_HEADER: usize = 256 * 1024;
/// The maximum of text that is kept of a rejected row, in bytes.
const LONGEST_REJECTED: usize = 4 * 1024;

/// The number of rows in a lot; the reader reads it before each lot.
#[derive(Debug)]
pub struct Lot(AtomicUsize);

impl Lot {
    /// A lot that begins with this many rows.
    pub const fn new(rows: usize) -> Self {
        Self(AtomicUsize::new(rows))
    }

    /// Sets the number of rows from the next lot on.
    pub fn set(&self, rows: usize) {
        self.0.store(rows, Ordering::Relaxed);
    }

    fn rows(&self) -> usize {
        self.0.load(Ordering::Relaxed).max(1)
    }
}

/// Reads a file from a position on (bytes of the decoded text, and the line; both 0 for its first row) and
/// hands out its rows, by `settings`. Ends early when the receiver is gone.
///
/// # Errors
///
/// When the file cannot be read by `settings`.
pub fn read_stored(
    file: impl Read,
    settings: &Settings,
    position: (u64, u64),
    lot: &Lot,
    out: &mpsc::Sender<Step>,
) -> Result<()> {
    let mut rows = Rows::open(file, settings)?;
    rows.layout.check(1)?;
    if position.0 > 0 {
        rows.records.skip_to(position).map_err(|error| unread(&error))?;
    }
    while let Some(step) = rows.next(lot.rows())? {
        if out.blocking_send(step).is_err() {
            break;
        }
    }
    Ok(())
}

/// The rows of a file whose header is read.
pub(super) struct Rows<R> {
    records: Records<BufReader<Decoded<R>>>,
    pub(super) layout: Layout,
    tags: Vec<String>,
}

impl<R: Read> Rows<R> {
    /// Reads the header.
    pub(super) fn open(file: R, settings: &Settings) -> Result<Self> {
        let encoding = encoding::named(Some(settings.encoding.as_str()).filter(|name| !name.is_empty()))?;
        let text = BufReader::with_capacity(64 * 1024, Decoded::new(file, encoding));
        let mut records = Records::new(text).map_err(|error| unread(&error))?;
        let mut header = Vec::new();
        let Found { line, broken } =
            records.next(&mut header).map_err(|error| unread(&error))?.ok_or(Error::Empty)?;
        if let Some(broken) = broken {
            return Err(Error::Header { line, fault: broken.to_string() });
        }
        let mut names = Vec::new();
        split(&header, records.delimiter(), |_, fields| {
            names = fields.iter().map(|name| (*name).trim().to_owned()).collect();
            Ok(())
        })?;
        let layout = Layout::lenient(names, line, &settings.mappings())?;
        Ok(Self { records, layout, tags: settings.tags.clone() })
    }

    /// The next rows, at most `rows`; `None` at the end of the file.
    pub(super) fn next(&mut self, rows: usize) -> Result<Option<Step>> {
        let (found, _) = self.next_with(rows, |_| ())?;
        Ok(found)
    }

    /// Like [`Rows::next`], and calls `show` with each row before it is parsed. Also returns whether a read failed
    /// after these rows: the next call returns the failure.
    pub(super) fn next_with(
        &mut self,
        rows: usize,
        mut show: impl FnMut(&[&str]),
    ) -> Result<(Option<Step>, bool)> {
        let mut text = Vec::new();
        let mut lines = Vec::new();
        let mut step = Step::default();
        let mut is_cut = false;
        while lines.len() + step.rejected.len() < rows {
            let start = text.len();
            let next = match self.records.next(&mut text) {
                Ok(next) => next,
                Err(_) if !lines.is_empty() || !step.rejected.is_empty() => {
                    // The next call returns the failure, when these rows are written.
                    text.truncate(start);
                    is_cut = true;
                    break;
                }
                Err(error) => return Err(unread(&error)),
            };
            let Some(Found { line, broken }) = next else { break };
            match broken {
                None => lines.push((start, line)),
                Some(broken) => {
                    let raw = String::from_utf8_lossy(&text[start..]);
                    let raw = raw.trim_end_matches(['\r', '\n']);
                    step.rejected.push(rejected(line, broken.to_string(), Coded::from(&broken), &[raw]));
                    text.truncate(start);
                }
            }
        }
        if lines.is_empty() && step.rejected.is_empty() {
            return Ok((None, is_cut));
        }
        split(&text, self.records.delimiter(), |start, fields| {
            show(fields);
            match row::draft(&self.layout, fields) {
                Ok(mut draft) => {
                    draft.tags.extend_from_slice(&self.tags);
                    step.drafts.push(draft);
                }
                Err(refused) => {
                    let line = lines.partition_point(|(begins, _)| *begins <= start);
                    let line = lines.get(line.saturating_sub(1)).map_or(0, |(_, line)| *line);
                    step.rejected.push(rejected(line, refused.to_string(), Coded::from(&refused), fields));
                }
            }
            Ok(())
        })?;
        step.rejected.sort_by_key(|rejected| rejected.line);
        (step.position, step.line) = self.records.position();
        step.bytes_read = self.records.source().get_ref().consumed();
        Ok((Some(step), is_cut))
    }
}

/// A rejected row, with its text cut to the maximum that is kept.
fn rejected(line: u64, reason: String, (code, details): Coded, fields: &[&str]) -> Rejected {
    let mut room = LONGEST_REJECTED;
    let mut kept = Vec::new();
    for field in fields {
        let end = field.floor_char_boundary(room.min(field.len()));
        kept.push(field[..end].replace('\0', ""));
        room = room.saturating_sub(field.len().max(1));
        if room == 0 {
            break;
        }
    }
    let details = details.into_iter().map(|detail| detail.replace('\0', "")).collect();
    Rejected { line, reason, code: Some(code.as_str().to_owned()), details, fields: kept }
}

/// Why an uploaded file cannot be read.
fn unread(error: &std::io::Error) -> Error {
    match encoding::malformed(error) {
        Some((line, offset, encoding)) => Error::NotEncoded { line, offset, encoding },
        None => Error::Unread(error.to_string()),
    }
}
