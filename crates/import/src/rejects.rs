//! The file of rejected rows: line, reason, and the original row.
//!
//! It is beside the input (`contacts.csv` → `contacts.rejects.csv`). Each import writes it again, and it
//! exists only if a row was rejected. Its columns are `line`, `reason` and those of the input, so that it can
//! be corrected and imported itself. Only its owner may read it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use csv::{Writer, WriterBuilder};

use super::export::BYTE_ORDER_MARK;
use super::{Error, Result, encoding};
use domain::cell::{guard, unguard};
use store::imports::Rejected;

/// Rejected rows as CSV with this delimiter, which can be corrected and imported itself, with the header if they are the
/// first. Each row begins with the cells that `explain` returns, whose columns are called `names`.
pub fn rejected_csv<const N: usize>(
    delimiter: u8,
    names: [String; N],
    header: Option<&[String]>,
    rows: &[Rejected],
    explain: impl Fn(&Rejected) -> [String; N],
) -> Vec<u8> {
    let mut writer = WriterBuilder::new().flexible(true).delimiter(delimiter).from_writer(Vec::new());
    // Writing to memory does not fail.
    if let Some(header) = header {
        let _ = writer.write_record(names.into_iter().chain(guarded(header)));
    }
    for rejected in rows {
        let explained = explain(rejected).map(|cell| guard(&cell).into_owned());
        let _ = writer.write_record(explained.into_iter().chain(guarded(&rejected.fields)));
    }
    writer.into_inner().unwrap_or_default()
}

/// A row of CSV with this delimiter, of cells that no spreadsheet runs.
pub fn csv_row(delimiter: u8, cells: &[String]) -> Vec<u8> {
    let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(guarded(cells));
    writer.into_inner().unwrap_or_default()
}

/// Cells of the input as cells that no spreadsheet runs, guarded once even where the input guards them already.
fn guarded(cells: &[impl AsRef<str>]) -> impl Iterator<Item = String> {
    cells.iter().map(|cell| guard(&unguard(cell.as_ref())).into_owned())
}

pub(super) struct Rejects {
    path: PathBuf,
    header: Vec<String>,
    writer: Option<Writer<File>>,
}

impl Rejects {
    /// The rejected rows of the import of `input`, whose header is `header`. No file is created yet.
    pub(super) fn new(input: &Path, header: &[String]) -> Self {
        Self { path: input.with_extension("rejects.csv"), header: header.to_vec(), writer: None }
    }

    pub(super) fn add(&mut self, line: u64, reason: &str, fields: &[&str]) -> Result<()> {
        if self.writer.is_none() {
            let file = files::create(&self.path).map_err(Error::write(&self.path))?;
            // Spreadsheets read a file without the mark in an encoding of their own.
            (&file).write_all(BYTE_ORDER_MARK.as_bytes()).map_err(Error::write(&self.path))?;
            let mut writer = WriterBuilder::new().flexible(true).from_writer(file);
            let header = ["line", "reason"].into_iter().map(str::to_owned).chain(guarded(&self.header));
            writer.write_record(header).map_err(io::Error::from).map_err(Error::write(&self.path))?;
            self.writer = Some(writer);
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let record = [line.to_string(), guard(reason).into_owned()].into_iter().chain(guarded(fields));
        let record = record.map(|cell| encoding::shown(&cell));
        writer.write_record(record).map_err(io::Error::from).map_err(Error::write(&self.path))
    }

    /// Returns the path of the file. If no row was rejected, removes the file of an earlier import.
    pub(super) fn finish(self) -> Result<Option<PathBuf>> {
        let Self { path, writer, .. } = self;
        let Some(mut writer) = writer else {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(&path)(error)),
                _ => Ok(None),
            };
        };
        writer.flush().map_err(Error::write(&path))?;
        Ok(Some(path))
    }
}
