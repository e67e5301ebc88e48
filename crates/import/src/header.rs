//! Finds the field of each column from the header.
//!
//! Columns with [known names](known) need no mapping. A mapping gives the field of any other column, by its name or by
//! its place (`#3`); the mapped columns of a field are its only ones. What was mapped in an earlier file is only a
//! name that is known: it hides no column that is better. A column that is called like an own field of the company has it,
//! unless its name means a field of every contact. Names that are likely to mean a field come after these.
//! Names are compared by their letters and digits, so that
//! `First Name`, `first_name` and `FIRST NAME` are equal, and accents are ignored. Unknown columns are ignored.

mod field;
mod known;
mod likely;

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

pub use self::field::Field;
use self::known::{Known, known};
use self::likely::{likely, perhaps_phone};
use super::{Error, Result};
use domain::own_field::{self, OwnField};

/// The most columns of a file: more than any spreadsheet of contacts has. Each row is divided into as many cells, and
/// each page that shows the file has as many lines.
pub const MOST_COLUMNS: usize = 500;
/// The most mappings: one for each column.
pub const MOST_MAPPINGS: usize = MOST_COLUMNS;
/// The longest header, in bytes: it is stored with its import, and lists of imports show it.
const LONGEST_HEADER: usize = 64 * 1024;
/// Columns that a refusal names, and characters of each.
const SHOWN_COLUMNS: usize = 12;
const SHOWN_CHARS: usize = 80;

/// The columns of an export of Pombo.
pub(super) const OWN: [&str; 7] =
    ["first_name", "last_name", "email", "phone_number", "phone_number_lid", "profile_picture", "tags"];
/// The fields that a mapping can name.
pub(super) const FIELDS: &str = "first_name, middle_name, last_name, name, organization, email, phone_number, phone_number_lid, profile_picture, \
     tags, ignored, or fields.KEY for an own field";

/// `column=field`: the columns of this name, or the one at this place, have this field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The column's name in the header, or `#` and its number, from 1.
    pub column: String,
    /// The field of the column.
    pub field: Field,
}

impl FromStr for Mapping {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.rsplit_once('=').filter(|(column, _)| !column.trim().is_empty());
        let (column, field) = parts.ok_or_else(|| Error::Mapping(text.to_owned()))?;
        let field = Field::parse(field).ok_or_else(|| Error::Mapping(text.to_owned()))?;
        Ok(Self { column: column.trim().to_owned(), field })
    }
}

/// A parsed header.
#[derive(Debug)]
pub(super) struct Layout {
    /// The original header, for the file of rejected rows.
    pub(super) header: Vec<String>,
    /// Whether this is an export of Pombo, whose cells are taken as they are.
    pub(super) is_own: bool,
    /// Columns with a field, in the order in which they are read.
    columns: Vec<(Field, usize)>,
    /// The field of each column.
    fields: Vec<Option<Field>>,
    /// The columns in which Google names its own groups, too.
    groups: Vec<usize>,
    /// What separates the tags of a cell, as a semicolon does in any file.
    pub(super) tag_separator: char,
    /// The own fields that have a column.
    pub(super) own: Vec<OwnField>,
}

/// A column with a field, and its rank among the columns of the same field.
struct Ranked {
    field: Field,
    rank: u32,
    index: usize,
}

/// The columns of a header by their names.
pub(super) struct Names<'a> {
    exact: HashMap<&'a str, Vec<usize>>,
    plain: HashMap<String, Vec<usize>>,
    count: usize,
}

impl<'a> Names<'a> {
    pub(super) fn of(header: &'a [String]) -> Self {
        let (mut exact, mut by_letters) =
            (HashMap::<&str, Vec<usize>>::new(), HashMap::<_, Vec<usize>>::new());
        for (index, name) in header.iter().enumerate() {
            exact.entry(name.trim()).or_default().push(index);
            by_letters.entry(plain(name)).or_default().push(index);
        }
        // A name without letters and digits is like no other.
        by_letters.remove("");
        exact.remove("");
        Self { exact, plain: by_letters, count: header.len() }
    }

    /// The columns of this name, or else the column at this place.
    pub(super) fn find(&self, name: &str) -> Vec<usize> {
        let named = self.exact.get(name).or_else(|| self.plain.get(&plain(name)).filter(|_| !is_place(name)));
        let place = || place(name).filter(|index| *index < self.count).into_iter().collect();
        named.cloned().unwrap_or_else(place)
    }
}

/// The column that `#3` names, from 0.
fn place(name: &str) -> Option<usize> {
    name.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1)
}

