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
    /// Those of mobile phones: the digits with which they begin, and how many digits they then have.
    pub(super) mobile: &'static [(&'static str, &'static [usize])],
}

impl Plan {
    /// Whether national numbers have as many digits.
    fn has_length(&self, digits: &str) -> bool {
        self.lengths.contains(&digits.len())
    }

    /// Whether mobile phones have national numbers like this one.
    fn has_mobile(&self, digits: &str) -> bool {
        let begins = |first: &str| digits.starts_with(|digit: char| first.contains(digit));
        let is_known = |(first, lengths): &(&str, &[usize])| begins(first) && lengths.contains(&digits.len());
        // Brazil's have a nine behind the area code, since they have eleven digits.
        let lacks_nine = self.code == "BR" && digits.len() == 11 && digits.as_bytes()[AREA] != b'9';
        self.mobile.iter().any(is_known) && !lacks_nine
    }
}

/// A country that has numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Country(&'static Plan);

/// The digits of a Brazilian carrier, between the trunk prefix and the area code.
const CARRIER: usize = 2;
/// The digits of a Brazilian area code.
const AREA: usize = 2;
/// The most digits of a number that people dial inside a country without a prefix, unless it is a mobile phone's.
const LONGEST_NATIONAL: usize = 11;

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
        if let Some(number) = digits.strip_prefix(self.exit()).and_then(|rest| abroad(rest).ok()) {
            return Ok(number);
        }
        match digits.strip_prefix(plan.trunk) {
            Some(rest) if plan.trunk.starts_with('0') => self.behind_zero(rest),
            _ => self.without_zero(digits),
        }
    }

    /// The number of the digits behind the zero that is dialled before national numbers, and behind the carrier in Brazil.
    fn behind_zero(self, rest: &str) -> Result<PhoneNumber, InvalidPhone> {
        let Self(plan) = self;
        let behind_carrier = rest.get(CARRIER..).filter(|_| plan.code == "BR");
        let national = [Some(rest), behind_carrier].into_iter().flatten().find(|rest| plan.has_length(rest));
        national.map_or(Err(InvalidPhone::LeadingZero), |national| self.national(national))
    }

    /// The number of digits that lack a sign: a plus, or the zero before national numbers, which spreadsheets drop. The first
    /// possible reading counts:
    ///
    /// 1. International, if the digits begin with the country's own code and the rest is as long as a national number. Where
    ///    no zero is dialled, a mobile number may begin like this by chance: it is national if the rest is no mobile number.
    /// 2. National, if a mobile phone of the country may have the number, because messages are for mobile phones.
    /// 3. National, if another number of the country is as long, and no mobile phone of another country may have it.
    /// 4. National, behind a trunk prefix that is no zero, such as Russia's 8.
    /// 5. International, if the digits are longer than national numbers and begin with a country code.
    ///
    /// # Errors
    ///
    /// [`InvalidPhone::National`] if no reading is possible: the area code is missing, or a number of the country, such as a
    /// landline's, may as well be a mobile number of another country. A guess would be a stranger's number.
    fn without_zero(self, digits: &str) -> Result<PhoneNumber, InvalidPhone> {
        let Self(plan) = self;
        let behind = |prefix: &str| digits.strip_prefix(prefix).filter(|rest| plan.has_length(rest));
        let own = behind(&plan.calling.to_string());
        let is_national = match own {
            Some(rest) => plan.trunk != "0" && self.has_mobile(digits) && !self.has_mobile(rest),
            None => self.has_mobile(digits) || plan.has_length(digits) && !self.may_be_abroad(digits),
        };
        if is_national {
            return self.national(digits);
        }
        let behind_trunk = Some(plan.trunk).filter(|trunk| !trunk.is_empty()).and_then(behind);
        if let Some(rest) = own.or(behind_trunk) {
            return self.national(rest);
        }
        let most = plan.lengths.iter().max().copied().unwrap_or_default().min(LONGEST_NATIONAL);
        if digits.len() > most { abroad(digits) } else { Err(InvalidPhone::National) }
    }

    /// The number of these national digits.
    fn national(self, digits: &str) -> Result<PhoneNumber, InvalidPhone> {
        reader::number(self.0.calling.to_string().bytes().chain(digits.bytes()))
    }

    /// Whether mobile phones of its calling code have national numbers like this one.
    fn has_mobile(self, digits: &str) -> bool {
        PLANS.iter().any(|plan| plan.calling == self.0.calling && plan.has_mobile(digits))
    }

    /// Whether the digits may be a number of another country without its plus sign: a mobile phone's, or a number that is
    /// longer than national ones. No country code begins with a zero.
    fn may_be_abroad(self, digits: &str) -> bool {
        let is_foreign = |plan: &Plan| {
            let rest = digits.strip_prefix(&plan.calling.to_string());
            plan.calling != self.0.calling && rest.is_some_and(|rest| plan.has_mobile(rest))
        };
        let is_long = digits.len() > LONGEST_NATIONAL && !digits.starts_with('0');
        is_long || PLANS.iter().any(is_foreign)
    }
}

/// The number of international digits, if their country is known.
fn abroad(digits: &str) -> Result<PhoneNumber, InvalidPhone> {
    let number = reader::number(digits.bytes())?;
    if Country::of(number).is_some() { Ok(number) } else { Err(InvalidPhone::National) }
}

impl PhoneNumber {
    /// Reads a text as a person in this country writes numbers; without a country, as [`PhoneNumber::parse`]. A number with
    /// a plus sign before it is international in every country.
    ///
    /// # Errors
    ///
    /// As [`PhoneNumber::parse`]; [`InvalidPhone::National`] also for a number that lacks its area code, or that may be a
    /// number of another country without its plus sign.
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

    /// Whether mobile phones of its country have numbers like this one.
    pub fn is_mobile(self) -> bool {
        let digits = self.to_string();
        PLANS.iter().any(|plan| {
            let rest = digits.strip_prefix(&plan.calling.to_string());
            rest.is_some_and(|rest| plan.has_mobile(rest))
        })
    }

    /// The number that a text is in this country, if it is another one than it is to programs.
    pub fn national(text: &str, country: Country) -> Option<Self> {
        Self::parse_in(text, Some(country)).ok().filter(|number| Self::parse(text) != Ok(*number))
    }
}
