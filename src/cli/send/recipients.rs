//! The recipients of a send: numbers, or the rows of a file, read again for each purpose so that a file of any length is
//! never held as texts.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Map, Value};

use super::columns::{ColumnUse, columns_of};
use crate::cli::contacts;
use crate::cli::failure::Misused;
use crate::domain::phone::{Country, PhoneNumber};
use crate::import::{HeldColumns, TableRow, open_table};

/// The longest line of JSON: 64 values, each character of them escaped.
const LONGEST_LINE: u64 = 1024 * 1024;

/// Who gets the message.
pub(super) enum Recipients {
    Numbers(Vec<String>),
    Table {
        path: PathBuf,
        encoding: Option<String>,
        country: Option<Country>,
        header: Vec<String>,
        columns: HeldColumns,
    },
    /// A JSON object on each line, as the API takes it, with the names of all values.
    Lines {
        path: PathBuf,
        country: Option<Country>,
        names: Vec<String>,
    },
}

/// One recipient.
pub(super) struct Recipient {
    /// The line of the file, from 1; the place of a number.
    pub(super) line: u64,
    /// As the API takes it.
    pub(super) entry: Map<String, Value>,
    /// The cells of the row, as many as [`Recipients::header`] has names.
    pub(super) cells: Vec<String>,
}

impl Recipients {
    /// Those of a file: a table, or lines of JSON.
    pub(super) fn of_file(
        path: &Path,
        encoding: Option<&str>,
        country: Option<Country>,
        uses: &[ColumnUse],
    ) -> anyhow::Result<Self> {
        let path = path.to_owned();
        if begins_as_json(&path)? {
            if !uses.is_empty() {
                let sentence =
                    "--map is for the columns of a table: the fields of JSON have their names already";
                return Err(Misused(sentence.to_owned()).into());
            }
            let mut names = Vec::<String>::new();
            let lines = Self::Lines { path: path.clone(), country, names: Vec::new() };
            lines.read(&mut |recipient| {
                let values = recipient.entry.get("values").and_then(Value::as_object);
                for name in values.into_iter().flat_map(Map::keys) {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                }
                Ok(())
            })?;
            return Ok(Self::Lines { path, country, names });
        }
        let table = open_table(&path, encoding, country).map_err(contacts::failure)?;
        let columns = columns_of(table.header(), uses)?;
        let (encoding, header) = (encoding.map(str::to_owned), table.header().to_vec());
        Ok(Self::Table { path, encoding, country, header, columns })
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> Vec<String> {
        match self {
            Self::Numbers(_) => vec!["phone_number".to_owned()],
            Self::Table { header, .. } => header.clone(),
            Self::Lines { names, .. } => ["phone_number", "reference"]
                .into_iter()
                .map(str::to_owned)
                .chain(names.iter().cloned())
                .collect(),
        }
    }

    /// The columns that nothing is read from.
    pub(super) fn ignored(&self) -> &[String] {
        match self {
            Self::Table { columns, .. } => &columns.unread,
            Self::Numbers(_) | Self::Lines { .. } => &[],
        }
    }

    /// Reads all recipients, in their order.
    pub(super) fn read(&self, each: &mut dyn FnMut(Recipient) -> anyhow::Result<()>) -> anyhow::Result<()> {
        match self {
            Self::Numbers(numbers) => {
                for (line, number) in (1..).zip(numbers) {
                    let entry = Map::from_iter([("phone_number".to_owned(), number.clone().into())]);
                    each(Recipient { line, entry, cells: vec![number.clone()] })?;
                }
                Ok(())
            }
            Self::Table { path, encoding, country, columns, header: _ } => {
                let mut table = open_table(path, encoding.as_deref(), *country).map_err(contacts::failure)?;
                while let Some(row) = table.row().map_err(contacts::failure)? {
                    let TableRow { line, cells, broken } = row;
                    if let Some(broken) = broken {
                        // The values of another row may be in it.
                        let sentence = format!("line {line} of {}: the row {broken}", path.display());
                        return Err(Misused(sentence).into());
                    }
                    let entry = entry(&cells, columns, *country);
                    each(Recipient { line, entry, cells })?;
                }
                Ok(())
            }
            Self::Lines { path, country, names } => lines(path, *country, names, each),
        }
    }
}

/// What the API takes for a row.
fn entry(cells: &[String], columns: &HeldColumns, country: Option<Country>) -> Map<String, Value> {
    let cell = |index: usize| cells.get(index).map_or("", String::as_str);
    let mut entry = Map::new();
    entry.insert("phone_number".to_owned(), number(cell(columns.phone_number), country).into());
    if let Some(reference) = columns.reference.map(cell).filter(|reference| !reference.is_empty()) {
        entry.insert("reference".to_owned(), reference.into());
    }
    let values = columns.values.iter().filter(|(index, _)| !cell(*index).is_empty());
    let values: Map<String, Value> =
        values.map(|(index, name)| (name.clone(), cell(*index).into())).collect();
    if !values.is_empty() {
        entry.insert("values".to_owned(), values.into());
    }
    entry
}

/// The number as the service reads it: in international form if a country's rules apply, else as it is written.
fn number(written: &str, country: Option<Country>) -> String {
    match country.map(|country| PhoneNumber::parse_in(written, Some(country))) {
        Some(Ok(number)) => format!("+{number}"),
        Some(Err(_)) | None => written.to_owned(),
    }
}

/// Whether the file is one of JSON lines.
fn begins_as_json(path: &Path) -> anyhow::Result<bool> {
    let mut beginning = Vec::new();
    open(path)?.take(1024).read_to_end(&mut beginning).with_context(|| unreadable(path))?;
    let bare = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&beginning);
    Ok(bare.trim_ascii_start().starts_with(b"{"))
}

