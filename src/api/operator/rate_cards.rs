//! Rate cards: list, add or replace, and remove.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, Responder};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::Operator;
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::Query;
use crate::api::schema::MessageCategory;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::price::{Micros, PriceChange};
use crate::engine::costs::KnownCard;
use crate::error::Code;

/// Every rate card.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RateCards {
    /// The cards, the newest date first. A card applies from its date to the next one's.
    data: Vec<RateCard>,
}

/// Published prices of the provider.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RateCard {
    /// The first day on which they apply.
    #[schema(format = Date, example = "2026-10-01")]
    date: String,
    /// The currency of the prices.
    #[schema(example = "USD")]
    currency: String,
    /// Where they were published; may be empty.
    source: String,
    /// The number of markets.
    markets: usize,
    /// When an operator uploaded it; null for the card that the program has.
    #[schema(value_type = Option<String>, format = DateTime)]
    uploaded_at: Option<Timestamp>,
    /// The file, which can be changed and uploaded.
    #[schema(
        example = "# date: 2026-10-01\n# currency: USD\nMarket,Countries,Marketing,Utility,Authentication\n"
    )]
    csv: String,
}

/// The result of uploading a rate card.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PutRateCard {
    /// The first day on which the prices apply.
    #[schema(format = Date, example = "2027-01-01")]
    date: String,
    /// Whether this was a dry run, which changed nothing.
    dry_run: bool,
    /// Each price that differs from those that applied on that day before.
    difference: Vec<ChangedPrice>,
}

/// A price that changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedPrice {
    /// The provider's market.
    #[schema(example = "Brazil")]
    market: String,
    /// The category of the messages.
    #[schema(value_type = MessageCategory, example = "marketing")]
    category: &'static str,
    /// The price before; null when there was none.
    #[schema(value_type = Option<String>, example = "0.0625")]
    old: Option<Micros>,
    /// The price after; null when there is none.
    #[schema(value_type = Option<String>, example = "0.0700")]
    new: Option<Micros>,
}

bodies! {
    /// A rate card to upload.
    pub(super) struct NewRateCard of Value {
        /// The file, at most 64 KiB: the provider's own, or one as this API gives it.
        #[schema(example = "# date: 2027-01-01\n# currency: USD\nMarket,Countries,Marketing,Utility,Authentication\nBrazil,BR,0.0625,0.0068,0.0068\n")]
        csv: String,
    }
}

impl From<KnownCard> for RateCard {
    fn from(KnownCard { card, uploaded_at }: KnownCard) -> Self {
        Self {
            date: card.date.to_string(),
            csv: card.to_csv(),
            markets: card.markets.len(),
            currency: card.currency,
            source: card.source,
            uploaded_at,
        }
    }
}

impl From<PriceChange> for ChangedPrice {
    fn from(PriceChange { market, category, old, new }: PriceChange) -> Self {
        Self { market, category: category.as_str(), old, new }
    }
}

/// List rate cards
///
/// The card that the program has, and those that operators uploaded. An uploaded card takes the place of the program's of
/// the same date.
#[utoipa::path(
    get,
    path = "/operator/v1/rate-cards",
    operation_id = "listRateCards",
    responses((status = 200, description = "Every rate card", body = RateCards)),
)]
pub(crate) async fn list(_: Operator, state: Data<State>) -> Answer<RateCards> {
    let cards = state.engine.costs().cards().await?;
    Ok(Json(RateCards { data: cards.into_iter().map(RateCard::from).collect() }))
}

/// Add or replace a rate card
///
/// The file's date says from when its prices apply; an uploaded card of that date is replaced. Faults of the file are
/// reported together, each with its line. At most 40 cards are kept.
#[utoipa::path(
    post,
    path = "/operator/v1/rate-cards",
    operation_id = "putRateCard",
    params(("dry_run" = Option<bool>, Query, description = "Report what would change, and change nothing")),
    request_body = NewRateCard,
    responses(
        (status = 200, description = "What the card would change", body = PutRateCard),
        (status = 201, description = "The card applies from its date", body = PutRateCard),
    ),
)]
pub(crate) async fn put(
    operator: Operator,
    body: Body,
    state: Data<State>,
    query: Query,
) -> Result<impl Responder, Error> {
    let dry_run = query.flag("dry_run")?;
    let (NewRateCard { csv }, _room) = body.fields(&state.options).await?;
    let compared = state.engine.costs().compare(csv.required()?).await?;
    let (card, changes) = compared.map_err(|faults| {
        csv.refuse(Code::InvalidField, format!("is no rate card: {}", faults.join("; also: ")))
    })?;
    if !dry_run {
        state.engine.costs().put(&operator.who(), &card).await?;
    }
    let difference = changes.into_iter().map(ChangedPrice::from).collect();
    let status = if dry_run { StatusCode::OK } else { StatusCode::CREATED };
    Ok((Json(PutRateCard { date: card.date.to_string(), dry_run, difference }), status))
}

/// Remove an uploaded rate card
///
/// The card before it applies again, or the program's own of the same date.
#[utoipa::path(
    delete,
    path = "/operator/v1/rate-cards/{date}",
    operation_id = "removeRateCard",
    params(("date" = String, Path, description = "The card's date, such as `2027-01-01`")),
    responses(
        (status = 204, description = "The card is gone"),
        (status = 404, description = "`rate_card_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn remove(
    operator: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let date = request.match_info().query("date");
    state.engine.costs().remove(&operator.who(), date).await?;
    Ok(HttpResponse::NoContent().finish())
}
