//! The console: Pombo in a browser.
//!
//! The pages are rendered on the server and work without script. The table below has every route with its
//! access. The [gate](gate) in front of each handler checks the access, the session, and the origin of a
//! request for a change; it adds the headers and error pages to the answer. Handlers call the [`Engine`] and
//! [`Accounts`], and never an actor or the store's tables. Console and HTTP API do not know each other; the
//! same listeners serve both.
//!
//! # A page
//!
//! A page is one file below `pages/`, with its texts in `locales/{en,pt-BR,es}/NAME.ftl`, whose keys begin
//! with the file's name (add the name to `text.rs`). Here is a complete one:
//!
//! ```ignore
//! /// Shows the form.
//! pub(crate) async fn show(viewer: Viewer) -> Page {
//!     page(&viewer, &Form::new(viewer.text))
//! }
//!
//! /// Handles the form. A form that is sent twice acts once.
//! pub(crate) async fn create(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
//!     let name = form.required("name", 80);
//!     if form.has_faults() {
//!         return Ok(page(&viewer, &form).unprocessable().into());
//!     }
//!     state.once.act(&viewer, &form, async || {
//!         state.engine.company(viewer.company.id).await?.things().add(&viewer.who(), &name).await?;
//!         let said = viewer.text.with("things-added", [("name", name.as_str().into())]);
//!         Ok(Answer::done(&state, &viewer, said, "/console/things"))
//!     }).await
//! }
//!
//! fn page(viewer: &Viewer, form: &Form) -> Page {
//!     let text = viewer.text;
//!     Page::new(text.get("things-title"), Menu::Things, html! {
//!         form method="post" {
//!             (faults(form)) (once(form))
//!             (Field::new(form, "name", &text.get("things-name")).required().most(80).text())
//!             button type="submit" { (text.get("things-add")) }
//!         }
//!     })
//! }
//! ```
//!
//! and its rows in the table: `GET "/console/things" => pages::things::show, Viewer;` and
//! `POST "/console/things" => pages::things::create, Member;`. A handler takes any of these: [`visitor::Visitor`]
//! (anybody), [`visitor::Person`] (signed in), [`visitor::Viewer`] (in a company), [`form::Form`], [`query::Query`],
//! [`query::Id`]. The parts of pages are in [`component`]; live parts are explained in [`live`]. Ids of other companies
//! are [`error::Error::NotFound`].

mod access;
mod address;
mod answer;
mod assets;
mod component;
mod cookie;
mod drafts;
mod error;
mod flash;
mod form;
mod gate;
mod hidden;
mod language;
mod layout;
mod live;
mod look;
mod menu;
mod once;
mod options;
mod pace;
mod page;
mod pages;
mod query;
mod rest;
mod route;
mod text;
mod unread;
mod unsent;
mod visitor;
mod words;
mod zone;

use std::fmt;
use std::net::SocketAddr;

use actix_web::Resource;
use actix_web::http::header::HeaderMap;
use actix_web::web::Data;

pub use self::access::Access;
pub use self::live::STREAMS;
pub use self::options::{GraphPlace, Options};
pub use self::pages::alerts::MailWriter;
pub use self::pages::compose::SENT;
pub use self::route::Route;
use crate::accounts::{self, Accounts, Session};
use crate::engine::Engine;
use crate::surface::{Client, Listener};

/// The state of all pages.
pub struct State {
    engine: Engine,
    accounts: Accounts,
    options: Options,
    once: once::Once,
    flashes: flash::Flashes,
    streams: live::Streams,
    shared: live::Shared,
    pace: pace::Pace,
    hidden: hidden::HiddenClients,
}

