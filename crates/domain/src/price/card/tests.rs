use super::*;
use crate::phone::PhoneNumber;
use crate::price::{ByCountry, CostEstimate};

/// The provider's own form: a first line in words, a header in two lines, a column for the currency.
const PROVIDERS: &str = "\u{feff}\"Cost per message in USD on the WhatsApp Business Platform, effective January 1, 2027\",,,,,,\r\n\
    ,,,,,,\r\n\
    Market,Currency,Marketing,Utility,Authentication,\"Authentication-\nInternational\",Service\r\n\
    Brazil,$US,0.0650,0.0068,0.0068,n/a,n/a\r\n\
    India,$US,0.0118,0.0014,0.0014,0.0304,n/a\r\n\
    Other,$US,0.0604,0.0077,0.0077,n/a,n/a\r\n";

fn faults(text: &str) -> Vec<String> {
    RateCard::parse(text, shipped()).unwrap_err()
}

fn price(card: &RateCard, code: &str, category: PriceCategory) -> Option<String> {
    card.market(Country::parse(code))?.price(category).map(|price| price.to_string())
}

#[test]
fn the_shipped_card_is_whole() {
    let card = RateCard::parse(SHIPPED, None).unwrap();
    assert_eq!((card.date.to_string().as_str(), card.currency.as_str()), ("2026-10-01", "USD"));
    assert!(card.source.contains("October 1, 2026"), "{}", card.source);
    assert_eq!(card.markets.len(), 47);
    assert!(card.markets.iter().all(|market| market.price(PriceCategory::Marketing).is_some()));
    let of = |code, category| price(&card, code, category);
    assert_eq!(of("BR", PriceCategory::Marketing).as_deref(), Some("0.0625"));
    assert_eq!(of("IN", PriceCategory::AuthenticationInternational).as_deref(), Some("0.0304"));
    assert_eq!(of("BR", PriceCategory::AuthenticationInternational), None, "no price is not a price of zero");
    assert_eq!(of("US", PriceCategory::Utility), of("CA", PriceCategory::Utility));
    assert_eq!(
        of("IS", PriceCategory::Marketing),
        card.market(None).unwrap().price(PriceCategory::Marketing).map(|price| price.to_string())
    );
    assert_eq!(of("BR", PriceCategory::Other), None);
}

#[test]
fn a_card_is_written_as_it_is_read() {
    let card = shipped().unwrap();
    assert_eq!(RateCard::parse(&card.to_csv(), None).as_ref(), Ok(card));
    let mut odd = card.clone();
    odd.markets[0].name = "#1, \"first\"".to_owned();
    assert_eq!(RateCard::parse(&odd.to_csv(), None), Ok(odd), "a name is no comment");
}

#[test]
fn the_provider_s_own_file_is_read() {
    let card = RateCard::parse(PROVIDERS, shipped()).unwrap();
    assert_eq!((card.date.to_string().as_str(), card.currency.as_str()), ("2027-01-01", "USD"));
    assert!(card.source.starts_with("Cost per message in USD"), "{}", card.source);
    assert_eq!(price(&card, "BR", PriceCategory::Marketing).as_deref(), Some("0.065"));
    assert_eq!(
        price(&card, "DE", PriceCategory::Marketing).as_deref(),
        Some("0.0604"),
        "it has no market of its own"
    );
    assert_eq!(price(&card, "BR", PriceCategory::Service), None);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let wrong = "# date: tomorrow\n# currency: dollars\nMarket,Marketing,Utility,Authentication,Servise\n\
        Brazil,0.06,0.0068,0.0068\n\nBrazil,0.06,0.0068,0.0068\nNowhere,free,0.1,0.1\n";
    assert_eq!(
        faults(wrong),
        [
            "line 1: `tomorrow` is no date: write it like 2026-10-01",
            "line 2: `dollars` is no currency: write its three letters, such as USD",
            "line 3: the column `Servise` is not known",
            "line 6: the market `Brazil` is in the file twice",
            "line 7: `free` is no price: write digits with a point, such as 0.0068, or n/a",
            "line 7: the countries of the market `Nowhere` are not known: add a column `Countries` with two letters for each",
            "the date is missing: add a first line such as `# date: 2026-10-01`",
            "the currency is missing: add a first line such as `# currency: USD`",
        ]
    );
    let header = "# date: 2026-10-01\n# currency: USD\nMarket,Countries,Marketing,Utility,Authentication\n";
    assert_eq!(
        faults(&format!("{header}A,BR,1,1,1\nB,BR XX,1,1,1\nC,*,1,1,1\nD,*,1,1,1\n")),
        [
            "line 5: `XX` is no country: write two letters, such as BR",
            "line 5: the country BR is in two markets",
            "line 7: two markets have all other countries",
        ]
    );
    assert_eq!(faults(header), ["there is no market behind the header"]);
    assert!(faults("").concat().contains("there is no header"));
    let euros = header.replace("Countries", "Currency") + "Brazil,EUR,1,1,1\n";
    assert_eq!(faults(&euros), ["line 4: the currency is EUR here and USD before: a card has one"]);
    assert_eq!(faults(&"x".repeat(CARD_BYTES + 1)), ["the file has more than 64 KiB"]);
    let many: String = (0..100).map(|market| format!("M{market},XX,1,1,1\n")).collect();
    assert_eq!(faults(&format!("{header}{many}")).len(), 20, "no more are named");
}

