//! Suppressions of companies, as operators list, add and lift them.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};

use super::{Operator, companies};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::api::suppressions::{self, NewSuppression, Suppression};

/// List a company's suppressions
///
/// Sorted by number.
#[utoipa::path(
    get,
    path = "/operator/v1/companies/{id}/suppressions",
    operation_id = "listSuppressions",
    params(
        ("id" = Uuid, Path, description = "The company"),
        PageParameters,
        ("search" = Option<String>, Query, description = "A whole number, in any of the forms in which it is written"),
    ),
    responses(
        (status = 200, description = "A page of suppressions", body = Envelope<Suppression>),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(
    _: Operator,
    state: Data<State>,
    id: Id,
    query: Query,
) -> Answer<Envelope<Suppression>> {
    let company = companies::find(&state, id.0).await?;
    let records = state.engine.operator().await?.company(company.id);
    Ok(Json(suppressions::page(&records, &query).await?))
}

/// Suppress a recipient of a company
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
pub(crate) async fn add(
    operator: Operator,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let company = companies::find(&state, id.0).await?;
    let (new, _room) = body.fields(&state.options).await?;
    let records = state.engine.operator().await?.company(company.id);
    suppressions::suppress(&state, &operator.who(), &records, new).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Lift the suppressions of a company's recipient
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
pub(crate) async fn lift(
    operator: Operator,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let company = companies::find(&state, id.0).await?;
    let records = state.engine.operator().await?.company(company.id);
    suppressions::lift_of_path(&state, &operator.who(), &records, &request).await
}
