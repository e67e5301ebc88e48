//! What messages cost by the provider's published prices: estimates, the messages of a month, and the rate cards.
//!
//! These are not the provider's bills. The store counts how the provider says that it bills messages; prices are
//! multiplied when somebody asks.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::{Engine, Error, Who};
use clock::Timestamp;
use domain::cell::guard;
use domain::error::{Code, Refusal};
use domain::phone::Country;
use domain::price::{
    Billing, ByCountry, CostEstimate, Date, Micros, Month, PriceCategory, PriceChange, RateCard, day_of,
    shipped,
};
pub use store::prices::{KnownCard, MOST_CARDS};

/// The columns of the file of a month.
const COLUMNS: [&str; 11] = [
    "month",
    "channel_id",
    "channel",
    "country",
    "market",
    "category",
    "is_charged",
    "messages",
    "price",
    "amount",
    "currency",
];

/// A rate card with the prices that it changes, or the faults of its file, each with its line.
pub type ComparedCard = Result<(RateCard, Vec<PriceChange>), Vec<String>>;

/// What messages cost, and the rate cards that say so.
#[derive(Clone, Copy)]
pub struct Costs<'e> {
    engine: &'e Engine,
}

/// What the messages of a company cost that arrived in a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthCosts {
    /// The month, in UTC.
    pub month: Month,
    /// The prices; `None` when no card applied in the month.
    pub card: Option<RateCard>,
    /// By channel, country and billing.
    pub rows: Vec<MonthCost>,
}

/// Messages of a month that were billed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthCost {
    /// The channel; `None` when a month has too many rows to tell channels apart.
    pub channel_id: Option<Uuid>,
    /// The country of the recipients, if it is known.
    pub country: Option<Country>,
    /// Its market in the rate card.
    pub market: Option<String>,
    /// How the provider bills them.
    pub billing: Billing,
    /// How many.
    pub messages: u64,
    /// The price of one, if it is known; zero of messages that are free.
    pub price: Option<Micros>,
}

impl MonthCosts {
    /// The amount of the messages whose price is known.
    pub fn amount(&self) -> Micros {
        self.rows.iter().filter_map(MonthCost::amount).sum()
    }

    /// Charged messages whose price is not known.
    pub fn unpriced(&self) -> u64 {
        self.rows.iter().filter(|row| row.price.is_none()).map(|row| row.messages).sum()
    }

    /// The month as CSV by RFC 4180, with the names of these channels.
    pub fn to_csv(&self, names: &BTreeMap<Uuid, String>) -> Result<Vec<u8>, Error> {
        let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
        // A write to memory never fails.
        csv.write_record(COLUMNS).map_err(|_| Error::Internal)?;
        let currency = self.card.as_ref().map_or("", |card| card.currency.as_str());
        let money = |amount: Option<Micros>| amount.map(|amount| amount.to_string()).unwrap_or_default();
        for row in &self.rows {
            let channel = row.channel_id.and_then(|id| names.get(&id)).map_or("", String::as_str);
            let cells = [
                self.month.to_string(),
                row.channel_id.map(|id| id.to_string()).unwrap_or_default(),
                guard(channel).into_owned(),
                row.country.map_or("", Country::code).to_owned(),
                guard(row.market.as_deref().unwrap_or_default()).into_owned(),
                row.billing.category.to_string(),
                row.billing.is_charged.to_string(),
                row.messages.to_string(),
                money(row.price),
                money(row.amount()),
                currency.to_owned(),
            ];
            csv.write_record(cells).map_err(|_| Error::Internal)?;
        }
        csv.into_inner().map_err(|_| Error::Internal)
    }
}

impl MonthCost {
    /// The price of all of them, if it is known.
    pub fn amount(&self) -> Option<Micros> {
        self.price.map(|price| price.times(self.messages))
    }
}

