//! What an uploaded file is read as: its encoding, what each column holds, and tags for all of its contacts.

use serde::{Deserialize, Serialize};

use super::header::{FIELDS, Field, Layout, Mapping};

/// Columns that are remembered for the next file: more than any spreadsheet of contacts has.
const MOST_REMEMBERED: usize = 500;

/// What an uploaded file is read as. It is kept in the database as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// A label that browsers know.
    pub encoding: String,
    /// The columns of which somebody said what they hold.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Names of tags that every contact of the file gets.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The file's header.
    #[serde(default)]
    pub header: Vec<String>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name in the header.
    pub column: String,
    /// The word of a [`Field`].
    pub field: String,
}

impl Settings {
    /// The columns as the reader of headers takes them; words of no field are left out.
    pub(super) fn mappings(&self) -> Vec<Mapping> {
        let mapping = |column: &Column| {
            Some(Mapping { column: column.column.clone(), field: Field::parse(&column.field)? })
        };
        self.columns.iter().filter_map(mapping).collect()
    }

    /// Whether what is said of the columns fits the file.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not fit.
    pub fn check(&self) -> Result<(), String> {
        let unknown = self.columns.iter().find(|column| Field::parse(&column.field).is_none());
        if let Some(Column { column, field }) = unknown {
            return Err(format!("{field:?} for the column {column:?} is none of {FIELDS}"));
        }
        Layout::lenient(self.header.clone(), 1, &self.mappings()).map(drop).map_err(|error| error.to_string())
    }

    /// The same, and whether a contact can be known by something that a column holds.
    ///
    /// # Errors
    ///
    /// As [`Settings::check`].
    pub fn check_complete(&self) -> Result<(), String> {
        self.check()?;
        let layout = Layout::new(self.header.clone(), 1, &self.mappings());
        layout.map(drop).map_err(|_| {
            "no column is known to hold a phone number or an e-mail address: say which one does".to_owned()
        })
    }

    /// What each column of the header is taken for.
    pub fn fields(&self) -> Vec<Option<Field>> {
        let layout = Layout::lenient(self.header.clone(), 1, &self.mappings());
        let Ok(layout) = layout else { return vec![None; self.header.len()] };
        (0..self.header.len()).map(|index| layout.field(index)).collect()
    }

    /// The columns to remember, after those `remembered` before: the latest word counts.
    pub fn remember(&self, remembered: Vec<Column>) -> Vec<Column> {
        let mut columns = self.columns.clone();
        let older =
            remembered.into_iter().filter(|old| !self.columns.iter().any(|new| new.column == old.column));
        columns.extend(older);
        columns.truncate(MOST_REMEMBERED);
        columns
    }

    /// Takes over what is remembered of this file's columns.
    pub fn recall(&mut self, remembered: &[Column]) {
        let known = remembered.iter().filter(|known| self.header.contains(&known.column)).cloned();
        self.columns = known.collect();
    }
}
