//! Reads an uploaded file from its pieces in the database, on a thread of its own.
//!
//! The writer of the rows sets the size of a lot, in rows that it writes: a contact with many tags becomes many. Each lot has the position at which reading can continue
//! after it.

use std::collections::VecDeque;
use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

use super::encoding::{self, Decoded, Invalid};
use super::header::Layout;
use super::reading::split;
use super::records::{Found, Records};
use super::reject_code::Coded;
use super::row::ReadRow;
use super::settings::Settings;
use super::{Error, Result, opening, row};
use domain::phone::Country;
use store::imports::{Rejected, Step};

/// Rows that are parsed at a time, and their text in bytes, with that of the last one: so many are held in memory beside the
/// lots.
const CHUNK_ROWS: usize = 256;
/// Rows of the file in one lot, however few rows of the database they become.
const MOST_IN_A_LOT: usize = 1_000;
const CHUNK_BYTES: usize = 256 * 1024;
/// The maximum of text that is kept of a rejected row, in bytes.
const LONGEST_REJECTED: usize = 4 * 1024;

/// The number of rows of the database that a lot becomes; the reader reads it before each lot.
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

/// What a file was found to hold, from its first row to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Its rows, without the header.
    pub rows: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Reads a file from a position on (bytes of the decoded text, and the line; both 0 for its first row) and
/// hands out its rows, by `settings`. Ends early when the receiver is gone. Returns what the whole file holds: the rows
/// before the position are counted, too, so that a caller can check that none of them was lost.
///
/// # Errors
///
/// When the file cannot be read by `settings`, or no row ends at the position.
pub fn read_stored(
    file: impl Read,
    settings: &Settings,
    position: (u64, u64),
    lot: &Lot,
    out: &mpsc::Sender<Step>,
) -> Result<Tally> {
    let mut rows = Rows::open(file, settings)?;
    rows.layout.check(1)?;
    if position.0 > 0 {
        let passed = rows.records.pass_to(position).map_err(|error| unread(&error))?;
        rows.read = passed.ok_or(Error::Misplaced { line: position.1 })?;
    }
    while let Some(step) = rows.next(lot.rows())? {
        if out.blocking_send(step).is_err() {
            break;
        }
    }
    Ok(Tally { rows: rows.read, bytes: rows.records.source().get_ref().consumed() })
}

/// The rows of a file whose header is read.
pub(super) struct Rows<R> {
    records: Records<BufReader<Decoded<R>>>,
    pub(super) layout: Layout,
    /// The tags that every contact gets.
    tags: Vec<String>,
    /// The country by whose rules numbers are read.
    country: Option<Country>,
    /// Rows that were read, whatever became of them.
    read: u64,
    /// Rows that are parsed and not handed out, in their order.
    parsed: VecDeque<Parsed>,
    /// Why reading failed, to be returned once the rows before are handed out.
    failed: Option<Error>,
}

/// The first rows of a file.
#[derive(Default)]
pub(super) struct FirstRows {
    pub(super) step: Step,
    /// The line of each draft.
    pub(super) lines: Vec<u64>,
    /// Malformed e-mail addresses, each with its line.
    pub(super) left_out: Vec<(u64, String)>,
}

/// A parsed row.
struct Parsed {
    line: u64,
    row: std::result::Result<ReadRow, Rejected>,
    /// The position after it.
    position: (u64, u64),
    /// Bytes of the file that were read for it.
    bytes_read: u64,
}

/// A record before it is divided into fields.
struct Raw {
    line: u64,
    /// Where it ends in the text that is divided.
    end: usize,
    position: (u64, u64),
    bytes_read: u64,
    /// It is rejected as a whole.
    rejected: Option<Rejected>,
}

impl<R: Read> Rows<R> {
    /// Reads the header.
    pub(super) fn open(file: R, settings: &Settings) -> Result<Self> {
        let encoding = encoding::named(Some(settings.encoding.as_str()).filter(|name| !name.is_empty()))?;
        let text = BufReader::with_capacity(64 * 1024, Decoded::new(file, encoding, Invalid::Mark));
        let records = Records::divided_by(settings.own_delimiter(), text);
        let mut records = records.map_err(|error| unread(&error))?;
        let (names, line) = opening::header(&mut records, |error| unread(&error))?;
        let layout = settings.layout(names, line)?;
        let (tags, country) = (settings.tags.clone(), settings.numbers_of());
        Ok(Self { records, layout, tags, country, read: 0, parsed: VecDeque::new(), failed: None })
    }

