//! A form that was sent after its session ended: a page that says so and keeps what the person typed, so that they can sign
//! in beside it and send it again. Nothing of it stays on the server.

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest as _, HttpRequest, HttpResponse, Responder as _};
use maud::html;

use super::component::notice;
use super::form::Form;
use super::page::{Menu, Page};
use crate::surface::body::Incoming;

/// The forms that hold what a person typed. Forms with passwords, tokens, codes or other secrets are not among them, nor is
/// an uploaded file, which is no field. A form that acts on everything that a list has, or on a member by their id, is
/// not among them either: the person may be in another company when they send it again.
const TYPED: [&str; 17] = [
    "/console/sends/new",
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
    "/console/operator",
    "/console/operator/tiers/{name}",
];

/// Whether the form of this route holds what a person typed.
pub(super) fn is_typed(pattern: &str) -> bool {
    TYPED.contains(&pattern)
}

/// The page that keeps the form of a request; `None` when the form cannot be read. `place` is where the person signs in.
pub(super) async fn page(request: &HttpRequest, payload: &mut Payload, place: &str) -> Option<HttpResponse> {
    let Ok(body) = Incoming::from_request(request, payload).into_inner();
    let form = Form::of(request, body).await.ok()?;
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
