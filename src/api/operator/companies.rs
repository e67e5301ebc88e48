//! Companies: list, add, show, change.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Operator, tiers};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query, SearchParameter};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::engine::records::companies;
use crate::error::Code;

/// The default tier of a company.
const USUAL_TIER: &str = "standard";

/// A company.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Company {
    /// The id of the company.
    pub(crate) id: Uuid,
    /// Unique.
    #[schema(example = "Bakery")]
    pub(crate) name: String,
    /// The tier of its new channels; its `api_requests` limits the company's requests.
    #[schema(example = "standard")]
    pub(crate) tier: String,
    /// When it was disabled; null when its people and programs come in.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) disabled_at: Option<Timestamp>,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
}

bodies! {
    /// A company to add.
    pub(super) struct NewCompany of Value {
        /// No other company has it.
        #[schema(example = "Bakery", max_length = 200)]
        name: String,
        /// The tier of its new channels; `standard` when left out.
        #[schema(example = "standard")]
        tier: Option<String>,
    }

    /// A change of a company. Fields that are left out are kept.
    pub(super) struct CompanyChange of Value {
        /// No other company has it.
        #[schema(example = "Bakery", max_length = 200)]
        name: Option<String>,
        /// The tier of its new channels.
        #[schema(example = "high")]
        tier: Option<String>,
    }
}

impl From<companies::Company> for Company {
    fn from(company: companies::Company) -> Self {
        let companies::Company { id, name, tier, created_at, country: _, disabled_at } = company;
        Self { id, name, tier, disabled_at, created_at }
    }
}

/// List companies
///
/// Sorted by name. `search` is matched in the name.
#[utoipa::path(
    get,
    path = "/operator/v1/companies",
    operation_id = "listCompanies",
    params(PageParameters, SearchParameter),
    responses((status = 200, description = "A page of companies", body = Envelope<Company>)),
)]
pub(crate) async fn list(_: Operator, state: Data<State>, query: Query) -> Answer<Envelope<Company>> {
    let (page, search) = (query.page()?, query.search()?);
    let companies = state.engine.operator().await?.companies().page(page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, companies)))
}

/// Add a company
#[utoipa::path(
    post,
    path = "/operator/v1/companies",
    operation_id = "createCompany",
    request_body = NewCompany,
    responses(
        (status = 201, description = "The company", body = Company),
        (status = 404, description = "`tier_not_found`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another company has the name", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    operator: Operator,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (NewCompany { name, tier }, _room) = body.fields(&state.options).await?;
    let (name, tier) = (name.required_name()?, tier.text()?.unwrap_or(USUAL_TIER));
    let tier = tiers::find(&state, tier).await?.name;
    let company = state.engine.operator().await?.add_company(&operator.who(), &name, &tier).await?;
    Ok(HttpResponse::Created().json(Company::from(company)))
}

/// Show a company
#[utoipa::path(
    get,
    path = "/operator/v1/companies/{id}",
    operation_id = "getCompany",
    params(("id" = Uuid, Path, description = "The company")),
    responses(
        (status = 200, description = "The company", body = Company),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(_: Operator, state: Data<State>, id: Id) -> Answer<Company> {
    find(&state, id.0).await.map(Company::from).map(Json)
}

/// Change a company
///
/// Changes its name, its tier, or both. Channels keep their tiers; a running service limits the company's
/// requests by the new tier within a second.
#[utoipa::path(
    patch,
    path = "/operator/v1/companies/{id}",
    operation_id = "changeCompany",
    params(("id" = Uuid, Path, description = "The company")),
    request_body = CompanyChange,
    responses(
        (status = 200, description = "The company", body = Company),
        (status = 404, description = "`company_not_found`, `tier_not_found`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another company has the name", body = ErrorBody),
    ),
)]
pub(crate) async fn change(operator: Operator, body: Body, state: Data<State>, id: Id) -> Answer<Company> {
    let company = find(&state, id.0).await?;
    let (CompanyChange { name, tier }, _room) = body.fields(&state.options).await?;
    let name = name.name()?.unwrap_or_else(|| company.name.clone());
    let tier = match tier.text()? {
        Some(tier) => tiers::find(&state, tier).await?.name,
        None => company.tier.clone(),
    };
    let records = state.engine.operator().await?;
    let changed = records.change_company(&operator.who(), &company, &name, &tier).await?;
    Ok(Json(changed.into()))
}

/// Disable a company
///
/// Within a second, its keys and its people's session tokens are refused with `company_disabled`, nobody chooses it in the
/// console, and within two seconds its sends are paused. What the provider reports is taken in as before.
#[utoipa::path(
    post,
    path = "/operator/v1/companies/{id}/disable",
    operation_id = "disableCompany",
    params(("id" = Uuid, Path, description = "The company")),
    responses(
        (status = 200, description = "The company", body = Company),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn disable(operator: Operator, state: Data<State>, id: Id) -> Answer<Company> {
    set_disabled(&operator, &state, id, true).await
}

/// Enable a disabled company
///
/// Its people and programs come in again. Its sends stay paused until they are resumed.
#[utoipa::path(
    post,
    path = "/operator/v1/companies/{id}/enable",
    operation_id = "enableCompany",
    params(("id" = Uuid, Path, description = "The company")),
    responses(
        (status = 200, description = "The company", body = Company),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn enable(operator: Operator, state: Data<State>, id: Id) -> Answer<Company> {
    set_disabled(&operator, &state, id, false).await
}

async fn set_disabled(operator: &Operator, state: &State, id: Id, disabled: bool) -> Answer<Company> {
    let company = find(state, id.0).await?;
    let records = state.engine.operator().await?;
    records.companies().set_disabled(&operator.who(), &company, disabled).await?;
    drop(records);
    find(state, Some(company.id)).await.map(Company::from).map(Json)
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
