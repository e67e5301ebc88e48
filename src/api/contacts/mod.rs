//! Contacts and tags: their lists, and the requests that change them.

pub(super) mod batch;
mod by_send;
mod fields;
mod import_record;
pub(super) mod imports;
pub(super) mod members;
pub(super) mod notes;
pub(super) mod one;
pub(super) mod own_fields;
pub(super) mod segments;
pub(super) mod tags;

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use self::own_fields::{ContactFieldValue, ShownValues};
use super::State;
use super::auth::{Author, Company};
use super::envelope::{Answer, Envelope};
use super::error::Error;
use super::exports;
use super::lines::{AsLines, lines};
use super::list_query::{PageParameters, PartParameters, Query, SearchParameter, other_cursor};
use super::schema::{SendReception, WriteResult};
use crate::clock::Timestamp;
use crate::domain::contact::{self, Person};
use crate::domain::page::{Page, Start, Window};
use crate::engine::Exported;
use crate::engine::records::contacts::{ContactFilter, ContactPosition, Counting, Upserted};
use crate::error::Code;

/// The most tags in a parameter of the list: each is looked up for many contacts.
const MOST_FILTER_TAGS: usize = 10;

/// A contact. Unknown fields are empty texts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Contact {
    /// The id of the contact.
    id: Uuid,
    /// First name.
    first_name: String,
    /// Last name.
    last_name: String,
    /// E-mail address.
    email: String,
    /// The number, as the company gave it.
    #[schema(example = "+55 11 98888-7777")]
    phone_number: String,
    /// WhatsApp's own id of the person.
    phone_number_lid: Option<String>,
    /// URL of a picture.
    profile_picture: String,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// The contact's tags, by name.
    tags: Vec<TagSummary>,
    /// The values of own fields, by their keys; absent for a contact without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = std::collections::BTreeMap<String, ContactFieldValue>, required = false, example = json!({"birth_date": "1990-01-31"}))]
    fields: Option<ShownValues>,
}

/// A tag of a contact.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TagSummary {
    /// Names the tag.
    id: Uuid,
    /// Unique in the company.
    name: String,
    /// Hex colour.
    #[schema(example = "#22aa66")]
    color: String,
}

/// A tag.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Tag {
    /// The id of the tag, which a send gives as `contact_tag_id`.
    id: Uuid,
    /// Unique in the company.
    name: String,
    /// Hex colour.
    #[schema(example = "#22aa66")]
    color: String,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Counts for the tag.
    #[serde(rename = "_count")]
    count: TagCount,
}

/// Counts for a tag.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TagCount {
    /// Contacts that have the tag.
    contact_tag: u64,
}

/// The outcome for one record of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BatchResult {
    /// The position of the record in the request, from 0.
    index: usize,
    /// Whether the record was created, updated, unchanged or rejected.
    #[schema(value_type = WriteResult, example = "created")]
    result: &'static str,
    /// The id of the record; null when it was rejected.
    id: Option<Uuid>,
    /// Why the record was rejected.
    error: Option<String>,
}

/// The result of a batch.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct Batch {
    /// Records that are new.
    created: u64,
    /// Known records that changed.
    updated: u64,
    /// Known records that did not change.
    unchanged: u64,
    /// Records that were not written.
    rejected: u64,
    /// The result for each record, in the order of the request.
    results: Vec<BatchResult>,
}

impl Batch {
    /// Merges rejected records (with their positions) and written records, in the order of the request.
    fn new(rejected: Vec<(usize, String)>, written: Vec<(Uuid, Upserted)>) -> Self {
        let mut batch = Self::default();
        let all = rejected.len() + written.len();
        let (mut rejected, mut written) = (rejected.into_iter().peekable(), written.into_iter());
        for index in 0..all {
            if let Some((_, error)) = rejected.next_if(|(place, _)| *place == index) {
                batch.rejected += 1;
                batch.results.push(BatchResult { index, result: "rejected", id: None, error: Some(error) });
            } else if let Some((id, written)) = written.next() {
                let (count, result) = match written {
                    Upserted::Created => (&mut batch.created, "created"),
                    Upserted::Updated => (&mut batch.updated, "updated"),
                    Upserted::Unchanged => (&mut batch.unchanged, "unchanged"),
                };
                *count += 1;
                batch.results.push(BatchResult { index, result, id: Some(id), error: None });
            }
        }
        batch
    }
}

