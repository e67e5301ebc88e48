//! The API reference: an OpenAPI 3.1 document generated from the handlers' types, and a page to browse it.

mod examples;
mod failures;
mod introduction;
mod operations;
mod outgoing;
mod part;
mod rules;

use std::cell::OnceCell;
use std::sync::{Arc, LazyLock};

use actix_web::http::header::{CONTENT_ENCODING, LOCATION, VARY};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use utoipa::OpenApi;
use utoipa::openapi::schema::{Object, Schema};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, RefOr};
use utoipa_swagger_ui::Config;

use super::error::{Apology, Error, ErrorBody};
use super::page::harden;
use super::{Listener, Operations, Options, State};
use crate::domain::outlook::Reason;
use crate::error::Code;
use crate::surface::gzip::{gunzip, takes_gzip};

#[derive(OpenApi)]
#[openapi(
    info(title = "Pombo"),
    components(schemas(ErrorBody<'static>, Apology<'static>)),
    security(("api_key" = [])),
)]
struct Document;

/// Adds the keys of companies and operators, and the meaning of every code and of every reason to wait.
fn complete(components: &mut Components) {
    for key in ["api_key", "operator_key"] {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme(key, scheme);
    }
    if let Some(RefOr::T(Schema::Object(body))) = components.schemas.get_mut("Error")
        && let Some(RefOr::T(Schema::Object(code))) = body.properties.get_mut("code")
    {
        code.enum_values = Some(Code::ALL.iter().map(|code| code.as_str().into()).collect());
        let meanings = Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
        explain(code, meanings);
    }
    if let Some(RefOr::T(Schema::Object(reason))) = components.schemas.get_mut("WaitingReason") {
        explain(reason, Reason::ALL.iter().map(|reason| (reason.as_str(), reason.meaning())));
    }
}

/// Adds the meaning of each word to the description.
fn explain(words: &mut Object, meanings: impl Iterator<Item = (&'static str, &'static str)>) {
    let mut description = words.description.take().unwrap_or_default();
    description.push('\n');
    description.extend(meanings.map(|(word, meaning)| format!("\n- `{word}`: {meaning}")));
    words.description = Some(description);
}

/// The whole document, with the bounds of a default configuration.
pub fn document() -> Value {
    document_with(&Options::default(), Listener::Whole)
}

/// The document that a listener serves.
fn document_with(options: &Options, listener: Listener) -> Value {
    let mut derived = Document::openapi().merge_from(Operations::openapi());
    complete(derived.components.get_or_insert_default());
    let mut document = serde_json::to_value(derived).unwrap_or_default();
    operations::complete(&mut document);
    rules::apply(&mut document, options);
    operations::show_allowances(&mut document);
    examples::add(&mut document);
    outgoing::add(&mut document);
    document["info"]["description"] = introduction::text(listener, options).into();
    part::keep(&mut document, listener);
    document
}

/// The document as it is served. Each worker serializes it once.
#[derive(Default)]
pub(super) struct Written(OnceCell<Bytes>);

/// Serves the listener's part of the document, with the bounds that are configured.
pub(super) async fn json(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, Error> {
    if !state.options.docs {
        return Err(Error::no_such_path());
    }
    let Written(written) = request.app_data().ok_or(Error::Internal)?;
    let listener = Listener::of(&request);
    let written = written.get_or_init(|| document_with(&state.options, listener).to_string().into());
    Ok(HttpResponse::Ok().content_type("application/json").body(written.clone()))
}

/// Redirects to the page.
pub(super) async fn docs(state: Data<State>) -> Result<HttpResponse, Error> {
    if !state.options.docs {
        return Err(Error::no_such_path());
    }
    Ok(HttpResponse::Found().insert_header((LOCATION, "/docs/index.html")).finish())
}

/// Serves a file of the page. All files are part of the program, most of them compressed.
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
    harden(&mut answer);
    answer.content_type(file.content_type).insert_header((VARY, "accept-encoding"));
    if !file.gzpipped {
        return Ok(answer.body(file.bytes.into_owned()));
    }
    if takes_gzip(request.headers()) {
        return Ok(answer.insert_header((CONTENT_ENCODING, "gzip")).body(file.bytes.into_owned()));
    }
    let plain = gunzip(&file.bytes).map_err(|error| {
        tracing::error!(%error, "a file of the reference page is damaged");
        Error::Internal
    })?;
    Ok(answer.body(plain))
}
