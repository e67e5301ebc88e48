//! The file of rejected rows: line, reason, and the row as it was.
//!
//! It stands beside the input (`contacts.csv` → `contacts.rejects.csv`), is made again by each import, and
//! exists only when a row was rejected. Its columns are those of the input behind `line` and `reason`, so
//! that it can be mended and imported itself. Its owner alone may read it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use csv::{Writer, WriterBuilder};

use super::{Error, Result};
use crate::domain::cell::{guard, unguard};
use crate::files;
use crate::store::imports::Rejected;

/// Rejected rows as CSV that can be mended and imported itself, with the header when they are the first. Each row begins
/// with the cells that `explain` makes, whose columns are called `names`.
pub fn rejected_csv<const N: usize>(
    names: [String; N],
    header: Option<&[String]>,
    rows: &[Rejected],
    explain: impl Fn(&Rejected) -> [String; N],
) -> Vec<u8> {
    let mut writer = WriterBuilder::new().flexible(true).from_writer(Vec::new());
    // Writing to memory does not fail.
    if let Some(header) = header {
        let header = header.iter().map(|name| guard(&unguard(name)).into_owned());
        let _ = writer.write_record(names.into_iter().chain(header));
    }
    for rejected in rows {
        let fields = rejected.fields.iter().map(|cell| guard(&unguard(cell)).into_owned());
        let explained = explain(rejected).map(|cell| guard(&cell).into_owned());
        let _ = writer.write_record(explained.into_iter().chain(fields));
    }
    writer.into_inner().unwrap_or_default()
}

pub(super) struct Rejects {
    path: PathBuf,
    header: Vec<String>,
    writer: Option<Writer<File>>,
}

impl Rejects {
    /// Of the import of `input`, whose header is `header`. No file is made yet.
    pub(super) fn new(input: &Path, header: &[String]) -> Self {
        Self { path: input.with_extension("rejects.csv"), header: header.to_vec(), writer: None }
    }

    pub(super) fn add(&mut self, line: u64, reason: &str, fields: &[&str]) -> Result<()> {
        if self.writer.is_none() {
            let file = files::create(&self.path).map_err(Error::write(&self.path))?;
            let mut writer = WriterBuilder::new().flexible(true).from_writer(file);
            let header = ["line", "reason"].into_iter().chain(self.header.iter().map(String::as_str));
            writer.write_record(header).map_err(io::Error::from).map_err(Error::write(&self.path))?;
            self.writer = Some(writer);
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let line = line.to_string();
        let fields: Vec<_> = fields.iter().map(|cell| guard(&unguard(cell)).into_owned()).collect();
        let record = [line.as_str(), reason].into_iter().chain(fields.iter().map(String::as_str));
        writer.write_record(record).map_err(io::Error::from).map_err(Error::write(&self.path))
    }

    /// Answers where the rejected rows are; without any, what an earlier import left is removed.
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
