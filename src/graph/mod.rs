//! The door that speaks Graph: the paths of Meta's Cloud API over all channels of a company, web sessions included. A program
//! that is written for Meta works when its base URL is this service.
//!
//! The table below has every row. A path matches below the root, under any version or none; everything else is left to the
//! other routes. A handler gets [`Call`]: the caller, the path's segments and the body. It calls the engine as the API does,
//! and answers in Graph's shape; what the engine refuses becomes one of Meta's numbers in [`refusal::meaning`].
//!
//! Requests are as tolerant as programs need, answers as strict as the strictest program reads them.

mod account;
mod call;
mod form;
mod input;
mod key;
mod media;
mod messages;
mod number;
mod object;
mod passing;
mod path;
mod profile;
mod receivers;
mod refusal;
mod templates;
mod token;
mod uploads;

use std::time::Duration;

use actix_web::guard;
use actix_web::http::Method;
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse, Resource, Route};
use futures_util::future::LocalBoxFuture;
use url::Url;

use self::call::Call;
use self::path::GraphPath;
use self::refusal::DoorRefusal;
use crate::config::WebInteractive;
use crate::domain::request::Limits;
use crate::engine::Engine;
use crate::surface::Proxies;
use crate::surface::body::Incoming;

/// The state of the door.
pub struct GraphState {
    /// The engine.
    pub engine: Engine,
    /// Bounds and switches.
    pub options: GraphOptions,
}

/// Bounds and switches of the door.
#[derive(Debug, Clone)]
pub struct GraphOptions {
    /// How long a message to one person waits for the provider's answer.
    pub wait: Duration,
    /// What becomes of buttons and lists through a web session.
    pub web_interactive: WebInteractive,
    /// Whether what is not for us goes on to Meta.
    pub passes_through: bool,
    /// The largest request body that is no file, in bytes.
    pub body_bytes: usize,
    /// The limits of one send.
    pub send: Limits,
    /// Proxies whose headers about the client are trusted.
    pub proxies: Proxies,
    /// The address of the service for programs outside; without it, addresses begin with the host of the request.
    pub public_url: Option<Url>,
}

type Answered = LocalBoxFuture<'static, Result<HttpResponse, DoorRefusal>>;

/// A row of the door.
#[derive(Clone, Copy)]
pub struct GraphRow {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'static str,
    /// The path, with a word in braces for each variable segment. The version may be absent from requests.
    pub path: &'static str,
    handle: fn(Call) -> Answered,
}

macro_rules! rows {
    ($($method:ident $path:literal => $handler:path;)*) => {
        /// Every row of the door, in the order of the table.
        pub const ROWS: &[GraphRow] = &[$(
            GraphRow {
                method: stringify!($method),
                path: $path,
                handle: |call| Box::pin($handler(call)),
            },
        )*];
    };
}

rows! {
    POST "/{version}/{number}/messages" => messages::take;
    POST "/{version}/{number}/media" => media::upload;
    GET "/{version}/{account}/message_templates" => templates::list;
    POST "/{version}/{account}/message_templates" => templates::written::create;
    DELETE "/{version}/{account}/message_templates" => templates::written::delete;
    GET "/{version}/message_template_library" => templates::library::list;
    GET "/{version}/{account}/message_template_library" => templates::library::of_account;
    POST "/{version}/{app}/uploads" => uploads::open;
    GET "/{version}/{number}/whatsapp_business_profile" => profile::show;
    POST "/{version}/{number}/whatsapp_business_profile" => profile::change;
    GET "/{version}/{account}/phone_numbers" => account::numbers;
    GET "/{version}/{account}/subscribed_apps" => receivers::subscribed;
    POST "/{version}/{account}/subscribed_apps" => receivers::subscribe;
    DELETE "/{version}/{account}/subscribed_apps" => receivers::unsubscribe;
    GET "/{version}/{app}/subscriptions" => receivers::subscriptions;
    POST "/{version}/{app}/subscriptions" => receivers::set_for_app;
    DELETE "/{version}/{app}/subscriptions" => receivers::remove_from_app;
    GET "/{version}/debug_token" => token::debug;
    GET "/{version}/app" => token::app;
    GET "/{version}/me" => token::app;
    GET "/{version}/me/permissions" => token::permissions;
    GET "/{version}/me/whatsapp_business_accounts" => account::list;
    GET "/{version}/{object}" => object::show;
    POST "/{version}/{object}" => object::change;
    DELETE "/{version}/{object}" => object::delete;
}

/// The path that programs ask for most.
const BUSIEST: &str = "/{version}/{number}/messages";

/// The resource of the path that programs ask for most, with its name in metrics. A request is compared with one resource after
/// the other: this one may come before all others of a listener, whose paths it has none of.
pub fn busiest(state: &Data<GraphState>) -> (&'static str, Resource) {
    (BUSIEST, resource(BUSIEST, state))
}

/// The other resources of the door. They come after all others of a listener.
pub fn resources(state: &Data<GraphState>) -> Vec<(&'static str, Resource)> {
    let mut paths = Vec::<&'static str>::new();
    for row in ROWS {
        if row.path != BUSIEST && !paths.contains(&row.path) {
            paths.push(row.path);
        }
    }
    // Paths with fixed words come first.
    paths.sort_by_key(|path| path.split('/').filter(|segment| segment.starts_with('{')).count());
    let mut all: Vec<_> = paths.into_iter().map(|path| (path, resource(path, state))).collect();
    let rest = web::resource("/{path:.*}")
        .guard(guard::fn_guard(|context| path::is_ours(context.head().uri.path())))
        .app_data(state.clone())
        .default_service(web::to(no_such_path));
    all.push(("/{version}/{rest}", rest));
    all
}

fn resource(path: &'static str, state: &Data<GraphState>) -> Resource {
    let resource = web::resource("/{path:.*}")
        .guard(guard::fn_guard(move |context| GraphPath::matches(path, context.head().uri.path())))
        .app_data(state.clone())
        .default_service(web::to(no_such_path));
    ROWS.iter().filter(|row| row.path == path).fold(resource, |resource, row| resource.route(route(*row)))
}

fn route(GraphRow { method, path: _, handle }: GraphRow) -> Route {
    let is_meant = move |own: &Method| own.as_str() == method || method == "GET" && *own == Method::HEAD;
    let guard = guard::fn_guard(move |context| is_meant(&context.head().method));
    web::route().guard(guard).to(move |request: HttpRequest, body: Incoming| answer(handle, request, body))
}

async fn answer(handle: fn(Call) -> Answered, request: HttpRequest, body: Incoming) -> HttpResponse {
    let answered = match passing::token_of(&request) {
        Some(token) => passing::of_caller(&request, body, &token).await,
        None => match Call::enter(request.clone(), body).await {
            Ok(call) => handle(call).await,
            Err(refusal) => Err(refusal),
        },
    };
    answered.unwrap_or_else(|refusal| refusal.answer(&request))
}

/// Answers a path or a method that the door does not have.
async fn no_such_path(request: HttpRequest, body: Incoming) -> HttpResponse {
    answer(|call| Box::pin(passing::of_channel(call)), request, body).await
}
