//! Creating, changing and deleting tags.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::fields::{self, Entries, invalid, wrong_field};
use super::{Batch, Tag};
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::engine::no_such_tag;
use crate::engine::records::contacts::Edited;
use crate::error::Code;
use crate::import;
use crate::surface::body::Room;

/// Tags that one request may give.
const MOST_TAGS: usize = 1_000;

/// Tags to be created or updated.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TagBatch<'a> {
    /// At most 1,000.
    #[serde(borrow)]
    #[schema(value_type = Vec<TagEntry>, max_items = 1000)]
    tags: &'a RawValue,
}

/// A tag.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TagEntry {
    /// Unique in the company; at most 100 characters, without semicolons.
    #[schema(example = "vip")]
    name: String,
    /// Hex colour. Without it, a new tag gets a colour derived from its name, and an existing tag keeps its
    /// colour.
    #[schema(example = "#22aa66")]
    color: Option<String>,
}

/// A change of a tag. Fields that are left out are kept.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TagPatch {
    /// Unique in the company.
    name: Option<String>,
    /// Hex colour.
    #[schema(example = "#22aa66")]
    color: Option<String>,
}

/// Create or update tags
///
/// A tag is identified by its name. Repeating the request changes nothing more.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/tags/batch",
    operation_id = "writeTags",
    request_body = TagBatch,
    responses(
        (status = 200, description = "What was written", body = Batch),
    ),
)]
pub(crate) async fn write(Author { company, who }: Author, body: Body, state: Data<State>) -> Answer<Batch> {
    let (Entries { valid, rejected }, _room) = fields::read_with(body, &state, read_tags).await?;
    let records = state.engine.company(company.id).await?;
    let written = match valid.is_empty() {
        true => Vec::new(),
        false => records.tags().write(&who, &valid, Timestamp::now()).await?,
    };
    Ok(Json(Batch::new(rejected, written)))
}

/// Change a tag
///
/// Searches find its contacts by the new name within seconds, or within minutes when there are many.
#[utoipa::path(
    patch,
    path = "/api/v1/contacts/tags/{id}",
    operation_id = "changeTag",
    params(("id" = Uuid, Path, description = "The tag")),
    request_body = TagPatch,
    responses(
        (status = 200, description = "The tag, changed", body = Tag),
        (status = 404, description = "`tag_not_found`", body = ErrorBody),
        (status = 409, description = "`tag_name_taken`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Tag> {
    let id = id.or_nil();
    let (TagPatch { name, color }, _room) = fields::read(body, &state).await?;
    let name = name.filter(|name| !name.trim().is_empty());
    let name = name.map(|name| import::check_tag(&name)).transpose().map_err(invalid("name"))?;
    let color = color.as_deref().map(read_color).transpose().map_err(invalid("color"))?;
    let records = state.engine.company(company.id).await?;
    match records.tags().change(&who, id, name.as_deref(), color.as_deref()).await? {
        Edited::Done => {}
        Edited::Taken => {
            let sentence = "another tag of this company has this name: choose another one";
            return Err(Error::refused(Code::TagNameTaken, sentence));
        }
        Edited::Missing | Edited::Nameless | Edited::Outdated => return Err(no_such_tag().into()),
    }
    let tag = records.tags().find(id).await?.ok_or_else(no_such_tag)?;
    Ok(Json(tag.into()))
}

/// Delete a tag
///
/// The tag disappears from lists and can no longer be sent to. Its contacts stay.
#[utoipa::path(
    delete,
    path = "/api/v1/contacts/tags/{id}",
    operation_id = "deleteTag",
    params(("id" = Uuid, Path, description = "The tag")),
    responses(
        (status = 204, description = "There is no such tag any more"),
        (status = 404, description = "`tag_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    match state.engine.contacts().delete_tag(&who, company.id, id.or_nil()).await? {
        true => Ok(HttpResponse::NoContent().finish()),
        false => Err(no_such_tag().into()),
    }
}

type NewTag = (String, Option<String>);

fn read_tags(body: &str, room: &mut Room) -> Result<Entries<NewTag>, Error> {
    let TagBatch { tags } = fields::fields(body)?;
    let wrong = || wrong_field("tags", format_args!("must have from 1 to {MOST_TAGS} entries"));
    let entries = fields::entries(tags, "tags", (MOST_TAGS, wrong), room, |entry| {
        let (name, color) = read_tag(entry)?;
        let bytes = name.len() + color.as_ref().map_or(0, String::len);
        Ok(((name, color), bytes))
    })?;
    if entries.is_empty() { Err(wrong()) } else { Ok(entries) }
}

fn read_tag(entry: &str) -> Result<NewTag, String> {
    let TagEntry { name, color } = fields::entry(entry)?;
    Ok((import::check_tag(&name)?, color.as_deref().map(read_color).transpose()?))
}

fn read_color(color: &str) -> Result<String, String> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6);
    match digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
        true => Ok(color.to_ascii_lowercase()),
        false => Err("`color` must be a hex colour such as #22aa66".to_owned()),
    }
}
