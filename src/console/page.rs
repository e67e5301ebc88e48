//! A page of the console, and its HTML as an answer.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use flate2::Compression;
use maud::Markup;

use super::assets::Asset;
use super::form::Form;
use super::look::Brand;
pub(super) use super::menu::Menu;
use crate::surface::gzip::{gzip, takes_gzip};

/// Smaller answers are not compressed.
const WORTH_COMPRESSING: usize = 1_024;

/// A page of the console: the content between its head and its foot.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) menu: Menu,
    pub(super) body: Markup,
    /// What the person did before, said once above the content.
    pub(super) done: Option<String>,
    /// The buttons beside the heading.
    pub(super) action: Option<Markup>,
    /// The address of its live parts.
    pub(super) live: Option<String>,
    pub(super) status: StatusCode,
    pub(super) is_secret: bool,
    pub(super) retry_after: Option<Duration>,
    /// Scripts of its own, beside the one of every page.
    pub(super) scripts: Vec<&'static Asset>,
    /// What stands in the head, in place of what the reader's company chose.
    pub(super) brand: Option<Brand>,
}

impl Page {
    /// A page with this title and heading, in the person's language.
    pub(super) fn new(title: impl Into<String>, menu: Menu, body: Markup) -> Self {
        Self {
            title: title.into(),
            menu,
            body,
            done: None,
            action: None,
            live: None,
            status: StatusCode::OK,
            is_secret: false,
            retry_after: None,
            scripts: Vec::new(),
            brand: None,
        }
    }

    /// Shows a company's name, logo and colour to visitors whom it invites.
    pub(super) fn branded(mut self, brand: Option<Brand>) -> Self {
        self.brand = brand;
        self
    }

    /// Shows buttons beside the heading: what most people do on the page. One of them at most is filled.
    pub(super) fn action(mut self, action: Markup) -> Self {
        self.action = Some(action);
        self
    }

    /// Keeps parts of the page up to date from this address.
    pub(super) fn live(mut self, address: impl Into<String>) -> Self {
        self.live = Some(address.into());
        self
    }

    /// Loads a script of the page's own, behind those before.
    pub(super) fn script(mut self, script: &'static Asset) -> Self {
        self.scripts.push(script);
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
