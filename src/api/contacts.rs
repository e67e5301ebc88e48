//! Contacts and tags.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::envelope::Envelope;
use super::error::Error;
use super::list_query::{ListQuery, PageParameters};
use super::openapi::Failures;
use crate::clock::Timestamp;
use crate::domain::contact::{self, Person};

/// A contact. Unknown texts are empty.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Contact {
    /// Names the contact.
    id: Uuid,
    /// First name.
    first_name: String,
    /// Last name.
    last_name: String,
    /// E-mail address.
    email: String,
    /// The number as it was given.
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
    /// Names the tag; what a send gives as `contact_tag_id`.
    id: Uuid,
    /// Unique in the company.
    name: String,
    /// Hex colour.
    #[schema(example = "#22aa66")]
    color: String,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// What belongs to it.
    #[serde(rename = "_count")]
    count: TagCount,
}

/// What belongs to a tag.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TagCount {
    /// Contacts that have the tag.
    contact_tag: u64,
}

impl From<contact::Contact> for Contact {
    fn from(contact: contact::Contact) -> Self {
        let contact::Contact { id, person, tags, created_at, updated_at } = contact;
        let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture } = person;
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
/// The company's contacts, newest first. `search` is matched against names, e-mail address, number and tag
/// names; digits match a number however it is written.
#[utoipa::path(
    get,
    path = "/api/v1/contacts",
    operation_id = "listContacts",
    tag = "contacts",
    params(PageParameters),
    responses((status = 200, description = "A page of contacts", body = Envelope<Contact>), Failures),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Contact>>, Error> {
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, search) = (query.page()?, query.search()?);
    let records = state.engine.records_of(company.id).await?;
    let contacts = records.contacts(company.id, page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, contacts)))
}

/// List tags
///
/// The company's tags, newest first, with the number of contacts that have each.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/tags",
    operation_id = "listTags",
    tag = "contacts",
    params(PageParameters),
    responses((status = 200, description = "A page of tags", body = Envelope<Tag>), Failures),
)]
pub(super) async fn tags(
    company: Company,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Tag>>, Error> {
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, search) = (query.page()?, query.search()?);
    let records = state.engine.records_of(company.id).await?;
    let tags = records.tags(company.id, page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, tags)))
}
