//! Rate cards: the file that they are written in, its faults, and what differs between two of them.
//!
//! A card is CSV with a row for each market: `Market`, `Countries` (two letters each; `*` for all others), and a column of
//! prices for each category. Lines before the header that begin with `#` say the date from which the prices apply, their
//! currency and their source. The provider's own file is read as well: its first line names the date, a column the
//! currency, and the countries of its markets are those of the shipped card.

mod read;

use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use super::{Date, Micros, PriceCategory};
use crate::phone::Country;

/// The most bytes of a card's file.
pub const CARD_BYTES: usize = 64 * 1024;
/// The card that the program has.
pub const SHIPPED: &str = include_str!("../../../../config/rate-card.csv");
/// In place of countries: all that no other market has.
const REST: &str = "*";
/// In place of a price that is not known.
const NO_PRICE: &str = "n/a";

static SHIPPED_CARD: LazyLock<Option<RateCard>> = LazyLock::new(|| RateCard::parse(SHIPPED, None).ok());

/// Published prices, which apply from a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateCard {
    /// The first day on which they apply.
    pub date: Date,
    /// Three letters, such as `USD`.
    pub currency: String,
    /// Where they were published, in words; may be empty.
    pub source: String,
    /// The markets, in the order of the file.
    pub markets: Vec<Market>,
}

/// Countries with the same prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Market {
    /// The provider's name of it.
    pub name: String,
    /// The countries, unless it is the market of all others.
    pub countries: Vec<Country>,
    /// Whether it has all countries that no other market has.
    pub has_rest: bool,
    /// The price of a message, in the order of [`PriceCategory::PRICED`].
    prices: [Option<Micros>; 5],
}

/// A price that differs between two cards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriceChange {
    /// The market's name.
    pub market: String,
    /// The category.
    #[serde(serialize_with = "word")]
    pub category: PriceCategory,
    /// The price in the earlier card, if it has one.
    pub old: Option<Micros>,
    /// The price in the later card, if it has one.
    pub new: Option<Micros>,
}

fn word<S: Serializer>(category: &PriceCategory, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(category.as_str())
}

/// The card that the program has.
pub fn shipped() -> Option<&'static RateCard> {
    SHIPPED_CARD.as_ref()
}

impl Market {
    /// The price of a message of this category, if it is known.
    pub fn price(&self, category: PriceCategory) -> Option<Micros> {
        let place = PriceCategory::PRICED.iter().position(|priced| *priced == category)?;
        self.prices[place]
    }
}

impl RateCard {
    /// Reads a card's file. `known` has the countries of markets for which the file names none.
    ///
    /// # Errors
    ///
    /// What is wrong, each with the number of its line; at most twenty.
    pub fn parse(text: &str, known: Option<&Self>) -> Result<Self, Vec<String>> {
        read::card(text, known)
    }

    /// The market of a country; `None` is a country that is not known.
    pub fn market(&self, country: Option<Country>) -> Option<&Market> {
        let own = country
            .and_then(|country| self.markets.iter().find(|market| market.countries.contains(&country)));
        own.or_else(|| self.markets.iter().find(|market| market.has_rest))
    }

    /// The newest of these cards that applies on a day; of two of the same date, the last one.
    pub fn on(cards: impl IntoIterator<Item = Self>, day: Date) -> Option<Self> {
        cards.into_iter().filter(|card| card.date <= day).max_by_key(|card| card.date)
    }

    /// The prices that change from `before` to this card, in the order of its markets, then markets that are gone.
    pub fn differences(&self, before: &Self) -> Vec<PriceChange> {
        let named = |card: &Self, name: &str| card.markets.iter().find(|market| market.name == name).cloned();
        let gone = before.markets.iter().filter(|market| named(self, &market.name).is_none());
        let names = self.markets.iter().chain(gone).map(|market| market.name.clone());
        let changes = names.flat_map(|name| {
            let (old, new) = (named(before, &name), named(self, &name));
            PriceCategory::PRICED.map(|category| PriceChange {
                market: name.clone(),
                category,
                old: old.as_ref().and_then(|market| market.price(category)),
                new: new.as_ref().and_then(|market| market.price(category)),
            })
        });
        changes.filter(|change| change.old != change.new).collect()
    }

    /// The card as [`RateCard::parse`] reads it.
    pub fn to_csv(&self) -> String {
        let mut text = format!("# date: {}\n# currency: {}\n", self.date, self.currency);
        if !self.source.is_empty() {
            text.push_str(&format!("# source: {}\n", self.source));
        }
        text.push_str(
            "Market,Countries,Marketing,Utility,Authentication,Authentication-International,Service\n",
        );
        for market in &self.markets {
            let codes: Vec<_> = market.countries.iter().map(|country| country.code()).collect();
            let countries = if market.has_rest { REST.to_owned() } else { codes.join(" ") };
            let prices =
                market.prices.map(|price| price.map_or(NO_PRICE.to_owned(), |price| price.to_string()));
            text.push_str(&format!("{},{countries},{}\n", quoted(&market.name), prices.join(",")));
        }
        text
    }
}

/// A name as a cell of the file. A line that begins with `#` would be a comment.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '#']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
