//! The settings of an uploaded file: its encoding, the fields of its columns, and tags for all of its
//! contacts.

use serde::{Deserialize, Serialize};

use super::header::{FIELDS, Field, Layout, Mapping};

/// The maximum of columns that are remembered for the next file: more than any spreadsheet of contacts has.
const MOST_REMEMBERED: usize = 500;

/// The settings of an uploaded file, stored in the database as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The label of the encoding in the web's encoding standard.
    pub encoding: String,
    /// The columns whose fields were chosen.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Names of tags that every contact of the file gets.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The file's header.
    #[serde(default)]
    pub header: Vec<String>,
}

/// The chosen field of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The column's name in the header.
    pub column: String,
    /// The word of a [`Field`].
    pub field: String,
}

impl Settings {
    /// The columns as mappings for the header; words that name no field are skipped.
    pub(super) fn mappings(&self) -> Vec<Mapping> {
        let mapping = |column: &Column| {
            Some(Mapping { column: column.column.clone(), field: Field::parse(&column.field)? })
        };
        self.columns.iter().filter_map(mapping).collect()
    }

    /// Checks whether the chosen fields fit the file.
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

    /// Checks also that a column has phone numbers or e-mail addresses, which identify contacts.
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

    /// The field of each column of the header.
    pub fn fields(&self) -> Vec<Option<Field>> {
        let layout = Layout::lenient(self.header.clone(), 1, &self.mappings());
        let Ok(layout) = layout else { return vec![None; self.header.len()] };
        (0..self.header.len()).map(|index| layout.field(index)).collect()
    }

    /// The columns to remember, added to those `remembered` before. The latest choice for a column counts.
    pub fn remember(&self, remembered: Vec<Column>) -> Vec<Column> {
        let mut columns = self.columns.clone();
        let older =
            remembered.into_iter().filter(|old| !self.columns.iter().any(|new| new.column == old.column));
        columns.extend(older);
        columns.truncate(MOST_REMEMBERED);
        columns
    }

    /// Applies the remembered fields to this file's columns.
    pub fn recall(&mut self, remembered: &[Column]) {
        let known = remembered.iter().filter(|known| self.header.contains(&known.column)).cloned();
        self.columns = known.collect();
    }
}