fn open(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).map_err(|error| Misused(format!("{}: {error}", unreadable(path))))?;
    if file.metadata().is_ok_and(|found| found.is_file()) {
        return Ok(file);
    }
    // It is read more than once.
    Err(Misused(format!("{}: it is no regular file", unreadable(path))).into())
}

fn unreadable(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

fn lines(
    path: &Path,
    country: Option<Country>,
    names: &[String],
    each: &mut dyn FnMut(Recipient) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut reader = BufReader::new(open(path)?);
    let mut text = Vec::new();
    for line in 1_u64.. {
        text.clear();
        let length = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut text);
        if length.with_context(|| unreadable(path))? == 0 {
            return Ok(());
        }
        let bare = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
        if bare.trim_ascii().is_empty() {
            continue;
        }
        let mut entry: Map<String, Value> = serde_json::from_slice(bare).map_err(|error| {
            Misused(format!(
                "line {line} of {} is no JSON object such as {{\"phone_number\": \"+5511988887777\", \"values\": \
                 {{\"order\": \"A-1042\"}}}}: {error}",
                path.display()
            ))
        })?;
        if let (Some(_), Some(Value::String(written))) = (country, entry.get("phone_number")) {
            let number = number(written, country);
            entry.insert("phone_number".to_owned(), number.into());
        }
        let cell = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let own = ["phone_number", "reference"].map(|field| cell(entry.get(field)));
        let values = entry.get("values").and_then(Value::as_object);
        let values = names.iter().map(|name| cell(values.and_then(|values| values.get(name))));
        let cells = own.into_iter().chain(values).collect();
        each(Recipient { line, entry, cells })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each with its line, what the API takes, and its cells.
    type Rows = Vec<(u64, String, Vec<String>)>;

    fn read(name: &str, text: &str, country: Option<&str>) -> anyhow::Result<(Vec<String>, Rows)> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join(name);
        std::fs::write(&path, text)?;
        let recipients = Recipients::of_file(&path, None, country.and_then(Country::parse), &[])?;
        let mut rows = Vec::new();
        recipients.read(&mut |Recipient { line, entry, cells }| {
            rows.push((line, Value::Object(entry).to_string(), cells));
            Ok(())
        })?;
        Ok((recipients.header(), rows))
    }

    #[test]
    fn a_table_and_lines_of_json_have_the_same_recipients() {
        let table = "Phone,order,reference\n(11) 98888-7777,A-1,crm-1\n,,\n+351 912 345 678,,\n";
        let (header, rows) = read("people.csv", table, Some("BR")).unwrap();
        assert_eq!(header, ["Phone", "order", "reference"]);
        let ana = r#"{"phone_number":"+5511988887777","reference":"crm-1","values":{"order":"A-1"}}"#;
        assert_eq!((rows[0].0, rows[0].1.as_str()), (2, ana));
        assert_eq!((rows[1].0, rows[1].1.as_str()), (4, r#"{"phone_number":"+351912345678"}"#));
        assert_eq!((rows.len(), rows[0].2[0].as_str()), (2, "(11) 98888-7777"));

        let (header, again) =
            read("people.ndjson", &format!("\n{ana}\n{{\"phone_number\":1,\"values\":{{\"x\":2}}}}"), None)
                .unwrap();
        assert_eq!(header, ["phone_number", "reference", "order", "x"]);
        assert_eq!((again[0].0, again[0].1.as_str()), (2, ana));
        assert_eq!(again[1].2, ["1", "", "", "2"]);
        let fault = read("people.ndjson", &format!("{ana}\n[1]"), None).unwrap_err().to_string();
        assert!(fault.starts_with("line 2 of") && fault.contains("phone_number"), "{fault}");
    }
}
