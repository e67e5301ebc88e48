//! Templates of a channel's business account, as programs write them.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};

use super::own_channel;
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{Query, SearchParameter};
use crate::api::path_id::Id;
use crate::api::templates::library::LibraryPart;
use crate::api::templates::{self, Template, TemplatePatch, TemplateWords};

/// Create a template
///
/// The rules that are known here are checked first. Then the provider gets it and reviews it, which takes minutes to a day: its
/// `status` is `PENDING` until then. An event tells when it is approved or rejected. With a `library_template_name` it is a copy of a
/// template of the provider's library, whose words the provider has approved already.
#[utoipa::path(
    post,
    path = "/api/v1/chat/{id}/templates",
    operation_id = "createTemplate",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = TemplateWords,
    responses(
        (status = 201, description = "The template", body = Template),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `media_not_found`", body = ErrorBody),
        (status = 422, description = "`provider_refused`", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    templates::create(&state, &channel, &who, body).await
}

/// Search the provider's library
///
/// Templates that the provider wrote and knows the category of, in many languages. The provider is asked each time; its words for
/// topics, occasions and trades go to it as they are. `POST /api/v1/chat/{id}/templates` copies one.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/template-library",
    operation_id = "searchTemplateLibrary",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        SearchParameter,
        ("name" = Option<String>, Query, description = "The whole name in the library"),
        ("topic" = Option<String>, Query, example = "ORDER_MANAGEMENT", description = "The topic, in the provider's word"),
        ("usecase" = Option<String>, Query, example = "DELIVERY_UPDATE", description = "The occasion, in the provider's word"),
        ("industry" = Option<String>, Query, example = "E_COMMERCE", description = "The trade, in the provider's word"),
        ("language" = Option<String>, Query, description = "The whole language code, such as `pt_BR`"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the answer before"),
    ),
    responses(
        (status = 200, description = "A part of the library", body = LibraryPart),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 422, description = "`provider_refused`", body = ErrorBody),
    ),
)]
pub(crate) async fn library(
    company: Company,
    id: Id,
    state: Data<State>,
    query: Query,
) -> Answer<LibraryPart> {
    let channel = own_channel(&state, company, id).await?;
    templates::library::list(&state, &channel, &query).await.map(Json)
}

/// Show a template
///
/// Whatever its status, with the provider's reason for a rejection.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/templates/{template}",
    operation_id = "showTemplate",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("template" = i64, Path, description = "The template"),
    ),
    responses(
        (status = 200, description = "The template", body = Template),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(
    company: Company,
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<Template> {
    let channel = own_channel(&state, company, id).await?;
    templates::show(&state, &channel, &request).await.map(Json)
}

/// Change a template
///
/// Other words or another category are passed to the provider, which reviews the template again. Archiving is known here alone.
#[utoipa::path(
    patch,
    path = "/api/v1/chat/{id}/templates/{template}",
    operation_id = "changeTemplate",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("template" = i64, Path, description = "The template"),
    ),
    request_body = TemplatePatch,
    responses(
        (status = 200, description = "The template, changed", body = Template),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
        (status = 422, description = "`provider_refused`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<Template> {
    let channel = own_channel(&state, company, id).await?;
    templates::change(&state, &channel, (&who, &request), body).await.map(Json)
}

/// Delete a template
///
/// It is deleted at the provider, in its language alone. For some weeks, the provider takes no new template of its name.
#[utoipa::path(
    delete,
    path = "/api/v1/chat/{id}/templates/{template}",
    operation_id = "deleteTemplate",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("template" = i64, Path, description = "The template"),
    ),
    responses(
        (status = 204, description = "There is no such template any more"),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
        (status = 422, description = "`provider_refused`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    templates::delete(&state, &channel, &who, &request).await
}