/// Whether a mapping names a column by its place.
pub(super) fn is_place(name: &str) -> bool {
    place(name).is_some()
}

/// How a mapping names a column: by its name, or by its place if it has no name of its own.
pub fn column_name(header: &[String], index: usize) -> String {
    let name = header.get(index).map_or("", |name| name.trim());
    let is_unique = header.iter().filter(|other| other.trim() == name).count() == 1;
    if name.is_empty() || !is_unique { format!("#{}", index + 1) } else { name.to_owned() }
}

/// Whether a column of this name is known to hold phone numbers or e-mail addresses, which identify contacts.
pub(super) fn identifies(name: &str) -> bool {
    known(name).is_some_and(|known| matches!(known.field, Field::Email | Field::PhoneNumber))
}

/// Whether a cell of a line with several texts may be the name of such a column.
pub(super) fn may_identify(name: &str) -> bool {
    let is_likely =
        likely(name).is_some_and(|found| matches!(found.field, Field::Email | Field::PhoneNumber));
    is_likely || perhaps_phone(&[name.to_owned()]).is_some()
}

/// How likely a column of this name holds people's numbers of WhatsApp, the surest first; `None` for another column.
pub(super) fn phone_rank(name: &str) -> Option<u32> {
    let found = known(name).or_else(|| likely(name));
    found.filter(|found| found.field == Field::PhoneNumber).map(|found| found.rank)
}

/// Whether a column of this name is known to hold a field of every contact, so that no own field may be called so: an export
/// with such a column could not be imported again.
pub fn is_taken(name: &str) -> bool {
    known(name).is_some_and(|known| known.field != Field::Organization)
}

/// The own field that a column of this name has: the one that is called exactly so, as in an export; else one whose name is
/// compared as other names are; else one with this key, which may be another field's name.
fn own_of<'a>(own: &'a [OwnField], name: &str) -> Option<&'a OwnField> {
    let (written, name) = (name.trim(), plain(name));
    let exact = own.iter().find(|field| field.name == written);
    if exact.is_some() || name.is_empty() {
        return exact;
    }
    let called = own.iter().find(|field| plain(&field.name) == name);
    called.or_else(|| own.iter().find(|field| plain(field.key.as_str()) == name))
}

/// Checks the length of a header, before it is divided into names.
pub(super) fn check_length(header: &[u8], line: u64) -> Result<()> {
    if header.len() > LONGEST_HEADER {
        let fault = format!("it is longer than {} KiB", LONGEST_HEADER / 1024);
        return Err(Error::Header { line, fault });
    }
    Ok(())
}

impl Layout {
    /// Parses the header on `line`.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyColumns`], [`Error::TooManyMappings`], [`Error::NoSuchColumn`] for a mapping of a column that
    /// does not exist, [`Error::NoSuchField`] for one to an own field that does not, [`Error::NoKnownColumn`] when no column holds a number or an address.
    #[cfg(test)]
    pub(super) fn new(header: Vec<String>, line: u64, mappings: &[Mapping]) -> Result<Self> {
        let layout = Self::lenient(header, line, (mappings, &[]), &[])?;
        layout.check(line)?;
        Ok(layout)
    }

