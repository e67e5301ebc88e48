//! The answers of handlers: a page, or a redirect.

use std::time::Duration;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, SET_COOKIE,
};
use actix_web::{HttpRequest, HttpResponse, Responder};
use flate2::Compression;
use maud::Markup;

use super::form::Form;
use super::gate::redirect;
use super::layout;
pub(super) use super::menu::Menu;
use super::visitor::Visitor;
use crate::surface::gzip::{gzip, takes_gzip};

/// Smaller answers are not compressed.
const WORTH_COMPRESSING: usize = 1_024;

/// A page of the console: the content between its head and its foot.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) menu: Menu,
    pub(super) body: Markup,
    /// The address of its live parts.
    pub(super) live: Option<String>,
    status: StatusCode,
    is_secret: bool,
    retry_after: Option<Duration>,
}

impl Page {
    /// A page with this title and heading, in the person's language.
    pub(super) fn new(title: impl Into<String>, menu: Menu, body: Markup) -> Self {
        Self {
            title: title.into(),
            menu,
            body,
            live: None,
            status: StatusCode::OK,
            is_secret: false,
            retry_after: None,
        }
    }

    /// Keeps parts of the page up to date from this address.
    pub(super) fn live(mut self, address: impl Into<String>) -> Self {
        self.live = Some(address.into());
        self
    }

    /// Marks the page as one that shows a form again with its faults (422).
    pub(super) const fn unprocessable(self) -> Self {
        self.with_status(StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// Sets the status of the answer.
    pub(super) const fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Answers 429 if the form may be sent again only later.
    pub(super) const fn held(self, form: &Form) -> Self {
        self.after(form.held())
    }

    /// Sets the time after which the page may be requested again, if it is known.
    pub(super) const fn after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Marks the page as one that shows a secret beside text that others may choose. It is not compressed,
    /// because its length would reveal the secret.
    pub(super) const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

impl Responder for Page {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        let Ok(visitor) = Visitor::of(request) else { return HttpResponse::InternalServerError().finish() };
        let text = layout::page(&visitor, request.path(), &self).into_string();
        let status = if self.retry_after.is_some() { StatusCode::TOO_MANY_REQUESTS } else { self.status };
        let mut answer = html(request.headers(), status, text, !self.is_secret);
        if let Some(wait) = self.retry_after {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        answer
    }
}

/// An answer with this HTML.
pub(super) fn html(
    headers: &HeaderMap,
    status: StatusCode,
    text: String,
    may_compress: bool,
) -> HttpResponse {
    let mut answer = HttpResponse::build(status);
    answer.insert_header((CONTENT_TYPE, "text/html; charset=utf-8"));
    if may_compress && text.len() >= WORTH_COMPRESSING && takes_gzip(headers) {
        let compressed = gzip(text.as_bytes(), Compression::fast());
        return answer.insert_header((CONTENT_ENCODING, "gzip")).body(compressed);
    }
    answer.body(text)
}

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
