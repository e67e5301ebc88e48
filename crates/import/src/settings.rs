//! The settings of an uploaded file: its encoding, the fields of its columns, the country of its numbers, and tags for all
//! of its contacts.

use serde::{Deserialize, Serialize};

use std::collections::HashSet;

use super::header::{self, Field, Layout, MOST_COLUMNS, Mapping, Names};
use super::inspection::WrongBytes;
use super::sheet::{self, SourceSheet};
use super::{Error, Result};
use domain::contact::MOST_TAGS;
use domain::own_field::{self, OwnField};
use domain::phone::Country;

/// The maximum of columns that are remembered for the next file.
const MOST_REMEMBERED: usize = MOST_COLUMNS;

/// What may separate the tags of a cell; the first is preferred where two would do. A semicolon always does.
pub const TAG_SEPARATORS: [char; 3] = [';', '|', ','];

/// The settings of an uploaded file, stored in the database as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The label of the encoding in the web's encoding standard.
    pub encoding: String,
    /// The columns whose fields were chosen for this file.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The columns of this file whose fields were chosen for an earlier one.
    #[serde(default)]
    pub recalled: Vec<Column>,
    /// Names of tags that every contact of the file gets.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The file's header.
    #[serde(default)]
    pub header: Vec<String>,
    /// The country by whose rules numbers without a plus sign are read; without one, they are international.
    #[serde(default)]
    pub country: Option<String>,
    /// Whether a name that looks wrongly decoded replaces a good one.
    #[serde(default)]
    pub replaces_names: bool,
    /// The bytes of the file that are not valid in its encoding, as the upload found them.
    #[serde(default)]
    pub wrong_bytes: Option<WrongBytes>,
    /// What separates the tags of a cell, one of [`TAG_SEPARATORS`]; without one, a semicolon.
    #[serde(default)]
    pub tag_separator: Option<char>,
    /// What separates the cells of the file; a comma for files from before it was kept.
    #[serde(default)]
    pub delimiter: Option<char>,
    /// The sheet that the file was converted from.
    #[serde(default)]
    pub sheet: Option<SourceSheet>,
    /// The first stored piece of the file. Before it was what the file was converted from.
    #[serde(default)]
    pub first_piece: u64,
    /// The company's own fields, as they were when the file was uploaded or last changed.
    #[serde(default)]
    pub own: Vec<OwnField>,
}

/// The chosen field of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The column's name in the header, or `#` and its number, from 1.
    pub column: String,
    /// The word of a [`Field`].
    pub field: String,
}

impl Settings {
    /// The layout of a header on `line`, by the chosen and the recalled columns; words that name no field are skipped.
    pub(super) fn layout(&self, header: Vec<String>, line: u64) -> Result<Layout> {
        let (columns, recalled) = (self.mappings(&self.columns), self.mappings(&self.recalled));
        let mut layout = Layout::lenient(header, line, (&columns, &recalled), &self.own)?;
        layout.tag_separator = self.tag_separator.unwrap_or(';');
        Ok(layout)
    }

    /// The delimiter of a file that Pombo wrote itself; that of any other file is found in its first lines.
    pub(super) fn own_delimiter(&self) -> Option<u8> {
        self.sheet.is_some().then_some(sheet::DELIMITER)
    }

    /// The places of the columns with tags.
    pub fn tag_columns(&self) -> Vec<usize> {
        let fields = self.fields().into_iter().enumerate();
        fields.filter(|(_, field)| *field == Some(Field::Tags)).map(|(index, _)| index).collect()
    }

    /// The country by whose rules numbers are read.
    pub fn numbers_of(&self) -> Option<Country> {
        self.country.as_deref().and_then(Country::parse)
    }

    /// Checks whether the chosen fields fit the file.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyColumns`], [`Error::TooManyMappings`], [`Error::TooManyTags`], [`Error::NoSuchField`],
    /// [`Error::NoSuchColumn`], [`Error::NoSuchCountry`].
    pub fn check(&self) -> Result<()> {
        header::check_mappings(self.columns.len())?;
        if self.tags.len() > MOST_TAGS {
            return Err(Error::TooManyTags { found: self.tags.len() });
        }
        let unknown = self.columns.iter().find(|column| self.field(&column.field).is_none());
        if let Some(Column { column, field }) = unknown.cloned() {
            return Err(Error::NoSuchField { column, field });
        }
        if let Some(country) = self.country.clone().filter(|_| self.numbers_of().is_none()) {
            return Err(Error::NoSuchCountry(country));
        }
        self.layout(self.header.clone(), 1).map(drop)
    }

