//! Creating, changing and deleting tags.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::fields::{self, invalid_field};
use super::{Batch, Tag, path_id};
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::error::{Error, ErrorBody};
use crate::api::openapi::Failures;
use crate::clock::Timestamp;
use crate::engine::no_such_tag;
use crate::engine::records::contacts::Edited;
use crate::error::Code;
use crate::import;

/// Tags that one request may give.
const MOST_TAGS: usize = 1_000;

/// Tags to be created or updated.
#[derive(Deserialize, ToSchema)]
pub(in crate::api) struct TagBatch {
    /// At most 1,000.
    #[schema(value_type = Vec<TagEntry>, max_items = 1000)]
    tags: Vec<Value>,
}

/// A tag.
#[derive(Deserialize, ToSchema)]
pub(in crate::api) struct TagEntry {
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
pub(in crate::api) struct TagPatch {
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
    tag = "contacts",
    request_body = TagBatch,
    responses(
        (status = 200, description = "What was written", body = Batch),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn write(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<Json<Batch>, Error> {
    let TagBatch { tags } = fields::read(body, &state).await?;
    if tags.is_empty() || tags.len() > MOST_TAGS {
        return Err(invalid_field(format!("`tags` must have from 1 to {MOST_TAGS} entries")));
    }
    let (mut given, mut rejected) = (Vec::new(), Vec::new());
    for (index, entry) in tags.into_iter().enumerate() {
        match read_tag(entry) {
            Ok(tag) => given.push(tag),
            Err(sentence) => rejected.push((index, sentence)),
        }
    }
    let records = state.engine.company(company.id).await?;
    let written = match given.is_empty() {
        true => Vec::new(),
        false => records.tags().write(&who, &given, Timestamp::now()).await?,
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
    tag = "contacts",
    params(("id" = Uuid, Path, description = "The tag")),
    request_body = TagPatch,
    responses(
        (status = 200, description = "The tag, changed", body = Tag),
        (status = 404, description = "`tag_not_found`", body = ErrorBody),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 409, description = "`tag_name_taken`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Tag>, Error> {
    let id = path_id(&request);
    let TagPatch { name, color } = fields::read(body, &state).await?;
    let name = name.filter(|name| !name.trim().is_empty());
    let name = name.map(|name| import::check_tag(&name)).transpose().map_err(invalid_field)?;
    let color = color.as_deref().map(read_color).transpose().map_err(invalid_field)?;
    let records = state.engine.company(company.id).await?;
    match records.tags().change(&who, id, name.as_deref(), color.as_deref()).await? {
        Edited::Done => {}
        Edited::Taken => {
            let sentence = "another tag of this company has this name: choose another one";
            return Err(Error::refused(Code::TagNameTaken, sentence));
        }
        Edited::Missing | Edited::Nameless => return Err(no_such_tag().into()),
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
    tag = "contacts",
    params(("id" = Uuid, Path, description = "The tag")),
    responses(
        (status = 204, description = "There is no such tag any more"),
        (status = 404, description = "`tag_not_found`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    match state.engine.delete_tag(&who, company.id, path_id(&request)).await? {
        true => Ok(HttpResponse::NoContent().finish()),
        false => Err(no_such_tag().into()),
    }
}

fn read_tag(entry: Value) -> Result<(String, Option<String>), String> {
    let TagEntry { name, color } = serde_json::from_value(entry).map_err(|wrong| wrong.to_string())?;
    Ok((import::check_tag(&name)?, color.as_deref().map(read_color).transpose()?))
}

fn read_color(color: &str) -> Result<String, String> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6);
    match digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
        true => Ok(color.to_ascii_lowercase()),
        false => Err("`color` must be a hex colour such as #22aa66".to_owned()),
    }
}
