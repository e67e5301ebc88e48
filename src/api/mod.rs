//! The HTTP API for companies, operators, the provider and probes.
//!
//! All routes are in the table below. Handlers read the request, make one call to the engine or the store, and
//! convert the answer; they hold an [`Engine`] and never an actor. The handler's signature authenticates the
//! caller: [`auth::Company`], or [`operator::Operator`]. The table says which scope a company's key needs.

mod auth;
mod automatic;
mod body;
mod channels;
mod chat;
mod compress;
mod contacts;
mod content;
mod conversations;
mod costs;
mod envelope;
mod error;
mod events;
mod exports;
mod front;
mod health;
mod hooks;
mod idempotency;
mod lines;
mod list_query;
mod media;
mod messages;
mod numbers;
mod observe;
mod openapi;
mod operator;
mod options;
mod page;
mod parameters;
mod path_id;
mod query;
mod quick_replies;
mod rate_limit;
pub(crate) mod records;
mod request_id;
mod route;
mod schema;
mod sends;
mod server;
mod skipped;
mod suppressions;
mod tables;
mod templates;
mod uploaded;
mod waiting;
mod web_chat;
mod webhooks;

use std::sync::Arc;

use actix_web::{Resource, Scope, web};

pub use self::conversations::send::ANSWERED;
pub use self::error::status_code;
pub use self::observe::{DURATION_SECONDS, REQUESTS_TOTAL};
pub use self::openapi::document;
pub use self::options::{Measures, Options, UPLOAD_BYTES, VALUES_BODY_BYTES};
pub use self::route::{Access, Listener, Route};
pub use self::server::{Settings, listen, with_spare};
pub use self::web_chat::SENT;
use crate::accounts::Accounts;
use crate::engine::Engine;

/// The state of all handlers.
pub struct State {
    /// The engine.
    pub engine: Engine,
    /// People who sign in.
    pub accounts: Accounts,
    /// Bounds and switches.
    pub options: Options,
}

