//! Phone numbers: the texts of clients, spreadsheets and contacts, made into one integer.
//!
//! A number is valid when its digits alone are 7 to 15 long and do not begin with a zero (ITU-T E.164:
//! at most 15 digits, country codes never start with 0). Fifteen digits fit into 50 bits, which is why
//! a recipient is an integer everywhere inside: a million of them are 8 MB.

mod country;
mod person;
mod plans;
mod reader;
mod region;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;

pub use self::country::Country;
pub(crate) use self::reader::{is_invisible, plain};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The fewest digits of a number that can be reached internationally.
pub const MIN_DIGITS: usize = 7;
/// The most digits that E.164 allows.
pub const MAX_DIGITS: usize = 15;

/// A valid number in international form, without the plus sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhoneNumber(u64);

/// Why something is not a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum InvalidPhone {
    /// Nothing but separators and letters.
    #[error("has no digits")]
    NoDigits,
    /// Fewer than [`MIN_DIGITS`].
    #[error("has fewer than 7 digits")]
    TooShort,
    /// More than [`MAX_DIGITS`].
    #[error("has more than 15 digits")]
    TooLong,
    /// No country code begins with zero.
    #[error("begins with 0 instead of a country code")]
    LeadingZero,
    /// Eleven digits that begin with 10 or 11, which no number of North America does.
    #[error("looks like a national number: put the country code before it")]
    National,
    /// An id that WhatsApp shows in place of a number.
    #[error("looks like a WhatsApp id that hides the number (a lid)")]
    Lid,
    /// A group, a list or a person's id within one business.
    #[error("looks like an id of WhatsApp that is not a person's number")]
    WhatsAppId,
    /// An address with another host than WhatsApp's.
    #[error("looks like an e-mail address")]
    EmailAddress,
    /// The number of a switchboard with the number of a desk, which WhatsApp does not know.
    #[error("looks like a number with an extension")]
    Extension,
    /// Two numbers, or a number with two endings.
    #[error("looks like more than one number")]
    Several,
    /// An exponent or decimals.
    #[error("looks like a spreadsheet's figure: format the column as text there")]
    Figure,
    /// A date, perhaps with a time.
    #[error("looks like a date")]
    Date,
    /// Letters between the digits.
    #[error("has letters between its digits")]
    Letters,
    /// Other characters between the digits.
    #[error("has other characters than separators between its digits")]
    Unclear,
}

impl PhoneNumber {
    /// Reads a text that is plainly one number: the digits, of any script, without separators and labels.
    ///
    /// # Errors
    ///
    /// [`InvalidPhone`] says which rule the digits break, or what the text looks like instead.
    pub fn parse(text: &str) -> Result<Self, InvalidPhone> {
        reader::read(text)
    }

    /// Reads the integer of [`PhoneNumber::as_u64`]; `None` for an invalid one.
    pub const fn from_u64(value: u64) -> Option<Self> {
        if value >= 1_000_000 && value <= 999_999_999_999_999 { Some(Self(value)) } else { None }
    }

    /// The digits as an integer.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The digits as the signed integer that databases keep.
    pub const fn as_i64(self) -> i64 {
        self.0.cast_signed()
    }

    /// Reads the stored signed integer.
    pub const fn from_i64(value: i64) -> Option<Self> {
        if value < 0 { None } else { Self::from_u64(value.cast_unsigned()) }
    }
}

/// The digits, without a plus sign.
impl Serialize for PhoneNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PhoneNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl fmt::Display for PhoneNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
