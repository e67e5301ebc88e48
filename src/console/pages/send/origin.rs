//! The file that a send's recipients came in, as the values of the send keep it: the names of its columns and its form. Every
//! column is a value of each recipient, so that results can be written beside what the file said after it is gone.

use serde::{Deserialize, Serialize};

use crate::domain::values::{Lookup as _, Unpacked, VALUE_CHARS, Values};
use crate::import::{FileFormat, Settings};

/// The beginning of the names of the values of all recipients that describe the file. No column's name begins so.
const NAME: &str = "_file_";
/// Characters of a column's name that are kept.
const COLUMN_CHARS: usize = 100;

/// The file of a send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::console::pages) struct OriginFile {
    encoding: String,
    delimiter: Option<char>,
    /// The place of the column with the numbers.
    phone: usize,
    /// The columns.
    header: Vec<String>,
    /// The names of their values.
    names: Vec<String>,
}

impl OriginFile {
    /// The file with these settings and names of values.
    pub(in crate::console::pages) fn of(settings: &Settings, names: Vec<String>, phone: usize) -> Self {
        let cut = |name: &String| name.chars().take(COLUMN_CHARS).collect();
        Self {
            encoding: settings.encoding.clone(),
            delimiter: settings.delimiter,
            phone,
            header: settings.header.iter().map(cut).collect(),
            names,
        }
    }

    /// The file as values of all recipients.
    pub(in crate::console::pages) fn values(&self) -> Values {
        let mut values = Values::default();
        let written = serde_json::to_string(self).unwrap_or_default();
        let letters: Vec<char> = written.chars().collect();
        for (place, part) in letters.chunks(VALUE_CHARS).enumerate() {
            let part: String = part.iter().collect();
            // The bounds of a file's columns keep it within those of values.
            let _ = values.set(&format!("{NAME}{place:02}"), &part);
        }
        values
    }

    /// The file of a recipient with these values, if the send had one.
    pub(super) fn read(values: &Unpacked) -> Option<Self> {
        let parts = values.shared.iter().filter(|(name, _)| name.starts_with(NAME));
        let written: String = parts.map(|(_, part)| part).collect();
        serde_json::from_str(&written).ok()
    }

    /// The form of the file.
    pub(super) fn format(&self) -> FileFormat {
        FileFormat::of(&Settings {
            encoding: self.encoding.clone(),
            delimiter: self.delimiter,
            ..Settings::default()
        })
    }

    /// The columns.
    pub(super) fn header(&self) -> &[String] {
        &self.header
    }

    /// The names of their values.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// What the file said of a recipient.
    pub(super) fn cells(&self, values: &Unpacked) -> Vec<String> {
        self.names.iter().map(|name| values.own.value(name).unwrap_or_default().to_owned()).collect()
    }

    /// What is known of a row without its values: its number.
    pub(super) fn numbered(&self, number: String) -> Vec<String> {
        let mut cells = vec![String::new(); self.names.len()];
        if let Some(cell) = cells.get_mut(self.phone) {
            *cell = number;
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_file_of_many_columns_with_long_names_is_read_back() {
        let header: Vec<String> = (0..64).map(|place| format!("{place}{}", "\u{1}é\"".repeat(80))).collect();
        let settings = Settings {
            encoding: "UTF-16LE".to_owned(),
            delimiter: Some('\t'),
            header,
            ..Settings::default()
        };
        let names: Vec<String> = (0..64).map(|place| format!("{}_{place}", "n".repeat(36))).collect();
        let origin = OriginFile::of(&settings, names, 7);
        let unpacked = Unpacked { shared: Arc::new(origin.values()), ..Unpacked::default() };
        assert_eq!(OriginFile::read(&unpacked), Some(origin));
        assert_eq!(OriginFile::read(&Unpacked::default()), None);
    }
}