    /// Checks also that a column has phone numbers or e-mail addresses, which identify contacts.
    ///
    /// # Errors
    ///
    /// As [`Settings::check`], and [`Error::NoKnownColumn`].
    pub fn check_complete(&self) -> Result<()> {
        self.check()?;
        self.layout(self.header.clone(), 1)?.check(1)
    }

    /// The field of this word; `None` for an own field that the company does not have.
    fn field(&self, word: &str) -> Option<Field> {
        let field = Field::parse(word)?;
        let is_known = match field {
            Field::Own(key) => own_field::find(&self.own, key).is_some(),
            _ => true,
        };
        is_known.then_some(field)
    }

    /// Columns as mappings; words that name no field are skipped.
    fn mappings(&self, columns: &[Column]) -> Vec<Mapping> {
        let mapping = |column: &Column| {
            Some(Mapping { column: column.column.clone(), field: self.field(&column.field)? })
        };
        columns.iter().filter_map(mapping).collect()
    }

    /// The field of each column of the header.
    pub fn fields(&self) -> Vec<Option<Field>> {
        let layout = self.layout(self.header.clone(), 1);
        let Ok(layout) = layout else { return vec![None; self.header.len()] };
        (0..self.header.len()).map(|index| layout.field(index)).collect()
    }

    /// Takes what a person chose for each column, by the word of its field. A column is mapped only if its field differs
    /// from the one that it had: what a person did not change keeps its place among the columns of its field. When the
    /// columns of a field change, those that have it are all mapped, in the order in which they were read.
    pub fn choose(&mut self, chosen: &[(usize, Field)]) {
        let Ok(layout) = self.layout(self.header.clone(), 1) else { return };
        let shown = |index| layout.field(index).unwrap_or(Field::Ignored);
        let is_changed = |(index, field): &&(usize, Field)| shown(*index) != *field;
        let changed: Vec<&(usize, Field)> = chosen.iter().filter(is_changed).collect();
        if changed.is_empty() {
            return;
        }
        let is_new: HashSet<usize> = changed.iter().map(|(index, _)| *index).collect();
        let fields: HashSet<Field> = changed.iter().map(|(_, field)| *field).collect();
        let name = |index| header::column_name(&self.header, index);
        let column = |index, field: Field| Column { column: name(index), field: field.word().into_owned() };
        let mut columns: Vec<Column> = changed.iter().map(|(index, field)| column(*index, *field)).collect();
        // The other columns of these fields, in their order; a column that was chosen before stays chosen.
        let before: HashSet<String> = self.columns.iter().map(|column| column.column.clone()).collect();
        let own = self.own.iter().map(|own| Field::Own(own.key));
        for field in Field::BUILT_IN.into_iter().filter(|field| *field != Field::Ignored).chain(own) {
            for index in layout.columns(field).filter(|index| !is_new.contains(index)) {
                if fields.contains(&field) || before.contains(&name(index)) {
                    columns.push(column(index, field));
                }
            }
        }
        let ignored = self.columns.iter().filter(|column| column.field == Field::Ignored.word());
        let ignored: Vec<Column> =
            ignored.filter(|old| columns.iter().all(|new| new.column != old.column)).cloned().collect();
        columns.extend(ignored);
        self.columns = columns;
    }

    /// The columns to remember, added to those `remembered` before. The latest choice for a column counts. The place of a
    /// column means nothing in another file.
    pub fn remember(&self, remembered: Vec<Column>) -> Vec<Column> {
        let chosen = self.columns.iter().filter(|column| !header::is_place(&column.column));
        let mut columns: Vec<Column> = chosen.cloned().collect();
        let chosen: HashSet<&str> = self.columns.iter().map(|column| column.column.as_str()).collect();
        columns.extend(remembered.into_iter().filter(|old| !chosen.contains(old.column.as_str())));
        columns.truncate(MOST_REMEMBERED);
        columns
    }

    /// Recalls the remembered fields of this file's columns, before those that are recalled already.
    pub fn recall(&mut self, remembered: &[Column]) {
        let names: HashSet<&str> = self.header.iter().map(String::as_str).collect();
        let known = remembered.iter().filter(|known| names.contains(known.column.as_str())).cloned();
        self.recalled = known.chain(std::mem::take(&mut self.recalled)).collect();
    }

