//! What the columns of a file of recipients hold.

use std::fmt;
use std::str::FromStr;

use crate::header::{self, Names, column_name};
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

impl fmt::Display for RecipientColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PhoneNumber => f.write_str("phone_number"),
            Self::Reference => f.write_str("reference"),
            Self::Value(name) => write!(f, "{VALUE}{name}"),
            Self::Ignored => f.write_str("ignored"),
        }
    }
}

impl RecipientColumn {
    /// What a column of this name holds: `Order No.` the value `order_no`. `None` for a name of which nothing can be made.
    fn by_name(name: &str) -> Option<Self> {
        let folded = fold(name.trim());
        let folded = folded.strip_prefix(VALUE).unwrap_or(&folded);
        let words = folded.split(|letter: char| !letter.is_ascii_alphanumeric());
        let made = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
        // A name such as `button.0` is one already; `Phone number` and `Reference` are the words themselves.
        let name = if is_value_name(folded) { folded } else { made.as_str() };
        let of_name = || is_value_name(name).then(|| Self::Value(name.to_owned()));
        name.parse().ok().or_else(of_name)
    }
}

/// Why it is not known what the columns of a file hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnFault {
    /// The header has so many columns, which are too many.
    TooMany(usize),
    /// No column surely holds phone numbers.
    NoNumbers,
    /// Several columns hold the same.
    Twice(RecipientColumn),
    /// So many columns hold values, which are too many.
    TooManyValues(usize),
    /// A column is named that the file does not have.
    Missing(String),
    /// Several columns are named at once.
    Several(String),
}

/// What a column holds of which nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherColumns {
    /// What its name says.
    ByName,
    /// Nothing that is read.
    Unread,
}

/// The columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldColumns {
    /// How many columns the header has.
    pub count: usize,
    /// The place of the column with the numbers.
    pub phone_number: usize,
    /// The place of the column with the caller's own names.
    pub reference: Option<usize>,
    /// The places of the columns with values, and the values' names.
    pub values: Vec<(usize, String)>,
    /// The names of those that nothing is read from, although nobody said so.
    pub unread: Vec<String>,
}

impl HeldColumns {
    /// Finds what the columns of a header hold: what is `given` of them by their names or places (`#3`), then what `others`
    /// says.
    ///
    /// # Errors
    ///
    /// When that cannot be known for sure.
    pub fn find(
        header: &[String],
        given: &[(String, RecipientColumn)],
        others: OtherColumns,
    ) -> Result<Self, ColumnFault> {
        if header.len() > header::MOST_COLUMNS {
            return Err(ColumnFault::TooMany(header.len()));
        }
        let told = by_map(header, given)?;
        let mut held = told.clone();
        if others == OtherColumns::ByName {
            for (column, name) in held.iter_mut().zip(header) {
                // What is given for another column comes first.
                let is_free = |of_name: &RecipientColumn| told.iter().flatten().all(|told| told != of_name);
                *column = column.take().or_else(|| RecipientColumn::by_name(name).filter(is_free));
            }
        }
        if !held.contains(&Some(RecipientColumn::PhoneNumber)) {
            // The first of those that are surest to be numbers of WhatsApp.
            let free = (0..header.len()).filter(|index| told[*index].is_none());
            let known = free.filter_map(|index| Some((header::phone_rank(&header[index])?, index)));
            let (_, index) = known.min().ok_or(ColumnFault::NoNumbers)?;
            held[index] = Some(RecipientColumn::PhoneNumber);
        }
        Self::of(header, held, others)
    }

    fn of(
        header: &[String],
        held: Vec<Option<RecipientColumn>>,
        others: OtherColumns,
    ) -> Result<Self, ColumnFault> {
        let (mut numbers, mut references) = (Vec::new(), Vec::new());
        let (mut values, mut unread) = (Vec::<(usize, String)>::new(), Vec::new());
        for (index, column) in held.into_iter().enumerate() {
            match column {
                None if others == OtherColumns::ByName && !header[index].trim().is_empty() => {
                    unread.push(column_name(header, index));
                }
                None | Some(RecipientColumn::Ignored) => {}
                Some(RecipientColumn::PhoneNumber) => numbers.push(index),
                Some(RecipientColumn::Reference) => references.push(index),
                Some(RecipientColumn::Value(name)) if values.iter().any(|(_, known)| *known == name) => {
                    return Err(ColumnFault::Twice(RecipientColumn::Value(name)));
                }
                Some(RecipientColumn::Value(name)) => values.push((index, name)),
            }
        }
        if values.len() > MOST_VALUES {
            return Err(ColumnFault::TooManyValues(values.len()));
        }
        let [phone_number] = numbers[..] else {
            return Err(ColumnFault::Twice(RecipientColumn::PhoneNumber));
        };
        if references.len() > 1 {
            return Err(ColumnFault::Twice(RecipientColumn::Reference));
        }
        let reference = references.first().copied();
        Ok(Self { count: header.len(), phone_number, reference, values, unread })
    }
}

/// What the columns hold by a map from their names.
fn by_map(
    header: &[String],
    given: &[(String, RecipientColumn)],
) -> Result<Vec<Option<RecipientColumn>>, ColumnFault> {
    let names = Names::of(header);
    let mut held = vec![None; header.len()];
    for (name, column) in given {
        match names.find(name.trim())[..] {
            [index] => held[index] = Some(column.clone()),
            [] => return Err(ColumnFault::Missing(name.clone())),
            _ => return Err(ColumnFault::Several(name.clone())),
        }
    }
    Ok(held)
}
