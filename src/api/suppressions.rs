//! Suppressions: recipients that a company's sends skip. A company lists, checks, adds and lifts its own;
//! [operators](super::operator::suppressions) do the same for any company.

use std::collections::HashMap;

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody};
use super::list_query::{PageParameters, Query};
use super::schema::{LeftOutOf, SuppressionSource};
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::page::Page;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::{Source, Suppression as Scope};
use crate::engine::Who;
use crate::engine::records::CompanyRecords;
use crate::engine::records::suppressions::Kept;
use crate::error::Code;

/// A recipient that a company's sends skip.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Suppression {
    /// The recipient, in international form: the number by which the person is known.
    #[schema(example = "+5511988887777")]
    pub(crate) phone_number: String,
    /// The messages that the recipient does not get.
    #[schema(value_type = LeftOutOf)]
    pub(crate) left_out_of: &'static str,
    /// When the suppression began.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) since: Timestamp,
    /// Until when messages to the recipient wait; null when they are skipped until the suppression is lifted.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) until: Option<Timestamp>,
    /// The provider's code that caused the suppression; null when the recipient, or somebody here, did.
    #[schema(example = 131050)]
    pub(crate) provider_code: Option<i64>,
    /// Where it comes from; null for old ones.
    #[schema(value_type = Option<SuppressionSource>, example = "provider")]
    pub(crate) source: Option<&'static str>,
}

bodies! {
    /// A recipient to suppress.
    pub(crate) struct NewSuppression of Value {
        /// In international form.
        #[schema(example = "+55 11 98888-7777")]
        phone_number: String,
        /// The messages that the recipient does not get; `marketing` when left out.
        left_out_of: Option<LeftOutOf>,
    }
}

/// The suppressions of one number.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SuppressionCheck {
    /// The number that was checked, in international form.
    #[schema(example = "+5511988887777")]
    phone_number: String,
    /// Whether a send skips the number: all sends, or those of marketing templates.
    is_suppressed: bool,
    /// The suppressions that hold now, of any form of the number.
    suppressions: Vec<Suppression>,
}

impl From<Kept> for Suppression {
    fn from(Kept { record, since, source }: Kept) -> Self {
        Self {
            phone_number: format!("+{}", record.recipient),
            left_out_of: record.scope.as_str(),
            since,
            until: record.until,
            provider_code: record.provider_code,
            source: source.map(Source::as_str),
        }
    }
}

/// The page of a company's suppressions that a query asks for.
pub(super) async fn page(of: &CompanyRecords, query: &Query) -> Result<Envelope<Suppression>, Error> {
    let page = query.page()?;
    let number = match query.search()?.map(|text| PhoneNumber::parse(&text)) {
        None => None,
        Some(Ok(number)) => Some(number),
        // A text that is no number finds nobody.
        Some(Err(_)) => return Ok(Envelope::new(page, Page { records: Vec::<Kept>::new(), total: 0 })),
    };
    let kept = of.suppressions().page(page, number, Timestamp::now()).await?;
    Ok(Envelope::new(page, kept))
}

/// Suppresses the recipient of a body; the recipient, and whether it was not suppressed to this extent before.
pub(super) async fn suppress(
    state: &State,
    who: &Who,
    of: &CompanyRecords,
    NewSuppression { phone_number, left_out_of }: NewSuppression,
) -> Result<(PhoneNumber, bool), Error> {
    let number = PhoneNumber::parse(phone_number.required()?)
        .map_err(|reason| phone_number.refuse(Code::InvalidPhoneNumber, reason))?;
    let scope = match left_out_of.text()? {
        None => Scope::Marketing,
        Some(word) => word.parse().map_err(|wrong| left_out_of.refuse(Code::InvalidField, wrong))?,
    };
    Ok((number, state.engine.contacts().suppress(who, of, number, scope).await?))
}

/// Lifts all suppressions of the number in the path.
pub(super) async fn lift_of_path(
    state: &State,
    who: &Who,
    of: &CompanyRecords,
    request: &HttpRequest,
) -> Result<HttpResponse, Error> {
    let lifted = match number_of(request) {
        Ok(number) => state.engine.contacts().lift_suppressions(who, of, number).await?,
        Err(_) => Vec::new(),
    };
    if lifted.is_empty() {
        let sentence = "the company has no suppression of this number: GET …/suppressions lists its \
             suppressions";
        return Err(Error::refused(Code::SuppressionNotFound, sentence));
    }
    Ok(HttpResponse::NoContent().finish())
}

