//! What messages cost by published prices, with the sentences that say what such a figure is.

use maud::{Markup, html};

use super::countries;
use super::table::{Column, table};
use crate::console::text::Text;
use crate::domain::phone::Country;
use crate::domain::price::{CostEstimate, CountryCost, Micros, PriceCategory};

/// The decimals of an amount, and of one below a whole unit.
const DECIMALS: (usize, usize) = (2, 4);
/// The most decimals of a price.
const PRICE_DECIMALS: usize = 6;

/// An amount with its currency: `USD 62.50`.
pub(crate) fn amount(text: Text, currency: &str, amount: Micros) -> String {
    let units = amount.units();
    let decimals = if units > 0.0 && units < 1.0 { DECIMALS.1 } else { DECIMALS.0 };
    format!("{currency} {}", text.0.fixed(units, decimals))
}

/// A price as it was published: `0.0625`.
pub(crate) fn price(text: Text, price: Option<Micros>) -> String {
    match price {
        Some(price) => text.0.decimal(price.units(), PRICE_DECIMALS),
        None => text.get("costs-no-price"),
    }
}

/// The name of a country; of none, that it is not known.
pub(crate) fn country(text: Text, country: Option<Country>) -> String {
    country.map_or_else(|| text.get("costs-no-country"), |country| countries::name(text, country).to_owned())
}

/// The name of a category.
pub(crate) fn category(text: Text, category: PriceCategory) -> String {
    text.get(match category {
        PriceCategory::Marketing => "costs-marketing",
        PriceCategory::Utility => "costs-utility",
        PriceCategory::Authentication => "costs-authentication",
        PriceCategory::AuthenticationInternational => "costs-authentication-international",
        PriceCategory::Service => "costs-service",
        PriceCategory::Other => "costs-other",
    })
}

/// What a send would cost, and by which prices.
pub(crate) fn estimate(text: Text, estimate: &CostEstimate) -> Markup {
    let CostEstimate { category: of, currency, prices_of, amount: sum, unpriced, countries } = estimate;
    let is_known = countries.iter().any(|cost| cost.price.is_some());
    let day = prices_of.to_string();
    // Inside windows and up to some volumes, the provider charges less; of messages without a template, none of the first.
    let key = if *of == PriceCategory::Service { "costs-at-most" } else { "costs-about" };
    html! {
        @if is_known {
            p { strong { (text.with(key, [("amount", amount(text, currency, *sum).into())])) } }
        }
        @if *unpriced > 0 { p { (text.with("costs-unpriced", [("count", (*unpriced).into())])) } }
        p.soft { (text.with("costs-basis", [("day", day.into()), ("category", category(text, *of).into())])) }
        @if *of == PriceCategory::Service { p.soft { (text.get("costs-free-service")) } }
        @if *of == PriceCategory::Authentication { p.soft { (text.get("costs-from-abroad")) } }
        details {
            summary { (text.get("costs-by-country")) }
            (by_country(text, currency, countries))
        }
    }
}

fn by_country(text: Text, currency: &str, countries: &[CountryCost]) -> Markup {
    let columns = [
        Column::words(text.get("costs-country")),
        Column::numbers(text.get("costs-messages")),
        Column::numbers(text.get("costs-price")),
        Column::numbers(text.get("costs-amount")),
    ];
    let rows = countries.iter().map(|cost| {
        let sum = cost.amount().map(|sum| amount(text, currency, sum));
        vec![
            html! { (country(text, cost.country)) },
            html! { (text.number(cost.messages)) },
            html! { (price(text, cost.price)) },
            html! { (sum.unwrap_or_else(|| "—".to_owned())) },
        ]
    });
    table(&text.get("costs-by-country"), &columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    #[test]
    fn amounts_and_prices_follow_the_language() {
        let micros = |written: &str| Micros::parse(written).unwrap();
        let [english, portuguese, _] = Language::ALL.map(Text);
        assert_eq!(amount(english, "USD", micros("62.5")), "USD 62.50");
        assert_eq!(amount(portuguese, "USD", micros("1234.5")), "USD 1.234,50");
        assert_eq!(amount(english, "USD", micros("0.0068")), "USD 0.0068");
        assert_eq!(amount(english, "USD", Micros::default()), "USD 0.00");
        assert_eq!(price(portuguese, Some(micros("0.0068"))), "0,0068");
        assert_eq!(price(english, None), "not known");
    }
}
