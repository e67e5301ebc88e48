//! Phone numbers: the texts of clients, spreadsheets and contacts, made into one integer.
//!
//! A number is valid when its digits alone are 7 to 15 long and do not begin with a zero (ITU-T E.164:
//! at most 15 digits, country codes never start with 0). Fifteen digits fit into 50 bits, which is why
//! a recipient is an integer everywhere inside: a million of them are 8 MB.

use std::fmt;

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
}

impl PhoneNumber {
    /// Strips everything that is not a digit and checks what is left.
    ///
    /// # Errors
    ///
    /// [`InvalidPhone`] says which rule the digits break.
    pub fn parse(text: &str) -> Result<Self, InvalidPhone> {
        let mut value: u64 = 0;
        let mut digits = 0;
        let mut leading_zero = false;
        for digit in text.bytes().filter(u8::is_ascii_digit) {
            if digits == 0 {
                leading_zero = digit == b'0';
            }
            digits += 1;
            if digits > MAX_DIGITS {
                return Err(InvalidPhone::TooLong);
            }
            value = value * 10 + u64::from(digit - b'0');
        }
        match digits {
            0 => Err(InvalidPhone::NoDigits),
            _ if leading_zero => Err(InvalidPhone::LeadingZero),
            1..MIN_DIGITS => Err(InvalidPhone::TooShort),
            _ => Ok(Self(value)),
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn separators_are_stripped_and_the_rules_are_named() {
        let parse = |text| PhoneNumber::parse(text).map(PhoneNumber::as_u64);
        assert_eq!(parse("+55 (11) 98888-7777"), Ok(5_511_988_887_777));
        assert_eq!(parse("1234567"), Ok(1_234_567));
        assert_eq!(parse("999999999999999"), Ok(999_999_999_999_999));
        assert_eq!(parse(""), Err(InvalidPhone::NoDigits));
        assert_eq!(parse("n/a"), Err(InvalidPhone::NoDigits));
        assert_eq!(parse("123456"), Err(InvalidPhone::TooShort));
        assert_eq!(parse("1234567890123456"), Err(InvalidPhone::TooLong));
        assert_eq!(parse("0044 20 7946 0958"), Err(InvalidPhone::LeadingZero));
        assert_eq!(parse("٠١٢٣٤٥٦٧"), Err(InvalidPhone::NoDigits));
    }

    proptest! {
        #[test]
        fn a_valid_number_survives_any_decoration(value in 1_000_000_u64..=999_999_999_999_999, gap in "[ +()./-]{0,3}") {
            let decorated: String = value.to_string().chars().flat_map(|digit| [digit.to_string(), gap.clone()]).collect();
            prop_assert_eq!(PhoneNumber::parse(&decorated).map(PhoneNumber::as_u64), Ok(value));
        }

        #[test]
        fn what_parses_is_shown_and_parsed_again_unchanged(text in ".{0,40}") {
            if let Ok(number) = PhoneNumber::parse(&text) {
                prop_assert_eq!(PhoneNumber::parse(&number.to_string()), Ok(number));
                prop_assert_eq!(PhoneNumber::from_u64(number.as_u64()), Some(number));
                prop_assert_eq!(PhoneNumber::from_i64(number.as_i64()), Some(number));
            }
        }
    }
}