impl From<contact::Contact> for Contact {
    fn from(contact: contact::Contact) -> Self {
        let contact::Contact { id, person, tags, created_at, updated_at, ordinal: _ } = contact;
        let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, own } =
            person;
        Self {
            id,
            first_name,
            last_name,
            email,
            phone_number,
            phone_number_lid,
            profile_picture,
            created_at,
            updated_at,
            tags: tags.into_iter().map(TagSummary::from).collect(),
            fields: own_fields::shown(&own),
        }
    }
}

impl From<contact::TagSummary> for TagSummary {
    fn from(contact::TagSummary { id, name, color }: contact::TagSummary) -> Self {
        Self { id, name, color }
    }
}

impl From<contact::Tag> for Tag {
    fn from(tag: contact::Tag) -> Self {
        let contact::Tag { summary: contact::TagSummary { id, name, color }, created_at, contacts } = tag;
        Self { id, name, color, created_at, count: TagCount { contact_tag: contacts } }
    }
}

/// List contacts
///
/// The company's contacts, newest first. Each word of `search` is matched against names, e-mail address, number and tag
/// names, without case and accents; digits match a number however it is written. `contact_tag_id` and
/// `without_contact_tag_id` narrow the list by tags, `send_id` with `send_outcome` by the outcome of a send, `field` by own
/// fields. With `Accept: application/x-ndjson` the answer has all of these contacts, or those after `cursor`, one JSON
/// object on each line. The record of changes says who took them.
#[utoipa::path(
    get,
    path = "/api/v1/contacts",
    operation_id = "listContacts",
    params(
        PartParameters,
        SearchParameter,
        ("contact_tag_id" = Option<String>, Query, description = "Only contacts that have this tag; with several ids, \
             separated by commas, those that have all of these tags"),
        ("without_contact_tag_id" = Option<String>, Query, description = "Only contacts that do not have this tag; with \
             several ids, separated by commas, those that have none of these tags"),
        ("send_id" = Option<Uuid>, Query, description = "Only contacts for whom this send had the outcome `send_outcome`"),
        ("send_outcome" = Option<SendReception>, Query, description = "The outcome of the send `send_id`: `received`, \
             `not_received` (it failed, or never went), `read`, `not_read` (it went, and was not read), \
             `answered` (the recipient wrote in the channel within 72 hours), or `not_answered`"),
        ("field" = Option<Vec<String>>, Query, description = "Only contacts whose own field meets the condition: `city=Rio`, \
             `city!=Rio` (another value or none), `age>=18`, `born<=1990-12-31`, `city=*` (any value), `city!=*` (none). Texts \
             are compared without case and accents. Several conditions, each in a parameter of its own, must all be met"),
    ),
    responses((status = 200, description = "A page of contacts, or all of them", content(
        (Envelope<Contact> = "application/json"),
        (Contact = "application/x-ndjson"),
    ))),
)]
pub(super) async fn list(
    author: Author,
    state: Data<State>,
    query: Query,
    AsLines(as_lines): AsLines,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let company = author.company;
    let listing = query.listing::<ContactPosition>("contacts")?;
    let filter = filter(&state, company, &query).await?;
    if let Start::After(position) = listing.rest()
        && !filter.tags.is_empty()
        && !position.has_id()
    {
        return Err(other_cursor());
    }
    if as_lines && (filter.search.is_some() || filter.reached.is_some() || !filter.fields.is_empty()) {
        return found_lines(state, (&author, &request), &filter, listing.rest()).await;
    }
    if as_lines {
        let one = Window { start: Start::Offset(0), limit: 1 };
        let records = state.engine.company(company.id).await?;
        let all = records.contacts().filtered(&filter, one, Counting::Exact).await?.total;
        drop(records);
        exports::record(&state, &author, &request, Exported::Contacts(all)).await?;
    }
    let counting = if as_lines { Counting::Skipped } else { Counting::Exact };
    let read = async move |window: Window<ContactPosition>| -> Result<Page<contact::Contact>, Error> {
        let records = state.engine.company(company.id).await?;
        Ok(records.contacts().filtered(&filter, window, counting).await?)
    };
    let key = |contact: &contact::Contact| ContactPosition::from(contact);
    if as_lines {
        return Ok(lines::<contact::Contact, Contact, _>(listing.rest(), read, key));
    }
    let contacts = read(listing.window()).await?;
    Ok(HttpResponse::Ok().json(Envelope::<Contact>::listed(&listing, contacts, key)))
}