    /// The next rows of the file, which become at most `rows` rows of the database: contacts, their tags, and rejected
    /// rows. A row of the file that alone becomes more is the only one. `None` at the end of the file.
    pub(super) fn next(&mut self, rows: usize) -> Result<Option<Step>> {
        let (mut step, mut written) = (Step::default(), 0);
        let is_empty = |step: &Step| step.drafts.is_empty() && step.rejected.is_empty();
        loop {
            if self.parsed.is_empty() {
                let read = self.read_on(CHUNK_ROWS, CHUNK_BYTES, |_| ());
                match read {
                    Ok(parsed) if parsed.is_empty() => break,
                    Ok(parsed) => self.parsed.extend(parsed),
                    Err(error) if !is_empty(&step) => {
                        self.failed = Some(error);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            let Some(Parsed { row, position, bytes_read, .. }) = self.parsed.front() else { break };
            let own = match row {
                Ok(row) => row.draft.rows() + self.tags.len(),
                Err(_) => 1,
            };
            let is_full = written + own > rows || step.drafts.len() + step.rejected.len() == MOST_IN_A_LOT;
            if is_full && !is_empty(&step) {
                break;
            }
            written += own;
            (step.position, step.line) = *position;
            step.bytes_read = *bytes_read;
            match self.parsed.pop_front().map(|parsed| parsed.row) {
                Some(Ok(ReadRow { mut draft, left_out })) => {
                    draft.tags.extend_from_slice(&self.tags);
                    step.drafts.push(draft);
                    step.emails_left_out += u64::from(left_out.is_some());
                }
                Some(Err(rejected)) => step.rejected.push(rejected),
                None => break,
            }
        }
        Ok(Some(step).filter(|step| !is_empty(step)))
    }

    /// The next rows of the file, at most `rows`, as one step without the tags of the whole import; the line of each
    /// draft, and the addresses that are left out, with their lines. Calls `show` with each row before it is parsed.
    pub(super) fn beginning(&mut self, rows: usize, show: impl FnMut(&[&str])) -> Result<FirstRows> {
        let parsed = self.read_on(rows, usize::MAX, show)?;
        let mut beginning = FirstRows::default();
        for Parsed { line, row, position, bytes_read } in parsed {
            let step = &mut beginning.step;
            (step.position, step.line) = position;
            step.bytes_read = bytes_read;
            match row {
                Ok(ReadRow { draft, left_out }) => {
                    step.drafts.push(draft);
                    step.emails_left_out += u64::from(left_out.is_some());
                    beginning.lines.push(line);
                    beginning.left_out.extend(left_out.map(|text| (line, text)));
                }
                Err(rejected) => step.rejected.push(rejected),
            }
        }
        Ok(beginning)
    }

    /// The delimiter of the cells.
    pub(super) const fn delimiter(&self) -> u8 {
        self.records.delimiter()
    }

    /// Reads and parses the next rows of the file, at most `rows`, and `bytes` of text with the last row. If reading fails
    /// after some rows, the next call returns the failure.
    fn read_on(&mut self, rows: usize, bytes: usize, mut show: impl FnMut(&[&str])) -> Result<Vec<Parsed>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let (mut text, mut raw) = (Vec::new(), Vec::new());
        while raw.len() < rows && text.len() < bytes {
            let start = text.len();
            let next = match self.records.next(&mut text) {
                Ok(next) => next,
                Err(error) if !raw.is_empty() => {
                    text.truncate(start);
                    self.failed = Some(unread(&error));
                    break;
                }
                Err(error) => return Err(unread(&error)),
            };
            let Some(Found { line, broken }) = next else { break };
            self.read += 1;
            let rejected = broken.map(|broken| {
                let whole = String::from_utf8_lossy(&text[start..]);
                let whole = whole.trim_end_matches(['\r', '\n']);
                let rejected = rejected(line, &broken.to_string(), Coded::from(&broken), &[whole]);
                text.truncate(start);
                rejected
            });
            let bytes_read = self.records.source().get_ref().consumed();
            raw.push(Raw { line, end: text.len(), position: self.records.position(), bytes_read, rejected });
        }
        let mut drafts = VecDeque::new();
        split(&text, self.records.delimiter(), |start, fields| {
            show(fields);
            let draft = row::draft(&self.layout, fields, &self.tags, self.country).map_err(|refused| {
                // The line is known below.
                rejected(0, &refused.to_string(), Coded::from(&refused), fields)
            });
            drafts.push_back((start, draft));
            Ok(())
        })?;
        let mut parsed = Vec::with_capacity(raw.len());
        for Raw { line, end, position, bytes_read, rejected } in raw {
            let row = match rejected {
                Some(rejected) => Err(rejected),
                // Each record is one row: another number would give a row the fields of its neighbour.
                None => drafts.pop_front_if(|(start, _)| *start < end).ok_or(Error::Stopped)?.1,
            };
            let row = row.map_err(|rejected| Rejected { line, ..rejected });
            parsed.push(Parsed { line, row, position, bytes_read });
        }
        if drafts.is_empty() { Ok(parsed) } else { Err(Error::Stopped) }
    }
}

/// A rejected row, with its text cut to the maximum that is kept.
fn rejected(line: u64, reason: &str, (code, details): Coded, fields: &[&str]) -> Rejected {
    let mut room = LONGEST_REJECTED;
    let mut kept = Vec::new();
    for field in fields {
        let end = field.floor_char_boundary(room.min(field.len()));
        kept.push(encoding::shown(&field[..end].replace('\0', "")));
        room = room.saturating_sub(field.len().max(1));
        if room == 0 {
            break;
        }
    }
    let details = details.into_iter().map(|detail| encoding::shown(&detail.replace('\0', ""))).collect();
    Rejected {
        line,
        reason: encoding::shown(reason),
        code: Some(code.as_str().to_owned()),
        details,
        fields: kept,
    }
}

/// Why an uploaded file cannot be read.
pub(super) fn unread(error: &std::io::Error) -> Error {
    match encoding::malformed(error) {
        Some((line, offset, encoding)) => Error::NotEncoded { line, offset, encoding },
        None if error.kind() == std::io::ErrorKind::InvalidData => Error::Damaged(error.to_string()),
        None => Error::Unread(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
