//! Estimates: messages by country, multiplied with the prices of a rate card.

use std::collections::{BTreeMap, HashMap};

use super::{Date, Micros, PriceCategory, RateCard};
use crate::phone::{Country, PhoneNumber};

/// How many messages go to each country. It counts by the first four digits of numbers, so that a million recipients
/// take some thousand entries at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByCountry(HashMap<u16, u64>);

/// What messages would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostEstimate {
    /// The category of all of them.
    pub category: PriceCategory,
    /// The currency of the amounts, by its three letters.
    pub currency: String,
    /// The day from which the prices apply.
    pub prices_of: Date,
    /// The amount of the messages whose price is known.
    pub amount: Micros,
    /// Messages whose price is not known.
    pub unpriced: u64,
    /// Each country, the one with the most messages first.
    pub countries: Vec<CountryCost>,
}

/// The messages to one country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountryCost {
    /// The country; `None` of numbers whose country is not known, and of groups.
    pub country: Option<Country>,
    /// Its market in the rate card.
    pub market: Option<String>,
    /// How many messages.
    pub messages: u64,
    /// The price of one, if it is known.
    pub price: Option<Micros>,
}

impl CountryCost {
    /// The price of all of them, if it is known.
    pub fn amount(&self) -> Option<Micros> {
        self.price.map(|price| price.times(self.messages))
    }
}

impl ByCountry {
    /// Adds a message to each of these numbers.
    pub fn count(&mut self, numbers: &[PhoneNumber]) {
        for number in numbers {
            *self.0.entry(number.first_digits()).or_default() += 1;
        }
    }

    /// Adds messages to numbers with these first four digits.
    pub fn add(&mut self, first_digits: u16, messages: u64) {
        *self.0.entry(first_digits).or_default() += messages;
    }

    /// The messages to each country, by its two letters; those without a known country have none.
    pub fn countries(&self) -> BTreeMap<&'static str, u64> {
        let mut countries = BTreeMap::new();
        for (digits, messages) in &self.0 {
            let code = Country::of_first_digits(*digits).map_or("", Country::code);
            *countries.entry(code).or_default() += *messages;
        }
        countries
    }
}

impl CostEstimate {
    /// What messages of this category to these countries cost by the prices of `card`.
    pub fn new(card: &RateCard, category: PriceCategory, messages: &ByCountry) -> Self {
        let country = |(code, messages): (&'static str, u64)| {
            let country = Country::parse(code);
            let market = card.market(country);
            let price = market.and_then(|market| market.price(category));
            CountryCost { country, market: market.map(|market| market.name.clone()), messages, price }
        };
        let mut countries: Vec<_> = messages.countries().into_iter().map(country).collect();
        countries.sort_by_key(|cost| std::cmp::Reverse(cost.messages));
        Self {
            category,
            currency: card.currency.clone(),
            prices_of: card.date,
            amount: countries.iter().filter_map(CountryCost::amount).sum(),
            unpriced: countries.iter().filter(|cost| cost.price.is_none()).map(|cost| cost.messages).sum(),
            countries,
        }
    }
}