route::table! {
    // A request is compared with one route after the other, so the most frequent routes come first. The last
    // word is the scope that a company's key needs, or another kind of caller.
    POST "/api/v1/chat/{id}/messages" => chat::send, Send;
    POST "/hooks/meta/{id}" => hooks::take, Open;
    GET "/api/v1/chat" => chat::list, Read;
    GET "/api/v1/chat/{id}/templates" => chat::approved, Read;
    POST "/api/v1/chat/{id}/templates" => chat::templates::create, Control;
    GET "/api/v1/chat/{id}/templates/{template}" => chat::templates::show, Read;
    PATCH "/api/v1/chat/{id}/templates/{template}" => chat::templates::change, Control;
    DELETE "/api/v1/chat/{id}/templates/{template}" => chat::templates::delete, Control;
    GET "/api/v1/chat/{id}/template-library" => chat::templates::library, Read;
    GET "/api/v1/chat/{id}/limits" => chat::limits, Read;
    GET "/api/v1/chat/{id}/profile" => chat::profile::show, Read;
    PATCH "/api/v1/chat/{id}/profile" => chat::profile::change, Control;
    GET "/api/v1/chat/{id}/window-rule" => chat::window::show, Read;
    PUT "/api/v1/chat/{id}/window-rule" => chat::window::set, Control;
    GET "/api/v1/web-chat" => web_chat::list, Read;
    POST "/api/v1/web-chat/{id}/messages" => web_chat::send, Send;
    GET "/api/v1/web-chat/{id}/limits" => web_chat::limits, Read;
    GET "/api/v1/web-chat/{id}/templates" => web_chat::templates::list, Read;
    POST "/api/v1/web-chat/{id}/templates" => web_chat::templates::create, Control;
    GET "/api/v1/web-chat/{id}/templates/{template}" => web_chat::templates::show, Read;
    PATCH "/api/v1/web-chat/{id}/templates/{template}" => web_chat::templates::change, Control;
    DELETE "/api/v1/web-chat/{id}/templates/{template}" => web_chat::templates::delete, Control;
    POST "/api/v1/web-chat/{id}/profile-picture" => web_chat::picture::ask, Read;
    GET "/api/v1/web-chat/{id}/pairing" => web_chat::pairing::show, Control;
    POST "/api/v1/web-chat/{id}/pairing" => web_chat::pairing::begin, Control;
    DELETE "/api/v1/web-chat/{id}/pairing" => web_chat::pairing::end, Control;
    GET "/api/v1/web-chat/{id}/pairing/passkey" => web_chat::passkey::show, Control;
    POST "/api/v1/web-chat/{id}/pairing/passkey" => web_chat::passkey::answer, Control;
    GET "/api/v1/conversations" => conversations::list, Inbox;
    GET "/api/v1/conversations/{id}" => conversations::show, Inbox;
    GET "/api/v1/conversations/{id}/messages" => conversations::messages::list, Inbox;
    POST "/api/v1/conversations/{id}/messages" => conversations::send::send, Inbox;
    POST "/api/v1/conversations/{id}/read" => conversations::actions::read, Inbox;
    POST "/api/v1/conversations/{id}/unread" => conversations::actions::unread, Inbox;
    POST "/api/v1/conversations/{id}/typing" => conversations::actions::typing, Inbox;
    POST "/api/v1/conversations/{id}/assign" => conversations::actions::assign, Inbox;
    POST "/api/v1/conversations/{id}/close" => conversations::actions::close, Inbox;
    POST "/api/v1/conversations/{id}/reopen" => conversations::actions::reopen, Inbox;
    GET "/api/v1/conversations/{id}/notes" => conversations::notes::list, Inbox;
    POST "/api/v1/conversations/{id}/notes" => conversations::notes::add, Inbox;
    PATCH "/api/v1/conversations/{id}/notes/{note}" => conversations::notes::change, Inbox;
    DELETE "/api/v1/conversations/{id}/notes/{note}" => conversations::notes::delete, Inbox;
    GET "/api/v1/messages" => messages::list, Read;
    GET "/api/v1/sends" => sends::list, Read;
    GET "/api/v1/events" => events::list, Read;
    GET "/api/v1/costs" => costs::month, Read;
    GET "/api/v1/sends/{id}" => sends::one, Read;
    GET "/api/v1/sends/{id}/messages" => sends::messages::list, Read;
    GET "/api/v1/sends/{id}/messages/export" => sends::messages::export, Read;
    GET "/api/v1/sends/{id}/messages/{ordinal}" => sends::messages::journey::show, Read;
    GET "/api/v1/sends/{id}/skipped" => sends::skipped::list, Read;
    GET "/api/v1/sends/{id}/failures" => sends::figures::failures, Read;
    GET "/api/v1/sends/{id}/pace" => sends::figures::pace, Read;
    POST "/api/v1/sends/{id}/retry" => sends::retry::retry, Send;
    PATCH "/api/v1/sends/{id}" => sends::reschedule::change, Control;
    POST "/api/v1/sends/{id}/pause" => sends::pause, Control;
    POST "/api/v1/sends/{id}/resume" => sends::resume, Control;
    POST "/api/v1/sends/{id}/cancel" => sends::cancel, Control;
    GET "/api/v1/contacts" => contacts::list, ContactsOrSession;
    GET "/api/v1/contacts/tags" => contacts::list_tags, ContactsOrSession;
    GET "/api/v1/contacts/fields" => contacts::own_fields::list, Contacts;
    POST "/api/v1/contacts/fields" => contacts::own_fields::create, Contacts;
    PATCH "/api/v1/contacts/fields/{id}" => contacts::own_fields::rename, Contacts;
    DELETE "/api/v1/contacts/fields/{id}" => contacts::own_fields::delete, Contacts;
    POST "/api/v1/contacts/tags/batch" => contacts::tags::write, Contacts;
    PATCH "/api/v1/contacts/tags/{id}" => contacts::tags::change, Contacts;
    DELETE "/api/v1/contacts/tags/{id}" => contacts::tags::delete, Contacts;
    POST "/api/v1/contacts/tags/{id}/members" => contacts::members::change, Contacts;
    GET "/api/v1/contacts/segments" => contacts::segments::list, Contacts;
    POST "/api/v1/contacts/segments" => contacts::segments::save, Contacts;
    GET "/api/v1/contacts/segments/{id}" => contacts::segments::show, Contacts;
    PATCH "/api/v1/contacts/segments/{id}" => contacts::segments::change, Contacts;
    DELETE "/api/v1/contacts/segments/{id}" => contacts::segments::delete, Contacts;
    GET "/api/v1/contacts/imports" => contacts::imports::list, Contacts;
    POST "/api/v1/contacts/imports" => contacts::imports::upload, Contacts;
    GET "/api/v1/contacts/imports/{id}" => contacts::imports::one, Contacts;
    POST "/api/v1/contacts/imports/{id}" => contacts::imports::steer, Contacts;
    GET "/api/v1/contacts/imports/{id}/rejected" => contacts::imports::rejected, Contacts;
    POST "/api/v1/contacts/batch" => contacts::batch::write, Contacts;
    // After the paths with fixed words, which are not ids.
    GET "/api/v1/contacts/{id}" => contacts::one::show, Contacts;
    PATCH "/api/v1/contacts/{id}" => contacts::one::change, Contacts;
    DELETE "/api/v1/contacts/{id}" => contacts::one::delete, Contacts;
    POST "/api/v1/contacts/{id}/merge" => contacts::one::merge, Contacts;
    GET "/api/v1/contacts/{id}/conversations" => conversations::of_contact::export, Inbox;
    DELETE "/api/v1/contacts/{id}/conversations" => conversations::of_contact::erase, Inbox;
    GET "/api/v1/contacts/{id}/notes" => contacts::notes::list, Contacts;
    POST "/api/v1/contacts/{id}/notes" => contacts::notes::add, Contacts;
    DELETE "/api/v1/contacts/{id}/notes/{note}" => contacts::notes::delete, Contacts;
    POST "/api/v1/numbers/check" => numbers::check, Contacts;
    GET "/api/v1/suppressions" => suppressions::list, Contacts;
    POST "/api/v1/suppressions" => suppressions::add, Contacts;
    GET "/api/v1/suppressions/{number}" => suppressions::check, Contacts;
    DELETE "/api/v1/suppressions/{number}" => suppressions::lift, Contacts;
    GET "/api/v1/media" => media::list, Read;
    POST "/api/v1/media" => media::upload, Send;
    GET "/api/v1/media/{id}" => media::show, Read;
    DELETE "/api/v1/media/{id}" => media::delete, Send;
    GET "/api/v1/quick-replies" => quick_replies::list, Read;
    POST "/api/v1/quick-replies" => quick_replies::add, Send;
    GET "/api/v1/quick-replies/{id}" => quick_replies::show, Read;
    PATCH "/api/v1/quick-replies/{id}" => quick_replies::change, Send;
    DELETE "/api/v1/quick-replies/{id}" => quick_replies::delete, Send;
    GET "/api/v1/automatic-answers" => automatic::show, Read;
    PUT "/api/v1/automatic-answers" => automatic::set, Send;
    GET "/api/v1/webhooks" => webhooks::list, Events;
    POST "/api/v1/webhooks" => webhooks::add, Events;
    GET "/api/v1/webhooks/{id}" => webhooks::show, Events;
    PATCH "/api/v1/webhooks/{id}" => webhooks::change, Events;
    DELETE "/api/v1/webhooks/{id}" => webhooks::delete, Events;
    POST "/api/v1/webhooks/{id}/rotate-secret" => webhooks::actions::rotate_secret, Events;
    POST "/api/v1/webhooks/{id}/disable" => webhooks::actions::disable, Events;
    POST "/api/v1/webhooks/{id}/enable" => webhooks::actions::enable, Events;
    POST "/api/v1/webhooks/{id}/test" => webhooks::actions::test, Events;
    POST "/api/v1/webhooks/{id}/verify" => webhooks::actions::verify, Events;
    POST "/api/v1/webhooks/{id}/replay" => webhooks::replay::begin, Events;
    DELETE "/api/v1/webhooks/{id}/replay" => webhooks::replay::end, Events;
    GET "/api/v1/webhooks/{id}/deliveries" => webhooks::deliveries::list, Events;
    POST "/api/v1/webhooks/{id}/deliveries/resend" => webhooks::deliveries::resend, Events;
    GET "/operator/v1/companies" => operator::companies::list, Operator;
    POST "/operator/v1/companies" => operator::companies::create, Operator;
    GET "/operator/v1/companies/{id}" => operator::companies::show, Operator;
    PATCH "/operator/v1/companies/{id}" => operator::companies::change, Operator;
    POST "/operator/v1/companies/{id}/disable" => operator::companies::disable, Operator;
    POST "/operator/v1/companies/{id}/enable" => operator::companies::enable, Operator;
    GET "/operator/v1/companies/{id}/keys" => operator::keys::list, Operator;
    POST "/operator/v1/companies/{id}/keys" => operator::keys::create, Operator;
    DELETE "/operator/v1/companies/{id}/keys/{key}" => operator::keys::revoke, Operator;
    GET "/operator/v1/companies/{id}/suppressions" => operator::suppressions::list, Operator;
    POST "/operator/v1/companies/{id}/suppressions" => operator::suppressions::add, Operator;
    DELETE "/operator/v1/companies/{id}/suppressions/{number}" => operator::suppressions::lift, Operator;
    GET "/operator/v1/companies/{id}/opt-out-words" => operator::opt_out_words::show, Operator;
    PUT "/operator/v1/companies/{id}/opt-out-words" => operator::opt_out_words::set, Operator;
    GET "/operator/v1/users" => operator::users::list, Operator;
    POST "/operator/v1/users" => operator::users::create, Operator;
    GET "/operator/v1/users/{id}" => operator::users::show, Operator;
    POST "/operator/v1/users/{id}/disable" => operator::users::disable, Operator;
    POST "/operator/v1/users/{id}/enable" => operator::users::enable, Operator;
    POST "/operator/v1/users/{id}/reset" => operator::users::reset, Operator;
    GET "/operator/v1/invitations" => operator::invitations::list, Operator;
    POST "/operator/v1/invitations" => operator::invitations::create, Operator;
    DELETE "/operator/v1/invitations/{id}" => operator::invitations::withdraw, Operator;
    GET "/operator/v1/tiers" => operator::tiers::list, Operator;
    GET "/operator/v1/tiers/{name}" => operator::tiers::show, Operator;
    PUT "/operator/v1/tiers/{name}" => operator::tiers::replace, Operator;
    PATCH "/operator/v1/tiers/{name}" => operator::tiers::change, Operator;
    DELETE "/operator/v1/tiers/{name}" => operator::tiers::delete, Operator;
    POST "/operator/v1/tiers/{name}/rename" => operator::tiers::rename, Operator;
    POST "/operator/v1/tiers/{name}/rollback" => operator::tiers::roll_back, Operator;
    POST "/operator/v1/plan" => operator::tiers::plan, Operator;
    GET "/operator/v1/rate-cards" => operator::rate_cards::list, Operator;
    POST "/operator/v1/rate-cards" => operator::rate_cards::put, Operator;
    DELETE "/operator/v1/rate-cards/{date}" => operator::rate_cards::remove, Operator;
    GET "/operator/v1/channels" => operator::channels::list, Operator;
    POST "/operator/v1/channels" => operator::channels::create, Operator;
    PATCH "/operator/v1/channels/{id}" => operator::channels::rename, Operator;
    DELETE "/operator/v1/channels/{id}" => operator::channels::remove, Operator;
    PUT "/operator/v1/channels/{id}/tier" => operator::channels::set_tier, Operator;
    POST "/operator/v1/channels/{id}/reconnect" => operator::channels::reconnect, Operator;
    GET "/operator/v1/channels/{id}/load" => operator::channels::load::show, Operator;
    GET "/operator/v1/nodes" => operator::nodes::list, Operator;
    GET "/operator/v1/nodes/{id}/channels" => operator::nodes::channels, Operator;
    POST "/operator/v1/nodes/{id}/drain" => operator::nodes::drain, Operator;
    POST "/operator/v1/nodes/{id}/undrain" => operator::nodes::undrain, Operator;
    GET "/operator/v1/changes" => operator::changes::list, Operator;
    GET "/media/{id}" => media::serve, Open;
    GET "/hooks/meta/{id}" => hooks::handshake, Open;
    GET "/healthz" => health::live, Open;
    GET "/readyz" => health::ready, Open;
    GET "/metrics" => health::metrics, Open;
    {
        GET "/openapi.json" => openapi::json, Open;
        GET "/docs" => openapi::docs, Open;
        GET "/docs/" => openapi::docs, Open;
        GET "/docs/{file}" => openapi::docs_file, Open;
        GET "/" => front::show, Open;
    }
}

