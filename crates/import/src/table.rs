//! A file as a table: the names of its columns and its rows as texts, for what reads other things than contacts from it.
//!
//! The file is read as a file of contacts is: CSV in any encoding with any delimiter, or the first sheet of a workbook. A
//! row that cannot be read ends the reading: nobody may get the values of another row.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::encoding::{Decoded, MARK};
use super::header::{self, MOST_COLUMNS};
use super::reading::{self, split};
use super::records::{Found, Records};
use super::{Error, Result, encoding, opening};
use domain::phone::Country;

/// An opened file, of which the header is read.
pub struct Table {
    path: PathBuf,
    records: Records<BufReader<Decoded<File>>>,
    header: Vec<String>,
}

impl Table {
    /// Opens a file. Without an encoding it must be UTF-8 or have a byte-order mark; `auto` guesses, for people of this
    /// country.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is of another format, or has no header.
    pub fn open(path: &Path, encoding: Option<&str>, country: Option<Country>) -> Result<Self> {
        let (text, _, delimiter) = reading::text(path, encoding, country)?;
        let explain = |error| encoding::explain(path, error);
        let text = BufReader::with_capacity(64 * 1024, text);
        let mut records = Records::divided_by(delimiter, text).map_err(explain)?;
        let (header, line) = opening::header(&mut records, explain)?;
        if header.len() > MOST_COLUMNS {
            return Err(Error::TooManyColumns { line, found: header.len() });
        }
        Ok(Self { path: path.to_owned(), records, header })
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The column that surely holds phone numbers by its name, the one most likely of WhatsApp if there are several.
    pub fn number_column(&self) -> Option<usize> {
        let ranked = self.header.iter().enumerate().filter_map(|(index, name)| {
            let rank = header::number_rank(name)?;
            Some((rank, index))
        });
        ranked.min().map(|(_, index)| index)
    }

    /// Reads the next row into `cells`, as many as there are columns, and returns its line, from 1; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, and [`Error::Row`] for a row that cannot.
    pub fn next(&mut self, cells: &mut Vec<String>) -> Result<Option<u64>> {
        let mut text = Vec::new();
        let next = self.records.next(&mut text).map_err(|error| encoding::explain(&self.path, error))?;
        let Some(Found { line, broken }) = next else { return Ok(None) };
        if let Some(broken) = broken {
            return Err(Error::Row { line, fault: broken.to_string() });
        }
        let (mut is_readable, columns) = (true, self.header.len());
        split(&text, self.records.delimiter(), |_, fields| {
            is_readable = !fields.iter().any(|field| field.contains(MARK));
            cells.clear();
            cells.extend(fields.iter().take(columns).map(|field| field.trim().to_owned()));
            cells.resize(columns, String::new());
            Ok(())
        })?;
        if !is_readable {
            let fault = "it has bytes that are no text in the file's encoding".to_owned();
            return Err(Error::Row { line, fault });
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows, each behind its line.
    type Rows = Vec<(u64, Vec<String>)>;

    fn table(bytes: &[u8], encoding: Option<&str>) -> Result<(Table, Rows)> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("people.csv");
        std::fs::write(&path, bytes).unwrap();
        let mut table = Table::open(&path, encoding, None)?;
        let (mut rows, mut cells) = (Vec::new(), Vec::new());
        while let Some(line) = table.next(&mut cells)? {
            rows.push((line, cells.clone()));
        }
        Ok((table, rows))
    }

    #[test]
    fn rows_have_a_cell_for_each_column_and_their_line() {
        let text = b"Customers\nOrder;Phone;WhatsApp\n\nA-1;1;+55 11 98888-7777;more\n\"A;2\"\n";
        let Ok((table, rows)) = table(text, None) else { panic!("the file is readable") };
        assert_eq!((table.header().len(), table.number_column()), (3, Some(2)));
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        assert_eq!(rows, [(4, row(["A-1", "1", "+55 11 98888-7777"])), (5, row(["A;2", "", ""]))]);
    }

    #[test]
    fn a_row_that_cannot_be_read_ends_the_reading() {
        for text in [&b"phone,x\n1,\"a\n2,b\n"[..], b"phone,x\n1,\xe3\n2,\xff\x80"] {
            assert!(table(text, Some("utf-8")).is_err());
        }
        let latin = table(b"phone,x\n1,Jo\xe3o\n", Some("windows-1252"));
        let Ok((_, rows)) = latin else { panic!("the file is readable") };
        assert_eq!(rows[0].1[1], "João");
    }
}
