//! The rows of an uploaded file as texts, for a send whose recipients come in it.

use std::collections::HashSet;
use std::io::{BufReader, Read};

use super::encoding::{self, Decoded, Invalid, MARK};
use super::reading::split;
use super::records::{Found, Records};
use super::settings::Settings;
use super::stored::unread;
use super::{Result, opening};
use domain::cell::unguard;
use domain::fold::fold;
use domain::values::VALUE_NAME_CHARS;

/// A file whose header is read.
pub struct FileTable<R> {
    records: Records<BufReader<Decoded<R>>>,
    header: Vec<String>,
    /// The text of the row that is being read.
    text: Vec<u8>,
}

/// A row that holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its texts, one for each column; of a broken row what there is.
    pub cells: Vec<String>,
    /// Why the row cannot be used, in words that continue "the row …".
    pub broken: Option<String>,
}

impl<R: Read> FileTable<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn open(file: R, settings: &Settings) -> Result<Self> {
        let encoding = encoding::named(Some(settings.encoding.as_str()).filter(|name| !name.is_empty()))?;
        let text = BufReader::with_capacity(64 * 1024, Decoded::new(file, encoding, Invalid::Mark));
        let records = Records::divided_by(settings.own_delimiter(), text);
        let mut records = records.map_err(|error| unread(&error))?;
        let (header, _) = opening::header(&mut records, |error| unread(&error))?;
        Ok(Self { records, header, text: Vec::new() })
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The next row; `None` at the end of the file. Rows without any text are passed over.
    ///
    /// # Errors
    ///
    /// When the file cannot be read further.
    pub fn row(&mut self) -> Result<Option<TableRow>> {
        loop {
            self.text.clear();
            let next = self.records.next(&mut self.text).map_err(|error| unread(&error))?;
            let Some(Found { line, broken }) = next else { return Ok(None) };
            if let Some(broken) = broken {
                let whole = String::from_utf8_lossy(&self.text);
                let cells = vec![shown(whole.trim_end_matches(['\r', '\n']))];
                return Ok(Some(TableRow { line, cells, broken: Some(broken.to_string()) }));
            }
            let (columns, mut cells, mut broken) = (self.header.len(), Vec::new(), None);
            split(&self.text, self.records.delimiter(), |_, fields| {
                let texts = fields.iter().map(|field| unguard(bare(field)));
                cells = texts.map(|text| bare(&text).to_owned()).collect();
                Ok(())
            })?;
            if cells.iter().all(String::is_empty) {
                continue;
            }
            // Programs leave empty cells at the end of a row out, or add some.
            if cells.iter().skip(columns).any(|cell| !cell.is_empty()) {
                broken = Some(format!("has {} fields where the header has {columns}", cells.len()));
            } else if cells.iter().any(|cell| cell.contains(MARK)) {
                broken = Some("holds a byte that is not valid in the file's encoding".to_owned());
            } else if cells.iter().any(|cell| cell.contains('\0')) {
                broken = Some("holds a NUL character".to_owned());
            }
            if broken.is_some() {
                cells = cells.iter().map(|cell| shown(cell)).collect();
            }
            cells.resize(columns, String::new());
            return Ok(Some(TableRow { line, cells, broken }));
        }
    }
}

/// A cell without the spaces and byte-order marks around it.
fn bare(cell: &str) -> &str {
    cell.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}')
}

fn shown(text: &str) -> String {
    encoding::shown(&text.replace('\0', ""))
}

/// The names under which the columns of a file are values: their own in lower-case letters without accents, digits and
/// underscores. A column without such a name is called by its place.
pub fn value_names(header: &[String]) -> Vec<String> {
    let mut known: HashSet<String> = HashSet::new();
    let name = |(place, column): (usize, &String)| {
        let mut name = String::new();
        for letter in fold(column).chars() {
            if letter.is_ascii_alphanumeric() {
                name.push(letter.to_ascii_lowercase());
            } else if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
        }
        // Room for the place of a column that is called like another one.
        name.truncate(VALUE_NAME_CHARS - 4);
        let name = name.trim_end_matches('_').to_owned();
        let name = if name.is_empty() { format!("column_{}", place + 1) } else { name };
        let (mut free, mut number) = (name.clone(), place);
        while !known.insert(free.clone()) {
            number += 1;
            free = format!("{name}_{number}");
        }
        free
    };
    header.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> (Vec<String>, Vec<TableRow>) {
        let settings = Settings { encoding: "UTF-8".to_owned(), ..Settings::default() };
        let mut table = FileTable::open(text.as_bytes(), &settings).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = table.row().unwrap() {
            rows.push(row);
        }
        (table.header().to_vec(), rows)
    }

    #[test]
    fn rows_are_texts_and_broken_ones_say_why() {
        let text = "phone;nome\n+55 11 91111-1111; Ana \n;\n;;\n+1;a;b\n\"+2;\"x\"y\n'=1;c\n";
        let (header, rows) = rows(text);
        assert_eq!(header, ["phone", "nome"]);
        let texts: Vec<_> = rows.iter().map(|row| (row.line, row.cells.join("|"))).collect();
        assert_eq!(texts[0], (2, "+55 11 91111-1111|Ana".to_owned()));
        assert_eq!((rows[1].line, rows[1].cells.len()), (5, 2));
        assert_eq!(rows[1].broken.as_deref(), Some("has 3 fields where the header has 2"));
        assert!(rows[2].broken.is_some(), "{rows:?}");
        assert_eq!(rows.last().map(|row| row.cells.join("|")).as_deref(), Some("=1|c"), "{rows:?}");
    }

    #[test]
    fn columns_have_names_that_values_may_have() {
        let header =
            ["Telefone", "Nome do Cliente", "", "nome do cliente", "Preço (R$)", "—", "1", "button.0"];
        let header: Vec<String> = header.map(str::to_owned).into();
        let names = value_names(&header);
        assert_eq!(
            names,
            [
                "telefone",
                "nome_do_cliente",
                "column_3",
                "nome_do_cliente_4",
                "preco_r",
                "column_6",
                "1",
                "button_0"
            ]
        );
        let long = value_names(&["x".repeat(100), "x".repeat(100)]);
        assert!(
            long.iter().all(|name| domain::values::is_value_name(name)) && long[0] != long[1],
            "{long:?}"
        );
    }
}