/// The price of a message that is billed like this, if it is known.
pub(crate) fn price(card: Option<&RateCard>, country: Option<Country>, billing: Billing) -> Option<Micros> {
    if !billing.is_charged {
        return Some(Micros::default());
    }
    card?.market(country)?.price(billing.category)
}

impl Engine {
    /// What messages cost by the provider's published prices.
    pub const fn costs(&self) -> Costs<'_> {
        Costs { engine: self }
    }
}

impl Costs<'_> {
    /// The category of a company's messages with this template, or without one; [`PriceCategory::Other`] when the template
    /// is gone.
    pub(crate) async fn category(
        self,
        company_id: Uuid,
        template_id: Option<i64>,
    ) -> Result<PriceCategory, Error> {
        let Some(template_id) = template_id else { return Ok(PriceCategory::of_template(None)) };
        let found = self.engine.store().of(company_id).templates().find(template_id).await?;
        Ok(found.map_or(PriceCategory::Other, |found| PriceCategory::of_template(Some(&found.category))))
    }

    /// What messages of this category cost that go out at `at`; `None` when no rate card applies then.
    pub async fn estimate(
        self,
        category: PriceCategory,
        messages: &ByCountry,
        at: Timestamp,
    ) -> Result<Option<CostEstimate>, Error> {
        let card = self.engine.store().rate_cards().on(day_of(at)).await?;
        Ok(card.map(|card| CostEstimate::new(&card, category, messages)))
    }

    /// What the messages of a company cost that arrived in a month, by the prices of its last day.
    pub async fn month(self, company_id: Uuid, month: Month) -> Result<MonthCosts, Error> {
        let records = self.engine.records_of(company_id).await?;
        let counts = records.of(company_id).costs().month(month).await?;
        let card = match month.last_day() {
            Some(day) => records.rate_cards().on(day).await?,
            None => None,
        };
        drop(records);
        let rows = counts.into_iter().map(|count| MonthCost {
            channel_id: count.channel_id,
            country: count.country,
            market: card
                .as_ref()
                .and_then(|card| card.market(count.country))
                .map(|market| market.name.clone()),
            billing: count.billing,
            messages: count.messages,
            price: price(card.as_ref(), count.country, count.billing),
        });
        let rows = rows.collect();
        Ok(MonthCosts { month, card, rows })
    }

    /// Every rate card, the newest date first.
    pub async fn cards(self) -> Result<Vec<KnownCard>, Error> {
        Ok(self.engine.all_records().await?.rate_cards().all().await?)
    }

    /// Reads the file of a rate card, and compares it with the card that applies on its date without it.
    pub async fn compare(self, text: &str) -> Result<ComparedCard, Error> {
        let card = match RateCard::parse(text, shipped()) {
            Ok(card) => card,
            Err(faults) => return Ok(Err(faults)),
        };
        let changes = self.engine.all_records().await?.rate_cards().compare(&card).await?;
        Ok(Ok((card, changes)))
    }

    /// Adds a rate card, or replaces the uploaded one of its date. Refused with `invalid_field` when there are too many.
    pub async fn put(self, who: &Who, card: &RateCard) -> Result<(), Error> {
        if self.engine.all_records().await?.rate_cards().put(who, card).await? {
            return Ok(());
        }
        let sentence = format!("there are {MOST_CARDS} rate cards already: remove an old one first");
        Err(Error::Refused(Refusal::new(Code::InvalidField, sentence).about("csv")))
    }

    /// Removes the uploaded rate card of this date. Refused with `rate_card_not_found`.
    pub async fn remove(self, who: &Who, date: &str) -> Result<(), Error> {
        if let Ok(day) = date.parse::<Date>()
            && self.engine.all_records().await?.rate_cards().remove(who, &day.to_string()).await?
        {
            return Ok(());
        }
        let sentence = format!(
            "there is no uploaded rate card of `{date}`: GET /operator/v1/rate-cards lists the rate cards"
        );
        Err(Error::Refused(Refusal::new(Code::RateCardNotFound, sentence)))
    }
}
