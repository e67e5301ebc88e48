//! The answers of handlers: a page in its layout, or a redirect.

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, LOCATION, RETRY_AFTER, SET_COOKIE};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, Responder};

use super::flash::DONE;
use super::page::{Page, html};
use super::visitor::{Person, Visitor};
use super::{State, layout};

/// The answer of a handler that makes a change.
#[derive(Debug)]
pub(super) enum Answer {
    /// Done: redirect to this place (303).
    Redirect(String),
    /// The same page with faults, or a page that asks for confirmation.
    Page(Box<Page>),
    /// Done: redirect, and set cookies.
    WithCookies(String, Vec<String>),
}

impl Answer {
    /// Done: redirects to this place.
    pub(super) fn to(place: impl Into<String>) -> Self {
        Self::Redirect(place.into())
    }

    /// Done: redirects to this place, whose page says what was done.
    pub(super) fn done(
        state: &State,
        person: &Person,
        said: impl Into<String>,
        place: impl Into<String>,
    ) -> Self {
        state.flashes.put(person.session, DONE, said);
        Self::to(place)
    }

    /// Done: sets this cookie and redirects to this place.
    pub(super) fn with_cookie(place: impl Into<String>, cookie: String) -> Self {
        Self::WithCookies(place.into(), vec![cookie])
    }

    /// Sets another cookie, if there is one.
    pub(super) fn and_cookie(self, cookie: Option<String>) -> Self {
        match self {
            Self::WithCookies(place, mut cookies) => {
                cookies.extend(cookie);
                Self::WithCookies(place, cookies)
            }
            Self::Redirect(place) => Self::WithCookies(place, cookie.into_iter().collect()),
            Self::Page(page) => Self::Page(page),
        }
    }
}

impl From<Page> for Answer {
    fn from(page: Page) -> Self {
        Self::Page(Box::new(page))
    }
}

impl Responder for Answer {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        match self {
            Self::Redirect(place) => redirect(&place),
            Self::Page(page) => page.respond_to(request),
            Self::WithCookies(place, cookies) => {
                let mut answer = redirect(&place);
                for cookie in cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
                    answer.headers_mut().append(SET_COOKIE, cookie);
                }
                answer
            }
        }
    }
}

impl Responder for Page {
    type Body = BoxBody;

    fn respond_to(mut self, request: &HttpRequest) -> HttpResponse {
        let Ok(visitor) = Visitor::of(request) else { return HttpResponse::InternalServerError().finish() };
        if self.status == StatusCode::OK
            && let (Some(state), Some(person)) = (request.app_data::<Data<State>>(), &visitor.person)
        {
            self.done = state.flashes.take(person.session, DONE);
        }
        let text = layout::page(&visitor, request.path(), &self).into_string();
        let status = if self.retry_after.is_some() { StatusCode::TOO_MANY_REQUESTS } else { self.status };
        let mut answer = html(request.headers(), status, text, !self.is_secret);
        if let Some(wait) = self.retry_after {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        answer
    }
}

/// Redirects a browser to another page, which it then requests with `GET`.
pub(super) fn redirect(place: &str) -> HttpResponse {
    // Places consist of our own paths, with variable parts percent-encoded.
    let place = HeaderValue::from_str(place).unwrap_or_else(|_| HeaderValue::from_static("/console"));
    HttpResponse::SeeOther().insert_header((LOCATION, place)).finish()
}