    /// Like [`Layout::new`], whether or not a column holds a number or an address. `recalled` are mappings of earlier files;
    /// those of columns that this file lacks are ignored. `own` are the company's own fields.
    pub(super) fn lenient(
        header: Vec<String>,
        line: u64,
        (mappings, recalled): (&[Mapping], &[Mapping]),
        own: &[OwnField],
    ) -> Result<Self> {
        if header.len() > MOST_COLUMNS {
            return Err(Error::TooManyColumns { line, found: header.len() });
        }
        check_mappings(mappings.len())?;
        let exists = |field: Field| match field {
            Field::Own(key) => own_field::find(own, key).is_some(),
            _ => true,
        };
        let names = Names::of(&header);
        let (mut ranked, mut mapped) = (Vec::new(), HashSet::new());
        for Mapping { column, field } in mappings {
            if !exists(*field) {
                let (column, field) = (column.clone(), field.word().into_owned());
                return Err(Error::NoSuchField { column, field });
            }
            let found = names.find(column);
            if found.is_empty() {
                return Err(Error::NoSuchColumn { line, column: column.clone(), found: shown(&header) });
            }
            let new = found.into_iter().filter(|index| mapped.insert(*index));
            ranked.extend(new.map(|index| Ranked { field: *field, rank: 0, index }));
        }
        let given: HashSet<Field> = mappings.iter().map(|mapping| mapping.field).collect();
        let recalled = recalled.iter().take(MOST_MAPPINGS).filter(|mapping| exists(mapping.field));
        for Mapping { column, field } in recalled {
            for index in names.find(column) {
                let is_known = known(&header[index]).is_some_and(|known| known.field == *field);
                if !is_known && !given.contains(field) && mapped.insert(index) {
                    ranked.push(Ranked { field: *field, rank: known::RECALLED, index });
                }
            }
        }
        let (mut groups, mut exported) = (Vec::new(), 0);
        for (index, name) in header.iter().enumerate() {
            exported += usize::from(OWN.contains(&name.trim()));
            let Known { field, rank, is_google_group } = match (known(name), own_of(own, name)) {
                (Some(known), None) => known,
                (Some(known), Some(_)) if known.field != Field::Organization => known,
                (_, Some(own)) => Known { field: Field::Own(own.key), rank: 0, is_google_group: false },
                (None, None) => match likely(name) {
                    Some(likely) => likely,
                    None => continue,
                },
            };
            if is_google_group {
                groups.push(index);
            }
            if !mapped.contains(&index) && !given.contains(&field) {
                ranked.push(Ranked { field, rank, index });
            }
        }
        let has_phone = given.contains(&Field::PhoneNumber)
            || ranked.iter().any(|column| column.field == Field::PhoneNumber);
        let perhaps = if has_phone { None } else { perhaps_phone(&header) };
        let is_free = |index: &usize| !mapped.contains(index) && own_of(own, &header[*index]).is_none();
        if let Some(index) = perhaps.filter(is_free) {
            ranked.push(Ranked { field: Field::PhoneNumber, rank: known::ANY, index });
        }
        // If there is a column of last names, a column "Name" or "Nome" has the first names.
        let has = |field: Field| ranked.iter().any(|column| column.field == field);
        if has(Field::LastName) && !has(Field::FirstName) {
            let is_whole =
                |column: &&mut Ranked| column.field == Field::Name && !mapped.contains(&column.index);
            ranked.iter_mut().filter(is_whole).for_each(|column| column.field = Field::FirstName);
        }
        ranked.sort_by_key(|column| column.rank);
        let mut fields = vec![None; header.len()];
        for Ranked { field, index, .. } in ranked.iter().rev() {
            fields[*index] = Some(*field);
        }
        let columns = ranked.into_iter().map(|column| (column.field, column.index)).collect();
        let is_own = exported == OWN.len() && mapped.is_empty();
        let has_column = |field: &&OwnField| fields.contains(&Some(Field::Own(field.key)));
        let own = own.iter().filter(has_column).cloned().collect();
        Ok(Self { header, is_own, columns, fields, groups, tag_separator: ';', own })
    }

    /// Checks that a column has phone numbers or e-mail addresses, which identify contacts.
    pub(super) fn check(&self, line: u64) -> Result<()> {
        if self.columns.iter().any(|(field, _)| matches!(field, Field::Email | Field::PhoneNumber)) {
            return Ok(());
        }
        Err(Error::NoKnownColumn { line, found: shown(&self.header) })
    }

    /// The field of a column.
    pub(super) fn field(&self, index: usize) -> Option<Field> {
        self.fields.get(index).copied().flatten()
    }

    /// The names of the columns that nothing is read from, as a mapping would name them.
    pub(super) fn ignored(&self) -> Vec<String> {
        let none = self.fields.iter().enumerate().filter(|(_, field)| field.is_none());
        none.map(|(index, _)| column_name(&self.header, index)).collect()
    }

    /// The columns with `field`, the preferred one first.
    pub(super) fn columns(&self, field: Field) -> impl Iterator<Item = usize> {
        self.columns.iter().filter(move |(held, _)| *held == field).map(|(_, index)| *index)
    }
}

impl Layout {
    /// Whether Google names its own groups in this column, with a star before each.
    pub(super) fn has_google_groups(&self, index: usize) -> bool {
        self.groups.contains(&index)
    }
}

/// Checks the number of mappings.
pub(super) const fn check_mappings(found: usize) -> Result<()> {
    if found > MOST_MAPPINGS { Err(Error::TooManyMappings { found }) } else { Ok(()) }
}

/// The header's first columns, as a refusal shows them.
pub(super) fn shown(header: &[String]) -> String {
    let shown = |name: &String| name.trim().chars().take(SHOWN_CHARS).collect::<String>();
    header.iter().take(SHOWN_COLUMNS).map(shown).collect::<Vec<_>>().join(", ")
}

/// The letters and digits of `name`, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
