//! Companies: list, add, show, change.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::reference::{CompanyChange, NewCompany};
use super::{Operator, body, path_id, tiers};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::Envelope;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{ListQuery, PageParameters};
use crate::api::openapi::Failures;
use crate::clock::Timestamp;
use crate::engine::records::companies;
use crate::error::Code;

/// The default tier of a company.
const USUAL_TIER: &str = "standard";

/// A company.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Company {
    /// The id of the company.
    id: Uuid,
    /// Unique.
    #[schema(example = "Bakery")]
    name: String,
    /// The tier of its new channels; its `api_requests` limits the company's requests.
    #[schema(example = "standard")]
    tier: String,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<companies::Company> for Company {
    fn from(companies::Company { id, name, tier, created_at, country: _ }: companies::Company) -> Self {
        Self { id, name, tier, created_at }
    }
}

/// List companies
///
/// Sorted by name. `search` is matched in the name.
#[utoipa::path(
    get,
    path = "/operator/v1/companies",
    operation_id = "listCompanies",
    tag = "operator",
    security(("operator_key" = [])),
    params(PageParameters),
    responses((status = 200, description = "A page of companies", body = Envelope<Company>), Failures),
)]
pub(in crate::api) async fn list(
    _: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Company>>, Error> {
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, search) = (query.page()?, query.search()?);
    let companies = state.engine.operator().await?.companies().page(page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, companies)))
}

/// Add a company
#[utoipa::path(
    post,
    path = "/operator/v1/companies",
    operation_id = "createCompany",
    tag = "operator",
    security(("operator_key" = [])),
    request_body = NewCompany,
    responses(
        (status = 201, description = "The company", body = Company),
        (status = 404, description = "`tier_not_found`", body = ErrorBody),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another company has the name", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn create(
    operator: Operator,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let mut fields = body.fields(&state.options).await?;
    let name = body::required_name(&mut fields, "name")?;
    let tier = body::text(&mut fields, "tier")?.unwrap_or_else(|| USUAL_TIER.to_owned());
    let tier = tiers::find(&state, &tier).await?.name;
    let company = state.engine.operator().await?.add_company(&operator.who(), &name, &tier).await?;
    Ok(HttpResponse::Created().json(Company::from(company)))
}

/// Show a company
#[utoipa::path(
    get,
    path = "/operator/v1/companies/{id}",
    operation_id = "getCompany",
    tag = "operator",
    security(("operator_key" = [])),
    params(("id" = Uuid, Path, description = "The company")),
    responses(
        (status = 200, description = "The company", body = Company),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn show(
    _: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Company>, Error> {
    find(&state, path_id(&request, "id")).await.map(Company::from).map(Json)
}

/// Change a company
///
/// Changes its name, its tier, or both. Channels keep their tiers; a running service limits the company's
/// requests by the new tier within a second.
#[utoipa::path(
    patch,
    path = "/operator/v1/companies/{id}",
    operation_id = "changeCompany",
    tag = "operator",
    security(("operator_key" = [])),
    params(("id" = Uuid, Path, description = "The company")),
    request_body = CompanyChange,
    responses(
        (status = 200, description = "The company", body = Company),
        (status = 404, description = "`company_not_found`, `tier_not_found`", body = ErrorBody),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another company has the name", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn change(
    operator: Operator,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Company>, Error> {
    let company = find(&state, path_id(&request, "id")).await?;
    let mut fields = body.fields(&state.options).await?;
    let name = body::name(&mut fields, "name")?.unwrap_or_else(|| company.name.clone());
    let tier = match body::text(&mut fields, "tier")? {
        Some(tier) => tiers::find(&state, &tier).await?.name,
        None => company.tier.clone(),
    };
    let records = state.engine.operator().await?;
    let changed = records.change_company(&operator.who(), &company, &name, &tier).await?;
    Ok(Json(changed.into()))
}

/// The company of a path or a body.
pub(super) async fn find(state: &State, id: Option<Uuid>) -> Result<companies::Company, Error> {
    let found = match id {
        Some(id) => state.engine.operator().await?.companies().find(id).await?,
        None => None,
    };
    found.ok_or_else(|| {
        Error::refused(
            Code::CompanyNotFound,
            "there is no company with this id: GET /operator/v1/companies lists the companies",
        )
    })
}
