//! What the columns of a file of recipients hold.

use std::str::FromStr;

use super::RecipientFault;
use crate::header::{self, Names, column_name};
use domain::error::{Code, Refusal};
use domain::fold::fold;
use domain::values::{MOST_VALUES, is_value_name};

/// The beginning of the word of a column with a value.
const VALUE: &str = "value.";

/// What a column of a file of recipients holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecipientColumn {
    /// The recipients' numbers.
    PhoneNumber,
    /// The caller's own names of the messages.
    Reference,
    /// The value of this name.
    Value(String),
    /// Nothing that is read.
    Ignored,
}

/// A word that names nothing a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be phone_number, reference, ignored or value. and a name of lower-case letters, digits and underscores"
)]
pub struct UnknownColumn;

impl FromStr for RecipientColumn {
    type Err = UnknownColumn;

    fn from_str(word: &str) -> Result<Self, UnknownColumn> {
        match word.trim() {
            "phone_number" => Ok(Self::PhoneNumber),
            "reference" => Ok(Self::Reference),
            "ignored" => Ok(Self::Ignored),
            word => match word.strip_prefix(VALUE) {
                Some(name) if is_value_name(name) => Ok(Self::Value(name.to_owned())),
                _ => Err(UnknownColumn),
            },
        }
    }
}

impl RecipientColumn {
    /// What a column of this name holds: `Order No` the value `order_no`. `None` for a name of which nothing can be made.
    fn by_name(name: &str) -> Option<Self> {
        let folded = fold(name.trim());
        let folded = folded.strip_prefix(VALUE).unwrap_or(&folded);
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
        let words: Vec<_> =
            folded.split(|letter: char| !is_word(letter)).filter(|word| !word.is_empty()).collect();
        let name = words.join("_");
        // `Phone number` and `Reference` are the words themselves.
        let of_name = || is_value_name(&name).then(|| Self::Value(name.clone()));
        name.parse().ok().or_else(of_name)
    }
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct HeldColumns {
    /// How many columns the header has.
    pub(super) count: usize,
    pub(super) phone_number: usize,
    pub(super) reference: Option<usize>,
    pub(super) values: Vec<(usize, String)>,
    /// The names of those that nothing is read from, although nobody said so.
    pub(super) unread: Vec<String>,
}

impl HeldColumns {
    /// Finds what the columns of the header on `line` hold: by what is `given`, or else by their names.
    pub(super) fn find(
        header: &[String],
        line: u64,
        given: Option<&[(String, RecipientColumn)]>,
    ) -> Result<Self, RecipientFault> {
        if header.len() > header::MOST_COLUMNS {
            let (found, most) = (header.len(), header::MOST_COLUMNS);
            let what = format_args!("has {found} columns on line {line}, and at most {most} are read");
            return Err(RecipientFault::of(what));
        }
        let mut held: Vec<Option<RecipientColumn>> = match given {
            None => header.iter().map(|name| RecipientColumn::by_name(name)).collect(),
            Some(given) => by_map(header, given)?,
        };
        if !held.contains(&Some(RecipientColumn::PhoneNumber)) {
            // The first of those that are surest to be numbers of WhatsApp.
            let free = |index: &usize| given.is_none() || held[*index].is_none();
            let known = (0..header.len()).filter(free);
            let known = known.filter_map(|index| Some((header::phone_rank(&header[index])?, index)));
            let Some((_, index)) = known.min() else {
                let shown = header::shown(header);
                let what = format_args!(
                    "has no column `phone_number`: name it so on line {line}, or say in `columns` which one it is; the \
                     columns are {shown}"
                );
                return Err(RecipientFault::of(what));
            };
            held[index] = Some(RecipientColumn::PhoneNumber);
        }
        let mut columns = Self {
            count: header.len(),
            phone_number: 0,
            reference: None,
            values: Vec::new(),
            unread: Vec::new(),
        };
        let mut numbers = 0;
        for (index, column) in held.into_iter().enumerate() {
            match column {
                None if given.is_none() && !header[index].trim().is_empty() => {
                    columns.unread.push(column_name(header, index));
                }
                None | Some(RecipientColumn::Ignored) => {}
                Some(RecipientColumn::PhoneNumber) => (columns.phone_number, numbers) = (index, numbers + 1),
                Some(RecipientColumn::Reference) if columns.reference.is_some() => {
                    return Err(twice("reference", line));
                }
                Some(RecipientColumn::Reference) => columns.reference = Some(index),
                Some(RecipientColumn::Value(name))
                    if columns.values.iter().any(|(_, known)| *known == name) =>
                {
                    return Err(twice(&format!("value.{name}"), line));
                }
                Some(RecipientColumn::Value(name)) => columns.values.push((index, name)),
            }
        }
        if numbers > 1 {
            return Err(twice("phone_number", line));
        }
        if columns.values.len() > MOST_VALUES {
            let found = columns.values.len();
            let what = format_args!(
                "has {found} columns with values, and at most {MOST_VALUES} are read: say in `columns` which ones"
            );
            return Err(RecipientFault::of(what));
        }
        Ok(columns)
    }
}

/// What the columns hold by a map from their names.
fn by_map(
    header: &[String],
    given: &[(String, RecipientColumn)],
) -> Result<Vec<Option<RecipientColumn>>, RecipientFault> {
    let names = Names::of(header);
    let mut held = vec![None; header.len()];
    for (name, column) in given {
        let found = names.find(name.trim());
        let [index] = found[..] else {
            let shown = header::shown(header);
            let what =
                if found.is_empty() { "is no column of the file" } else { "is several columns of the file" };
            let what =
                format!("names {name:?}, which {what}: give its name or its place, such as #2, of {shown}");
            return Err(Refusal::of("columns", Code::InvalidField, what).into());
        };
        held[index] = Some(column.clone());
    }
    Ok(held)
}

fn twice(what: &str, line: u64) -> RecipientFault {
    let sentence = format_args!(
        "has two columns for {what} on line {line}: name them differently, or say in `columns` which one it is"
    );
    RecipientFault::of(sentence)
}