/// The resources that a listener serves beside the API, each with its path. They are wrapped like the API's own
/// routes, with request ids and metrics by path.
#[derive(Default)]
pub struct BesideResources {
    /// Compared with a request before the API's routes: a few that are asked for often.
    pub first: Vec<(&'static str, Resource)>,
    /// Compared after them.
    pub rest: Vec<(&'static str, Resource)>,
}

/// What each listener serves beside the API.
pub type Beside = Arc<dyn Fn(Listener) -> BesideResources + Send + Sync>;

/// Whether the console is at `/`.
struct HasConsole(bool);

/// The service of `listener`. It must be added last to an application: it answers every path, unknown ones with
/// `not_found`.
pub fn service(
    state: web::Data<State>,
    listener: Listener,
    beside: Option<&Beside>,
) -> impl actix_web::dev::HttpServiceFactory + 'static {
    parameters::prepare(openapi::document);
    let has_console = HasConsole(beside.is_some());
    let BesideResources { first, rest } = beside.map(|beside| beside(listener)).unwrap_or_default();
    let add = |scope: Scope, (path, resource): (&'static str, Resource)| {
        scope.service(resource.app_data(route::Observed::new(path)))
    };
    let scope = register(first.into_iter().fold(web::scope(""), add), listener);
    rest.into_iter()
        .fold(scope, add)
        .app_data(web::Data::new(state.options.rules()))
        .app_data(state)
        .app_data(web::Data::new(listener))
        .app_data(web::Data::new(has_console))
        .app_data(route::Observed::unmatched())
        .app_data(openapi::Written::default())
        .default_service(web::to(error::not_found))
        .wrap_fn(observe::observe)
}
