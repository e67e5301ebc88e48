//! The query in the address of a page.

use std::convert::Infallible;
use std::ops::Deref;

use actix_web::HttpRequest;
use uuid::Uuid;

use super::error::{Error, Result};
use super::words::Words;
use crate::domain::page::PageRequest;
use crate::surface::paths::argument;

/// The query of the address: filters, a search, the number of a page. Invalid values count as absent.
#[derive(Debug, Clone)]
pub(super) struct Query {
    words: Words,
    path: String,
}

impl Deref for Query {
    type Target = Words;

    fn deref(&self) -> &Words {
        &self.words
    }
}

argument!(Query, Infallible, |request: &HttpRequest| {
    let words = Words::parse(request.query_string().as_bytes());
    Ok(Self { words, path: request.path().to_owned() })
});

impl Query {
    /// A value of the query, cut to this many characters; `None` when it is absent or blank.
    pub(super) fn text(&self, name: &str, most: usize) -> Option<&str> {
        let word = self.words.one(name);
        let end = word.char_indices().nth(most).map_or(word.len(), |(index, _)| index);
        word.get(..end).map(str::trim).filter(|word| !word.is_empty())
    }

    /// A parsed value of the query.
    pub(super) fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.words.one(name).parse().ok()
    }

    /// The page that `page` asks for, with this many records.
    pub(super) fn page(&self, limit: u64) -> PageRequest {
        self.page_of("page", limit)
    }

    /// The page that `name` asks for, for pages with several lists.
    pub(super) fn page_of(&self, name: &str, limit: u64) -> PageRequest {
        PageRequest { page: self.parsed(name).unwrap_or(1_u128).max(1), limit }
    }

    /// The same query of another page.
    pub(super) fn at(&self, path: impl Into<String>) -> Self {
        Self { words: self.words.clone(), path: path.into() }
    }

    /// The query, encoded for an address.
    pub(super) fn encoded(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(self.words.iter()).finish()
    }

    /// The address of this page with `name` set to `value`, and everything else as it is.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        self.changed(name, value, &[name])
    }

    /// The address of the first page with the additional filter `name` = `value`.
    pub(super) fn narrowed(&self, name: &str, value: &str) -> String {
        self.changed(name, value, &[name, "page"])
    }

    fn changed(&self, name: &str, value: &str, dropped: &[&str]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (known, kept) in
            self.words.iter().filter(|(known, kept)| !dropped.contains(known) && !kept.is_empty())
        {
            query.append_pair(known, kept);
        }
        query.append_pair(name, value);
        format!("{}?{}", self.path, query.finish())
    }
}

/// The `{id}` of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id(pub(super) Uuid);

argument!(Id, Error, |request: &HttpRequest| segment(request, "id").map(Self));

/// The `{id}` of a template's path; 0, which no template has, for what is no number.
#[derive(Debug, Clone, Copy)]
pub(super) struct TemplateId(pub(super) i64);

argument!(TemplateId, Infallible, |request: &HttpRequest| {
    Ok(Self(request.match_info().query("id").parse().unwrap_or_default()))
});

/// A parsed variable segment of the path.
///
/// # Errors
///
/// [`Error::NotFound`] for an invalid segment.
pub(super) fn segment<T: std::str::FromStr>(request: &HttpRequest, name: &str) -> Result<T> {
    request.match_info().query(name).parse().map_err(|_| Error::NotFound)
}
