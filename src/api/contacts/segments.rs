//! Segments: filters of contacts that a company saved under names, and to which it sends.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::{self, wrong_field};
use super::{MOST_FILTER_TAGS, by_send, check_tags, own_fields};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::api::schema::{SegmentLack, SendReception};
use crate::clock::Timestamp;
use crate::engine::records::contacts::{BySend, ContactFilter, Edited};
use crate::engine::records::segments::{Lack, MOST_SEGMENTS, NewSegment, SavedSegment, segment_name};
use crate::error::Code;

/// A segment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Segment {
    /// The id of the segment, which a send gives as `segment_id`.
    id: Uuid,
    /// Unique in the company.
    #[schema(example = "VIPs who did not read the offer")]
    name: String,
    /// What it selects; null while it lacks something.
    filter: Option<SegmentFilter>,
    /// What its filter names and the company has no more; null normally. Such a segment selects nobody.
    #[schema(value_type = Option<SegmentLack>)]
    lacks: Option<&'static str>,
    /// When it was saved first.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was renamed or replaced last.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// The contacts of a segment: those that the list of contacts has with the same parameters.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SegmentFilter {
    /// Those that this search finds; null for a segment without a search.
    search: Option<String>,
    /// Only contacts that have each of these tags.
    contact_tag_id: Vec<Uuid>,
    /// Only contacts that have none of these tags.
    without_contact_tag_id: Vec<Uuid>,
    /// Only contacts for whom this send had the outcome; null for a segment without one.
    send_id: Option<Uuid>,
    /// The outcome of the send.
    #[schema(value_type = Option<SendReception>)]
    send_outcome: Option<&'static str>,
    /// Only contacts that meet each of these conditions on own fields.
    #[schema(example = json!(["age>=18"]))]
    fields: Vec<String>,
}

/// Every segment of the company.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SegmentList {
    /// The segments, by name.
    data: Vec<Segment>,
}

/// A segment to save.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewSegmentBody {
    /// Unique in the company, without regard to case; at most 100 characters in one line.
    #[schema(example = "VIPs who did not read the offer")]
    name: String,
    /// What it selects.
    filter: GivenFilter,
}

/// A change of a segment. Fields that are left out are kept.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SegmentPatch {
    /// Another name.
    name: Option<String>,
    /// What it selects from now on: the whole filter is replaced.
    filter: Option<GivenFilter>,
}

/// A filter of contacts. At least one of its fields is given: all contacts are no segment.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenFilter {
    /// As in the list of contacts.
    search: Option<String>,
    /// Only contacts that have each of these tags; at most 10.
    #[serde(default)]
    #[schema(max_items = 10)]
    contact_tag_id: Vec<Uuid>,
    /// Only contacts that have none of these tags; at most 10.
    #[serde(default)]
    #[schema(max_items = 10)]
    without_contact_tag_id: Vec<Uuid>,
    /// Only contacts for whom this send had the outcome `send_outcome`.
    send_id: Option<Uuid>,
    /// The outcome of the send `send_id`.
    #[schema(value_type = Option<SendReception>)]
    send_outcome: Option<String>,
    /// Only contacts that meet each of these conditions on own fields, written as the parameter `field` of the list of
    /// contacts; at most 10.
    #[serde(default)]
    #[schema(max_items = 10, example = json!(["age>=18"]))]
    fields: Vec<String>,
}

impl From<SavedSegment> for Segment {
    fn from(segment: SavedSegment) -> Self {
        let SavedSegment { id, name, filter, lack, created_at, updated_at } = segment;
        let ContactFilter { search, tags, without, reached, fields } = filter;
        let filter = SegmentFilter {
            search,
            contact_tag_id: tags,
            without_contact_tag_id: without,
            send_id: reached.map(|BySend { send, .. }| send),
            send_outcome: reached.map(|BySend { reception, .. }| reception.as_str()),
            fields: fields.iter().map(ToString::to_string).collect(),
        };
        let filter = lack.is_none().then_some(filter);
        Self { id, name, filter, lacks: lack.map(Lack::as_str), created_at, updated_at }
    }
}

/// List segments
///
/// All segments of the company, by name: at most 100.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/segments",
    operation_id = "listSegments",
    responses((status = 200, description = "Every segment", body = SegmentList)),
)]
pub(crate) async fn list(company: Company, state: Data<State>) -> Answer<SegmentList> {
    let all = state.engine.company(company.id).await?.segments().all().await?;
    Ok(Json(SegmentList { data: all.into_iter().map(Segment::from).collect() }))
}