    /// Takes the header that another encoding gives the same file. The columns keep their fields under their new names.
    pub fn rename(&mut self, header: Vec<String>) {
        let names = Names::of(&self.header);
        let renamed = |columns: &[Column]| {
            let (mut kept, mut known) = (Vec::new(), HashSet::new());
            for Column { column, field } in columns {
                let found = names.find(column).into_iter().filter(|index| *index < header.len());
                for index in found.filter(|index| known.insert(*index)) {
                    let column = header::column_name(&header, index);
                    kept.push(Column { column, field: field.clone() });
                }
            }
            kept
        };
        (self.columns, self.recalled) = (renamed(&self.columns), renamed(&self.recalled));
        self.header = header;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(header: &[&str]) -> Settings {
        Settings { header: header.iter().map(|name| (*name).to_owned()).collect(), ..Settings::default() }
    }

    fn columns(settings: &Settings, field: Field) -> Vec<usize> {
        settings.layout(settings.header.clone(), 1).unwrap().columns(field).collect()
    }

    /// What a form sends that shows the fields of all columns.
    fn shown(settings: &Settings) -> Vec<(usize, Field)> {
        settings.fields().into_iter().map(|field| field.unwrap_or(Field::Ignored)).enumerate().collect()
    }

    #[test]
    fn what_a_person_did_not_change_is_no_mapping() {
        let mut settings =
            settings(&["First Name", "Middle Name", "Phone Number", "WhatsApp", "Telefone", "Telefone", "x"]);
        let before = columns(&settings, Field::PhoneNumber);
        settings.choose(&shown(&settings));
        assert_eq!((&settings.columns[..], &before[..]), (&[][..], &[3, 2, 4, 5][..]));
        let mut chosen = shown(&settings);
        chosen[6].1 = Field::Tags;
        settings.choose(&chosen);
        assert_eq!(settings.columns, [Column { column: "x".to_owned(), field: "tags".to_owned() }]);
        assert_eq!(columns(&settings, Field::PhoneNumber), before);
        // The same form again changes nothing.
        settings.choose(&shown(&settings));
        assert_eq!(settings.columns.len(), 1);
    }

    #[test]
    fn a_chosen_column_comes_first_and_the_others_of_its_field_keep_their_order() {
        let mut settings = settings(&["Telefone", "Telefone", "WhatsApp", "Ramal", ""]);
        let mut chosen = shown(&settings);
        chosen[3].1 = Field::PhoneNumber;
        settings.choose(&chosen);
        assert_eq!(columns(&settings, Field::PhoneNumber), [3, 2, 0, 1]);
        let mut chosen = shown(&settings);
        chosen[1].1 = Field::Ignored;
        chosen[4].1 = Field::Name;
        settings.choose(&chosen);
        assert_eq!(columns(&settings, Field::PhoneNumber), [3, 2, 0]);
        assert_eq!(columns(&settings, Field::Name), [4]);
        assert_eq!(settings.fields()[1], Some(Field::Ignored));
        // The places of columns are not remembered.
        let remembered = settings.remember(Vec::new());
        assert!(remembered.iter().all(|column| !column.column.starts_with('#')), "{remembered:?}");
        assert!(remembered.iter().any(|column| column.column == "Ramal"));
    }

    #[test]
    fn columns_keep_their_fields_when_another_encoding_gives_them_other_names() {
        let column = |name: &str, field: &str| Column { column: name.to_owned(), field: field.to_owned() };
        let number = |name: &str| column(name, "phone_number");
        let mut settings = settings(&["Nome", "TelÃ©fono", "NÃºmero", "Fone", "Fone", ""]);
        settings.columns =
            vec![number("telÃ©fono"), number("Fone"), column("#6", "tags"), column("#2", "ignored")];
        settings.recalled = vec![column("NÃºmero", "name")];
        settings.rename(["Nome", "Teléfono", "Número", "Fone", "Fone", ""].map(str::to_owned).to_vec());
        let renamed = [number("Teléfono"), number("#4"), number("#5"), column("#6", "tags")];
        assert_eq!(settings.columns, renamed);
        assert_eq!(settings.recalled, [column("Número", "name")]);
        settings.check().unwrap();
        settings.recall(&[column("Nome", "first_name"), column("Fax", "ignored")]);
        assert_eq!(settings.recalled, [column("Nome", "first_name"), column("Número", "name")]);
        // Columns that the new header lacks have no field to keep.
        settings.rename(vec!["Nome".to_owned(), "Teléfono".to_owned()]);
        assert_eq!(settings.columns, [number("Teléfono")]);
        settings.check().unwrap();
    }
}
