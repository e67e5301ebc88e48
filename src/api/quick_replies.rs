//! Quick replies: texts that the company's people answer with often.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::envelope::Answer;
use super::error::{Error, ErrorBody};
use super::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::domain::quick_reply::ReplyDraft;
use crate::engine::conversations::types;

/// A quick reply.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct QuickReply {
    /// The id of the quick reply.
    id: Uuid,
    /// What people type after a slash to find it: lower case, without accents. Unique in the company.
    #[schema(example = "hours")]
    word: String,
    /// The text. `{{contact.first_name|friend}}` stands for the person's first name, or for `friend` when it is not known; other
    /// fields of contacts are written in the same way. Empty for a file alone.
    #[schema(example = "Hi {{contact.first_name|friend}}, we are open from 9 to 18.")]
    text: String,
    /// A file of the library that goes with it; null for none. It may have been deleted since.
    file_id: Option<Uuid>,
    /// When it was added or changed last.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// Every quick reply of the company.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct QuickReplyList {
    /// The quick replies, by their words.
    data: Vec<QuickReply>,
}

bodies! {
    /// A quick reply to add.
    pub(super) struct NewQuickReply of Value {
        /// 1 to 32 letters, digits, hyphens and underscores, with or without a slash before them. Case and accents do not matter.
        #[schema(example = "hours")]
        word: String,
        /// At most 4,096 characters, with a file 1,024. It may have contact fields, and is needed without a file.
        #[schema(example = "Hi {{contact.first_name|friend}}, we are open from 9 to 18.")]
        text: Option<String>,
        /// A file of the library.
        file_id: Option<Uuid>,
    }

    /// A change of a quick reply. Fields that are left out are kept.
    pub(super) struct QuickReplyPatch of Value {
        /// Another word.
        word: Option<String>,
        /// Another text; null for none.
        text: Option<String>,
        /// Another file of the library; null for none.
        file_id: Option<Uuid>,
    }
}

impl From<types::QuickReply> for QuickReply {
    fn from(reply: types::QuickReply) -> Self {
        let types::QuickReply { id, draft: ReplyDraft { word, text, file_id }, changed_at } = reply;
        Self { id, word, text, file_id, updated_at: changed_at }
    }
}

/// List quick replies
///
/// All quick replies of the company, by their words: at most 200.
#[utoipa::path(
    get,
    path = "/api/v1/quick-replies",
    operation_id = "listQuickReplies",
    responses((status = 200, description = "Every quick reply", body = QuickReplyList)),
)]
pub(super) async fn list(company: Company, state: Data<State>) -> Answer<QuickReplyList> {
    let all = state.engine.conversations(company.id).quick_replies().all().await?;
    Ok(Json(QuickReplyList { data: all.into_iter().map(QuickReply::from).collect() }))
}

/// Add a quick reply
#[utoipa::path(
    post,
    path = "/api/v1/quick-replies",
    operation_id = "addQuickReply",
    request_body = NewQuickReply,
    responses(
        (status = 201, description = "The quick reply", body = QuickReply),
        (status = 404, description = "`media_not_found`", body = ErrorBody),
        (status = 409, description = "`quick_reply_word_taken`, `too_many_quick_replies`", body = ErrorBody),
    ),
)]
pub(super) async fn add(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (NewQuickReply { word, text, file_id }, _room) = body.fields(&state.options).await?;
    let reply = (word.required()?, text.text()?.unwrap_or_default(), file(&file_id)?);
    let saved = state.engine.conversations(company.id).quick_replies().save(&who, None, reply).await?;
    Ok(HttpResponse::Created().json(QuickReply::from(saved)))
}

/// Show a quick reply
#[utoipa::path(
    get,
    path = "/api/v1/quick-replies/{id}",
    operation_id = "showQuickReply",
    params(("id" = Uuid, Path, description = "The quick reply")),
    responses(
        (status = 200, description = "The quick reply", body = QuickReply),
        (status = 404, description = "`quick_reply_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn show(company: Company, state: Data<State>, id: Id) -> Answer<QuickReply> {
    let reply = state.engine.conversations(company.id).quick_replies().one(id.or_nil()).await?;
    Ok(Json(reply.into()))
}

/// Change a quick reply
#[utoipa::path(
    patch,
    path = "/api/v1/quick-replies/{id}",
    operation_id = "changeQuickReply",
    params(("id" = Uuid, Path, description = "The quick reply")),
    request_body = QuickReplyPatch,
    responses(
        (status = 200, description = "The quick reply, changed", body = QuickReply),
        (status = 404, description = "`quick_reply_not_found`, `media_not_found`", body = ErrorBody),
        (status = 409, description = "`quick_reply_word_taken`", body = ErrorBody),
    ),
)]
pub(super) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<QuickReply> {
    let (QuickReplyPatch { word, text, file_id }, _room) = body.fields(&state.options).await?;
    let replies = state.engine.conversations(company.id).quick_replies();
    let before = replies.one(id.or_nil()).await?;
    let known = &before.draft;
    let new_text =
        if text.given().is_some() { text.text()?.unwrap_or_default() } else { known.text.as_str() };
    let new_file = if file_id.given().is_some() { file(&file_id)? } else { known.file_id };
    let changed = (word.text()?.unwrap_or(&known.word), new_text, new_file);
    Ok(Json(replies.save(&who, Some(before.id), changed).await?.into()))
}

/// Delete a quick reply
#[utoipa::path(
    delete,
    path = "/api/v1/quick-replies/{id}",
    operation_id = "deleteQuickReply",
    params(("id" = Uuid, Path, description = "The quick reply")),
    responses(
        (status = 204, description = "There is no such quick reply any more"),
        (status = 404, description = "`quick_reply_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    state.engine.conversations(company.id).quick_replies().delete(&who, id.or_nil()).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The id of a file, if one is given.
fn file(field: &Field<Value, Option<Uuid>>) -> Result<Option<Uuid>, Error> {
    let id = field.text()?.map(Uuid::try_parse).transpose();
    Ok(id.map_err(|_| field.wrong_type("the id of a file (a UUID) or null"))?)
}
