//! What messages cost by the provider's published prices.
//!
//! Prices are in a [rate card](RateCard), which applies from a date: a price for each market and category. The provider
//! says of each message that arrived how it is billed ([`Billing`]); an [estimate](CostEstimate) multiplies messages with
//! prices. None of this is the provider's bill.

mod card;
mod estimate;
mod month;

use std::fmt;
use std::iter::Sum;

/// A day of the calendar.
pub use jiff::civil::Date;
use serde::{Serialize, Serializer};

pub use self::card::{CARD_BYTES, Market, PriceChange, RateCard, SHIPPED, shipped};
pub use self::estimate::{ByCountry, CostEstimate, CountryCost};
pub use self::month::{Month, NotAMonth, day_of};
use crate::template::Category;

crate::worded! {
    /// The category of a message that decides its price. The database stores the place in this list: add new ones at the
    /// end.
    pub enum PriceCategory {
        /// Templates that advertise.
        Marketing = "marketing",
        /// Templates about something that the recipient ordered or asked for.
        Utility = "utility",
        /// Templates with a code to sign in.
        Authentication = "authentication",
        /// The same to countries with another price for businesses from abroad.
        AuthenticationInternational = "authentication_international",
        /// Messages without a template.
        Service = "service",
        /// A category that rate cards do not have.
        Other = "other",
    }
}

impl PriceCategory {
    /// The categories that a rate card has prices of.
    pub const PRICED: [Self; 5] = [
        Self::Marketing,
        Self::Utility,
        Self::Authentication,
        Self::AuthenticationInternational,
        Self::Service,
    ];

    /// The category of a message by the provider's word in a webhook.
    pub fn heard(word: &str) -> Self {
        match word {
            // Sent through the other path for marketing, at the same price.
            "marketing" | "marketing_lite" => Self::Marketing,
            "utility" => Self::Utility,
            "authentication" => Self::Authentication,
            "authentication-international" => Self::AuthenticationInternational,
            "service" => Self::Service,
            _ => Self::Other,
        }
    }

    /// The category of a template's messages; [`PriceCategory::Service`] of messages without one.
    pub const fn of_template(category: Option<&Category>) -> Self {
        match category {
            None => Self::Service,
            Some(Category::Marketing) => Self::Marketing,
            Some(Category::Utility) => Self::Utility,
            Some(Category::Authentication) => Self::Authentication,
            Some(Category::Other(_)) => Self::Other,
        }
    }
}

/// How the provider bills a message that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Billing {
    /// Its category.
    pub category: PriceCategory,
    /// Whether it costs something; inside some windows, messages are free.
    pub is_charged: bool,
}

impl Billing {
    /// The number that the database keeps, from 2 on.
    pub const fn as_i16(self) -> i16 {
        let place = self.category as i16 + 1;
        place * 2 + if self.is_charged { 1 } else { 0 }
    }

    /// Reads the stored number.
    pub fn from_i16(value: i16) -> Option<Self> {
        let place = usize::try_from(value / 2 - 1).ok()?;
        let category = PriceCategory::ALL.get(place).copied()?;
        Some(Self { category, is_charged: value % 2 == 1 })
    }
}

/// An amount of money, or a price, in millionths of its currency's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(u64);

impl Micros {
    const UNIT: u64 = 1_000_000;
    /// Digits behind the point.
    const DECIMALS: usize = 6;
    /// Digits before the point.
    const WHOLE: usize = 9;

    /// Reads a price: digits, and at most six more behind a point.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_short = whole.len() <= Self::WHOLE && fraction.len() <= Self::DECIMALS;
        if whole.is_empty() || text.ends_with('.') || !is_short || !is_plain(whole) || !is_plain(fraction) {
            return None;
        }
        let whole = whole.parse::<u64>().ok()?.checked_mul(Self::UNIT)?;
        let fraction = format!("{fraction:0<width$}", width = Self::DECIMALS).parse::<u64>().ok()?;
        Some(Self(whole + fraction))
    }

    /// The amount in whole units, for writing it in a language.
    pub fn units(self) -> f64 {
        self.0 as f64 / Self::UNIT as f64
    }

    /// This price for so many messages; the highest amount when it is higher.
    #[must_use]
    pub const fn times(self, messages: u64) -> Self {
        Self(self.0.saturating_mul(messages))
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), |sum, Self(amount)| Self(sum.0.saturating_add(amount)))
    }
}

/// With two decimals at least, and as many as it has: `12.50`, `0.0068`.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:06}", self.0 % Self::UNIT);
        let kept = fraction.trim_end_matches('0').len().max(2);
        write!(f, "{}.{}", self.0 / Self::UNIT, &fraction[..kept])
    }
}

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_read_and_written_exactly() {
        for (text, written) in [
            ("0.0068", "0.0068"),
            ("0.02", "0.02"),
            ("3", "3.00"),
            ("12.5", "12.50"),
            ("272.4542", "272.4542"),
            ("0.000001", "0.000001"),
        ] {
            assert_eq!(
                Micros::parse(text).map(|price| price.to_string()).as_deref(),
                Some(written),
                "{text}"
            );
        }
        for wrong in ["", ".", "1.", ".5", "-1", "1,5", "1e3", "0.0000001", "1234567890", "n/a", "1.2.3"] {
            assert_eq!(Micros::parse(wrong), None, "{wrong}");
        }
        let price = Micros::parse("0.0625").unwrap();
        assert_eq!(price.times(1_000_000).to_string(), "62500.00");
        assert_eq!([price, price.times(3)].into_iter().sum::<Micros>().to_string(), "0.25");
        assert_eq!(price.times(u64::MAX).times(2), price.times(u64::MAX), "a sum has an end");
    }

    #[test]
    fn the_stored_number_gives_the_billing_back() {
        for category in PriceCategory::ALL {
            for is_charged in [false, true] {
                let billing = Billing { category: *category, is_charged };
                assert!(billing.as_i16() >= 2);
                assert_eq!(Billing::from_i16(billing.as_i16()), Some(billing));
            }
        }
        let marketing = Billing { category: PriceCategory::Marketing, is_charged: true };
        assert_eq!(marketing.as_i16(), 3, "the database has this number");
        assert_eq!([-3, 0, 1, 14].map(Billing::from_i16), [None; 4]);
    }
}
