//! What messages cost by the provider's published prices: in a month, and in the answer to a dry run.

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::envelope::Answer;
use super::error::Error;
use super::list_query::Query;
use super::schema::MessageCategory;
use crate::clock::Timestamp;
use crate::domain::phone::Country;
use crate::domain::price::{self, Micros, Month};
use crate::engine::costs;
use crate::error::Code;

/// What a send would cost by the provider's published prices, if all of its messages arrived. It is an estimate and not the
/// provider's bill: messages in an open window may be free, and prices may fall with the volume.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CostEstimate {
    /// The currency of the amounts.
    #[schema(example = "USD")]
    currency: String,
    /// The amount of the messages whose price is known.
    #[schema(value_type = String, example = "62.50")]
    amount: Micros,
    /// The day from which the prices apply.
    #[schema(value_type = String, format = Date, example = "2026-10-01")]
    prices_of: String,
    /// The category of the messages. Messages without a template are `service`: the provider charges none of the first 1,000
    /// of a number in each month.
    #[schema(value_type = MessageCategory, example = "marketing")]
    category: &'static str,
    /// Recipients for whom no price is known: `amount` is without them.
    unpriced_count: u64,
    /// The recipients by country, the country with the most first.
    countries: Vec<CountryCost>,
}

/// The messages to one country.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CountryCost {
    /// Two letters; null for numbers whose country is not known.
    #[schema(example = "BR")]
    country: Option<&'static str>,
    /// The provider's market that the country belongs to; null when the prices have none.
    #[schema(example = "Brazil")]
    market: Option<String>,
    /// How many messages.
    messages: u64,
    /// The price of one message; null when it is not known.
    #[schema(value_type = Option<String>, example = "0.0625")]
    price: Option<Micros>,
    /// The price of all of them; null when it is not known.
    #[schema(value_type = Option<String>, example = "62.50")]
    amount: Option<Micros>,
}

/// What the messages cost that arrived in a month, by the provider's published prices. It is an estimate and not the
/// provider's bill.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MonthCosts {
    /// The month, in UTC.
    #[schema(example = "2026-11")]
    month: String,
    /// The currency of the amounts; null when no prices of this month are known.
    #[schema(example = "USD")]
    currency: Option<String>,
    /// The day from which the prices apply; null as `currency`.
    #[schema(value_type = Option<String>, format = Date, example = "2026-10-01")]
    prices_of: Option<String>,
    /// The amount of the messages whose price is known.
    #[schema(value_type = String, example = "1250.00")]
    amount: Micros,
    /// Charged messages for which no price is known: `amount` is without them.
    unpriced_count: u64,
    /// The messages by channel, country and category.
    data: Vec<BilledMessages>,
}

/// Messages of a month that the provider bills alike.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BilledMessages {
    /// The channel; null in a month with so many records that channels are added up.
    channel_id: Option<Uuid>,
    /// The country of the recipients, by its two letters; null when it is not known.
    #[schema(example = "BR")]
    country: Option<&'static str>,
    /// The provider's market that the country belongs to; null when the prices have none.
    #[schema(example = "Brazil")]
    market: Option<String>,
    /// The category by which the provider bills them.
    #[schema(value_type = MessageCategory, example = "utility")]
    category: &'static str,
    /// Whether the provider charges them; inside some windows it does not.
    is_charged: bool,
    /// How many messages arrived.
    messages: u64,
    /// The price of one message, zero when it is free; null when it is not known.
    #[schema(value_type = Option<String>, example = "0.0068")]
    price: Option<Micros>,
    /// The price of all of them; null when it is not known.
    #[schema(value_type = Option<String>, example = "13.60")]
    amount: Option<Micros>,
}

impl From<price::CostEstimate> for CostEstimate {
    fn from(estimate: price::CostEstimate) -> Self {
        let price::CostEstimate { category, currency, prices_of, amount, unpriced, countries } = estimate;
        Self {
            currency,
            amount,
            prices_of: prices_of.to_string(),
            category: category.as_str(),
            unpriced_count: unpriced,
            countries: countries.into_iter().map(CountryCost::from).collect(),
        }
    }
}

impl From<price::CountryCost> for CountryCost {
    fn from(cost: price::CountryCost) -> Self {
        let amount = cost.amount();
        let price::CountryCost { country, market, messages, price } = cost;
        Self { country: country.map(Country::code), market, messages, price, amount }
    }
}

impl From<costs::MonthCost> for BilledMessages {
    fn from(cost: costs::MonthCost) -> Self {
        let amount = cost.amount();
        let costs::MonthCost { channel_id, country, market, billing, messages, price } = cost;
        Self {
            channel_id,
            country: country.map(Country::code),
            market,
            category: billing.category.as_str(),
            is_charged: billing.is_charged,
            messages,
            price,
            amount,
        }
    }
}

/// Show what a month cost
///
/// The messages that arrived in a month through business accounts, as the provider says that it bills them, with its
/// published prices. Messages that arrived before this version counted them are missing.
#[utoipa::path(
    get,
    path = "/api/v1/costs",
    operation_id = "showCosts",
    params(("month" = Option<String>, Query, description = "The month, such as `2026-11`; this month when absent")),
    responses((status = 200, description = "The costs of the month", body = MonthCosts)),
)]
pub(super) async fn month(company: Company, state: Data<State>, query: Query) -> Answer<MonthCosts> {
    let month = match query.text("month")? {
        None => Month::of(Timestamp::now()),
        Some(text) => text.parse::<Month>().map_err(|wrong| Error::of("month", Code::InvalidField, wrong))?,
    };
    let costs = state.engine.costs().month(company.id, month).await?;
    let (amount, unpriced_count) = (costs.amount(), costs.unpriced());
    let costs::MonthCosts { month, card, rows } = costs;
    Ok(Json(MonthCosts {
        month: month.to_string(),
        prices_of: card.as_ref().map(|card| card.date.to_string()),
        currency: card.map(|card| card.currency),
        amount,
        unpriced_count,
        data: rows.into_iter().map(BilledMessages::from).collect(),
    }))
}
