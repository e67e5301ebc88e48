//! One person, several numbers: the forms that WhatsApp and people write for the same number.
//!
//! Four countries changed their numbers, and WhatsApp keeps the older form of a person as the id (`wa_id`) in answers,
//! receipts and preferences. A person is known here by one form, which is the number that people dial today:
//!
//! | country | dialled today | also written | rule |
//! |---|---|---|---|
//! | Brazil, 55 | `55 DD 9XXXX XXXX` | `55 DD XXXX XXXX` | mobile numbers got a ninth digit; those begin with 6 to 9 |
//! | Mexico, 52 | `52 XX XXXX XXXX` | `52 1 XX XXXX XXXX` | the 1 of mobile numbers went in 2019 |
//! | Argentina, 54 | `54 9 XX XXXX XXXX` | `54 XX XXXX XXXX` | mobile numbers have a 9 from abroad |
//! | Ivory Coast, 225 | `225 0P XX XX XX XX` | `225 XX XX XX XX` | the second digit gave the operator's prefix in 2021 |
//!
//! Pairs that no rule covers are learned from the provider, by the engine.

use super::PhoneNumber;

/// The digits of a national number of Mexico and Argentina.
const NATIONAL: u64 = 10_000_000_000;
/// The digits of a local number of Brazil, and of Ivory Coast before 2021.
const LOCAL: u64 = 100_000_000;
/// What Brazil's ninth digit adds to a local number.
const NINTH: u64 = 9 * LOCAL;
/// The end of the two forms that the provider gives to one number, at least this many digits.
const SHARED_ENDING: u64 = 1_000_000;

impl PhoneNumber {
    /// The one form under which a person is known, whichever form the number has.
    #[must_use]
    pub const fn person(self) -> Self {
        let value = self.0;
        let person = match value {
            551_100_000_000..=559_999_999_999 => brazil(value),
            5_210_000_000_000..=5_219_999_999_999 if is_mexican(value % NATIONAL) => {
                52 * NATIONAL + value % NATIONAL
            }
            541_000_000_000..=543_999_999_999 => 549 * NATIONAL + value % NATIONAL,
            22_500_000_000..=22_599_999_999 => ivory_coast(value),
            _ => value,
        };
        Self(person)
    }

    /// The other form of a person's number; `None` for numbers of countries with one form, and for landlines.
    #[must_use]
    pub const fn other_form(self) -> Option<Self> {
        let person = self.person();
        if person.0 != self.0 {
            return Some(person);
        }
        let value = self.0;
        let other = match value {
            5_511_000_000_000..=5_599_999_999_999 => {
                let (area, local) = (value / (10 * LOCAL) % 100, value % LOCAL);
                (55 * 100 + area) * LOCAL + local
            }
            520_000_000_000..=529_999_999_999 if is_mexican(value % NATIONAL) => {
                521 * NATIONAL + value % NATIONAL
            }
            5_490_000_000_000..=5_499_999_999_999 => 54 * NATIONAL + value % NATIONAL,
            2_250_000_000_000..=2_250_999_999_999 => 225 * LOCAL + value % LOCAL,
            _ => return None,
        };
        // A number whose short form is not read back as the same person has no other form.
        match Self::from_u64(other) {
            Some(other) if other.person().0 == value => Some(other),
            _ => None,
        }
    }

    /// Whether two numbers can be two forms of one: of the same country, with the same ending. Numbers that are not
    /// would join strangers, whatever a provider's answer says.
    #[must_use]
    pub fn may_be_form_of(self, other: Self) -> bool {
        let first_two = |number: Self| number.0 / 10_u64.pow(number.0.ilog10() - 1);
        self.0 % SHARED_ENDING == other.0 % SHARED_ENDING && first_two(self) == first_two(other)
    }
}

/// A mobile number of Brazil without its ninth digit gets it.
const fn brazil(value: u64) -> u64 {
    let (area, local) = (value / LOCAL % 100, value % LOCAL);
    if local / 10_000_000 < 6 { value } else { (55 * 100 + area) * 10 * LOCAL + NINTH + local }
}

/// Whether ten digits are a national number of Mexico: those begin with 2 to 9.
const fn is_mexican(national: u64) -> bool {
    national / 1_000_000_000 >= 2
}

/// A mobile number of Ivory Coast of eight digits gets the prefix of its operator. Landlines begin with 2 or 3.
const fn ivory_coast(value: u64) -> u64 {
    let local = value % LOCAL;
    if matches!(local / 10_000_000, 2 | 3) {
        return value;
    }
    let prefix = match local / 1_000_000 % 10 {
        0..=3 => 1,
        4..=6 => 5,
        _ => 7,
    };
    225 * NATIONAL + prefix * LOCAL + local
}