route::table! {
    GET "/console" => pages::overview::show, Viewer;
    GET "/console/live" => pages::overview::follow, Viewer;
    GET "/console/assets/{file}" => assets::serve, Asset;
    GET "/console/look/{file}" => look::serve, Asset;
    GET "/console/sign-in" => pages::sign_in::show, Public;
    POST "/console/sign-in" => pages::sign_in::sign_in, Public;
    POST "/console/sign-out" => pages::sign_in::sign_out, Public;
    POST "/console/language" => pages::language::choose, Public;
    GET "/console/channels" => pages::channels::show, Viewer;
    GET "/console/channels/live" => pages::channels::follow, Viewer;
    GET "/console/channels/new" => pages::new_channel::show, Owner;
    POST "/console/channels/new" => pages::new_channel::add, Owner;
    GET "/console/channels/{id}" => pages::channel::show, Viewer;
    GET "/console/channels/{id}/live" => pages::channel::follow, Viewer;
    GET "/console/channels/{id}/profile" => pages::channel::profile::show, Viewer;
    POST "/console/channels/{id}/profile" => pages::channel::profile::change, Owner;
    POST "/console/channels/{id}/reconnect" => pages::channel::business::reconnect, Owner;
    POST "/console/channels/{id}/app-secret" => pages::channel::business::set_app_secret, Owner;
    POST "/console/channels/{id}/check" => pages::channel::checks::check, Owner;
    POST "/console/channels/{id}/rename" => pages::channel::rename, Owner;
    POST "/console/channels/{id}/remove" => pages::channel::remove, Owner;
    POST "/console/channels/{id}/pair" => pages::channel::pairing::pair, Member;
    POST "/console/channels/{id}/passkey" => pages::channel::pairing::passkey, Member;
    POST "/console/channels/{id}/unlink" => pages::channel::pairing::unlink, Member;
    GET "/console/templates" => pages::templates::show, Viewer;
    POST "/console/templates/sync" => pages::templates::sync, Member;
    GET "/console/templates/new" => pages::templates::write::new, Member;
    POST "/console/templates/new" => pages::templates::write::create, Member;
    POST "/console/templates/preview" => pages::templates::write::preview, Member;
    GET "/console/templates/library" => pages::templates::library::list, Member;
    GET "/console/templates/library/{name}" => pages::templates::library::copy::show, Member;
    POST "/console/templates/library/{name}" => pages::templates::library::copy::create, Member;
    GET "/console/templates/{id}" => pages::templates::write::show, Viewer;
    POST "/console/templates/{id}" => pages::templates::write::change, Member;
    POST "/console/templates/{id}/archive" => pages::templates::write::archive, Member;
    POST "/console/templates/{id}/delete" => pages::templates::write::delete, Member;
    GET "/console/help" => pages::help::show, Public;
    GET "/console/link/{token}" => pages::link::show, Public;
    POST "/console/link/{token}" => pages::link::accept, Public;
    GET "/console/account" => pages::account::show, SignedIn;
    POST "/console/account/profile" => pages::account::profile, SignedIn;
    POST "/console/account/number" => pages::account::number::change, SignedIn;
    POST "/console/account/alerts" => pages::alerts::choose, SignedIn;
    POST "/console/account/alerts/test" => pages::alerts::test, SignedIn;
    POST "/console/account/password" => pages::account::password, SignedIn;
    POST "/console/account/totp" => pages::account::begin_totp, SignedIn;
    POST "/console/account/totp/confirm" => pages::account::confirm_totp, SignedIn;
    POST "/console/account/totp/remove" => pages::account::remove_totp, SignedIn;
    POST "/console/account/sessions/end" => pages::account::sessions::end_others, SignedIn;
    POST "/console/account/sessions/{id}/end" => pages::account::sessions::end, SignedIn;
    GET "/console/companies" => pages::companies::show, SignedIn;
    POST "/console/companies" => pages::companies::choose, SignedIn;
    GET "/console/keys" => pages::keys::show, Owner;
    POST "/console/keys" => pages::keys::create, Owner;
    POST "/console/keys/{id}/revoke" => pages::keys::revoke, Owner;
    GET "/console/programs" => pages::programs::show, Owner;
    GET "/console/programs/chatwoot" => pages::programs::chatwoot::show, Owner;
    POST "/console/programs/chatwoot" => pages::programs::chatwoot::connect, Owner;
    GET "/console/programs/typebot" => pages::programs::typebot::show, Owner;
    POST "/console/programs/typebot" => pages::programs::typebot::connect, Owner;
    GET "/console/programs/{id}" => pages::programs::one::show, Owner;
    POST "/console/programs/{id}/webhook" => pages::programs::typebot::set_webhook, Owner;
    POST "/console/programs/{id}/check" => pages::programs::one::check, Owner;
    POST "/console/programs/{id}/remove" => pages::programs::one::remove, Owner;
    GET "/console/webhooks" => pages::webhooks::show, Viewer;
    GET "/console/webhooks/live" => pages::webhooks::follow, Viewer;
    GET "/console/webhooks/new" => pages::webhooks::new::show, Owner;
    POST "/console/webhooks/new" => pages::webhooks::new::add, Owner;
    GET "/console/webhooks/{id}" => pages::webhooks::one::show, Viewer;
    GET "/console/webhooks/{id}/live" => pages::webhooks::one::follow, Viewer;
    POST "/console/webhooks/{id}" => pages::webhooks::actions::change, Owner;
    POST "/console/webhooks/{id}/test" => pages::webhooks::actions::test, Owner;
    POST "/console/webhooks/{id}/verify" => pages::webhooks::actions::verify, Owner;
    POST "/console/webhooks/{id}/resend" => pages::webhooks::actions::resend, Owner;
    POST "/console/webhooks/{id}/replay" => pages::webhooks::replay::begin, Owner;
    POST "/console/webhooks/{id}/replay/end" => pages::webhooks::replay::end, Owner;
    POST "/console/webhooks/{id}/secret" => pages::webhooks::actions::replace_secret, Owner;
    POST "/console/webhooks/{id}/disable" => pages::webhooks::actions::disable, Owner;
    POST "/console/webhooks/{id}/enable" => pages::webhooks::actions::enable, Owner;
    POST "/console/webhooks/{id}/remove" => pages::webhooks::actions::remove, Owner;
    GET "/console/costs" => pages::costs::show, Viewer;
    GET "/console/costs/file" => pages::costs::file, Viewer;
    GET "/console/company" => pages::company::show, Viewer;
    POST "/console/company/country" => pages::company::set_country, Member;
    POST "/console/company/token" => pages::company::token, Viewer;
    POST "/console/company/invitations" => pages::company::invite, Owner;
    POST "/console/company/invitations/{id}/withdraw" => pages::company::withdraw, Owner;
    POST "/console/company/invitations/{id}/again" => pages::company::links::invite_again, Owner;
    GET "/console/company/look" => pages::look::show, Owner;
    POST "/console/company/look" => pages::look::save, Owner;
    POST "/console/company/look/reset" => pages::look::reset, Owner;
    POST "/console/company/members/{id}/link" => pages::company::links::make, Owner;
    POST "/console/company/members/{id}/role" => pages::company::set_role, Owner;
    POST "/console/company/members/{id}/remove" => pages::company::remove, Owner;
    GET "/console/operator" => pages::operator::show, Operator;
    POST "/console/operator" => pages::operator::add_company, Operator;
    GET "/console/operator/companies/{id}" => pages::operator::company::show, Operator;
    POST "/console/operator/companies/{id}" => pages::operator::company::change, Operator;
    POST "/console/operator/companies/{id}/invite" => pages::operator::company::invite, Operator;
    POST "/console/operator/companies/{id}/disable" => pages::operator::company::disable, Operator;
    POST "/console/operator/companies/{id}/enable" => pages::operator::company::enable, Operator;
    GET "/console/operator/users" => pages::operator::users::list, Operator;
    GET "/console/operator/users/{id}" => pages::operator::users::show, Operator;
    POST "/console/operator/users/{id}/sign-in" => pages::operator::users::sign_in, Operator;
    POST "/console/operator/users/{id}/password" => pages::operator::users::password, Operator;
    POST "/console/operator/users/{id}/disable" => pages::operator::users::disable, Operator;
    POST "/console/operator/users/{id}/enable" => pages::operator::users::enable, Operator;
    GET "/console/operator/channels/{id}" => pages::channel_tier::show, Operator;
    POST "/console/operator/channels/{id}" => pages::channel_tier::change, Operator;
    GET "/console/operator/nodes" => pages::nodes::show, Operator;
    GET "/console/operator/nodes/live" => pages::nodes::follow, Operator;
    GET "/console/operator/nodes/{id}" => pages::nodes::one, Operator;
    POST "/console/operator/nodes/{id}/drain" => pages::nodes::drain, Operator;
    POST "/console/operator/nodes/{id}/undrain" => pages::nodes::undrain, Operator;
    GET "/console/operator/tiers" => pages::tiers::list, Operator;
    GET "/console/operator/tiers/{name}" => pages::tiers::show, Operator;
    POST "/console/operator/tiers/{name}" => pages::tiers::change, Operator;
    POST "/console/operator/tiers/{name}/rename" => pages::tiers::rename, Operator;
    POST "/console/operator/tiers/{name}/delete" => pages::tiers::delete, Operator;
    GET "/console/operator/prices" => pages::prices::show, Operator;
    POST "/console/operator/prices" => pages::prices::apply, Operator;
    POST "/console/operator/prices/check" => pages::prices::check, Operator;
    POST "/console/operator/prices/remove" => pages::prices::remove, Operator;
    GET "/console/operator/prices/file" => pages::prices::file, Operator;
    GET "/console/operator/changes" => pages::changes::show, Operator;
    GET "/console/inbox" => pages::inbox::list, Inbox;
    GET "/console/inbox/live" => pages::inbox::follow, Inbox;
    GET "/console/inbox/{id}" => pages::inbox::show, Inbox;
    POST "/console/inbox/{id}/answer" => pages::inbox::answer::send, Agent;
    POST "/console/inbox/{id}/preview" => pages::inbox::answer::preview, Agent;
    POST "/console/inbox/{id}/file" => pages::inbox::answer::attach, Agent;
    POST "/console/inbox/{id}/draft" => pages::inbox::answer::keep, Agent;
    POST "/console/inbox/{id}/seen" => pages::inbox::actions::seen, Agent;
    POST "/console/inbox/{id}/read" => pages::inbox::actions::read, Agent;
    POST "/console/inbox/{id}/assign" => pages::inbox::actions::assign, Agent;
    POST "/console/inbox/{id}/state" => pages::inbox::actions::set_state, Agent;
    POST "/console/inbox/{id}/tags" => pages::inbox::actions::tag, Agent;
    POST "/console/inbox/{id}/consent" => pages::inbox::actions::consent, Agent;
    POST "/console/inbox/{id}/notes" => pages::inbox::notes::add, Agent;
    POST "/console/inbox/{id}/notes/{note}" => pages::inbox::notes::change, Agent;
    POST "/console/inbox/{id}/notes/{note}/delete" => pages::inbox::notes::delete, Agent;
    GET "/console/sends" => pages::sends::list, Viewer;
    GET "/console/sends/new" => pages::compose::show, Member;
    POST "/console/sends/new" => pages::compose::act, Member;
    GET "/console/sends/new/list" => pages::compose::list, Member;
    POST "/console/sends/new/list" => pages::compose::upload, Member;
    GET "/console/sends/new/sample/file" => pages::compose::sample, Member;
    GET "/console/sends/new/problems/{id}" => pages::compose::problems, Member;
    POST "/console/sends/preview" => pages::compose::preview, Member;
    POST "/console/sends/reach" => pages::compose::reach, Member;
    GET "/console/sends/drafts" => pages::drafts::list, Member;
    POST "/console/sends/drafts/{id}/delete" => pages::drafts::delete, Member;
    GET "/console/sends/{id}" => pages::send::show, Viewer;
    GET "/console/sends/{id}/live" => pages::send::live, Viewer;
    POST "/console/sends/{id}/pause" => pages::send::pause, Member;
    POST "/console/sends/{id}/resume" => pages::send::resume, Member;
    POST "/console/sends/{id}/cancel" => pages::send::cancel, Member;
    GET "/console/sends/{id}/start" => pages::send::schedule::show, Member;
    POST "/console/sends/{id}/start" => pages::send::schedule::change, Member;
    POST "/console/sends/{id}/edit" => pages::send::schedule::edit, Member;
    GET "/console/sends/{id}/again" => pages::send::again::show, Member;
    GET "/console/sends/{id}/again/live" => pages::send::again::follow, Member;
    POST "/console/sends/{id}/again" => pages::send::again::send, Member;
    GET "/console/sends/{id}/messages.csv" => pages::send::csv, Viewer;
    GET "/console/sends/{id}/results.csv" => pages::send::results, Viewer;
    GET "/console/sends/{id}/messages/{ordinal}" => pages::journey::show, Viewer;
    GET "/console/contacts" => pages::contacts::list, Viewer;
    POST "/console/contacts/change" => pages::contacts::change, Member;
    GET "/console/contacts/export" => pages::contact_export::download, Viewer;
    POST "/console/contacts/export" => pages::contact_export::selected, Member;
    POST "/console/contacts/number" => pages::contact::number, Member;
    GET "/console/contacts/new" => pages::contact::new, Member;
    POST "/console/contacts/new" => pages::contact::add, Member;
    GET "/console/contacts/tags" => pages::tags::list, Viewer;
    POST "/console/contacts/tags" => pages::tags::create, Member;
    GET "/console/contacts/tags/{id}" => pages::tags::show, Viewer;
    POST "/console/contacts/tags/{id}" => pages::tags::change, Member;
    POST "/console/contacts/tags/{id}/delete" => pages::tags::delete, Member;
    POST "/console/contacts/segments" => pages::segments::save, Member;
    GET "/console/contacts/segments/{id}" => pages::segments::show, Viewer;
    POST "/console/contacts/segments/{id}" => pages::segments::change, Member;
    POST "/console/contacts/segments/{id}/delete" => pages::segments::delete, Member;
    GET "/console/contacts/fields" => pages::contact_fields::list, Viewer;
    POST "/console/contacts/fields" => pages::contact_fields::create, Member;
    GET "/console/contacts/fields/{id}" => pages::contact_fields::show, Viewer;
    POST "/console/contacts/fields/{id}" => pages::contact_fields::rename, Member;
    POST "/console/contacts/fields/{id}/delete" => pages::contact_fields::delete, Member;
    GET "/console/contacts/import" => pages::imports::list, Viewer;
    POST "/console/contacts/import" => pages::imports::upload, Member;
    GET "/console/contacts/import/{id}" => pages::import::show, Viewer;
    POST "/console/contacts/import/{id}" => pages::import::steer, Member;
    GET "/console/contacts/import/{id}/live" => pages::import::follow, Viewer;
    GET "/console/contacts/import/{id}/rejected" => pages::rejected_rows::rejected, Viewer;
    GET "/console/contacts/{id}" => pages::contact::show, Viewer;
    POST "/console/contacts/{id}" => pages::contact::change, Member;
    POST "/console/contacts/{id}/delete" => pages::contact::delete, Member;
    POST "/console/contacts/{id}/merge" => pages::contact::merge, Member;
    POST "/console/contacts/{id}/conversations/erase" => pages::contact::conversations::erase, Member;
    POST "/console/contacts/{id}/notes" => pages::contact::notes::add, Member;
    POST "/console/contacts/{id}/notes/{note}" => pages::contact::notes::change, Member;
    POST "/console/contacts/{id}/notes/{note}/delete" => pages::contact::notes::delete, Member;
    POST "/console/contacts/{id}/opt-out" => pages::contact::consent::opt_out, Member;
    POST "/console/contacts/{id}/opt-in" => pages::contact::consent::opt_in, Member;
    GET "/console/media" => pages::media::list, Viewer;
    POST "/console/media" => pages::media::upload, Member;
    GET "/console/media/{id}/thumbnail" => pages::media::thumbnail, Inbox;
    POST "/console/media/{id}/delete" => pages::media::delete, Member;
    GET "/console/quick-replies" => pages::quick_replies::list, Viewer;
    POST "/console/quick-replies" => pages::quick_replies::create, Member;
    GET "/console/quick-replies/{id}" => pages::quick_replies::show, Viewer;
    POST "/console/quick-replies/{id}" => pages::quick_replies::change, Member;
    POST "/console/quick-replies/{id}/delete" => pages::quick_replies::delete, Member;
    GET "/console/automatic-answers" => pages::automatic::show, Viewer;
    POST "/console/automatic-answers" => pages::automatic::save, Owner;
    GET "/console/suppressions" => pages::suppressions::list, Viewer;
    POST "/console/suppressions" => pages::suppressions::add, Member;
    POST "/console/suppressions/lift" => pages::suppressions::lift, Member;
    POST "/console/suppressions/words" => pages::suppressions::set_words, Owner;
    // Everything else below the console. It is last, because the first matching path is used.
    GET "/console/{rest:.*}" => pages::missing::show, Public;
}

