//! Tiers: list, show, replace.

use std::convert::Infallible;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, Responder};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Operator;
use super::reference::{Tier, TierOptions};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::schema::ChangedValue;
use crate::api::{State, query};
use crate::clock::Timestamp;
use crate::domain::tier::{self, OptionChange};
use crate::engine::records;
use crate::error::Code;
use crate::surface::paths::argument;

/// The `{name}` of the path.
pub(in crate::api) struct TierName(String);

/// A stored tier.
#[derive(Serialize)]
pub(in crate::api) struct Record {
    #[serde(flatten)]
    document: Document,
    updated_at: Timestamp,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Document {
    Tier(Box<tier::Tier>),
    /// A tier that another version of this program wrote.
    Foreign(Map<String, Value>),
}

/// Every tier.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Tiers {
    /// The tiers, sorted by name.
    #[schema(value_type = Vec<Tier>)]
    data: Vec<Record>,
}

/// The result of replacing a tier.
#[derive(Serialize, ToSchema)]
pub(in crate::api) struct Replaced {
    /// The tier's name.
    #[schema(example = "standard")]
    name: String,
    /// Whether this was a dry run, which changed nothing.
    dry_run: bool,
    /// The tier before, as it was stored; null when there was none.
    #[schema(value_type = Option<ChangedValue>)]
    before: Option<Value>,
    /// The new tier.
    #[schema(value_type = Tier)]
    after: Value,
    /// Each option that differs.
    difference: Vec<OptionChange>,
}

argument!(TierName, Infallible, |request: &HttpRequest| {
    Ok(Self(request.match_info().query("name").to_owned()))
});

impl From<records::tiers::Record> for Record {
    fn from(records::tiers::Record { name, settings, updated_at }: records::tiers::Record) -> Self {
        let document = match serde_json::from_str(&settings) {
            Ok(tier) => Document::Tier(Box::new(tier)),
            Err(_) => {
                let mut fields: Map<String, Value> = serde_json::from_str(&settings).unwrap_or_default();
                fields.insert("name".to_owned(), name.into());
                Document::Foreign(fields)
            }
        };
        Self { document, updated_at }
    }
}

/// List tiers
///
/// All tiers, sorted by name.
#[utoipa::path(
    get,
    path = "/operator/v1/tiers",
    operation_id = "listTiers",
    responses((status = 200, description = "Every tier", body = Tiers)),
)]
pub(in crate::api) async fn list(_: Operator, state: Data<State>) -> Answer<Tiers> {
    let tiers = state.engine.operator().await?.tiers().all().await?;
    Ok(Json(Tiers { data: tiers.into_iter().map(Record::from).collect() }))
}

/// Show a tier
#[utoipa::path(
    get,
    path = "/operator/v1/tiers/{name}",
    operation_id = "showTier",
    params(("name" = String, Path, description = "The tier's name")),
    responses(
        (status = 200, description = "The tier", body = Tier),
        (status = 404, description = "`tier_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn show(_: Operator, name: TierName, state: Data<State>) -> Answer<Record> {
    find(&state, &name.0).await.map(Record::from).map(Json)
}

/// Add or replace a tier
///
/// Channels with this tier apply it within a second, even during a send. An option that is left out gets its
/// default value, whatever it was before. All errors are reported together.
#[utoipa::path(
    put,
    path = "/operator/v1/tiers/{name}",
    operation_id = "replaceTier",
    params(
        ("name" = String, Path, description = "1 to 40 small letters, digits and hyphens"),
        ("dry_run" = Option<bool>, Query, description = "Report what would change, and change nothing"),
    ),
    request_body = TierOptions,
    responses(
        (status = 200, description = "The tier was replaced, or would be", body = Replaced),
        (status = 201, description = "Added", body = Replaced),
        (status = 409, description = "`tier_kind_changed`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn replace(
    operator: Operator,
    name: TierName,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Result<impl Responder, Error> {
    let dry_run = dry_run(request.query_string())?;
    let (mut options, _room) = body.tree(&state.options).await?;
    // The answer to GET can be sent back as it is: the time of its last change is ignored.
    options.remove("updated_at");
    let tier = tier::from_json(&name.0, options)
        .map_err(|faults| Error::refused(Code::InvalidTier, faults.join("; also: ")))?;
    let after = serde_json::to_value(&tier).map_err(|_| Error::Internal)?;
    let (who, given) = (operator.who(), [(tier.name, after.to_string())]);
    let records = state.engine.operator().await?;
    let changes = match dry_run {
        true => records.compare_tiers(&who, &given).await,
        false => records.apply_tiers(&who, &given).await,
    };
    let change = changes?.pop();
    let before = change.map_or_else(|| Some(after.clone()), |change| change.before);
    let status = if before.is_none() && !dry_run { StatusCode::CREATED } else { StatusCode::OK };
    let difference = tier::difference(before.as_ref().unwrap_or(&Value::Null), &after);
    Ok((Json(Replaced { name: name.0, dry_run, before, after, difference }), status))
}

/// The tier of this name.
pub(super) async fn find(state: &State, name: &str) -> Result<records::tiers::Record, Error> {
    let found =
        if tier::is_name(name) { state.engine.operator().await?.tiers().find(name).await? } else { None };
    found.ok_or_else(|| {
        Error::refused(
            Code::TierNotFound,
            "there is no tier of this name: GET /operator/v1/tiers lists the tiers",
        )
    })
}

/// A mistyped `dry_run` must not change anything.
fn dry_run(query: &str) -> Result<bool, Error> {
    match query::value(query, "dry_run").as_ref().map(Option::as_deref) {
        Ok(None | Some("false")) => Ok(false),
        Ok(Some("true")) => Ok(true),
        Ok(Some(_)) | Err(query::Undecodable) => {
            Err(Error::refused(Code::InvalidField, "`dry_run` must be true or false"))
        }
    }
}
