//! The settings of an uploaded file: its encoding, the fields of its columns, and tags for all of its
//! contacts.

use serde::{Deserialize, Serialize};

use std::collections::HashSet;

use super::header::{self, Field, Layout, MOST_COLUMNS, Mapping};
use super::{Error, Result};
use crate::domain::contact::MOST_TAGS;

/// The maximum of columns that are remembered for the next file.
const MOST_REMEMBERED: usize = MOST_COLUMNS;

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
    /// [`Error::TooManyColumns`], [`Error::TooManyMappings`], [`Error::TooManyTags`], [`Error::NoSuchField`],
    /// [`Error::NoSuchColumn`].
    pub fn check(&self) -> Result<()> {
        header::check_mappings(self.columns.len())?;
        if self.tags.len() > MOST_TAGS {
            return Err(Error::TooManyTags { found: self.tags.len() });
        }
        let unknown = self.columns.iter().find(|column| Field::parse(&column.field).is_none());
        if let Some(Column { column, field }) = unknown.cloned() {
            return Err(Error::NoSuchField { column, field });
        }
        Layout::lenient(self.header.clone(), 1, &self.mappings()).map(drop)
    }

    /// Checks also that a column has phone numbers or e-mail addresses, which identify contacts.
    ///
    /// # Errors
    ///
    /// As [`Settings::check`], and [`Error::NoKnownColumn`].
    pub fn check_complete(&self) -> Result<()> {
        self.check()?;
        Layout::new(self.header.clone(), 1, &self.mappings()).map(drop)
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
        let chosen: HashSet<&str> = self.columns.iter().map(|column| column.column.as_str()).collect();
        columns.extend(remembered.into_iter().filter(|old| !chosen.contains(old.column.as_str())));
        columns.truncate(MOST_REMEMBERED);
        columns
    }

    /// Applies the remembered fields to this file's columns.
    pub fn recall(&mut self, remembered: &[Column]) {
        let names: HashSet<&str> = self.header.iter().map(String::as_str).collect();
        let known = remembered.iter().filter(|known| names.contains(known.column.as_str())).cloned();
        self.columns = known.collect();
    }
}
