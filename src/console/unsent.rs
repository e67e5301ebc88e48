//! A form that was sent after its session ended. A new send is kept as a draft of the person, who signs in and goes on. Any
//! other form is kept by a page that says so, so that they can sign in beside it and send it again: nothing of it stays on
//! the server.

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{FromRequest as _, HttpRequest, HttpResponse, Responder as _};
use maud::html;

use super::answer::redirect;
use super::component::notice;
use super::drafts::{self, Keeping};
use super::form::Form;
use super::page::{Menu, Page};
use super::visitor::Visitor;
use super::{State, cookie};
use crate::accounts::{Expiry, Role};
use crate::surface::body::Incoming;

/// The word for a session that somebody ended, or that is no longer remembered.
pub(super) const ENDED: &str = "yes";
/// The word for one that was not used for too long.
pub(super) const IDLE: &str = "idle";
/// The word for one that was too old.
pub(super) const OLD: &str = "old";

/// The word for the end of a session, for the page for signing in.
pub(super) const fn word(expiry: Expiry) -> &'static str {
    match expiry {
        Expiry::Idle => IDLE,
        Expiry::Old => OLD,
    }
}

/// The forms that hold what a person typed. Forms with passwords, tokens, codes or other secrets are not among them, nor is
/// an uploaded file, which is no field. A form that acts on everything that a list has, or on a member by their id, is
/// not among them either: the person may be in another company when they send it again.
const TYPED: [&str; 24] = [
    "/console/sends/new",
    "/console/inbox/{id}/answer",
    "/console/inbox/{id}/notes",
    "/console/inbox/{id}/notes/{note}",
    "/console/quick-replies",
    "/console/quick-replies/{id}",
    "/console/automatic-answers",
    "/console/contacts/new",
    "/console/contacts/{id}",
    "/console/contacts/{id}/notes",
    "/console/contacts/{id}/notes/{note}",
    "/console/contacts/tags",
    "/console/contacts/tags/{id}",
    "/console/contacts/import/{id}",
    "/console/suppressions",
    "/console/suppressions/words",
    "/console/channels/{id}/pair",
    "/console/keys",
    "/console/company/country",
    "/console/company/invitations",
    "/console/account/profile",
    "/console/account/number",
    "/console/operator",
    "/console/operator/tiers/{name}",
];

/// Whether the form of this route holds what a person typed.
pub(super) fn is_typed(pattern: &str) -> bool {
    TYPED.contains(&pattern)
}

/// Keeps a new send as a draft of the person whose session is over. Returns where they sign in and then find it.
async fn kept(request: &HttpRequest, form: &Form) -> Option<String> {
    if request.path() != drafts::PLACE {
        return None;
    }
    let state = request.app_data::<Data<State>>()?;
    let is_https = Visitor::of(request).ok()?.is_https;
    let token = cookie::session(request.headers(), is_https)?;
    let (session, expiry) = state.accounts.expired_session(token).await.ok()??;
    let company = session.company.filter(|company| matches!(company.role, Role::Owner | Role::Member))?;
    let keeper = (company.company_id, session.user.id);
    let Ok(Keeping::As(id)) = drafts::keep(state, keeper, form.words(), false).await else { return None };
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("ended", word(expiry))
        .append_pair("kept", "yes")
        .append_pair("next", &drafts::place(id));
    Some(format!("/console/sign-in?{}", query.finish()))
}

/// The answer that keeps the form of a request; `None` when the form cannot be read. `place` is where the person signs in.
pub(super) async fn page(request: &HttpRequest, payload: &mut Payload, place: &str) -> Option<HttpResponse> {
    let Ok(body) = Incoming::from_request(request, payload).into_inner();
    let form = Form::of(request, body).await.ok()?;
    if let Some(place) = kept(request, &form).await {
        return Some(redirect(&place));
    }
    let text = form.text();
    let body = html! {
        (notice::warning(&html! { p { (text.get("shell-unsent-why")) } }))
        p { a.button href=(place) target="_blank" rel="noopener" { (text.get("shell-unsent-sign-in")) } }
        form method="post" action=(request.path()) {
            @for (name, value) in form.words().iter() { input type="hidden" name=(name) value=(value); }
            button type="submit" { (text.get("shell-unsent-again")) }
        }
    };
    let page = Page::new(text.get("shell-unsent-title"), Menu::None, body);
    Some(page.with_status(StatusCode::UNAUTHORIZED).respond_to(request))
}
