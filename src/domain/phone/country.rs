//! Countries, and numbers as they are written inside one: `(11) 90000-2701` in Brazil.
//!
//! Programs give international numbers. Files and forms are written by people, who leave their own country's code out, so
//! these may be read by the rules of a country, if a person says so.

use super::plans::PLANS;
use super::reader::{self, Digits};
use super::{InvalidPhone, PhoneNumber};

/// How a country writes its numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Two letters, as ISO 3166-1 has them.
    pub(super) code: &'static str,
    /// The country code of numbers.
    pub(super) calling: u16,
    /// What is dialled before a national number, inside the country only.
    pub(super) trunk: &'static str,
    /// How many digits national numbers have, without the trunk prefix.
    pub(super) lengths: &'static [usize],
    /// How many of them those of mobile phones have.
    pub(super) mobile: &'static [usize],
}

/// A country that has numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Country(&'static Plan);

/// The digits of a Brazilian carrier, between the trunk prefix and the area code.
const CARRIER: usize = 2;

impl Country {
    /// Every country, by calling code.
    pub fn all() -> impl Iterator<Item = Self> {
        PLANS.iter().map(Self)
    }

    /// The country of these two letters, in any case.
    pub fn parse(code: &str) -> Option<Self> {
        let code = code.trim();
        PLANS.iter().find(|plan| plan.code.eq_ignore_ascii_case(code)).map(Self)
    }

    /// The country in which most of the numbers are; of several countries with one calling code, the main one.
    pub fn guess(numbers: impl IntoIterator<Item = PhoneNumber>) -> Option<Self> {
        let mut counts: Vec<(Self, usize)> = Vec::new();
        for country in numbers.into_iter().filter_map(Self::of) {
            match counts.iter_mut().find(|(known, _)| *known == country) {
                Some((_, count)) => *count += 1,
                None => counts.push((country, 1)),
            }
        }
        // Of countries with equally many numbers, the first one counts.
        counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(country, _)| country)
    }

    /// The country of a number.
    pub fn of(number: PhoneNumber) -> Option<Self> {
        let digits = number.to_string();
        // No calling code is the beginning of another one.
        PLANS.iter().find(|plan| digits.starts_with(&plan.calling.to_string())).map(Self)
    }

    /// The two letters.
    pub const fn code(self) -> &'static str {
        self.0.code
    }

    /// The calling code.
    pub const fn calling_code(self) -> u16 {
        self.0.calling
    }

    /// What is dialled before a number of another country.
    const fn exit(self) -> &'static str {
        match self.0.calling {
            1 => "011",
            61 => "0011",
            _ => "00",
        }
    }

    /// The number of these digits as a person in this country writes it: national, or international with or without a
    /// prefix.
    fn number(self, digits: &str) -> Result<PhoneNumber, InvalidPhone> {
        let Self(plan) = self;
        let national = |digits: &str| reader::number(plan.calling.to_string().bytes().chain(digits.bytes()));
        let is_long_enough = |digits: &str| plan.lengths.contains(&digits.len());
        let abroad = |digits: &str| {
            let number = reader::number(digits.bytes())?;
            if Self::of(number).is_some() { Ok(number) } else { Err(InvalidPhone::National) }
        };
        if let Some(number) = digits.strip_prefix(self.exit()).and_then(|rest| abroad(rest).ok()) {
            return Ok(number);
        }
        let behind_trunk = Some(plan.trunk).filter(|trunk| !trunk.is_empty());
        let behind_trunk = behind_trunk.and_then(|trunk| digits.strip_prefix(trunk));
        if let Some(rest) = behind_trunk.filter(|_| digits.starts_with('0')) {
            let behind_carrier = rest.get(CARRIER..).filter(|rest| plan.code == "BR" && is_long_enough(rest));
            return match behind_carrier {
                _ if is_long_enough(rest) => national(rest),
                Some(rest) => national(rest),
                None => Err(InvalidPhone::LeadingZero),
            };
        }
        let own = digits.strip_prefix(&plan.calling.to_string()).filter(|rest| is_long_enough(rest));
        let is_national = is_long_enough(digits)
            && own.is_none_or(|rest| {
                // Both readings have a possible length. Where a zero is written before national numbers, there is none.
                plan.trunk != "0" && plan.mobile.contains(&digits.len()) && !plan.mobile.contains(&rest.len())
            });
        if is_national {
            return national(digits);
        }
        if let Some(rest) = own {
            return national(rest);
        }
        if let Some(rest) = behind_trunk.filter(|rest| is_long_enough(rest)) {
            return national(rest);
        }
        // A number of another country is longer than the numbers of this one, or it has a sign before it.
        let most = plan.lengths.iter().max().copied().unwrap_or_default();
        if digits.len() > most { abroad(digits) } else { Err(InvalidPhone::National) }
    }
}

impl PhoneNumber {
    /// Reads a text as a person in this country writes numbers; without a country, as [`PhoneNumber::parse`]. A number with
    /// a plus sign before it is international in every country.
    ///
    /// # Errors
    ///
    /// As [`PhoneNumber::parse`]; [`InvalidPhone::National`] also for a number that lacks its area code.
    pub fn parse_in(text: &str, country: Option<Country>) -> Result<Self, InvalidPhone> {
        let Some(country) = country else { return Self::parse(text) };
        let Digits { digits, is_international } = reader::digits_of(text)?;
        if is_international || digits.is_empty() {
            return reader::number(digits.bytes());
        }
        country.number(&digits)
    }

    /// Whether a text says that its number is international: by a plus sign, or as an address of WhatsApp.
    pub fn is_marked_international(text: &str) -> bool {
        reader::digits_of(text).is_ok_and(|read| read.is_international)
    }

    /// The number that a text is in this country, if it is another one than it is to programs.
    pub fn national(text: &str, country: Country) -> Option<Self> {
        Self::parse_in(text, Some(country)).ok().filter(|number| Self::parse(text) != Ok(*number))
    }
}
