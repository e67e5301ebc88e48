//! The preview of an uploaded file before it is imported.

use std::io::Cursor;

use super::header::Field;
use super::settings::{Settings, TAG_SEPARATORS};
use super::stored::{FirstRows, Rows};
use super::{Error, Result, encoding};
use store::imports::Step;

/// Rows that are shown.
const SHOWN: usize = 10;

/// The preview of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The columns, each with its field.
    pub columns: Vec<(String, Option<Field>)>,
    /// A sentence that says why the file cannot be imported without a change.
    pub problem: Option<String>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// The first rows, parsed; more rows than are shown.
    pub step: Step,
    /// The line of each draft.
    pub lines: Vec<u64>,
    /// Malformed e-mail addresses, each with its line: their contacts are written without them.
    pub left_out: Vec<(u64, String)>,
    /// Whether these are all rows of the file.
    pub is_whole: bool,
    /// What separates the cells.
    pub delimiter: char,
    /// What seems to separate the tags of a cell; `None` for a file without tags, and for an export of Pombo, in which a
    /// semicolon does.
    pub tag_separator: Option<char>,
}

/// Reads at most `rows` rows of a file that begins with these bytes, which may be the whole file.
///
/// # Errors
///
/// When the header cannot be read.
pub fn preview(beginning: &[u8], is_all: bool, settings: &Settings, rows: usize) -> Result<Preview> {
    // An incomplete last line is not shown.
    let end = if is_all { beginning.len() } else { last_line_end(beginning) };
    let mut read = Rows::open(Cursor::new(&beginning[..end]), settings)?;
    let names = read.layout.header.iter().enumerate();
    let columns: Vec<_> = names.map(|(index, name)| (name.clone(), read.layout.field(index))).collect();
    let problem = match read.layout.check(1) {
        Ok(()) => None,
        Err(Error::NoKnownColumn { .. }) => Some(
            "no column is known to hold a phone number or an e-mail address: say which one does".to_owned(),
        ),
        Err(other) => Some(other.to_string()),
    };
    let tags: Vec<usize> = read.layout.columns(Field::Tags).collect();
    let may_differ = !tags.is_empty() && !read.layout.is_own;
    let (mut shown, mut separated) = (Vec::new(), [0_u64; TAG_SEPARATORS.len()]);
    let FirstRows { step, lines, left_out } = read.beginning(rows, |fields| {
        for cell in tags.iter().filter_map(|index| fields.get(*index)) {
            for (count, separator) in separated.iter_mut().zip(TAG_SEPARATORS) {
                *count += u64::from(cell.contains(separator));
            }
        }
        if shown.len() < SHOWN {
            // A row may have more fields than the header.
            shown.push(fields.iter().take(columns.len()).map(|field| encoding::shown(field)).collect());
        }
    })?;
    let is_whole = is_all && read.next(1).is_ok_and(|more| more.is_none());
    let delimiter = char::from(read.delimiter());
    // The one that most cells have, and of several the first.
    let guessed = separated.iter().zip(TAG_SEPARATORS).rev().max_by_key(|(count, _)| **count);
    let tag_separator = guessed.map(|(_, separator)| separator).filter(|_| may_differ);
    Ok(Preview { columns, problem, rows: shown, step, lines, left_out, is_whole, delimiter, tag_separator })
}

/// The position after the last line end. In UTF-16, the zero byte of the line end is included.
fn last_line_end(bytes: &[u8]) -> usize {
    let Some(place) = bytes.iter().rposition(|byte| *byte == b'\n') else { return bytes.len() };
    let after = place + 1;
    if bytes.get(after) == Some(&0) { after + 1 } else { after }
}
