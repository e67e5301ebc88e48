//! Tiers: list, show, replace, change, rename, delete, and go back to an earlier state.

mod effect;

use std::convert::Infallible;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, Responder};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) use self::effect::SendEffect;
use self::effect::TierChange;
pub(crate) use self::effect::{__path_plan, plan};
use super::Operator;
use super::reference::{Tier, TierOptions};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::Query;
use crate::api::schema::ChangedValue;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::tier::{self, OptionChange};
use crate::engine::records;
use crate::error::Code;
use crate::surface::paths::argument;

/// The `{name}` of the path.
pub(crate) struct TierName(String);

/// A stored tier.
#[derive(Serialize)]
pub(crate) struct Record {
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
pub(crate) struct Tiers {
    /// The tiers, sorted by name.
    #[schema(value_type = Vec<Tier>)]
    data: Vec<Record>,
}

/// The result of replacing a tier.
#[derive(Serialize, ToSchema)]
pub(crate) struct Replaced {
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
    /// Only of a dry run: what would change for active sends, at most 20, those with the most messages left.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    sends: Option<Vec<SendEffect>>,
}

bodies! {
    /// Another name for a tier.
    pub(super) struct TierRename of Value {
        /// 1 to 40 small letters, digits and hyphens, as no other tier has.
        #[schema(example = "high-2026")]
        name: String,
    }

    /// The state to go back to.
    pub(super) struct TierRollback of Value {
        /// The id of a change of this tier: it becomes as it was after that change. Without it, it becomes as it was before
        /// the newest change.
        #[schema(format = Uuid)]
        change_id: Option<String>,
    }
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
pub(crate) async fn list(_: Operator, state: Data<State>) -> Answer<Tiers> {
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
pub(crate) async fn show(_: Operator, name: TierName, state: Data<State>) -> Answer<Record> {
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
pub(crate) async fn replace(
    operator: Operator,
    name: TierName,
    body: Body,
    state: Data<State>,
    query: Query,
) -> Result<impl Responder, Error> {
    let dry_run = query.flag("dry_run")?;
    let (mut options, _room) = body.tree(&state.options).await?;
    // The answer to GET can be sent back as it is: the time of its last change is ignored.
    options.remove("updated_at");
    let tier = tier::from_json(&name.0, options).map_err(|faults| invalid(&faults))?;
    put(&operator, &state, tier, dry_run).await
}

/// Change options of a tier
///
/// The other options stay as they are; an option that is null gets its default value. Channels with this tier apply it
/// within a second, even during a send. All errors are reported together.
#[utoipa::path(
    patch,
    path = "/operator/v1/tiers/{name}",
    operation_id = "changeTier",
    params(
        ("name" = String, Path, description = "The tier's name"),
        ("dry_run" = Option<bool>, Query, description = "Report what would change, and change nothing"),
    ),
    request_body = TierChange,
    responses(
        (status = 200, description = "The tier was changed, or would be", body = Replaced),
        (status = 404, description = "`tier_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    operator: Operator,
    name: TierName,
    body: Body,
    state: Data<State>,
    query: Query,
) -> Result<impl Responder, Error> {
    let dry_run = query.flag("dry_run")?;
    let present = read(&find(&state, &name.0).await?)?;
    let (mut options, _room) = body.tree(&state.options).await?;
    options.remove("updated_at");
    let tier = present.with_json(options).map_err(|faults| invalid(&faults))?;
    put(&operator, &state, tier, dry_run).await
}

/// Delete a tier
///
/// No channel and no company may use it. Its history stays, and going back to an entry brings it back.
#[utoipa::path(
    delete,
    path = "/operator/v1/tiers/{name}",
    operation_id = "deleteTier",
    params(("name" = String, Path, description = "The tier's name")),
    responses(
        (status = 204, description = "The tier is gone"),
        (status = 404, description = "`tier_not_found`", body = ErrorBody),
        (status = 409, description = "`tier_in_use`: the sentence says by whom", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    operator: Operator,
    name: TierName,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    state.engine.operator().await?.remove_tier(&operator.who(), &name.0).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Rename a tier
///
/// Its channels and companies follow, even during a send.
#[utoipa::path(
    post,
    path = "/operator/v1/tiers/{name}/rename",
    operation_id = "renameTier",
    params(("name" = String, Path, description = "The tier's name")),
    request_body = TierRename,
    responses(
        (status = 200, description = "The tier under its new name", body = Tier),
        (status = 404, description = "`tier_not_found`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another tier has the name", body = ErrorBody),
    ),
)]
pub(crate) async fn rename(
    operator: Operator,
    name: TierName,
    body: Body,
    state: Data<State>,
) -> Answer<Record> {
    let (TierRename { name: new }, _room) = body.fields(&state.options).await?;
    let wrong = || new.refuse(Code::InvalidField, "must be 1 to 40 small letters, digits and hyphens");
    let given = Some(new.required()?).filter(|name| tier::is_name(name)).ok_or_else(wrong)?;
    state.engine.operator().await?.rename_tier(&operator.who(), &name.0, given).await?;
    find(&state, given).await.map(Record::from).map(Json)
}

/// Go back to an earlier state of a tier
///
/// `GET /operator/v1/changes?what=tier&subject=NAME` lists the changes. A tier that was deleted comes back.
#[utoipa::path(
    post,
    path = "/operator/v1/tiers/{name}/rollback",
    operation_id = "rollBackTier",
    params(
        ("name" = String, Path, description = "The tier's name"),
        ("dry_run" = Option<bool>, Query, description = "Report what would change, and change nothing"),
    ),
    request_body = Option<TierRollback>,
    responses(
        (status = 200, description = "The tier was changed back, or would be", body = Replaced),
        (status = 201, description = "The tier was deleted before, and is there again", body = Replaced),
        (status = 404, description = "`change_not_found`", body = ErrorBody),
        (status = 409, description = "`tier_kind_changed`", body = ErrorBody),
    ),
)]
pub(crate) async fn roll_back(
    operator: Operator,
    name: TierName,
    body: Body,
    state: Data<State>,
    query: Query,
) -> Result<impl Responder, Error> {
    let dry_run = query.flag("dry_run")?;
    let (TierRollback { change_id }, _room) = body.optional_fields(&state.options).await?;
    let wrong = || change_id.refuse(Code::InvalidField, "is no id of a change");
    let entry = change_id.text()?.map(|id| id.parse::<Uuid>().map_err(|_| wrong())).transpose()?;
    let document = state.engine.operator().await?.earlier_tier(&name.0, entry).await?;
    let tier = tier::from_record(&name.0, &document).map_err(|faults| invalid(&faults))?;
    put(&operator, &state, tier, dry_run).await
}

/// Adds or replaces the tier, or only says what that would change.
async fn put(
    operator: &Operator,
    state: &State,
    tier: tier::Tier,
    dry_run: bool,
) -> Result<(Json<Replaced>, StatusCode), Error> {
    let after = serde_json::to_value(&tier).map_err(|_| Error::Internal)?;
    let (who, given) = (operator.who(), [(tier.name.clone(), after.to_string())]);
    let records = state.engine.operator().await?;
    let changes = match dry_run {
        true => records.compare_tiers(&who, &given).await,
        false => records.apply_tiers(&who, &given).await,
    };
    // Others wait for the records.
    drop(records);
    let change = changes?.pop();
    let before = change.map_or_else(|| Some(after.clone()), |change| change.before);
    let status = if before.is_none() && !dry_run { StatusCode::CREATED } else { StatusCode::OK };
    let difference = tier::difference(before.as_ref().unwrap_or(&Value::Null), &after);
    let mut sends = None;
    if dry_run {
        let effects = state.engine.channels().effect_of(&tier).await?;
        sends = Some(effects.into_iter().map(SendEffect::from).collect());
    }
    Ok((Json(Replaced { name: tier.name, dry_run, before, after, difference, sends }), status))
}

pub(super) fn invalid(faults: &[String]) -> Error {
    Error::refused(Code::InvalidTier, faults.join("; also: "))
}

/// The tier in a record.
pub(super) fn read(record: &records::tiers::Record) -> Result<tier::Tier, Error> {
    serde_json::from_str(&record.settings).map_err(|_| {
        Error::refused(Code::InvalidTier, "this tier cannot be read any more: PUT it again first")
    })
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