/// Save a segment
///
/// A segment is a filter of contacts under a name. It has the contacts whom the filter selects whenever it is used: a send
/// to it goes to those whom it selects when the send is accepted.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/segments",
    operation_id = "saveSegment",
    request_body = NewSegmentBody,
    responses(
        (status = 201, description = "The segment", body = Segment),
        (status = 409, description = "`segment_name_taken`, `too_many_segments`", body = ErrorBody),
    ),
)]
pub(crate) async fn save(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (NewSegmentBody { name, filter }, _room) = fields::read(body, &state).await?;
    let name = read_name(&name)?;
    let filter = read_filter(&state, company, filter).await?;
    let records = state.engine.company(company.id).await?;
    match records.segments().add(&who, &name, &filter, Timestamp::now()).await? {
        NewSegment::Saved(id) => {
            let saved = records.segments().find(id).await?.ok_or_else(no_such_segment)?;
            Ok(HttpResponse::Created().json(Segment::from(saved)))
        }
        NewSegment::Taken => Err(taken()),
        NewSegment::Full => {
            let sentence = format!("the company has {MOST_SEGMENTS} segments: delete one that nobody needs");
            Err(Error::refused(Code::TooManySegments, sentence))
        }
    }
}

/// Show a segment
#[utoipa::path(
    get,
    path = "/api/v1/contacts/segments/{id}",
    operation_id = "showSegment",
    params(("id" = Uuid, Path, description = "The segment")),
    responses(
        (status = 200, description = "The segment", body = Segment),
        (status = 404, description = "`segment_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(company: Company, state: Data<State>, id: Id) -> Answer<Segment> {
    let found = state.engine.company(company.id).await?.segments().find(id.or_nil()).await?;
    Ok(Json(found.ok_or_else(no_such_segment)?.into()))
}

/// Change a segment
///
/// Sends that were accepted before keep their recipients.
#[utoipa::path(
    patch,
    path = "/api/v1/contacts/segments/{id}",
    operation_id = "changeSegment",
    params(("id" = Uuid, Path, description = "The segment")),
    request_body = SegmentPatch,
    responses(
        (status = 200, description = "The segment, changed", body = Segment),
        (status = 404, description = "`segment_not_found`", body = ErrorBody),
        (status = 409, description = "`segment_name_taken`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Segment> {
    let id = id.or_nil();
    let (SegmentPatch { name, filter }, _room) = fields::read(body, &state).await?;
    let name = name.map(|name| read_name(&name)).transpose()?;
    let filter = match filter {
        Some(filter) => Some(read_filter(&state, company, filter).await?),
        None => None,
    };
    let records = state.engine.company(company.id).await?;
    let now = Timestamp::now();
    match records.segments().change(&who, id, name.as_deref(), filter.as_ref(), now).await? {
        Edited::Done => {}
        Edited::Taken => return Err(taken()),
        Edited::Missing | Edited::Nameless | Edited::Outdated => return Err(no_such_segment()),
    }
    let changed = records.segments().find(id).await?.ok_or_else(no_such_segment)?;
    Ok(Json(changed.into()))
}

/// Delete a segment
///
/// Its contacts stay, and sends that were accepted before keep their recipients.
#[utoipa::path(
    delete,
    path = "/api/v1/contacts/segments/{id}",
    operation_id = "deleteSegment",
    params(("id" = Uuid, Path, description = "The segment")),
    responses(
        (status = 204, description = "There is no such segment any more"),
        (status = 404, description = "`segment_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    match state.engine.company(company.id).await?.segments().delete(&who, id.or_nil()).await? {
        true => Ok(HttpResponse::NoContent().finish()),
        false => Err(no_such_segment()),
    }
}

fn read_name(given: &str) -> Result<String, Error> {
    segment_name(given)
        .ok_or_else(|| wrong_field("name", "must have from 1 to 100 characters, all of them in one line"))
}

async fn read_filter(state: &State, company: Company, given: GivenFilter) -> Result<ContactFilter, Error> {
    let GivenFilter { search, contact_tag_id, without_contact_tag_id, send_id, send_outcome, fields } = given;
    let search = fields::search(search, state.options.search_chars)?;
    let (tags, without) =
        (ids("contact_tag_id", contact_tag_id)?, ids("without_contact_tag_id", without_contact_tag_id)?);
    check_tags(state, company, &tags, &without).await?;
    let reached = by_send::read(state, company, send_id, send_outcome.as_deref()).await?;
    let fields = own_fields::conditions(state, company, "fields", &fields).await?;
    let filter = ContactFilter { search, tags, without, reached, fields };
    if filter == ContactFilter::default() {
        return Err(wrong_field("filter", "selects all contacts: give at least one of its fields"));
    }
    Ok(filter)
}

/// The ids of tags, each once.
fn ids(name: &str, mut ids: Vec<Uuid>) -> Result<Vec<Uuid>, Error> {
    ids.sort_unstable();
    ids.dedup();
    match ids.len() {
        0..=MOST_FILTER_TAGS => Ok(ids),
        _ => Err(wrong_field(name, format_args!("has more than {MOST_FILTER_TAGS} tags"))),
    }
}

fn taken() -> Error {
    let sentence = "another segment of this company has this name: choose another one";
    Error::refused(Code::SegmentNameTaken, sentence)
}

fn no_such_segment() -> Error {
    let sentence = "this company has no such segment: GET /api/v1/contacts/segments lists them";
    Error::refused(Code::SegmentNotFound, sentence)
}
