//! Suppressions of companies: list, add, lift.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{Operator, companies};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::api::schema::LeftOutOf;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::{Source, Suppression as Scope};
use crate::engine::records::suppressions::Kept;
use crate::error::Code;

/// A recipient that a company's sends skip.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Suppression {
    /// The recipient, in international form.
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
    /// The provider's code that caused the suppression; null when the recipient or an operator did.
    #[schema(example = 131050)]
    pub(crate) provider_code: Option<i64>,
    /// Where it comes from: `provider` reported it, the person stopped marketing in WhatsApp (`preference`), the person
    /// wrote an opt-out word (`message`), or an `operator` or user added it. Null for old ones.
    #[schema(example = "provider")]
    pub(crate) source: Option<&'static str>,
}

bodies! {
    /// A recipient to suppress.
    pub(super) struct NewSuppression of Value {
        /// In international form.
        #[schema(example = "+55 11 98888-7777")]
        phone_number: String,
        /// The messages that the recipient does not get; `marketing` when left out.
        left_out_of: Option<LeftOutOf>,
    }
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

/// List a company's suppressions
///
/// Sorted by number.
#[utoipa::path(
    get,
    path = "/operator/v1/companies/{id}/suppressions",
    operation_id = "listSuppressions",
    params(("id" = Uuid, Path, description = "The company"), PageParameters),
    responses(
        (status = 200, description = "A page of suppressions", body = Envelope<Suppression>),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn list(
    _: Operator,
    state: Data<State>,
    id: Id,
    query: Query,
) -> Answer<Envelope<Suppression>> {
    let page = query.page()?;
    let company = companies::find(&state, id.0).await?;
    let records = state.engine.operator().await?.company(company.id);
    let kept = records.suppressions().page(page, None, Timestamp::now()).await?;
    Ok(Json(Envelope::new(page, kept)))
}

/// Suppress a recipient
///
/// Suppresses a company's marketing to the recipient, or all its messages. A running service applies it within
/// a second; messages that start before then still go out.
#[utoipa::path(
    post,
    path = "/operator/v1/companies/{id}/suppressions",
    operation_id = "addSuppression",
    params(("id" = Uuid, Path, description = "The company")),
    request_body = NewSuppression,
    responses(
        (status = 204, description = "The recipient is suppressed, and may have been before"),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn add(
    operator: Operator,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let company = companies::find(&state, id.0).await?;
    let (NewSuppression { phone_number, left_out_of }, _room) = body.fields(&state.options).await?;
    let number = PhoneNumber::parse(phone_number.required()?)
        .map_err(|reason| phone_number.refuse(Code::InvalidPhoneNumber, reason))?;
    let scope = match left_out_of.text()? {
        None => Scope::Marketing,
        Some(word) => word.parse().map_err(|wrong| left_out_of.refuse(Code::InvalidField, wrong))?,
    };
    state
        .engine
        .operator()
        .await?
        .company(company.id)
        .suppressions()
        .add(&operator.who(), number, scope)
        .await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Lift a recipient's suppressions
///
/// Ends every suppression of the number, including those by the provider. A running service applies it within
/// a second.
#[utoipa::path(
    delete,
    path = "/operator/v1/companies/{id}/suppressions/{number}",
    operation_id = "liftSuppression",
    params(
        ("id" = Uuid, Path, description = "The company"),
        ("number" = String, Path, description = "The recipient's number, with or without its plus sign"),
    ),
    responses(
        (status = 204, description = "The recipient is no longer suppressed"),
        (status = 404, description = "`company_not_found`, `suppression_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn lift(
    operator: Operator,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let company = companies::find(&state, id.0).await?;
    let number = request.match_info().get("number").and_then(|number| PhoneNumber::parse(number).ok());
    let lifted = match number {
        Some(number) => {
            let records = state.engine.operator().await?.company(company.id);
            records.suppressions().lift(&operator.who(), number).await?
        }
        None => Vec::new(),
    };
    if lifted.is_empty() {
        let sentence = "the company has no suppression of this number: GET …/suppressions lists its \
             suppressions";
        return Err(Error::refused(Code::SuppressionNotFound, sentence));
    }
    Ok(HttpResponse::NoContent().finish())
}
