//! Templates of web sessions: texts with variables, which nobody reviews. All web sessions of a company have the same ones.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse};

use super::own_session;
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query, SearchParameter};
use crate::api::path_id::Id;
use crate::api::templates::{self, Template, TemplatePatch, TemplateWords};

/// List templates of web sessions
///
/// The templates of the company's web sessions, newest first: the same for all of them.
#[utoipa::path(
    get,
    path = "/api/v1/web-chat/{id}/templates",
    operation_id = "listWebTemplates",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        PageParameters, SearchParameter,
        ("language" = Option<String>, Query, description = "The whole language code, such as `pt_BR`"),
        ("category" = Option<String>, Query, description = "The whole category, such as `MARKETING`"),
    ),
    responses(
        (status = 200, description = "A page of templates", body = Envelope<Template>),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(
    company: Company,
    id: Id,
    state: Data<State>,
    query: Query,
) -> Answer<Envelope<Template>> {
    let channel = own_session(&state, company, id.or_nil()).await?;
    templates::list(&state, &channel, &query).await.map(Json)
}

/// Create a template of web sessions
///
/// It is approved at once: a text with variables, which programs that are written for the provider send by its name. All web
/// sessions of the company have it. Its header is a text, and its buttons become lines of the text.
#[utoipa::path(
    post,
    path = "/api/v1/web-chat/{id}/templates",
    operation_id = "createWebTemplate",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = TemplateWords,
    responses(
        (status = 201, description = "The template", body = Template),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 409, description = "`template_name_taken`, `too_many_templates`", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let channel = own_session(&state, company, id.or_nil()).await?;
    templates::create(&state, &channel, &who, body).await
}

/// Show a template of web sessions
#[utoipa::path(
    get,
    path = "/api/v1/web-chat/{id}/templates/{template}",
    operation_id = "showWebTemplate",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("template" = i64, Path, description = "The template"),
    ),
    responses(
        (status = 200, description = "The template", body = Template),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(
    company: Company,
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<Template> {
    let channel = own_session(&state, company, id.or_nil()).await?;
    templates::show(&state, &channel, &request).await.map(Json)
}

/// Change a template of web sessions
#[utoipa::path(
    patch,
    path = "/api/v1/web-chat/{id}/templates/{template}",
    operation_id = "changeWebTemplate",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("template" = i64, Path, description = "The template"),
    ),
    request_body = TemplatePatch,
    responses(
        (status = 200, description = "The template, changed", body = Template),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Answer<Template> {
    let channel = own_session(&state, company, id.or_nil()).await?;
    templates::change(&state, &channel, (&who, &request), body).await.map(Json)
}

/// Delete a template of web sessions
#[utoipa::path(
    delete,
    path = "/api/v1/web-chat/{id}/templates/{template}",
    operation_id = "deleteWebTemplate",
    params(
        ("id" = Uuid, Path, description = "The channel"),
        ("template" = i64, Path, description = "The template"),
    ),
    responses(
        (status = 204, description = "There is no such template any more"),
        (status = 404, description = "`channel_not_found`, `template_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    id: Id,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let channel = own_session(&state, company, id.or_nil()).await?;
    templates::delete(&state, &channel, &who, &request).await
}
