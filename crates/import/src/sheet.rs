//! Converts the first sheet of a workbook (xlsx) to CSV, which is read like any other file.
//!
//! A cell becomes the text that a spreadsheet shows ([`cell`]), and a row of the sheet one line of the CSV, so that the
//! numbers of lines are those of the rows. Cells are read one after the other: what is held in memory is the texts that
//! cells share, and one row. What a workbook unpacks to is bounded before it is read ([`parts`]).

mod cell;
mod parts;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use calamine::{Reader as _, SheetType, SheetVisible, Xlsx};
use serde::{Deserialize, Serialize};

use super::inspection::Other;
use super::{Error, Result, encoding};

/// The delimiter of the CSV. Where commas are decimal signs, spreadsheets expect it too.
pub(super) const DELIMITER: u8 = b';';
/// How a workbook begins, like every zip archive.
const ARCHIVE: &[u8] = b"PK\x03\x04";
/// The rows and columns of a sheet in Excel. A cell outside of them is none of a spreadsheet.
const ROWS: u32 = 1_048_576;
const COLUMNS: u32 = 16_384;
/// The longest text of a cell, in bytes: Excel's 32,767 characters. Many cells may share one that is far longer.
const LONGEST_CELL: usize = 3 * 32_767;
/// The most bytes of the texts of a row, which is held in memory; no contact has so many.
const LONGEST_ROW: usize = 1024 * 1024;

/// The sheet that the contacts of a workbook are read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSheet {
    /// Its name.
    pub name: String,
    /// How many sheets the workbook has; only this one is read.
    pub of: u64,
}

/// Whether a file that begins with these bytes may be a workbook.
pub fn is_workbook(beginning: &[u8]) -> bool {
    beginning.starts_with(ARCHIVE)
}

/// Writes the first visible sheet of a workbook to `out`, as at most `most` bytes of CSV in UTF-8.
///
/// # Errors
///
/// [`Error::NotCsv`] when the file is another one, is damaged, or becomes too large; [`Error::Unread`] when `out` cannot
/// be written.
pub fn sheet_csv<R: Read + Seek>(mut file: R, most: u64, out: impl Write) -> Result<SourceSheet> {
    parts::check(&mut file)?;
    file.seek(SeekFrom::Start(0)).map_err(|_| damaged())?;
    let mut book: Xlsx<_> = Xlsx::new(BufReader::new(file)).map_err(|_| damaged())?;
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets: Vec<_> = sheets.cloned().collect();
    let visible = sheets.iter().find(|sheet| sheet.visible == SheetVisible::Visible);
    let first = visible.or_else(|| sheets.first()).ok_or(Error::NotCsv(Other::NoSheet))?;
    let mut cells = book.worksheet_cells_reader(&first.name).map_err(|_| damaged())?;
    let mut rows = SheetRows { out, most, written: 0, row: 0, cells: Vec::new(), held: 0 };
    let mut seen = 0_u64;
    while let Some(found) = cells.next_cell().map_err(|_| damaged())? {
        let text = cell::text(found.get_value());
        // Before anything looks at the whole text: the same one may come a million times.
        seen = seen.saturating_add(text.len() as u64);
        if text.len() > LONGEST_CELL || seen > most {
            return Err(too_large());
        }
        if !text.trim().is_empty() {
            rows.put(found.get_position(), &text)?;
        }
    }
    rows.finish()?;
    Ok(SourceSheet { name: first.name.clone(), of: sheets.len() as u64 })
}

/// The workbook at `path` as a file of CSV without a name, and the bytes of it.
pub(super) fn converted(path: &Path) -> Result<(File, u64)> {
    let mut text = tempfile::tempfile().map_err(|error| Error::Unread(error.to_string()))?;
    let out = BufWriter::new(&text);
    sheet_csv(encoding::open_file(path)?, u64::MAX, out)?;
    let length = text.stream_position().and_then(|length| text.rewind().map(|()| length));
    Ok((text, length.map_err(|error| Error::Unread(error.to_string()))?))
}

/// The rows of a sheet, of which one is being collected.
struct SheetRows<W> {
    out: W,
    /// The most bytes that are written.
    most: u64,
    written: u64,
    /// The row whose cells are collected, from 0.
    row: u32,
    cells: Vec<String>,
    /// The bytes that it took for this row.
    held: usize,
}

impl<W: Write> SheetRows<W> {
    /// Takes a cell that holds something. Cells come row by row.
    fn put(&mut self, (row, column): (u32, u32), text: &str) -> Result<()> {
        if row >= ROWS || column >= COLUMNS || row < self.row {
            return Err(damaged());
        }
        while self.row < row {
            self.end_row()?;
        }
        self.held += text.len();
        if self.held > LONGEST_ROW {
            return Err(too_large());
        }
        let column = column as usize;
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        // A line break would make two lines of the row.
        self.cells[column] = text.replace("\r\n", " ").replace(['\r', '\n'], " ");
        Ok(())
    }

    /// Writes the row as a line, which is empty for a row without cells.
    fn end_row(&mut self) -> Result<()> {
        let mut line = String::new();
        for (column, text) in self.cells.drain(..).enumerate() {
            if column > 0 {
                line.push(char::from(DELIMITER));
            }
            if text.contains(['"', char::from(DELIMITER)]) {
                line.push('"');
                line.push_str(&text.replace('"', "\"\""));
                line.push('"');
            } else {
                line.push_str(&text);
            }
        }
        line.push('\n');
        self.held = 0;
        self.row += 1;
        self.written += line.len() as u64;
        if self.written > self.most {
            return Err(too_large());
        }
        self.out.write_all(line.as_bytes()).map_err(|error| Error::Unread(error.to_string()))
    }

    fn finish(mut self) -> Result<()> {
        if !self.cells.is_empty() {
            self.end_row()?;
        }
        self.out.flush().map_err(|error| Error::Unread(error.to_string()))
    }
}

const fn damaged() -> Error {
    Error::NotCsv(Other::DamagedWorkbook)
}

const fn too_large() -> Error {
    Error::NotCsv(Other::LargeWorkbook)
}

#[cfg(test)]
mod tests;
