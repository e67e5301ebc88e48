//! Reads the header of a file, behind the titles that people write above it.

use std::io::BufRead;

use super::header;
use super::reading::split;
use super::records::{Found, Records};
use super::{Error, Result, encoding};

/// The lines before the header that may be titles.
const MOST_TITLES: usize = 5;

/// Reads the header: the names of the columns, and its line.
///
/// # Errors
///
/// [`Error::Empty`], [`Error::Header`], and what `explain` makes of a failed read.
pub(super) fn header<R: BufRead>(
    records: &mut Records<R>,
    explain: impl Fn(std::io::Error) -> Error,
) -> Result<(Vec<String>, u64)> {
    let titles = titles(records);
    records.skip_lines(titles);
    let mut text = Vec::new();
    let Found { line, broken } = records.next(&mut text).map_err(explain)?.ok_or(Error::Empty)?;
    let fault = if text.contains(&0) {
        Some("it holds NUL characters; if it is UTF-16, say so (--encoding utf-16le)".to_owned())
    } else {
        broken.map(|broken| broken.to_string())
    };
    if let Some(fault) = fault {
        return Err(Error::Header { line, fault });
    }
    header::check_length(&text, line)?;
    Ok((cells(&text, records.delimiter())?, line))
}

/// The number of lines before the header: lines with one text at most, if one with a known column follows.
fn titles<R: BufRead>(records: &Records<R>) -> usize {
    for (index, line) in records.first_lines().take(MOST_TITLES + 1).enumerate() {
        let Ok(cells) = cells(line, records.delimiter()) else { return 0 };
        if cells.iter().any(|cell| header::identifies(cell)) {
            return index;
        }
        if cells.iter().filter(|cell| !cell.is_empty()).count() > 1 {
            return if cells.iter().any(|cell| header::may_identify(cell)) { index } else { 0 };
        }
    }
    0
}

/// The first record's cells.
fn cells(text: &[u8], delimiter: u8) -> Result<Vec<String>> {
    let mut cells = Vec::new();
    split(text, delimiter, |_, fields| {
        cells = fields.iter().map(|cell| encoding::shown(cell.trim())).collect();
        Ok(())
    })?;
    Ok(cells)
}
