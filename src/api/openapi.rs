//! The reference: an OpenAPI 3.1 document made from the handlers' types, and a page to browse it.

use std::sync::{Arc, LazyLock};

use actix_web::http::header::{CONTENT_ENCODING, LOCATION};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{IntoResponses, Modify, OpenApi, ToSchema};
use utoipa_swagger_ui::Config;

use super::error::{Error, ErrorBody};
use super::{State, chat, contacts, health, web_chat};

/// What every company's endpoint may answer.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Failures {
    /// The request is wrong; the code says how.
    #[response(status = 400)]
    Invalid(#[to_schema] ErrorBody<'static>),
    /// `invalid_auth_header`: the header is missing or malformed. `invalid_api_key`: the key is unknown,
    /// revoked or expired.
    #[response(status = 401)]
    Unauthenticated(#[to_schema] ErrorBody<'static>),
    /// `method_not_allowed`: see the `Allow` header.
    #[response(status = 405)]
    MethodNotAllowed(#[to_schema] ErrorBody<'static>),
    /// `service_unavailable`: try again after `Retry-After` seconds.
    #[response(status = 503)]
    Unavailable(#[to_schema] ErrorBody<'static>),
}

/// What a business-account send asks for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct BusinessSend {
    /// `text`, `image`, `video`, `audio`, `document`, `template` or `interactive`.
    #[schema(example = "text")]
    r#type: String,
    /// A number or an array of numbers, as texts or integers; everything but digits is stripped. This or
    /// `contact_tag_id` must be there; both are merged.
    #[schema(value_type = Option<Object>, example = json!(["+55 11 98888-7777"]))]
    phone_number: Option<Value>,
    /// The id of a tag or an array of ids: every contact with a valid number receives the message.
    #[schema(value_type = Option<Object>)]
    contact_tag_id: Option<Value>,
    /// The text, for `text`.
    #[schema(max_length = 4096, example = "Your order is on its way.")]
    message: Option<String>,
    /// Public address of the file, for `image`, `video`, `audio` and `document`.
    #[schema(max_length = 2048)]
    link: Option<String>,
    /// For `image`, `video` and `document`.
    #[schema(max_length = 1024)]
    caption: Option<String>,
    /// An approved template, for `template`.
    template_id: Option<i64>,
    /// Another language of the same template.
    language: Option<String>,
    /// The values of the template's variables.
    #[schema(value_type = Option<Vec<Object>>)]
    components: Option<Value>,
    /// Buttons, a list or products, for `interactive`.
    #[schema(value_type = Option<Object>)]
    interactive: Option<Value>,
}

/// What a web-session send asks for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct WebSend {
    /// `text`, `image`, `video`, `audio` or `document`.
    #[schema(example = "text")]
    r#type: String,
    /// `number` or `group`.
    #[schema(example = "number")]
    recipient_type: String,
    /// A number in international format, or the id of a group.
    #[schema(example = "5511988887777")]
    phone_number: String,
    /// The text, for `text`.
    #[schema(max_length = 4096)]
    message: Option<String>,
    /// Public address of the file, for the others.
    #[schema(max_length = 2048)]
    link: Option<String>,
    /// For `image`, `video` and `document`.
    #[schema(max_length = 1024)]
    caption: Option<String>,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Pombo", description = "Sends messages through the WhatsApp channels of companies."),
    paths(
        chat::list,
        chat::templates,
        chat::send,
        web_chat::list,
        web_chat::send,
        contacts::list,
        contacts::tags,
        health::live,
        health::ready,
        health::metrics,
    ),
    modifiers(&ApiKey),
    security(("api_key" = [])),
)]
struct Document;

struct ApiKey;

impl Modify for ApiKey {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("api_key", scheme);
    }
}

/// The whole document.
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Serves the document, which is written once.
pub(super) async fn json(state: Data<State>) -> Result<HttpResponse, Error> {
    static WRITTEN: LazyLock<Option<Bytes>> = LazyLock::new(|| document().to_json().ok().map(Bytes::from));
    if !state.options.docs {
        return Err(Error::no_such_path());
    }
    let written = WRITTEN.clone().ok_or(Error::Internal)?;
    Ok(HttpResponse::Ok().content_type("application/json").body(written))
}

/// Leads to the page.
pub(super) async fn docs(state: Data<State>) -> Result<HttpResponse, Error> {
    if !state.options.docs {
        return Err(Error::no_such_path());
    }
    Ok(HttpResponse::Found().insert_header((LOCATION, "/docs/index.html")).finish())
}

/// Serves a file of the page; all of them are part of the program.
pub(super) async fn docs_file(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, Error> {
    static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| Arc::new(Config::from("/openapi.json")));
    if !state.options.docs {
        return Err(Error::no_such_path());
    }
    let found =
        utoipa_swagger_ui::serve(request.match_info().query("file"), CONFIG.clone()).map_err(|error| {
            tracing::error!(%error, "the reference page is damaged");
            Error::Internal
        })?;
    let file = found.ok_or_else(Error::no_such_path)?;
    let mut answer = HttpResponse::Ok();
    if file.gzpipped {
        answer.insert_header((CONTENT_ENCODING, "gzip"));
    }
    Ok(answer.content_type(file.content_type).body(file.bytes.into_owned()))
}
