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
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, Schema};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_swagger_ui::Config;

use super::error::{Apology, Error, ErrorBody};
use super::page::harden;
use super::{
    Listener, Options, State, automatic, chat, contacts, conversations, costs, events, health, hooks, media,
    messages, numbers, operator, quick_replies, sends, suppressions, web_chat, webhooks,
};
use crate::domain::outlook::Reason;
use crate::error::Code;
use crate::surface::gzip::{gunzip, takes_gzip};

#[derive(OpenApi)]
#[openapi(
    info(title = "Pombo"),
    paths(
        chat::list,
        chat::approved,
        chat::templates::create,
        chat::templates::show,
        chat::templates::change,
        chat::templates::delete,
        chat::limits,
        chat::profile::show,
        chat::profile::change,
        chat::send,
        chat::window::show,
        chat::window::set,
        web_chat::list,
        web_chat::limits,
        web_chat::templates::list,
        web_chat::templates::create,
        web_chat::templates::show,
        web_chat::templates::change,
        web_chat::templates::delete,
        web_chat::send,
        web_chat::picture::ask,
        web_chat::pairing::show,
        web_chat::pairing::begin,
        web_chat::pairing::end,
        web_chat::passkey::show,
        web_chat::passkey::answer,
        conversations::list,
        conversations::show,
        conversations::messages::list,
        conversations::send::send,
        conversations::actions::read,
        conversations::actions::unread,
        conversations::actions::typing,
        conversations::actions::assign,
        conversations::actions::close,
        conversations::actions::reopen,
        conversations::notes::list,
        conversations::notes::add,
        conversations::notes::change,
        conversations::notes::delete,
        conversations::of_contact::export,
        conversations::of_contact::erase,
        messages::list,
        events::list,
        costs::month,
        sends::list,
        sends::one,
        sends::messages::list,
        sends::messages::export,
        sends::messages::journey::show,
        sends::skipped::list,
        sends::figures::failures,
        sends::figures::pace,
        sends::retry::retry,
        sends::reschedule::change,
        sends::pause,
        sends::resume,
        sends::cancel,
        contacts::list,
        contacts::list_tags,
        contacts::batch::write,
        contacts::one::show,
        contacts::one::change,
        contacts::one::delete,
        contacts::one::merge,
        contacts::notes::list,
        contacts::notes::add,
        contacts::notes::delete,
        contacts::tags::write,
        contacts::tags::change,
        contacts::tags::delete,
        contacts::members::change,
        contacts::segments::list,
        contacts::segments::save,
        contacts::segments::show,
        contacts::segments::change,
        contacts::segments::delete,
        contacts::own_fields::list,
        contacts::own_fields::create,
        contacts::own_fields::rename,
        contacts::own_fields::delete,
        contacts::imports::list,
        contacts::imports::upload,
        contacts::imports::one,
        contacts::imports::steer,
        contacts::imports::rejected,
        numbers::check,
        suppressions::list,
        suppressions::add,
        suppressions::check,
        suppressions::lift,
        media::list,
        media::upload,
        media::show,
        media::delete,
        media::serve,
        quick_replies::list,
        quick_replies::add,
        quick_replies::show,
        quick_replies::change,
        quick_replies::delete,
        automatic::show,
        automatic::set,
        webhooks::list,
        webhooks::add,
        webhooks::show,
        webhooks::change,
        webhooks::delete,
        webhooks::actions::rotate_secret,
        webhooks::actions::disable,
        webhooks::actions::enable,
        webhooks::actions::test,
        webhooks::actions::verify,
        webhooks::replay::begin,
        webhooks::replay::end,
        webhooks::deliveries::list,
        webhooks::deliveries::resend,
        hooks::handshake,
        hooks::take,
        health::live,
        health::ready,
        health::metrics,
    ),
    components(schemas(ErrorBody<'static>, Apology<'static>)),
    modifiers(&ApiKey, &Codes),
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

/// Adds the meaning of every code and of every reason to wait to the document.
struct Codes;

impl Modify for Codes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let Some(components) = document.components.as_mut() else { return };
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
    let derived = Document::openapi().merge_from(operator::document());
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