/// The number in the path.
fn number_of(request: &HttpRequest) -> Result<PhoneNumber, Error> {
    // The router leaves an encoded plus sign as it is, and programs encode it.
    let text = request.match_info().query("number").replace("%2B", "+").replace("%2b", "+");
    PhoneNumber::parse(&text).map_err(|reason| {
        let sentence = format!("the number in the path {reason}: give it in international form");
        Error::refused(Code::InvalidPhoneNumber, sentence)
    })
}

/// The suppressions of a number.
async fn check_one(
    state: &State,
    of: &CompanyRecords,
    number: PhoneNumber,
) -> Result<SuppressionCheck, Error> {
    let mut found: HashMap<_, _> = state.engine.contacts().suppressions_of(of, &[number]).await?;
    let kept = found.remove(&number).unwrap_or_default();
    Ok(SuppressionCheck {
        phone_number: format!("+{number}"),
        is_suppressed: crate::engine::skip_of(&kept).is_some(),
        suppressions: kept.into_iter().map(Suppression::from).collect(),
    })
}

/// List suppressions
///
/// The recipients that the company's sends skip, or hold for a while, by number.
#[utoipa::path(
    get,
    path = "/api/v1/suppressions",
    operation_id = "listOwnSuppressions",
    params(
        PageParameters,
        ("search" = Option<String>, Query, description = "A whole number, in any of the forms in which it is written"),
    ),
    responses((status = 200, description = "A page of suppressions", body = Envelope<Suppression>)),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
) -> Answer<Envelope<Suppression>> {
    let records = state.engine.company(company.id).await?;
    Ok(Json(page(&records, &query).await?))
}

/// Suppress a recipient
///
/// The company's sends skip the recipient: those of marketing templates, or all of them. Sends that are accepted
/// after the answer skip it; messages that are about to start still go out. The record of changes names the key.
#[utoipa::path(
    post,
    path = "/api/v1/suppressions",
    operation_id = "addOwnSuppression",
    request_body = NewSuppression,
    responses(
        (status = 200, description = "The recipient was suppressed so before", body = SuppressionCheck),
        (status = 201, description = "The recipient is suppressed", body = SuppressionCheck),
    ),
)]
pub(super) async fn add(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (new, _room) = body.fields(&state.options).await?;
    let records = state.engine.company(company.id).await?;
    let (number, is_new) = suppress(&state, &who, &records, new).await?;
    let mut answer = if is_new { HttpResponse::Created() } else { HttpResponse::Ok() };
    Ok(answer.json(check_one(&state, &records, number).await?))
}

/// Check a recipient
///
/// Whether the company's sends skip this number, and why. `POST /api/v1/numbers/check` checks many.
#[utoipa::path(
    get,
    path = "/api/v1/suppressions/{number}",
    operation_id = "checkOwnSuppression",
    params(("number" = String, Path, description = "The number in international form, with or without its plus sign")),
    responses((status = 200, description = "The number's suppressions, perhaps none", body = SuppressionCheck)),
)]
pub(super) async fn check(
    company: Company,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<SuppressionCheck> {
    let number = number_of(&request)?;
    let records = state.engine.company(company.id).await?;
    Ok(Json(check_one(&state, &records, number).await?))
}

/// Lift a recipient's suppressions
///
/// Ends every suppression of the number, including those by the provider and by the person's own word: lift only
/// with the person's consent. The record of changes names the key.
#[utoipa::path(
    delete,
    path = "/api/v1/suppressions/{number}",
    operation_id = "liftOwnSuppression",
    params(("number" = String, Path, description = "The number in international form, with or without its plus sign")),
    responses(
        (status = 204, description = "The recipient is no longer suppressed"),
        (status = 404, description = "`suppression_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn lift(
    Author { company, who }: Author,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let records = state.engine.company(company.id).await?;
    lift_of_path(&state, &who, &records, &request).await
}
