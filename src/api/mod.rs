//! The HTTP surface: what clients of a company, its operators and its probes may ask.
//!
//! Every route stands in the table below. Handlers read the request, make one call to the engine or the
//! store, and convert the answer; they hold an [`Engine`] and never an actor. Whether a route is for
//! companies is proven by [`auth::Company`] in its handler's signature.

mod auth;
mod body;
mod channel_id;
mod channels;
mod chat;
mod contacts;
mod envelope;
mod error;
mod health;
mod hooks;
mod list_query;
mod observe;
mod openapi;
mod options;
mod query;
mod request_id;
mod route;
mod templates;
mod web_chat;

use actix_web::web;

pub use self::observe::{DURATION_SECONDS, REQUESTS_TOTAL};
pub use self::openapi::document;
pub use self::options::Options;
pub use self::route::{Access, Route};
use crate::engine::Engine;

/// What handlers work with.
pub struct State {
    /// The engine.
    pub engine: Engine,
    /// Bounds and switches.
    pub options: Options,
}

route::table! {
    GET "/api/v1/chat" => chat::list, Company;
    GET "/api/v1/chat/{id}/templates" => chat::templates, Company;
    POST "/api/v1/chat/{id}/messages" => chat::send, Company;
    GET "/api/v1/web-chat" => web_chat::list, Company;
    POST "/api/v1/web-chat/{id}/messages" => web_chat::send, Company;
    GET "/api/v1/contacts" => contacts::list, Company;
    GET "/api/v1/contacts/tags" => contacts::tags, Company;
    GET "/hooks/meta/{id}" => hooks::handshake, Open;
    POST "/hooks/meta/{id}" => hooks::take, Open;
    GET "/healthz" => health::live, Open;
    GET "/readyz" => health::ready, Open;
    GET "/metrics" => health::metrics, Open;
    GET "/openapi.json" => openapi::json, Open;
    GET "/docs" => openapi::docs, Open;
    GET "/docs/{file}" => openapi::docs_file, Open;
}

/// The whole surface as one service, to be added last to an application: it answers every path.
pub fn service(state: web::Data<State>) -> impl actix_web::dev::HttpServiceFactory + 'static {
    register(web::scope(""))
        .app_data(state)
        .app_data(route::Observed::unmatched())
        .default_service(web::to(error::not_found))
        .wrap_fn(observe::observe)
}