#[test]
fn the_newest_card_that_applies_counts() {
    let of = |date: &str| RateCard { date: date.parse().unwrap(), ..shipped().unwrap().clone() };
    let cards = [of("2026-10-01"), of("2027-04-01"), of("2027-01-01")];
    let on = |day: &str| {
        let card = RateCard::on(cards.clone(), day.parse().unwrap());
        card.map(|card| card.date.to_string())
    };
    assert_eq!(on("2026-09-30"), None);
    assert_eq!(on("2026-12-31").as_deref(), Some("2026-10-01"));
    assert_eq!(on("2027-01-01").as_deref(), Some("2027-01-01"));
}

#[test]
fn the_difference_has_each_price_that_changes() {
    let before = shipped().unwrap();
    assert_eq!(before.differences(before), []);
    let text =
        SHIPPED.replace("Brazil,BR,0.0625,", "Brazil,BR,0.0700,").replace("Chile,CL,", "Chile (new),CL,");
    let after = RateCard::parse(&text, None).unwrap();
    let changes = after.differences(before);
    let shown = |change: &PriceChange| {
        let price = |price: Option<Micros>| price.map_or("none".to_owned(), |price| price.to_string());
        format!("{} {}: {} to {}", change.market, change.category, price(change.old), price(change.new))
    };
    let shown: Vec<_> = changes.iter().map(shown).collect();
    assert_eq!(shown[0], "Brazil marketing: 0.0625 to 0.07");
    assert!(shown.contains(&"Chile (new) utility: none to 0.02".to_owned()));
    assert!(shown.contains(&"Chile utility: 0.02 to none".to_owned()));
    assert_eq!(shown.len(), 1 + 4 + 4);
}

#[test]
fn an_estimate_multiplies_and_invents_no_price() {
    let card = RateCard::parse(
        "# date: 2026-10-01\n# currency: USD\nMarket,Countries,Marketing,Utility,Authentication\nBrazil,BR,0.0625,0.0068,n/a\n",
        None,
    )
    .unwrap();
    let number = |digits: &str| PhoneNumber::parse(digits).unwrap();
    let mut messages = ByCountry::default();
    messages.count(&[number("5511900000001"), number("5521900000002"), number("4915100000003")]);
    let estimate = CostEstimate::new(&card, PriceCategory::Marketing, &messages);
    assert_eq!((estimate.amount.to_string().as_str(), estimate.unpriced), ("0.125", 1));
    let [brazil, germany] = &estimate.countries[..] else { panic!("two countries: {estimate:?}") };
    assert_eq!((brazil.messages, brazil.market.as_deref()), (2, Some("Brazil")));
    assert_eq!(
        (germany.country.map(Country::code), germany.price, &germany.market),
        (Some("DE"), None, &None)
    );
    let unpriced = CostEstimate::new(&card, PriceCategory::Authentication, &messages);
    assert_eq!((unpriced.amount, unpriced.unpriced), (Micros::default(), 3));
}
