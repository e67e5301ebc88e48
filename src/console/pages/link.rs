//! Links that are valid once: an invitation, a new password, a sign-in. Opening a link does not use it,
//! because chat and mail programs open links for previews.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::html;

use super::sign_in::{too_many, went_in};
use crate::accounts::{self, Accept, LinkInfo, Purpose, SignedIn};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::language::Language;
use crate::console::look::Brand;
use crate::console::page::{Menu, Page};
use crate::console::query::segment;
use crate::console::text::Text;
use crate::console::visitor::{Person, Visitor};
use crate::domain::user::check_password;

/// Shows the purpose of the link.
pub(crate) async fn show(visitor: Visitor, state: Data<State>, request: HttpRequest) -> Result<Page> {
    let token: String = segment(&request, "token")?;
    let Some(link) = state.accounts.link(&token).await? else { return Ok(gone(visitor.text)) };
    let form = Form::filled(visitor.text, [("name", link.name.clone())]);
    Ok(page(&visitor, &link, &form))
}

/// Uses the link.
pub(crate) async fn accept(
    visitor: Visitor,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer> {
    let token: String = segment(&request, "token")?;
    let Some(link) = state.accounts.link(&token).await? else { return Ok(gone(visitor.text).into()) };
    let text = visitor.text;
    let used = match (link.purpose, own(&visitor, &link)) {
        (Purpose::SignIn, _) => state.accounts.use_sign_in_link(&token, &visitor.origin).await,
        (Purpose::Invitation, Some(person)) => {
            let password =
                if person.signed_in.user.has_password { form.password("password") } else { String::new() };
            if form.has_faults() {
                return Ok(page(&visitor, &link, &form).unprocessable().into());
            }
            match state.accounts.join(&person.signed_in, &token, &password, &person.origin).await {
                Ok(()) => return Ok(Answer::to("/console")),
                Err(error) => Err(error),
            }
        }
        (Purpose::Invitation | Purpose::Reset, _) => {
            let is_new = link.purpose == Purpose::Invitation;
            let name = if is_new { form.required("name", 200) } else { String::new() };
            let password = new_password(&mut form, text);
            if form.has_faults() {
                return Ok(page(&visitor, &link, &form).unprocessable().into());
            }
            let language =
                Some(text.0).filter(|language: &Language| is_new && *language != Language::English);
            let accept =
                Accept { token: &token, name: &name, password: &password, language, origin: &visitor.origin };
            state.accounts.accept(accept).await
        }
    };
    match used {
        Ok(signed_in) => {
            // A person with a second factor enters its code, and comes back to accept the invitation.
            let comes_back =
                link.purpose == Purpose::Invitation && matches!(signed_in, SignedIn::CodeNeeded { .. });
            let next = if comes_back { request.path() } else { "" };
            Ok(went_in(&visitor, &Form::filled(text, [("next", next.to_owned())]), signed_in))
        }
        Err(accounts::Error::LinkGone) => Ok(gone(text).into()),
        // The credentials changed at this moment, which ends these links.
        Err(accounts::Error::Refused) if link.purpose != Purpose::Invitation => Ok(gone(text).into()),
        Err(accounts::Error::Refused) => {
            form.fault("password", text.get("link-password-wrong"));
            Ok(page(&visitor, &link, &form).unprocessable().into())
        }
        Err(accounts::Error::TooMany { retry_after }) => {
            too_many(&mut form, retry_after);
            Ok(page(&visitor, &link, &form).unprocessable().held(&form).into())
        }
        Err(error) => {
            note_refused(&mut form, error)?;
            Ok(page(&visitor, &link, &form).unprocessable().into())
        }
    }
}

/// The visitor, if they are signed in as the person that the link is for.
fn own<'a>(visitor: &'a Visitor, link: &LinkInfo) -> Option<&'a Person> {
    visitor.person.as_ref().filter(|person| person.signed_in.user.email == link.email)
}

