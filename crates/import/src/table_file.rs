//! Opens a file of this machine as a [`FileTable`]: CSV in any encoding, or the first sheet of a workbook.

use std::fs::File;
use std::path::Path;

use super::header::MOST_COLUMNS;
use super::settings::Settings;
use super::sheet::{self, SourceSheet};
use super::{Error, FileTable, Result, encoding, reading};
use domain::phone::Country;

/// Opens a file. Without the label of an encoding it must be UTF-8 or have a byte-order mark; `auto` guesses, for people of
/// this country.
///
/// # Errors
///
/// When the file cannot be read, has bytes that are no text in its encoding, is of another format, or has no header.
pub fn open_table(path: &Path, label: Option<&str>, country: Option<Country>) -> Result<FileTable<File>> {
    let table = if reading::is_workbook(path)? {
        let (text, _) = sheet::converted(path)?;
        let sheet = Some(SourceSheet { name: String::new(), of: 1 });
        FileTable::open(text, &Settings { sheet, ..Settings::default() })?
    } else {
        let (encoding, invalid) = reading::encoding(path, label, country)?;
        encoding::check(path, encoding, invalid)?;
        let settings = Settings { encoding: encoding.name().to_owned(), ..Settings::default() };
        FileTable::open(encoding::open_file(path)?, &settings)?
    };
    match table.header().len() {
        found if found > MOST_COLUMNS => Err(Error::TooManyColumns { line: 1, found }),
        _ => Ok(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bytes: &[u8], label: Option<&str>) -> Result<Vec<(u64, Vec<String>)>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("people.csv");
        std::fs::write(&path, bytes).unwrap();
        let mut table = open_table(&path, label, None)?;
        let mut rows = Vec::new();
        while let Some(row) = table.row()? {
            rows.push((row.line, row.cells));
        }
        Ok(rows)
    }

    #[test]
    fn a_file_is_read_in_its_encoding_behind_its_titles() {
        let text = b"Customers\nOrder;Phone;WhatsApp\n\nJo\xe3o;1;+55 11 98888-7777\n";
        let rows_found = rows(text, Some("windows-1252")).unwrap();
        assert_eq!(rows_found, [(4, ["João", "1", "+55 11 98888-7777"].map(str::to_owned).to_vec())]);
        assert!(matches!(rows(text, None), Err(Error::Encoding { line: 4, .. })));
        assert!(matches!(rows(b"BEGIN:VCARD\n", None), Err(Error::NotCsv(_))));
    }
}