/// Paths below it are only for operators, and served on the listener of the operator API.
const OPERATOR: &str = "/console/operator";

impl State {
    /// The state, without open streams.
    pub fn new(engine: Engine, accounts: Accounts, options: Options) -> Self {
        text::load();
        Self {
            engine,
            accounts,
            options,
            once: once::Once::default(),
            flashes: flash::Flashes::default(),
            streams: live::Streams::default(),
            shared: live::Shared::default(),
            pace: pace::Pace::default(),
            hidden: hidden::HiddenClients::default(),
        }
    }

    /// Ends the live parts of all pages when the service stops. They do not end by themselves.
    pub fn close(&self) {
        self.streams.close();
    }

    /// The number of pages with an open stream.
    pub fn open_streams(&self) -> usize {
        self.streams.open()
    }

    /// The session of the cookie with this token, with the rights that its person has on this listener.
    async fn session(&self, token: &str, listener: Listener) -> accounts::Result<Option<Session>> {
        let session = self.accounts.session(token).await?;
        Ok(if listener.admits_operators() { session } else { session.map(Session::without_operator) })
    }

    /// The client behind a request, and whether its browser reaches the service over https.
    fn client(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> Client {
        let client = self.options.proxies.client(peer.map(|address| address.ip()), headers);
        Client { is_https: self.is_reached_over_https() || client.is_https, ..client }
    }

    /// Whether people reach the service over https, which takes a proxy.
    fn is_reached_over_https(&self) -> bool {
        self.options.public_url.as_ref().is_some_and(|url| url.scheme() == "https")
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The console's paths with their resources, to be registered in this order beside the API. With
/// `with_operators`, they include the paths for operators.
pub fn resources(state: &Data<State>, with_operators: bool) -> Vec<(&'static str, Resource)> {
    let all = route::resources(paths(), state);
    all.into_iter().filter(|(path, _)| with_operators || !path.starts_with(OPERATOR)).collect()
}
