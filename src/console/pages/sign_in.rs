//! Signing in, with a code for people who have a second factor, and signing out.

use std::time::Duration;

use actix_web::web::Data;
use maud::html;

use crate::accounts::{self, NewSession, SignIn, SignedIn};
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::component::notice;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::gate::inner;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Visitor;
use crate::console::{State, cookie, unsent};

/// Shows the form, or redirects a person who is signed in.
pub(crate) async fn show(visitor: Visitor, query: Query) -> Answer {
    let next = inner(query.one("next"));
    if visitor.person.is_some() {
        return Answer::to(next);
    }
    let said = ["ended", "kept"].map(|name| (name, query.one(name).to_owned()));
    let form = Form::filled(visitor.text, said.into_iter().chain([("next", next.to_owned())]));
    password_page(&form).into()
}

/// Checks e-mail and password, or the code after a correct password.
pub(crate) async fn sign_in(visitor: Visitor, state: Data<State>, mut form: Form) -> Result<Answer> {
    let ticket = form.words().one("ticket").to_owned();
    if !ticket.is_empty() {
        let code = form.required("code", 32);
        if form.has_faults() {
            return Ok(code_page(&form, &ticket).unprocessable().into());
        }
        let session = state.accounts.sign_in_with_code(&ticket, &code, &visitor.origin).await;
        return match session {
            Ok(session) => Ok(enter(&visitor, &form, &session)),
            // The ticket has expired, or the credentials changed: start again.
            Err(accounts::Error::NotFound) => {
                form.general_fault(visitor.text.get("sign-in-again"));
                Ok(password_page(&form).unprocessable().into())
            }
            Err(error) => {
                refuse(&mut form, error, "sign-in-wrong-code")?;
                Ok(code_page(&form, &ticket).unprocessable().into())
            }
        };
    }
    let (email, password) = (form.required("email", 254), form.password("password"));
    if form.has_faults() {
        return Ok(password_page(&form).unprocessable().into());
    }
    let code = form.optional("code", 32);
    let attempt =
        SignIn { email: &email, password: &password, code: code.as_deref(), origin: &visitor.origin };
    match state.accounts.sign_in(attempt).await {
        Ok(signed_in) => Ok(went_in(&visitor, &form, signed_in)),
        Err(error) => {
            refuse(&mut form, error, "sign-in-wrong")?;
            Ok(password_page(&form).unprocessable().into())
        }
    }
}

/// Ends the session, if there is one.
pub(crate) async fn sign_out(visitor: Visitor, state: Data<State>) -> Result<Answer> {
    if let Some(person) = &visitor.person {
        state.accounts.sign_out(&person.signed_in, &person.origin).await?;
    }
    Ok(Answer::with_cookie("/console/sign-in", cookie::end(visitor.is_https)))
}

/// The answer after a correct password or link: the console, or the form for a code.
pub(crate) fn went_in(visitor: &Visitor, form: &Form, signed_in: SignedIn) -> Answer {
    match signed_in {
        SignedIn::Session(session) => enter(visitor, form, &session),
        SignedIn::CodeNeeded { ticket } => code_page(form, ticket.expose()).into(),
    }
}

fn enter(visitor: &Visitor, form: &Form, session: &NewSession) -> Answer {
    let next = inner(form.words().one("next"));
    let device = session.device.as_ref().map(|token| cookie::known_device(token.expose(), visitor.is_https));
    Answer::with_cookie(next, cookie::begin(session.token.expose(), visitor.is_https)).and_cookie(device)
}

/// Notes why the sign-in is refused; other failures are returned as errors.
fn refuse(form: &mut Form, error: accounts::Error, wrong: &str) -> Result<()> {
    let text = form.text();
    match error {
        accounts::Error::Refused => form.general_fault(text.get(wrong)),
        accounts::Error::TooMany { retry_after } => too_many(form, retry_after),
        other => return Err(other.into()),
    }
    Ok(())
}

/// Notes that the person has to wait.
pub(crate) fn too_many(form: &mut Form, retry_after: Duration) {
    let seconds = retry_after.as_secs().max(1);
    form.general_fault(form.text().with("sign-in-too-many", [("seconds", seconds.into())]));
    form.hold(retry_after);
}

/// Why the person has to sign in again, if they were signed in.
fn why_ended(form: &Form) -> Option<String> {
    let text = form.text();
    let (hours, days) = (accounts::IDLE.as_secs() / 3_600, accounts::OLDEST.as_secs() / 86_400);
    match form.words().one("ended") {
        "" => None,
        unsent::IDLE => Some(text.with("sign-in-ended-idle", [("hours", hours.into())])),
        unsent::OLD => Some(text.with("sign-in-ended-old", [("days", days.into())])),
        _ => Some(text.get("sign-in-ended")),
    }
}

fn password_page(form: &Form) -> Page {
    let text = form.text();
    let body = html! {
        @if let Some(why) = why_ended(form) {
            (notice::warning(&html! {
                p { (why) @if !form.words().one("kept").is_empty() { " " (text.get("sign-in-kept")) } }
            }))
        }
        form.panel method="post" action="/console/sign-in" {
            (faults(form))
            input type="hidden" name="next" value=(inner(form.words().one("next")));
            (Field::new(form, "email", &text.get("sign-in-email")).required().autocomplete("username").input("email"))
            (Field::new(form, "password", &text.get("sign-in-password")).required().autocomplete("current-password").password())
            button type="submit" { (text.get("sign-in-button")) }
        }
        p.soft { (text.get("sign-in-help")) }
    };
    Page::new(text.get("sign-in-title"), Menu::None, body).held(form)
}

fn code_page(form: &Form, ticket: &str) -> Page {
    let text = form.text();
    let body = html! {
        form.panel method="post" action="/console/sign-in" {
            (faults(form))
            input type="hidden" name="next" value=(inner(form.words().one("next")));
            input type="hidden" name="ticket" value=(ticket);
            (Field::new(form, "code", &text.get("sign-in-code")).hint(&text.get("sign-in-code-hint")).required().code())
            button type="submit" { (text.get("sign-in-button")) }
        }
        p { a href="/console/sign-in" { (text.get("sign-in-other")) } }
    };
    Page::new(text.get("sign-in-title"), Menu::None, body).secret().held(form)
}