/// A new password that was typed twice.
pub(crate) fn new_password(form: &mut Form, text: Text) -> String {
    let (password, again) = (form.password("password"), form.password("again"));
    if !password.is_empty() && check_password(&password).is_err() {
        form.fault("password", text.get("link-password-short"));
    } else if !again.is_empty() && password != again {
        form.fault("again", text.get("link-password-differs"));
    }
    password
}

/// Notes the fault of an invalid field.
pub(crate) fn note_invalid(form: &mut Form, field: &str) {
    let text = form.text();
    match field {
        "email" => form.fault("email", text.get("link-invalid-email")),
        "name" => form.fault("name", text.get("link-invalid-name")),
        "time_zone" => form.fault("time_zone", text.get("fault-field-choice")),
        _ => form.fault("password", text.get("link-password-short")),
    }
}

/// Notes why a new password or another field is refused; other failures are returned as errors.
pub(crate) fn note_refused(form: &mut Form, error: accounts::Error) -> Result<()> {
    match error {
        accounts::Error::Invalid { field, .. } => note_invalid(form, field),
        accounts::Error::CommonPassword => form.fault("password", form.text().get("link-password-common")),
        other => return Err(other.into()),
    }
    Ok(())
}

/// The fields of a new password.
pub(crate) fn password_fields(form: &Form) -> maud::Markup {
    let text = form.text();
    html! {
        (Field::new(form, "password", &text.get("link-password")).hint(&text.get("link-password-hint")).required()
            .autocomplete("new-password").password())
        (Field::new(form, "again", &text.get("link-again")).required().autocomplete("new-password").password())
    }
}

/// The fields of an invitation, the same for people with an account and without one.
fn invited_fields(form: &Form) -> maud::Markup {
    let text = form.text();
    html! {
        (Field::new(form, "name", &text.get("link-name")).hint(&text.get("link-name-hint")).required().most(200)
            .autocomplete("name").text())
        (Field::new(form, "password", &text.get("sign-in-password")).hint(&text.get("link-either-hint")).required()
            .autocomplete("new-password").password())
        (Field::new(form, "again", &text.get("link-either-again")).required().autocomplete("new-password").password())
    }
}

fn page(visitor: &Visitor, link: &LinkInfo, form: &Form) -> Page {
    let text = visitor.text;
    let email = link.email.as_str();
    let (title, button) = match link.purpose {
        Purpose::Invitation => (text.get("link-invitation"), text.get("link-join")),
        Purpose::Reset => (text.get("link-reset"), text.get("link-set")),
        Purpose::SignIn => (text.get("sign-in-title"), text.get("sign-in-button")),
    };
    let body = html! {
        form.panel method="post" data-submit[link.purpose == Purpose::SignIn] {
            (faults(form)) (once(form))
            p {
                (text.get("link-for")) " " strong { bdi { (email) } }
                @if let Some(company) = &link.company { " · " bdi { (company.company_name) } }
            }
            @match (link.purpose, own(visitor, link)) {
                (Purpose::SignIn, _) => {}
                (Purpose::Invitation, Some(person)) => {
                    @if person.signed_in.user.has_password {
                        (Field::new(form, "password", &text.get("sign-in-password")).hint(&text.get("link-own-hint"))
                            .required().autocomplete("current-password").password())
                    }
                }
                (Purpose::Invitation, None) => (invited_fields(form)),
                (Purpose::Reset, _) => (password_fields(form)),
            }
            button type="submit" { (button) }
        }
    };
    let brand = link.company.as_ref().map(|company| Brand::new(&company.company_name, &link.look));
    Page::new(title, Menu::None, body).branded(brand).secret()
}

fn gone(text: Text) -> Page {
    let body = html! {
        p { (text.get("link-gone")) }
        p { a href="/console/sign-in" { (text.get("sign-in-title")) } }
    };
    Page::new(text.get("link-gone-title"), Menu::None, body)
        .with_status(actix_web::http::StatusCode::NOT_FOUND)
}