/// The contacts that a search, a send or conditions select, as lines. They are found once: each step reads the contacts at the
/// next of the found places.
async fn found_lines(
    state: Data<State>,
    (author, request): (&Author, &HttpRequest),
    filter: &ContactFilter,
    start: Start<ContactPosition>,
) -> Result<HttpResponse, Error> {
    let company = author.company;
    let places = state.engine.company(company.id).await?.contacts().search(filter).await?;
    exports::record(&state, author, request, Exported::Contacts(places.len() as u64)).await?;
    let read = async move |window: Window<ContactPosition>| -> Result<Page<contact::Contact>, Error> {
        // The places are descending.
        let (skipped, after) = window.parts();
        let begin = match after {
            Some(after) => places.partition_point(|place| u64::from(*place) >= after.ordinal()),
            None => usize::try_from(skipped).unwrap_or(usize::MAX).min(places.len()),
        };
        let limit = usize::try_from(window.limit).unwrap_or(usize::MAX);
        let (mut rest, mut contacts) = (places.get(begin..).unwrap_or_default(), Vec::new());
        let records = state.engine.company(company.id).await?;
        // A step with fewer contacts would be the last one, and some may have been deleted meanwhile.
        while contacts.len() < limit && !rest.is_empty() {
            let (next, later) = rest.split_at(rest.len().min(limit - contacts.len()));
            contacts.extend(records.contacts().with_ordinals(next).await?.into_iter().rev());
            rest = later;
        }
        Ok(Page { records: contacts, total: places.len() as u64 })
    };
    let key = |contact: &contact::Contact| ContactPosition::from(contact);
    Ok(lines::<contact::Contact, Contact, _>(start, read, key))
}

/// Which contacts the query asks for. A tag that the company does not have is refused: a mistyped id would list other
/// contacts than the client believes.
async fn filter(state: &State, company: Company, query: &Query) -> Result<ContactFilter, Error> {
    let search = query.search()?;
    let (tags, without) = (tag_ids(query, "contact_tag_id")?, tag_ids(query, "without_contact_tag_id")?);
    check_tags(state, company, &tags, &without).await?;
    let (send, outcome) = (super::sends::id(query, "send_id", "a send")?, query.text("send_outcome")?);
    let reached = by_send::read(state, company, send, outcome.as_deref()).await?;
    let fields = own_fields::conditions(state, company, "field", &query.texts("field")?).await?;
    Ok(ContactFilter { search, tags, without, reached, fields })
}

/// Refuses the tags of a filter that the company does not have.
async fn check_tags(state: &State, company: Company, tags: &[Uuid], without: &[Uuid]) -> Result<(), Error> {
    for (name, ids) in [("contact_tag_id", tags), ("without_contact_tag_id", without)] {
        if ids.is_empty() {
            continue;
        }
        let known = state.engine.company(company.id).await?.tags().among(ids).await?;
        if let Some(id) = ids.iter().find(|id| !known.contains(*id)) {
            let what = format_args!(
                "has {id}, which is no tag of this company: GET /api/v1/contacts/tags lists them"
            );
            return Err(Error::of(name, Code::InvalidField, what));
        }
    }
    Ok(())
}

/// The ids of tags in a parameter, separated by commas.
fn tag_ids(query: &Query, name: &str) -> Result<Vec<Uuid>, Error> {
    let Some(text) = query.text(name)? else { return Ok(Vec::new()) };
    let ids: Result<Vec<Uuid>, _> = text.split(',').map(|id| Uuid::try_parse(id.trim())).collect();
    let mut ids = ids.map_err(|_| {
        Error::of(
            name,
            Code::InvalidField,
            "is not the id of a tag (a UUID), or several ids with commas between them",
        )
    })?;
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > MOST_FILTER_TAGS {
        let what = format_args!("has more than {MOST_FILTER_TAGS} tags");
        return Err(Error::of(name, Code::InvalidField, what));
    }
    Ok(ids)
}

/// List tags
///
/// The company's tags, newest first, with the number of contacts that have each.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/tags",
    operation_id = "listTags",
    params(PageParameters, SearchParameter),
    responses((status = 200, description = "A page of tags", body = Envelope<Tag>)),
)]
pub(super) async fn list_tags(company: Company, state: Data<State>, query: Query) -> Answer<Envelope<Tag>> {
    let (page, search) = (query.page()?, query.search()?);
    let records = state.engine.company(company.id).await?;
    let tags = records.tags().page(page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, tags)))
}
