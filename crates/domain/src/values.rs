//! Values of a send's recipients: `{{value.order}}` stands for what the request says about each of them.
//!
//! A request gives them for each recipient, and some for all; the recipient's own come first. Names and texts are checked
//! here. [`Rows`] takes a request's recipients one by one and keeps them packed; [`Needs`] says which values a content
//! cannot do without; [`Packer`] makes the blocks that are stored beside the recipients' numbers, [`unpack`] reads them.

mod needs;
mod pack;
mod rows;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::needs::{Lack, Needs};
pub use self::pack::{BLOCK_BYTES, BLOCK_ROWS, PackedValues, Packer, Unpacked, unpack};
pub use self::rows::{Ended, MOST_NAMES, RowFault, RowView, Rows, Spill};
pub use self::text::{MAX_ADDRESS_CHARS, clean, unfit_for_template};

/// The most values of one recipient.
pub const MOST_VALUES: usize = 64;
/// The most characters of a value.
pub const VALUE_CHARS: usize = 1024;
/// The most characters of a value's name.
pub const VALUE_NAME_CHARS: usize = 40;
/// The beginning of the name of a button's value in the short form: `button.0`.
pub(crate) const BUTTON: &str = "button.";

/// Whether values may have this name: lower-case letters, digits and underscores, or `button.` and a digit.
pub fn is_value_name(name: &str) -> bool {
    let is_button = |place: &str| place.len() == 1 && place.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.strip_prefix(BUTTON).is_some_and(is_button)
        || ((1..=VALUE_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_word))
}

/// What finds a recipient's values by their names.
pub trait Lookup {
    /// The value of this name, which is not blank.
    fn value(&self, name: &str) -> Option<&str>;

    /// No fewer bytes than all values together have, where that is known without a look at each.
    fn most_bytes(&self) -> Option<usize> {
        None
    }
}

/// Values by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(BTreeMap<String, String>);

impl Values {
    /// Adds a value. A blank one counts as absent.
    ///
    /// # Errors
    ///
    /// For a name that is none, one that was given before, a value of more than [`VALUE_CHARS`] characters and more than
    /// [`MOST_VALUES`] values.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), RowFault> {
        RowFault::check_name(name)?;
        if value.chars().nth(VALUE_CHARS).is_some() {
            return Err(RowFault::of(name, text::too_long()));
        }
        if value.trim().is_empty() {
            return Ok(());
        }
        if self.0.len() >= MOST_VALUES {
            return Err(RowFault::many());
        }
        match self.0.insert(name.to_owned(), value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(RowFault::twice(name)),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All values with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same with white space folded, as `clean` asks.
    #[must_use]
    pub fn cleaned(self) -> Self {
        Self(self.0.into_iter().map(|(name, value)| (name, clean(&value).into_owned())).collect())
    }
}

impl Lookup for Values {
    fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn most_bytes(&self) -> Option<usize> {
        self.is_empty().then_some(0)
    }
}

/// A recipient's own values, before those of all recipients.
#[derive(Debug, Clone, Copy)]
pub struct Both<'a, O: Lookup>(pub O, pub &'a Values);

impl<O: Lookup> Lookup for Both<'_, O> {
    fn value(&self, name: &str) -> Option<&str> {
        self.0.value(name).or_else(|| self.1.value(name))
    }

    fn most_bytes(&self) -> Option<usize> {
        Some(self.0.most_bytes()? + self.1.most_bytes()?)
    }
}

impl<T: Lookup> Lookup for &T {
    fn value(&self, name: &str) -> Option<&str> {
        (**self).value(name)
    }

    fn most_bytes(&self) -> Option<usize> {
        (**self).most_bytes()
    }
}

impl<T: Lookup> Lookup for Option<T> {
    fn value(&self, name: &str) -> Option<&str> {
        self.as_ref().and_then(|values| values.value(name))
    }
}

#[cfg(test)]
mod tests;
